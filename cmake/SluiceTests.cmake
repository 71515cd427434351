# How tests are declared.
#
#   sluice_test(api_test
#     SOURCES quantity_test.cpp meta_test.cpp
#     LIBS sluice_core
#     LABELS threads             # optional; "threads" puts it into the TSan run
#     COST 100)                  # optional; of those that take long, which begin first
#
# makes one executable of GoogleTest cases and registers each case with CTest as AREA:Suite.Case; or
# with SLUICE_TEST_SUITES each suite as AREA:Suite, because a process of instrumented code takes
# longer to start than most cases to run.
#
# These are the unit tests, and nothing else has a name like theirs ("_test:"). The target
# unit_tests builds them, not `all`: ./dev tries whole programs while they compile.
find_package(GTest REQUIRED)
include(GoogleTest)

# The interpreter itself. Where `python3` is a script that looks for one (pyenv), each of several
# hundred tests in Python would begin with a shell that takes longer than many of them.
if(NOT Python3_EXECUTABLE)
  find_program(SLUICE_PYTHON python3 REQUIRED)
  mark_as_advanced(SLUICE_PYTHON)
  execute_process(COMMAND ${SLUICE_PYTHON} -c "import sys; print(sys.executable, end='')"
                  OUTPUT_VARIABLE Python3_EXECUTABLE COMMAND_ERROR_IS_FATAL ANY)
endif()

# GoogleTest is half of what a test file costs to compile: every test reuses this precompiled
# header.
file(CONFIGURE OUTPUT test_headers.cpp CONTENT "")
add_library(sluice_test_headers OBJECT ${PROJECT_BINARY_DIR}/test_headers.cpp)
target_link_libraries(sluice_test_headers PRIVATE sluice_options sluice_warnings GTest::gmock
                                                  Boost::json)
set_target_properties(sluice_test_headers PROPERTIES POSITION_INDEPENDENT_CODE OFF
                                                     SLUICE_UNOPTIMIZED ON)
target_precompile_headers(sluice_test_headers PRIVATE
  ${sluice_std_headers} <boost/json.hpp> <gtest/gtest.h>)

add_custom_target(unit_tests)
# What the ThreadSanitizer run builds: every test labelled "threads".
add_custom_target(tests_threads)

function(sluice_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "COST" "SOURCES;LIBS;LABELS")
  add_executable(${name} ${arg_SOURCES})
  add_dependencies(unit_tests ${name})
  set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL ON
                        RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests
                        POSITION_INDEPENDENT_CODE OFF  # as the precompiled header was made
                        SLUICE_UNOPTIMIZED ON
                        UNITY_BUILD_BATCH_SIZE 0)      # in a unity build, one unit
  target_link_libraries(${name} PRIVATE ${arg_LIBS} sluice_options sluice_warnings
                                        Boost::json GTest::gmock GTest::gtest_main)
  target_precompile_headers(${name} REUSE_FROM sluice_test_headers)
  target_compile_definitions(${name} PRIVATE SLUICE_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  # Property tests draw the same cases each time; without the variable, others. Under a sanitizer
  # they draw an eighth of them (tests/support/amount.hpp): all are played without one.
  set(properties TIMEOUT 3000 ENVIRONMENT RC_PARAMS=seed=20260101)
  if(SLUICE_SANITIZE)
    string(APPEND properties " max_success=12")
    list(APPEND properties ENVIRONMENT_MODIFICATION SLUICE_TEST_SHARE=set:8)
  endif()
  if(arg_COST)
    list(APPEND properties COST ${arg_COST})
  endif()
  if(arg_LABELS)
    list(APPEND properties LABELS "${arg_LABELS}")
    if("threads" IN_LIST arg_LABELS)
      add_dependencies(tests_threads ${name})
    endif()
  endif()
  if(SLUICE_TEST_SUITES)
    set(script ${CMAKE_CURRENT_BINARY_DIR}/${name}_suites.cmake)
    file(GENERATE OUTPUT ${script} CONTENT
"set(test ${name})
set(program [==[$<TARGET_FILE:${name}>]==])
set(properties [==[WORKING_DIRECTORY;${CMAKE_CURRENT_BINARY_DIR};${properties}]==])
include([==[${PROJECT_SOURCE_DIR}/cmake/SluiceSuites.cmake]==])
")
    set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${script})
    return()
  endif()
  # PRE_TEST: the build does not run what it just linked; a crash at start is a failed test, not
  # a failed build.
  gtest_discover_tests(${name} TEST_PREFIX ${name}: DISCOVERY_MODE PRE_TEST
                       DISCOVERY_TIMEOUT 60 PROPERTIES ${properties})
endfunction()

# sluice_decision_tests(PREFIX FOLDER PLUGINS [NEUTRAL]): one test PREFIX:NAME for each measured
# case NAME.json with NAME.expect.json in FOLDER, simulated with these plugins (a list, or "none").
# NEUTRAL: the plugins have nothing to do there, so under the sanitizers every tenth is enough.
function(sluice_decision_tests prefix folder plugins)
  cmake_parse_arguments(PARSE_ARGV 3 arg "NEUTRAL" "" "")
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  file(GLOB cases CONFIGURE_DEPENDS RELATIVE ${folder} ${folder}/*.expect.json)
  set(number 0)
  foreach(case IN LISTS cases)
    string(REPLACE .expect.json "" name ${case})
    add_test(NAME ${prefix}:${name}
             COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/tests/decisions/compare.py
                     --sluice $<TARGET_FILE:sluice> --plugins ${plugins} ${folder}/${name}.json)
    math(EXPR rest "${number} % 10")
    if(arg_NEUTRAL AND NOT rest EQUAL 0)
      set_tests_properties(${prefix}:${name} PROPERTIES LABELS nosanitize)
    endif()
    math(EXPR number "${number} + 1")
  endforeach()
endfunction()
