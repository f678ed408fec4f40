// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime_api.h>

#include <cstring>
#include <memory>
#include <utility>

#include "block.hpp"
#include "entry.hpp"
#include "pool.hpp"

namespace fake {

namespace {

/// Rows of bytes; a plain copy has one.
struct copy_request {
  char* to;
  std::size_t to_pitch;
  const char* from;
  std::size_t from_pitch;
  std::size_t width, height;

  std::size_t span(std::size_t pitch) const { return height == 0 ? 0 : (height - 1) * pitch + width; }
  void run() const {
    for (std::size_t row = 0; row < height; ++row)
      std::memmove(to + row * to_pitch, from + row * from_pitch, width);
  }
};

struct copy_ends {
  block* to = nullptr;    // null: pageable
  block* from = nullptr;  // null: pageable
};

// The two ends against what the program said about them.
cudaError_t find_ends(const copy_request& what, cudaMemcpyKind kind, copy_ends& ends) {
  ends.to = find_block(what.to);
  ends.from = find_block(what.from);
  const bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  const bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  const auto fits = [](const block* end, const void* address, std::size_t bytes, bool device_wanted) {
    if (end == nullptr) return !device_wanted;
    return end->holds(address, bytes) && (!device_wanted || end->on_device());
  };
  if (!fits(ends.to, what.to, what.span(what.to_pitch), to_device) ||
      !fits(ends.from, what.from, what.span(what.from_pitch), from_device)) {
    misuse("a copy of %zu x %zu bytes %p -> %p leaves its allocation or has the wrong kind", what.width,
           what.height, static_cast<const void*>(what.from), static_cast<void*>(what.to));
    return cudaErrorInvalidValue;
  }
  for (const block* const end : {ends.to, ends.from}) {
    if (end == nullptr || !end->freed.load(std::memory_order_relaxed)) continue;
    misuse("a copy touches %p after cudaFreeAsync", static_cast<void*>(end->base));
    return cudaErrorInvalidValue;
  }
  return cudaSuccess;
}

// Pool memory may be touched by a device's own work only if the pool grants it.
cudaError_t check_access(const copy_ends& ends, device& by) {
  for (const block* const end : {ends.to, ends.from}) {
    if (end == nullptr || end->from == nullptr || end->from->may_touch(by.id)) continue;
    misuse("device %d copies memory of a pool of device %d that grants it no access", by.id, end->owner->id);
    by.sticky.store(cudaErrorIllegalAddress, std::memory_order_relaxed);
    return cudaErrorIllegalAddress;
  }
  return cudaSuccess;
}

// Without access in either direction a copy between devices is staged through the host, and always right.
bool arrives_wrong(const copy_ends& ends) {
  if (ends.to == nullptr || ends.from == nullptr || !ends.to->on_device() || !ends.from->on_device())
    return false;
  device& to = *ends.to->owner;
  device& from = *ends.from->owner;
  if (&to == &from || !from.corrupt[static_cast<std::size_t>(to.id)]) return false;
  const auto reaches = [](device& by, block& what) {
    if (what.from != nullptr) return what.from->may_touch(by.id);
    const std::lock_guard lock(by.mutex);
    return by.peers.count(what.owner->id) != 0;
  };
  return reaches(from, *ends.to) || reaches(to, *ends.from);
}

void warn_if_gone(const copy_ends& ends) {
  for (const block* const end : {ends.to, ends.from})
    if (end != nullptr && end->gone.load(std::memory_order_relaxed))
      misuse("a copy ran after another stream had freed %p", static_cast<void*>(end->base));
}

void run_copy(const copy_request& what, const copy_ends& ends, bool wrong, device& by) {
  sleep_us(by.copy_us.load(std::memory_order_relaxed));
  warn_if_gone(ends);
  what.run();
  if (wrong && what.width > 0 && what.height > 0) what.to[0] = static_cast<char>(~what.to[0]);
}

void enqueue_staged(const copy_request& what, const copy_ends& ends, stream& on) {
  auto bytes = std::make_unique<char[]>(what.width * what.height);
  copy_request staged = what;
  staged.to = bytes.get();
  staged.to_pitch = what.width;
  staged.run();
  staged.to = what.to;
  staged.to_pitch = what.to_pitch;
  staged.from = bytes.get();
  staged.from_pitch = what.width;
  enqueue(on, op_kind::work,
          [staged, ends, by = &on.dev, held = std::move(bytes)] { run_copy(staged, ends, false, *by); });
}

/// `blocking`: cudaMemcpy rather than cudaMemcpyAsync. `staged_route`: cudaMemcpyPeer, which needs no access.
cudaError_t copy(const copy_request& what, cudaMemcpyKind kind, stream& on, bool blocking,
                 bool staged_route) {
  if (what.width == 0 || what.height == 0) return cudaSuccess;
  copy_ends ends;
  if (const cudaError_t status = find_ends(what, kind, ends)) return status;
  if (!staged_route)
    if (const cudaError_t status = check_access(ends, on.dev)) return status;

  const bool recording = on.recording.load(std::memory_order_relaxed) != nullptr;
  const bool to_host = ends.to == nullptr || !ends.to->on_device();
  const bool from_host = ends.from == nullptr || !ends.from->on_device();
  if (!recording && to_host && on.dev.gated()) {
    // Whoever reads too early shall see garbage rather than the answer of the round before.
    for (std::size_t row = 0; row < what.height; ++row)
      std::memset(what.to + row * what.to_pitch, 0xFB, what.width);
  }

  const bool wrong = arrives_wrong(ends);
  if (ends.from == nullptr && !to_host && !recording) {
    if (blocking)
      if (const cudaError_t status = on.mark_now()->wait()) return status;
    enqueue_staged(what, ends, on);
    return cudaSuccess;
  }
  enqueue(on, op_kind::work, [what, ends, wrong, by = &on.dev] { run_copy(what, ends, wrong, *by); });
  const bool pageable_target = ends.to == nullptr;
  const bool host_to_host = to_host && from_host;
  const bool waits = pageable_target || host_to_host || (blocking && (to_host || from_host));
  if (waits && !recording) return on.mark_now()->wait();
  return cudaSuccess;
}

copy_request row(void* to, const void* from, std::size_t bytes) {
  return {static_cast<char*>(to), bytes, static_cast<const char*>(from), bytes, bytes, 1};
}

cudaError_t peer_copy(void* to, int to_device, const void* from, int from_device, std::size_t bytes,
                      stream& on, bool blocking) {
  for (const auto& [address, ordinal] : {std::pair<const void*, int>{to, to_device}, {from, from_device}}) {
    if (the_machine().at(ordinal) == nullptr) return cudaErrorInvalidDevice;
    const block* const end = find_block(address);
    if (end != nullptr && end->on_device() && end->owner->id == ordinal) continue;
    misuse("cudaMemcpyPeer: %p is no memory of device %d", address, ordinal);
    return cudaErrorInvalidValue;
  }
  return copy(row(to, from, bytes), cudaMemcpyDeviceToDevice, on, blocking, true);
}

cudaError_t set_bytes(void* to, int value, std::size_t bytes, stream& on) {
  if (bytes == 0) return cudaSuccess;
  block* const end = find_block(to);
  if (end == nullptr || !end->holds(to, bytes)) {
    misuse("a memset of %zu bytes at %p leaves its allocation", bytes, to);
    return cudaErrorInvalidValue;
  }
  if (end->freed.load(std::memory_order_relaxed)) {
    misuse("a memset touches %p after cudaFreeAsync", static_cast<void*>(end->base));
    return cudaErrorInvalidValue;
  }
  const copy_ends ends{end, nullptr};
  if (const cudaError_t status = check_access(ends, on.dev)) return status;
  enqueue(on, op_kind::work, [to, value, bytes, ends] {
    warn_if_gone(ends);
    std::memset(to, value, bytes);
  });
  return cudaSuccess;
}

}  // namespace

}  // namespace fake

