// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/counted.hpp"

namespace heddle::test {

/// A callable that can be copied so many times; the copy after that throws 5.
struct brittle {
  explicit brittle(int* left) : copies_left(left) {}
  brittle(const brittle& other) : copies_left(other.copies_left) {
    if ((*copies_left)-- == 0) throw 5;
  }
  brittle(brittle&&) = default;
  void operator()() const {}

  int* copies_left;  // shared by all copies
  counted alive;
};

}  // namespace heddle::test
