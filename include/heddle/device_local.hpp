// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "heddle/detail/operation.hpp"
#include "heddle/detail/waiting.hpp"
#include "heddle/scheduler.hpp"

namespace heddle {

namespace detail {

/// The objects of one device_local or stream_local. Each is made, and destroyed, by its device's thread.
class local_slots {
 public:
  local_slots(scheduler_core&, bool per_stream);
  local_slots(const local_slots&) = delete;
  local_slots& operator=(const local_slots&) = delete;
  /// Leaves the objects to their threads: they die there, behind the items queued so far, at the latest with
  /// the scheduler. Never blocks.
  ~local_slots();

  std::size_t size() const noexcept { return objects_.size(); }
  /// The route of the item that makes object `k`.
  route maker(std::size_t k) const;
  /// In that item.
  void fill(std::size_t k, device_context&, void* object, operation owner);
  /// The object of the item's device or stream. Throws `invalid_option` in an item of another scheduler or in
  /// the arena.
  void* at(const device_context&) const;

 private:
  std::uint64_t serial_;  // of the scheduler
  std::uint64_t key_;     // names the objects to their threads
  int streams_;           // slots for each device
  std::vector<int> ids_;  // of the devices
  std::vector<void*> objects_;
};

template <class T, bool PerStream>
class local_objects {
 public:
  template <class Factory>
  local_objects(scheduler& s, const Factory& factory)
      : slots_(std::make_unique<local_slots>(s.core(), PerStream)) {
    refuse_wait_on_arena_thread("device_local");
    std::vector<future<void>> made;
    std::exception_ptr error;
    try {
      for (std::size_t k = 0; k < slots_->size(); ++k) {
        made.push_back(s.submit(
            [this, k, &factory](device_context& context) {
              std::unique_ptr<T> object(new T(factory(context)));  // elided: T need not move
              T* const address = object.get();
              slots_->fill(k, context, address, operation([object = std::move(object)] {}));
            },
            slots_->maker(k)));
      }
    } catch (...) {
      error = std::current_exception();
    }
    for (auto& each : made) {
      std::exception_ptr refusal;
      wait_to_the_end(future_access::state(each), refusal);
      try {
        each.get();
      } catch (...) {
        if (!error) error = refusal ? refusal : std::current_exception();
      }
    }
    if (error) std::rethrow_exception(error);
  }

  T& operator[](const device_context& context) const { return *static_cast<T*>(slots_->at(context)); }

 private:
  std::unique_ptr<local_slots> slots_;
};

}  // namespace detail

/// One object for each device, made by `factory(context)` on the device's own thread before the constructor
/// returns, and destroyed there: cuBLAS handles, caches, generators. `objects[context]` is that of the item's
/// device.
///
/// The constructor blocks; it throws what a factory threw, `scheduler_stopped`, `would_deadlock`. The
/// destructor never blocks: the objects die behind the items queued so far, at the latest when the scheduler
/// ends. Different items of one device may have stream work in flight on the object at the same time: where
/// that is no good, use `stream_local`.
template <class T>
class device_local : public detail::local_objects<T, false> {
 public:
  using detail::local_objects<T, false>::local_objects;
};

/// The same for each stream of each device; made in an item of that stream. `objects[context]` is that of the
/// item's stream.
template <class T>
class stream_local : public detail::local_objects<T, true> {
 public:
  using detail::local_objects<T, true>::local_objects;
};

template <class Factory>
using local_type = std::decay_t<std::invoke_result_t<const Factory&, device_context&>>;
template <class Factory>
device_local(scheduler&, Factory) -> device_local<local_type<Factory>>;
template <class Factory>
stream_local(scheduler&, Factory) -> stream_local<local_type<Factory>>;

}  // namespace heddle
