// SPDX-License-Identifier: Apache-2.0
// Medians, and how sure they are.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace bench {

/// The value that the part `q` of all lies below, from 0 to 1.
inline double quantile(std::vector<double> values, double q) {
  std::sort(values.begin(), values.end());
  const double at = q * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (at - static_cast<double>(below)) * (values[above] - values[below]);
}
inline double median(std::vector<double> values) { return quantile(std::move(values), 0.5); }

/// A median, and the interval that holds the true one with this probability.
struct estimate {
  double median, low, high, confidence;
};

/// With 95 % or more where there are six values, and from the least to the greatest of fewer.
///
/// It lies between two of the values: of n sorted ones, the k-th from below and the k-th from above, with the
/// largest k for which a coin thrown n times shows fewer than k heads, or fewer than k tails, with 5 % at
/// most. This inverts the sign test: each value lies below the true median with one half, whatever the
/// values' distribution is. W. J. Conover, Practical Nonparametric Statistics, 3rd edition (1999),
/// section 3.2; J.-Y. Le Boudec, Performance Evaluation of Computer and Communication Systems (2010),
/// theorem 2.1. The values have to be independent, which figures of neighbouring rounds are not quite; ratios
/// within a round are much nearer to it.
inline estimate estimate_median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  double exactly = std::pow(0.5, static_cast<double>(n));  // the probability of k heads
  double fewer = 0;                                        // and of fewer than k heads
  std::size_t k = 0;
  while (2 * (fewer + exactly) <= 0.05 || k == 0) {
    fewer += exactly;
    exactly *= static_cast<double>(n - k) / static_cast<double>(k + 1);
    ++k;
  }
  return {median(values), values[k - 1], values[n - k], 1 - 2 * fewer};
}

}  // namespace bench
