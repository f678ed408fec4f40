// SPDX-License-Identifier: Apache-2.0
#include "loops/run_in_items.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>
#include <vector>

#include "heddle/detail/waiting.hpp"
#include "heddle/device_context.hpp"
#include "heddle/error.hpp"
#include "loops/loop_items.hpp"
#include "loops/outcome.hpp"
#include "loops/plan.hpp"

namespace heddle::detail {

namespace {

constexpr double further_seconds = 20e-6;  // that one more device costs: its item, and its end
constexpr std::int64_t chunk_bytes = std::int64_t{4} << 20;
constexpr std::int64_t least_chunk_bytes = std::int64_t{64} << 10;
constexpr std::uint64_t most_items = 16384;  // of a loop; smaller chunks share one

struct item_part {
  std::size_t device;
  bool pinned;
  index_range units;
  std::int64_t chunk;  // units of each of its chunks, which it takes one after another
};

/// One loop, as long as any of its items lives.
struct item_loop {
  item_loop(scheduler_core& the_core, const loop_request& r, const loop_options& options,
            std::shared_ptr<void> the_owner)
      : core(the_core),
        request(r),
        label(options.label),
        not_done(options.not_done),
        owner(std::move(the_owner)),
        outcome(r, options.stop) {}

  scheduler_core& core;
  const loop_request request;
  const std::string label;
  std::vector<index_range>* const not_done;
  std::shared_ptr<void> owner;
  loop_outcome outcome;
  std::vector<item_part> parts;
};

/// Kept until a part's stream work is done: notes how long it took.
class part_timer {
 public:
  part_timer(std::shared_ptr<item_loop> loop, std::size_t device, std::uint64_t indices)
      : loop_(std::move(loop)), device_(device), indices_(indices) {}
  part_timer(part_timer&& other) noexcept
      : loop_(std::move(other.loop_)),
        device_(other.device_),
        indices_(other.indices_),
        began_(other.began_) {}
  ~part_timer() {
    if (loop_ == nullptr) return;
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began_;
    loop_->core.history.note(loop_->request.body, device_, loop_->core.devices.size(), indices_,
                             took.count());
  }

