// SPDX-License-Identifier: Apache-2.0
// Included by heddle/detail/launch.hpp in the contract suite, which g++ compiles: gives its bodies a way onto
// a CUDA stream.
#pragma once

#include <cstddef>
#include <utility>

#include "heddle/detail/operation.hpp"

namespace heddle::test {
/// Has the CUDA stream run `loop` in its order, on a thread of its own.
void run_on_cuda_stream(void* native, detail::operation loop);
}  // namespace heddle::test

namespace heddle::detail {

struct compiled_for_tests {};
using this_compiler = compiled_for_tests;

template <>
struct launcher<compiled_for_tests> {
  template <class Stream, std::size_t Rank, class Body, class... Args>
  static void launch(const Stream& on, const extents<Rank>& size, Body body, Args... args) {
    if (on.on_host()) {
      launcher<compiled_for_host>::launch_on_host(on, size, std::move(body), std::move(args)...);
      return;
    }
    on.issue([size, body = std::move(body), ... args = std::move(args)](void* native) mutable {
      test::run_on_cuda_stream(native, operation([size, body = std::move(body), ... args = std::move(args)] {
                                 host_loop(size, [&](auto... indices) { body(indices..., args...); });
                               }));
    });
  }
};

}  // namespace heddle::detail
