// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

namespace heddle::test {

/// How a child is made.
enum class spawn {
  fork,       ///< the C library's fork, with its handlers
  raw_clone,  ///< the system call behind its back
};

/// Runs `body` in a child of this process and waits for its end; says how it ended: "" if `body` returned "",
/// else what it returned, or by what signal it died. A child that hangs is killed after 10 s.
std::string in_child(spawn how, const std::function<std::string()>& body);

/// "" if `call` throws `E`, else what happened instead, with `name` in front.
template <class E, class Call>
std::string throws(const char* name, Call&& call) {
  try {
    call();
  } catch (const E&) {
    return "";
  } catch (...) {
    return std::string(name) + " threw something else; ";
  }
  return std::string(name) + " threw nothing; ";
}

}  // namespace heddle::test
