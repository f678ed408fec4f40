// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace heddle {
class device_context;
}  // namespace heddle

namespace heddle::detail {

class device_group;
class item;
struct item_extras;
struct kept_object;
struct delete_extras {
  void operator()(item_extras*) const noexcept;
};

struct continuation;

/// What differs between continuations: a table of functions, one for each kind.
struct continuation_operations {
  /// Called once, by the thread that ended the item; `device` is the index of the item's device, -1 if none.
  void (*fire)(continuation&, int device) noexcept;
};

/// Something that happens when an item has ended. Its address is a multiple of 64.
struct continuation {
  continuation* next = nullptr;
  const continuation_operations* kind = nullptr;
};

/// An item as a continuation: is queued. Layer 4, src/device/continuations.cpp.
void queue_follower(continuation&, int device) noexcept;

/// What differs between items, one table for each type of callable.
struct item_operations : continuation_operations {
  void (*run)(item&, device_context&);       // calls the callable and stores its value; may throw
  void (*destroy_callable)(item&) noexcept;  // device current, no lock held
  void (*destroy)(item&) noexcept;           // value and block
};

/// The flags of an item's word; above them lies the list of continuations, as an address divided by 64.
namespace item_flag {
inline constexpr std::uint64_t started = 1;       // a device thread runs it or ran it
inline constexpr std::uint64_t cancelled = 2;     // ended unstarted, by whoever set this
inline constexpr std::uint64_t done = 4;          // value or error may be read
inline constexpr std::uint64_t waited = 8;        // somebody sleeps on the word
inline constexpr std::uint64_t future_gone = 16;  // the future was dropped
inline constexpr std::uint64_t queue_gone = 32;   // no queue and no device thread holds it any more
inline constexpr std::uint64_t nudge = 64;        // set to wake the sleeper without an end; it clears it
inline constexpr std::uint64_t streamed = 128;    // something was attached to the callable's return
inline constexpr int bits = 12;
inline constexpr std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
}  // namespace item_flag

/// A work item: one block of memory that holds the state, the result and the callable; two cache lines for
/// small ones.
///
/// Ownership: the queue (later the device thread) and the future each hold it; whoever lets go last frees it.
/// A third party that ends an item which a queue still holds (a canceller, a waiting device thread) lets the
/// queue find it ended. `word` decides all of it.
class alignas(64) item : public continuation {
 public:
  explicit item(const item_operations& table) noexcept : continuation{nullptr, &table} {}
  item(const item&) = delete;
  item& operator=(const item&) = delete;

  const item_operations& operations() const noexcept { return static_cast<const item_operations&>(*kind); }

  /// Publishes, on `done` (release), error, value and ran_on to whoever reads it (acquire).
  std::atomic<std::uint64_t> word{0};
  device_group* group = nullptr;  // valid until it has ended
  std::uint64_t ticket = 0;       // order of submission, for a continuation of its attachment
  std::exception_ptr error;       // guarded by word
  std::unique_ptr<item_extras, delete_extras> extras;  // fixed once queued
  std::int32_t device = -1;                            // index of the device it is pinned to; -1: any
  std::int32_t priority = 0;
  std::atomic<continuation*> on_stream{nullptr};  // for the callable's return only; see continuations.hpp
  kept_object* kept = nullptr;                    // device thread only
  item* waits_for = nullptr;       // the item it continues; see wait_graph.hpp for who may follow it
  std::uint32_t group_serial = 0;  // finds the scheduler, if it still lives, after that
  std::int32_t ran_on_id = -1;     // gpu id; guarded by word
  std::int16_t ran_on = -1;        // index; guarded by word
  std::int16_t stream = -1;        // -1: any
  /// Whose callable it is now: a device's index + 1; 0: nobody's. A hint for the detection of deadlocks.
  std::atomic<std::int16_t> runner{0};
  /// Where to look for who has to act for it next: the submitter, then the device thread. A hint for
  /// spinning.
  std::atomic<std::int16_t> cpu{-1};
  /// While it is queued: how many lines from here the item lies that is looked at some steps later. A hint.
  std::int32_t ahead = 0;
  std::uint8_t reason = 0;  // how the route was decided
  bool host_only : 1 = false;
  bool in_arena : 1 = false;
  bool is_step : 1 = false;  // of the work on arrays: follows earlier ones that nobody may be waiting for
  bool resumes_coroutine : 1 = false;  // never cancelled: it would leave the coroutine suspended for ever
  bool has_value = false;              // guarded by word
  bool error_taken = false;            // written by the future's owner only
};

/// Memory for an item, aligned to 64 bytes, from blocks that earlier items have left. Any thread; throws
/// std::bad_alloc. Layer 2, src/work/blocks.cpp.
void* allocate_block(std::size_t bytes);
void free_block(void* block, std::size_t bytes) noexcept;

/// Where a value of type R lies, at the same place in every item of that result type.
template <class R>
class result_item : public item {
 public:
  using stored = std::conditional_t<
      std::is_void_v<R>, char,
      std::conditional_t<std::is_reference_v<R>, std::add_pointer_t<std::remove_reference_t<R>>, R>>;

