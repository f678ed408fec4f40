// SPDX-License-Identifier: Apache-2.0

#include <cstdlib>

#include "heddle/heddle.hpp"

namespace heddle::test {

void run_on_cuda_stream(void*, detail::operation) { std::abort(); }  // no host device has a CUDA stream

}  // namespace heddle::test
