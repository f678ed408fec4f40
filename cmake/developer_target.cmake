# SPDX-License-Identifier: Apache-2.0
include(${CMAKE_CURRENT_LIST_DIR}/warnings.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/sanitizers.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/ccache.cmake)

# What every target of heddle gets: warnings, sanitizers, ccache, and C++20 without extensions.
function(heddle_developer_target target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
  # Places in error messages read src/driver/host.cpp on every machine.
  target_compile_options(${target} PRIVATE -fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=)
  heddle_warnings(${target})
  heddle_sanitize(${target})
  heddle_ccache(${target})
endfunction()
