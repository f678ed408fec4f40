// SPDX-License-Identifier: Apache-2.0
// The planner against a scripted clock: rates, choose_devices and split_by_weight as a loop uses them, on
// devices whose speeds they are not told. A call's time is compared with the least possible: the sum of all
// costs over the sum of all speeds.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <random>
#include <vector>

#include "pure/loop_cost.hpp"
#include "pure/rates.hpp"
#include "pure/split.hpp"

namespace heddle::detail {
namespace {

// Seconds of work in a range of indices, on a device of speed 1.
using range_cost = std::function<double(index_range)>;

struct loop_time {
  double seconds;
  double bound;
  double ratio() const { return seconds / bound; }
};

// One body's calls on devices of the given speeds. Waking each further device takes `further` seconds.
class simulated_loop {
 public:
  simulated_loop(std::vector<double> speeds, double further = 0)
      : speed(std::move(speeds)), rate(speed.size()), further_(further) {}

  loop_time call(std::int64_t n, const range_cost& cost, std::int64_t align = 1) {
    const auto chosen = choose_devices(static_cast<std::uint64_t>(n), rate.weights(), further_);
    const auto all = rate.weights();
    std::vector<double> weights(all.size());
    for (const std::size_t d : chosen) weights[d] = std::max(all[d], 1e-9);
    parts = split_by_weight({0, n}, weights, align);

    double longest = 0;
    double work = 0;
    for (const loop_part& part : parts) {
      const double seconds = cost(part.range) / speed[part.device];
      rate.note(part.device, part.range.size(), seconds);
      longest = std::max(longest, seconds);
      work += seconds * speed[part.device];
    }
    return {longest + further_ * static_cast<double>(parts.size() - 1),
            work / std::accumulate(speed.begin(), speed.end(), 0.)};
  }

  double share(std::size_t device) const {
    for (const loop_part& part : parts) {
      if (part.device == device) {
        return static_cast<double>(part.range.size()) / static_cast<double>(parts.back().range.end);
      }
    }
    return 0;
  }

  std::vector<double> speed;
  rates rate;
  std::vector<loop_part> parts;  // of the last call

 private:
  double further_;
};

double one_microsecond_each(index_range range) { return 1e-6 * static_cast<double>(range.size()); }

// Lognormal costs of mean 200 us, sigma 1 (standard deviation 1.31 means): items drawn from 65,536 of them,
// new ones in each call.
class lognormal_items {
 public:
  explicit lognormal_items(std::uint64_t seed) : random_(seed) {}

  double operator()(index_range range) {
    static const std::vector<double> pool = [] {
      std::mt19937_64 random(1);
      std::lognormal_distribution<double> cost(std::log(200e-6) - 0.5, 1.);
      std::vector<double> out(65536);
      for (double& c : out) c = cost(random);
      return out;
    }();
    double sum = 0;
    for (std::uint64_t left = range.size(); left > 0; left -= std::min<std::uint64_t>(left, 4)) {
      std::uint64_t four = random_();  // 16 bits choose one
      for (std::uint64_t i = std::min<std::uint64_t>(left, 4); i > 0; --i, four >>= 16)
        sum += pool[four & 65535];
    }
    return sum;
  }

