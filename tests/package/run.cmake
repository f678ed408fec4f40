# SPDX-License-Identifier: Apache-2.0
cmake_minimum_required(VERSION 3.25)
# run(WHAT COMMAND…): runs a command of a package test; its output is shown when it fails, and is left in
# run_output. An environment that a user would not have is taken away.
function(run what)
  set(ENV{MAKEFLAGS})
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE errors
                  OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT result EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${what} failed (${result}): ${command}\n${output}\n${errors}")
  endif()
  set(run_output "${output}" PARENT_SCOPE)
endfunction()
