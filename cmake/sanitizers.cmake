# SPDX-License-Identifier: Apache-2.0
# HEDDLE_SANITIZE for one of heddle's own targets. A sanitized library needs the same flag where it is linked,
# in this build; the installed package carries no trace of it.
function(heddle_sanitize target)
  if(NOT HEDDLE_SANITIZE)
    return()
  endif()
  set(known "address,undefined" "thread")
  if(NOT HEDDLE_SANITIZE IN_LIST known)
    message(FATAL_ERROR "HEDDLE_SANITIZE is \"${HEDDLE_SANITIZE}\": give \"address,undefined\", \"thread\" or nothing.")
  endif()
  target_compile_options(${target} PRIVATE -fsanitize=${HEDDLE_SANITIZE} -fno-sanitize-recover=all
                                           -fno-omit-frame-pointer)
  target_link_options(${target} PUBLIC $<BUILD_INTERFACE:-fsanitize=${HEDDLE_SANITIZE}>)
  # Instrumented code hides from gcc what is initialised where.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  if(HEDDLE_SANITIZE STREQUAL "thread")
    # The thread sanitizer does not model a bare fence; oneTBB's headers and gcc say so on each use.
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-tsan>)
  endif()
endfunction()
