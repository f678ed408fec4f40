// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "graphs/ready_nodes.hpp"
#include "heddle/detail/graph_nodes.hpp"
#include "heddle/detail/submission.hpp"
#include "heddle/future.hpp"
#include "heddle/task_graph.hpp"
#include "loops/outcome.hpp"
#include "scheduler/scheduler_core.hpp"

namespace heddle::detail {

/// One run of a graph. Nodes that do CPU work only are called by *runners*, items of the scheduler of which
/// each device has one at most; a node that uses a stream, or has a route, is an item of its own.
///
/// Every node is *visited* once, after those it follows, also where it is not to be called any more: so the
/// run has ended when there is nothing left to visit.
class graph_run : public std::enable_shared_from_this<graph_run> {
 public:
  using number = graph_nodes::number;

  graph_run(scheduler_core&, std::shared_ptr<graph_nodes>, const graph_options&);

  /// Submits the first runner. The future is ready once no node is running or will run.
  future<void> start();

 private:
  /// An item of the run, until it has ended: a runner, or a node.
  struct alignas(64) part : continuation {
    part(std::shared_ptr<graph_run>, std::optional<number>) noexcept;
    std::shared_ptr<graph_run> run;
    std::optional<number> node;  // empty: a runner
    future<void> handle;
    std::size_t place = nowhere;  // among parts_
    bool began = false;           // guarded by the item's word
  };
  static constexpr std::size_t nowhere = ~std::size_t{0};
  struct end_of_run;
  struct turn;
  enum class runner_state : std::uint8_t { resting, called, present };

  // In a runner.
  void work(device_context&) noexcept;
  bool begin(std::size_t place) noexcept;
  void run_from(number, turn&) noexcept;
  bool find_work(turn&) noexcept;
  bool take_from_others(turn&, bool patient, bool& some) noexcept;
  bool may_run_on(std::size_t place) const noexcept;
  std::size_t goes_on_at(std::size_t place) const noexcept;
  bool pass_the_turn(turn&) noexcept;
  bool leave(turn&) noexcept;

  // Anywhere.
  bool is_item(number n) const noexcept { return (*nodes_)[n].route != graph_nodes::no_route; }
  void prepare() noexcept;
  bool arrived(number) noexcept;
  void call(number) noexcept;
  void leave_out(number) noexcept;
  std::optional<number> visit_successors(number, ready_nodes& own, bool takes_one) noexcept;
  void add_ready(number, ready_nodes& to) noexcept;
  void count_item(int by) noexcept;
  void start_item(number) noexcept;
  void call_another() noexcept;
  void note_called(std::size_t place) noexcept;
  bool call_runner(std::size_t place) noexcept;
  void submit_runner(std::unique_ptr<part>, submission&);
  void submit(std::unique_ptr<part>, submission&);
  void remember(part&) noexcept;
  void forget(part&) noexcept;
  bool cancel() noexcept;
  void skip_the_rest() noexcept;
  bool any_ready() const noexcept;
  bool ends_now() noexcept;
  void finish() noexcept;

  static void part_ended(continuation&, int device) noexcept;
  void runner_lost(const std::exception_ptr&) noexcept;
  void item_ended(number, const std::exception_ptr&, int device) noexcept;

  scheduler_core& core_;
  std::shared_ptr<graph_nodes> nodes_;  // until it is over
  const std::int64_t count_;            // of nodes
  const std::string label_;
  std::vector<index_range>* const not_done_;
  const std::stop_token stop_;
  loop_outcome outcome_;

  // How many predecessors of each node have not been visited; acq_rel: whoever takes the last one has seen
  // what all of them did. Unused where there is one only; null where no node has several.
  std::unique_ptr<number[]> missing_;
  std::vector<ready_nodes> ready_;  // of each device's runner, and one more: of nobody
  std::atomic<int> busy_{0};        // runners that may make nodes ready; a hint
  std::atomic<int> wanted_;         // how many more runners may help; seq_cst with ready_nodes' sizes

  std::mutex mutex_;
  std::vector<runner_state> runners_;  // guarded by mutex_, as all below
  int called_ = 0;                     // runners that have not begun
  int present_ = 0;                    // runners that have, and whoever skips nodes
  int items_ = 0;                      // nodes that are items, and have not ended
  bool prepared_ = false;
  bool over_ = false;
  std::vector<part*> parts_;  // those that waits inside items are to know; as in wait_graph's list of end_
  item* end_ = nullptr;       // the item of the run's future: may be gone once it is over

  struct stopper {
    graph_run* run;
    void operator()() const noexcept { run->skip_the_rest(); }
  };
  std::optional<std::stop_callback<stopper>> on_stop_;  // last: it ends before all that it uses
};

}  // namespace heddle::detail
