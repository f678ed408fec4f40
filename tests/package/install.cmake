# SPDX-License-Identifier: Apache-2.0
cmake_minimum_required(VERSION 3.25)
# Installs, then moves what was installed: the other tests use it at a place that no file in it was told.
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)
file(REMOVE_RECURSE ${PREFIX} ${PREFIX}-first)
run("installing" ${CMAKE_COMMAND} --install ${BINARY_DIR} --prefix ${PREFIX}-first --config ${CONFIG})
file(RENAME ${PREFIX}-first ${PREFIX})
