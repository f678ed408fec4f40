# SPDX-License-Identifier: Apache-2.0
# Warnings of heddle's own targets; never handed on to those who use heddle.
function(heddle_warnings target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Wconversion)
  if(HEDDLE_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
endfunction()
