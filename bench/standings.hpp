// SPDX-License-Identifier: Apache-2.0
// What the rounds of one contest say: how the entries compare, and which goals are met.
#pragma once

#include <cmath>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "json.hpp"
#include "median.hpp"

namespace bench {

/// What an entry stands for. A limit is what nobody can beat, such as threads that do nothing but spin.
enum class role { heddle, rival, limit };

/// What a goal is about: the figure itself, or CPU seconds.
enum class measure { figure, cpu };

/// That `of`, or its ratio to the best of `to`, or what it lies above it by, is at most so much. Best is
/// whose median is least; those of `to` that took no part are passed over.
struct goal {
  std::string of;
  std::vector<std::string> to = {};
  double at_most = 0;
  measure what = measure::figure;
  bool difference = false;
};

/// An entry's figures, one of each round.
struct series {
  std::string name;
  role is = role::rival;
  std::vector<double> figures = {}, cpu = {};
};

/// In which unit figures are shown, and the factor to it from what was measured.
struct unit {
  std::string name = "us";
  double factor = 1e6;
};

class standings {
 public:
  standings(unit shown, const std::vector<series>& all) : unit_(std::move(shown)), all_(all) {}

  /// `bytes`: what one figure moves; 0 where that is no question.
  void print(double bytes) const {
    std::printf("  %-38s %9s %-19s %8s %-19s %9s%s\n", "", unit_.name.c_str(), "[quartiles]", "ratio",
                "[interval]", "CPU", bytes > 0 ? "   GB/s" : "");
    for (const series& each : all_) {
      const estimate ratio = estimate_median(ratios(each, reference(), measure::figure));
      const double cpu = shown(median(each.cpu));
      std::printf("  %-38s %9s %-19s %8s %-19s %9s", each.name.c_str(),
                  number(shown(median(each.figures))).c_str(),
                  between(shown(quantile(each.figures, .25)), shown(quantile(each.figures, .75))).c_str(),
                  number(ratio.median).c_str(), between(ratio.low, ratio.high).c_str(),
                  std::isfinite(cpu) ? number(cpu).c_str() : "");
      if (bytes > 0) std::printf(" %6.1f", bytes / median(each.figures) / 1e9);
      std::printf("\n");
    }
    const estimate of_all = estimate_median(all_.front().figures);
    std::printf("  ratio: to '%s', in the same round; the interval holds its true median with %.0f %%\n",
                reference().name.c_str(), 100 * of_all.confidence);
  }

  /// Prints how the goal stands, and answers with the same for the file.
  json_object judge(const goal& g) const {
    const series* const mine = find(g.of);
    const series* const other = best(g.to);
    json_object result;
    if (mine == nullptr || (other == nullptr && !g.to.empty())) {
      std::printf("  goal: %s: not measured, since whom to compare it with is not here\n", g.of.c_str());
      return result.add("text", g.of).add("met", "not measured");
    }
    const char* const of_what = g.what == measure::cpu ? ", CPU" : "";
    const bool ratio = other != nullptr && !g.difference;
    const double factor = ratio ? 1 : unit_.factor;
    const std::string whom = g.to.size() > 1 ? "the best rival" : other != nullptr ? other->name : "";
    std::string name = g.of + of_what + ": at most " + number(factor * g.at_most);
    name += ratio ? " x " + whom : " " + unit_.name;
    if (g.difference) name += " above " + whom;
    const std::string text = g.to.size() > 1 ? name + " (" + other->name + ")" : name;
    std::vector<double> values = g.difference ? differences(*mine, *other, g.what)
                                 : ratio      ? ratios(*mine, *other, g.what)
                                              : of(*mine, g.what);
    const estimate e = estimate_median(std::move(values));
    const bool met = e.high <= g.at_most;
    std::printf("  goal: %s; it is %s %s: %s\n", text.c_str(), number(factor * e.median).c_str(),
                between(factor * e.low, factor * e.high).c_str(), met ? "met" : "MISSED");
    return result.add("name", name)
        .add("text", text)
        .add("median", factor * e.median)
        .add("low", factor * e.low)
        .add("high", factor * e.high)
        .add("at_most", factor * g.at_most)
        .add("met", met ? "met" : "missed");
  }

  /// The entries for the file, in the unit shown.
  std::vector<json_object> entries() const {
    std::vector<json_object> all;
    for (const series& each : all_) {
      json_object entry;
      entry.add("name", each.name)
          .add("role", each.is == role::heddle  ? "heddle"
                       : each.is == role::limit ? "limit"
                                                : "rival")
          .add("median", shown(median(each.figures)))
          .add("quartiles",
               std::vector<double>{shown(quantile(each.figures, .25)), shown(quantile(each.figures, .75))})
          .add("cpu", shown(median(each.cpu)))
          .add("to_reference", compared(each, reference()));
      const series* const rival = each.is == role::heddle ? best_rival() : nullptr;
      if (rival != nullptr) entry.add("to_best_rival", compared(each, *rival));
      all.push_back(entry.add("rounds", in_unit(each.figures)));
    }
    return all;
  }

  /// Whom all are compared with, in this run as in any other: the first limit, or the first rival.
  const series& reference() const {
    const series* found = &all_.front();
    for (const series& each : all_) {
      if (each.is == role::limit) return each;
      if (each.is == role::rival && found->is != role::rival) found = &each;
    }
    return *found;
  }

 private:
  static const std::vector<double>& of(const series& s, measure what) {
    return what == measure::cpu ? s.cpu : s.figures;
  }
  static std::vector<double> ratios(const series& a, const series& b, measure what) {
    std::vector<double> all = of(a, what);
    for (std::size_t k = 0; k < all.size(); ++k) all[k] /= of(b, what)[k];
    return all;
  }
  static std::vector<double> differences(const series& a, const series& b, measure what) {
    std::vector<double> all = of(a, what);
    for (std::size_t k = 0; k < all.size(); ++k) all[k] -= of(b, what)[k];
    return all;
  }
  /// Three digits or four that count, and no exponent.
  static std::string number(double value) {
    const double size = std::abs(value);
    char text[32];
    std::snprintf(text, sizeof text, "%.*f", size >= 100 ? 0 : size >= 10 ? 1 : size >= 2 ? 2 : 3, value);
    return text;
  }
  static std::string between(double low, double high) {
    return "[" + number(low) + ", " + number(high) + "]";
  }
  static json_object compared(const series& a, const series& b) {
    const estimate e = estimate_median(ratios(a, b, measure::figure));
    return json_object().add("to", b.name).add("median", e.median).add("low", e.low).add("high", e.high);
  }
  double shown(double figure) const { return figure * unit_.factor; }
  std::vector<double> in_unit(std::vector<double> values) const {
    for (double& each : values) each = shown(each);
    return values;
  }
  const series* find(const std::string& name) const {
    for (const series& each : all_) {
      if (each.name == name) return &each;
    }
    return nullptr;
  }
  const series* best(const std::vector<std::string>& names) const {
    const series* found = nullptr;
    for (const std::string& name : names) {
      const series* const each = find(name);
      if (each != nullptr && (found == nullptr || median(each->figures) < median(found->figures)))
        found = each;
    }
    return found;
  }
  const series* best_rival() const {
    std::vector<std::string> names;
    for (const series& each : all_) {
      if (each.is == role::rival) names.push_back(each.name);
    }
    return best(names);
  }

  unit unit_;
  const std::vector<series>& all_;
};

}  // namespace bench
