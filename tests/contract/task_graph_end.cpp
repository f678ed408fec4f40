// SPDX-License-Identifier: Apache-2.0
// Runs of a graph that fail, are refused, or end early.
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

HEDDLE_CONTRACT_SUITE(TaskGraphEnd);

// What fails ---------------------------------------------------------------------------------------------

TEST_P(TaskGraphEnd, ThrowsWhatTheFirstNodeThrewAndRunsNoneThatFollowsIt) {
  scheduler sched(options(2));
  task_graph graph;
  std::atomic<int> after{0}, before{0};
  const auto root = graph.add([&] { ++before; });
  const auto bad = graph.add([] { throw std::string("bad"); }, {root});
  const auto next = graph.add([&] { ++after; }, {bad});
  graph.add([&](device_context&) { ++after; }, {next});
  graph.add([&] { ++after; }, {next});
  std::vector<index_range> left;
  for (int k = 1; k < 5; ++k) {
    try {
      graph.run(sched, {.not_done = &left}).get();
      FAIL();
    } catch (const std::string& e) {
      EXPECT_EQ(e, "bad");
    }
    EXPECT_EQ(before, k);
    ASSERT_EQ(left.size(), 1u);
    EXPECT_EQ(left[0].begin, 1);
    EXPECT_EQ(left[0].end, 5);
  }
  EXPECT_EQ(after, 0);
}

TEST_P(TaskGraphEnd, ThrowsTheFirstErrorByOrderOfAdditionAndTellsOthers) {
  const error_log log;
  auto asked = options(2);
  asked.on_error = log;
  {
    scheduler sched(asked);
    task_graph graph;
    std::barrier meet(2);  // both have begun when the first one throws
    const auto throws = [&meet](const char* text) {
      return [&meet, text](device_context&) {
        meet.arrive_and_wait();
        throw std::string(text);
      };
    };
    graph.add(throws("first"), {}, route::on(1));
    graph.add(throws("second"), {}, route::on(0));
    try {
      graph.run(sched).get();
      FAIL();
    } catch (const std::string& e) {
      EXPECT_EQ(e, "first");
    }
  }
  ASSERT_EQ(log.size(), 1u);
  EXPECT_NE(log.events()[0].message.find("1 more parts of a task_graph failed"), std::string::npos)
      << log.events()[0].message;
}

TEST_P(TaskGraphEnd, WorkOnTheStreamOfANodeThatFailsFailsTheRun) {
  scheduler sched(options(2));
  task_graph graph;
  bool after = false;
  const auto bad =
      graph.add([](device_context& device) { device.enqueue([] { throw std::string("late"); }); });
  graph.add([&] { after = true; }, {bad});
  EXPECT_THROW(graph.run(sched).get(), std::string);
  EXPECT_FALSE(after);
}

TEST_P(TaskGraphEnd, ANodeWhoseDeadlineHasPassedFailsTheRun) {
  scheduler sched(options(2));
  task_graph graph;
  bool ran = false;
  const auto late =
      graph.add([&] { ran = true; }, {}, route::any().deadline(std::chrono::steady_clock::now()));
  graph.add([&] { ran = true; }, {late});
  EXPECT_THROW(graph.run(sched).get(), deadline_exceeded);
  EXPECT_FALSE(ran);
}

TEST_P(TaskGraphEnd, RefusesWhatCannotBeMeant) {
  scheduler sched(options(2));
  task_graph graph, other;
  const auto foreign = other.add([] {});
  EXPECT_THROW(graph.add([] {}, {foreign}), invalid_option);
  EXPECT_THROW(graph.add([] {}, {task_graph::node()}), invalid_option);
  EXPECT_EQ(graph.size(), 0u);
  const auto first = graph.add([] {});
  EXPECT_THROW(graph.add([] {}, {first, foreign}), invalid_option);
  graph.add([] {}, {first});
  graph.run(sched).get();

  task_graph moved = std::move(graph);
  EXPECT_THROW(graph.run(sched), invalid_option);
  EXPECT_THROW(graph.add([] {}), invalid_option);
  moved.add([] {}, {first});
  moved.run(sched).get();
}

TEST_P(TaskGraphEnd, RefusesANodeOfAGraphThatIsGone) {
  auto graph = std::make_unique<task_graph>();
  const auto old = graph->add([] {});
  for (int k = 0; k < 20; ++k) {  // some lie where the first one lay
    graph.reset();
    graph = std::make_unique<task_graph>();
    graph->add([] {});
    EXPECT_THROW(graph->add([] {}, {old}), invalid_option);
  }
}

TEST_P(TaskGraphEnd, RefusesARouteThatNobodyCanFollowBeforeAnythingRuns) {
  scheduler sched(options(2));
  task_graph graph;
  bool ran = false;
  graph.add([&] { ran = true; });
  graph.add([&] { ran = true; }, {}, route::on(7));
  for (int k = 0; k < 2; ++k) EXPECT_THROW(graph.run(sched), invalid_option);
  EXPECT_FALSE(ran);
  sched.drain();
}

