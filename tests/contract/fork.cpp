// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <ranges>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "support/child_process.hpp"
#include "support/contract.hpp"
#include "support/counted.hpp"
#include "support/gate.hpp"

// Source of the kind: pytorch#55643: what the parent remembers lies in the child.

namespace heddle::test {
namespace {

HEDDLE_CONTRACT_SUITE(Fork);

// Every call of the public headers is expected to refuse; gives the names of those that do not.
std::string calls_of_scheduler(scheduler& s) {
  std::string bad;
  const auto refuses = [&bad](const char* name, auto&& call) { bad += throws<forked_process>(name, call); };
  const auto nothing = [] {};
  refuses("scheduler", [] { const scheduler another{scheduler_options{}}; });
  refuses("list_devices", [] { (void)list_devices(); });
  refuses("devices", [&] { (void)s.devices(); });
  refuses("failed", [&] { (void)s.failed(); });
  refuses("submit", [&] { (void)s.submit(nothing); });
  refuses("try_submit", [&] { (void)s.try_submit(nothing); });
  refuses("submit in_arena", [&] { (void)s.submit(nothing, route::any().in_arena()); });
  refuses("submit_batch", [&] { (void)s.submit_batch(std::vector<std::function<void()>>(2, nothing)); });
  refuses("broadcast", [&] { (void)s.broadcast(nothing); });
  refuses("map", [&] { s.map([](int) {}, std::vector{1}); });
  refuses("map of nothing", [&] { s.map([](int) {}, std::vector<int>{}); });
  refuses("starmap", [&] { s.starmap([](int) {}, std::vector{std::tuple{1}}); });
  refuses("imap", [&] { (void)s.imap([](int x) { return x; }, std::views::iota(0, 3)).begin(); });
  refuses("close", [&] { s.close(); });
  refuses("drain", [&] { s.drain(); });
  refuses("drain_for", [&] { (void)s.drain_for(std::chrono::seconds(1)); });
  refuses("cancel", [&] { s.cancel(); });
  refuses("join", [&] { s.join(); });
  refuses("disable", [&] { s.disable(0); });
  refuses("enable", [&] { s.enable(0); });
  refuses("stats", [&] { (void)s.stats(); });
  refuses("as_device", [&] { as_device(s, 0, nothing); });
  refuses("device_guard", [&] { const device_guard guard(s, 0); });
  refuses("device_local", [&] { const device_local l(s, [](device_context&) { return 1; }); });
  refuses("parallel_for", [&] { parallel_for(s, 10, [](std::int64_t) {}); });
  refuses("distributed_array", [&] { const distributed_array<int> a(s, 10); });
  refuses("this_device::id", [] { (void)this_device::id(); });
  refuses("this_device::info", [] { (void)this_device::info(); });
  return bad + (this_device::try_id() ? "try_id gave one; " : "");
}

std::string calls_of_arrays(distributed_array<int>& array, replicated<int>& everywhere) {
  std::string bad;
  const auto refuses = [&bad](const char* name, auto&& call) { bad += throws<forked_process>(name, call); };
  std::vector<int> elements(8);
  refuses("fill", [&] { array.fill(1); });
  refuses("scatter", [&] { array.scatter(elements); });
  refuses("gather", [&] { (void)array.gather(); });
  refuses("replicated::set", [&] { everywhere.set(1); });
  refuses("replicated::get", [&] { (void)everywhere.get(); });
  return bad;
}

std::string calls_of_futures(future<int>& unfinished, future<int>& finished) {
  std::string bad;
  const auto refuses = [&bad](const char* name, auto&& call) { bad += throws<forked_process>(name, call); };
  refuses("wait", [&] { unfinished.wait(); });
  refuses("wait_for", [&] { (void)unfinished.wait_for(std::chrono::seconds(1)); });
  refuses("ready", [&] { (void)unfinished.ready(); });
  refuses("cancel", [&] { (void)unfinished.cancel(); });
  refuses("then", [&] { (void)unfinished.then([](int) {}); });
  refuses("then_on_stream", [&] { (void)unfinished.then_on_stream([](int&) {}); });
  refuses("get", [&] { (void)unfinished.get(); });
  refuses("get of a finished one", [&] { (void)finished.get(); });
  refuses("when_all", [&] {
    std::vector<future<int>> both;
    both.push_back(std::move(unfinished));
    both.push_back(std::move(finished));
    (void)when_all(std::move(both));
  });
  return bad;
}

std::string call_everything(scheduler& s, future<int>& unfinished, future<int>& finished) {
  const std::string bad = calls_of_scheduler(s);
  return bad + calls_of_futures(unfinished, finished);
}

TEST_P(Fork, RefusesEveryCallInTheChildPromptly) {
  for (const spawn how : {spawn::fork, spawn::raw_clone}) {
    scheduler sched(options(2));
    const occupied_device busy(sched, 0);
    auto unfinished = sched.submit([] { return 1; }, route::on(0));
    auto finished = sched.submit([] { return 2; }, route::on(1));
    finished.wait();
    EXPECT_EQ(in_child(how, [&] { return call_everything(sched, unfinished, finished); }), "");
    EXPECT_EQ(finished.get(), 2);
  }
}

TEST_P(Fork, RefusesEveryCallOnArraysInTheChild) {
  for (const spawn how : {spawn::fork, spawn::raw_clone}) {
    scheduler sched(options(2));
    distributed_array<int> array(sched, 8);
    replicated<int> everywhere(sched);
    array.fill(2);
    everywhere.set(3);
    EXPECT_EQ(in_child(how, [&] { return calls_of_arrays(array, everywhere); }), "");
    EXPECT_EQ(everywhere.get(), 3);
  }
}

TEST_P(Fork, TellsWhoMadeTheFirstSchedulerWhereAndWhatToDo) {
  scheduler sched(options(2));
  EXPECT_EQ(in_child(spawn::fork,
                     [&]() -> std::string {
                       try {
                         (void)sched.submit([] {});
                       } catch (const forked_process& e) {
                         const std::string what = e.what();
                         if (what.find(".cpp:") == std::string::npos) return "no place: " + what;
                         if (what.find("exec") == std::string::npos) return "no advice: " + what;
                         return "";
                       }
                       return "accepted";
                     }),
            "");
}

TEST_P(Fork, DestroysEverythingInTheChildWithoutHarm) {
  for (const spawn how : {spawn::fork, spawn::raw_clone}) {
    auto sched = std::make_unique<scheduler>(options(2));
    auto objects = std::make_unique<device_local<int>>(*sched, [](device_context& c) { return c.id(); });
    auto busy = std::make_unique<occupied_device>(*sched, 0);
    auto f = std::make_unique<future<int>>(sched->submit([alive = counted()] { return 1; }, route::on(0)));
    auto done = std::make_unique<future<counted>>(sched->submit([] { return counted(); }, route::on(1)));
    done->wait();
    auto after = std::make_unique<future<void>>(sched->submit([] {}, route::on(0)).then([] {}));
    EXPECT_EQ(in_child(how,
                       [&] {
                         f.reset();
                         done.reset();
                         after.reset();
                         objects.reset();
                         sched.reset();
                         return std::string();
                       }),
              "");
  }
}

TEST_P(Fork, DestroysAGuardAndAHalfReadImapInTheChildWithoutHarm) {
  scheduler sched(options(2));
  for (const bool ordered : {true, false}) {
    const auto try_it = [&](auto results) {
      auto it = results->begin();
      EXPECT_EQ(*it, 0);
      EXPECT_EQ(in_child(spawn::fork,
                         [&] {
                           results.reset();
                           return std::string();
                         }),
                "");
    };
    map_options how;
    how.route = route::on(0);
    const auto same = [](int x) { return x; };
    using ordered_range = decltype(sched.imap(same, std::views::iota(0, 100), how));
    using unordered_range = decltype(sched.imap_unordered(same, std::views::iota(0, 100), how));
    if (ordered) try_it(std::make_unique<ordered_range>(sched.imap(same, std::views::iota(0, 100), how)));
    if (!ordered)
      try_it(std::make_unique<unordered_range>(sched.imap_unordered(same, std::views::iota(0, 100), how)));
  }
  std::optional<device_guard> guard;
  guard.emplace(sched, 1);
  EXPECT_EQ(in_child(spawn::fork,
                     [&] {
                       guard.reset();
                       return std::string(this_device::try_id() ? "bound" : "");
                     }),
            "");
}

TEST_P(Fork, LeavesTheParentUntouched) {
  scheduler sched(options(2));
  std::vector<future<int>> all;
  for (int k = 0; k < 40; ++k) {
    for (int j = 0; j < 20; ++j) all.push_back(sched.submit([j] { return j; }).then([](int x) { return x; }));
    EXPECT_EQ(in_child(k % 2 ? spawn::fork : spawn::raw_clone, [] { return std::string(); }), "");
  }
  for (std::size_t k = 0; k < all.size(); ++k) EXPECT_EQ(all[k].get(), static_cast<int>(k % 20));
  EXPECT_EQ(sched.submit([] { return this_device::id(); }, route::on(1)).get(), 1);
}

TEST_P(Fork, RefusesInTheChildWhateverThreadsOfTheParentHeldAtThatMoment) {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "the sanitizers' own locks, unlike malloc's, do not survive a fork under such a load";
#endif
  scheduler sched(options(2));
  std::atomic<bool> over{false};
  std::vector<std::thread> hammers;
  for (int t = 0; t < 3; ++t) {
    hammers.emplace_back([&] {
      while (!over) {
        try {
          (void)sched.submit([] { return 1; }).then([](int x) { return x; }).then([](int x) { return x; });
          (void)sched.stats();
          sched.drain();
        } catch (const error&) {
        }
      }
    });
  }
  for (int k = 0; k < 150; ++k) {
    auto unfinished = sched.submit([] { return 1; });
    auto finished = sched.submit([] { return 2; });
    finished.wait();
    const auto said =
        in_child(spawn::raw_clone, [&] { return call_everything(sched, unfinished, finished); });
    EXPECT_EQ(said, "");
    if (!said.empty()) break;
  }
  over = true;
  for (auto& each : hammers) each.join();
}

TEST_P(Fork, InsideAnItemRefusesTheContextsCallsToo) {
  scheduler sched(options(2));
  const auto said = sched
                        .submit([](device_context& c) {
                          return in_child(spawn::fork, [&] {
                            using e = forked_process;
                            return throws<e>("launch", [&] { c.launch(100, [](std::int64_t) {}); }) +
                                   throws<e>("enqueue", [&] { c.enqueue([] {}); }) +
                                   throws<e>("scratch", [&] { (void)c.scratch<int>(1); }) +
                                   throws<e>("sync", [&] { c.sync(); }) +
                                   throws<e>("stop_token", [&] { (void)c.stop_token(); }) +
                                   throws<e>("this_device::id", [&] { (void)this_device::id(); });
                          });
                        })
                        .get();
  EXPECT_EQ(said, "");
}

TEST(ForkBeforeTheFirstScheduler, LeavesTheChildFree) {
  const auto body = []() -> std::string {
    scheduler_options two;
    two.use = backend::host;
    two.host.devices = 2;
    scheduler sched(two);
    return sched.submit([] { return this_device::id(); }, route::on(1)).get() == 1 ? "" : "wrong id";
  };
  if (in_child(spawn::fork, [] { return throws<forked_process>("", [] { (void)list_devices(); }); }).empty())
    GTEST_SKIP()
        << "an earlier test of this process has made a scheduler; CTest gives each a process of its own";
  EXPECT_EQ(in_child(spawn::fork, body), "");
}

}  // namespace
}  // namespace heddle::test
