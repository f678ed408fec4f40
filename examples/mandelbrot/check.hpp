// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "mandelbrot/compute.hpp"

namespace mandelbrot {

/// What is wrong with a picture; empty if nothing is. Compares every 31st pixel with what a plain loop makes
/// of it, all pixels that lie in the two largest parts of the set with black, and each maker with `ids`.
/// `exact`: the devices compute as the host does, to the last bit; else one pixel in a hundred may differ,
/// since near the set a rounding decides where a point goes.
std::string fault_of(const picture&, const frame&, bool exact, const std::vector<int>& ids);

}  // namespace mandelbrot
