// SPDX-License-Identifier: Apache-2.0
#include "driver/cuda_peers.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "driver/cuda_error.hpp"
#include "heddle/error.hpp"

namespace heddle::detail {

namespace {

constexpr std::size_t pattern_bytes = std::size_t{1} << 16;
constexpr std::size_t stage_bytes = std::size_t{1} << 22;

bool reaches(const device_info& from, const device_info& to) {
  return std::find(from.peers.begin(), from.peers.end(), *to.cuda_device) != from.peers.end();
}

// Each byte tells its place.
std::vector<unsigned char> pattern() {
  std::vector<unsigned char> bytes(pattern_bytes);
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<unsigned char>(i * 131 + (i >> 8) * 29 + 7);
  return bytes;
}

std::vector<unsigned char> inverse(std::vector<unsigned char> bytes) {
  for (auto& each : bytes) each = static_cast<unsigned char>(~each);
  return bytes;
}

void copy(void* target, const void* source, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream,
          int id) {
  check_cuda(cudaMemcpyAsync(target, source, bytes, kind, stream),
             "cudaMemcpyAsync of " + std::to_string(bytes) + " bytes", id);
  check_cuda(cudaStreamSynchronize(stream), "cudaStreamSynchronize", id);
}

std::string describe(const device_info& info) {
  return "device " + std::to_string(info.id) + " (" + info.name + ", " + info.uuid + ")";
}

}  // namespace

/// Waits for two streams when it dies, whatever their state: what their copies use may be freed then.
class cuda_peers::wait_at_end {
 public:
  wait_at_end(const end& one, const end& other) : streams_{one.stream, other.stream} {}
  wait_at_end(const wait_at_end&) = delete;
  wait_at_end& operator=(const wait_at_end&) = delete;
  ~wait_at_end() {
    for (const cudaStream_t each : streams_) clear_own_error(cudaStreamSynchronize(each));
  }

 private:
  const std::array<cudaStream_t, 2> streams_;
};

/// Memory for the pattern on one of the two devices.
struct cuda_peers::probe {
  probe(driver& owner, const end& where)
      : at(where), memory(owner.allocate(where.device, pattern_bytes)), owner_(owner) {}
  probe(const probe&) = delete;
  probe& operator=(const probe&) = delete;
  ~probe() { owner_.deallocate(at.device, memory, pattern_bytes); }

  const end at;
  void* const memory;

 private:
  driver& owner_;
};

cuda_peers::cuda_peers(driver& owner, std::weak_ptr<error_sink> sink)
    : owner_(owner),
      sink_(std::move(sink)),
      routes_(static_cast<std::size_t>(owner.device_count()) *
              static_cast<std::size_t>(owner.device_count())) {
  for (int one = 0; one < owner.device_count(); ++one) {
    for (int other = one; other < owner.device_count(); ++other) {
      const bool direct =
          reaches(owner.info(one), owner.info(other)) || reaches(owner.info(other), owner.info(one));
      // CUDA itself takes the others through the host.
      between(one, other).store(direct ? route::untried : route::good, std::memory_order_relaxed);
    }
  }
}

std::atomic<cuda_peers::route>& cuda_peers::between(int one, int other) {
  const auto low = static_cast<std::size_t>(std::min(one, other));
  const auto high = static_cast<std::size_t>(std::max(one, other));
  return routes_[low * static_cast<std::size_t>(owner_.device_count()) + high];
}

bool cuda_peers::may_copy(const end& one, const end& other) {
  route found = between(one.device, other.device).load(std::memory_order_relaxed);
  if (found == route::untried) {
    {
      const std::lock_guard lock(trying_);
      found = between(one.device, other.device).load(std::memory_order_relaxed);
      if (found != route::untried) return found == route::good;
      found = try_both_ways(one, other);
      between(one.device, other.device).store(found, std::memory_order_relaxed);
    }
    if (found == route::wrong) report(one.device, other.device);  // calls the user's function
  }
  return found == route::good;
}

cuda_peers::route cuda_peers::try_both_ways(const end& one, const end& other) try {
  const probe a(owner_, one);
  const probe b(owner_, other);
  const wait_at_end settled(one, other);
  for (const end& by : {one, other}) {  // reading a peer's memory may work where writing it does not
    if (!arrives(b, a, by) || !arrives(a, b, by)) return route::wrong;
  }
  return route::good;
} catch (const out_of_device_memory&) {
  return route::untried;
}

bool cuda_peers::arrives(const probe& to, const probe& from, const end& by) {
  const auto sent = pattern();
  auto seen = inverse(sent);  // what the target must not keep
  copy(to.memory, seen.data(), seen.size(), cudaMemcpyHostToDevice, to.at.stream, id(to.at));
  copy(from.memory, sent.data(), sent.size(), cudaMemcpyHostToDevice, from.at.stream, id(from.at));
  check_cuda(cudaMemcpyPeerAsync(to.memory, *owner_.info(to.at.device).cuda_device, from.memory,
                                 *owner_.info(from.at.device).cuda_device, sent.size(), by.stream),
             "cudaMemcpyPeerAsync of " + std::to_string(sent.size()) + " bytes", id(by));
  check_cuda(cudaStreamSynchronize(by.stream), "cudaStreamSynchronize", id(by));
  copy(seen.data(), to.memory, seen.size(), cudaMemcpyDeviceToHost, to.at.stream, id(to.at));
  return seen == sent;
}

void cuda_peers::copy_through_host(const end& to, void* target, const end& from, const void* source,
                                   std::size_t bytes) {
  const std::size_t piece = std::min(bytes, stage_bytes);
  const auto give_back = [this, to, piece](void* memory) {
    owner_.deallocate_pinned(to.device, memory, piece);
  };
  const std::unique_ptr<void, decltype(give_back)> stage(owner_.allocate_pinned(to.device, piece), give_back);
  const wait_at_end settled(from, to);
  for (std::size_t done = 0; done < bytes; done += piece) {
    const std::size_t now = std::min(piece, bytes - done);
    // Each half by its own device: by the other's it would be a direct copy again.
    copy(stage.get(), static_cast<const char*>(source) + done, now, cudaMemcpyDeviceToHost, from.stream,
         id(from));
    copy(static_cast<char*>(target) + done, stage.get(), now, cudaMemcpyHostToDevice, to.stream, id(to));
  }
}

void cuda_peers::report(int one, int other) {
  const auto& info = owner_.info(one);
  const auto sink = sink_.lock();
  if (!sink) return;
  const std::string message = "between " + describe(info) + " and " + describe(owner_.info(other)) +
                              " copies arrive with wrong bytes, though CUDA says that one reaches the "
                              "other's memory: they go through host memory from now on, which is slow; a "
                              "kernel of one that uses the other's memory may go wrong, too";
  sink->report(
      {std::make_exception_ptr(device_error(info.id, "cudaMemcpyPeerAsync", message)), info.id, "", message});
}

}  // namespace heddle::detail
