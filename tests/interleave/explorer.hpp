// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace heddle::interleave {

/// One program of a few threads, to be run in every order. `bodies` are the threads; what they share is
/// reached through stepped_word.hpp. `at_end` runs when all have ended, and may call `fail`, as they may.
struct program {
  std::vector<std::function<void()>> bodies;
  std::function<void()> at_end;
};

/// What `explore` has seen. An interleaving that went wrong is the last.
struct findings {
  std::uint64_t interleavings = 0;
  std::string failure;  // empty: none; else what went wrong, and each step that led there
};

/// Runs a new program from `make` in each order in which its threads can take their steps with at most
/// `preemptions` switches away from a thread that could go on (context bounding: Musuvathi and Qadeer, PLDI
/// 2007), and ends with the first one that fails. The threads are logical ones, that take turns on the
/// calling thread.
///
/// A step is one access to a `stepped` word and what follows it up to the next: orders are sequentially
/// consistent, whatever the memory orders asked for. What weaker orders, and accesses to anything else, may
/// do is for the thread sanitizer to find.
findings explore(int preemptions, const std::function<program()>& make);

/// What a logical thread did in one step of the interleaving that runs.
struct step {
  std::size_t thread;
  const char* what;
  const void* word;
  std::uint64_t before, after;
};

// For what the threads share; only while `explore` runs.
/// Another thread may come first: called before each access.
void come_to_step();
/// Notes what the access did.
void note(const char* what, const void* word, std::uint64_t before, std::uint64_t after);
/// Sleeps until `wake_all` for the same word; false if it was woken without: by a time limit if it
/// `has_limit`, else without cause. Either counts as a preemption while others could go on.
bool sleep_on(const void* word, bool has_limit);
void wake_all(const void* word);
/// True in one of two runs: something that may happen; counts as a preemption.
bool may_happen();
/// The interleaving that runs is wrong.
void fail(const std::string& why);
/// The logical thread that runs.
std::size_t this_thread();
const std::vector<step>& steps();

}  // namespace heddle::interleave
