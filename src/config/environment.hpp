// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "heddle/options.hpp"

namespace heddle::detail {

/// Value of a variable, null where it is unset; as std::getenv.
using variable_lookup = std::function<const char*(const char* name)>;

/// The defaults, overridden by the variables that `lookup` knows. Unset and empty both mean the default.
/// Throws `invalid_option`, which names the variable, its value and what it takes.
scheduler_options options_from(const variable_lookup& lookup);

/// The same for the HEDDLE_HOST_… variables alone: a bad value of another one goes unseen.
host_options host_options_from(const variable_lookup& lookup);

/// Names of all variables that `options_from` looks up, in the order of the members.
std::vector<std::string> known_variables();

}  // namespace heddle::detail
