// SPDX-License-Identifier: Apache-2.0
// Every call that heddle makes of CUDA fails once, one after the other: nothing may leak, hang or be lost.
#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "support/counted.hpp"
#include "support_cuda/double_machine.hpp"

namespace heddle::test {
namespace {

class FaultSweep : public cuda_double {
 protected:
  // A bit of everything; what fails may throw heddle's errors.
  static void use(const scheduler_options& chosen) {
    scheduler sched(chosen);
    std::vector<int> numbers(100, 5);
    std::vector<int> back(100);
    std::vector<future<void>> all;
    std::exception_ptr refused;
    try {
      device_buffer<int> kept(sched, 0, 100);
      all.push_back(sched.submit([&](device_context& c) { c.copy(kept, numbers); }, route::on(0)));
      all.back().wait();
      all.push_back(sched.submit(
          [&, alive = counted()](device_context& c) {
            const device_buffer<int> mine(c, 100);
            const pinned_buffer<int> pinned(c, 100);
            c.copy(mine, kept);
            c.copy(pinned, mine);
            c.enqueue([&c] { (void)c; });
            c.copy(mine, numbers);
            c.stream(1).wait(c.record());
            c.join(c.stream(1));
          },
          route::on(1)));
      all.push_back(all.back().then_on_stream([](device_context& c) { c.enqueue([] {}); }));
      all.push_back(sched.submit(
          [alive = counted()](device_context& c) {
            (void)c.scratch<int>(10);
            (void)c.native_stream();
            c.sync();
          },
          route::on(0)));
      for (auto& each : all) {
        if (each.valid()) each.wait();
      }
    } catch (const error&) {
      refused = std::current_exception();
      sched.drain();
    }
    for (auto& each : all) {
      if (each.valid()) {
        EXPECT_TRUE(each.ready());
        each.get();
      }
    }
    if (refused) std::rethrow_exception(refused);
  }
};

// How often each function of CUDA is called by `use`.
std::map<std::string, long> calls_of(const std::function<void()>& use) {
  std::map<std::string, long> calls;
  fakecuda_log(1);
  use();
  fakecuda_log_entry_t entry{};
  for (long k = 0; fakecuda_log_entry(k, &entry) != 0; ++k) ++calls[entry.api];
  fakecuda_log(0);
  return calls;
}

bool releases(const std::string& name) {
  for (const char* part : {"Destroy", "Free", "Release", "PopCurrent"}) {
    if (name.find(part) != std::string::npos) return true;
  }
  return false;
}

TEST_F(FaultSweep, OfEachCallInTurnLeaksNothingAndEndsEveryItem) {
  auto chosen = gpus({0, 1});
  chosen.on_error = [](const error_event&) {};
  int sweeps = 0;
  int thrown = 0;
  for (const auto& [name, count] : calls_of([&] { use(chosen); })) {
    if (releases(name) || name == "cudaPeekAtLastError" || name == "cudaGetLastError") continue;
    const long most = 20;  // a slow machine polls more often
    for (long k = 0; k < std::min(count, most); ++k, ++sweeps) {
      const testing::ScopedTrace trace(__FILE__, __LINE__, name + ", call " + std::to_string(k) + " fails");
      machine(4);
      fakecuda_inject(name.c_str(), -1, k, 1, cudaErrorUnknown);
      try {
        use(chosen);
      } catch (const error&) {
        ++thrown;
      }
      fakecuda_clear_injections();
      // A thread that cannot enter the context cannot free what is there.
      if (name != "cuCtxPushCurrent") expect_clean_double(4, {0, 1});
      ASSERT_EQ(counted::living(), 0);
      ASSERT_FALSE(HasFailure());
    }
  }
  EXPECT_GT(sweeps, 50);
  EXPECT_GT(thrown, sweeps / 5) << "most of these calls matter";
}

TEST_F(FaultSweep, OfACudaThatIsGoneAlreadyHarmsNoDestructor) {
  leave_unchecked();
  {
    scheduler sched(gpus({0, 1}));
    device_buffer<int> buffer(sched, 0, 10);
    pinned_buffer<int> pinned(sched, 1, 10);
    sched.submit([](device_context& c) { (void)c.scratch<int>(10); }).get();
    fakecuda_unloading(1);
  }
  fakecuda_unloading(0);
}

}  // namespace
}  // namespace heddle::test
