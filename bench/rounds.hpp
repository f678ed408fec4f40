// SPDX-License-Identifier: Apache-2.0
// What the benches share: rivals that take turns, round by round, and the table of what came out.
//
// Not Google Benchmark, which can mix the order of its repetitions, but sums up each benchmark over the whole
// run before anybody can divide one by another. A machine's speed drifts by a factor of two within minutes,
// so that only turns that follow on one another can be compared: here a ratio is made within each round, and
// the table holds the median of these ratios.
#pragma once

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace bench {

using clock = std::chrono::steady_clock;

inline double seconds_since(clock::time_point begin) {
  return std::chrono::duration<double>(clock::now() - begin).count();
}

/// CPU time of all threads of this process, in seconds.
inline double own_cpu() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

/// CPU time that the whole machine has spent, in seconds; 0 where it does not say.
inline double machine_cpu() {
  std::ifstream stat("/proc/stat");
  std::string name;
  double user = 0, nice = 0, system = 0, idle = 0, waiting = 0, irq = 0, soft_irq = 0, stolen = 0;
  stat >> name >> user >> nice >> system >> idle >> waiting >> irq >> soft_irq >> stolen;
  return (user + nice + system + irq + soft_irq + stolen) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

/// Memory that may still be used, in bytes.
inline double available_memory() {
  double bytes = std::numeric_limits<double>::infinity();
  std::ifstream info("/proc/meminfo");
  for (std::string word; info >> word;) {
    double kibibytes = 0;
    if (word == "MemAvailable:" && info >> kibibytes) bytes = 1024 * kibibytes;
  }
  double limit = 0, used = 0;  // not numbers where there is no limit
  std::ifstream most("/sys/fs/cgroup/memory.max"), now("/sys/fs/cgroup/memory.current");
  if (most >> limit && now >> used) bytes = std::min(bytes, limit - used);
  return bytes;
}

/// The value that the part `q` of all lies below, from 0 to 1.
inline double quantile(std::vector<double> values, double q) {
  std::sort(values.begin(), values.end());
  const double at = q * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (at - static_cast<double>(below)) * (values[above] - values[below]);
}
inline double median(std::vector<double> values) { return quantile(std::move(values), 0.5); }

/// One run of a bench: `--quick` or nothing. Its exit code: 0, 1 if an answer was wrong, 2 for other
/// arguments.
class session {
 public:
  session(int argc, char** argv, const char* question) {
    for (int k = 1; k < argc; ++k) {
      if (std::string_view(argv[k]) == "--quick") {
        quick_ = true;
      } else {
        std::fprintf(stderr, "%s\nusage: %s [--quick]\n", question, argv[0]);
        std::exit(2);
      }
    }
#if defined(NDEBUG) && defined(__OPTIMIZE__)
    const char* const build = "optimised";
#else
    const char* const build = "NOT OPTIMISED, OR WITH CHECKS: no figures to quote";
#endif
    std::printf("%s\n%ld cores, compiler %s, %s\n", question, sysconf(_SC_NPROCESSORS_ONLN), __VERSION__,
                build);
  }
  bool quick() const { return quick_; }
  void wrong(const std::string& what) {
    std::printf("WRONG: %s\n", what.c_str());
    wrong_ = true;
  }
  int exit_code() const { return wrong_ ? 1 : 0; }

 private:
  bool quick_ = false;
  bool wrong_ = false;
};

/// Rivals for one question. The first one added, or the bound, is what the others are divided by.
class contest {
 public:
  /// Rounds are made for about `budget` seconds, at least three of them.
  contest(session& of, std::string title, double budget)
      : session_(of), title_(std::move(title)), budget_(budget) {}

  /// `run(calls)` does it so many times. `prepare()`, if there is one, comes before each turn, which has a
  /// call that is not counted only if `warm`.
  void add(std::string name, std::function<void(std::int64_t)> run, std::function<void()> prepare = {},
           bool warm = true) {
    rivals_.push_back({std::move(name), std::move(run), std::move(prepare), warm, 1, {}, {}});
  }
  /// What no rival can do better than, in seconds.
  void bound(std::string name, double seconds) { bound_name_ = std::move(name), bound_ = seconds; }
  /// Asked after each turn whether all answers are right.
  void check(std::function<bool()> right) { right_ = std::move(right); }
  /// The process sleeps so long before each call.
  void idle(std::chrono::microseconds pause) { pause_ = pause; }
  /// What one call reads and writes: the table gets a column of rates.
  void bytes(double each_call) { bytes_ = each_call; }
  /// Of the rival so named, the table's last line says how it compares with the best of the others.
  void subject(std::string name) { subject_ = std::move(name); }

  void run() {
    for (auto& each : rivals_) choose_calls(each);
    const auto began = clock::now();
    const double own = own_cpu(), machine = machine_cpu();
    std::size_t rounds = 0;
    while (rounds < 3 || (rounds < 101 && seconds_since(began) < budget_)) {
      for (std::size_t k = 0; k < rivals_.size(); ++k) take_turn(rivals_[(rounds + k) % rivals_.size()]);
      ++rounds;
    }
    const double foreign = machine_cpu() - machine - (own_cpu() - own);
    const double cores = static_cast<double>(sysconf(_SC_NPROCESSORS_ONLN));
    std::printf("\n%s\n  %zu rounds; other processes used %.0f %% of the cores meanwhile\n", title_.c_str(),
                rounds, 100 * std::max(0., foreign) / (seconds_since(began) * cores));
    print();
  }

 private:
  struct rival {
    std::string name;
    std::function<void(std::int64_t)> run;
    std::function<void()> prepare;
    bool warm;
    std::int64_t calls;             // in a turn
    std::vector<double> wall, cpu;  // seconds a call, of each round
  };

  // So many that a turn takes some milliseconds.
  void choose_calls(rival& r) {
    if (pause_.count() > 0) {
      r.calls = 15;
    } else if (r.warm) {
      while (timed(r) < 2e-3) r.calls *= 2;
    }
  }
  static double timed(rival& r) {
    if (r.prepare) r.prepare();
    const auto began = clock::now();
    r.run(r.calls);
    return seconds_since(began);
  }

  void take_turn(rival& r) {
    if (r.prepare) r.prepare();
    if (r.warm) r.run(1);
    const double cpu = own_cpu();
    if (pause_.count() == 0) {
      const auto began = clock::now();
      r.run(r.calls);
      r.wall.push_back(seconds_since(began) / static_cast<double>(r.calls));
    } else {
      std::vector<double> walls;
      for (std::int64_t k = 0; k < r.calls; ++k) {
        std::this_thread::sleep_for(pause_);
        const auto began = clock::now();
        r.run(1);
        walls.push_back(seconds_since(began));
      }
      r.wall.push_back(median(std::move(walls)));
    }
    r.cpu.push_back((own_cpu() - cpu) / static_cast<double>(r.calls));
    if (right_ && !right_()) session_.wrong(title_ + ": " + r.name);
  }

  std::vector<double> ratios(const rival& r, const rival* to) const {
    std::vector<double> all;
    for (std::size_t k = 0; k < r.wall.size(); ++k)
      all.push_back(r.wall[k] / (to != nullptr ? to->wall[k] : bound_));
    return all;
  }

  void print() const {
    const rival* const first = bound_name_.empty() ? &rivals_.front() : nullptr;
    const std::string& reference = first != nullptr ? first->name : bound_name_;
    std::printf("  %-34s %12s %-21s %8s %-15s %13s%s\n", "", "us a call", "[quartiles]", "ratio",
                "[quartiles]", "CPU us a call", bytes_ > 0 ? "    GB/s" : "");
    if (first == nullptr) std::printf("  %-34s %12.2f\n", reference.c_str(), 1e6 * bound_);
    for (const auto& r : rivals_) {
      const auto of = ratios(r, first);
      char spread[2][40];
      std::snprintf(spread[0], sizeof spread[0], "[%.2f, %.2f]", 1e6 * quantile(r.wall, .25),
                    1e6 * quantile(r.wall, .75));
      std::snprintf(spread[1], sizeof spread[1], "[%.2f, %.2f]", quantile(of, .25), quantile(of, .75));
      std::printf("  %-34s %12.2f %-21s %8.3f %-15s %13.2f", r.name.c_str(), 1e6 * median(r.wall), spread[0],
                  median(of), spread[1], 1e6 * median(r.cpu));
      if (bytes_ > 0) std::printf(" %7.1f", bytes_ / median(r.wall) / 1e9);
      std::printf("\n");
    }
    std::printf("  ratio: to '%s', in the same round\n", reference.c_str());
    print_subject();
  }

  void print_subject() const {
    const rival *mine = nullptr, *best = nullptr;
    for (const auto& r : rivals_) {
      if (r.name == subject_) {
        mine = &r;
      } else if (best == nullptr || median(r.wall) < median(best->wall)) {
        best = &r;
      }
    }
    if (mine == nullptr || best == nullptr) return;
    const auto of = ratios(*mine, best);
    std::printf("  %s against the best other one, '%s': %.3f [%.2f, %.2f], %+.2f us\n", mine->name.c_str(),
                best->name.c_str(), median(of), quantile(of, .25), quantile(of, .75),
                1e6 * (median(mine->wall) - median(best->wall)));
  }

  session& session_;
  std::string title_;
  double budget_;
  std::string bound_name_, subject_;
  double bound_ = 0, bytes_ = 0;
  std::chrono::microseconds pause_{0};
  std::function<bool()> right_;
  std::vector<rival> rivals_;
};

}  // namespace bench