 private:
  std::shared_ptr<item_loop> loop_;
  std::size_t device_;
  std::uint64_t indices_;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

std::int64_t rounded(std::int64_t units, std::int64_t align) noexcept {
  return units > align ? units - units % align : std::max<std::int64_t>(units, 1);
}

// Units of a chunk that goes to whichever device has room.
std::int64_t chunk_of(const scheduler_core& core, const loop_request& request, const split& how) {
  const std::int64_t asked = split_access::chunk(how);
  if (asked > 0) return (asked - 1) / request.unit + 1;
  const auto devices = static_cast<std::int64_t>(core.devices.size());
  std::int64_t chunk = (request.size - 1) / (4 * devices) + 1;
  if (request.moved_bytes > 0) {
    // As much as a window holds may take up a quarter of the device.
    std::size_t memory = core.devices.front().memory_bytes;
    for (const auto& each : core.devices) memory = std::min(memory, each.memory_bytes);
    const auto window = static_cast<std::int64_t>(core.group.threads.front()->window_size());
    const std::int64_t fitting = static_cast<std::int64_t>(memory / 4) / window;
    const std::int64_t unit_bytes = request.moved_bytes * request.unit;
    chunk = std::max(chunk, least_chunk_bytes / unit_bytes);
    chunk = std::min({chunk, chunk_bytes / unit_bytes, fitting / unit_bytes});
  }
  return rounded(chunk, request.align);
}

// Of chunks that somebody has asked for there may be billions.
std::int64_t units_of_item(const loop_request& request, std::int64_t chunk) noexcept {
  const std::uint64_t count = chunk_count({0, request.size}, chunk);
  if (count <= most_items) return chunk;
  auto chunks = static_cast<std::int64_t>((count - 1) / most_items) + 1;
  if (request.moved_bytes > 0) {  // which is free again when the item ends
    const std::int64_t fitting = chunk_bytes / (request.moved_bytes * request.unit) / chunk;
    chunks = std::clamp<std::int64_t>(fitting, 1, chunks);
  }
  return chunk * chunks;
}

std::vector<item_part> plan(const scheduler_core& core, const loop_request& request, const split& how) {
  const auto kind = split_access::kind_of(how);
  std::vector<item_part> parts;
  const bool in_chunks =
      kind == split_access::kind::dynamic ||
      (kind == split_access::kind::measured && (request.moved_bytes > 0 || request.in_items));
  if (in_chunks) {
    const index_range whole{0, request.size};
    const std::int64_t chunk = chunk_of(core, request, how);
    const std::int64_t units = units_of_item(request, chunk);
    const std::uint64_t count = chunk_count(whole, units);
    const auto places = enabled_places(core);
    // So few that the first device to wake could take them all into its window: each gets its share.
    const bool few = kind == split_access::kind::measured &&
                     count <= places.size() * core.group.threads.front()->window_size();
    for (std::uint64_t k = 0; k < count; ++k) {
      parts.push_back({places[static_cast<std::size_t>(k * places.size() / count)], few,
                       chunk_at(whole, units, k), chunk});
    }
    return parts;
  }
  // In chunks too where data moves, so that the copies of one overlap with the work of another.
  const bool cut = request.moved_bytes > 0 && !request.in_items;
  // Not so many that a queue of little room refuses them.
  const auto most = static_cast<std::int64_t>(
      std::max<std::size_t>(core.group.books.capacity() / (4 * core.devices.size()), 1));
  for (const auto& each : plan_parts(core, request, how, enabled_places(core), further_seconds)) {
    const auto size = std::max<std::int64_t>(static_cast<std::int64_t>(each.range.size()), 1);
    const std::int64_t chunk = cut ? std::max(chunk_of(core, request, how), (size - 1) / most + 1) : size;
    for (std::uint64_t k = 0; k < chunk_count(each.range, chunk); ++k) {
      parts.push_back({each.device, true, chunk_at(each.range, chunk, k), chunk});
    }
  }
  return parts;
}

// In pieces where the device's memory does not hold it, the later ones behind the earlier ones.
void put(item_loop& loop, device_context& context, index_range units) {
  try {
    loop.request.operations->put(loop.request.self, context, units.begin, units.end);
    return;
  } catch (const part_does_not_fit&) {
    if (units.end - units.begin < 2) throw;
  }
  const std::int64_t middle = units.begin + (units.end - units.begin) / 2;
  context.sync();
  put(loop, context, {units.begin, middle});
  context.sync();
  put(loop, context, {middle, units.end});
}

void run_part(const std::shared_ptr<item_loop>& shared, std::size_t k, device_context& context) {
  item_loop& loop = *shared;
  const item_part& part = loop.parts[k];
  const index_range indices = loop.request.indices_of(part.units);
  if (!loop.outcome.wanted(indices.begin)) return loop.outcome.left_out(indices);
  if (part.pinned && loop.request.moved_bytes == 0 && !loop.request.in_items) {
    context.keep(part_timer(shared, part.device, indices.size()));
  }
  for (std::int64_t begin = part.units.begin; begin < part.units.end;) {
    const std::int64_t end = part.units.end - begin > part.chunk ? begin + part.chunk : part.units.end;
    if (!loop.outcome.wanted(begin * loop.request.unit)) {
      return loop.outcome.left_out(loop.request.indices_of({begin, part.units.end}));
    }
    put(loop, context, {begin, end});
    begin = end;
  }
}

std::vector<future<void>> submit_all(const std::shared_ptr<item_loop>& loop) {
  std::vector<future<void>> items;
  items.reserve(loop->parts.size());
  for (std::size_t k = 0; k < loop->parts.size(); ++k) {
    const auto& part = loop->parts[k];
    auto where = part.pinned ? route::on(loop->core.devices[part.device].id) : route::any();
    where.label(loop->label);
    try {
      items.push_back(submit_part(loop->core, where, k > 0,
                                  [loop, k](device_context& context) { run_part(loop, k, context); }));
    } catch (...) {
      if (k == 0) throw;
      loop->outcome.failed(loop->request.indices_of({part.units.begin, loop->parts.back().units.end}),
                           std::current_exception());
      break;
    }
  }
  return items;
}

struct end_of_items {
  std::shared_ptr<loop_parts> parts;
  std::shared_ptr<item_loop> loop;
  void operator()() {
    auto all = parts->take();
    for (std::size_t k = 0; k < all.size(); ++k) {
      const part_end end = end_of(all[k]);
      const index_range indices = loop->request.indices_of(loop->parts[k].units);
      if (end.unstarted) {
        loop->outcome.cancel();
        loop->outcome.left_out(indices);
      } else if (end.error) {
        loop->outcome.failed(indices, end.error);
      }
    }
    loop->outcome.finish(*loop->core.group.sink, loop->not_done);
  }
};

}  // namespace

void run_in_items(scheduler_core& core, const loop_request& request, const loop_options& options) {
  refuse_wait_on_arena_thread(request.name);
  const counted_loop counted(core, request.name);
  const auto loop = std::make_shared<item_loop>(core, request, options, nullptr);
  loop->parts = plan(core, request, options.split);
  auto items = submit_all(loop);
  for (std::size_t k = 0; k < items.size(); ++k) {
    if (const auto error = wait_for_part(items[k]))
      loop->outcome.failed(loop->request.indices_of(loop->parts[k].units), error);
  }
  loop->outcome.finish(*core.group.sink, options.not_done);
}

future<void> start_in_items(scheduler_core& core, const loop_request& request, const loop_options& options,
                            std::shared_ptr<void> owner) {
  const counted_loop counted(core, request.name);
  const auto loop = std::make_shared<item_loop>(core, request, options, std::move(owner));
  loop->parts = plan(core, request, options.split);
  if (loop->parts.empty()) return submit_part(core, route::any().label(options.label), false, [] {});
  return join_parts(
      end_of_items{std::make_shared<loop_parts>(submit_all(loop), [loop] { loop->outcome.cancel(); }), loop});
}

}  // namespace heddle::detail
