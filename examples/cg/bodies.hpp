// SPDX-License-Identifier: Apache-2.0
// What the loops of conjugate gradients do at one point of the grid. Functors marked for both, so that g++
// and nvcc compile the same source.
#pragma once

#include <cstdint>

#include "heddle/device_code.hpp"
#include "heddle/view.hpp"

namespace cg {

using heddle::view;

/// Poisson's matrix on a grid of n x n points: 4 on the diagonal, -1 for each neighbour; outside of the grid
/// the unknown is 0.
struct poisson {
  std::int64_t n;

  /// The row of the point (y, x) times `v`, anything that v(y, x) can be said of.
  template <class Values>
  HEDDLE_HOST_DEVICE double row_times(const Values& v, std::int64_t y, std::int64_t x) const {
    double sum = 4 * v(y, x);
    if (y > 0) sum -= v(y - 1, x);
    if (y < n - 1) sum -= v(y + 1, x);
    if (x > 0) sum -= v(y, x - 1);
    if (x < n - 1) sum -= v(y, x + 1);
    return sum;
  }
};

/// q = A p
struct multiply {
  poisson a;
  HEDDLE_HOST_DEVICE void operator()(std::int64_t y, std::int64_t x, view<const double> p,
                                     view<double> q) const {
    q(y, x) = a.row_times(p, y, x);
  }
};

/// One term of a dot product.
struct product {
  HEDDLE_HOST_DEVICE double operator()(std::int64_t y, std::int64_t x, view<const double> a,
                                       view<const double> b) const {
    return a(y, x) * b(y, x);
  }
};
struct square {
  HEDDLE_HOST_DEVICE double operator()(std::int64_t y, std::int64_t x, view<const double> a) const {
    return a(y, x) * a(y, x);
  }
};
struct add {
  HEDDLE_HOST_DEVICE double operator()(double a, double b) const { return a + b; }
};

/// 0 where the residual has become exactly 0: iterations that were issued already change nothing then.
HEDDLE_HOST_DEVICE inline double ratio(double a, double b) { return b > 0 ? a / b : 0; }

/// alpha = r.r / p.q;  u = u + alpha p;  r = r - alpha q
struct advance {
  HEDDLE_HOST_DEVICE void operator()(std::int64_t y, std::int64_t x, view<double> u, view<double> r,
                                     view<const double> p, view<const double> q, view<const double> rr,
                                     view<const double> pq) const {
    const double alpha = ratio(rr[0], pq[0]);
    u(y, x) += alpha * p(y, x);
    r(y, x) -= alpha * q(y, x);
  }
};

/// beta = r.r / r.r of the iteration before;  p = r + beta p
struct turn {
  HEDDLE_HOST_DEVICE void operator()(std::int64_t y, std::int64_t x, view<double> p, view<const double> r,
                                     view<const double> rr, view<const double> rr_before) const {
    p(y, x) = r(y, x) + ratio(rr[0], rr_before[0]) * p(y, x);
  }
};

}  // namespace cg
