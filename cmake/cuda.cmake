# SPDX-License-Identifier: Apache-2.0
# HEDDLE_CUDA decides whether the CUDA driver is built; HEDDLE_WITH_CUDA is what came of it. heddle_cudart is
# the CUDA runtime that programs are linked to: never libcuda, without which they could not start on a machine
# without a GPU. A target with the property HEDDLE_CUDART_DOUBLE is linked to the tests' double of it instead.
foreach(choice IN ITEMS "HEDDLE_CUDA:AUTO;ON;OFF" "HEDDLE_CUDART:static;shared")
  string(REPLACE ":" ";" choice "${choice}")
  list(POP_FRONT choice variable)
  if(NOT "${${variable}}" IN_LIST choice)
    list(JOIN choice ", " takes)
    message(FATAL_ERROR "${variable} is \"${${variable}}\": it takes ${takes}.")
  endif()
endforeach()

set(HEDDLE_WITH_CUDA OFF)
if(NOT HEDDLE_CUDA STREQUAL "OFF")
  find_package(CUDAToolkit 12.5 QUIET) # for cudaGetDriverEntryPointByVersion
  if(CUDAToolkit_FOUND)
    set(HEDDLE_WITH_CUDA ON)
  elseif(HEDDLE_CUDA STREQUAL "ON")
    message(FATAL_ERROR "HEDDLE_CUDA is ON, but no CUDA toolkit 12.5 or newer was found: set CUDAToolkit_ROOT to "
                        "its folder, or HEDDLE_CUDA to OFF or AUTO.")
  endif()
endif()
message(STATUS "heddle: CUDA driver ${HEDDLE_WITH_CUDA}")

if(HEDDLE_WITH_CUDA)
  if(HEDDLE_CUDART STREQUAL "static")
    set(cudart CUDA::cudart_static)
  else()
    set(cudart CUDA::cudart)
  endif()
  add_library(heddle_cudart INTERFACE)
  target_link_libraries(
    heddle_cudart
    INTERFACE "$<BUILD_INTERFACE:$<IF:$<BOOL:$<TARGET_PROPERTY:HEDDLE_CUDART_DOUBLE>>,fakecudart,${cudart}>>"
              "$<INSTALL_INTERFACE:${cudart}>")
endif()