using namespace fake;

extern "C" {

cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t handle) {
  return call_on_stream<"cudaMemcpyAsync">(
      handle, [&](stream& on, device&) { return copy(row(to, from, bytes), kind, on, false, false); });
}

cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  return call_on_device<"cudaMemcpy">([&](device& current) -> cudaError_t {
    if (capture_forbids("cudaMemcpy")) return cudaErrorStreamCaptureUnsupported;
    return copy(row(to, from, bytes), kind, *current.legacy, true, false);
  });
}

cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                              size_t height, cudaMemcpyKind kind, cudaStream_t handle) {
  return call_on_stream<"cudaMemcpy2DAsync">(handle, [&](stream& on, device&) -> cudaError_t {
    if (width > to_pitch || width > from_pitch) return cudaErrorInvalidPitchValue;
    return copy({static_cast<char*>(to), to_pitch, static_cast<const char*>(from), from_pitch, width, height},
                kind, on, false, false);
  });
}

cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device, size_t bytes,
                                cudaStream_t handle) {
  return call_on_stream<"cudaMemcpyPeerAsync">(handle, [&](stream& on, device&) {
    return peer_copy(to, to_device, from, from_device, bytes, on, false);
  });
}

cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device, size_t bytes) {
  return call_on_device<"cudaMemcpyPeer">([&](device& current) -> cudaError_t {
    if (capture_forbids("cudaMemcpyPeer")) return cudaErrorStreamCaptureUnsupported;
    return peer_copy(to, to_device, from, from_device, bytes, *current.legacy, true);
  });
}

cudaError_t cudaMemsetAsync(void* to, int value, size_t bytes, cudaStream_t handle) {
  return call_on_stream<"cudaMemsetAsync">(
      handle, [&](stream& on, device&) { return set_bytes(to, value, bytes, on); });
}

cudaError_t cudaMemset(void* to, int value, size_t bytes) {
  return call_on_device<"cudaMemset">([&](device& current) -> cudaError_t {
    if (capture_forbids("cudaMemset")) return cudaErrorStreamCaptureUnsupported;
    return set_bytes(to, value, bytes, *current.legacy);
  });
}

cudaError_t cudaMemPrefetchAsync(const void*, size_t, cudaMemLocation, unsigned, cudaStream_t handle) {
  return call_on_stream<"cudaMemPrefetchAsync">(handle, [](stream&, device&) { return cudaSuccess; });
}
}
