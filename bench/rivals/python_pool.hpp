// SPDX-License-Identifier: Apache-2.0
// Python's multiprocessing.Pool(2), in a process of its own that takes its turns when it is asked to:
// pool.py.
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <sstream>
#include <string>

#include "../child.hpp"
#include "../rounds.hpp"

namespace bench {

class python_pool {
 public:
  /// Where there is no Python, the session is told and the pool is not `here()`.
  explicit python_pool(session& s) : session_(s) {
    try {
      process_ =
          std::make_unique<child>(std::vector<std::string>{"python3", HEDDLE_BENCH_DIR "/rivals/pool.py"});
      process_->answer();
    } catch (const std::exception& e) {
      s.left_out("Python's Pool", e.what());
      process_.reset();
    }
  }
  bool here() const { return process_ != nullptr; }
  /// `what` is one of pool.py's words with the numbers that it wants, but the last one.
  taken run(const std::string& what, std::int64_t calls, std::int64_t right_sum) const {
    std::istringstream answer(process_->ask(what + " " + std::to_string(calls)));
    taken one;
    std::int64_t sum = 0;
    if (!(answer >> one.figure >> one.cpu >> sum) || sum != right_sum) {
      session_.wrong("Python's Pool: " + what);
    }
    return one;
  }

 private:
  session& session_;
  std::unique_ptr<child> process_;
};

}  // namespace bench
