// SPDX-License-Identifier: Apache-2.0
// Everything at once, from several threads, by a seed that is printed: whatever the order, every item runs at
// most once, is destroyed exactly once and ends exactly once, and the scheduler's own counts say the same.
#include <gtest/gtest.h>
#include <tbb/parallel_for.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <deque>
#include <memory>
#include <ranges>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include "heddle/heddle.hpp"
#include "stress/hosts.hpp"
#include "stress/seed.hpp"

namespace {

using namespace heddle::test;

// What happened to all callables of one run.
struct balance {
  std::atomic<std::uint64_t> made{0}, ran{0}, destroyed{0}, twice{0}, values{0}, errors{0}, cancelled{0};
};

struct expected_failure {};

// A callable that tells the balance what becomes of it.
class witness {
 public:
  explicit witness(balance& in) : in_(&in) { in.made.fetch_add(1); }
  witness(witness&& other) noexcept : in_(std::exchange(other.in_, nullptr)), ran_(other.ran_) {}
  witness(const witness&) = delete;
  witness& operator=(const witness&) = delete;
  ~witness() {
    if (in_ != nullptr) in_->destroyed.fetch_add(1);
  }
  void run() {
    in_->ran.fetch_add(1);
    if (std::exchange(ran_, true)) in_->twice.fetch_add(1);
  }

 private:
  balance* in_;
  bool ran_ = false;
};

class mixer {
 public:
  mixer(heddle::scheduler& sched, balance& all, std::uint64_t seed, int thread)
      : sched_(sched), all_(all), dice_(seed, thread) {}

  void turn() {
    switch (dice_.below(14)) {
      case 0:
      case 1:
      case 2:
      case 3:
        submit();
        break;
      case 4:
        batch();
        break;
      case 5:
        take();
        break;
      case 6:
        drop();
        break;
      case 7:
        cancel();
        break;
      case 8:
        chain();
        break;
      case 9:
        join_some();
        break;
      case 10:
        broadcast();
        break;
      case 11:
        try_map();
        break;
      case 12:
        nested();
        break;
      case 13:
        rare();
        break;
    }
  }
  void finish() {
    while (!held_.empty()) take();
  }

 private:
  heddle::route any_route() {
    auto r = heddle::route::any();
    const int devices = static_cast<int>(sched_.devices().size());
    switch (dice_.below(5)) {
      case 0:
        r = heddle::route::on(dice_.below(devices));
        break;
      case 1:
        r = heddle::route::key(static_cast<std::uint64_t>(dice_.below(5)));
        break;
      case 2:
        r = heddle::route::key(static_cast<std::uint64_t>(dice_.below(5))).spill();
        break;
      case 3:
        r = heddle::route::on(dice_.below(devices)).stream(dice_.below(2));
        break;
      default:
        break;
    }
    if (dice_.one_in(4)) r.priority(dice_.below(5) - 2);
    if (dice_.one_in(8)) r.host_only();
    if (dice_.one_in(10)) r.label("mixed");
    if (dice_.one_in(12))
      r.deadline(std::chrono::steady_clock::now() + std::chrono::microseconds(dice_.below(400)));
    if (dice_.one_in(12)) r.stop(stop_.get_token());
    return r;
  }
  heddle::route arena_route() {
    const int devices = static_cast<int>(sched_.devices().size());
    return dice_.one_in(2) ? heddle::route::any().in_arena()
                           : heddle::route::on(dice_.below(devices)).in_arena();
  }

