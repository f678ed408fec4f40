// SPDX-License-Identifier: Apache-2.0
#include "driver/cuda_events.hpp"

#include "driver/cuda_error.hpp"

namespace heddle::detail {

cuda_events::~cuda_events() {
  for (const cudaEvent_t event : free_) clear_own_error(cudaEventDestroy(event));
}

void cuda_events::reserve(std::size_t count) {
  while (made_ < count) free_.push_back(make());
}

cudaEvent_t cuda_events::take() {
  if (free_.empty()) return make();
  const cudaEvent_t event = free_.back();
  free_.pop_back();
  return event;
}

cudaEvent_t cuda_events::make() {
  free_.reserve(made_ + 1);
  cudaEvent_t event = nullptr;
  check_cuda(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "cudaEventCreateWithFlags", id_);
  ++made_;
  return event;
}

}  // namespace heddle::detail
