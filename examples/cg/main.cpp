// SPDX-License-Identifier: Apache-2.0
// Conjugate gradients for Poisson's equation on a square: a solver whose every iteration needs two scalars,
// alpha and beta, that all devices have to agree on. They never leave the devices: parallel_reduce_async
// leaves each dot product as a replicated value, of which every device has a copy, and the bodies of the next
// loops divide them. So the host issues --look-every iterations in one go, and waits once for all of them, to
// look at the residual. The loops are in solve.cpp, their bodies in bodies.hpp.
//
//   cg                                 127 x 127 unknowns
//   cg --points 500 --look-every 100
//
// The right side is made from a known solution, which has to be found. The bits are the same for any number
// of devices. Exit code: 0 found, 1 the result is wrong, 2 the arguments were refused.
#include <CLI/CLI.hpp>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <functional>
#include <numbers>
#include <string_view>

#include "cg/bodies.hpp"
#include "cg/solve.hpp"
#include "heddle/error.hpp"

namespace cg {
namespace {

/// Calls `f(y, x)` for every point, in plain loops: the check shall not share what it checks.
template <class F>
std::vector<double> for_all_points(std::int64_t n, F f) {
  std::vector<double> all;
  for (std::int64_t y = 0; y < n; ++y) {
    for (std::int64_t x = 0; x < n; ++x) all.push_back(f(y, x));
  }
  return all;
}

std::vector<double> times_matrix(std::int64_t n, const std::vector<double>& u) {
  const auto value = [&](std::int64_t y, std::int64_t x) { return u[static_cast<std::size_t>(y * n + x)]; };
  return for_all_points(n, [&](std::int64_t y, std::int64_t x) { return poisson{n}.row_times(value, y, x); });
}

double norm(const std::vector<double>& v) {
  double sum = 0;
  for (const double each : v) sum += each * each;
  return std::sqrt(sum);
}

double distance(std::vector<double> a, const std::vector<double>& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] -= b[i];
  return norm(a);
}

bool all_right = true;

void check(bool right, const char* what) {
  std::printf("%-6s  %s\n", right ? "ok" : "WRONG", what);
  all_right = all_right && right;
}

void run(const settings& wanted) {
  const std::int64_t n = wanted.n;
  const double spacing = 1. / static_cast<double>(n + 1);
  const auto known = for_all_points(n, [&](std::int64_t row, std::int64_t column) {
    const double y = static_cast<double>(row + 1) * spacing, x = static_cast<double>(column + 1) * spacing;
    return std::sin(7 * x * y) + x;
  });
  const auto b = times_matrix(n, known);

  heddle::scheduler sched;
  const auto began = std::chrono::steady_clock::now();
  const auto found = solve(sched, wanted, b);
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - began;

  const double residual = distance(b, times_matrix(n, found.u)) / norm(b);
  const double error = distance(found.u, known) / norm(known);
  // No error is larger than the residual over the smallest eigenvalue of the matrix.
  const double sine = std::sin(std::numbers::pi * spacing / 2);
  const double possible = residual * norm(b) / (8 * sine * sine) / norm(known);
  std::printf("%d iterations for %zu unknowns\n", found.iterations, b.size());
  std::printf("residual           %.16e of the right side\n", residual);
  std::printf("error              %.16e of the solution, at most %.1e\n", error, possible);
  std::printf("hash of all bits   %016zx\n",
              std::hash<std::string_view>()(
                  {reinterpret_cast<const char*>(found.u.data()), found.u.size() * sizeof(double)}));
  check(residual <= 1.5 * wanted.tolerance, "the system is solved");
  check(error <= 1.1 * possible + 1e-14, "its solution is the known one");
  std::printf("took %.3f s, %.0f microseconds an iteration; devices: %zu\n", spent.count(),
              1e6 * spent.count() / found.iterations, sched.devices().size());
}

}  // namespace
}  // namespace cg

int main(int argc, char** argv) {
  cg::settings wanted;
  CLI::App app("Conjugate gradients for Poisson's equation, with the host out of the loop");
  app.add_option("--points", wanted.n, "Points of the grid on each side; each is an unknown")
      ->check(CLI::Range(1, 8191))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--look-every", wanted.look_every, "Iterations between two looks at the residual")
      ->check(CLI::Range(1, 10'000))
      ->type_name("K")
      ->capture_default_str();
  try {
    app.parse(argc, argv);
    cg::run(wanted);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  } catch (const heddle::error& e) {
    std::fprintf(stderr, "cg: %s\n", e.what());
    return 2;
  }
  return cg::all_right ? 0 : 1;
}
