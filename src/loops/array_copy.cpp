// SPDX-License-Identifier: Apache-2.0
// Between arrays and the calling thread's memory.
#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "heddle/detail/array.hpp"
#include "heddle/detail/waiting.hpp"
#include "heddle/pinned_buffer.hpp"
#include "loops/loop_items.hpp"
#include "scheduler/scheduler_core.hpp"

namespace heddle::detail {

namespace {

constexpr std::size_t piece_bytes = std::size_t{4} << 20;

enum class direction { to_array, from_array };

// Piece by piece through pinned memory; on host devices at once.
void transfer(device_context& context, void* on_device, void* on_host, std::size_t bytes, direction where) {
  driver& seam = *context.frame().group.seam;
  const stream_id on = context.frame().device.stream(context.frame().stream);
  const auto put = [&](void* device, void* host, std::size_t size) {
    if (where == direction::to_array) {
      seam.copy(on, device, host, size);
    } else {
      seam.copy(on, host, device, size);
    }
  };
  if (context.stream().on_host()) return put(on_device, on_host, bytes);
  for (std::size_t begin = 0; begin < bytes; begin += piece_bytes) {
    const std::size_t size = std::min(piece_bytes, bytes - begin);
    auto* const device = static_cast<std::byte*>(on_device) + begin;
    auto* const host = static_cast<std::byte*>(on_host) + begin;
    pinned_buffer<std::byte> staging(context, size);
    if (where == direction::to_array) copy_bytes(staging.data(), host, size);
    put(device, staging.data(), size);
    if (where == direction::from_array) {
      context.enqueue([host, from = staging.data(), size] { copy_bytes(host, from, size); });
    }
    context.sync();  // bounds the pinned memory
  }
}

// Adds a step of parts that refer to the caller's stack, and waits for it. `added`: it was not refused.
void run_step(scheduler_core& core, step next, const char* name, bool* added = nullptr) {
  refuse_wait_on_arena_thread(name);
  const counted_loop counted(core, name);
  auto parts = core.steps.add(std::move(next));
  if (added != nullptr) *added = true;
  std::exception_ptr first;
  for (auto& each : parts) {
    if (const auto error = wait_for_part(each); error && !first) first = error;
  }
  if (first) std::rethrow_exception(first);
}

template <class Run>
step step_of(const array_core& array, const char* label, Run run) {
  step all;
  all.label = label;
  for (const auto& block : array.blocks) {
    all.parts.push_back({block.place, [run, &block](device_context& context) { run(context, block); }, {}});
  }
  return all;
}

std::size_t bytes_of(const array_core& array, const array_block& block) noexcept {
  return static_cast<std::size_t>(block.range.size()) * array.element_bytes;
}

// Whatever goes wrong leaves the array undefined, but for a refusal; if all goes well it is defined again.
template <class Run>
void overwrite(array_core& array, const char* name, Run run) {
  const std::uint64_t era = array.failed.era();
  bool added = false;
  try {
    run_step(*array.core, step_of(array, name, run), name, &added);
  } catch (...) {
    if (added) array.failed.set(std::current_exception(), era);
    throw;
  }
  array.failed.clear();
  array.halos_stale = true;
}

}  // namespace

void scatter_bytes(array_core& array, const void* source) {
  overwrite(array, "scatter", [&](device_context& context, const array_block& block) {
    auto* const from = static_cast<std::byte*>(const_cast<void*>(source)) +
                       static_cast<std::size_t>(block.range.begin) * array.element_bytes;
    transfer(context, array.address(block, block.range.begin), from, bytes_of(array, block),
             direction::to_array);
  });
}

void gather_bytes(array_core& array, void* target) {
  run_step(*array.core,
           step_of(array, "gather",
                   [&](device_context& context, const array_block& block) {
                     auto* const to = static_cast<std::byte*>(target) +
                                      static_cast<std::size_t>(block.range.begin) * array.element_bytes;
                     transfer(context, array.address(block, block.range.begin), to, bytes_of(array, block),
                              direction::from_array);
                   }),
           "gather");
  if (const auto error = array.failed.get()) std::rethrow_exception(error);
}

void fill_bytes(array_core& array, const void* pattern) {
  const std::size_t elements = std::max<std::size_t>(1, piece_bytes / array.element_bytes);
  overwrite(array, "fill", [&](device_context& context, const array_block& block) {
    const auto size = static_cast<std::size_t>(block.range.size());
    std::vector<std::byte> piece(std::min(elements, size) * array.element_bytes);
    for (std::size_t at = 0; at < piece.size(); at += array.element_bytes) {
      std::memcpy(piece.data() + at, pattern, array.element_bytes);
    }
    for (std::size_t done = 0; done < size; done += elements) {
      const std::size_t here = std::min(elements, size - done) * array.element_bytes;
      transfer(context, array.address(block, block.range.begin) + done * array.element_bytes, piece.data(),
               here, direction::to_array);
    }
    context.sync();  // the piece goes
  });
}

void set_bytes(replicated_core& all, const void* value) {
  step next;
  next.label = "replicated::set";
  for (std::size_t k = 0; k < all.values.size(); ++k) {
    next.parts.push_back({k,
                          [&all, k, value](device_context& context) {
                            transfer(context, all.values[k].data(), const_cast<void*>(value), all.bytes,
                                     direction::to_array);
                          },
                          {}});
  }
  run_step(*all.core, std::move(next), "replicated::set");
  all.failed.clear();
}

void get_bytes(replicated_core& all, void* value) {
  step next;
  next.label = "replicated::get";
  next.parts.push_back({0,
                        [&all, value](device_context& context) {
                          transfer(context, all.values[0].data(), value, all.bytes, direction::from_array);
                        },
                        {}});
  run_step(*all.core, std::move(next), "replicated::get");
  if (const auto error = all.failed.get()) std::rethrow_exception(error);
}

}  // namespace heddle::detail
