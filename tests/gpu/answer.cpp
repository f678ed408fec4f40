// SPDX-License-Identifier: Apache-2.0
#include "answer.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace heddle::facts {

void say(const std::string& part) {
  static bool first = true;
  std::printf("%s%s", first ? "" : "; ", part.c_str());
  std::fflush(stdout);
  first = false;
}

void say(std::initializer_list<std::string> pieces) {
  std::string all;
  for (const std::string& piece : pieces) all += piece;
  say(all);
}

std::string text(cudaError_t status) {
  if (status == cudaSuccess) return "ok";
  return std::to_string(static_cast<int>(status)) + " " + cudaGetErrorName(status);
}

std::string text(CUresult status) {
  return status == CUDA_SUCCESS ? "ok" : "CUresult " + std::to_string(static_cast<int>(status));
}

void must(cudaError_t status, const char* call) {
  if (status == cudaSuccess) return;
  say(std::string("not answered: ") + call + ": " + text(status));
  std::_Exit(3);
}

void outcomes::add(const std::string& call, const std::string& result) {
  const auto same = [&](const auto& each) { return each.first == result; };
  const auto found = std::find_if(by_result_.begin(), by_result_.end(), same);
  if (found == by_result_.end()) {
    by_result_.emplace_back(result, call);
  } else {
    found->second += " " + call;
  }
}

std::string outcomes::summary() const {
  std::string all;
  for (const auto& [result, calls] : by_result_) {
    if (!all.empty()) all += "; ";
    all += result;
    all += ": ";
    all += calls;
  }
  return all;
}

void* try_entry_point(const char* name) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
  const auto status = cudaGetDriverEntryPointByVersion(name, &function, 12000, cudaEnableDefault, &found);
  return status == cudaSuccess && found == cudaDriverEntryPointSuccess ? function : nullptr;
}

void* entry_point(const char* name) {
  void* const function = try_entry_point(name);
  if (function != nullptr) return function;
  say(std::string("not answered: there is no ") + name);
  std::_Exit(3);
}

microseconds time_of(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::steady_clock::now() - begin;
}

std::string shown(microseconds time) {
  char line[32];
  if (time.count() < 10'000) {
    std::snprintf(line, sizeof line, "%.2f us", time.count());
  } else {
    std::snprintf(line, sizeof line, "%.1f ms", time.count() / 1000);
  }
  return line;
}

std::string spread(int count, const std::function<microseconds()>& work) {
  for (int k = 0; k < count / 10; ++k) (void)work();
  std::vector<microseconds> times;
  for (int k = 0; k < count; ++k) times.push_back(work());
  std::sort(times.begin(), times.end());
  return "median " + shown(times[times.size() / 2]) + ", 99 % " + shown(times[times.size() * 99 / 100]);
}

cudaStream_t new_stream() {
  cudaStream_t made = nullptr;
  must(cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  return made;
}

cudaEvent_t new_event() {
  cudaEvent_t made = nullptr;
  must(cudaEventCreateWithFlags(&made, cudaEventDisableTiming), "cudaEventCreateWithFlags");
  return made;
}

}  // namespace heddle::facts
