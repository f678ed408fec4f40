// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <driver_types.h>
#include <vector_types.h>

#include <cstddef>
#include <map>
#include <vector>

namespace fake {

struct device;
struct stream;

/// What the runtime and the driver keep for each thread of the program.
struct thread_state {
  struct context_entry {
    device* dev;
    bool pushed;  // by cuCtxPushCurrent; otherwise bound by cudaSetDevice, cuCtxSetCurrent or the runtime
                  // itself
  };
  struct launch_configuration {
    dim3 grid, block;
    std::size_t shared_bytes;
    cudaStream_t stream;
  };

  unsigned long epoch = 0;  // of the machine that this belongs to
  /// The driver's stack of contexts; its top is the current one. Empty: a null context.
  std::vector<context_entry> contexts;
  int chosen = 0;  // the device of a thread without context
  cudaError_t last = cudaSuccess;
  bool in_callback = false;
  cudaStreamCaptureMode capture_mode = cudaStreamCaptureModeGlobal;
  int own_captures = 0;  // begun here, not relaxed
  std::vector<launch_configuration> configurations;
  std::map<device*, stream*> per_thread;

  /// Null with a null context.
  device* top() const { return contexts.empty() ? nullptr : contexts.back().dev; }
  int current_device() const;
  void bind(device& to);
  stream* per_thread_stream(device& on);
};

/// The calling thread's, fresh after a reset.
thread_state& self();

}  // namespace fake
