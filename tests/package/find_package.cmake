# SPDX-License-Identifier: Apache-2.0
cmake_minimum_required(VERSION 3.25)
# A CMake project of a user's builds the program of the README against the installed package, and runs it.
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)
set(build ${WORK_DIR}/find_package)
file(REMOVE_RECURSE ${build})
run("configuring the consumer" ${CMAKE_COMMAND} -G ${GENERATOR} -S ${CMAKE_CURRENT_LIST_DIR}/consumer -B ${build}
    -DCMAKE_CXX_COMPILER=${CXX} -DCMAKE_PREFIX_PATH=${PREFIX} -DTBB_DIR=${TBB_DIR} -DPROGRAM=${WORK_DIR}/main.cpp)
run("building the consumer" ${CMAKE_COMMAND} --build ${build})
run("running the consumer" ${build}/consumer)
