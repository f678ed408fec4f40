// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dlfcn.h>

#include <cstddef>
#include <tuple>
#include <utility>

#include "fakecudart.h"

namespace fakecuda {

/// Looked up while running: the same test program also runs on NVIDIA's runtime, where there is none.
inline decltype(&fakecuda_register_twin) registrar() {
  static const auto found =
      reinterpret_cast<decltype(&fakecuda_register_twin)>(dlsym(RTLD_DEFAULT, "fakecuda_register_twin"));
  return found;
}

/// Makes `Twin`, a void(const fakecuda_launch&, A...), run in place of the kernel void(A...). False on
/// NVIDIA's runtime. The arguments are copied by their own copy constructors: an extended __host__ __device__
/// lambda may own heap memory on the host's side, where copying its bytes would leave a dangling pointer.
template <auto Twin, class... A>
bool bind(void (*kernel)(A...), const char* label = "") {
  using arguments = std::tuple<A...>;
  if (registrar() == nullptr) return false;
  fakecuda_twin twin{};
  twin.pack = [](void** given) -> void* {
    return [&]<std::size_t... I>(std::index_sequence<I...>)->void* {
      return new arguments(*static_cast<A*>(given[I])...);
    }
    (std::index_sequence_for<A...>{});
  };
  twin.run = [](void* packed, const fakecuda_launch* where) {
    std::apply([&](A&... values) { Twin(*where, values...); }, *static_cast<arguments*>(packed));
  };
  twin.drop = [](void* packed) { delete static_cast<arguments*>(packed); };
  registrar()(reinterpret_cast<const void*>(kernel), label, twin);
  return true;
}

}  // namespace fakecuda
