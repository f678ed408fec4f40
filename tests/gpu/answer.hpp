// SPDX-License-Identifier: Apache-2.0
// What the questions of gpu_facts have in common. Each question runs in a process of its own.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <chrono>
#include <functional>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace heddle::facts {

/// Adds to this process's answer, which is one line; printed at once, so that a crash keeps what was said.
void say(const std::string& part);
/// The same, in pieces that are made in this order, which those of a sum need not be.
void say(std::initializer_list<std::string> pieces);

/// "700 cudaErrorIllegalAddress", or "ok".
std::string text(cudaError_t status);
std::string text(CUresult status);

/// For what is no part of the question: ends the process with "not answered: CALL: …" unless it is success.
void must(cudaError_t status, const char* call);

/// Calls and what became of them, told as "ok: a b; 700 …: c d".
class outcomes {
 public:
  void add(const std::string& call, const std::string& result);
  void add(const std::string& call, cudaError_t status) { add(call, text(status)); }
  void add(const std::string& call, CUresult status) { add(call, text(status)); }
  std::string summary() const;

 private:
  std::vector<std::pair<std::string, std::string>> by_result_;  // result, calls
};

/// A function of libcuda, by its name; null where there is none.
void* try_entry_point(const char* name);
template <class Function>
Function* try_entry(const char* name) {
  return reinterpret_cast<Function*>(try_entry_point(name));
}
/// The same; ends the process where there is none.
void* entry_point(const char* name);
template <class Function>
Function* entry(const char* name) {
  return reinterpret_cast<Function*>(entry_point(name));
}

using microseconds = std::chrono::duration<double, std::micro>;
microseconds time_of(const std::function<void()>& work);
/// "median 3.1 us, 99 % 7.2 us" of what `work` measures, `count` times after a tenth as many to warm up.
std::string spread(int count, const std::function<microseconds()>& work);
std::string shown(microseconds time);

cudaStream_t new_stream();
cudaEvent_t new_event();

struct question {
  const char* name;  ///< for --ask
  const char* text;
  void (*answer)();
};
/// The questions of each file.
std::vector<question> fault_questions();
std::vector<question> stream_questions();
std::vector<question> memory_questions();
std::vector<question> cost_questions();
std::vector<question> context_questions();
std::vector<question> process_questions();

}  // namespace heddle::facts
