// SPDX-License-Identifier: Apache-2.0
// items KIND N: N items of a kind, on one host device, and nothing that depends on who is faster: the device
// stands still until all are submitted, and nobody waits for one of them. Or N short loops, on two.
// per_item.sh runs it with N and 2 N, so that what both runs have in common cancels out. `allocations` prints
// how often memory was asked for meanwhile.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <future>
#include <new>
#include <numeric>
#include <string>
#include <vector>

#include "heddle/heddle.hpp"

namespace {
std::atomic<long> allocations{0};  // publishes nothing: a count

void* allocate(std::size_t bytes, std::size_t alignment) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  void* const memory = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  return memory != nullptr ? memory : throw std::bad_alloc();
}
}  // namespace

// Not to be inlined: g++ 12 would take a pointer from aligned_alloc for one that the other operator has to
// free.
[[gnu::noinline]] void* operator new(std::size_t bytes) { return allocate(bytes, alignof(std::max_align_t)); }
[[gnu::noinline]] void* operator new(std::size_t bytes, std::align_val_t a) {
  return allocate(bytes, static_cast<std::size_t>(a));
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}

namespace {

using heddle::future;
using heddle::scheduler;

/// Keeps the device in an item for its life.
class standstill {
 public:
  explicit standstill(scheduler& s) {
    std::promise<void> entered;
    auto is_in = entered.get_future();
    held_ = s.submit([&entered, leave = leave_.get_future().share()] {
      entered.set_value();
      leave.wait();
    });
    is_in.wait();
  }
  standstill(const standstill&) = delete;
  standstill& operator=(const standstill&) = delete;
  ~standstill() { leave_.set_value(); }

 private:
  std::promise<void> leave_;
  future<void> held_;
};

long plain(scheduler& s, int n) {
  std::atomic<long> sum{0};
  {
    const standstill until_all_are_there(s);
    for (int k = 0; k < n; ++k) (void)s.submit([&] { sum.fetch_add(1, std::memory_order_relaxed); });
  }
  s.drain();
  return sum.load();
}

long with_results(scheduler& s, int n) {
  std::vector<future<int>> all;
  all.reserve(static_cast<std::size_t>(n));
  {
    const standstill until_all_are_there(s);
    for (int k = 0; k < n; ++k) all.push_back(s.submit([] { return 1; }));
  }
  s.drain();
  long sum = 0;
  for (auto& each : all) sum += each.get();
  return sum;
}

long in_a_batch(scheduler& s, int n) {
  std::atomic<long> sum{0};
  const auto item = [&] { sum.fetch_add(1, std::memory_order_relaxed); };
  {
    const standstill until_all_are_there(s);
    (void)s.submit_batch(std::vector(static_cast<std::size_t>(n), item));
  }
  s.drain();
  return sum.load();
}

long in_a_chain(scheduler& s, int n) {
  future<long> end;
  {
    const standstill until_all_are_there(s);
    end = s.submit([] { return 0L; });
    for (int k = 0; k < n; ++k) end = end.then([](long before) { return before + 1; });
  }
  s.drain();
  return end.get();
}

// Some calls of a loop that is known to be short are held up, on the device that its caller acts for, as when
// another process has the core: calls that come later are short again.
long in_short_loops(scheduler& s, int n) {
  std::atomic<bool> held_up{false};
  std::atomic<long> sum{0};
  const auto body = [&](std::int64_t i) {
    if (i == 0) sum.fetch_add(1, std::memory_order_relaxed);
    if (i > 0 || !held_up || heddle::this_device::id() != 0) return;
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(2);
    while (std::chrono::steady_clock::now() < until) {
    }
  };
  constexpr int some = 64;
  for (const bool now : {false, true}) {
    held_up = now;
    for (int k = 0; k < some; ++k) heddle::parallel_for(s, 1000, body);
  }
  held_up = false;
  for (int k = 0; k < n; ++k) heddle::parallel_for(s, 1000, body);
  return sum.load() - 2 * some;
}

long run(const std::string& kind, scheduler& s, int n) {
  if (kind == "plain") return plain(s, n);
  if (kind == "result") return with_results(s, n);
  if (kind == "batch") return in_a_batch(s, n);
  if (kind == "chain") return in_a_chain(s, n);
  if (kind == "loop") return in_short_loops(s, n);
  return -1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: items plain|result|batch|chain|loop N\n");
    return 2;
  }
  const int n = std::atoi(argv[2]);
  heddle::scheduler_options options;
  options.use = heddle::backend::host;
  options.host.devices = argv[1] == std::string("loop") ? 2 : 1;
  scheduler s(options);
  run(argv[1], s, n);  // what is kept from now on is there
  const long before = allocations.load();
  const long ran = run(argv[1], s, n);
  std::printf("allocations %ld\n", allocations.load() - before);
  return ran == n ? 0 : 1;
}
