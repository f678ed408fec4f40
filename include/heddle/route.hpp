// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>

namespace heddle {

namespace detail {
struct route_access;
}

/// Where an item may run, and on what terms. A value: build it by chaining,
/// `route::on(1).priority(5).label("fft")`. A value out of range is refused when the item is submitted, by
/// `invalid_option`.
class route {
 public:
  /// Any enabled device: whichever has room first.
  static route any() { return route(kind::any, 0); }
  /// The device with this gpu id, also while it is disabled.
  static route on(int id) {
    return route(kind::device, static_cast<std::uint64_t>(static_cast<std::int64_t>(id)));
  }
  /// All items of one key run on one device and one stream; those of equal priority in order.
  static route key(std::uint64_t key) { return route(kind::key, key); }

  /// Larger starts first; 0 unless said. At least one start in 32 goes to the oldest item whatever its
  /// priority. On a GPU with several streams, items above 0 that name no stream share the last one, whose
  /// work goes before that of the others.
  route& priority(int priority) & { return priority_ = priority, says_more(); }
  /// A name for messages, errors and `future::label()`.
  route& label(std::string label) & { return label_ = std::move(label), says_more(); }
  /// Stream `stream` (from 0) of the device: items of one device and stream complete in the order they start.
  route& stream(int stream) & { return stream_ = stream, says_more(); }
  /// Lets an item of a key leave the key's device, and with it the key's order, while that device is
  /// overloaded.
  route& spill() & { return spill_ = true, says_more(); }
  /// A request on this token ends the item as `cancelled` if it has not started; later
  /// `device_context::stop_token()` tells it.
  route& stop(std::stop_token token) & { return stop_ = std::move(token), says_more(); }
  /// An item that has not started by then ends as `deadline_exceeded`.
  route& deadline(std::chrono::steady_clock::time_point when) & { return deadline_ = when, says_more(); }
  /// The item uses no stream of the device, not even through a library: it ends when its callable returns.
  route& host_only() & { return host_only_ = true, says_more(); }
  /// CPU work: runs on the threads of the device's arena, several items at once where TBB has several workers
  /// (it has one fewer than the process has cores, for all arenas). It has no stream, no scratch memory and
  /// no `device_local`.
  route& in_arena() & { return in_arena_ = true, says_more(); }

  route&& priority(int priority) && { return std::move(this->priority(priority)); }
  route&& label(std::string label) && { return std::move(this->label(std::move(label))); }
  route&& stream(int stream) && { return std::move(this->stream(stream)); }
  route&& spill() && { return std::move(this->spill()); }
  route&& stop(std::stop_token token) && { return std::move(this->stop(std::move(token))); }
  route&& deadline(std::chrono::steady_clock::time_point when) && { return std::move(this->deadline(when)); }
  route&& host_only() && { return std::move(this->host_only()); }
  route&& in_arena() && { return std::move(this->in_arena()); }

 private:
  friend struct detail::route_access;
  enum class kind : std::uint8_t { any, device, key };
  route(kind k, std::uint64_t target) noexcept : target_(target), kind_(k), plain_(k == kind::any) {}
  route& says_more() noexcept { return plain_ = false, *this; }

  std::uint64_t target_;
  kind kind_;
  bool plain_;  // it says no more than any()
  bool spill_ = false;
  bool host_only_ = false;
  bool in_arena_ = false;
  int priority_ = 0;
  std::optional<int> stream_;
  std::string label_;
  std::stop_token stop_;
  std::optional<std::chrono::steady_clock::time_point> deadline_;
};

}  // namespace heddle
