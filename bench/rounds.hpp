// SPDX-License-Identifier: Apache-2.0
// Rivals that take turns, round by round. A machine's speed drifts by a factor of two within minutes, so that
// only turns that follow on one another can be compared: a ratio is made within each round, and what counts
// is the median of these ratios. docs/decisions says why this is not Google Benchmark.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "session.hpp"
#include "standings.hpp"
#include "usage.hpp"

namespace bench {

/// What one call took: seconds, unless the contest has a unit of its own; and CPU seconds.
struct taken {
  double figure = 0;
  double cpu = std::numeric_limits<double>::quiet_NaN();  // not known
};

/// One who takes part.
struct entry {
  std::string name;
  role is = role::rival;
  std::function<void(std::int64_t calls)> run = {};       ///< does it so many times, and is timed
  std::function<taken(std::int64_t calls)> measure = {};  ///< instead: times itself; of one call
  std::function<void()> prepare = {}, finish = {};        ///< around each turn, not timed
  bool warm = true;        ///< each turn has one call first that is not counted
  bool elsewhere = false;  ///< the CPU time that `measure` tells is that of other processes
};

/// Entries for one question. Each round has one turn of each, and each round begins with another one.
class contest {
 public:
  /// Rounds are made for about `budget` seconds (a tenth of it if quick), but at least 9 (3 if quick).
  contest(session& of, std::string title, double budget)
      : session_(of), title_(std::move(title)), budget_(of.quick() ? budget / 10 : budget) {}

  void add(entry e) {
    results_.push_back({e.name, e.is});
    entries_.push_back({std::move(e), 1});
  }
  /// What no entry can do better than, in each round.
  void bound(std::string name, double figure) { bound_ = {{std::move(name), role::limit}, figure}; }
  void add_goal(goal g) { goals_.push_back(std::move(g)); }
  /// The names of the rivals so far, for a goal.
  std::vector<std::string> rivals() const {
    std::vector<std::string> names;
    for (const series& each : results_) {
      if (each.is == role::rival) names.push_back(each.name);
    }
    return names;
  }

  /// Asked after each turn whether all answers are right.
  void check(std::function<bool()> right) { right_ = std::move(right); }
  /// A turn takes so many seconds, or a little more.
  void turn(double seconds) { turn_ = seconds; }
  /// A turn has so many calls, however long they take.
  void calls(std::int64_t calls) { fixed_calls_ = calls; }
  /// Done before each call and not counted; a turn's figure is then its median call.
  void before_each_call(std::function<void()> idle, std::int64_t calls = 15) {
    idle_ = std::move(idle), fixed_calls_ = calls;
  }
  /// Figures are of one part of a call, which has so many.
  void parts(double each_call) { parts_ = each_call; }
  void show_in(unit u) { unit_ = std::move(u); }
  /// What one call reads and writes: the table gets a column of rates.
  void bytes(double each_call) { bytes_ = each_call; }
  /// CPU time of helping processes that still live, so that it is not taken for a disturbance.
  void not_foreign(std::function<double()> cpu) { helpers_ = std::move(cpu); }

  void run() {
    for (auto& each : entries_) choose_calls(each);
    const auto began = clock::now();
    const double ours = our_cpu(), machine = machine_cpu();
    const int at_least = session_.quick() ? 3 : 9;
    for (rounds_ = 0; rounds_ < at_least || (rounds_ < 101 && seconds_since(began) < budget_); ++rounds_) {
      for (std::size_t k = 0; k < entries_.size(); ++k) {
        take_turn((static_cast<std::size_t>(rounds_) + k) % entries_.size());
      }
      bound_.first.figures.push_back(bound_.second), bound_.first.cpu.push_back(taken().cpu);
    }
    const double foreign = std::max(0., machine_cpu() - machine - (our_cpu() - ours));
    report(100 * foreign / (seconds_since(began) * static_cast<double>(sysconf(_SC_NPROCESSORS_ONLN))));
  }

