# SPDX-License-Identifier: Apache-2.0
# heddle_quick_build(TARGET headers…): for a test program, most files of which include these headers. Sanitizers
# make a build take several times as long; there, its own code is not optimised, and the headers are precompiled.
# The other presets compile the same files without them, and so find an #include that is missing.
function(heddle_quick_build target)
  if(NOT HEDDLE_SANITIZE)
    return()
  endif()
  target_compile_options(${target} PRIVATE -O0)
  target_precompile_headers(${target} PRIVATE ${ARGN})
  get_target_property(launcher ${target} CXX_COMPILER_LAUNCHER)
  if(launcher)
    # ccache wants to be told that no precompiled header depends on the time of day.
    set_target_properties(
      ${target} PROPERTIES CXX_COMPILER_LAUNCHER
                           "${CMAKE_COMMAND};-E;env;CCACHE_SLOPPINESS=pch_defines,time_macros;${launcher}")
  endif()
endfunction()
