// SPDX-License-Identifier: Apache-2.0
// Pi by chance: points are thrown at a square, and counted where they fall into the quarter of a circle. A
// parallel_reduce over the points, without any data: each point is made from its index alone.
//
//   monte_carlo_pi                      twenty million points
//   monte_carlo_pi --points 1000000000 --seed 7
//
// The digits are the same for any number of devices, those of the floating-point sum too. It checks them.
// Exit code: 0 right, 1 the result is wrong, 2 the arguments were refused.
#include <CLI/CLI.hpp>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <numbers>

#include "heddle/heddle.hpp"

namespace {

/// The `k`-th number of a SplitMix64 generator (G. Steele, D. Lea, C. Flood: Fast Splittable Pseudorandom
/// Number Generators, OOPSLA 2014). Its state only counts up, so any number can be had without those before
/// it: what a loop in no order needs.
HEDDLE_HOST_DEVICE inline std::uint64_t random_bits(std::uint64_t seed, std::uint64_t k) {
  std::uint64_t z = seed + (k + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/// At least 0 and below 1.
HEDDLE_HOST_DEVICE inline double random_number(std::uint64_t seed, std::uint64_t k) {
  return static_cast<double>(random_bits(seed, k) >> 11) * 0x1p-53;
}

/// What is known of some points. Devices hand such values to the host as bytes, so it is a plain type.
struct tally {
  std::int64_t hits = 0;  ///< points inside of the circle
  double heights = 0;     ///< of the circle's arc above each point's x: their mean is pi / 4 as well
};

/// The body: the tally of one point. A functor marked for both, so that g++ and nvcc compile the same source.
struct throw_point {
  std::uint64_t seed;

  HEDDLE_HOST_DEVICE tally operator()(std::int64_t i) const {
    const auto k = static_cast<std::uint64_t>(i);
    const double x = random_number(seed, 2 * k);
    const double y = random_number(seed, 2 * k + 1);
    return {x * x + y * y < 1 ? 1 : 0, std::sqrt(1 - x * x)};
  }
};

/// The join: heddle groups the points in a tree that follows from their number alone, so that the rounding
/// of `heights` is the same however many devices there are.
struct add_tallies {
  HEDDLE_HOST_DEVICE tally operator()(const tally& a, const tally& b) const {
    return {a.hits + b.hits, a.heights + b.heights};
  }
};

bool all_right = true;

void check(bool right, const char* what) {
  std::printf("%-6s  %s\n", right ? "ok" : "WRONG", what);
  all_right = all_right && right;
}

/// Prints an estimate of pi from `n` points. One point has the standard deviation `sigma`; a sound generator
/// misses by five of them once in two million runs.
void judge(const char* name, double estimate, double sigma, std::int64_t n) {
  const double error = estimate - std::numbers::pi;
  const double expected = sigma / std::sqrt(static_cast<double>(n));
  std::printf("pi by %-8s  %.16f   error %+.1e, expected about %.1e\n", name, estimate, error, expected);
  if (!(std::fabs(error) <= 5 * expected)) check(false, "the error is five times what it should be");
}

void run(std::int64_t n, std::uint64_t seed) {
  heddle::scheduler sched;
  const auto began = std::chrono::steady_clock::now();

  const tally all = heddle::parallel_reduce(sched, n, tally(), add_tallies(), throw_point{seed});

  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - began;
  const double points = static_cast<double>(n);
  judge("counting", 4 * static_cast<double>(all.hits) / points, 1.642, n);  // 4 sqrt(p (1 - p)), p = pi / 4
  judge("heights", 4 * all.heights / points, 0.893, n);                     // sqrt(32 / 3 - pi^2)

  // The first points once more, in a loop of C++'s own: a count has no rounding, so it has to agree.
  const std::int64_t few = n < 100'000 ? n : 100'000;
  std::int64_t hits = 0;
  for (std::int64_t i = 0; i < few; ++i) hits += throw_point{seed}(i).hits;
  check(heddle::parallel_reduce(sched, few, tally(), add_tallies(), throw_point{seed}).hits == hits,
        "a plain loop counts the same");
  std::printf("took %.3f s, %.1f million points per second; devices: %zu\n", spent.count(),
              points / spent.count() / 1e6, sched.devices().size());
}

}  // namespace

int main(int argc, char** argv) {
  std::int64_t points = 20'000'000;
  std::uint64_t seed = 1;
  CLI::App app("Pi by a Monte Carlo method, on all devices, with the same digits for any number of them");
  app.add_option("-n,--points", points, "How many points are thrown")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 48))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--seed", seed, "Another seed gives other points")->type_name("N")->capture_default_str();
  try {
    app.parse(argc, argv);
    run(points, seed);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  } catch (const heddle::error& e) {
    std::fprintf(stderr, "monte_carlo_pi: %s\n", e.what());
    return 2;
  }
  return all_right ? 0 : 1;
}
