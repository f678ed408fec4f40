// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tbb/task_arena.h>

#include <atomic>
#include <chrono>
#include <deque>
#include <exception>
#include <list>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "device/arena_lane.hpp"
#include "device/arena_observer.hpp"
#include "device/hand.hpp"
#include "device/item_frame.hpp"
#include "device/local_objects.hpp"
#include "device/ready_queue.hpp"
#include "heddle/stats.hpp"
#include "work/current.hpp"
#include "work/leave_cpu.hpp"
#include "work/spin.hpp"
#include "work/tally.hpp"

namespace heddle::detail {

class device_group;

/// How a device's thread, arena and streams are set up.
struct device_setup {
  device_info info;       // with heddle's id
  int driver_device = 0;  // its number in the driver
  int arena_slots = 3;    // the device thread's own one included
  int streams = 1;
  int window_per_stream = 1;  // items in flight before it takes no more
};

inline std::int64_t now_ns() noexcept { return std::chrono::steady_clock::now().time_since_epoch().count(); }

/// How deep items may be stacked by waiting inside one another.
inline constexpr int deepest_wait = 128;

/// A device: its thread, its arena, its streams, its inbox.
class device_thread {
 public:
  device_thread(device_group& group, device_setup setup);
  ~device_thread();

  /// Starts the thread, which counts itself in `device_group::started` once it is bound and has run on_start,
  /// or has failed to. Throws std::system_error.
  void start();
  /// Why it has not started, once it has been counted; null if it has.
  std::exception_ptr start_failure() const noexcept { return start_failure_; }
  /// Waits for the end of the thread and of its arena.
  void join() noexcept;

  // Any thread.
  ready_queue queue;  // items pinned to this device
  hand at_hand;       // of these and of the shared ones, what comes next
  arena_lane lane;
  device_group& group() noexcept { return group_; }
  const bound_device& identity() const noexcept { return identity_; }
  /// Before the first item only: a device's place among those that started.
  void place(int index) noexcept { identity_.index = index; }
  stream_id stream(int index) const noexcept { return {setup_.driver_device, index}; }
  tbb::task_arena& arena() noexcept { return arena_; }
  int streams() const noexcept { return setup_.streams; }
  /// Items in flight before it takes no more.
  std::size_t window_size() const noexcept { return window_; }
  bool enabled() const noexcept { return enabled_.load(std::memory_order_seq_cst); }
  void enable(bool on) noexcept;
  /// Pinned items that wait.
  std::size_t queued() const noexcept;
  void count_pinned(std::uint64_t count) noexcept { pinned_.fetch_add(count, std::memory_order_relaxed); }
  /// An item has come that may go before those at hand.
  void reconsider() noexcept { reconsider_.store(true, std::memory_order_release); }
  device_stats stats() const;

  // The device thread, and the threads of its arena for arena items.
  tally& counts(const item& it) noexcept { return it.in_arena ? lane_ : own_; }
  /// Claims an item that was taken from a queue; false, and the queue lets go of it, if it has ended
  /// unstarted or somebody else runs it.
  bool begin(item&);
  /// The rest of it, for an item that the caller has claimed.
  void begin_claimed(item&) noexcept;
  /// Calls the callable; what it throws becomes the item's error.
  void call(item_frame&) noexcept;
  /// Destroys the captures and ends the item.
  void finish(item&, bool from_queue) noexcept;

  // The device thread only.
  void run(item&, bool from_queue);
  /// Has an item that became ready here run next; false where it has to queue: it is not for this device, or
  /// others were first.
  bool take_over(item&) noexcept;
  /// Ends items whose marks are reached; whether anything went on.
  bool poll() { return flights_ > 0 && poll_streams(); }
  /// Waits inside an item; see wait_graph.hpp.
  void serve_until_ended(item& awaited);
  /// Lets others, and this thread while it waits, have what came next.
  void put_back_hand() noexcept;
  bool may_nest() const noexcept { return depth_ < deepest_wait; }
  /// The fixed streams of the items on the stack, a bit each.
  std::uint64_t held_streams() const noexcept;
  std::size_t in_flight() const noexcept { return flights_; }
  /// The item whose callable runs now; null if none does.
  const item_frame* running() const noexcept { return top_; }
  item_frame* running() noexcept { return top_; }
  std::list<local_object> locals;  // destroyed by this thread when it ends

