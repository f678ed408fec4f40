// SPDX-License-Identifier: Apache-2.0
// What does a node of a graph cost, on two devices?
//
// A chain, a binary tree, and a wavefront, each as a task_graph; chain and tree also by then() and
// when_all(), where each node has a future of its own. "Run only" begins when the graph lies ready: the
// devices wait at a gate while that of futures is built. The goals: run only, half of the best rival; built
// and run, 1/1.5 of it. "The best rival" and not Taskflow alone, the fastest one known, since it is not on
// every machine.
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "graph.hpp"
#include "host_devices.hpp"
#include "rivals/condvar_queue.hpp"
#include "rivals/graphs.hpp"
#include "rivals/taskflow.hpp"
#include "rounds.hpp"

namespace {

constexpr const char* question = "What does a node of a graph cost, on two devices?";

using value = std::uint64_t;

heddle::future<value> chain(heddle::scheduler& sched, std::size_t n) {
  auto last = sched.submit([] { return value{1}; });
  for (std::size_t k = 1; k < n; ++k) last = last.then([](value before) { return before + 1; });
  return last;
}

heddle::future<value> tree(heddle::scheduler& sched, std::size_t leaves) {
  std::vector<heddle::future<value>> level;
  for (std::size_t k = 0; k < leaves; ++k) level.push_back(sched.submit([] { return value{1}; }));
  while (level.size() > 1) {
    std::vector<heddle::future<value>> above;
    for (std::size_t k = 0; k < level.size(); k += 2) {
      above.push_back(
          heddle::when_all(std::move(level[k]), std::move(level[k + 1]))
              .then([](std::tuple<value, value> both) { return 1 + std::get<0>(both) + std::get<1>(both); }));
    }
    level = std::move(above);
  }
  return std::move(level.front());
}

/// Holds every device until it is opened.
class gate {
 public:
  explicit gate(heddle::scheduler& sched) : held_(sched.broadcast([this] { open_.wait(false); })) {}
  void open() {
    open_ = true;
    open_.notify_all();
  }
  ~gate() {
    for (auto& each : held_) each.wait();
  }

 private:
  std::atomic<bool> open_{false};
  std::vector<heddle::future<void>> held_;
};

/// A task_graph, built once by the constructor.
class built_graph {
 public:
  built_graph(heddle::scheduler& sched, bench::graph& g) : sched_(sched) {
    std::vector<heddle::task_graph::node> all, after;
    for (std::size_t k = 0; k < g.size(); ++k) {
      after.clear();
      for (const std::size_t each : g.predecessors(k)) after.push_back(all[each]);
      all.push_back(graph_.add([&g, k] { g.visit(k); }, std::span<const heddle::task_graph::node>(after)));
    }
  }
  void run() { graph_.run(sched_).get(); }

 private:
  heddle::scheduler& sched_;
  heddle::task_graph graph_;
};

/// One graph and all who run it; `build` makes it of futures, if that can be done.
class field {
 public:
  field(bench::session& session, std::string name, bench::graph g,
        std::function<heddle::future<value>(heddle::scheduler&)> build)
      : session_(session), name_(std::move(name)), graph_(std::move(g)), build_(std::move(build)) {
    bench::plain_calls(graph_).run();
    right_ = graph_.take_answer();
  }

  void compare(bool run_only) {
    bench::contest all(session_, name_ + (run_only ? ", run only" : ", built and run"), 4);
    add<bench::plain_calls>(all, "plain calls, in order", bench::role::limit, run_only);
    add<built_graph>(all, "heddle", bench::role::heddle, run_only, *heddle_);
    if (build_) add_futures(all, run_only);
    add<bench::counted_nodes<bench::condvar_queue>>(all, "a queue with a condition, counts",
                                                    bench::role::rival, run_only, queue_);
    add<bench::tbb_flow_graph>(all, "oneTBB: flow graph", bench::role::rival, run_only);
#if HEDDLE_BENCH_HAS_TASKFLOW
    add<bench::taskflow_graph>(all, "Taskflow", bench::role::rival, run_only, executor_);
#endif
    all.show_in({"ns a node", 1e9});
    all.parts(static_cast<double>(graph_.size()));
    all.check([this] { return answer_ == right_; });
    all.add_goal({.of = "heddle", .to = all.rivals(), .at_most = run_only ? 1 / 2. : 1 / 1.5});
    all.run();
  }

 private:
  template <class Way, class... Needed>
  void add(bench::contest& all, const char* name, bench::role is, bool run_only, Needed&... needed) {
    std::function<void()> once;
    if (run_only) {
      const auto way = std::make_shared<Way>(needed..., graph_);
      once = [way] { way->run(); };
    } else {
      once = [&, this] { Way(needed..., graph_).run(); };
    }
    all.add({.name = name, .is = is, .run = [this, once](std::int64_t calls) {
               for (std::int64_t k = 0; k < calls; ++k) {
                 once();
                 answer_ = graph_.take_answer();
               }
             }});
  }
  void add_futures(bench::contest& all, bool run_only) {
    constexpr const char* name = "heddle, a future a node";
    if (run_only) {
      all.add({.name = name, .is = bench::role::heddle, .measure = [this](std::int64_t calls) {
                 bench::taken sum{0, 0};
                 for (std::int64_t k = 0; k < calls; ++k) {
                   gate held(*heddle_);
                   auto last = build_(*heddle_);
                   const double cpu = bench::own_cpu();
                   const auto began = bench::clock::now();
                   held.open();
                   answer_ = last.get();
                   sum.figure += bench::seconds_since(began), sum.cpu += bench::own_cpu() - cpu;
                 }
                 const auto n = static_cast<double>(calls);
                 return bench::taken{sum.figure / n, sum.cpu / n};
               }});
    } else {
      all.add({.name = name, .is = bench::role::heddle, .run = [this](std::int64_t calls) {
                 for (std::int64_t k = 0; k < calls; ++k) answer_ = build_(*heddle_).get();
               }});
    }
  }

  bench::session& session_;
  std::string name_;
  bench::graph graph_;
  std::function<heddle::future<value>(heddle::scheduler&)> build_;
  value right_ = 0, answer_ = 0;
  std::unique_ptr<heddle::scheduler> heddle_ = bench::host_devices(2);
  bench::condvar_queue queue_{2};
#if HEDDLE_BENCH_HAS_TASKFLOW
  tf::Executor executor_{2};
#endif
};

}  // namespace

int main(int argc, char** argv) {
  bench::session session(argc, argv, question);
  bench::look_for_taskflow(session);
  const std::size_t n = session.quick() ? 1024 : 8192, side = session.quick() ? 32 : 90;
  const auto compare = [&](const std::string& name, const bench::graph& g, auto build) {
    field all(session, name + " of " + std::to_string(g.size()), g, build);
    all.compare(true);
    all.compare(false);
  };
  compare("a chain", bench::graph::chain(n), [n](heddle::scheduler& s) { return chain(s, n); });
  compare("a tree", bench::graph::tree(n / 2), [n](heddle::scheduler& s) { return tree(s, n / 2); });
  compare("a wavefront", bench::graph::wavefront(side), nullptr);
  return session.finish();
}
