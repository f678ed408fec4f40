// SPDX-License-Identifier: Apache-2.0
#include "scheduler/keep_tbb.hpp"

#include <dlfcn.h>
#include <tbb/version.h>

namespace heddle::detail {

void keep_tbb_mapped() noexcept {
  static const bool once = [] {
    Dl_info library{};
    if (::dladdr(reinterpret_cast<const void*>(&TBB_runtime_version), &library) != 0 &&
        library.dli_fname != nullptr) {
      // Never closed: that is the point.
      ::dlopen(library.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
    }
    return true;
  }();
  static_cast<void>(once);
}

}  // namespace heddle::detail
