// SPDX-License-Identifier: Apache-2.0
#include "driver/cuda_driver.hpp"

#include <algorithm>
#include <string>
#include <thread>
#include <utility>

#include "driver/cuda_devices.hpp"
#include "driver/cuda_error.hpp"
#include "driver/numa_binding.hpp"
#include "heddle/error.hpp"

namespace heddle::detail {

namespace {

constexpr std::size_t events_at_start = 8;  // per stream: marks in flight, and some for records of items

[[noreturn]] void refuse_context(int id, const char* call) {
  throw device_error(id, call, "the device's context cannot be made current on this thread");
}

}  // namespace

std::shared_ptr<driver> make_cuda_driver(std::vector<device_info> devices, std::weak_ptr<error_sink> sink) {
  return std::make_shared<cuda_driver>(std::move(devices), std::move(sink));
}

cuda_driver::cuda_driver(std::vector<device_info> devices, std::weak_ptr<error_sink> sink) {
  for (auto& info : devices) {
    devices_.push_back(std::make_unique<device_state>());
    devices_.back()->info = std::move(info);
  }
  peers_.emplace(*this, std::move(sink));
}

cuda_driver::~cuda_driver() {
  for (const auto& each : devices_) release(*each);
}

void cuda_driver::bind(int device, int streams) {
  auto& state = at(device);
  if (state.info.numa_node) bind_to_numa_node(*state.info.numa_node);
  try {
    make_device(state, streams);
  } catch (...) {
    unbind(device);
    release(state);
    throw;
  }
}

void cuda_driver::make_device(device_state& state, int streams) {
  const int id = state.info.id;
  const int cuda_device = *state.info.cuda_device;
  check_cuda(cudaSetDevice(cuda_device), "cudaSetDevice", id);
  state.context.emplace(cuda_device, id);
  // Captures of other code of the process do not concern the calls of this thread, nor these calls them.
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  check_cuda(cudaThreadExchangeStreamCaptureMode(&mode), "cudaThreadExchangeStreamCaptureMode", id);
  state.memory.emplace(cuda_device, id);
  open_to_peers(state);
  check_cuda(cudaStreamCreateWithFlags(&state.memory_stream, cudaStreamNonBlocking),
             "cudaStreamCreateWithFlags", id);
  state.events.emplace(id);
  state.events->reserve(events_at_start * static_cast<std::size_t>(streams));
  int least = 0;
  int greatest = 0;  // a smaller number goes first
  check_cuda(cudaDeviceGetStreamPriorityRange(&least, &greatest), "cudaDeviceGetStreamPriorityRange", id);
  state.urgent = streams > 1 && greatest < least ? streams - 1 : -1;
  for (int k = 0; k < streams; ++k) {
    const int priority = k == state.urgent ? greatest : least;
    state.streams.push_back(std::make_unique<cuda_stream>(id, k, priority, *state.events));
  }
}

// Only to devices of this scheduler: no other may get a context.
void cuda_driver::open_to_peers(device_state& state) {
  for (const auto& other : devices_) {
    const auto& reachable = other->info.peers;
    if (std::find(reachable.begin(), reachable.end(), *state.info.cuda_device) == reachable.end()) continue;
    state.memory->open_to(*other->info.cuda_device);
  }
}

void cuda_driver::unbind(int device) noexcept {
  auto& state = at(device);
  state.streams.clear();
  state.events.reset();
}

// What is kept for later. Any context may be current.
void cuda_driver::free_pinned(device_state& state) noexcept {
  for (const auto& [kind, pieces] : state.pinned.clear()) {
    for (void* const memory : pieces) clear_own_error(cudaFreeHost(memory));
  }
}

// On any thread, and when the process ends, when CUDA may be gone already.
void cuda_driver::release(device_state& state) noexcept {
  if (!state.context) return;
  if (const cuda_scope scope(*state.context); scope) {
    free_pinned(state);
    if (state.memory_stream != nullptr) clear_own_error(cudaStreamDestroy(state.memory_stream));
    state.memory_stream = nullptr;
    state.memory.reset();
  }
  state.context.reset();
}

bool cuda_driver::enter(int device) noexcept {
  const auto& context = at(device).context;
  return context && context->push();
}

void cuda_driver::leave(int device) noexcept { at(device).context->pop(); }

bool cuda_driver::still_current(int device) noexcept {
  const auto& state = at(device);
  if (state.context->is_current()) return true;
  clear_own_error(cudaSetDevice(*state.info.cuda_device));
  return false;
}

void cuda_driver::copy(stream_id id, void* target, const void* source, std::size_t bytes) {
  if (bytes == 0) return;
  auto& stream = at(id);
  const int heddle_id = at(id.device).info.id;
  stream.issue(operation([=, native = stream.native()] {
    check_cuda(cudaMemcpyAsync(target, source, bytes, cudaMemcpyDefault, native),
               "cudaMemcpyAsync of " + std::to_string(bytes) + " bytes", heddle_id);
  }));
}

void cuda_driver::copy_between(stream_id id, int to_device, void* target, int from_device, const void* source,
                               std::size_t bytes) {
  if (bytes == 0) return;
  auto& stream = at(id);
  const cuda_peers::end to_end{to_device, at(to_device).memory_stream};
  const cuda_peers::end from_end{from_device, at(from_device).memory_stream};
  if (!peers_->may_copy(to_end, from_end)) {
    return stream.enqueue(
        operation([=, this] { peers_->copy_through_host(to_end, target, from_end, source, bytes); }));
  }
  const int heddle_id = at(id.device).info.id;
  const int to = *at(to_device).info.cuda_device;
  const int from = *at(from_device).info.cuda_device;
  stream.issue(operation([=, native = stream.native()] {
    check_cuda(cudaMemcpyPeerAsync(target, to, source, from, bytes, native),
               "cudaMemcpyPeerAsync of " + std::to_string(bytes) + " bytes", heddle_id);
  }));
}

void* cuda_driver::native_stream(stream_id id) {
  auto& stream = at(id);
  while (stream.holds_back()) {
    if (!advance(id.device)) std::this_thread::yield();  // behind the device's own work, or another stream's
  }
  return stream.expose();
}

bool cuda_driver::advance(int device) {
  bool progressed = false;
  for (const auto& each : at(device).streams) {
    if (each->holds_back() && each->advance()) progressed = true;
  }
  return progressed;
}

void* cuda_driver::allocate(stream_id id, std::size_t bytes) {
  auto& state = at(id.device);
  try {
    return state.memory->allocate(bytes, at(id).native_for_allocation());
  } catch (const out_of_device_memory&) {
    settle(state);  // what was freed a moment ago on another stream may do
  }
  return state.memory->allocate(bytes, at(id).native_for_allocation());
}

void cuda_driver::settle(device_state& state) noexcept {
  for (const auto& each : state.streams) each->settle();
  clear_own_error(cudaStreamSynchronize(state.memory_stream));
}

void cuda_driver::deallocate(stream_id id, void* memory, std::size_t) noexcept {
  auto& state = at(id.device);
  const cudaStream_t native = at(id).native();
  try {
    at(id).clean_up(operation([&state, memory, native] { state.memory->deallocate(memory, native); }));
  } catch (...) {  // no memory for the operation
    state.memory->deallocate(memory, native);
  }
}

void* cuda_driver::allocate(int device, std::size_t bytes) {
  auto& state = at(device);
  const cuda_scope scope(*state.context);
  if (!scope) refuse_context(state.info.id, "cudaMallocFromPoolAsync");
  void* const memory = state.memory->allocate(bytes, state.memory_stream);
  // Nothing that lasts is ever on this stream: it is done soon, and then every stream may use the memory.
  const cudaError_t status = cudaStreamSynchronize(state.memory_stream);
  if (status != cudaSuccess) state.memory->deallocate(memory, state.memory_stream);
  check_cuda(status, "cudaStreamSynchronize", state.info.id);
  return memory;
}

void cuda_driver::deallocate(int device, void* memory, std::size_t) noexcept {
  auto& state = at(device);
  if (const cuda_scope scope(*state.context); scope) state.memory->deallocate(memory, state.memory_stream);
}

void* cuda_driver::allocate_for(int device, void* native_stream, std::size_t bytes) {
  auto& state = at(device);
  const cuda_scope scope(*state.context);
  if (!scope) refuse_context(state.info.id, "cudaMallocFromPoolAsync");
  return state.memory->allocate(bytes, static_cast<cudaStream_t>(native_stream));
}

void cuda_driver::deallocate_for(int device, void* native_stream, void* memory, std::size_t) noexcept {
  auto& state = at(device);
  if (const cuda_scope scope(*state.context); scope) {
    state.memory->deallocate(memory, static_cast<cudaStream_t>(native_stream));
  }
}

void* cuda_driver::allocate_pinned(int device, std::size_t bytes) {
  auto& state = at(device);
  const int node = state.info.numa_node.value_or(-1);
  if (void* const kept = state.pinned.take(node, bytes)) return kept;
  const cuda_scope scope(*state.context);
  if (!scope) refuse_context(state.info.id, "cudaHostAlloc");
  void* memory = nullptr;
  const numa_memory_preference preference(node);
  const auto try_it = [&] {
    return cudaHostAlloc(&memory, pinned_pool::rounded(bytes), cudaHostAllocPortable);
  };
  cudaError_t status = try_it();
  if (status == cudaErrorMemoryAllocation) {
    clear_own_error(status);
    for (const auto& each : devices_) free_pinned(*each);
    status = try_it();
  }
  const std::string call = "cudaHostAlloc of " + std::to_string(bytes) + " bytes";
  if (status == cudaErrorMemoryAllocation) {
    clear_own_error(status);
    throw out_of_device_memory(state.info.id, call,
                               cuda_text(status) +
                                   "; the host has no more memory that may be pinned; use smaller "
                                   "pieces",
                               static_cast<int>(status), cudaGetErrorName(status));
  }
  check_cuda(status, call, state.info.id);
  return memory;
}

void cuda_driver::deallocate_pinned(int device, void* memory, std::size_t bytes) noexcept {
  auto& state = at(device);
  try {
    state.pinned.give_back(state.info.numa_node.value_or(-1), memory, bytes);
  } catch (...) {  // no memory for the list
    if (const cuda_scope scope(*state.context); scope) clear_own_error(cudaFreeHost(memory));
  }
}

}  // namespace heddle::detail
