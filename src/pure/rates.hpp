// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace heddle::detail {

/// How fast each device runs the body of one loop, in items a second, learned from what it took before. Of
/// fixed size, whatever the number of calls.
///
/// Each sample moves the believed rate by a part of the way to its own, counted in logarithms, so that the
/// old decays geometrically. Two things decide which part:
/// - **The gain**, 1 at first, between 1/8 and 1. It is halved when a sample lies on the other side of the
///   belief than the one before, and grows by a half when it does not, to at least 1/2 when more than a
///   factor of 2 lies between them. So noise is averaged, a change is followed within a few calls, and a loop
///   whose indices cost unequally settles: there a device's rate falls as its part grows, and a fixed gain
///   can overshoot from call to call for ever. (After M. Riedmiller, H. Braun, "A direct adaptive method for
///   faster backpropagation learning: the RPROP algorithm", IEEE Int. Conf. on Neural Networks, 1993.)
/// - **The size** of the sample against what is usual for the device, if it is smaller: a call of few items
///   says little. It is the time that the sample took or was believed to take, whichever is longer, so that
///   neither a device that got slow nor one that recovers, whose part is small just for that, goes unheard.
///
/// Distinct objects are independent; who shares one sees to it that one thread at a time is in it.
class rates {
 public:
  explicit rates(std::size_t devices) : devices_(devices) {}

  /// `device` ran `items` of the body in `seconds`, without the cost of waking it. Once in a call of the loop
  /// for each device that had a part. Ignored if there were no items, or the time is not a number from a
  /// picosecond to thirty years.
  void note(std::size_t device, std::uint64_t items, double seconds) noexcept;

  /// Whether a sample of it was noted.
  bool known(std::size_t device) const noexcept { return devices_[device].rate > 0; }

  /// Items a second; 0 if unknown.
  double of(std::size_t device) const noexcept { return devices_[device].rate; }

  /// What to choose the next call's devices by, and to split it by: each rate; for an unknown device the mean
  /// of the known ones; all 0 if none is known.
  ///
  /// No device is starved. One whose rate is below the floor, `least_share` of the mean, has the floor: it
  /// makes loops longer only if it is truly slower than that. Where the floor's share rounds to nothing, or
  /// the loop leaves the device out, the floor doubles with each call that passes the device by, up to the
  /// mean, until a part of it is measured. After each measurement that followed such a pause the doublings
  /// take twice as many calls, up to `most_patience`, so that trying a device that is slow for good costs
  /// little; after one that followed none, one call again.
  std::vector<double> weights() const;

  static constexpr double least_share = 1. / 1024;
  static constexpr std::uint64_t most_patience = 1024;

 private:
  struct history {
    double rate = 0;              // items a second
    double gain = 1;              // the part of the way that a sample of usual size moves the rate
    double deviation = 0;         // log(sample / rate) of the last one
    double size = 0;              // seconds, usual for a sample
    std::uint64_t last_call = 0;  // the call that noted it last
    std::uint64_t patience = 1;   // calls that pass the device by before its floor doubles

    void learn_gain(double next, bool passed_by) noexcept;
  };

  bool count_call(history& device) noexcept;  // whether the one before passed the device by
  double floor_share(const history& device) const noexcept;

  std::vector<history> devices_;
  std::uint64_t call_ = 0;  // a call ends where a device that it has noted is noted again
};

}  // namespace heddle::detail
