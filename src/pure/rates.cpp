// SPDX-License-Identifier: Apache-2.0
#include "pure/rates.hpp"

#include <algorithm>
#include <cmath>

namespace heddle::detail {
namespace {

// Between them no rate, and no quotient of two, leaves the range of a double.
constexpr double shortest = 1e-12;
constexpr double longest = 1e9;

constexpr double least_gain = 1. / 8;

}  // namespace

void rates::note(std::size_t device, std::uint64_t items, double seconds) noexcept {
  if (items == 0 || !(seconds >= shortest && seconds <= longest)) return;
  history& d = devices_[device];
  const bool passed_by = count_call(d);

  const double sample = static_cast<double>(items) / seconds;
  if (!known(device)) {
    d.rate = sample;
    d.size = seconds;
    return;
  }
  const double deviation = std::log(sample / d.rate);
  const double believed = static_cast<double>(items) / d.rate;
  const double weight = std::min(std::max(seconds, believed) / d.size, 1.);
  d.learn_gain(deviation, passed_by);
  d.size = (d.size + std::min(seconds, believed)) / 2;  // the shorter: a stall must not look usual
  d.rate *= std::exp(d.gain * weight * deviation);
}

void rates::history::learn_gain(double next, bool passed_by) noexcept {
  const bool turned = deviation * next < 0;
  const bool far = std::abs(next) > std::log(2.);
  gain = turned ? std::max(gain / 2, least_gain) : std::min(gain * 1.5, 1.);
  if (far && !turned) gain = std::max(gain, 1. / 2);
  if (far && passed_by) gain = 1;  // the old belief is what kept it away
  deviation = next;
}

bool rates::count_call(history& device) noexcept {
  if (device.last_call == call_) ++call_;
  const bool passed_by = device.rate > 0 && call_ - device.last_call > 1;
  device.patience = passed_by ? std::min(2 * device.patience, most_patience) : 1;
  device.last_call = call_;
  return passed_by;
}

double rates::floor_share(const history& device) const noexcept {
  const auto doublings = static_cast<double>((call_ - device.last_call) / device.patience);
  return std::min(1., least_share * std::exp2(doublings));
}

std::vector<double> rates::weights() const {
  const auto is_known = [](const history& d) { return d.rate > 0; };
  const auto known = std::count_if(devices_.begin(), devices_.end(), is_known);
  double mean = 0;
  for (const history& d : devices_) mean += is_known(d) ? d.rate / static_cast<double>(known) : 0;

  std::vector<double> out;
  out.reserve(devices_.size());
  for (const history& d : devices_) {
    out.push_back(is_known(d) ? std::max(d.rate, mean * floor_share(d)) : mean);
  }
  return out;
}

}  // namespace heddle::detail
