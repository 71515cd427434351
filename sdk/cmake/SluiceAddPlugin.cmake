# sluice_add_plugin(NAME source... [CONFIG JSON]): a shared library NAME.so that exports the entry
# and nothing else.
#
# The target is plugin_NAME with - as _, so that several plugins can be built in one project; set
# further properties on it. Undefined symbols and late binding are errors at build time, not at
# three in the morning. With the host's program known (SLUICE_PROGRAM), CTest validates the plugin;
# CONFIG is the configuration for that, where one is required.
function(sluice_add_plugin name)
  if(NOT name MATCHES "^[a-z0-9-]+$")
    message(FATAL_ERROR "sluice_add_plugin: the name \"${name}\" may hold only a-z, 0-9 and -")
  endif()
  cmake_parse_arguments(PARSE_ARGV 1 plugin "" "CONFIG" "")
  if(NOT plugin_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "sluice_add_plugin(${name}): which sources?")
  endif()
  set(version_script ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/sluice-plugin.map)
  string(REPLACE "-" "_" target plugin_${name})
  add_library(${target} MODULE ${plugin_UNPARSED_ARGUMENTS})
  target_link_libraries(${target} PRIVATE SluiceSDK::sdk)
  set_target_properties(${target} PROPERTIES
    PREFIX "" OUTPUT_NAME ${name} SUFFIX .so
    C_VISIBILITY_PRESET hidden
    CXX_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON
    LINK_DEPENDS ${version_script})
  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  if(C IN_LIST languages)
    target_compile_features(${target} PRIVATE c_std_11)
  endif()
  if(CXX IN_LIST languages)
    target_compile_features(${target} PRIVATE cxx_std_20)
  endif()
  if(SLUICE_PLUGIN_OUTPUT_DIRECTORY)
    set_target_properties(${target} PROPERTIES
      LIBRARY_OUTPUT_DIRECTORY ${SLUICE_PLUGIN_OUTPUT_DIRECTORY})
  endif()
  target_link_options(${target} PRIVATE
    -Wl,--version-script=${version_script} -Wl,-z,now)
  if(NOT SLUICE_SANITIZE)  # the sanitizers' symbols come from the program that loads the plugin
    target_link_options(${target} PRIVATE -Wl,-z,defs)
  endif()
  if(SLUICE_PROGRAM)
    set(config)
    if(plugin_CONFIG)
      set(config --config ${plugin_CONFIG})
    endif()
    add_test(NAME ${target}_validate
             COMMAND ${SLUICE_PROGRAM} plugin validate $<TARGET_FILE:${target}> ${config})
  endif()
endfunction()

# sluice_add_plugin_test(NAME source...): a program of these sources and of the plugin's own, as a
# CTest. It drives the plugin with <sluice/testing.hpp>, without a host, without loading anything.
# The target is plugin_NAME_test; link a test framework to it if you like one.
function(sluice_add_plugin_test name)
  string(REPLACE "-" "_" target plugin_${name})
  if(NOT TARGET ${target} OR NOT ARGN)
    message(FATAL_ERROR "sluice_add_plugin_test(${name}): comes after sluice_add_plugin(${name} "
                        "…), with the test's sources")
  endif()
  get_target_property(sources ${target} SOURCES)
  add_executable(${target}_test ${ARGN} ${sources})
  target_link_libraries(${target}_test PRIVATE SluiceSDK::sdk
                                               $<TARGET_PROPERTY:${target},LINK_LIBRARIES>)
  target_include_directories(${target}_test PRIVATE
                             $<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>)
  target_compile_definitions(${target}_test PRIVATE
                             $<TARGET_PROPERTY:${target},COMPILE_DEFINITIONS>)
  target_compile_features(${target}_test PRIVATE cxx_std_20)
  add_test(NAME ${target}_test COMMAND ${target}_test)
endfunction()
