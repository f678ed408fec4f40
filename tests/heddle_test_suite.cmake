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
function(heddle_discover_tests target)
  cmake_parse_arguments(PARSE_ARGV 1 suite "" "LABEL;TIMEOUT" "")
  # Tests are given one at a time to their own process, so one that hangs or dies takes nothing with it.
  gtest_discover_tests(
    ${target}
    DISCOVERY_TIMEOUT 60
    PROPERTIES TIMEOUT ${suite_TIMEOUT} LABELS ${suite_LABEL})
endfunction()
