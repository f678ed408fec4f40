// SPDX-License-Identifier: Apache-2.0
// Entry points of the runtime that the double lacks: each says its name and aborts, so that a program which
// needs one fails where it calls rather than where it loads. No CUDA header here: the stubs have no
// prototypes.
#include <cstdio>
#include <cstdlib>

namespace {

[[noreturn]] void missing(const char* name) {
  std::fprintf(stderr, "fakecudart: %s is not implemented\n", name);
  std::abort();
}

}  // namespace

extern "C" {
#define FAKECUDA_MISSING(name) \
  void name() { missing(#name); }
#include "missing.inc"
#undef FAKECUDA_MISSING
}