  explicit result_item(const item_operations& table) noexcept : item(table) {}
  ~result_item() {
    if (has_value) std::destroy_at(std::addressof(value));
  }

  template <class Call>
  void store(Call&& call) {
    if constexpr (std::is_void_v<R>) {
      std::forward<Call>(call)();
      ::new (place()) char(0);
    } else if constexpr (std::is_reference_v<R>) {
      auto&& referred = std::forward<Call>(call)();
      ::new (place()) stored(std::addressof(referred));
    } else {
      ::new (place()) stored(std::forward<Call>(call)());
    }
    has_value = true;
  }

  union {
    stored value;
  };

 private:
  void* place() noexcept { return std::addressof(value); }  // `&` may be the user's own
};

/// Calls `f` with the context if it takes one, else without.
template <class F>
decltype(auto) call_with_context(F& f, device_context& context) {
  if constexpr (std::is_invocable_v<F&, device_context&>) {
    return f(context);
  } else {
    return f();
  }
}

/// What the future gives: `const` says nothing of a value that is moved out.
template <class F>
using item_result =
    std::remove_const_t<decltype(call_with_context(std::declval<F&>(), std::declval<device_context&>()))>;

template <class F>
concept item_callable = std::is_invocable_v<F&, device_context&> || std::is_invocable_v<F&>;

template <class R, class F>
class typed_item final : public result_item<R> {
 public:
  template <class G>
  explicit typed_item(G&& callable) : result_item<R>(table), callable_(std::forward<G>(callable)) {}
  ~typed_item() {}

  static void* operator new(std::size_t bytes) {
    if constexpr (alignof(typed_item) > 64)
      return ::operator new (bytes, std::align_val_t{alignof(typed_item)});
    return allocate_block(bytes);
  }
  static void operator delete(void* block, std::size_t bytes) noexcept {
    if constexpr (alignof(typed_item) > 64) {
      ::operator delete (block, std::align_val_t{alignof(typed_item)});
    } else {
      free_block(block, bytes);
    }
  }

 private:
  static typed_item& self(item& base) noexcept { return static_cast<typed_item&>(base); }
  static void run(item& base, device_context& context) {
    self(base).store([&]() -> R { return call_with_context(self(base).callable_, context); });
  }
  static void destroy_callable(item& base) noexcept { std::destroy_at(std::addressof(self(base).callable_)); }
  static void destroy(item& base) noexcept { delete &self(base); }
  static constexpr item_operations table{{&queue_follower}, &run, &destroy_callable, &destroy};

  union {
    F callable_;
  };
};

// Layer 2, compiled in src/work/item.cpp ------------------------------------------------------------------

/// Whether the item has ended. Ends it first if its deadline has passed unstarted.
bool has_ended(item&);
/// Blocks until it has ended. Throws `would_deadlock` where that could never be.
void wait_until_ended(item&);
/// The same with a time limit; runs nothing meanwhile. False if the limit came first.
bool wait_until_ended(item&, std::chrono::steady_clock::time_point);
/// Ends the item with `error` if it has not started; true if this call did it. Any thread that keeps it
/// alive.
bool try_cancel(item&, std::exception_ptr error);
/// Adds to what happens at the end; false, and nothing added, if the item has ended.
bool attach(item&, continuation&);
/// The future lets go.
void drop_future(item&) noexcept;

}  // namespace heddle::detail
