// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

/// Every error that heddle itself throws. Each message is one sentence that names what was refused and what
/// to do about it. Exceptions of the user's own callables are never wrapped: they arrive as they were thrown.
namespace heddle {

/// Root of all errors of heddle.
class error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// An option, environment variable, route or argument has a value that heddle cannot accept.
class invalid_option : public error {
 public:
  using error::error;
};

/// No device could be started; the message holds the reason of each one.
class no_device : public error {
 public:
  using error::error;
};

/// An operation failed on one device.
class device_error : public error {
 public:
  /// `device`: heddle's gpu id. `operation`: the call that failed. `reason`: why, as a sentence part. `code`
  /// and `name`: the backend's own, such as 700 and "cudaErrorIllegalAddress"; 0 and empty where it has none.
  device_error(int device, std::string operation, const std::string& reason, int code = 0,
               std::string name = {})
      : error(operation + " on device " + std::to_string(device) + ": " + reason),
        device_(device),
        code_(code),
        operation_(std::move(operation)),
        name_(std::move(name)) {}

  /// The gpu id of the device.
  int device() const noexcept { return device_; }
  /// The operation that failed, with its size where it has one.
  const std::string& operation() const noexcept { return operation_; }
  /// The backend's error code; 0 where there is none.
  int code() const noexcept { return code_; }
  /// The backend's name of the code; empty where there is none.
  const std::string& name() const noexcept { return name_; }

 private:
  int device_, code_;
  std::string operation_, name_;
};

/// A device has not enough memory left for one allocation; only the item that asked for it fails.
class out_of_device_memory : public device_error {
 public:
  using device_error::device_error;
};

/// The scheduler takes no more work: it was closed, joined or destroyed.
class scheduler_stopped : public error {
 public:
  using error::error;
};

/// The item was cancelled before it started.
class cancelled : public error {
 public:
  using error::error;
};

/// The item did not start before the deadline of its route.
class deadline_exceeded : public error {
 public:
  using error::error;
};

/// The queue holds as many unstarted items as its capacity allows, and the submitter may not wait for room.
class queue_full : public error {
 public:
  using error::error;
};

/// A wait that could never end: what it waits for needs the very thread, stream or queue that the waiter
/// holds.
class would_deadlock : public error {
 public:
  using error::error;
};

/// The process is a child, by fork, of a process that made a scheduler; nothing of heddle works here.
class forked_process : public error {
 public:
  using error::error;
};

/// The calling thread acts for no device.
class not_on_a_device : public error {
 public:
  using error::error;
};

/// A loop body that a compiler without device code made cannot run on a GPU.
class no_device_code : public error {
 public:
  using error::error;
};

/// What no future carries: an error that nobody took, a failure while something was destroyed.
struct error_event {
  std::exception_ptr error;   ///< never null
  std::optional<int> device;  ///< gpu id, where one is known
  std::string label;          ///< the item's label; empty if it had none
  std::string message;        ///< one sentence, ready to be logged
};

}  // namespace heddle
