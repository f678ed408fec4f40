// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace heddle::detail {

/// Which devices make a loop of `n` items fastest: their places in ascending order; at least one, unless
/// there is none, and no more than there are items.
///
/// The estimate for a set of k devices is
///     (k - 1) * further_seconds + n / (sum of their rates)
/// that is, whoever starts the loop wakes and joins the others one after another, and the split is by rate,
/// so that all end together. What the first device costs is the same for every set, and left out. Among sets
/// of k the fastest k are best, equals in order of place; and since each is no faster than the one before, it
/// gains less, so that the first that gains nothing ends the search.
///
/// `rates` are items a second. If any is unknown (not a positive finite number) the answer is all devices, so
/// that all become known. `further_seconds` that is negative or not a number counts as 0.
std::vector<std::size_t> choose_devices(std::uint64_t n, std::span<const double> rates,
                                        double further_seconds);

}  // namespace heddle::detail
