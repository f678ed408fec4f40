// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "support/contract.hpp"
#include "support/counted.hpp"

namespace heddle::test {
namespace {

HEDDLE_CONTRACT_SUITE(DeviceLocal);
HEDDLE_CONTRACT_SUITE(StreamLocal);

// Which threads made and destroyed objects.
struct register_of_lives {
  std::mutex mutex;
  std::map<int, std::thread::id> made, destroyed;  // by number
};

class registered {
 public:
  registered(register_of_lives& all, int number) : all_(&all), number_(number) {
    const std::lock_guard lock(all_->mutex);
    all_->made[number_] = std::this_thread::get_id();
  }
  registered(registered&& other) noexcept
      : all_(std::exchange(other.all_, nullptr)), number_(other.number_) {}
  ~registered() {
    if (all_ == nullptr) return;
    const std::lock_guard lock(all_->mutex);
    all_->destroyed[number_] = std::this_thread::get_id();
  }
  int number() const { return number_; }

 private:
  register_of_lives* all_;
  int number_;
  counted alive_;
};

TEST_P(DeviceLocal, IsMadeAtOnceOnEachDevicesThread) {
  register_of_lives lives;  // before the scheduler, at whose end the objects die
  scheduler sched(options(3));
  const device_local objects(sched, [&](device_context& c) { return registered(lives, c.id()); });
  ASSERT_EQ(lives.made.size(), 3u);
  for (const auto& device : sched.devices()) {
    const auto thread = sched.submit([] { return std::this_thread::get_id(); }, route::on(device.id)).get();
    EXPECT_EQ(lives.made[device.id], thread);
    EXPECT_EQ(
        sched.submit([&](device_context& c) { return objects[c].number(); }, route::on(device.id)).get(),
        device.id);
  }
}

TEST_P(DeviceLocal, DiesOnItsDevicesThreadBehindWhatIsQueued) {
  scheduler sched(options(2));
  register_of_lives lives;
  std::vector<future<int>> users;
  {
    const device_local objects(sched, [&](device_context& c) { return registered(lives, c.id()); });
    for (int k = 0; k < 100; ++k) {
      users.push_back(sched.submit(
          [&objects = objects, k](device_context& c) { return k >= 0 ? objects[c].number() : 0; }));
    }
    for (auto& each : users) each.get();
  }
  sched.drain();
  EXPECT_EQ(lives.destroyed, lives.made);
  EXPECT_EQ(counted::living(), 0);
}

TEST_P(DeviceLocal, DiesWithItsSchedulerAtTheLatest) {
  register_of_lives lives;
  std::optional<device_local<registered>> objects;
  {
    scheduler sched(options(2));
    objects.emplace(sched, [&](device_context& c) { return registered(lives, c.id()); });
  }
  EXPECT_EQ(lives.destroyed, lives.made);
  objects.reset();
}

TEST_P(DeviceLocal, OfAClosedSchedulerDiesWithIt) {
  register_of_lives lives;
  {
    scheduler sched(options(2));
    const device_local objects(sched, [&](device_context& c) { return registered(lives, c.id()); });
    sched.close();
  }
  EXPECT_EQ(lives.destroyed, lives.made);
}

TEST_P(DeviceLocal, ThrowsWhatItsFactoryThrowsAndLeavesNothing) {
  scheduler sched(options(3));
  EXPECT_THROW((device_local<counted>(sched,
                                      [](device_context& c) {
                                        if (c.id() == 1) throw std::range_error("factory");
                                        return counted();
                                      })),
               std::range_error);
  sched.drain();
  EXPECT_EQ(counted::living(), 0);
}

TEST_P(DeviceLocal, HoldsObjectsThatCannotMove) {
  struct fixed {
    explicit fixed(int v) : value(v) {}
    fixed(const fixed&) = delete;
    std::atomic<int> value;
  };
  scheduler sched(options(2));
  const device_local<fixed> objects(sched, [](device_context& c) { return fixed(c.id()); });
  EXPECT_EQ(sched.submit([&](device_context& c) { return objects[c].value.load(); }, route::on(1)).get(), 1);
}

TEST_P(DeviceLocal, MayBeMoved) {
  scheduler sched(options(2));
  device_local first(sched, [](device_context& c) { return c.id() * 10; });
  const auto second = std::move(first);
  EXPECT_EQ(sched.submit([&](device_context& c) { return second[c]; }, route::on(1)).get(), 10);
}

TEST_P(DeviceLocal, IsRefusedInItemsOfAnotherScheduler) {
  scheduler one(options(2));
  scheduler two(options(2));
  const device_local objects(one, [](device_context&) { return 1; });
  auto f = two.submit([&](device_context& c) { return objects[c]; });
  EXPECT_THROW((void)f.get(), invalid_option);
}

TEST_P(DeviceLocal, IsRefusedInTheArena) {
  scheduler sched(options(2));
  const device_local objects(sched, [](device_context&) { return 1; });
  auto f = sched.submit([&](device_context& c) { return objects[c]; }, route::any().in_arena());
  EXPECT_THROW((void)f.get(), invalid_option);
}

TEST_P(DeviceLocal, IsMadeInsideAnItem) {
  scheduler sched(options(2));
  auto f = sched.submit([&](device_context& c) {
    const device_local objects(sched, [](device_context& d) { return d.id() + 5; });
    return objects[c] - c.id();
  });
  EXPECT_EQ(f.get(), 5);
}

TEST_P(DeviceLocal, IsMadeOnDisabledDevicesToo) {
  scheduler sched(options(2));
  sched.disable(1);
  const device_local objects(sched, [](device_context& c) { return c.id(); });
  EXPECT_EQ(sched.submit([&](device_context& c) { return objects[c]; }, route::on(1)).get(), 1);
}

TEST_P(StreamLocal, IsOneObjectForEachStream) {
  auto chosen = options(2);
  chosen.streams_per_device = 3;
  scheduler sched(chosen);
  register_of_lives lives;
  {
    const stream_local objects(
        sched, [&](device_context& c) { return registered(lives, c.id() * 10 + c.stream().index()); });
    EXPECT_EQ(lives.made.size(), 6u);
    for (int id = 0; id < 2; ++id) {
      for (int s = 0; s < 3; ++s) {
        auto f =
            sched.submit([&](device_context& c) { return objects[c].number(); }, route::on(id).stream(s));
        EXPECT_EQ(f.get(), id * 10 + s);
      }
    }
  }
  sched.drain();
  EXPECT_EQ(lives.destroyed, lives.made);
}

TEST_P(StreamLocal, WorksWithOneStream) {
  auto chosen = options(2);
  chosen.streams_per_device = 1;
  scheduler sched(chosen);
  const stream_local objects(sched, [](device_context& c) { return c.id(); });
  EXPECT_EQ(sched.submit([&](device_context& c) { return objects[c]; }, route::on(1)).get(), 1);
}

TEST_P(StreamLocal, ThrowsWhatItsFactoryThrows) {
  scheduler sched(options(2));
  EXPECT_THROW((stream_local<counted>(sched,
                                      [](device_context& c) {
                                        if (c.stream().index() == 2) throw 4;
                                        return counted();
                                      })),
               int);
  sched.drain();
}

TEST_P(StreamLocal, MadeInAnItemThatHoldsAStreamIsRefusedOrWorks) {
  scheduler sched(options(1));
  auto f = sched.submit([&] { const stream_local objects(sched, [](device_context&) { return counted(); }); },
                        route::on(0).stream(1));
  EXPECT_THROW(f.get(), would_deadlock);
  sched.drain();
}

}  // namespace
}  // namespace heddle::test
