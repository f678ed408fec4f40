// SPDX-License-Identifier: Apache-2.0
#include "scheduler/loop_history.hpp"

namespace heddle::detail {

double loop_history::rate(const void* body, std::size_t device) const noexcept {
  const std::lock_guard lock(mutex_);
  const entry& found = entries_[place(body)];
  return found.body == body ? found.measured->of(device) : 0;
}

std::size_t loop_history::fastest(const void* body, std::size_t devices) const noexcept {
  const std::lock_guard lock(mutex_);
  const entry& found = entries_[place(body)];
  std::size_t best = 0;
  for (std::size_t k = 1; found.body == body && k < devices; ++k) {
    if (found.measured->of(k) > found.measured->of(best)) best = k;
  }
  return best;
}

std::vector<double> loop_history::weights(const void* body, std::size_t devices) const {
  const std::lock_guard lock(mutex_);
  const entry& found = entries_[place(body)];
  return found.body == body ? found.measured->weights() : std::vector<double>(devices, 0.);
}

void loop_history::note(const void* body, std::size_t device, std::size_t devices, std::uint64_t indices,
                        double seconds) noexcept {
  const std::lock_guard lock(mutex_);
  entry& found = entries_[place(body)];
  if (found.body != body) {
    try {
      found.measured.emplace(devices);
      found.body = body;
    } catch (...) {  // no memory: it stays unknown
      found.body = nullptr;
      return;
    }
  }
  found.measured->note(device, indices, seconds);
}

void loop_history::note_anew(const void* body, std::size_t device, std::size_t devices, std::uint64_t indices,
                             double seconds) noexcept {
  {
    const std::lock_guard lock(mutex_);
    entry& found = entries_[place(body)];
    if (found.body == body) found.body = nullptr;
  }
  note(body, device, devices, indices, seconds);
}

}  // namespace heddle::detail
