// SPDX-License-Identifier: Apache-2.0
#include "heddle/task_graph.hpp"

#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "support/contract.hpp"
#include "support/counted.hpp"
#include "support/error_log.hpp"
#include "support/gate.hpp"

namespace heddle::test {
namespace {

HEDDLE_CONTRACT_SUITE(TaskGraph);

using nodes = std::vector<task_graph::node>;

/// A graph at random, and what its nodes have seen: each one looks whether those that it follows have ended.
class witness {
 public:
  /// `items`: one in so many nodes is an item; 0: none.
  witness(unsigned seed, std::size_t count, unsigned items, int devices) : ended_(count) {
    std::mt19937 random(seed);
    nodes all;
    for (std::size_t k = 0; k < count; ++k) {
      std::vector<std::size_t> before;
      const std::size_t most = std::min<std::size_t>(k, random() % 4);
      for (std::size_t j = 0; j < most; ++j)
        before.push_back(random() % 3 == 0 ? random() % k : k - 1 - random() % std::min<std::size_t>(k, 8));
      nodes after;
      for (const std::size_t each : before) after.push_back(all[each]);
      const auto look = [this, k, before] {
        for (const std::size_t each : before) wrong_ += ended_[each] != run_;
        wrong_ += ended_[k] != run_ - 1;
      };
      const auto end = [this, k] { ended_[k] = run_; };
      const std::span<const task_graph::node> follows(after);
      const auto kind = items == 0 || random() % items != 0 ? 0 : 1 + random() % 3;
      if (kind == 0) {
        all.push_back(graph.add([=] { look(), end(); }, follows));
      } else if (kind == 1) {
        all.push_back(graph.add([=] { look(), end(); }, follows,
                                route::on(static_cast<int>(random() % static_cast<unsigned>(devices)))));
      } else {
        // Its work on the stream counts, too.
        all.push_back(graph.add([=](device_context& device) { look(), device.enqueue(end); }, follows));
      }
    }
  }

  void run(scheduler& sched) {
    ++run_;
    graph.run(sched).get();
    EXPECT_EQ(wrong_, 0) << "nodes ran too early, or twice";
    for (const auto& each : ended_) ASSERT_EQ(each, run_) << "it did not run";
  }

  task_graph graph;

