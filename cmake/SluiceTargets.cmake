# Warnings and build options as two INTERFACE targets, linked PRIVATE by everything of ours, so
# that nobody who uses our package inherits our flags.
add_library(sluice_warnings INTERFACE)
target_compile_options(sluice_warnings INTERFACE -Wall -Wextra -Wconversion -Wshadow -Wpedantic)
# g++ 12 with optimization reports overlapping copies inside of std::string where there are none
# (GCC bug 105651).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(sluice_warnings INTERFACE $<$<NOT:$<CONFIG:Debug>>:-Wno-restrict>)
endif()
# In a unit of several sources g++ takes each of them for a header, in which a type of an unnamed
# namespace would be a mistake.
if(CMAKE_UNITY_BUILD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(sluice_warnings INTERFACE
                         $<$<COMPILE_LANGUAGE:CXX>:-Wno-subobject-linkage>)
endif()
if(SLUICE_WERROR)
  target_compile_options(sluice_warnings INTERFACE -Werror)
endif()

# What g++ 12 reports of inlined code of the standard library as often as of ours.
set(sluice_doubtful_warnings -Wno-maybe-uninitialized -Wno-array-bounds -Wno-stringop-overflow
                             -Wno-stringop-overread -Wno-restrict -Wno-nonnull)

add_library(sluice_options INTERFACE)
target_compile_features(sluice_options INTERFACE cxx_std_20)
target_include_directories(sluice_options INTERFACE ${PROJECT_SOURCE_DIR})
if(SLUICE_SANITIZE)
  target_compile_options(sluice_options INTERFACE -fsanitize=${SLUICE_SANITIZE}
                                                  -fno-omit-frame-pointer
                                                  -fno-sanitize-recover=all)
  target_link_options(sluice_options INTERFACE -fsanitize=${SLUICE_SANITIZE})
  # Instrumented code confuses g++ 12 about what the standard library initialises; the other presets
  # check these warnings on the same sources.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(sluice_warnings INTERFACE ${sluice_doubtful_warnings})
    # It says of every fence, those of Boost.Asio too, that ThreadSanitizer does not see it.
    if(SLUICE_SANITIZE MATCHES thread)
      target_compile_options(sluice_warnings INTERFACE -Wno-tsan)
    endif()
  endif()
endif()
if(SLUICE_FUZZ)
  target_compile_options(sluice_options INTERFACE -fsanitize=fuzzer-no-link)
endif()
# Tests are compiled without optimization in every build, and where they are as the rest is shipped
# without debug information: that costs them less than it saves the compiler. What they test is
# compiled as it is shipped. A folder that sets SLUICE_UNOPTIMIZED says so for its targets.
define_property(TARGET PROPERTY SLUICE_UNOPTIMIZED INITIALIZE_FROM_VARIABLE SLUICE_UNOPTIMIZED)
set(sluice_optimized $<NOT:$<BOOL:$<TARGET_PROPERTY:SLUICE_UNOPTIMIZED>>>)
target_compile_options(sluice_options INTERFACE
  $<$<NOT:${sluice_optimized}>:-O0$<$<BOOL:${SLUICE_HARDEN}>:$<SEMICOLON>-g0>>)
# UndefinedBehaviorSanitizer looks at what is shipped: its checks of the tests themselves are a
# quarter of what these cost the compiler. AddressSanitizer looks at both.
if(SLUICE_SANITIZE MATCHES undefined)
  target_compile_options(sluice_options INTERFACE
    $<$<NOT:${sluice_optimized}>:-fno-sanitize=undefined>)
endif()
# Libraries in which no time is spent are compiled with SLUICE_COLD_OPTIONS.
target_compile_options(sluice_options INTERFACE
  "$<$<BOOL:$<TARGET_PROPERTY:SLUICE_COLD>>:${SLUICE_COLD_OPTIONS}>")
if(SLUICE_HARDEN)
  # _GLIBCXX_ASSERTIONS is left out: bounds checks in the scheduling loops cost a measurable share
  # of a cycle. The sanitizer presets check the same places.
  set(sluice_hardening -fstack-protector-strong -fstack-clash-protection -fcf-protection
                       -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3)
  target_compile_options(sluice_options INTERFACE "$<${sluice_optimized}:${sluice_hardening}>")
  # Marked for shadow stacks, but not for IBT: the _init of Debian 12's crti.o has no landing pad.
  target_link_options(sluice_options INTERFACE -Wl,-z,relro,-z,now,-z,shstk)
endif()

# sluice_add_parts(PART...): adds the subdirectories of these names that exist.
function(sluice_add_parts)
  foreach(part IN LISTS ARGN)
    if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${part}/CMakeLists.txt)
      add_subdirectory(${part})
    endif()
  endforeach()
