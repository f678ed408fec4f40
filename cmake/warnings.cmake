# SPDX-License-Identifier: Apache-2.0
# Warnings of heddle's own targets; never handed on to those who use heddle.
function(heddle_warnings target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Wconversion)
  # g++ 12 sees an overlapping copy in "text" + std::string&& wherever it inlines one: its bug 105651.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    target_compile_options(${target} PRIVATE -Wno-restrict)
  endif()
  if(HEDDLE_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
endfunction()
