// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <random>
#include <vector>

#include "driver/driver.hpp"
#include "driver/host_stream.hpp"
#include "heddle/options.hpp"

namespace heddle::detail {

/// The host devices that the options describe, ids counted from 0. Reads the machine's NUMA nodes.
std::vector<device_info> list_host_devices(const host_options&);

/// Devices of the CPU. Memory is the heap's, counted against the device's cap.
class host_driver final : public driver {
 public:
  /// `devices`: those selected, in order.
  host_driver(std::vector<device_info> devices, const host_options&);

  int device_count() const noexcept override { return static_cast<int>(devices_.size()); }
  const device_info& info(int device) const noexcept override;
  void set_id(int device, int id) noexcept override { at(device).info.id = id; }
  void bind(int device, int streams) override;
  void unbind(int device) noexcept override;
  int urgent_stream(int) const noexcept override { return -1; }
  bool enter(int) noexcept override { return true; }
  void leave(int) noexcept override {}
  bool still_current(int) noexcept override { return true; }
  void enqueue(stream_id, operation) override;
  bool runs_at_once(stream_id) noexcept override;
  void issue(stream_id, operation work) override { work(); }
  void copy(stream_id, void* target, const void* source, std::size_t bytes) override;
  void copy_between(stream_id id, int, void* target, int, const void* source, std::size_t bytes) override {
    copy(id, target, source, bytes);
  }
  void* native_handle(stream_id) noexcept override { return nullptr; }
  void* native_stream(stream_id) override { return nullptr; }
  std::uint64_t record(stream_id, mark_kind) noexcept override;
  std::optional<std::exception_ptr> query(stream_id, std::uint64_t mark) override;
  void order_after(stream_id waiter, stream_id other, std::uint64_t mark) override;
  bool advance(int device) override;
  void* allocate(stream_id id, std::size_t bytes) override { return allocate(id.device, bytes); }
  void deallocate(stream_id, void* memory, std::size_t bytes) noexcept override;
  void* allocate(int device, std::size_t bytes) override;
  void deallocate(int device, void* memory, std::size_t bytes) noexcept override;
  void* allocate_for(int device, void*, std::size_t bytes) override { return allocate(device, bytes); }
  void deallocate_for(int device, void*, void* memory, std::size_t bytes) noexcept override {
    deallocate(device, memory, bytes);
  }
  void* allocate_pinned(int device, std::size_t bytes) override;
  void deallocate_pinned(int device, void* memory, std::size_t bytes) noexcept override;

 private:
  struct device_state {
    device_info info;
    std::vector<std::unique_ptr<host_stream>>
        streams;                             // made by bind; outlives it, for streams of other devices
    std::optional<std::mt19937_64> turns;    // in deferred mode: which stream goes on next
    std::atomic<std::size_t> used_bytes{0};  // publishes nothing: a count
  };
  device_state& at(int device) const noexcept { return *devices_[static_cast<std::size_t>(device)]; }
  host_stream& at(stream_id id) const noexcept {
    return *at(id.device).streams[static_cast<std::size_t>(id.index)];
  }

  const host_mode mode_;
  const std::size_t cap_bytes_;
  std::vector<std::unique_ptr<device_state>> devices_;
};

}  // namespace heddle::detail