 private:
  std::mt19937_64 random_;
};

// 200,000 items, so that the device with the smallest part has 25,000: the part's own noise is then 0.8 %
// (1.31 over the root of 25,000), and 1.05 is five standard deviations of all noise off.
TEST(LoopSimulation, StaysWithin5PercentOfTheBoundAtHiddenSpeedsAfterOneCall) {
  double worst = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    lognormal_items items(seed);
    simulated_loop loop({1, 1, 2, 4});
    EXPECT_GT(loop.call(200'000, std::ref(items)).ratio(), 1.9);  // even: the planner knows nothing yet
    for (int call = 1; call <= 3; ++call) {
      const double ratio = loop.call(200'000, std::ref(items)).ratio();
      EXPECT_LE(ratio, 1.05) << "call " << call;
      worst = std::max(worst, ratio);
    }
  }
  RecordProperty("worst", std::to_string(worst));
}

// 2^24 items a device, so that the noise of the smallest part (0.07 shares, a million items) is 0.13 %. Sums
// of so many costs are normal. Waking costs 10 us a device, of calls that take seconds.
TEST(LoopSimulation, StaysWithin2PercentOfTheBoundUpTo1024DevicesOfAnySpeeds) {
  double worst = 0;
  for (std::size_t devices = 1; devices <= 1024; devices *= 2) {
    for (std::uint64_t seed = 0; seed < 30; ++seed) {
      SCOPED_TRACE(std::to_string(devices) + " devices, seed " + std::to_string(seed));
      std::mt19937_64 random(seed);
      std::vector<double> speeds(devices);
      for (double& s : speeds) s = std::exp2(std::uniform_real_distribution<double>(-3, 3)(random));
      simulated_loop loop(speeds, 10e-6);
      const auto cost = [&](index_range range) {
        const auto items = static_cast<double>(range.size());
        return 1e-6 * (items + 1.31 * std::sqrt(items) * std::normal_distribution<double>()(random));
      };
      const std::int64_t n = static_cast<std::int64_t>(devices) << 24;
      loop.call(n, cost);
      for (int call = 1; call <= 3; ++call) {
        const double ratio = loop.call(n, cost).ratio();
        EXPECT_LE(ratio, 1.02) << "call " << call;
        worst = std::max(worst, ratio);
      }
    }
  }
  RecordProperty("worst", std::to_string(worst));
}

TEST(LoopSimulation, GivesADeviceThatWasSlowOnceItsFairShareWithin4Calls) {
  for (std::size_t slow = 0; slow < 4; ++slow) {
    simulated_loop loop({1, 1, 2, 4});
    for (int call = 0; call < 5; ++call) loop.call(100'000, one_microsecond_each);
    const double fair = loop.speed[slow] / 8;
    loop.speed[slow] /= 100;
    loop.call(100'000, one_microsecond_each);
    loop.speed[slow] *= 100;
    loop.call(100'000, one_microsecond_each);
    EXPECT_LT(loop.share(slow), fair / 10);  // believed at first
    for (int call = 0; call < 3; ++call) loop.call(100'000, one_microsecond_each);
    EXPECT_NEAR(loop.share(slow), fair, 0.05 * fair) << "device " << slow;
  }
}

// A stall of 10^7 times a call, in loops of 200 items, where the floor's share is a fortieth of an item.
TEST(LoopSimulation, NeverStarvesADeviceThatStalledOnceInASmallLoop) {
  simulated_loop loop({1, 1, 2, 4});
  loop.call(200, one_microsecond_each);
  loop.speed[3] = 4e-7;
  loop.call(200, one_microsecond_each);
  loop.speed[3] = 4;
  loop.call(200, one_microsecond_each);
  EXPECT_EQ(loop.share(3), 0.);
  for (int call = 0; call < 20; ++call) loop.call(200, one_microsecond_each);
  EXPECT_NEAR(loop.share(3), 0.5, 0.01);
}

// The same where waking a device costs something, so that the slow one is not even chosen.
TEST(LoopSimulation, ChoosesADeviceThatStalledOnceAgain) {
  simulated_loop loop({1, 1, 2, 4}, 20e-6);
  loop.call(1'000, one_microsecond_each);
  loop.speed[2] = 2e-7;
  loop.call(1'000, one_microsecond_each);
  loop.speed[2] = 2;
  for (int call = 0; call < 20; ++call) loop.call(1'000, one_microsecond_each);
  EXPECT_GT(loop.share(2), 0.2);
}

// Ten thousand times slower for good: trying it again costs at most a tenth of the time, over 100,000 calls.
TEST(LoopSimulation, LosesLittleTimeOnADeviceThatIsSlowForGood) {
  simulated_loop loop({1, 1, 2, 1e-4});
  loop.call(400, one_microsecond_each);
  double seconds = 0;
  double bound = 0;
  for (int call = 0; call < 100'000; ++call) {
    const loop_time took = loop.call(400, one_microsecond_each);
    seconds += took.seconds;
    bound += took.bound;
  }
  EXPECT_LT(seconds / bound, 1.1);
}

TEST(LoopSimulation, CorrectsAWrongFirstGuessWithin3Calls) {
  for (const double wrong : {1e-3, 1e-1, 10., 1e3}) {
    simulated_loop loop({1, 1, 2, 4});
    loop.rate.note(0, 12'500, 12.5e-3);
    loop.rate.note(1, static_cast<std::uint64_t>(12'500 * wrong), 12.5e-3);
    loop.rate.note(2, 25'000, 12.5e-3);
    loop.rate.note(3, 50'000, 12.5e-3);
    EXPECT_GT(loop.call(100'000, one_microsecond_each).ratio(), 1.09) << wrong;
    loop.call(100'000, one_microsecond_each);
    loop.call(100'000, one_microsecond_each);
    EXPECT_LT(loop.call(100'000, one_microsecond_each).ratio(), 1.01) << wrong;
  }
}

// Even where noise has made it cautious before.
TEST(LoopSimulation, FollowsADeviceThatGetsSlowForGoodWithin4Calls) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> noise(1, 0.02);
  const auto cost = [&](index_range range) { return one_microsecond_each(range) * noise(random); };
  simulated_loop loop({1, 1, 2, 4});
  for (int call = 0; call < 50; ++call) loop.call(100'000, cost);
  loop.speed[3] = 0.5;
  EXPECT_GT(loop.call(100'000, cost).ratio(), 4.);
  for (int call = 0; call < 3; ++call) loop.call(100'000, cost);
  EXPECT_LT(loop.call(100'000, cost).ratio(), 1.1);
}

// Two indices of three cost a hundredth of the others, as the rows of a picture may. With a fixed gain of 1/2
// or more the parts swing for ever, at several times the bound.
TEST(LoopSimulation, SettlesWhereIndicesCostUnequally) {
  const auto cost_up_to = [](std::int64_t i) {
    const auto cheap = static_cast<double>(std::min<std::int64_t>(i, 66'667));
    return 1e-6 * (0.01 * cheap + static_cast<double>(i) - cheap);
  };
  for (const auto& speeds : {std::vector<double>{1, 1, 2, 4}, {4, 2, 1, 1}, {1, 1, 1, 1, 1, 1, 1, 1}}) {
    simulated_loop loop(speeds);
    const auto cost = [&](index_range range) { return cost_up_to(range.end) - cost_up_to(range.begin); };
    for (int call = 0; call < 25; ++call) loop.call(100'000, cost);
    for (int call = 0; call < 20; ++call) EXPECT_LT(loop.call(100'000, cost).ratio(), 1.02) << call;
  }
}

TEST(LoopSimulation, KeepsPartsAtMultiplesOfTheAlign) {
  simulated_loop loop({1, 1, 2, 4});
  for (int call = 0; call < 4; ++call) {
    const loop_time took = loop.call(1'000'003, one_microsecond_each, 1024);
    for (const loop_part& part : loop.parts) EXPECT_EQ(part.range.begin % 1024, 0);
    if (call > 0) {
      EXPECT_LT(took.ratio(), 1.01);
    }
  }
}

}  // namespace
}  // namespace heddle::detail
