# SPDX-License-Identifier: Apache-2.0
cmake_minimum_required(VERSION 3.25)
# As a subproject heddle brings its library and nothing else.
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)
set(build ${WORK_DIR}/subproject)
file(REMOVE_RECURSE ${build})
run("configuring heddle as a subproject" ${CMAKE_COMMAND} -G ${GENERATOR} -S ${CMAKE_CURRENT_LIST_DIR}/subproject
    -B ${build} -DCMAKE_CXX_COMPILER=${CXX} -DTBB_DIR=${TBB_DIR} -DHEDDLE_SOURCE_DIR=${SOURCE_DIR})
if(EXISTS ${build}/CTestTestfile.cmake)
  message(FATAL_ERROR "heddle turned testing on in the project that contains it")
endif()
