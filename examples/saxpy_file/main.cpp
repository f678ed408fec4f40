// SPDX-License-Identifier: Apache-2.0
// y = a x + y for vectors that lie in files, larger than the memory of the devices, or the machine, if need
// be; see `saxpy_file --help`. The files are mapped, and a loop over all devices takes the mappings as it
// takes any range: the loop is in loops.cpp.
#include <signal.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>

#include "heddle/error.hpp"
#include "heddle/scheduler.hpp"
#include "image_batch/shown_name.hpp"
#include "saxpy_file/loops.hpp"
#include "saxpy_file/mapped_floats.hpp"
#include "saxpy_file/memory_use.hpp"

namespace saxpy_file {
namespace {

namespace fs = std::filesystem;

constexpr const char* footer = R"(
FOLDER holds x.f32 and y.f32: 4-byte floats, as many in one as in the other. y.f32 is changed where it is: if the
program is ended meanwhile, it is partly changed.

Exit code: 0 done, 1 the result is wrong, 2 refused; then no file has changed.

Examples:
  saxpy_file --make 100000000 /tmp/vectors
  HEDDLE_BACKEND=host HEDDLE_HOST_MEMORY=40M saxpy_file /tmp/vectors -a 0.5)";

struct command {
  fs::path folder;
  std::int64_t make = -1;
  float a = 2;
};

/// Sums what `f(i)` is, in a plain loop, mixed with the index: equal for two vectors if they are equal, and
/// hardly otherwise (the mixing is that of SplitMix64; S. Vigna).
template <class F>
std::uint64_t fingerprint(std::size_t n, F f) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const float value = f(i);
    std::uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    std::uint64_t z = (i << 32 ^ i >> 32 ^ bits) * 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    sum += z ^ (z >> 31);
  }
  return sum;
}

void make_files(heddle::scheduler& sched, const fs::path& folder, std::size_t n) {
  fs::create_directories(folder);
  mapped_floats x(folder / "x.f32", n), y(folder / "y.f32", n);
  make_numbers(sched, x.values(), y.values());
  x.publish();
  y.publish();
  std::printf("made x.f32 and y.f32 of %zu floats in %s\n", n, image_batch::shown_name(folder).c_str());
}

double mebibytes(std::int64_t bytes) { return static_cast<double>(bytes) / (1 << 20); }

int run(const command& wanted) {
  heddle::scheduler sched;
  if (wanted.make >= 0) make_files(sched, wanted.folder, static_cast<std::size_t>(wanted.make));

  const mapped_floats x_file(wanted.folder / "x.f32", mapped_floats::access::read);
  mapped_floats y_file(wanted.folder / "y.f32", mapped_floats::access::read_write);
  const auto x = x_file.values();
  const auto y = y_file.values();
  if (x.size() != y.size()) {
    throw file_error("x.f32 holds " + std::to_string(x.size()) + " floats and y.f32 " +
                     std::to_string(y.size()) + ": they need as many in one as in the other");
  }
  const auto expected = fingerprint(x.size(), [&](std::size_t i) { return axpy(wanted.a, x[i], y[i]); });

  const auto began = std::chrono::steady_clock::now();
  add_multiple(sched, wanted.a, x, y);
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - began;

  y_file.save();
  const bool right = fingerprint(y.size(), [&](std::size_t i) { return y[i]; }) == expected;
  const auto bytes = static_cast<std::int64_t>(3 * sizeof(float) * x.size());
  std::printf("%s  y = %g x + y, %zu floats\n", right ? "ok   " : "WRONG", wanted.a, x.size());
  std::printf("took %.3f s, %.2f GB/s of x read, y read and y written; devices: %zu\n", spent.count(),
              static_cast<double>(bytes) / spent.count() / 1e9, sched.devices().size());
  const auto memory = memory_use_now();
  std::printf("peak memory %.1f MiB: %.1f of mapped files, %.1f of its own", mebibytes(memory.peak),
              mebibytes(memory.mapped_files), mebibytes(memory.peak - memory.mapped_files));
  const auto cap = static_cast<std::int64_t>(sched.devices().front().memory_bytes);
  if (cap > 0) std::printf("; each device may use %.1f MiB", mebibytes(cap));
  std::printf("\n");
  return right ? 0 : 1;
}

}  // namespace
}  // namespace saxpy_file

int main(int argc, char** argv) {
  ::signal(SIGXFSZ, SIG_IGN);  // a file that may not be so large is an error like others
  saxpy_file::command wanted;
  CLI::App app("y = a x + y for vectors in files, of any size, on all devices.", "saxpy_file");
  app.footer(saxpy_file::footer);
  app.add_option("FOLDER", wanted.folder, "Where x.f32 and y.f32 are")->required();
  app.add_option("--make", wanted.make, "First make both, of N floats each; FOLDER too if it is missing")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 40))
      ->type_name("N");
  app.add_option("-a", wanted.a, "The factor")->type_name("A")->capture_default_str();
  try {
    app.parse(argc, argv);
    if (!std::isfinite(wanted.a)) throw CLI::ValidationError("-a", "the factor has to be a finite number");
    return saxpy_file::run(wanted);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  } catch (const std::filesystem::filesystem_error& e) {
    std::fprintf(stderr, "saxpy_file: %s: %s\n", image_batch::shown_name(e.path1()).c_str(),
                 e.code().message().c_str());
  } catch (const std::exception& e) {
    std::fprintf(stderr, "saxpy_file: %s\n", e.what());
  }
  return 2;
}