 private:
  struct flight {
    item* it;  // null: work that no future waits for
    std::uint64_t mark;
    bool from_queue;
    std::optional<std::string> unjoined;  // without an item: the label of who left this work to itself
  };

  void cancel_if_due(item&);
  void dispose(item&) noexcept;
  static void note_start(item_extras&) noexcept;
  static void note_end(item_extras&) noexcept;
  void main();
  bool poll_streams();
  void run_on_start();
  void loop();
  item* take();
  item* take_more();
  void look_anew() noexcept;
  item* take_from_queues();
  item* take_from_others() noexcept;
  device_thread* who_offers() const noexcept;
  bool someone_offers() const noexcept;
  void pass_on() noexcept;
  bool others_could_start() const noexcept;
  item* take_left_lying() noexcept;
  bool work_arrived() const noexcept;
  bool spin_for_work() noexcept;
  void idle();
  template <class Sleep>
  void park(Sleep);
  void sleep_in_inbox();
  void pause(std::chrono::microseconds& delay);
  int choose_stream(const item&);
  void run_stream_followers(item_frame&, item* first, item_list& followers);
  void watch_other_streams(const item_frame& frame) {
    if (frame.touched != 0) watch_touched_streams(frame);
  }
  void watch_touched_streams(const item_frame&);
  void land(item&, int on, std::uint64_t mark, bool from_queue);
  void put_in_flight(std::size_t on, flight);
  void repair_current(const item_frame&) noexcept;
  void report_repair(const item_frame&) noexcept;
  void report_unjoined(const std::exception_ptr&, int stream, const std::string& label);

  device_group& group_;
  const device_setup setup_;
  const std::size_t window_;
  bound_device identity_;
  tbb::task_arena arena_;
  arena_observer observer_;
  std::thread thread_;
  std::exception_ptr start_failure_;  // published by device_group::started
  item_frame* top_ = nullptr;
  int depth_ = 0;
  std::vector<std::deque<flight>> streams_;  // items whose callable returned, by stream, oldest first
  std::size_t flights_ = 0;
  std::vector<std::size_t> depths_;  // how many of each stream, for the choice of the next
  std::size_t next_stream_ = 0;
  int urgent_ = -1;  // the stream of items of high priority, if there is one
  std::uint64_t starts_ = 0;
  std::vector<queue_head> heads_;            // kept for its memory
  bool look_at_arrivals_ = true;             // something among them goes first
  std::size_t batch_ = 1;                    // how many items it last took from the queues
  std::size_t looked_at_ = 0;                // the device whose hand it last looked at
  std::vector<std::uint64_t> seen_started_;  // how many items each device had started then
  std::chrono::steady_clock::time_point batch_taken_;
  spin_habit habit_;
  cpu_leaver leaver_;
  std::int16_t submitter_cpu_ = -1;              // of the last item
  std::int16_t cpu_ = -1;                        // its own, lately
  tally& own_;                                   // what this thread did
  tally& lane_;                                  // what the threads of its arena did
  alignas(64) std::atomic<bool> enabled_{true};  // seq_cst with the shared queue
  std::atomic<bool> reconsider_{false};          // publishes what was pushed before; seldom written
  // Counts for stats; they publish nothing.
  std::atomic<std::int64_t> busy_ns_{0}, busy_since_ns_{0};  // since: 0 while idle
  std::atomic<std::uint64_t> pinned_taken_{0};               // written by the device thread alone
  alignas(64) std::atomic<std::uint64_t> pinned_{0};         // that ever came; written by submitters
};

}  // namespace heddle::detail
