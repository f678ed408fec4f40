# SPDX-License-Identifier: Apache-2.0
cmake_minimum_required(VERSION 3.25)
# Writes WORK_DIR/main.cpp, the first whole program of README.md.
set(DOCUMENT ${SOURCE_DIR}/README.md)
set(PROGRAM ${WORK_DIR}/main.cpp)
include(${CMAKE_CURRENT_LIST_DIR}/whole_program.cmake)