 private:
  struct competitor {
    entry does;
    std::int64_t calls;  // in a turn
  };

  double our_cpu() const {
    return own_cpu() + ended_children_cpu() + elsewhere_ + (helpers_ ? helpers_() : 0);
  }

  void choose_calls(competitor& c) const {
    if (fixed_calls_ > 0) {
      c.calls = fixed_calls_;
    } else if (c.does.warm) {
      // Twice: a thread that lost its core once must not make a turn of one call.
      while (std::min(timed(c), timed(c)) < turn_) c.calls *= 2;
    }
  }
  static double timed(const competitor& c) {
    if (c.does.prepare) c.does.prepare();
    const auto began = clock::now();
    count(c.does, c.calls);
    const double seconds = seconds_since(began);
    if (c.does.finish) c.does.finish();
    return seconds;
  }

  /// So many calls, one behind the other.
  static taken count(const entry& e, std::int64_t calls) {
    if (e.measure) return e.measure(calls);
    const double cpu = own_cpu();
    const auto began = clock::now();
    e.run(calls);
    const double seconds = seconds_since(began), n = static_cast<double>(calls);
    return {seconds / n, (own_cpu() - cpu) / n};
  }

  /// So many calls with idleness before each; its own CPU time does not count.
  taken count_apart(const entry& e, std::int64_t calls) const {
    std::vector<double> figures;
    double idle_cpu = 0, reported_cpu = 0;
    const double cpu = own_cpu();
    for (std::int64_t k = 0; k < calls; ++k) {
      const double before = thread_cpu();
      idle_();
      idle_cpu += thread_cpu() - before;
      const taken one = count(e, 1);
      figures.push_back(one.figure);
      reported_cpu += one.cpu;
    }
    const double all = e.elsewhere ? reported_cpu : own_cpu() - cpu - idle_cpu;
    return {median(std::move(figures)), all / static_cast<double>(calls)};
  }

  void take_turn(std::size_t k) {
    const auto& [does, calls] = entries_[k];
    if (does.prepare) does.prepare();
    if (does.warm) count(does, 1);
    const taken t = idle_ ? count_apart(does, calls) : count(does, calls);
    if (does.finish) does.finish();
    results_[k].figures.push_back(t.figure / parts_);
    results_[k].cpu.push_back(t.cpu / parts_);
    if (does.elsewhere && t.cpu > 0) elsewhere_ += t.cpu * static_cast<double>(calls);
    if (right_ && !right_()) session_.wrong(title_ + ": " + does.name);
  }

  void report(double foreign_percent) {
    std::printf("\n%s\n  %d rounds; other processes used %.0f %% of the cores meanwhile%s\n", title_.c_str(),
                rounds_, foreign_percent, foreign_percent > 10 ? ": DISTURBED, measure again" : "");
    if (!bound_.first.name.empty()) results_.insert(results_.begin(), bound_.first);
    const standings all(unit_, results_);
    all.print(bytes_);
    std::vector<json_object> goals;
    for (const goal& each : goals_) goals.push_back(all.judge(each));
    session_.add(json_object()
                     .add("title", title_)
                     .add("unit", unit_.name)
                     .add("round_count", static_cast<double>(rounds_))
                     .add("confidence", estimate_median(results_.front().figures).confidence)
                     .add("foreign_cpu_percent", foreign_percent)
                     .add("reference", all.reference().name)
                     .add("has_limit", all.reference().is == role::limit)
                     .add("entries", all.entries())
                     .add("goals", goals));
  }

  session& session_;
  std::string title_;
  double budget_, turn_ = 2e-3, parts_ = 1, bytes_ = 0, elsewhere_ = 0;
  int rounds_ = 0;
  std::int64_t fixed_calls_ = 0;
  unit unit_;
  std::function<void()> idle_;
  std::function<bool()> right_;
  std::function<double()> helpers_;
  std::vector<competitor> entries_;
  std::vector<series> results_;
  std::pair<series, double> bound_{};
  std::vector<goal> goals_;
};

}  // namespace bench
