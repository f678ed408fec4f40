// SPDX-License-Identifier: Apache-2.0
// Loops over devices, the same source for both compilers: included once by loops_gxx.cpp, once by a .cu file.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "heddle/heddle.hpp"

namespace heddle::test {

struct scaled_sum {
  float factor;
  HEDDLE_HOST_DEVICE void operator()(std::int64_t i, view<const float> from, view<float> to) const {
    to[i] += factor * from[i];
  }
};
struct element {
  HEDDLE_HOST_DEVICE double operator()(std::int64_t i, view<const double> v) const { return v[i]; }
};
struct add {
  template <class T>
  HEDDLE_HOST_DEVICE T operator()(T a, T b) const {
    return a + b;
  }
};
struct plane_index {
  HEDDLE_HOST_DEVICE void operator()(std::int64_t y, std::int64_t x, view<int> v) const {
    v(y, x) = static_cast<int>(1000 * y + x);
  }
};
struct neighbours {
  std::int64_t rows;
  HEDDLE_HOST_DEVICE void operator()(std::int64_t y, std::int64_t x, view<const double> from,
                                     view<double> to) const {
    const double above = y > 0 ? from(y - 1, x) : 0;
    const double below = y < rows - 1 ? from(y + 1, x) : 0;
    to(y, x) = 0.25 * (above + below + 2 * from(y, x));
  }
};
struct divided {
  HEDDLE_HOST_DEVICE void operator()(std::int64_t i, view<double> v, view<const double> by) const {
    v[i] /= by[0];
  }
};

/// All of it, by one compiler.
struct loop_programs {
  void (*add_scaled)(scheduler&, float, const std::vector<float>&, std::vector<float>&);
  void (*number_plane)(scheduler&, std::int64_t ny, std::int64_t nx, std::vector<int>&);
  double (*sum)(scheduler&, const std::vector<double>&);
  void (*running_sums)(scheduler&, const std::vector<double>&, std::vector<double>&);
  /// The same on arrays, and once more in place.
  std::vector<double> (*running_sums_on_arrays)(scheduler&, const std::vector<double>&);
  /// Steps of `neighbours` on arrays, then divided by the sum of all elements.
  std::vector<double> (*smooth)(scheduler&, std::int64_t ny, std::int64_t nx, int steps,
                                const std::vector<double>&);
};
loop_programs programs_by_gxx();
loop_programs programs_by_nvcc();
/// By nvcc: the same as add_scaled, by a lambda for host and device, and by one for the device alone.
void add_scaled_by_lambda(scheduler&, float, const std::vector<float>&, std::vector<float>&);
void add_scaled_by_device_lambda(scheduler&, float, const std::vector<float>&, std::vector<float>&);
void running_sums_by_device_lambda(scheduler&, distributed_array<double>&);

namespace {

void add_scaled(scheduler& s, float factor, const std::vector<float>& from, std::vector<float>& to) {
  parallel_for(s, to.size(), scaled_sum{factor}, in(from), inout(to));
}
void number_plane(scheduler& s, std::int64_t ny, std::int64_t nx, std::vector<int>& v) {
  parallel_for_async(s, extents{ny, nx}, plane_index{}, out(v)).get();
}
double sum(scheduler& s, const std::vector<double>& v) {
  return parallel_reduce(s, v.size(), 0., add{}, element{}, in(v));
}
void running_sums(scheduler& s, const std::vector<double>& from, std::vector<double>& to) {
  inclusive_scan(s, in(from), out(to), 0., add{});
}
std::vector<double> running_sums_on_arrays(scheduler& s, const std::vector<double>& from) {
  distributed_array<double> a(s, from.size()), b(s, from.size());
  a.scatter(from);
  const auto scan = inclusive_scan_async(s, in(a), out(b), 0., add{});
  inclusive_scan(s, in(b), out(b), 0., add{});
  return b.gather();
}
std::vector<double> smooth(scheduler& s, std::int64_t ny, std::int64_t nx, int steps,
                           const std::vector<double>& start) {
  distributed_array<double> a(s, extents{ny, nx}, {.halo = 1}), b(s, extents{ny, nx}, {.halo = 1});
  a.scatter(start);
  for (int k = 0; k < steps; ++k) {
    (void)parallel_for_async(s, extents{ny, nx}, neighbours{ny}, with_halo(a), out(b));
    std::swap(a, b);
  }
  distributed_array<double> flat(s, ny * nx);
  flat.scatter(a.gather());
  replicated<double> total(s);
  (void)parallel_reduce_async(s, ny * nx, 0., add{}, element{}, in(flat), out(total));
  (void)parallel_for_async(s, ny * nx, divided{}, inout(flat), in(total));
  return flat.gather();
}
constexpr loop_programs all_programs{&add_scaled,   &number_plane,           &sum,
                                     &running_sums, &running_sums_on_arrays, &smooth};

}  // namespace

}  // namespace heddle::test
