// SPDX-License-Identifier: Apache-2.0
// For nvcc only: bodies as kernels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>

#include "heddle/detail/kernel_launch.hpp"
#include "heddle/detail/launch.hpp"
#include "heddle/extents.hpp"

namespace heddle::detail {

using this_compiler = compiled_by_nvcc;

/// Whether a body is a lambda marked __device__ alone, or made of one: on the host it is an empty function.
template <class Body>
inline constexpr bool device_only_body = __nv_is_extended_device_lambda_closure_type(Body);

/// Calls what the body is made of without calling it: a body, or the join of a reduction, that is not marked
/// for devices is an error then, where a function for both kinds of device would call nothing.
template <class Body, class... Args>
__device__ void require_device_code(const Body&, Args...) {}

/// Grid-stride, so that any number of indices fits any grid.
template <std::size_t Rank, class Body, class... Args>
__global__ void index_kernel(extents<Rank> size, Body body, Args... args) {
  require_device_code(body, args...);
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < size.size();
       i += step) {
    if constexpr (Rank == 1) {
      body(i, args...);
    } else if constexpr (Rank == 2) {
      body(i / size[1], i % size[1], args...);
    } else {
      body(i / size[2] / size[1], i / size[2] % size[1], i % size[2], args...);
    }
  }
}

}  // namespace heddle::detail

#if defined(HEDDLE_TEST_KERNEL_TWIN)
#include HEDDLE_TEST_KERNEL_TWIN  // heddle's own tests: what a double of CUDA runs in the kernel's place
#endif

namespace heddle::detail {

/// A body and its arguments, called on the host. No lambda: nvcc 13.0 crashes, or finds errors, where one
/// captures a pack.
template <class Body, class... Args>
class host_call {
 public:
  host_call(Body body, Args... args) : body_(std::move(body)), args_(std::move(args)...) {}
  template <class... Indices>
  void operator()(Indices... indices) const {
    call(std::index_sequence_for<Args...>(), indices...);
  }

 private:
  template <std::size_t... K, class... Indices>
  void call(std::index_sequence<K...>, Indices... indices) const {
    body_(indices..., std::get<K>(args_)...);
  }

  Body body_;
  std::tuple<Args...> args_;
};

template <>
struct launcher<compiled_by_nvcc> {
  template <class Stream, std::size_t Rank, class Body, class... Args>
  static void launch(const Stream& on, const extents<Rank>& size, Body body, Args... args) {
    if (on.on_host()) {
      if constexpr (device_only_body<Body>) {  // its loop would do nothing, and nobody would notice
        refuse_without_host_code(on.device_id());
      } else {
        on.enqueue([size, call = host_call<Body, Args...>(std::move(body), std::move(args)...)] {
          host_loop(size, call);
        });
      }
      return;
    }
    if (size.size() == 0) return;
    constexpr unsigned block = 256;
    const auto wanted = (size.size() - 1) / block + 1;
    const std::int64_t most =
        32 * static_cast<std::int64_t>(on.multiprocessors());  // enough to fill each of them
    const auto grid = static_cast<unsigned>(wanted < most ? wanted : most);
    void (*const kernel)(extents<Rank>, Body, Args...) = &index_kernel<Rank, Body, Args...>;
#if defined(HEDDLE_TEST_KERNEL_TWIN)
    [[maybe_unused]] static const bool bound = bind_index_twin(kernel);
#endif
    const auto find = [kernel](int id) {
      static const cudaKernel_t handle = find_kernel(kernel, id);  // looked up once a program
      return handle;
    };
    put_kernel(on, find, kernel, dim3(grid), dim3(block), 0, size, std::move(body), std::move(args)...);
  }
};

}  // namespace heddle::detail
