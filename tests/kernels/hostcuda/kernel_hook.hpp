// SPDX-License-Identifier: Apache-2.0
// Included by heddle/detail/launch.hpp in the tests of this folder, which a C++ compiler builds: what is
// nvcc's alone, the kernel of stream::launch with it, becomes functions that the double of the CUDA runtime
// calls for each thread of a grid.
#pragma once

#include <cstddef>

#include "hostcuda.hpp"

#define __nv_is_extended_device_lambda_closure_type(type) false
#define HEDDLE_TEST_KERNEL_TWIN "hostcuda/adopt_index_kernel.hpp"
#include "heddle/detail/cuda_launch.hpp"
