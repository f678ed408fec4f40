# SPDX-License-Identifier: Apache-2.0
# Writes LIST: CTest's tests for the suites of PROGRAM, called NAME.SUITE.
execute_process(COMMAND ${PROGRAM} --gtest_list_tests OUTPUT_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
# A suite is "Suite." or "Suite/0.  # TypeParam = int" at the start of a line; its tests are indented.
string(REGEX MATCHALL "\n[^ \n]+\\.( +#[^\n]*)?\n" lines "\n${output}")
set(tests "")
foreach(line IN LISTS lines)
  string(REGEX REPLACE "^\n([^ \n]+)\\..*" "\\1" suite "${line}")
  set(test "[=[${NAME}.${suite}]=]")
  string(APPEND tests "add_test(${test} [=[${CMAKE_CURRENT_LIST_DIR}/run_suite.sh]=] ${LIMIT} [=[${PROGRAM}]=] [=[${suite}]=])
set_tests_properties(${test} PROPERTIES TIMEOUT 1200 LABELS ${LABEL})
")
endforeach()
file(WRITE ${LIST} "${tests}")
