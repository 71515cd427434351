# Faster tools where the machine has them: ccache as launcher, mold or lld as linker.
# Set SLUICE_FAST_TOOLS=OFF to build with the plain tools.
option(SLUICE_FAST_TOOLS "Use ccache, mold or lld when they are found" ON)
if(NOT SLUICE_FAST_TOOLS)
  return()
endif()

if(NOT CMAKE_CXX_COMPILER_LAUNCHER)
  find_program(SLUICE_CCACHE ccache)
  if(SLUICE_CCACHE)
    # The sloppiness is what ccache needs to cache sources that use a precompiled header.
    set(CMAKE_C_COMPILER_LAUNCHER ${SLUICE_CCACHE})
    set(CMAKE_CXX_COMPILER_LAUNCHER
        ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${SLUICE_CCACHE})
  endif()
endif()

foreach(linker mold lld)
  find_program(SLUICE_LINKER_${linker} NAMES ${linker} ld.${linker})
  if(SLUICE_LINKER_${linker})
    add_link_options(-fuse-ld=${linker})
    break()
  endif()
endforeach()