endfunction()

# sluice_precompile(TARGET): the headers that most sources include are compiled once
# (SLUICE_PRECOMPILE): those of the standard library for a target without Boost, else one set that
# all targets share. Half of what the compiler does with a source is reading headers. Sources still
# include what they use: the builds without it (dev, clang) check that.
set(sluice_std_headers <algorithm> <array> <charconv> <chrono> <functional> <map>
                       <memory> <mutex> <optional> <set> <span> <string> <string_view>
                       <unordered_map> <utility> <vector>)
if(SLUICE_PRECOMPILE)
  file(CONFIGURE OUTPUT headers.cpp CONTENT "")  # a precompiled header needs a source
  add_library(sluice_headers OBJECT ${PROJECT_BINARY_DIR}/headers.cpp)
  target_link_libraries(sluice_headers PRIVATE sluice_options sluice_warnings Boost::json fmt::fmt)
  target_precompile_headers(sluice_headers PRIVATE ${sluice_std_headers} <boost/json.hpp>
                                                   <fmt/format.h>)
  # With optimization g++ 12 takes what comes from such a header for our own code and warns of what
  # the standard library does. Builds without precompiled headers check these on the same sources.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(sluice_warnings INTERFACE ${sluice_doubtful_warnings})
  endif()
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # Without it ccache cannot tell which headers a precompiled one holds, and caches nothing.
  target_compile_options(sluice_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)
elseif(SLUICE_PRECOMPILE)
  # And clang++ writes the times of headers into it, by which it would never be the same again.
  target_compile_options(sluice_options
                         INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:SHELL:-Xclang -fno-pch-timestamp>")
endif()

function(sluice_precompile target)
  if(NOT SLUICE_PRECOMPILE)
    return()
  endif()
  get_target_property(libraries ${target} LINK_LIBRARIES)
  if("Boost::json" IN_LIST libraries)
    target_precompile_headers(${target} REUSE_FROM sluice_headers)
    target_link_libraries(${target} PRIVATE fmt::fmt)  # the same definitions as the headers
  else()
    target_precompile_headers(${target} PRIVATE ${sluice_std_headers})
  endif()
endfunction()

# sluice_unity_by_folder(TARGET): in a unity build (CMAKE_UNITY_BUILD) the sources of one folder are
# one unit. A new source can so clash with its own folder only, never with whatever a count of
# files would have put beside it. To be called when all sources are listed.
function(sluice_unity_by_folder target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP)
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    cmake_path(GET source PARENT_PATH folder)
    cmake_path(RELATIVE_PATH folder BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
    string(MAKE_C_IDENTIFIER "${folder}" group)
    set_source_files_properties(${source} TARGET_DIRECTORY ${target}
                                PROPERTIES UNITY_GROUP ${group})
  endforeach()
endfunction()

# sluice_embed_texts(TARGET FUNCTION HEADER DATA_DIR FILE…): the files (paths below DATA_DIR) become
# texts inside the library, behind FUNCTION, which HEADER declares (host/base/embedded_text.hpp).
function(sluice_embed_texts target function header data_dir)
  list(TRANSFORM ARGN PREPEND ${data_dir}/ OUTPUT_VARIABLE paths)
  string(REPLACE ";" "," files "${ARGN}")
  set(script ${PROJECT_SOURCE_DIR}/cmake/SluiceEmbedTexts.cmake)
  set(embedded ${CMAKE_CURRENT_BINARY_DIR}/${function}.cpp)
  add_custom_command(
    OUTPUT ${embedded}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${embedded} -DDATA_DIR=${data_dir} -DFILES=${files}
            -DHEADER=${header} -DFUNCTION=${function} -P ${script}
    DEPENDS ${paths} ${script}
    COMMENT "Embedding ${function}"
    VERBATIM)
  target_sources(${target} PRIVATE ${embedded})
  set_source_files_properties(${embedded} TARGET_DIRECTORY ${target} PROPERTIES GENERATED TRUE)
  add_custom_target(sluice_embedded_${function} DEPENDS ${embedded})
  add_dependencies(${target} sluice_embedded_${function})
endfunction()
