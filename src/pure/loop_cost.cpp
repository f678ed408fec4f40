// SPDX-License-Identifier: Apache-2.0
#include "pure/loop_cost.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace heddle::detail {

std::vector<std::size_t> choose_devices(std::uint64_t n, std::span<const double> rates,
                                        double further_seconds) {
  std::vector<std::size_t> chosen(rates.size());
  std::iota(chosen.begin(), chosen.end(), std::size_t{0});
  const bool all_known =
      std::all_of(rates.begin(), rates.end(), [](double r) { return r > 0 && std::isfinite(r); });
  if (!all_known || rates.size() < 2) return chosen;

  std::sort(chosen.begin(), chosen.end(),
            [&](std::size_t a, std::size_t b) { return rates[a] != rates[b] ? rates[a] > rates[b] : a < b; });
  const double cost = further_seconds > 0 ? further_seconds : 0;
  const std::uint64_t most = std::clamp<std::uint64_t>(n, 1, rates.size());
  double together = rates[chosen[0]];
  std::size_t k = 1;
  for (; k < most; ++k) {
    const double one_more = rates[chosen[k]];
    const double gain = static_cast<double>(n) / together * (one_more / (together + one_more));
    if (!(gain > cost)) break;
    together += one_more;
  }
  chosen.resize(k);
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

}  // namespace heddle::detail
