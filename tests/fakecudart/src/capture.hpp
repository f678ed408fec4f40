// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <driver_types.h>

#include <atomic>
#include <map>
#include <memory>
#include <thread>
#include <vector>

#include "task.hpp"

namespace fake {

struct device;
struct stream;
struct event;

/// The recorded operations of a graph in the order in which the program issued them. That order is one valid
/// topological order of the real graph, so a replay in line gives the same results.
struct graph_body {
  std::vector<op> ops;
};

struct graph {
  std::shared_ptr<graph_body> body;
  int device = 0;
};
struct graph_exec {
  std::shared_ptr<graph_body> body;
  int device = 0;
};

/// A capture under way. Used by the threads that issue work to its streams, one at a time.
struct capture {
  capture(stream& from, cudaStreamCaptureMode how, unsigned long long number)
      : origin(from), mode(how), id(number), owner(std::this_thread::get_id()) {}

  stream& origin;
  const cudaStreamCaptureMode mode;
  const unsigned long long id;
  const std::thread::id owner;
  std::atomic<bool> broken{false};
  std::shared_ptr<graph_body> body = std::make_shared<graph_body>();

  void record(stream& on, op what);
  void note_event(stream& on, event& into);
  /// `on` records from here on, or is joined with the stream of the event.
  void wait_event(stream& on, const event& from);
  bool all_joined() const;

 private:
  struct branch {
    std::size_t recorded = 0;
    bool joined = false;
  };
  std::map<stream*, branch> branches_;  // without the origin
};

/// Whether calls that may synchronise are forbidden to this thread by a capture; then the misuse is noted and
/// the captures concerned are invalid.
bool capture_forbids(const char* api);

}  // namespace fake
