# SPDX-License-Identifier: Apache-2.0
# CI compiles the same sources in several trees, so heddle's own targets use ccache where it is installed. A
# launcher that the builder chose is left alone, and so is everybody who embeds heddle.
find_program(HEDDLE_CCACHE ccache DOC "ccache, for heddle's own builds")
mark_as_advanced(HEDDLE_CCACHE)

function(heddle_ccache target)
  if(PROJECT_IS_TOP_LEVEL AND HEDDLE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    set_target_properties(${target} PROPERTIES CXX_COMPILER_LAUNCHER ${HEDDLE_CCACHE})
  endif()
endfunction()
