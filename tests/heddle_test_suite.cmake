# SPDX-License-Identifier: Apache-2.0
# heddle_test_suite(NAME TIMEOUT SECONDS [INCLUDE folders…] [DEFINE macros…])
#
# One executable, heddle_NAME_tests, of all NAME/*.cpp; each TEST in it is a CTest test with label NAME. The
# sources are globbed: several people add test files at the same time, and a list of them would only ever
# conflict. CONFIGURE_DEPENDS sees to it that a new file is built.
function(heddle_test_suite name)
  cmake_parse_arguments(PARSE_ARGV 1 suite "" "TIMEOUT" "INCLUDE;DEFINE")
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.cpp)
  if(NOT sources)
    return()
  endif()

  set(target heddle_${name}_tests)
  add_executable(${target} ${sources})
  heddle_developer_target(${target})
  target_include_directories(${target} PRIVATE ${suite_INCLUDE})
  target_compile_definitions(${target} PRIVATE ${suite_DEFINE})
  target_link_libraries(${target} PRIVATE heddle_test_support)

  heddle_discover_tests(${target} LABEL ${name} TIMEOUT ${suite_TIMEOUT})
endfunction()

# heddle_discover_tests(TARGET LABEL LABEL TIMEOUT SECONDS)
#
# Each TEST that takes longer than TIMEOUT ends its process; see support/time_limit.cpp. CTest's own timeout is for
# what that does not catch.
function(heddle_discover_tests target)
  cmake_parse_arguments(PARSE_ARGV 1 suite "" "LABEL;TIMEOUT" "")
  if(NOT CMAKE_BUILD_TYPE STREQUAL "Release")
    heddle_discover_suites(${target} ${suite_LABEL} ${suite_TIMEOUT})
    return()
  endif()
  math(EXPR last_resort "${suite_TIMEOUT} + 30")
  # Tests are given one at a time to their own process, so one that hangs or dies takes nothing with it.
  gtest_discover_tests(
    ${target}
    DISCOVERY_TIMEOUT 60
    PROPERTIES TIMEOUT ${last_resort} LABELS ${suite_LABEL} ENVIRONMENT HEDDLE_TEST_LIMIT_S=${suite_TIMEOUT})
endfunction()

# Most of the time of some thousand short tests is that of their processes, above all of sanitized ones: but in
# release builds, a process runs all tests of one suite, and CTest knows it as TARGET.SUITE. run_suite.sh says what
# became of each test, and scripts/test.sh counts them.
function(heddle_discover_suites target label limit)
  set(list ${CMAKE_CURRENT_BINARY_DIR}/${target}.suites.cmake)
  add_custom_command(
    TARGET ${target}
    POST_BUILD
    BYPRODUCTS ${list}
    COMMAND ${CMAKE_COMMAND} -D PROGRAM=$<TARGET_FILE:${target}> -D NAME=${target} -D LABEL=${label} -D LIMIT=${limit}
            -D LIST=${list} -P ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/discover_suites.cmake
    VERBATIM)
  set(if_built ${CMAKE_CURRENT_BINARY_DIR}/${target}.if_built.cmake)
  file(WRITE ${if_built} "if(EXISTS \"${list}\")
  include(\"${list}\")
else()
  add_test(${target}_NOT_BUILT ${target}_NOT_BUILT)
endif()
")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${if_built})
endfunction()
