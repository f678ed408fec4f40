// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "driver/driver.hpp"
#include "observe/error_sink.hpp"

namespace heddle::detail {

/// Which devices of a driver copy to one another directly. CUDA may say that two of them can although the
/// bytes arrive wrong: each pair is tried before its first copy. Any device thread.
class cuda_peers {
 public:
  /// A device by its place in the driver, and a stream of it that never carries work that lasts.
  struct end {
    int device;
    cudaStream_t stream;
  };

  /// `owner` has its devices already. The sink is told of pairs that fail, once each.
  cuda_peers(driver& owner, std::weak_ptr<error_sink> sink);

  /// Whether `cudaMemcpyPeerAsync` may be used between the two. Blocks the first time for two of which one
  /// reaches the other: a pattern is sent both ways, by the one and by the other. False also while there is
  /// no device memory for that. Throws `device_error`.
  bool may_copy(const end& one, const end& other);
  /// Copies by way of pinned host memory, a piece at a time, and blocks until that is done: after this
  /// nothing of it is on a stream. Throws `device_error`.
  void copy_through_host(const end& to, void* target, const end& from, const void* source, std::size_t bytes);

 private:
  enum class route : char { untried, good, wrong };
  struct probe;
  class wait_at_end;

  std::atomic<route>& between(int one, int other);
  route try_both_ways(const end& one, const end& other);
  bool arrives(const probe& to, const probe& from, const end& by);
  void report(int one, int other);
  int id(const end& e) const noexcept { return owner_.info(e.device).id; }

  driver& owner_;
  const std::weak_ptr<error_sink> sink_;  // the driver may outlive its scheduler, whose function this is
  std::mutex trying_;                     // one pair at a time
  std::vector<std::atomic<route>> routes_;
};

}  // namespace heddle::detail
