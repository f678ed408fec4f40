# SPDX-License-Identifier: Apache-2.0
cmake_minimum_required(VERSION 3.25)
# No installed file remembers where heddle was built or first installed. Debug information is for debuggers,
# which want the paths: it is taken away before looking.
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)
set(copy ${WORK_DIR}/no_build_paths)
file(REMOVE_RECURSE ${copy})
file(COPY ${PREFIX}/ DESTINATION ${copy})
file(GLOB_RECURSE files LIST_DIRECTORIES FALSE ${copy}/*)
if(NOT files)
  message(FATAL_ERROR "nothing was installed in ${PREFIX}")
endif()
foreach(file IN LISTS files)
  if(IS_SYMLINK ${file})
    continue()
  endif()
  if(file MATCHES "(\\.a|\\.so[.0-9]*|/bin/[^/]+)$")
    run("strip" ${STRIP} --strip-debug ${file})
  endif()
  # Only where a path begins: a tree in /heddle is not what "${prefix}/include/heddle/" speaks of.
  execute_process(COMMAND grep -aoP "(?<![\\w.}/-])(\\Q${SOURCE_DIR}/\\E|\\Q${BINARY_DIR}\\E)[\\w./-]*" ${file}
                  OUTPUT_VARIABLE found RESULT_VARIABLE result)
  if(result EQUAL 0)
    message(SEND_ERROR "${file} holds a path of the build:\n${found}")
  elseif(NOT result EQUAL 1)
    message(FATAL_ERROR "grep could not read ${file}")
  endif()
endforeach()
