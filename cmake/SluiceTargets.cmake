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
  target_compile_options(sluice_warnings INTERFACE -Wno-subobject-linkage)
endif()
if(SLUICE_WERROR)
  target_compile_options(sluice_warnings INTERFACE -Werror)
endif()

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
    target_compile_options(sluice_warnings INTERFACE -Wno-maybe-uninitialized -Wno-array-bounds
                                                     -Wno-stringop-overflow -Wno-stringop-overread
                                                     -Wno-restrict -Wno-nonnull)
    # It says of every fence, those of Boost.Asio too, that ThreadSanitizer does not see it.
    if(SLUICE_SANITIZE MATCHES thread)
      target_compile_options(sluice_warnings INTERFACE -Wno-tsan)
    endif()
  endif()
endif()
if(SLUICE_FUZZ)
  target_compile_options(sluice_options INTERFACE -fsanitize=fuzzer-no-link)
endif()
if(SLUICE_HARDEN)
  # _GLIBCXX_ASSERTIONS is left out: bounds checks in the scheduling loops cost a measurable share
  # of a cycle. The sanitizer presets check the same places.
  target_compile_options(sluice_options INTERFACE -fstack-protector-strong
                                                  -fstack-clash-protection -fcf-protection
                                                  -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3)
  target_link_options(sluice_options INTERFACE -Wl,-z,relro,-z,now)
endif()

# sluice_add_parts(PART...): adds the subdirectories of these names that exist.
function(sluice_add_parts)
  foreach(part IN LISTS ARGN)
    if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${part}/CMakeLists.txt)
      add_subdirectory(${part})
    endif()
  endforeach()
endfunction()

# sluice_precompile(TARGET): the headers that most sources include are compiled once, which takes a
# third off a cold build (SLUICE_PRECOMPILE). Sources still include what they use: the other builds
# check it. With optimization g++ 12 takes what comes from such a header for our own code and warns
# of it, so the release build goes without.
function(sluice_precompile target)
  if(SLUICE_PRECOMPILE)
    target_precompile_headers(
      ${target} PRIVATE <algorithm> <array> <boost/json.hpp> <functional> <map> <memory> <mutex>
                        <optional> <set> <string> <string_view> <unordered_map> <utility> <vector>)
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
