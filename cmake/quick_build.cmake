# SPDX-License-Identifier: Apache-2.0
# heddle_quick_build(TARGET headers…): for a test program, most files of which include these headers. Compiling the
# tests is most of what CI does, so their own code is not optimised, and the headers are precompiled, but in release
# builds: these compile the same files as they are, and so find an #include that is missing.
function(heddle_quick_build target)
  if(CMAKE_BUILD_TYPE STREQUAL "Release")
    return()
  endif()
  target_compile_options(${target} PRIVATE -O0)
  target_precompile_headers(${target} PRIVATE ${ARGN})
  # g++ 12 sees its bug 105651 here as well, out of the bounds of an array: see warnings.cmake.
  if(CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    target_compile_options(${target} PRIVATE -Wno-array-bounds)
  endif()
  get_target_property(launcher ${target} CXX_COMPILER_LAUNCHER)
  if(launcher)
    # ccache wants to be told that no precompiled header depends on the time of day.
    set_target_properties(
      ${target} PROPERTIES CXX_COMPILER_LAUNCHER
                           "${CMAKE_COMMAND};-E;env;CCACHE_SLOPPINESS=pch_defines,time_macros;${launcher}")
  endif()
endfunction()

# heddle_quick_command_line(files…): those that read a command line, which is most of what compiling an example costs:
# not optimised either. Files of the folder that is being read.
function(heddle_quick_command_line)
  if(CMAKE_BUILD_TYPE STREQUAL "Release")
    return()
  endif()
  foreach(each IN LISTS ARGN)
    cmake_path(ABSOLUTE_PATH each BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
    file(STRINGS ${each} found REGEX "#include <CLI/" LIMIT_COUNT 1)
    if(found)
      set_source_files_properties(${each} PROPERTIES COMPILE_OPTIONS -O0)
    endif()
  endforeach()
endfunction()