 private:
  std::vector<std::atomic<int>> ended_;  // the last run in which it has
  std::atomic<int> wrong_{0};
  int run_ = 0;
};

TEST_P(TaskGraph, CallsEachNodeOnceAfterThoseItFollows) {
  for (const int devices : {1, 2, 3, 8}) {
    scheduler sched(options(devices));
    for (unsigned seed = 0; seed < 4; ++seed) {
      witness all(seed, 1000, 0, devices);
      for (int k = 0; k < 5; ++k) all.run(sched);
    }
  }
}

TEST_P(TaskGraph, NodesThatAreItemsStandAmongOthers) {
  for (const int devices : {1, 2, 3}) {
    scheduler sched(options(devices));
    for (unsigned seed = 0; seed < 4; ++seed) {
      witness all(seed, 300, 1 + seed, devices);
      for (int k = 0; k < 3; ++k) all.run(sched);
    }
  }
}

TEST_P(TaskGraph, OfNoNodesHasEndedAtOnce) {
  scheduler sched(options());
  task_graph graph;
  graph.run(sched).get();
  EXPECT_EQ(graph.size(), 0u);
}

TEST_P(TaskGraph, GrowsBetweenRuns) {
  scheduler sched(options());
  task_graph graph;
  std::atomic<int> sum{0};
  const auto first = graph.add([&] { sum += 1; });
  EXPECT_EQ(first.index(), 0u);
  graph.run(sched).get();
  EXPECT_EQ(sum, 1);
  const auto second = graph.add([&] { sum = sum * 10; }, {first});
  EXPECT_EQ(second.index(), 1u);
  EXPECT_EQ(graph.size(), 2u);
  graph.run(sched).get();
  EXPECT_EQ(sum, 20);
}

TEST_P(TaskGraph, ANodeMayNameANodeTwice) {
  scheduler sched(options());
  task_graph graph;
  int runs = 0;
  const auto first = graph.add([&] { ++runs; });
  graph.add([&] { runs *= 10; }, {first, first});
  graph.run(sched).get();
  EXPECT_EQ(runs, 10);
}

TEST_P(TaskGraph, NodesActForTheDeviceThatRunsThem) {
  scheduler sched(options(3));
  task_graph graph;
  std::atomic<int> right{0};
  std::vector<std::atomic<int>> seen(3);
  for (int k = 0; k < 50; ++k) graph.add([&] { ++seen[static_cast<std::size_t>(this_device::id())]; });
  for (int id = 0; id < 3; ++id) {
    graph.add([&right, id] { right += this_device::id() == id; }, {}, route::on(id));
    graph.add([&right, id](device_context& device) { right += device.id() == id; }, {}, route::on(id));
  }
  graph.run(sched).get();
  EXPECT_EQ(right, 6);
  EXPECT_EQ(seen[0] + seen[1] + seen[2], 50);
}

// Nodes that wait for one another: each needs a device of its own.
TEST_P(TaskGraph, RootsRunAtTheSameTime) {
  scheduler sched(options(2));
  task_graph graph;
  std::barrier meet(2);
  graph.add([&] { meet.arrive_and_wait(); });
  graph.add([&] { meet.arrive_and_wait(); });
  for (int k = 0; k < 20; ++k) graph.run(sched).get();
}

TEST_P(TaskGraph, NodesThatBecomeReadyTogetherRunAtTheSameTime) {
  scheduler sched(options(2));
  task_graph graph;
  std::barrier meet(2);
  auto before = graph.add([] {});
  for (int k = 0; k < 20; ++k) {
    const auto left = graph.add([&] { meet.arrive_and_wait(); }, {before});
    const auto right = graph.add([&] { meet.arrive_and_wait(); }, {before});
    before = graph.add([] {}, {left, right});
  }
  graph.run(sched).get();
}

TEST_P(TaskGraph, NodesThatAnItemMakesReadyRunAtTheSameTime) {
  scheduler sched(options(2));
  task_graph graph;
  std::barrier meet(2);
  const auto item = graph.add([](device_context& device) { device.enqueue([] {}); });
  graph.add([&] { meet.arrive_and_wait(); }, {item});
  graph.add([&] { meet.arrive_and_wait(); }, {item});
  for (int k = 0; k < 20; ++k) graph.run(sched).get();
}

TEST_P(TaskGraph, LeavesADisabledDeviceAlone) {
  scheduler sched(options(2));
  sched.disable(1);
  task_graph graph;
  std::atomic<int> elsewhere{0};
  for (int k = 0; k < 200; ++k) graph.add([&] { elsewhere += this_device::id() != 0; });
  for (int k = 0; k < 10; ++k) graph.run(sched).get();
  EXPECT_EQ(elsewhere, 0);
}

TEST_P(TaskGraph, LeavesADeviceThatIsDisabledMeanwhile) {
  scheduler sched(options(3));
  task_graph graph;
  std::atomic<int> left_alone{-1}, there{0};
  const auto disable = [&] { sched.disable(left_alone = this_device::id()); };
  const auto enable = [&] { sched.enable(left_alone); };
  const auto look = [&] { there += this_device::id() == left_alone; };
  const auto look_at_many = [&](task_graph::node last) {
    for (int k = 0; k < 100; ++k) last = graph.add(look, {last});
    nodes all;
    for (int k = 0; k < 100; ++k) all.push_back(graph.add(look, {last}));
    return graph.add(look, std::span<const task_graph::node>(all));
  };
  auto last = look_at_many(graph.add(disable));
  last = graph.add(enable, {last});
  last = look_at_many(graph.add([&](device_context&) { disable(); }, {last}));
  for (int k = 0; k < 20; ++k) {
    graph.run(sched).get();
    EXPECT_EQ(there, 0);
    sched.enable(left_alone);
  }
}

TEST_P(TaskGraph, OtherItemsHaveTheirTurnMeanwhile) {
  scheduler sched(options(1));
  task_graph graph;
  future<void> other;
  bool had_its_turn = false;
  auto last = graph.add([&] { other = sched.submit([] {}, route::any().host_only()); });
  const auto busy = [] {
    for (const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(20);
         std::chrono::steady_clock::now() < end;) {
    }
  };
  for (int k = 0; k < 1000; ++k) last = graph.add(busy, {last});
  graph.add([&] { had_its_turn = other.ready(); }, {last});
  graph.run(sched).get();
  EXPECT_TRUE(had_its_turn) << "20 ms of short nodes, and no item in between";
  other.get();
}

// Waits inside items -------------------------------------------------------------------------------------

TEST_P(TaskGraph, AnItemMayWaitForOneOnItsOnlyDevice) {
  scheduler sched(options(1));
  witness all(1, 200, 4, 1);
  sched.submit([&] { all.run(sched); }).get();
  witness plain(2, 200, 0, 1);
  sched.submit([&] { plain.run(sched); }).get();
}

TEST_P(TaskGraph, ANodeMayRunAGraph) {
  scheduler sched(options(2));
  task_graph graph;
  witness in_node(1, 100, 0, 2), in_item(2, 100, 4, 2);
  const auto first = graph.add([&] { in_node.run(sched); });
  graph.add([&](device_context&) { in_item.run(sched); }, {first});
  graph.run(sched).get();
}

TEST_P(TaskGraph, ANodeMayLoopOverAllDevices) {
  HEDDLE_ON_HOST_DEVICES_ONLY("a body that the host sees");
  scheduler sched(options(2));
  task_graph graph;
  std::atomic<int> sum{0};
  for (int k = 0; k < 4; ++k) graph.add([&] { parallel_for(sched, 100, [&](std::int64_t) { ++sum; }); });
  graph.run(sched).get();
  EXPECT_EQ(sum, 400);
}

TEST_P(TaskGraph, NeedsNoRoomInTheQueueForItsNodes) {
  auto asked = options(2);
  asked.queue_capacity = 1;
  scheduler sched(asked);
  witness all(3, 200, 2, 2);
  for (int k = 0; k < 3; ++k) all.run(sched);
}

TEST_P(TaskGraph, RunsLeaveNoItemsBehindOnABusyDevice) {
  auto asked = options(2);
  asked.queue_capacity = 8;
  asked.full = when_full::reject;
  scheduler sched(asked);
  task_graph graph;
  std::atomic<int> runs{0};
  for (int k = 0; k < 3; ++k) graph.add([&] { ++runs; });
  occupied_device busy(sched, 1);
  for (int k = 0; k < 50; ++k) graph.run(sched).get();
  EXPECT_EQ(runs, 150);
  busy.release();
}

// Lifetime -----------------------------------------------------------------------------------------------

TEST_P(TaskGraph, MayGoWhileItRuns) {
  scheduler sched(options(2));
  gate go;
  bool ran = false;
  loop_future<void> run;
  {
    task_graph graph;
    const auto first = graph.add([&, held = std::make_unique<int>(1)] { go.wait(); });
    graph.add([&, held = std::make_unique<int>(2)] { ran = *held == 2; }, {first});
    run = graph.run(sched);
  }
  go.open();
  run.get();
  EXPECT_TRUE(ran);
}

TEST_P(TaskGraph, TheEndOfItsFutureWaitsForIt) {
  scheduler sched(options(2));
  task_graph graph;
  int runs = 0;
  auto last = graph.add([&] { ++runs; });
  for (int k = 1; k < 2000; ++k) last = graph.add([&] { ++runs; }, {last});
  { const auto dropped = graph.run(sched); }
  EXPECT_EQ(runs, 2000);
}

TEST_P(TaskGraph, EachCallableDiesOnceWithTheGraph) {
  scheduler sched(options(2));
  {
    task_graph graph;
    std::atomic<int> runs{0};
    for (int k = 0; k < 10; ++k) graph.add([&runs, value = counted()] { ++runs; });
    graph.run(sched).get();
    graph.run(sched).get();
    EXPECT_EQ(runs, 20);
    EXPECT_EQ(counted::living(), 10);
  }  // the fixture sees that none is left
}

}  // namespace
}  // namespace heddle::test
