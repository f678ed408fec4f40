// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "pure/rates.hpp"

namespace heddle::detail {

/// The measured rates of the loop bodies that a scheduler has run, in indices a second. Bounded: a body that
/// needs the place of another one takes it. Any thread.
class loop_history {
 public:
  /// Of one device; 0 if unknown.
  double rate(const void* body, std::size_t device) const noexcept;
  /// The place of the device that is believed to be the fastest; the first one where nothing is known.
  std::size_t fastest(const void* body, std::size_t devices) const noexcept;
  /// One for each of `devices`, to divide a loop by; all 0 if nothing is known.
  std::vector<double> weights(const void* body, std::size_t devices) const;
  void note(const void* body, std::size_t device, std::size_t devices, std::uint64_t indices,
            double seconds) noexcept;
  /// As `note`, where it shows that what was believed is wrong: nothing from before counts any more, of no
  /// device.
  void note_anew(const void* body, std::size_t device, std::size_t devices, std::uint64_t indices,
                 double seconds) noexcept;

 private:
  struct entry {
    const void* body = nullptr;
    std::optional<rates> measured;
  };
  static constexpr std::size_t places = 256;
  // Bodies' addresses differ in their low bits.
  static std::size_t place(const void* body) noexcept {
    const auto address = reinterpret_cast<std::uintptr_t>(body);
    return (address ^ address >> 8 ^ address >> 16) % places;
  }

  mutable std::mutex mutex_;
  std::array<entry, places> entries_;  // guarded by mutex_
};

}  // namespace heddle::detail
