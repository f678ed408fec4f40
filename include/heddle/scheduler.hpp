// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <ranges>
#include <source_location>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "heddle/detail/submission.hpp"
#include "heddle/detail/time_limit.hpp"
#include "heddle/device_context.hpp"
#include "heddle/device_info.hpp"
#include "heddle/future.hpp"
#include "heddle/options.hpp"
#include "heddle/route.hpp"
#include "heddle/stats.hpp"
#include "heddle/version.hpp"

namespace heddle {

/// A device that could not be started, and why.
struct failed_device {
  device_info info;
  std::string reason;
};

/// Options of `map`, `starmap`, `imap` and `imap_unordered`.
struct map_options {
  heddle::route route = heddle::route::any();  ///< of every item
  /// Calls per item; 0: a quarter of a device's even share of what is left, so that items get shorter towards
  /// the end (map, starmap), 1 (imap).
  std::size_t chunk = 0;
  std::size_t ahead =
      0;  ///< imap: calls submitted and not yet taken by the consumer; 0: twice the window of all
};

/// One host thread for each device, and the routing of work items onto them. (Not a scheduler in the sense of
/// std::execution.)
///
/// Every member may be called by any thread, also inside items, except where it says otherwise. In a child of
/// a process that made a scheduler every call throws `forked_process` and the destructor does nothing.
class scheduler {
 public:
  /// Options from the environment; a HEDDLE_… variable that looks like a misspelt one is told on standard
  /// error, once in a process. Blocks until every device thread is bound and has run `on_start`. Throws
  /// `invalid_option`; `no_device` with the reason of each device that failed, in which the first one's own
  /// exception (what `on_start` threw) is nested.
  explicit scheduler(std::source_location where = std::source_location::current());
  /// These options; no HEDDLE_… variable is read.
  explicit scheduler(scheduler_options options, std::source_location where = std::source_location::current());
  scheduler(const scheduler&) = delete;
  scheduler& operator=(const scheduler&) = delete;
  /// `join()`, but never throws. Destroyed where that would throw `would_deadlock`, which is an error, it
  /// tells `on_error` and leaves the rest to a thread of its own.
  ~scheduler();

  /// The devices that started, fixed for life; valid as long as the scheduler.
  std::span<const device_info> devices() const;
  /// Those that did not, where `at_start` is lenient.
  std::span<const failed_device> failed() const;

  /// Queues `f`, which is called once as `f(context)` or `f()` on a device that the route allows. Blocks only
  /// for room in the queue. Throws `scheduler_stopped`, `queue_full`, `invalid_option` for a bad route; then
  /// `f` is untouched. What `f` throws arrives in the future.
  template <class F>
  requires detail::item_callable<std::decay_t<F>>
  auto submit(F&& f, const route& r = route::any()) {
    using call = std::decay_t<F>;
    using result = detail::item_result<call>;
    static_assert(std::is_constructible_v<call, F>, "submit(std::move(f)): this f cannot be copied");
    detail::submission admitted(core(), r);
    auto* const it = new detail::typed_item<result, call>(std::forward<F>(f));
    auto handle = detail::future_access::make<result>(*it);
    admitted.start(*it);
    return handle;
  }

  /// The same, but never blocks: empty, and `f` untouched, if the queue is full or the scheduler is stopped.
  template <class F>
  requires detail::item_callable<std::decay_t<F>>
  auto try_submit(F&& f, const route& r = route::any())
      -> std::optional<future<detail::item_result<std::decay_t<F>>>> {
    using call = std::decay_t<F>;
    using result = detail::item_result<call>;
    detail::submission admitted(core(), r, 1, detail::submission::when_refused::declines);
    if (admitted.admitted() == 0) return std::nullopt;
    auto* const it = new detail::typed_item<result, call>(std::forward<F>(f));
    auto handle = detail::future_access::make<result>(*it);
    admitted.start(*it);
    return handle;
  }

  /// Queues every callable of a range at once; futures in the same order. A batch larger than the queue's
  /// capacity goes in pieces while it waits for room; where it may not wait it is refused whole. Callables
  /// are moved out of a range that is given away, and gone after a refusal; copied otherwise. Blocks and
  /// throws as `submit`.
  template <std::ranges::input_range Range>
  requires detail::item_callable<std::ranges::range_value_t<Range>>
  auto submit_batch(Range&& range, const route& r = route::any());

  /// Runs a copy of `f` on every device, disabled ones too; the k-th future belongs to `devices()[k]`.
  /// Broadcasts of equal priority start on every device in one order. Needs room in the queue for one item
  /// and takes the rest beyond the capacity: it is queued whole or refused whole.
  template <class F>
  requires detail::item_callable<std::decay_t<F>> && std::copy_constructible<std::decay_t<F>>
  auto broadcast(F f, const route& r = route::any());

  /// `f(x)` or `f(context, x)` for every element, results in input order. Returns or throws only when no call
  /// of it runs or will run. The first exception, by position in the input, is thrown; elements behind it may
  /// be left out. `f` is shared: calls run at the same time. Void calls return void.
  template <class F, std::ranges::input_range Range>
  auto map(F&& f, Range&& range, const map_options& options = {});
  /// The same with each element, a tuple, spread over the arguments: `f(x…)` or `f(context, x…)`.
  template <class F, std::ranges::input_range Range>
  auto starmap(F&& f, Range&& range, const map_options& options = {});

  /// The results of `f`, in input order, as a range that is computed while it is read: at most `ahead` calls
  /// are in the making, and the input, which it owns, advances on the reading thread only. An element whose
  /// call threw throws when it is read; reading may go on behind it. Destroyed early it cancels what has not
  /// started and waits for what has.
  template <class F, std::ranges::input_range Range>
  auto imap(F f, Range&& range, const map_options& options = {});
  /// The same in the order in which results come.
  template <class F, std::ranges::input_range Range>
  auto imap_unordered(F f, Range&& range, const map_options& options = {});

  /// No more submissions, but from running items and `as_device` calls. Idempotent; never blocks.
  void close();
  /// Blocks until every item has ended. Throws `would_deadlock` inside an item of this scheduler. An item of
  /// another one serves meanwhile, as in `future::get`, what these items need of its device; where they could
  /// not end before it does, one of the waits throws `would_deadlock`.
  void drain();
  /// The same with a time limit; whether every item has ended. May return late where it serves.
  template <class Rep, class Period>
  bool drain_for(std::chrono::duration<Rep, Period> limit) {
    return drain_until(detail::time_limit(limit));
  }
  bool drain_until(std::chrono::steady_clock::time_point limit);
  /// Ends every item that has not started as `cancelled`, and asks those that run to stop (`stop_token()`).
  /// The scheduler stays open: what a `map` that is under way submits from now on runs. Never blocks.
  void cancel();
  /// close, drain, and the end of all threads. Idempotent; afterwards only `devices`, `failed` and `stats`
  /// are of use. Throws `would_deadlock` as `drain` does; refused at once, it has closed nothing.
  void join();

  /// The device takes no more items of the shared queue; what names it still runs there. Throws
  /// `invalid_option` for an unknown id, and for the last enabled device.
  void disable(int id);
  void enable(int id);

  scheduler_stats stats() const;

  detail::scheduler_core& core() const;

 private:
  std::shared_ptr<detail::scheduler_core> core_;
};

}  // namespace heddle

#include "heddle/detail/submit_many.hpp"
#include "heddle/imap.hpp"
#include "heddle/map.hpp"
