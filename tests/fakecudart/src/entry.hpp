// SPDX-License-Identifier: Apache-2.0
#pragma once

// What every exported call goes through: it is counted and logged, refused where the state of the process or
// a test's injection says so, and its error lands in the thread's slot.

#include <cuda_runtime_api.h>

#include <algorithm>
#include <atomic>
#include <cstddef>

#include "contexts.hpp"
#include "device.hpp"
#include "machine.hpp"
#include "stream.hpp"
#include "thread_state.hpp"

namespace fake {

/// One per exported call. Counting is a relaxed add: it must not order the threads that call.
struct api_entry {
  const char* name;
  std::atomic<long> calls{0};
  std::atomic<bool> listed{false};
  api_entry* next = nullptr;
};

template <std::size_t N>
struct api_name {
  consteval api_name(const char (&given)[N]) { std::copy_n(given, N, text); }  // NOLINT: meant to be implicit
  char text[N] = {};
};
template <api_name Name>
inline constinit api_entry entry_of{Name.text};

/// cudaSuccess, or why the call is refused.
cudaError_t enter(api_entry& entry);
/// The part of enter() that also holds for cudaGetLastError.
cudaError_t process_state();
/// Notes a status in the calling thread's last-error slot and hands it on.
cudaError_t fail(cudaError_t status);

long calls_of(const char* name);
void clear_calls();

/// A line in the file that FAKECUDA_TRACE names, printf style.
[[gnu::format(printf, 1, 2)]] void trace(const char* format, ...);

/// A call that needs no context.
template <api_name Name, class Body>
cudaError_t call(Body body) {
  if (const cudaError_t refused = enter(entry_of<Name>)) return fail(refused);
  return fail(body());
}

/// A call that needs a current context, and makes device 0's primary one if the thread has none.
template <api_name Name, class Body>
cudaError_t call_on_device(Body body) {
  return call<Name>([&]() -> cudaError_t {
    device* current = nullptr;
    if (const cudaError_t status = current_context(current)) return status;
    return body(*current);
  });
}

/// A call on a stream, which may belong to another device than the current one.
template <api_name Name, class Body>
cudaError_t call_on_stream(cudaStream_t handle, Body body) {
  return call_on_device<Name>([&](device& current) -> cudaError_t {
    stream* const named = stream_of(handle, current);
    if (named == nullptr) return cudaErrorInvalidResourceHandle;
    if (const cudaError_t status = named->dev.sticky_error()) return status;
    return body(*named, current);
  });
}

}  // namespace fake
