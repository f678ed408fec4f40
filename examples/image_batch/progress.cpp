// SPDX-License-Identifier: Apache-2.0
#include "progress.hpp"

#include <unistd.h>

#include <cmath>
#include <cstdio>

namespace image_batch {
namespace {

std::string one_decimal(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", value);
  return text;
}

std::string time_text(double seconds) {
  const auto whole = static_cast<long>(std::ceil(seconds));
  if (whole < 60) return std::to_string(whole) + " s";
  if (whole < 3600) return std::to_string(whole / 60) + " min " + std::to_string(whole % 60) + " s";
  return std::to_string(whole / 3600) + " h " + std::to_string(whole % 3600 / 60) + " min";
}

}  // namespace

std::string progress_text(std::size_t done, std::size_t total, std::chrono::duration<double> spent) {
  std::string text = std::to_string(done) + " of " + std::to_string(total) + " pictures";
  if (done == 0 || spent.count() <= 0) return text;
  const double rate = static_cast<double>(done) / spent.count();
  return text + ", " + one_decimal(rate) + " per second, " +
         time_text(static_cast<double>(total - done) / rate) + " left";
}

progress_line::progress_line(std::size_t total) : visible_(::isatty(STDERR_FILENO) == 1), total_(total) {}

progress_line::~progress_line() { clear(); }

void progress_line::advance() {
  ++done_;
  const auto now = clock::now();
  if (!visible_ || now < next_draw_) return;
  next_draw_ = now + std::chrono::milliseconds(100);
  drawn_ = true;
  std::fprintf(stderr, "\r\x1b[K%s", progress_text(done_, total_, now - begin_).c_str());
  std::fflush(stderr);
}

void progress_line::clear() {
  if (!drawn_) return;
  drawn_ = false;
  next_draw_ = {};
  std::fputs("\r\x1b[K", stderr);
  std::fflush(stderr);
}

}  // namespace image_batch
