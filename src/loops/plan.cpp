// SPDX-License-Identifier: Apache-2.0
#include "loops/plan.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "heddle/error.hpp"
#include "pure/loop_cost.hpp"

namespace heddle::detail {

namespace {

// Parts begin at rows where there are some for every device.
std::int64_t align_of(const loop_request& request, std::size_t devices) {
  const std::int64_t rows = request.size / std::max<std::int64_t>(request.align, 1);
  return rows >= 4 * static_cast<std::int64_t>(devices) ? request.align : 1;
}

// `parts` of the k-th of `places`, made those of the device itself.
std::vector<loop_part> of_places(std::vector<loop_part> parts, const std::vector<std::size_t>& places) {
  for (auto& each : parts) each.device = places[each.device];
  return parts;
}

}  // namespace

void check_split(const char* name, const split& how, std::size_t devices) {
  const auto kind = split_access::kind_of(how);
  if (kind == split_access::kind::dynamic && split_access::chunk(how) < 0) {
    throw invalid_option(std::string(name) + " by split::dynamic(" +
                         std::to_string(split_access::chunk(how)) +
                         "): a chunk has 1 index or more; 0 lets heddle choose");
  }
  if (kind != split_access::kind::weighted) return;
  const auto& weights = split_access::weights(how);
  const bool valid =
      std::all_of(weights.begin(), weights.end(), [](double w) { return std::isfinite(w) && w >= 0; });
  const bool some = std::any_of(weights.begin(), weights.end(), [](double w) { return w > 0; });
  if (weights.size() == devices && valid && some) return;
  throw invalid_option(std::string(name) + " by split::weighted of " + std::to_string(weights.size()) +
                       " weights: give one for each of the scheduler's " + std::to_string(devices) +
                       " devices, 0 or more, at least one of them positive");
}

std::vector<std::size_t> enabled_places(const scheduler_core& core) {
  std::vector<std::size_t> places;
  for (std::size_t k = 0; k < core.group.threads.size(); ++k) {
    if (core.group.threads[k]->enabled()) places.push_back(k);
  }
  if (!places.empty()) return places;
  places.resize(core.group.threads.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  return places;
}

std::vector<loop_part> plan_parts(const scheduler_core& core, const loop_request& request, const split& how,
                                  std::vector<std::size_t> places, double further_seconds) {
  const index_range whole{request.begin, request.size};
  switch (split_access::kind_of(how)) {
    case split_access::kind::weighted:
      return split_by_weight(whole, split_access::weights(how), align_of(request, core.devices.size()));
    case split_access::kind::even:
    case split_access::kind::dynamic:
      return of_places(split_evenly(whole, places.size(), align_of(request, places.size())), places);
    case split_access::kind::measured:
      break;
  }
  const auto all = core.history.weights(request.body, core.devices.size());
  std::vector<double> weights;
  for (const std::size_t each : places) weights.push_back(all[each]);
  std::vector<std::size_t> chosen;
  std::vector<double> chosen_weights;
  for (const std::size_t k :
       choose_devices(static_cast<std::uint64_t>(request.indices), weights, further_seconds)) {
    chosen.push_back(places[k]);
    chosen_weights.push_back(weights[k]);
  }
  return of_places(split_by_weight(whole, chosen_weights, align_of(request, chosen.size())), chosen);
}

}  // namespace heddle::detail
