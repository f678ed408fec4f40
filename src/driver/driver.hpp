// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <optional>
#include <string>

#include "heddle/detail/operation.hpp"
#include "heddle/device_info.hpp"

namespace heddle::detail {

/// No allocation is larger. Allocators round sizes up, some without a look at what comes out.
inline constexpr std::size_t most_bytes = std::numeric_limits<std::ptrdiff_t>::max() / 2;

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
  /// Its id is counted from 0 until `set_id`.
  virtual const device_info& info(int device) const noexcept = 0;
  /// The id by which heddle's user knows the device, for messages. Before `bind`.
  virtual void set_id(int device, int id) noexcept = 0;

  /// Makes the device current on the calling thread and creates `streams` streams. Throws what keeps it from
  /// that, and leaves nothing behind then.
  virtual void bind(int device, int streams) = 0;
  virtual void unbind(int device) noexcept = 0;

  /// The stream whose work goes before that of the others, for items of high priority; -1 where all are
  /// alike.
  virtual int urgent_stream(int device) const noexcept = 0;

  /// A thread that is no device thread begins to act for the device, and ends that; pairs nest. False: it
  /// could not, and `leave` must not follow.
  virtual bool enter(int device) noexcept = 0;
  virtual void leave(int device) noexcept = 0;
  /// Whether the device thread still has its device current; if code of the item left another one, its own is
  /// made current again.
  virtual bool still_current(int device) noexcept = 0;

  /// Puts a host function on the stream.
  virtual void enqueue(stream_id, operation) = 0;
  /// Whether a host function put on the stream now would run at once, so that the caller may as well call it.
  virtual bool runs_at_once(stream_id) noexcept = 0;
  /// Calls `work`, which puts device work on the native stream: at once, or after the host functions before
  /// it. Throws what `work` throws, if at once.
  virtual void issue(stream_id, operation work) = 0;
  /// Copies in stream order, between any two of: memory of a device, host memory.
  virtual void copy(stream_id, void* target, const void* source, std::size_t bytes) = 0;
  /// The same for memory of two devices of this driver, whether or not one reaches the other's.
  virtual void copy_between(stream_id, int to_device, void* target, int from_device, const void* source,
                            std::size_t bytes) = 0;
  /// The CUDA stream, null on host devices; for what `issue` calls.
  virtual void* native_handle(stream_id) noexcept = 0;
  /// The same for code that puts work there by itself, from now on: waits until the host functions on it have
  /// run.
  virtual void* native_stream(stream_id) = 0;

  /// A mark behind all work put on the stream so far; 0 if that is done already, or, at the end of an item,
  /// if the item has put none on it; without a failure to report. What fails here fails the mark.
  virtual std::uint64_t record(stream_id, mark_kind) noexcept = 0;
  /// Empty while the mark is not reached; then null, or the failure of the item's work before it.
  virtual std::optional<std::exception_ptr> query(stream_id, std::uint64_t mark) = 0;
  /// Work put on `waiter` from now on starts after `mark` of `other`, a stream of any device, and fails as
  /// that failed.
  virtual void order_after(stream_id waiter, stream_id other, std::uint64_t mark) = 0;
  /// Lets the device's streams go on, where they need the thread for that; whether any did.
  virtual bool advance(int device) = 0;

  /// Memory of the device, at least 256-byte aligned, for work put on the stream from now on. Throws
  /// `out_of_device_memory`.
  virtual void* allocate(stream_id, std::size_t bytes) = 0;
  /// Frees memory of the device once all work put on the stream so far is done.
  virtual void deallocate(stream_id, void* memory, std::size_t bytes) noexcept = 0;
  /// The same for any thread: memory for any stream at once, and freed when no work uses it any more. Also
  /// after `unbind`.
  virtual void* allocate(int device, std::size_t bytes) = 0;
  virtual void deallocate(int device, void* memory, std::size_t bytes) noexcept = 0;

  /// The same in the order of a stream of the application's; on host devices, which have none, as above.
  virtual void* allocate_for(int device, void* native_stream, std::size_t bytes) = 0;
  virtual void deallocate_for(int device, void* native_stream, void* memory, std::size_t bytes) noexcept = 0;

  /// Host memory on the device's NUMA node that its copies read and write without a detour, 256-byte aligned.
  /// Any thread. Throws `out_of_device_memory`. Freed when no work uses it any more.
  virtual void* allocate_pinned(int device, std::size_t bytes) = 0;
  virtual void deallocate_pinned(int device, void* memory, std::size_t bytes) noexcept = 0;
};

}  // namespace heddle::detail
