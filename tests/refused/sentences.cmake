# SPDX-License-Identifier: Apache-2.0
# cmake -DCOMPILER=… -DINCLUDE=… -DMORE=…;… -DFILE=… -P sentences.cmake: compiles what cannot be, and looks for the sentences.
list(TRANSFORM MORE PREPEND -idirafter) # a system folder keeps its place
execute_process(
  COMMAND ${COMPILER} -std=c++20 -fsyntax-only -fmax-errors=0 -I${INCLUDE} ${MORE} ${FILE}
  RESULT_VARIABLE result
  ERROR_VARIABLE text)
if(result EQUAL 0)
  message(FATAL_ERROR "it compiled")
endif()

# What each sentence begins with, and how often it is due.
set(body "the body of a loop is called with its indices" 6)
set(reduced "the body of a reduction returns what is joined" 1)
set(cut "the body of the reduction gives floating-point values" 1)
set(join "join.a, b. takes two values of the initial value's type" 2)
set(size "the size of a loop is a whole number" 1)
set(options "the options of a loop stand before its body" 1)
set(chunk "for_each_chunk calls f.device_context&, index_range" 1)

set(all 0)
foreach(each IN ITEMS body reduced cut join size options chunk)
  list(GET ${each} 0 begin)
  list(GET ${each} 1 due)
  string(REGEX MATCHALL "static assertion failed: ${begin}" found "${text}")
  list(LENGTH found count)
  if(NOT count EQUAL due)
    message(SEND_ERROR "'${begin}' came ${count} times in place of ${due}")
  endif()
  math(EXPR all "${all} + ${due}")
endforeach()
string(REGEX MATCHALL "error: " errors "${text}")
list(LENGTH errors count)
if(NOT count EQUAL all)
  message(SEND_ERROR "${count} errors in place of ${all}:\n${text}")
endif()
