// SPDX-License-Identifier: Apache-2.0
#include "heddle/device_context.hpp"

#include <string>
#include <thread>
#include <utility>

#include "device/device_allocation.hpp"
#include "device/device_group.hpp"
#include "device/device_thread.hpp"
#include "device/item_frame.hpp"
#include "heddle/detail/device_allocation.hpp"
#include "heddle/error.hpp"
#include "heddle/this_device.hpp"
#include "work/current.hpp"
#include "work/fork_guard.hpp"

namespace heddle {

namespace {

void refuse_in_arena(const detail::item_frame& frame, const char* what) {
  if (frame.stream >= 0) return;
  throw invalid_option(std::string("an item routed in_arena has no ") + what +
                       ": route it to the device thread, or continue it there with future::then");
}

// The tokens of the route and of the scheduler, as one.
struct joined_stop {
  explicit joined_stop(std::stop_token first, std::stop_token second)
      : from_first(std::move(first), stop_source{&source}),
        from_second(std::move(second), stop_source{&source}) {}
  struct stop_source {
    std::stop_source* target;
    void operator()() const { target->request_stop(); }
  };
  std::stop_source source;
  std::stop_callback<stop_source> from_first, from_second;
};

}  // namespace

int device_context::id() const noexcept { return frame_.device.identity().info.id; }
const device_info& device_context::info() const noexcept { return frame_.device.identity().info; }
std::string device_context::label() const { return detail::label_of(frame_.running); }
tbb::task_arena& device_context::arena() const noexcept { return frame_.device.arena(); }
int device_context::stream_count() const noexcept { return frame_.device.streams(); }

std::stop_token device_context::stop_token() const {
  detail::refuse_in_forked_child("device_context::stop_token");
  auto scheduler_wide = frame_.group.stop_token(frame_.running.ticket);
  const auto& extras = frame_.running.extras;
  if (!extras || !extras->stop.stop_possible()) return scheduler_wide;
  auto both = std::make_unique<joined_stop>(extras->stop, std::move(scheduler_wide));
  auto token = both->source.get_token();
  detail::keep_until_done(frame_, detail::operation([both = std::move(both)] {}));
  return token;
}

stream device_context::stream() const {
  detail::refuse_in_forked_child("device_context");
  refuse_in_arena(frame_, "stream");
  return heddle::stream(frame_.device, frame_.stream);
}

stream device_context::stream(int index) const {
  detail::refuse_in_forked_child("device_context");
  refuse_in_arena(frame_, "stream");
  if (index < 0 || index >= stream_count()) {
    throw invalid_option("stream " + std::to_string(index) + " of device " + std::to_string(id()) +
                         ": it has streams 0 to " + std::to_string(stream_count() - 1) +
                         "; scheduler_options::streams_per_device sets how many");
  }
  frame_.touched |= std::uint64_t{1} << index;
  return heddle::stream(frame_.device, index);
}

void* device_context::native_stream() const {
  detail::refuse_in_forked_child("device_context::native_stream");
  refuse_in_arena(frame_, "stream");
  void* const native = frame_.group.seam->native_stream(frame_.device.stream(frame_.stream));
  if (native != nullptr) return native;
  throw invalid_option("native_stream() on host device " + std::to_string(id()) +
                       ": only CUDA devices have one; launch, copy and enqueue work on every device");
}

void device_context::sync() const {
  auto& device = frame_.device;
  auto& seam = *frame_.group.seam;
  const auto mine = device.stream(stream().index());
  const std::uint64_t mark =
      seam.record(mine, detail::mark_kind::end_of_item);  // told here: the item may go on
  std::optional<std::exception_ptr> end;
  while (!(end = seam.query(mine, mark))) {
    if (!seam.advance(mine.device)) std::this_thread::yield();  // another device's stream has to go on first
  }
  if (*end) std::rethrow_exception(*end);
}

event stream::record() const {
  refuse_elsewhere("stream::record");
  event e;
  const auto mine = device_->stream(index_);
  e.device_ = mine.device;
  e.index_ = mine.index;
  e.mark_ = device_->group().seam->record(mine, detail::mark_kind::event);
  e.serial_ = device_->group().serial;
  return e;
}

void stream::wait(const event& e) const {
  refuse_elsewhere("stream::wait");
  if (e.mark_ == 0) return;
  if (e.serial_ != device_->group().serial) {
    throw invalid_option(
        "an event of another scheduler: streams can wait for events of their own scheduler's devices; wait "
        "for a future "
        "instead");
  }
  device_->group().seam->order_after(device_->stream(index_), {e.device_, e.index_}, e.mark_);
}

namespace detail {
namespace {

// Ids say nothing between schedulers, where one may be two devices', and two one's.
bool is_memory_of(device_thread& device, const device_allocation& memory) noexcept {
  if (memory.owner() == nullptr) return false;
  const driver& seam = *device.group().seam;
  const int here = device.stream(0).device;
  if (memory.owner() == &seam) return memory.driver_device() == here;
  return memory.owner()->info(memory.driver_device()).uuid == seam.info(here).uuid;
}

[[noreturn]] void refuse_memory(const char* what, const device_allocation& memory, device_thread& device) {
  const int id = device.identity().info.id;
  if (memory.owner() == nullptr || memory.owner() == device.group().seam.get()) {
    const std::string its = std::to_string(memory.device());
    throw invalid_option(std::string(what) + " of device " + its + ", on a stream of device " +
                         std::to_string(id) + ": use it in an item of device " + its +
                         ", or copy it to a buffer of this one first");
  }
  throw invalid_option(std::string(what) + " of another scheduler, whose device " +
                       std::to_string(memory.device()) + " is " +
                       memory.owner()->info(memory.driver_device()).uuid + ", on a stream of device " +
                       std::to_string(id) + ", which is " + device.identity().info.uuid +
                       ": use it in items of its own scheduler, and go through host memory");
}

}  // namespace
}  // namespace detail

void device_context::join(const heddle::stream& other) const {
  wait(other.record());
  frame_.joined |= std::uint64_t{1} << other.index();
}

int stream::device_id() const noexcept { return device_->identity().info.id; }
bool stream::on_host() const noexcept { return device_->identity().info.kind == backend::host; }
int stream::multiprocessors() const noexcept { return device_->identity().info.multiprocessors; }

bool stream::runs_at_once() const {
  refuse_elsewhere("stream::enqueue");
  return device_->group().seam->runs_at_once(device_->stream(index_));
}

void stream::put(detail::operation work) const {
  device_->group().seam->enqueue(device_->stream(index_), std::move(work));
}

void stream::put_copy(void* target, const void* source, std::size_t bytes) const {
  refuse_elsewhere("stream::copy");
  device_->group().seam->copy(device_->stream(index_), target, source, bytes);
}

void stream::check_here(const char* what, const detail::device_allocation& memory) const {
  if (!detail::is_memory_of(*device_, memory)) detail::refuse_memory(what, memory, *device_);
}

void stream::put_copy_between(const detail::device_allocation& target,
                              const detail::device_allocation& source, std::size_t bytes) const {
  const bool to_here = detail::is_memory_of(*device_, target);
  const bool from_here = detail::is_memory_of(*device_, source);
  if (!to_here && !from_here) detail::refuse_memory("copy to a buffer", target, *device_);
  if (bytes == 0 || (to_here && from_here)) return put_copy(target.data(), source.data(), bytes);
  refuse_elsewhere("stream::copy");
  const detail::driver& seam = *device_->group().seam;
  if (target.owner() != &seam) detail::refuse_memory("copy to a buffer", target, *device_);
  if (source.owner() != &seam) detail::refuse_memory("copy from a buffer", source, *device_);
  device_->group().seam->copy_between(device_->stream(index_), target.driver_device(), target.data(),
                                      source.driver_device(), source.data(), bytes);
}

void* stream::native_for_issue() const {
  refuse_elsewhere("stream::issue");
  if (!on_host()) return device_->group().seam->native_handle(device_->stream(index_));
  throw invalid_option(
      "device " + std::to_string(device_id()) +
      " is a host device, which has no CUDA stream and no kernels: use launch, copy or enqueue, "
      "which work on every device");
}

void stream::put_issue(detail::operation work) const {
  device_->group().seam->issue(device_->stream(index_), std::move(work));
}

void stream::refuse_elsewhere(const char* call) const {
  detail::refuse_in_forked_child(call);
  if (detail::current().own == device_) return;
  const auto own = this_device::try_id();
  throw invalid_option(std::string(call) + " on stream " + std::to_string(index_) + " of device " +
                       std::to_string(device_id()) + " was called " +
                       (own ? "on a thread that acts for device " + std::to_string(*own) + " and is not its "
                            : std::string("on a thread that is not its ")) +
                       "device thread: a stream is for the thread of the item that asked for it");
}

namespace detail {

void keep_until_done(item_frame& frame, operation owner) {
  frame.running.kept = new kept_object{frame.running.kept, std::move(owner)};
}

void check_memory(const char* what, const device_allocation& memory, const item_frame& frame) {
  if (!is_memory_of(frame.device, memory)) refuse_memory(what, memory, frame.device);
}

void refuse_without_device_code(int id) {
  throw no_device_code(
      "the body launched on device " + std::to_string(id) +
      ", a GPU, was compiled without device code: compile the file that launches it with nvcc, and "
      "mark the body's operator() (or the lambda) HEDDLE_HOST_DEVICE");
}

void refuse_without_host_code(int id) {
  throw invalid_option("the body launched on host device " + std::to_string(id) +
                       " is a lambda marked __device__ alone, which does nothing on the host: mark it "
                       "HEDDLE_HOST_DEVICE, or choose CUDA devices");
}

void* allocate_scratch(item_frame& frame, std::size_t count, std::size_t element_bytes) {
  refuse_in_forked_child("device_context::scratch");
  refuse_in_arena(frame, "scratch memory");
  const std::size_t bytes = checked_bytes(frame.device.identity().info.id, count, element_bytes);
  if (bytes == 0) return nullptr;
  const stream_id on = frame.device.stream(frame.stream);
  driver& seam = *frame.group.seam;
  auto give_back = [&seam, on, bytes](void* memory) { seam.deallocate(on, memory, bytes); };
  std::unique_ptr<void, decltype(give_back)> owner(allocate_for_item(frame, bytes), give_back);
  void* const memory = owner.get();
  keep_until_done(frame, operation([owner = std::move(owner)] {}));
  return memory;
}

}  // namespace detail

}  // namespace heddle
