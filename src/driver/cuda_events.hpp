// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <vector>

namespace heddle::detail {

/// The untimed events of one device, used again and again: an event belongs to the device that made it, and
/// making one is no work for the hot path. The device thread only.
class cuda_events {
 public:
  explicit cuda_events(int id) : id_(id) {}
  cuda_events(const cuda_events&) = delete;
  cuda_events& operator=(const cuda_events&) = delete;
  ~cuda_events();

  /// Makes `count` of them beforehand. Throws `device_error`.
  void reserve(std::size_t count);
  /// Throws `device_error`.
  cudaEvent_t take();
  void give_back(cudaEvent_t event) noexcept { free_.push_back(event); }  // within the capacity: never grows

 private:
  cudaEvent_t make();

  const int id_;
  std::vector<cudaEvent_t> free_;
  std::size_t made_ = 0;
};

}  // namespace heddle::detail
