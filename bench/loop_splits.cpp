// SPDX-License-Identifier: Apache-2.0
// How near to the shortest possible time does each way of splitting a loop come, on unequal devices?
//
// Host devices of speeds that heddle is not told: the body sleeps as long as its device's speed says, and a
// device does one index at a time. The bound is the work over the sum of the speeds.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "heddle/heddle.hpp"
#include "host_devices.hpp"
#include "rounds.hpp"
#include "throttled_device.hpp"

namespace {

constexpr const char* question =
    "How near to the shortest possible time does each way of splitting a loop come?";

/// No more devices than cores: split::measured uses no more of them.
std::vector<double> speeds_here() {
  switch (std::thread::hardware_concurrency()) {
    case 0:
    case 1:
    case 2:
      return {1, 3};
    case 3:
      return {1, 2, 4};
    default:
      return {1, 1, 2, 4};
  }
}

/// What an index costs on a device of speed 1, in seconds, and how often each was done.
struct work {
  std::vector<double> speeds;
  std::vector<double> costs;
  std::vector<bench::throttled_device> devices;
  std::vector<std::atomic<int>> done;
  std::atomic<int> calls{0};

  work(std::vector<double> of_devices, std::vector<double> of_indices)
      : speeds(std::move(of_devices)),
        costs(std::move(of_indices)),
        devices(speeds.size()),
        done(costs.size()) {}

  double bound() const {
    return std::accumulate(costs.begin(), costs.end(), 0.) /
           std::accumulate(speeds.begin(), speeds.end(), 0.);
  }
  void begin() {
    for (auto& each : devices) each.forget();
  }
  void run(std::int64_t i) {
    const auto index = static_cast<std::size_t>(i);
    const auto device = static_cast<std::size_t>(heddle::this_device::id());
    devices[device].work_for(costs[index] / speeds[device]);
    done[index].fetch_add(1, std::memory_order_relaxed);
  }
  bool right() const {
    return std::all_of(done.begin(), done.end(), [this](const auto& each) { return each == calls; });
  }
};

void compare(bench::session& session, const std::string& kind, std::vector<double> costs) {
  work w(speeds_here(), std::move(costs));
  const auto n = static_cast<std::int64_t>(w.costs.size());
  const auto devices = static_cast<int>(w.speeds.size());
  const auto sched = bench::host_devices(devices);
  auto fresh = bench::host_devices(devices);

  bench::contest all(session, "makespan of " + std::to_string(n) + " indices, " + kind, 10);
  const auto add = [&](const char* name, const heddle::split& how) {
    heddle::loop_options options;
    options.split = how;
    all.add({.name = name,
             .is = bench::role::heddle,
             .run =
                 [&, options](std::int64_t calls) {
                   for (std::int64_t k = 0; k < calls; ++k, ++w.calls) {
                     heddle::parallel_for(*sched, n, options, [&w](std::int64_t i) { w.run(i); });
                   }
                 },
             .prepare = [&w] { w.begin(); }});
  };
  add("even", heddle::split::even());
  add("weighted by the true speeds", heddle::split::weighted(w.speeds));
  add("dynamic", heddle::split::dynamic());
  add("dynamic, one index at a time", heddle::split::dynamic(1));
  add("measured, later calls", heddle::split::measured());
  all.add({.name = "measured, first call",
           .is = bench::role::heddle,
           .run =
               [&](std::int64_t) {
                 heddle::parallel_for(*fresh, n, [&w](std::int64_t i) { w.run(i); });
                 ++w.calls;
               },
           .prepare =
               [&, devices] {
                 fresh = bench::host_devices(devices);
                 w.begin();
               },
           .warm = false});
  std::vector<std::int64_t> indices(w.costs.size());
  std::iota(indices.begin(), indices.end(), 0);
  const auto add_map = [&](const char* name, std::size_t chunk) {
    all.add({.name = name,
             .is = bench::role::heddle,
             .run =
                 [&, chunk](std::int64_t calls) {
                   heddle::map_options options;
                   options.chunk = chunk;
                   for (std::int64_t k = 0; k < calls; ++k, ++w.calls) {
                     sched->map([&w](std::int64_t i) { w.run(i); }, indices, options);
                   }
                 },
             .prepare = [&w] { w.begin(); }});
  };
  add_map("map", 0);
  add_map("map, one index an item", 1);
  all.show_in({"ms", 1e3});
  all.bound("the bound", w.bound());
  all.check([&] { return w.right(); });
  all.run();
}

}  // namespace

int main(int argc, char** argv) {
  bench::session session(argc, argv, question);
  std::printf("speeds of the host devices:");
  for (const double each : speeds_here()) std::printf(" %g", each);
  std::printf("\n");

  const std::size_t n = session.quick() ? 60 : 500;
  const double mean = 1e-3;
  compare(session, "all equal", std::vector<double>(n, mean));

  std::mt19937_64 random(1);
  std::lognormal_distribution<double> draw(0, 1);
  std::vector<double> costs(n);
  for (auto& each : costs) each = draw(random);
  const double scale = mean * static_cast<double>(n) / std::accumulate(costs.begin(), costs.end(), 0.);
  for (auto& each : costs) each *= scale;
  compare(session, "lognormal, in no order", costs);
  std::sort(costs.begin(), costs.end());
  compare(session, "lognormal, the dearest at the end", costs);
  return session.finish();
}
