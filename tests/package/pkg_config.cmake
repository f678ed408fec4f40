# SPDX-License-Identifier: Apache-2.0
cmake_minimum_required(VERSION 3.25)
# The compiler alone, with what pkg-config says, builds the program of the README, and it runs.
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)
set(ENV{PKG_CONFIG_PATH} ${PREFIX}/${LIBDIR}/pkgconfig)
run("pkg-config" ${PKG_CONFIG} --cflags --libs heddle)
separate_arguments(flags UNIX_COMMAND "${run_output}")
run("compiling with pkg-config's flags" ${CXX} -std=c++20 ${WORK_DIR}/main.cpp -o ${WORK_DIR}/pkg_config_consumer
    ${flags})
# Where heddle was built as a shared library, the loader has to be told of the folder.
set(ENV{LD_LIBRARY_PATH} ${PREFIX}/${LIBDIR})
run("running the program" ${WORK_DIR}/pkg_config_consumer)
