// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace image_batch {

/// "7 of 24 pictures, 3.5 per second, 5 s left": what the progress line says.
std::string progress_text(std::size_t done, std::size_t total, std::chrono::duration<double> spent);

/// A line on standard error that is written over itself; nothing at all where standard error is not a
/// terminal. One thread.
class progress_line {
 public:
  explicit progress_line(std::size_t total);
  progress_line(const progress_line&) = delete;
  progress_line& operator=(const progress_line&) = delete;
  ~progress_line();

  /// One picture more is finished, with success or not. Draws at most ten times a second.
  void advance();

  /// Takes the line away, so that something else can be printed; it comes back with the next `advance`.
  void clear();

 private:
  using clock = std::chrono::steady_clock;

  bool visible_;
  bool drawn_ = false;
  std::size_t total_;
  std::size_t done_ = 0;
  clock::time_point begin_ = clock::now();
  clock::time_point next_draw_ = begin_;
};

}  // namespace image_batch
