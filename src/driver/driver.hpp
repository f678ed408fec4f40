// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>

#include "heddle/detail/operation.hpp"
#include "heddle/device_info.hpp"

namespace heddle::detail {

/// A stream: the device's place in its driver, and the stream's number on the device.
struct stream_id {
  int device = 0;
  int index = 0;
};

/// What a mark is for. Failed work fails all later work of its item on the stream, up to the mark that ends
/// the item.
enum class mark_kind { event, end_of_item };

/// The seam: what heddle needs from CUDA, or from the host in its place. The only abstract class.
///
/// Devices are numbered from 0 in the order in which they were selected. `bind`, `unbind` and everything on
/// streams is called by the device's own thread only; the rest by any thread.
class driver {
 public:
  virtual ~driver() = default;

  virtual int device_count() const noexcept = 0;
  /// Without heddle's id.
  virtual const device_info& info(int device) const noexcept = 0;

  /// Makes the device current on the calling thread and creates `streams` streams. Throws what keeps it from
  /// that.
  virtual void bind(int device, int streams) = 0;
  virtual void unbind(int device) noexcept = 0;

  /// Puts a host function on the stream.
  virtual void enqueue(stream_id, operation) = 0;
  /// Whether a host function put on the stream now would run at once, so that the caller may as well call it.
  virtual bool runs_at_once(stream_id) const noexcept = 0;

  /// A mark behind all work put on the stream so far; 0 if that is done already, without a failure to report.
  virtual std::uint64_t record(stream_id, mark_kind) = 0;
  /// Empty while the mark is not reached; then null, or the failure of the item's work before it.
  virtual std::optional<std::exception_ptr> query(stream_id, std::uint64_t mark) = 0;
  /// Work put on `waiter` from now on starts after `mark` of `other`, a stream of any device, and fails as
  /// that failed.
  virtual void order_after(stream_id waiter, stream_id other, std::uint64_t mark) = 0;
  /// Lets the device's streams go on, where they need the thread for that; whether any did.
  virtual bool advance(int device) = 0;

  /// Memory of the device, at least 256-byte aligned. Throws `out_of_device_memory`.
  virtual void* allocate(int device, std::size_t bytes) = 0;
  virtual void deallocate(int device, void* memory, std::size_t bytes) noexcept = 0;
};

}  // namespace heddle::detail
