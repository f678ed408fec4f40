// SPDX-License-Identifier: Apache-2.0
#include "loops/outcome.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "heddle/error.hpp"
#include "observe/error_sink.hpp"

namespace heddle::detail {

namespace {

constexpr std::size_t others_told = 4;
constexpr std::size_t ranges_told = 4;

// Ascending, neighbours made one.
std::vector<index_range> merged(std::vector<index_range> all) {
  std::sort(all.begin(), all.end(), [](index_range a, index_range b) { return a.begin < b.begin; });
  std::vector<index_range> result;
  for (const index_range each : all) {
    if (!result.empty() && each.begin <= result.back().end) {
      result.back().end = std::max(result.back().end, each.end);
    } else {
      result.push_back(each);
    }
  }
  return result;
}

std::string text_of(const std::vector<index_range>& ranges) {
  std::string text;
  for (std::size_t k = 0; k < ranges.size() && k < ranges_told; ++k) {
    text +=
        (k == 0 ? "[" : ", [") + std::to_string(ranges[k].begin) + ", " + std::to_string(ranges[k].end) + ")";
  }
  if (ranges.size() > ranges_told)
    text += " and " + std::to_string(ranges.size() - ranges_told) + " more ranges";
  return text;
}

// The same error, its message continued.
template <class Error>
Error continued(const Error& e, const std::string& more) {
  const std::string message = e.what();
  const std::string prefix = e.operation() + " on device " + std::to_string(e.device()) + ": ";
  return {e.device(), e.operation(), message.substr(prefix.size()) + more, e.code(), e.name()};
}

}  // namespace

void loop_outcome::left_out(index_range range) {
  const std::lock_guard lock(mutex_);
  if (!undone_.empty() && undone_.back().end == range.begin) {
    undone_.back().end = range.end;
  } else {
    undone_.push_back(range);
  }
}

void loop_outcome::failed(index_range range, std::exception_ptr error) {
  const std::lock_guard lock(mutex_);
  undone_.push_back(range);
  if (first_ && range.begin >= first_failed_.load(std::memory_order_relaxed)) {
    ++other_count_;
    if (others_.size() < others_told) others_.push_back(std::move(error));
    return;
  }
  if (first_) {
    ++other_count_;
    if (others_.size() < others_told) others_.push_back(std::move(first_));
  }
  first_failed_.store(range.begin, std::memory_order_relaxed);
  first_ = std::move(error);
}

void loop_outcome::throw_first(const std::vector<index_range>& undone) const {
  const std::string more = "; of " + std::string(name_) + ", indices " + text_of(undone) + " may not be done";
  try {
    std::rethrow_exception(first_);
  } catch (const out_of_device_memory& e) {
    if (typeid(e) != typeid(out_of_device_memory) && typeid(e) != typeid(part_does_not_fit)) throw;
    throw continued(e, more);
  } catch (const device_error& e) {
    if (typeid(e) != typeid(device_error)) throw;
    throw continued(e, more);
  }
}

void loop_outcome::finish(error_sink& sink, std::vector<index_range>* not_done) {
  const std::lock_guard lock(mutex_);
  auto undone = merged(std::move(undone_));
  if (!undone.empty() && all_ > 0) undone = {{0, all_}};
  if (not_done != nullptr) *not_done = undone;
  if (other_count_ > 0) {
    std::string message = std::to_string(other_count_) + " more parts of " + name_ +
                          " failed than the one whose error it throws";
    std::vector<std::string> told;
    for (const auto& each : others_) {
      const std::string text = text_of(each);
      if (std::find(told.begin(), told.end(), text) == told.end()) message += ": " + told.emplace_back(text);
    }
    sink.report({others_.front(), std::nullopt, "", message});
  }
  if (first_) throw_first(undone);
  if (undone.empty()) return;
  throw cancelled(
      std::string(name_) +
      (cancelled_.load(std::memory_order_relaxed) ? " was cancelled" : " was stopped by its token") +
      " before it had done indices " + text_of(undone) + "; not_done of its options tells a program which");
}

}  // namespace heddle::detail
