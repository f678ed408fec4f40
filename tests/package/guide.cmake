# SPDX-License-Identifier: Apache-2.0
# Every whole program of docs/guide.md, built by the C++ compiler, and run on host devices. tests/cuda/docs has
# those that nvcc builds too.
set(guide ${PROJECT_SOURCE_DIR}/docs/guide.md)
set(extract ${CMAKE_CURRENT_SOURCE_DIR}/whole_program.cmake)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${guide})
file(STRINGS ${guide} mains REGEX "^int main\\(")
list(LENGTH mains count)

foreach(number RANGE 1 ${count})
  set(name guide_${number})
  set(program ${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp)
  add_custom_command(
    OUTPUT ${program}
    COMMAND ${CMAKE_COMMAND} -DDOCUMENT=${guide} -DNUMBER=${number} -DPROGRAM=${program} -P ${extract}
    DEPENDS ${guide} ${extract}
    COMMENT "Taking program ${number} out of docs/guide.md")
  add_executable(heddle_docs_${name} ${program})
  heddle_developer_target(heddle_docs_${name})
  target_link_libraries(heddle_docs_${name} PRIVATE heddle::heddle)
  foreach(devices IN ITEMS 1 3)
    add_test(NAME docs.${name}.${devices} COMMAND heddle_docs_${name})
    set_tests_properties(docs.${name}.${devices}
                         PROPERTIES TIMEOUT 60 LABELS package ENVIRONMENT
                                    "HEDDLE_BACKEND=host;HEDDLE_HOST_DEVICES=${devices}")
  endforeach()
endforeach()
