// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "heddle/machine.hpp"

namespace heddle::detail {

/// Fewest insertions, deletions and replacements of one character that turn `a` into `b`.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The variables of `environment`, an array of "NAME=value" that ends with a null pointer (may itself be
/// null), that begin with HEDDLE_ and are not read: neither known nor one of those that only heddle's own
/// tests and CUDA builds read. Each with the closest known name, if that is a few edits away.
std::vector<unknown_variable> unknown_variables(const char* const* environment);

}  // namespace heddle::detail
