// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <concepts>
#include <optional>
#include <string_view>
#include <system_error>

namespace heddle::detail {

/// `text` as a decimal whole number; empty unless all of it is one, without sign (but '-' for signed types)
/// or spaces, and it fits.
template <std::integral T>
std::optional<T> whole_number(std::string_view text) noexcept {
  T value{};
  const char* end = text.data() + text.size();
  const auto [stopped, problem] = std::from_chars(text.data(), end, value);
  if (problem != std::errc{} || stopped != end) return std::nullopt;
  return value;
}

}  // namespace heddle::detail
