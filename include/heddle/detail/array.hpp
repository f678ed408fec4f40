// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "heddle/detail/device_allocation.hpp"
#include "heddle/detail/loop.hpp"
#include "heddle/detail/reduction_blocks.hpp"
#include "heddle/index_range.hpp"
#include "heddle/loop_arguments.hpp"

namespace heddle::detail {

/// How an array lies: rows of `row` elements, divided among the devices.
struct array_layout {
  std::int64_t rows = 0;
  std::int64_t row = 1;
  std::int64_t halo = 0;        ///< rows of its neighbours that a block holds on each side
  std::vector<double> weights;  ///< of the devices; empty: even
};

/// What one device has of an array.
struct array_block {
  std::size_t place;  ///< of the device
  index_range range;  ///< its own elements
  index_range held;   ///< with the halos
  device_allocation memory;
};

/// The error, if any, that has left something undefined. Any thread.
class poison {
 public:
  /// How often it has been defined anew: what was issued before that leaves nothing undefined any more.
  std::uint64_t era() const noexcept {
    const std::lock_guard lock(mutex_);
    return era_;
  }
  /// For what was issued in that era.
  void set(std::exception_ptr error, std::uint64_t era) noexcept {
    const std::lock_guard lock(mutex_);
    if (!error_ && era == era_) error_ = std::move(error);
  }
  std::exception_ptr get() const noexcept {
    const std::lock_guard lock(mutex_);
    return error_;
  }
  void clear() noexcept {
    const std::lock_guard lock(mutex_);
    error_ = nullptr;
    ++era_;
  }

 private:
  mutable std::mutex mutex_;
  std::exception_ptr error_;  // guarded by mutex_
  std::uint64_t era_ = 0;     // guarded by mutex_
};

/// The elements of a `distributed_array`, as bytes.
struct array_core {
  array_core(scheduler_core&, const array_layout&, std::size_t element_bytes);

  std::int64_t size() const noexcept { return layout.rows * layout.row; }
  /// How reductions and scans over it are cut. Its blocks begin where some of these do, so that a device
  /// needs nothing of another one for them.
  reduction_blocks cut() const noexcept { return reduction_blocks_of(layout.rows, layout.row); }
  /// The block that an element belongs to.
  const array_block& block_of(std::int64_t index) const noexcept;
  std::byte* address(const array_block& block, std::int64_t index) const noexcept {
    return static_cast<std::byte*>(block.memory.data()) +
           static_cast<std::size_t>(index - block.held.begin) * element_bytes;
  }

  const std::shared_ptr<scheduler_core> core;  // its memory may not outlive the driver's devices
  const array_layout layout;
  const std::size_t element_bytes;
  std::vector<array_block> blocks;  // by place; those that have elements
  poison failed;
  bool halos_stale = false;  // guarded by the order of steps: who adds steps
};

/// One value a device, as bytes; for `replicated`.
struct replicated_core {
  /// Without memory: `allocate` makes all of it, or the steps that need some make it, each on its device.
  replicated_core(scheduler_core&, std::size_t bytes);
  /// All of it. Blocks while it allocates.
  void allocate();

  const std::shared_ptr<scheduler_core> core;
  const std::size_t bytes;
  std::vector<device_allocation> values;    // by place
  std::vector<device_allocation> partials;  // by place: what a reduction joins
  poison failed;
};

/// An array as an argument of a loop.
template <class T, access Access, bool Halo = false>
struct array_argument {
  std::shared_ptr<array_core> array;
};

/// The array of an argument of a loop; null if it is none.
template <class Arg>
const array_core* array_of(const Arg&) noexcept {
  return nullptr;
}
template <class T, access Access, bool Halo>
const array_core* array_of(const array_argument<T, Access, Halo>& arg) noexcept {
  return arg.array.get();
}
/// How a reduction or a scan over so many indices is cut: as the first array among its arguments, or by the
/// number alone.
template <class... Args>
reduction_blocks cut_of(std::int64_t indices, const Args&... args) noexcept {
  const array_core* first = nullptr;
  ((first = first != nullptr ? first : array_of(args)), ...);
  return first != nullptr ? first->cut() : reduction_blocks_of(indices);
}

/// A replicated value as an argument of a loop.
template <class T, access Access>
struct replicated_argument {
  std::shared_ptr<replicated_core> value;
};

/// What a loop does with an array or a replicated value.
struct array_use {
  std::shared_ptr<array_core> array;            // or null
  std::shared_ptr<replicated_core> replicated;  // or null
  bool read;
  bool written;
  bool halo;
  std::uint64_t era = 0;  // of what it is, when the loop is issued

  poison& failed() const noexcept { return array ? array->failed : replicated->failed; }
};

/// A loop whose parts are the blocks of arrays, behind all earlier steps that touch the arrays. Does not
/// block. Throws `invalid_option` if the arrays do not lie alike.
future<void> start_on_arrays(scheduler_core&, const loop_request&, const loop_options&,
                             std::shared_ptr<void> owner, std::vector<array_use>);

/// The two steps of a reduction into a replicated value. The request's operations, on host devices, leave the
/// blocks' values where `finish` finds them; on others they leave them in `target`'s partials.
struct reduction_steps {
  std::shared_ptr<replicated_core> target;
  /// Joins the values of all blocks into `value`. On host devices, where it has no context and no `partials`,
  /// at once; else by work on the item's stream, `partials` and `value` being memory of its device.
  std::function<void(device_context*, void* partials, void* value)> finish;
};
future<void> start_reduction(scheduler_core&, const loop_request&, const loop_options&,
                             std::shared_ptr<void> owner, std::vector<array_use>, reduction_steps);
/// The device's own copy of the value, and its place for partials: in an item, by its device.
void* own_copy(const replicated_core&) noexcept;
void* own_partials(const replicated_core&) noexcept;
/// Makes it first, for `count` partials.
void* make_own_partials(replicated_core&, device_context&, std::int64_t count);

/// The steps of a scan: what each block joins to (`sums`), in partials that they make; `finish`, which makes
/// of them what lies before each block, on host devices once, on others in the copies of each; the elements
/// (`write`). The uses are those of `write`.
future<void> start_scan(scheduler_core&, const loop_request& sums, const loop_request& write,
                        const loop_options&, std::shared_ptr<void> owner, std::vector<array_use>,
                        reduction_steps);

// Blocking, for the calling thread's own memory, behind all earlier steps.
void scatter_bytes(array_core&, const void* source);
void gather_bytes(array_core&, void* target);
/// `pattern`: one element.
void fill_bytes(array_core&, const void* pattern);
void set_bytes(replicated_core&, const void* value);
void get_bytes(replicated_core&, void* value);
/// Does not block.
void exchange_halos(const std::shared_ptr<array_core>&);

/// Throws `invalid_option`.
[[noreturn]] void refuse_moved_from(const char* type);
/// Throws `invalid_option` unless a range has the array's size.
void check_array_size(const char* name, std::int64_t array, std::size_t range);

}  // namespace heddle::detail
