# SPDX-License-Identifier: Apache-2.0
# heddle_loop_example(NAME DEVICE_CODE files… [SOURCES files…] [LIBRARIES targets…]): a program with loops over
# devices. DEVICE_CODE are the files that hand bodies to loops: nvcc compiles them where there is one, and then
# they run on GPUs too. With tests, NAME_double is the program on the double of the CUDA runtime, which runs each
# body on the host, where nvcc compiled it as well.
function(heddle_loop_example name)
  cmake_parse_arguments(PARSE_ARGV 1 example "" "" "DEVICE_CODE;SOURCES;LIBRARIES")
  set(libraries heddle::heddle CLI11::CLI11 ${example_LIBRARIES})

  add_library(${name}_loops OBJECT ${example_DEVICE_CODE})
  target_include_directories(${name}_loops PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  target_link_libraries(${name}_loops PRIVATE ${libraries})
  if(HEDDLE_WITH_NVCC)
    set_source_files_properties(${example_DEVICE_CODE} PROPERTIES LANGUAGE CUDA)
    heddle_cuda_target(${name}_loops)
    if(HEDDLE_BUILD_TESTS)
      target_include_directories(${name}_loops PRIVATE ${PROJECT_SOURCE_DIR}/tests/kernels
                                                       ${PROJECT_SOURCE_DIR}/tests/fakecudart/include)
      target_compile_definitions(${name}_loops PRIVATE HEDDLE_TEST_KERNEL_TWIN="index_twin.hpp")
    endif()
  else()
    heddle_developer_target(${name}_loops)
  endif()

  set(objects $<TARGET_OBJECTS:${name}_loops>)
  if(example_SOURCES)
    add_library(${name}_rest OBJECT ${example_SOURCES})
    heddle_quick_command_line(${example_SOURCES})
    heddle_developer_target(${name}_rest)
    target_include_directories(${name}_rest PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
    target_link_libraries(${name}_rest PRIVATE ${libraries})
    list(APPEND objects $<TARGET_OBJECTS:${name}_rest>)
  endif()
  set(programs ${name})
  if(HEDDLE_WITH_NVCC AND HEDDLE_BUILD_TESTS)
    list(APPEND programs ${name}_double)
  endif()
  foreach(program IN LISTS programs)
    add_executable(${program} ${objects})
    heddle_developer_target(${program})
    set_target_properties(${program} PROPERTIES LINKER_LANGUAGE CXX)
    target_link_libraries(${program} PRIVATE ${libraries})
  endforeach()
  if(TARGET ${name}_double)
    set_target_properties(${name}_double PROPERTIES HEDDLE_CUDART_DOUBLE ON)
    target_link_libraries(${name}_double PRIVATE fakecudart)
  endif()
endfunction()

# heddle_loop_example_test(NAME): on the machine's own devices, as a user would.
function(heddle_loop_example_test name)
  if(NOT HEDDLE_BUILD_TESTS)
    return()
  endif()
  add_test(NAME example.${name} COMMAND ${name} ${ARGN})
  set_tests_properties(example.${name} PROPERTIES TIMEOUT 60 LABELS example)
  if(NOT HEDDLE_WITH_NVCC) # what the C++ compiler built cannot run on a GPU
    set_tests_properties(example.${name} PROPERTIES ENVIRONMENT HEDDLE_BACKEND=host)
  endif()
endfunction()

# heddle_loop_example_check(NAME PROGRAM SCRIPT): runs the script, in a new folder, with these of its own:
#   $program      the program on host devices, and $double the one on the double, or empty
#   same ARG…     runs both on 1, 2, 3 and 5 devices each, and fails unless they print the same, but for lines that
#                 begin with "took"
#   refused TEXT PROGRAM ARG…    fails unless the program ends with 2, and prints the text
# No semicolons in scripts: CMake would cut there.
function(heddle_loop_example_check name program script)
  if(NOT HEDDLE_BUILD_TESTS)
    return()
  endif()
  set(begin [[
    set -e
    program=$1 double=$2
    export HEDDLE_BACKEND=host
    rm -rf "$3" && mkdir "$3" && cd "$3"
    same() {
      first=""
      for devices in 1 2 3 5
      do
        for each in $program $double
        do
          backend=host
          [ "$each" = "$program" ] || backend=cuda
          echo "$devices devices, $backend:"
          HEDDLE_BACKEND=$backend HEDDLE_HOST_DEVICES=$devices FAKECUDA_DEVICES=$devices "$each" "$@" >all.txt
          cat all.txt
          got=$(grep -v '^took' all.txt)
          test -n "$got"
          test "${first:=$got}" = "$got"
        done
      done
    }
    refused() {
      text=$1
      shift
      code=0
      "$@" >all.txt 2>&1 || code=$?
      cat all.txt
      test "$code" = 2
      grep -Eq -e "$text" all.txt
    }
  ]])
  set(double "")
  if(TARGET ${program}_double)
    set(double $<TARGET_FILE:${program}_double>)
  endif()
  add_test(NAME example.${program}.${name}
           COMMAND sh -c "${begin}${script}" sh $<TARGET_FILE:${program}> "${double}"
                   ${CMAKE_CURRENT_BINARY_DIR}/${program}.${name}.work)
  set_tests_properties(example.${program}.${name} PROPERTIES TIMEOUT 120 LABELS example)
endfunction()
