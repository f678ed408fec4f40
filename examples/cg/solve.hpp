// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "heddle/scheduler.hpp"

namespace cg {

struct settings {
  std::int64_t n = 127;      ///< points on each side of the grid
  int look_every = 25;       ///< iterations that are issued in one go
  double tolerance = 1e-10;  ///< of the residual's norm, relative to that of the right side
};

struct solution {
  std::vector<double> u;
  int iterations = 0;
};

/// Solves A u = b for Poisson's matrix by conjugate gradients (M. Hestenes, E. Stiefel: Methods of Conjugate
/// Gradients for Solving Linear Systems, 1952), from u = 0 on; gives up after 20 n iterations. Blocks.
solution solve(heddle::scheduler&, const settings&, const std::vector<double>& b);

}  // namespace cg
