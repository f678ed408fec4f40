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
  void set(std::exception_ptr error) noexcept {
    const std::lock_guard lock(mutex_);
    if (!error_) error_ = std::move(error);
  }
  std::exception_ptr get() const noexcept {
    const std::lock_guard lock(mutex_);
    return error_;
  }
  void clear() noexcept {
    const std::lock_guard lock(mutex_);
    error_ = nullptr;
  }

 private:
  mutable std::mutex mutex_;
  std::exception_ptr error_;  // guarded by mutex_
};

/// The elements of a `distributed_array`, as bytes.
struct array_core {
  array_core(scheduler_core&, const array_layout&, std::size_t element_bytes);

  std::int64_t size() const noexcept { return layout.rows * layout.row; }
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
  replicated_core(scheduler_core&, std::size_t bytes);

  const std::shared_ptr<scheduler_core> core;
  const std::size_t bytes;
  std::vector<device_allocation> values;    // by place
  std::vector<device_allocation> partials;  // by place: what a reduction joins
  poison failed;
};

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

// Blocking, for the calling thread's own memory, behind all earlier steps.
void scatter_bytes(array_core&, const void* source);
void gather_bytes(array_core&, void* target);
/// `pattern`: one element.
void fill_bytes(array_core&, const void* pattern);
void set_bytes(replicated_core&, const void* value);
void get_bytes(replicated_core&, void* value);
/// Does not block.
void exchange_halos(const std::shared_ptr<array_core>&);

/// Throws `invalid_option` unless a range has the array's size.
void check_array_size(const char* name, std::int64_t array, std::size_t range);

}  // namespace heddle::detail
