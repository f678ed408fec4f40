// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "driver/cuda_context.hpp"
#include "driver/cuda_events.hpp"
#include "driver/cuda_memory.hpp"
#include "driver/cuda_peers.hpp"
#include "driver/cuda_stream.hpp"
#include "driver/driver.hpp"
#include "driver/pinned_pool.hpp"

namespace heddle::detail {

/// GPUs, by the CUDA runtime: primary contexts, non-blocking streams, untimed events that the device thread
/// polls, and a memory pool of its own on each device.
class cuda_driver final : public driver {
 public:
  /// The sink is told what no item's future can carry.
  cuda_driver(std::vector<device_info> devices, std::weak_ptr<error_sink> sink);
  ~cuda_driver() override;

  int device_count() const noexcept override { return static_cast<int>(devices_.size()); }
  const device_info& info(int device) const noexcept override { return at(device).info; }
  void set_id(int device, int id) noexcept override { at(device).info.id = id; }
  void bind(int device, int streams) override;
  void unbind(int device) noexcept override;
  int urgent_stream(int device) const noexcept override { return at(device).urgent; }
  bool enter(int device) noexcept override;
  void leave(int device) noexcept override;
  bool still_current(int device) noexcept override;
  void enqueue(stream_id id, operation work) override { at(id).enqueue(std::move(work)); }
  bool runs_at_once(stream_id id) noexcept override { return at(id).runs_at_once(); }
  void issue(stream_id id, operation work) override { at(id).issue(std::move(work)); }
  void copy(stream_id, void* target, const void* source, std::size_t bytes) override;
  void copy_between(stream_id, int to_device, void* target, int from_device, const void* source,
                    std::size_t bytes) override;
  void* native_handle(stream_id id) noexcept override { return at(id).native(); }
  void* native_stream(stream_id) override;
  std::uint64_t record(stream_id id, mark_kind kind) noexcept override { return at(id).record(kind); }
  std::optional<std::exception_ptr> query(stream_id id, std::uint64_t mark) override {
    return at(id).query(mark);
  }
  void order_after(stream_id waiter, stream_id other, std::uint64_t mark) override {
    at(waiter).order_after(at(other), mark);
  }
  bool advance(int device) override;
  void* allocate(stream_id, std::size_t bytes) override;
  void deallocate(stream_id, void* memory, std::size_t bytes) noexcept override;
  void* allocate(int device, std::size_t bytes) override;
  void deallocate(int device, void* memory, std::size_t bytes) noexcept override;
  void* allocate_for(int device, void* native_stream, std::size_t bytes) override;
  void deallocate_for(int device, void* native_stream, void* memory, std::size_t bytes) noexcept override;
  void* allocate_pinned(int device, std::size_t bytes) override;
  void deallocate_pinned(int device, void* memory, std::size_t bytes) noexcept override;

 private:
  struct device_state {
    device_info info;
    // From bind on; what memory needs stays until the driver's end, the rest until unbind.
    std::optional<cuda_context> context;
    std::optional<cuda_memory> memory;
    cudaStream_t memory_stream = nullptr;  // for what is waited for at once: see allocate(int), cuda_peers
    std::optional<cuda_events> events;
    std::vector<std::unique_ptr<cuda_stream>> streams;
    int urgent = -1;  // index of the stream with the device's greatest priority
    pinned_pool pinned;
  };
  device_state& at(int device) const noexcept { return *devices_[static_cast<std::size_t>(device)]; }
  cuda_stream& at(stream_id id) const noexcept {
    return *at(id.device).streams[static_cast<std::size_t>(id.index)];
  }
  void make_device(device_state&, int streams);
  void open_to_peers(device_state&);
  static void free_pinned(device_state&) noexcept;
  static void release(device_state&) noexcept;
  static void settle(device_state&) noexcept;

  std::vector<std::unique_ptr<device_state>> devices_;
  std::optional<cuda_peers> peers_;  // never empty
};

}  // namespace heddle::detail
