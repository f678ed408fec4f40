// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "support/error_log.hpp"
#include "support_cuda/double_machine.hpp"

namespace heddle::test {
namespace {

constexpr std::size_t several_pieces = (std::size_t{9} << 20) / sizeof(int) + 3;

class PeerCopies : public cuda_double {
 protected:
  /// What `numbers` are after they went from one device to another, by an item of the device `by`.
  static std::vector<int> sent(scheduler& sched, int from, int to, int by, const std::vector<int>& numbers) {
    std::vector<int> back(numbers.size());
    const device_buffer<int> source(sched, from, numbers.size());
    const device_buffer<int> target(sched, to, numbers.size());
    sched.submit([&](device_context& c) { c.copy(source, numbers); }, route::on(from)).get();
    sched.submit([&](device_context& c) { c.copy(target, source); }, route::on(by)).get();
    sched.submit([&](device_context& c) { c.copy(back, target); }, route::on(to)).get();
    return back;
  }
  static std::vector<int> counted(std::size_t n) {
    std::vector<int> numbers(n);
    std::iota(numbers.begin(), numbers.end(), 1);
    return numbers;
  }
  static long direct_copies() { return fakecuda_calls("cudaMemcpyPeerAsync"); }
};

constexpr int in_a_trial = 4;  // there and back, by the one device and by the other

TEST_F(PeerCopies, AreTriedOnceForEachPairAndThenGoDirectly) {
  scheduler sched(gpus({0, 1, 2}));
  EXPECT_EQ(direct_copies(), 0) << "a program that never copies between devices pays nothing";
  sent(sched, 0, 1, 0, counted(10));
  EXPECT_EQ(direct_copies(), in_a_trial + 1);
  sent(sched, 1, 0, 0, counted(10));
  sent(sched, 0, 1, 1, counted(10));
  EXPECT_EQ(direct_copies(), in_a_trial + 3);
  sent(sched, 2, 1, 2, counted(10));
  EXPECT_EQ(direct_copies(), 2 * in_a_trial + 4);
}

TEST_F(PeerCopies, ThatCudaTakesThroughTheHostAreNotTried) {
  fakecuda_set_peer(0, 1, 0);
  fakecuda_set_peer(1, 0, 0);
  scheduler sched(gpus({0, 1}));
  EXPECT_EQ(sent(sched, 0, 1, 0, counted(10)), counted(10));
  EXPECT_EQ(direct_copies(), 1);
}

// Source: NVIDIA/open-gpu-kernel-modules#1257: access is said to be possible, copies succeed, and the data is
// wrong.
TEST_F(PeerCopies, ThatArriveWrongGoThroughTheHost) {
  for (const auto& [there, back] : {std::pair{1, 0}, {0, 1}, {1, 1}}) {
    machine(4);
    fakecuda_corrupt_peer(0, 1, there);
    fakecuda_corrupt_peer(1, 0, back);
    auto chosen = gpus({0, 1, 2});
    chosen.on_error = [](const error_event&) {};
    scheduler sched(chosen);
    for (const int by : {0, 1}) {
      EXPECT_EQ(sent(sched, 0, 1, by, counted(several_pieces)), counted(several_pieces)) << there << back;
      EXPECT_EQ(sent(sched, 1, 0, by, counted(1)), counted(1)) << there << back;
    }
    const long before = direct_copies();
    sent(sched, 0, 1, 0, counted(10));
    EXPECT_EQ(direct_copies(), before);
    EXPECT_EQ(sent(sched, 0, 2, 0, counted(10)), counted(10));
    EXPECT_EQ(direct_copies(), before + in_a_trial + 1) << "other pairs go directly";
  }
}

TEST_F(PeerCopies, ThatArriveWrongAreReportedOnceNamingBothDevices) {
  fakecuda_corrupt_peer(2, 3, 1);
  auto chosen = gpus({3, 2});
  chosen.ids = {17, 19};
  const error_log log;
  chosen.on_error = log;
  scheduler sched(chosen);
  for (int k = 0; k < 3; ++k) sent(sched, 17, 19, 19, counted(10));
  ASSERT_EQ(log.size(), 1u);
  const auto told = log.events()[0];
  for (const char* part : {"device 17 (Fake GPU 3,", "device 19 (Fake GPU 2,", "through host memory"})
    EXPECT_NE(told.message.find(part), std::string::npos) << told.message;
  EXPECT_EQ(told.device, 19) << "whose item it was";
  EXPECT_THROW(std::rethrow_exception(told.error), device_error);
}

TEST_F(PeerCopies, ThroughTheHostKeepTheOrderOfTheStream) {
  fakecuda_corrupt_peer(0, 1, 1);
  auto chosen = gpus({0, 1});
  chosen.on_error = [](const error_event&) {};
  scheduler sched(chosen);
  sent(sched, 0, 1, 0, counted(1));  // tries, with the gates open
  const device_buffer<int> here(sched, 0, 1000);
  const device_buffer<int> there(sched, 1, 1000);
  pinned_buffer<int> numbers(sched, 0, 1000);
  std::fill(numbers.begin(), numbers.end(), 1);
  fakecuda_gate(0, 1);
  auto f = sched.submit(
      [&](device_context& c) {
        c.copy(here, numbers);
        c.enqueue([&] { std::fill(numbers.begin(), numbers.end(), 2); });
        c.copy(there, here);
        c.copy(here, numbers);
      },
      route::on(0));
  fakecuda_gate(0, 0);
  f.get();
  std::vector<int> first(1000);
  std::vector<int> second(1000);
  sched.submit([&](device_context& c) { c.copy(first, there); }, route::on(1)).get();
  sched.submit([&](device_context& c) { c.copy(second, here); }, route::on(0)).get();
  EXPECT_EQ(first, std::vector<int>(1000, 1));
  EXPECT_EQ(second, std::vector<int>(1000, 2));
}

TEST_F(PeerCopies, GoThroughTheHostWhileThereIsNoMemoryToTryThem) {
  scheduler sched(gpus({0, 1}));
  const device_buffer<int> here(sched, 0, 1000);
  const device_buffer<int> there(sched, 1, 1000);
  const auto copy = [&](device_context& c) { c.copy(there, here); };
  fakecuda_limit_memory(1, 5000);
  EXPECT_NO_THROW(sched.submit(copy, route::on(0)).get());
  EXPECT_EQ(direct_copies(), 0);
  fakecuda_limit_memory(1, double_bytes);
  sched.submit(copy, route::on(0)).get();
  EXPECT_EQ(direct_copies(), in_a_trial + 1);
}

// As FaultSweep, of what only a machine like this calls.
TEST_F(PeerCopies, ThatFailOnTheirWayThroughTheHostFailTheirItem) {
  auto chosen = gpus({0, 1});
  chosen.on_error = [](const error_event&) {};
  for (const char* name : {"cudaMemcpyAsync", "cudaMemcpyPeerAsync", "cudaStreamSynchronize"}) {
    int failed = 0;
    for (long k = 0;; ++k) {
      if (k > 0) expect_clean_double(4, {0, 1});
      machine(4);
      fakecuda_corrupt_peer(1, 0, 1);
      scheduler sched(chosen);
      const device_buffer<int> here(sched, 0, several_pieces);
      const device_buffer<int> there(sched, 1, several_pieces);
      const auto copy = [&](device_context& c) { c.copy(there, here); };
      fakecuda_inject(name, -1, k, 1, cudaErrorUnknown);
      auto f = sched.submit(copy, route::on(0));
      f.wait();
      fakecuda_clear_injections();
      try {
        f.get();
        break;
      } catch (const device_error&) {
        ++failed;
      }
      EXPECT_NO_THROW(sched.submit(copy, route::on(0)).get()) << name << ", call " << k;
    }
    EXPECT_GT(failed, 0) << name;
  }
}

}  // namespace
}  // namespace heddle::test
