// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <stdexcept>
#include <string>

namespace heddle::test {

struct not_an_exception {
  int code;
};
struct derived : std::out_of_range {
  using std::out_of_range::out_of_range;
  int extra = 41;
};
enum class problem { red, green };

/// Calls `check(throwing callable, expectation on the thrown object)` for each kind of thing that C++ can
// throw.
template <class Check>
void for_each_thrown_type(Check check) {
  check([] { throw std::runtime_error("a message"); },
        [](std::exception_ptr e) {
          try {
            std::rethrow_exception(e);
          } catch (const std::runtime_error& mine) {
            return std::string(mine.what()) == "a message";
          } catch (...) {
          }
          return false;
        });
  check([] { throw derived("sliced?"); },
        [](std::exception_ptr e) {
          try {
            std::rethrow_exception(e);
          } catch (const derived& mine) {
            return mine.extra == 41 && std::string(mine.what()) == "sliced?";
          } catch (...) {
          }
          return false;
        });
  check([] { throw 42; },
        [](std::exception_ptr e) {
          try {
            std::rethrow_exception(e);
          } catch (int mine) {
            return mine == 42;
          } catch (...) {
          }
          return false;
        });
  check([] { throw not_an_exception{7}; },
        [](std::exception_ptr e) {
          try {
            std::rethrow_exception(e);
          } catch (const not_an_exception& mine) {
            return mine.code == 7;
          } catch (...) {
          }
          return false;
        });
  check([] { throw problem::green; },
        [](std::exception_ptr e) {
          try {
            std::rethrow_exception(e);
          } catch (problem mine) {
            return mine == problem::green;
          } catch (...) {
          }
          return false;
        });
  check([] { throw "text"; },
        [](std::exception_ptr e) {
          try {
            std::rethrow_exception(e);
          } catch (const char* mine) {
            return std::string(mine) == "text";
          } catch (...) {
          }
          return false;
        });
}

/// What `call` throws; null if nothing.
template <class Call>
std::exception_ptr thrown_by(Call call) {
  try {
    call();
  } catch (...) {
    return std::current_exception();
  }
  return nullptr;
}

}  // namespace heddle::test