TEST_P(TaskGraphEnd, WhileItRunsItCanNeitherGrowNorRun) {
  scheduler sched(options(2));
  task_graph graph;
  gate go;
  graph.add([&] { go.wait(); });
  auto run = graph.run(sched);
  EXPECT_THROW(graph.run(sched), invalid_option);
  EXPECT_THROW(graph.add([] {}), invalid_option);
  go.open();
  run.get();
  graph.add([] {});
  graph.run(sched).get();
}

TEST_P(TaskGraphEnd, IsRefusedByAClosedSchedulerAndRunsOnAnother) {
  scheduler closed(options(2)), open(options(2));
  closed.close();
  task_graph graph;
  int runs = 0;
  graph.add([&] { ++runs; });
  EXPECT_THROW(graph.run(closed), scheduler_stopped);
  graph.run(open).get();
  EXPECT_EQ(runs, 1);
}

// What ends early ----------------------------------------------------------------------------------------

TEST_P(TaskGraphEnd, CancelledBeforeItBeginsItCallsNothing) {
  scheduler sched(options(1));
  task_graph graph;
  bool ran = false;
  const auto first = graph.add([&] { ran = true; });
  graph.add([&](device_context&) { ran = true; }, {first});
  occupied_device busy(sched, 0);
  std::vector<index_range> left;
  auto run = graph.run(sched, {.not_done = &left});
  EXPECT_TRUE(run.cancel());
  busy.release();
  EXPECT_THROW(run.get(), cancelled);
  EXPECT_FALSE(ran);
  ASSERT_EQ(left.size(), 1u);
  EXPECT_EQ(left[0].end, 2);
  sched.drain();
  graph.run(sched).get();
  EXPECT_TRUE(ran);
}

TEST_P(TaskGraphEnd, CancelledMeanwhileItIsNotReadyWhileANodeRuns) {
  scheduler sched(options(2));
  task_graph graph;
  gate entered, go;
  bool after = false;
  const auto first = graph.add([&] {
    entered.open();
    go.wait();
  });
  graph.add([&] { after = true; }, {first});
  auto run = graph.run(sched);
  entered.wait();
  EXPECT_TRUE(run.cancel());
  EXPECT_FALSE(run.ready());
  go.open();
  EXPECT_THROW(run.get(), cancelled);
  EXPECT_FALSE(after);
}

TEST_P(TaskGraphEnd, IsStoppedByItsToken) {
  scheduler sched(options(2));
  task_graph graph;
  std::stop_source stop;
  bool after = false;
  const auto first = graph.add([&] { stop.request_stop(); });
  graph.add([&] { after = true; }, {first});
  EXPECT_THROW(graph.run(sched, {.stop = stop.get_token()}).get(), cancelled);
  EXPECT_FALSE(after);
  EXPECT_THROW(graph.run(sched, {.stop = stop.get_token()}).get(), cancelled);
  graph.run(sched).get();
  EXPECT_TRUE(after);
}

TEST_P(TaskGraphEnd, IsStoppedByItsTokenBeforeADeviceIsFree) {
  scheduler sched(options(1));
  task_graph graph;
  bool ran = false;
  graph.add([&] { ran = true; });
  std::stop_source stop;
  occupied_device busy(sched, 0);
  auto run = graph.run(sched, {.stop = stop.get_token()});
  stop.request_stop();
  busy.release();
  EXPECT_THROW(run.get(), cancelled);
  EXPECT_FALSE(ran);
}

TEST_P(TaskGraphEnd, IsCancelledWithTheItemsOfItsScheduler) {
  scheduler sched(options(1));
  task_graph graph;
  bool ran = false;
  const auto first = graph.add([&] { ran = true; });
  graph.add([&](device_context&) { ran = true; }, {first});
  occupied_device busy(sched, 0);
  auto run = graph.run(sched);
  sched.cancel();
  busy.release();
  EXPECT_THROW(run.get(), cancelled);
  EXPECT_FALSE(ran);
  graph.run(sched).get();
  EXPECT_TRUE(ran);
}

TEST_P(TaskGraphEnd, RunsToItsEndThoughTheSchedulerIsClosed) {
  for (int k = 0; k < 20; ++k) {
    std::atomic<int> runs{0};
    task_graph graph;
    auto last = graph.add([&] { ++runs; });
    for (int j = 0; j < 10; ++j) {
      last = graph.add([&](device_context& device) { device.enqueue([&] { ++runs; }); }, {last});
      last = graph.add([&] { ++runs; }, {last});
    }
    loop_future<void> run;
    {
      scheduler sched(options(2));
      run = graph.run(sched);
      sched.close();
    }
    run.get();
    EXPECT_EQ(runs, 21);
  }
}

}  // namespace
}  // namespace heddle::test
