// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <utility>

#include "heddle/detail/host_loop.hpp"
#include "heddle/extents.hpp"

namespace heddle::detail {

/// Who compiled a launch. A body may reach one program through g++ and through nvcc; the tag keeps what the
/// two make of the same template apart.
struct compiled_for_host {};
struct compiled_by_nvcc {};

/// Throws `no_device_code`.
[[noreturn]] void refuse_without_device_code(int id);
/// Throws `invalid_option`.
[[noreturn]] void refuse_without_host_code(int id);

/// How `stream::launch` puts a body on a stream.
template <class Compiler>
struct launcher;

template <>
struct launcher<compiled_for_host> {
  template <class Stream, std::size_t Rank, class Body, class... Args>
  static void launch(const Stream& on, const extents<Rank>& size, Body body, Args... args) {
    if (!on.on_host()) refuse_without_device_code(on.device_id());
    launch_on_host(on, size, std::move(body), std::move(args)...);
  }

  template <class Stream, std::size_t Rank, class Body, class... Args>
  static void launch_on_host(const Stream& on, const extents<Rank>& size, Body body, Args... args) {
    on.enqueue([size, body = std::move(body), ... args = std::move(args)] {
      host_loop(size, [&](auto... indices) { body(indices..., args...); });
    });
  }
};

}  // namespace heddle::detail

#if defined(__CUDACC__)
#include "heddle/detail/cuda_launch.hpp"
#elif defined(HEDDLE_TEST_KERNEL_HOOK)
#include HEDDLE_TEST_KERNEL_HOOK  // heddle's own tests: g++ builds the bodies, a double of CUDA runs them
#else
namespace heddle::detail {
using this_compiler = compiled_for_host;
}
#endif