  auto callable(bool host) {
    return [w = witness(all_), fails = dice_.one_in(15), work = dice_.below(5),
            host](heddle::device_context& context) mutable {
      w.run();
      if (heddle::this_device::id() != context.id()) std::abort();
      if (work == 1)
        tbb::parallel_for(0, 8, [id = context.id()](int) {
          if (heddle::this_device::try_id() != id) std::abort();
        });
      if (work == 2 && !host) context.launch(5, [](std::int64_t) {});
      if (work == 3 && !host) context.enqueue([] {});
      if (fails) throw expected_failure();
      return 1;
    };
  }
  void submit() {
    const bool arena = dice_.one_in(5);
    const auto to = arena ? arena_route() : any_route();
    if (dice_.one_in(4)) {
      auto f = callable(true);
      auto accepted = sched_.try_submit(std::move(f), to);
      if (accepted) hold(std::move(*accepted));
      return;  // refused: `f` is untouched, and counts as made and destroyed without an end
    }
    hold(sched_.submit(callable(arena), to));
  }
  void batch() {
    std::vector<decltype(callable(true))> some;
    for (int k = dice_.below(6); k >= 0; --k) some.push_back(callable(true));
    for (auto& each : sched_.submit_batch(std::move(some), any_route())) hold(std::move(each));
  }
  void chain() {
    if (held_.empty()) return;
    auto first = pick();
    auto w = witness(all_);
    if (dice_.one_in(3)) {
      hold(first.then_on_stream([w = std::move(w)](int& x) mutable { return w.run(), x; }));
    } else if (dice_.one_in(2)) {
      hold(first.then([w = std::move(w)](int x) mutable { return w.run(), x; }));
    } else {
      const auto to = dice_.one_in(3) ? arena_route() : any_route();
      hold(first.then([w = std::move(w)](int x) mutable { return w.run(), x; }, to));
    }
  }
  void join_some() {
    std::vector<heddle::future<int>> some;
    for (int k = dice_.below(4); k >= 0 && !held_.empty(); --k) some.push_back(pick());
    if (some.empty()) return;
    const int count = static_cast<int>(some.size());
    hold(heddle::when_all(std::move(some)).then([count](const std::vector<int>& all) {
      if (static_cast<int>(all.size()) != count) std::abort();
      return count;
    }));
  }
  void broadcast() {
    auto w = std::make_shared<witness>(all_);
    auto all = sched_.broadcast([w] { return 1; });
    for (auto& each : all) hold(std::move(each));
  }
  void try_map() {
    try {
      map();
    } catch (const heddle::cancelled&) {  // by whoever cancels
    }
  }
  void map() {
    std::vector<int> input(static_cast<std::size_t>(dice_.below(20)), 1);
    const auto out =
        sched_.map([](int x) { return x + 1; }, input, {.chunk = static_cast<std::size_t>(dice_.below(4))});
    for (const int each : out) {
      if (each != 2) std::abort();
    }
    if (out.size() != input.size()) std::abort();
    int left = dice_.below(20);
    for (const int each : sched_.imap([](int x) { return x; }, std::views::iota(0, 20))) {
      static_cast<void>(each);
      if (left-- == 0) break;
    }
  }
  void nested() {
    hold(sched_.submit(
        [this, w = witness(all_), to = any_route(), inner = callable(true)]() mutable {
          w.run();
          try {
            return sched_.submit(std::move(inner), to).get();
          } catch (const heddle::error&) {  // refused or ended by whoever cancels
            return 0;
          }
        },
        any_route()));
  }
  void rare() {
    if (dice_.one_in(20)) sched_.cancel();
    if (dice_.one_in(10)) sched_.drain_for(std::chrono::microseconds(dice_.below(300)));
    if (dice_.one_in(10)) {
      stop_.request_stop();
      stop_ = std::stop_source();
    }
    if (dice_.one_in(5)) {
      const int id = dice_.below(static_cast<int>(sched_.devices().size()));
      try {
        sched_.disable(id);
      } catch (const heddle::invalid_option&) {  // the last one
      }
      sched_.enable(id);
    }
    static_cast<void>(sched_.stats());
  }

  void hold(heddle::future<int> f) {
    held_.push_back(std::move(f));
    if (held_.size() > 200) take();
  }
  heddle::future<int> pick() {
    const auto at = held_.begin() + dice_.below(static_cast<int>(held_.size()));
    auto f = std::move(*at);
    held_.erase(at);
    return f;
  }
  void take() {
    if (held_.empty()) return;
    auto f = pick();
    try {
      static_cast<void>(f.get());
      all_.values.fetch_add(1);
    } catch (const expected_failure&) {
      all_.errors.fetch_add(1);
    } catch (const heddle::cancelled&) {
      all_.cancelled.fetch_add(1);
    } catch (const heddle::deadline_exceeded&) {
      all_.cancelled.fetch_add(1);
    }
  }
  void drop() {
    if (!held_.empty()) static_cast<void>(pick());
  }
  void cancel() {
    if (held_.empty()) return;
    auto f = pick();
    const bool ended = f.cancel();
    if (ended && !f.ready()) std::abort();
    if (!ended && dice_.one_in(2)) return;
    hold(std::move(f));
  }

  heddle::scheduler& sched_;
  balance& all_;
  dice dice_;
  std::stop_source stop_;
  std::deque<heddle::future<int>> held_;
};

TEST(Mixture, EveryItemRunsAtMostOnceAndEndsAndDiesExactlyOnce) {
  const auto seed = stress_seed();
  std::uint64_t part = 0;
  for (const std::size_t capacity : {1u << 16, 300u}) {
    on_every_machine([&](heddle::scheduler_options options) {
      options.arena_threads = 4;
      options.streams_per_device = 2;
      options.queue_capacity = capacity;
      options.on_error = [](const heddle::error_event&) {};
      balance all;
      ++part;
      {
        heddle::scheduler sched(options);
        std::vector<std::thread> threads;
        for (int t = 0; t < 4; ++t) {
          threads.emplace_back([&, t] {
            mixer m(sched, all, seed + part * 97, t);
            for (int k = 0; k < 400; ++k) m.turn();
            m.finish();
          });
        }
        for (auto& each : threads) each.join();
        sched.drain();
        const auto stats = sched.stats();
        EXPECT_EQ(stats.pending, 0u);
        EXPECT_EQ(stats.queued, 0u);
        for (const auto& each : stats.devices) {
          EXPECT_EQ(each.in_flight, 0u);
          EXPECT_EQ(each.queued, 0u);
          EXPECT_EQ(each.started, each.ended);
        }
      }
      EXPECT_EQ(all.twice.load(), 0u);
      EXPECT_EQ(all.made.load(), all.destroyed.load());
      EXPECT_LE(all.ran.load(), all.made.load());
      EXPECT_GT(all.ran.load(), 0u);
    });
  }
}

}  // namespace
