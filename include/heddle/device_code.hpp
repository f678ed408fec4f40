// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Marks of functions and lambdas that nvcc shall compile for GPUs: for them alone, or for the host as well.
/// Empty for every other compiler, so that one body serves both. nvcc takes them on lambdas with
/// --extended-lambda.
///
///     context.launch(n, [x] HEDDLE_HOST_DEVICE(std::int64_t i) { x[i] *= 2; });
#if defined(__CUDACC__)
#define HEDDLE_DEVICE __device__
#define HEDDLE_HOST_DEVICE __host__ __device__
#else
#define HEDDLE_DEVICE
#define HEDDLE_HOST_DEVICE
#endif
