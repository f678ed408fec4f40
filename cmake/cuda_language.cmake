# SPDX-License-Identifier: Apache-2.0
# HEDDLE_WITH_NVCC: whether device code is built: with the CUDA driver, where nvcc is found. It is for heddle's
# own kernels and tests; the library itself is plain C++. heddle_cuda_target() sets up a target of .cu files.
set(HEDDLE_WITH_NVCC OFF)
if(HEDDLE_WITH_CUDA AND HEDDLE_SANITIZE STREQUAL "thread")
  # What nvcc makes of a __host__ __device__ lambda writes static variables each time one is made.
  message(STATUS "heddle: device code OFF: the thread sanitizer reports races in nvcc's own host code")
elseif(HEDDLE_WITH_CUDA)
  # The nvcc of the toolkit whose headers are used, unless the builder chose one.
  if(NOT DEFINED ENV{CUDACXX} AND CUDAToolkit_NVCC_EXECUTABLE)
    set(ENV{CUDACXX} ${CUDAToolkit_NVCC_EXECUTABLE})
  endif()
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    set(HEDDLE_WITH_NVCC ON)
  endif()
  message(STATUS "heddle: device code ${HEDDLE_WITH_NVCC}")
endif()

if(HEDDLE_GPU_TESTS AND NOT HEDDLE_WITH_NVCC)
  message(FATAL_ERROR "HEDDLE_GPU_TESTS is ON, but device code cannot be built: it needs HEDDLE_CUDA and nvcc, and "
                      "HEDDLE_SANITIZE without \"thread\".")
endif()

if(HEDDLE_WITH_NVCC)
  # One architecture where builds are frequent; where they are shipped all of them, and PTX for those to come.
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES AND NOT DEFINED ENV{CUDAARCHS})
    if(CMAKE_BUILD_TYPE MATCHES "^(Release|RelWithDebInfo|MinSizeRel)$")
      set(CMAKE_CUDA_ARCHITECTURES all-major)
    else()
      set(CMAKE_CUDA_ARCHITECTURES 90)
    endif()
  endif()
  enable_language(CUDA)
  # CMake 3.25.1 does not know this standard for nvcc 13, and would pass none.
  if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
    set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
    set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
  endif()
endif()

# For a target of .cu files and nothing else: heddle_developer_target() is for what the C++ compiler builds. The
# objects name no CUDA runtime: who links them links heddle_cudart.
function(heddle_cuda_target target)
  set_target_properties(
    ${target}
    PROPERTIES CUDA_STANDARD 20
               CUDA_STANDARD_REQUIRED ON
               CUDA_EXTENSIONS OFF
               CUDA_RUNTIME_LIBRARY None)
  target_compile_options(
    ${target}
    PRIVATE --extended-lambda
            -Wdefault-stream-launch
            -Wext-lambda-captures-this
            -Xptxas=-warn-spills
            # Not -Wpedantic: nvcc hands the host compiler line directives of gcc's own kind.
            -Xcompiler=-Wall,-Wextra,-Wshadow,-Wconversion
            -Xcompiler=-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=)
  if(HEDDLE_WERROR)
    target_compile_options(${target} PRIVATE -Werror=all-warnings -Xptxas=-Werror)
  endif()
  # The host's side only: what a kernel does is for compute-sanitizer.
  string(REPLACE "," ";" sanitizers "${HEDDLE_SANITIZE}")
  foreach(sanitizer IN LISTS sanitizers)
    target_compile_options(${target} PRIVATE -Xcompiler=-fsanitize=${sanitizer})
  endforeach()
  if(HEDDLE_SANITIZE)
    target_compile_options(${target} PRIVATE -Xcompiler=-fno-sanitize-recover=all,-fno-omit-frame-pointer
                                             -Xcompiler=-Wno-maybe-uninitialized)
  endif()
  if(PROJECT_IS_TOP_LEVEL AND HEDDLE_CCACHE AND NOT CMAKE_CUDA_COMPILER_LAUNCHER)
    set_target_properties(${target} PROPERTIES CUDA_COMPILER_LAUNCHER ${HEDDLE_CCACHE})
  endif()
endfunction()
