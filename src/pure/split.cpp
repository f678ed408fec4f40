// SPDX-License-Identifier: Apache-2.0
#include "pure/split.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

namespace heddle::detail {
namespace {

__extension__ using wide = unsigned __int128;

// Modulo 2^64, which is what two's complement asks for: right for every offset within a range.
std::int64_t after(std::int64_t begin, std::uint64_t offset) noexcept {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(begin) + offset);
}

std::uint64_t at_least_one(std::int64_t n) noexcept { return n < 1 ? 1 : static_cast<std::uint64_t>(n); }

// Offsets into `whole`, cut into parts from left to right.
class cutter {
 public:
  cutter(index_range whole, std::size_t most_parts) : begin_(whole.begin) { parts_.reserve(most_parts); }

  void cut(std::size_t device, std::uint64_t to) {
    if (to == from_) return;
    parts_.push_back({device, {after(begin_, from_), after(begin_, to)}});
    from_ = to;
  }

  std::vector<loop_part> take() && { return std::move(parts_); }

 private:
  std::int64_t begin_;
  std::uint64_t from_ = 0;
  std::vector<loop_part> parts_;
};

// The weights as integers whose sum stays below 2^63: all scaled by one power of two, so that nothing is lost
// but the bits of small ones that fall below the point.
class integer_weights {
 public:
  explicit integer_weights(std::span<const double> weights) {
    double largest = 0;
    for (const double w : weights) largest = usable(w) ? std::max(largest, w) : largest;
    if (largest == 0) return;
    scale_ = 62 - static_cast<int>(std::bit_width(weights.size())) - std::ilogb(largest);
    for (const double w : weights) total_ += of(w);
  }

  std::uint64_t of(double weight) const noexcept {
    return usable(weight) ? static_cast<std::uint64_t>(std::ldexp(weight, scale_)) : 0;
  }
  std::uint64_t total() const noexcept { return total_; }

 private:
  static bool usable(double weight) noexcept { return weight > 0 && std::isfinite(weight); }

  int scale_ = 0;
  std::uint64_t total_ = 0;
};

}  // namespace

std::vector<loop_part> split_by_weight(index_range whole, std::span<const double> weights,
                                       std::int64_t align) {
  const integer_weights integers(weights);
  const std::uint64_t total = integers.total();
  if (total == 0) return split_evenly(whole, weights.size(), align);

  const std::uint64_t n = whole.size();
  const std::uint64_t unit = at_least_one(align);
  const wide units_by = wide{total} * unit;  // below 2^126
  cutter parts(whole, weights.size());
  std::uint64_t sum = 0;
  for (std::size_t d = 0; d < weights.size(); ++d) {
    sum += integers.of(weights[d]);
    // The border nearest to n * sum / total. The numerator stays below 2^127 + 2^125, the product below 2^65.
    const wide border = (wide{n} * sum + units_by / 2) / units_by * unit;
    parts.cut(d, sum == total || border > n ? n : static_cast<std::uint64_t>(border));
  }
  return std::move(parts).take();
}

std::vector<loop_part> split_evenly(index_range whole, std::size_t devices, std::int64_t align) {
  if (devices == 0) return {};
  const std::uint64_t n = whole.size();
  const std::uint64_t unit = at_least_one(align);
  const std::uint64_t units = n / unit;
  const std::uint64_t each = units / devices;
  const std::uint64_t one_more = units % devices;
  // The first device that the incomplete unit can follow on without a gap in the others' units.
  const std::uint64_t last = each > 0 ? devices - 1 : one_more;

  cutter parts(whole, devices);
  std::uint64_t to = 0;
  for (std::size_t d = 0; d <= last; ++d) {
    to = d == last ? n : to + (each + (d < one_more)) * unit;
    parts.cut(d, to);
  }
  return std::move(parts).take();
}

std::uint64_t chunk_count(index_range whole, std::int64_t chunk) noexcept {
  const std::uint64_t size = at_least_one(chunk);
  return whole.size() / size + (whole.size() % size != 0);
}

index_range chunk_at(index_range whole, std::int64_t chunk, std::uint64_t k) noexcept {
  const std::uint64_t n = whole.size();
  if (k >= chunk_count(whole, chunk)) return {after(whole.begin, n), after(whole.begin, n)};
  const std::uint64_t from = k * at_least_one(chunk);
  return {after(whole.begin, from), after(whole.begin, from + std::min(n - from, at_least_one(chunk)))};
}

}  // namespace heddle::detail
