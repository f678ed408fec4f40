// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "heddle/error.hpp"
#include "heddle/future.hpp"
#include "heddle/index_range.hpp"
#include "heddle/loop_options.hpp"

namespace heddle {
class device_context;
}  // namespace heddle

namespace heddle::detail {

class scheduler_core;

/// The device has no room for a part of which nothing has been put on the stream yet but copies to its own
/// memory: in smaller parts it may fit.
class part_does_not_fit final : public out_of_device_memory {
 public:
  explicit part_does_not_fit(const out_of_device_memory& e) : out_of_device_memory(e) {}
};
/// Calls `f`, which allocates what a part needs.
template <class F>
decltype(auto) make_room(F f) {
  try {
    return f();
  } catch (const out_of_device_memory& e) {
    throw part_does_not_fit(e);
  }
}

/// What a loop does with a part of what it divides, from `begin` up to `end`; called by several threads at
/// once.
struct loop_operations {
  /// On the calling thread, on host memory as it lies.
  void (*run)(void* self, std::int64_t begin, std::int64_t end);
  /// On the stream of the item.
  void (*put)(void* self, device_context&, std::int64_t begin, std::int64_t end);
};

/// What is divided, and what is known of it. `size` counts indices, or blocks of them.
struct loop_request {
  const char* name;              // of the public call, for messages
  std::int64_t size = 0;         // none below 0
  std::int64_t begin = 0;        // those before are done
  std::int64_t unit = 1;         // indices in each of them
  std::int64_t indices = 0;      // all of them: the last unit may be short
  std::int64_t align = 1;        // borders of parts lie at its multiples, where there are enough of these
  std::int64_t moved_bytes = 0;  // of host data for each index, on devices with memory of their own
  bool in_items = false;         // needs a device_context, on host devices too
  const void* body = nullptr;    // stands for the type of the body, whose rate is learned
  const loop_operations* operations = nullptr;
  void* self = nullptr;
  bool all_or_none = false;  // a part that is not done leaves none of the indices done

  /// Those of some units.
  index_range indices_of(index_range units) const noexcept {
    return {units.begin * unit, units.end < size ? units.end * unit : indices};
  }
};

/// A host range that a loop uses.
struct used_range {
  const void* data;
  std::int64_t size;  // elements
  std::int64_t bytes;
  bool written;
  bool any_size;  // not one element for each index
};

/// Throws `invalid_option` if one has another size than `indices` or no memory, or one that is written
/// overlaps another.
void check_ranges(const char* name, std::int64_t indices, std::span<const used_range>);

/// Blocks until no part of it runs or will run. Throws what the first part threw that failed, by index.
void run_loop(scheduler_core&, const loop_request&, const loop_options&);
/// Does not block. `owner` keeps `self` alive.
future<void> start_loop(scheduler_core&, const loop_request&, const loop_options&,
                        std::shared_ptr<void> owner);

/// Copies host memory, by several threads of the arena where that is faster.
void copy_bytes(void* target, const void* source, std::size_t bytes);
/// The device's place among those that started.
std::size_t place_of(const device_context&) noexcept;
std::size_t count_places(const scheduler_core&) noexcept;

}  // namespace heddle::detail
