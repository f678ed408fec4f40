// SPDX-License-Identifier: Apache-2.0
// How near to the shortest possible time do items come, on devices of unequal speeds that nobody told?
//
// Speeds 1, 1, 2 and 4, and lognormal items: 200 us on average on a device of speed 1. The bound is the work
// over the sum of the speeds. The goal: at most 1.04 times the bound; and the same with 16 devices, so that
// the ratio does not grow with their number. Devices spin where each has a core of its own, and sleep
// elsewhere.
#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "host_devices.hpp"
#include "rivals/condvar_queue.hpp"
#include "rivals/tbb_items.hpp"
#include "rounds.hpp"
#include "throttled_device.hpp"

namespace {

constexpr const char* question = "How near to the shortest possible time do items come, on unequal devices?";

class machine {
 public:
  machine(std::size_t devices, std::size_t items, double mean)
      : devices_(devices),
        costs_(items),
        done_(items),
        spins_(devices < std::thread::hardware_concurrency()) {
    std::mt19937_64 random(1);
    std::lognormal_distribution<double> draw(0, 1);
    for (double& each : costs_) each = draw(random);
    const double scale =
        mean * static_cast<double>(items) / std::accumulate(costs_.begin(), costs_.end(), 0.);
    for (double& each : costs_) each *= scale;
  }

  std::size_t items() const { return costs_.size(); }
  double bound() const {
    double speeds = 0;
    for (std::size_t k = 0; k < devices_.size(); ++k) speeds += speed(k);
    return std::accumulate(costs_.begin(), costs_.end(), 0.) / speeds;
  }
  void begin() {
    for (auto& each : devices_) each.forget();
  }
  void run(std::size_t item, int device) {
    const auto k = static_cast<std::size_t>(device);
    devices_[k].work_for(costs_[item] / speed(k), spins_);
    done_[item].fetch_add(1, std::memory_order_relaxed);
  }
  /// Whether each item was done so many times.
  bool done(std::int64_t times) const {
    return std::all_of(done_.begin(), done_.end(), [times](const auto& each) { return each == times; });
  }

 private:
  static double speed(std::size_t device) {
    constexpr double speeds[] = {1, 1, 2, 4};
    return speeds[device % 4];
  }

  std::vector<bench::throttled_device> devices_;
  std::vector<double> costs_;  // in seconds, on a device of speed 1
  std::vector<std::atomic<std::int64_t>> done_;
  bool spins_;
};

/// An even share for each device, and a thread that does it.
void by_equal_shares(machine& m, int devices) {
  std::vector<std::jthread> threads;
  for (int k = 0; k < devices; ++k) {
    threads.emplace_back([&m, k, devices] {
      const auto first = static_cast<std::size_t>(k), step = static_cast<std::size_t>(devices);
      for (std::size_t item = first; item < m.items(); item += step) m.run(item, k);
    });
  }
}

void compare(bench::session& session, int devices, std::size_t items) {
  // Twice the devices with items twice as long: the machine has as much to do.
  machine m(static_cast<std::size_t>(devices), items, 200e-6 * devices / 4);
  const auto sched = bench::host_devices(devices);
  bench::condvar_queue queue(devices);
  bench::tbb_items tbb(devices);

  bench::contest all(
      session, "makespan of " + std::to_string(items) + " items on " + std::to_string(devices) + " devices",
      8);
  std::int64_t times = 0;
  const auto add = [&](const char* name, bench::role is, auto once) {
    all.add({.name = name,
             .is = is,
             .run =
                 [&, once](std::int64_t calls) {
                   for (std::int64_t k = 0; k < calls; ++k, ++times) once();
                 },
             .prepare = [&m] { m.begin(); },
             .warm = false});
  };
  const auto each_item = [&](auto push) {
    for (std::size_t k = 0; k < items; ++k) push(k);
  };
  add("heddle: submit, drain", bench::role::heddle, [&] {
    each_item([&](std::size_t k) {
      static_cast<void>(sched->submit([&m, k] { m.run(k, heddle::this_device::id()); }));
    });
    sched->drain();
  });
  add("a queue with a condition", bench::role::rival, [&] {
    each_item([&](std::size_t k) { queue.push([&m, k] { m.run(k, bench::condvar_queue::this_worker()); }); });
    queue.drain();
  });
  add("oneTBB: enqueue, wait", bench::role::rival, [&] {
    each_item([&](std::size_t k) {
      tbb.push([&m, k] { m.run(k, tbb::this_task_arena::current_thread_index()); });
    });
    tbb.drain();
  });
  add("equal shares", bench::role::rival, [&] { by_equal_shares(m, devices); });
  all.show_in({"ms", 1e3});
  all.bound("the bound", m.bound());
  all.check([&] { return m.done(times); });
  all.add_goal({.of = "heddle: submit, drain", .to = {"the bound"}, .at_most = 1.04});
  all.run();
}

}  // namespace

int main(int argc, char** argv) {
  bench::session session(argc, argv, question);
  bench::sleep_exactly();
  compare(session, 4, session.quick() ? 1000 : 4000);
  compare(session, 16, session.quick() ? 2000 : 8000);
  return session.finish();
}
