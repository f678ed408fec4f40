// SPDX-License-Identifier: Apache-2.0
// Heat flows out of a square plate whose rim is kept cold: explicit steps of the heat equation, du/dt =
// d2u/dx2 + d2u/dy2, on a distributed array. Each device keeps a block of rows, and the rows of its
// neighbours that it needs, the halo, are fetched from device to device. The host only says which steps
// follow on one another: no call waits before the result is gathered.
//
//   heat                               127 x 127 points, 1000 steps
//   heat --points 1023 --steps 500
//
// It starts from sin(pi x) sin(pi y), where both the equation and its discrete form have a solution in closed
// form, and compares. Exit code: 0 right, 1 the result is wrong, 2 the arguments were refused.
#include <CLI/CLI.hpp>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <numbers>
#include <string_view>
#include <utility>
#include <vector>

#include "heddle/heddle.hpp"

namespace {

using std::numbers::pi;

/// Length of a step over the square of the grid's spacing; above 1/4 the steps would blow up.
constexpr double ratio = 0.2;

/// The body: the next value of one point. Outside of the grid lies the rim, which is 0.
struct euler_step {
  std::int64_t n;

  HEDDLE_HOST_DEVICE void operator()(std::int64_t y, std::int64_t x, heddle::view<const double> now,
                                     heddle::view<double> next) const {
    const double above = y > 0 ? now(y - 1, x) : 0;
    const double below = y < n - 1 ? now(y + 1, x) : 0;
    const double left = x > 0 ? now(y, x - 1) : 0;
    const double right = x < n - 1 ? now(y, x + 1) : 0;
    next(y, x) = now(y, x) + ratio * (above + below + left + right - 4 * now(y, x));
  }
};

/// sin(pi x) sin(pi y) at the n x n points inside of the unit square.
std::vector<double> hump(std::int64_t n) {
  std::vector<double> u;
  const auto sine = [n](std::int64_t k) {
    return std::sin(pi * static_cast<double>(k + 1) / static_cast<double>(n + 1));
  };
  for (std::int64_t y = 0; y < n; ++y) {
    for (std::int64_t x = 0; x < n; ++x) u.push_back(sine(y) * sine(x));
  }
  return u;
}

std::vector<double> flow(heddle::scheduler& sched, std::int64_t n, int steps,
                         const std::vector<double>& start) {
  const heddle::extents plate{n, n};
  heddle::distributed_array<double> now(sched, plate, {.halo = 1}), next(sched, plate, {.halo = 1});
  now.scatter(start);
  std::vector<heddle::future<void>> issued;
  for (int k = 0; k < steps; ++k) {
    // Behind the step before, since it names the same arrays; the halos are fetched, since that step made
    // them stale. The call itself only notes it.
    issued.push_back(heddle::parallel_for_async(sched, plate, euler_step{n}, with_halo(now), out(next)));
    std::swap(now, next);
  }
  auto end = now.gather();               // waits for all of them
  for (auto& each : issued) each.get();  // none failed, or gather() had thrown; so says each by itself
  return end;
}

bool all_right = true;

void check(bool right, const char* what) {
  std::printf("%-6s  %s\n", right ? "ok" : "WRONG", what);
  all_right = all_right && right;
}

void run(std::int64_t n, int steps) {
  const double spacing = 1. / static_cast<double>(n + 1);
  const double time = steps * ratio * spacing * spacing;
  // A step multiplies the hump by this: it is an eigenvector of the discrete operator.
  const double sine = std::sin(pi * spacing / 2);
  const double exact = std::pow(1 - 8 * ratio * sine * sine, steps);
  if (exact < 1e-200) {
    throw CLI::ValidationError("--steps",
                               "after so many steps on so few points nothing is left to compare; "
                               "take fewer steps or more points");
  }

  heddle::scheduler sched;
  const auto start = hump(n);
  const auto began = std::chrono::steady_clock::now();
  const auto end = flow(sched, n, steps, start);
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - began;

  // Against the discrete solution: rounding. Against the equation's: what the spacing costs, foreseen by the
  // first term in which the two differ, in an expansion of log(exact) in powers of the spacing.
  const double rounding = 1e-12 + 1e-15 * steps;
  double worst = 0;
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < end.size(); ++i) {
    const double error = std::fabs(end[i] / (exact * start[i]) - 1);
    worst = std::fmax(worst, error);
    if (!(error <= rounding)) ++wrong;  // NaN too
  }
  const std::size_t middle = end.size() / 2;
  const double error = end[middle] / (start[middle] * std::exp(-2 * pi * pi * time)) - 1;
  const double foreseen = -std::expm1(time * std::pow(pi, 4) * spacing * spacing * (2 * ratio - 1. / 6));
  std::printf("after %d steps, at time %.6f\n", steps, time);
  std::printf("middle of the plate       %.16f\n", end[middle]);
  std::printf("error of rounding         %.1e of a value, at most\n", worst);
  std::printf("error of discretisation  %+.3e of a value, foreseen %+.3e\n", error, foreseen);
  std::printf("hash of all bits          %016zx\n",
              std::hash<std::string_view>()(
                  {reinterpret_cast<const char*>(end.data()), end.size() * sizeof(double)}));
  check(wrong == 0, "every point has the value of the discrete solution");
  check(std::fabs(error - foreseen) <= 0.1 * std::fabs(foreseen) + rounding,
        "the equation is solved as well as the spacing allows");
  std::printf("took %.3f s, %.0f microseconds a step; devices: %zu\n", spent.count(),
              1e6 * spent.count() / steps, sched.devices().size());
}

}  // namespace

int main(int argc, char** argv) {
  std::int64_t points = 127;
  int steps = 1000;
  CLI::App app("Heat flow on a distributed array, compared with the solution in closed form");
  app.add_option("--points", points, "Points of the grid on each side, the rim not counted")
      ->check(CLI::Range(15, 8191))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--steps", steps, "Steps in time")
      ->check(CLI::Range(1, 1'000'000))
      ->type_name("N")
      ->capture_default_str();
  try {
    app.parse(argc, argv);
    run(points, steps);
  } catch (const CLI::Error& e) {
    return app.exit(e) == 0 ? 0 : 2;
  } catch (const heddle::error& e) {
    std::fprintf(stderr, "heat: %s\n", e.what());
    return 2;
  }
  return all_right ? 0 : 1;
}
