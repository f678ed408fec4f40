// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support_cuda/double_machine.hpp"

namespace heddle::test {
namespace {

class Memory : public cuda_double {};

bool mentions(const std::exception& e, const std::string& part) {
  return std::string(e.what()).find(part) != std::string::npos;
}

// Source: microsoft/nni#1699: one device short of memory, and jobs die or wait elsewhere.
TEST_F(Memory, ThatRunsOutFailsItsItemAloneAndSaysHowMuchIsFree) {
  machine(2);
  fakecuda_limit_memory(0, 1 << 20);
  scheduler sched(gpus({0, 1}));
  const auto take = [](device_context& c) { (void)c.scratch<char>(2 << 20); };
  auto short_of = sched.submit(take, route::on(0));
  auto other = sched.submit(take, route::on(1));
  auto later = sched.submit([](device_context& c) { (void)c.scratch<char>(1 << 19); }, route::on(0));
  try {
    short_of.get();
    FAIL();
  } catch (const out_of_device_memory& e) {
    EXPECT_EQ(e.device(), 0);
    EXPECT_EQ(e.code(), cudaErrorMemoryAllocation);
    EXPECT_EQ(e.name(), "cudaErrorMemoryAllocation");
    EXPECT_TRUE(mentions(e, "2097152 bytes")) << e.what();
    EXPECT_TRUE(mentions(e, "1048576 bytes free of 1048576")) << e.what();
  }
  EXPECT_NO_THROW(other.get());
  EXPECT_NO_THROW(later.get());
}

TEST_F(Memory, OfABufferGoesThereAndBack) {
  scheduler sched(gpus({2, 3}));
  std::vector<int> numbers(1000);
  std::iota(numbers.begin(), numbers.end(), 0);
  std::vector<int> back(1000);
  auto made = sched.submit(
      [&](device_context& c) {
        device_buffer<int> buffer(c, numbers.size());
        c.copy(buffer, numbers);
        return buffer;
      },
      route::on(1));
  auto buffer = made.get();
  EXPECT_EQ(buffer.device(), 1);
  EXPECT_EQ(buffer.size(), 1000u);
  sched.submit([&](device_context& c) { c.copy(back, buffer); }, route::on(1)).get();
  EXPECT_EQ(back, numbers);
}

TEST_F(Memory, OfABufferMayGoToAnotherDevice) {
  for (const int reachable : {1, 0}) {
    fakecuda_set_peer(0, 1, reachable);
    fakecuda_set_peer(1, 0, reachable);
    scheduler sched(gpus({0, 1}));
    std::vector<int> numbers(1000, 7);
    std::vector<int> back(1000);
    device_buffer<int> there(sched, 0, 1000);
    device_buffer<int> here(sched, 1, 1000);
    sched.submit([&](device_context& c) { c.copy(there, numbers); }, route::on(0)).get();
    sched.submit([&](device_context& c) { c.copy(here, there), c.copy(back, here); }, route::on(1)).get();
    EXPECT_EQ(back, numbers);
  }
}

TEST_F(Memory, OfAnotherDeviceIsRefusedByBothNames) {
  scheduler sched(gpus({0, 1, 2}));
  device_buffer<int> buffer(sched, 2, 10);
  std::vector<int> host(10);
  const auto refused = [&](auto use) {
    try {
      sched.submit([&](device_context& c) { use(c); }, route::on(1)).get();
      ADD_FAILURE();
    } catch (const invalid_option& e) {
      EXPECT_TRUE(mentions(e, "device 1") && mentions(e, "device 2")) << e.what();
    }
  };
  refused([&](device_context& c) { (void)buffer.view(c); });
  refused([&](device_context& c) { c.copy(host, buffer); });
  refused([&](device_context& c) { c.copy(buffer, host); });
  EXPECT_THROW((device_buffer<int>(sched, 9, 10)), invalid_option);
}

TEST_F(Memory, MayBeFreedByAnyThreadAndAfterTheScheduler) {
  std::optional<device_buffer<int>> late;
  std::optional<pinned_buffer<int>> late_pinned;
  {
    scheduler sched(gpus({0, 1}));
    late.emplace(sched, 1, 100);
    late_pinned.emplace(sched, 1, 100);
    auto from_item =
        sched.submit([](device_context& c) { return device_buffer<int>(c, 50); }, route::on(1)).get();
    std::thread([mine = std::move(from_item)] {}).join();
    sched.submit([mine = device_buffer<int>(sched, 0, 10)] {}, route::on(1)).get();
    as_device(sched, 0, [&] { const device_buffer<int> mine(sched, 1, 10); });
  }
  std::thread([&] { late.reset(), late_pinned.reset(); }).join();
  EXPECT_EQ(fakecuda_live(-1).pools, 0) << "the last buffer takes the pool with it";
}

// The kernels of the item use it still when the callable returns.
TEST_F(Memory, OfABufferThatDiesInItsItemIsFreedBehindTheStreamWork) {
  scheduler sched(gpus({0}));
  std::vector<int> numbers(1000, 3);
  std::vector<int> back(1000);
  fakecuda_gate(0, 1);
  auto f = sched.submit([&](device_context& c) {
    pinned_buffer<int> from(c, 1000);
    std::copy(numbers.begin(), numbers.end(), from.begin());
    const device_buffer<int> buffer(c, 1000);
    c.copy(buffer, from);
    pinned_buffer<int>& to = c.keep(pinned_buffer<int>(c, 1000));
    c.copy(to, buffer);
    c.enqueue([&to, &back] { std::copy(to.begin(), to.end(), back.begin()); });
  });
  EXPECT_FALSE(f.wait_for(std::chrono::milliseconds(5)));
  fakecuda_gate(0, 0);
  f.get();
  EXPECT_EQ(back, numbers);
}

TEST_F(Memory, OfMovedFromAndEmptyBuffersIsNone) {
  scheduler sched(gpus({0}));
  device_buffer<int> a(sched, 0, 10);
  int* const data = a.data();
  device_buffer<int> b(std::move(a));
  EXPECT_TRUE(a.empty());
  EXPECT_EQ(a.data(), nullptr);
  EXPECT_EQ(b.data(), data);
  a = std::move(b);
  EXPECT_EQ(a.data(), data);
  EXPECT_EQ(a.size(), 10u);
  const device_buffer<int> none(sched, 0, 0);
  EXPECT_TRUE(none.empty());
  EXPECT_EQ(device_buffer<int>().device(), -1);
  sched.submit([&](device_context& c) { c.copy(none, std::span<int>()); }).get();
}

TEST_F(Memory, BeyondAnyAddressSpaceIsRefused) {
  scheduler sched(gpus({0}));
  const auto huge = std::numeric_limits<std::size_t>::max() / 2;
  EXPECT_THROW((device_buffer<int>(sched, 0, huge)), out_of_device_memory);
  EXPECT_THROW((pinned_buffer<int>(sched, 0, huge)), out_of_device_memory);
  EXPECT_THROW((pinned_buffer<char>(sched, 0, huge)), out_of_device_memory);
}

TEST_F(Memory, ThatIsPinnedIsKeptForTheNextBuffer) {
  scheduler sched(gpus({0}));
  int* first = nullptr;
  {
    const pinned_buffer<int> one(sched, 0, 1000);
    first = one.data();
  }
  const long before = fakecuda_calls("cudaHostAlloc");
  for (int k = 0; k < 10; ++k) EXPECT_EQ((pinned_buffer<int>(sched, 0, 1000 - k).data()), first);
  EXPECT_EQ(fakecuda_calls("cudaHostAlloc"), before);
}

// The host functions before it on the stream may still write what the copy reads.
TEST_F(Memory, IsCopiedBehindTheHostFunctionsOfTheStream) {
  scheduler sched(gpus({0}));
  fakecuda_gate(0, 1);
  std::vector<int> back(4);
  auto f = sched.submit([&](device_context& c) {
    auto& from = c.keep(pinned_buffer<int>(c, 4));
    auto& buffer = c.keep(device_buffer<int>(c, 4));
    std::fill(from.begin(), from.end(), 1);
    c.copy(buffer, from);
    c.enqueue([&from] { std::fill(from.begin(), from.end(), 2); });
    c.copy(buffer, from);
    c.enqueue([&from] { std::fill(from.begin(), from.end(), 3); });
    c.copy(back, buffer);
  });
  fakecuda_gate(0, 0);
  f.get();
  EXPECT_EQ(back, (std::vector<int>{2, 2, 2, 2}));
}

// Its allocation stands in a stream's order: nobody may use it, or free it, before the stream has got there.
TEST_F(Memory, MadeByAnItemIsThereWhenTheItemIsDone) {
  scheduler sched(gpus({0}));
  fakecuda_gate(0, 1);
  auto made = sched.submit([](device_context& c) { return device_buffer<int>(c, 100); });
  EXPECT_FALSE(made.wait_for(std::chrono::milliseconds(5)));
  fakecuda_gate(0, 0);
  const auto buffer = made.get();
  std::vector<int> numbers(100, 4);
  std::vector<int> back(100);
  sched.submit([&](device_context& c) { c.copy(buffer, numbers); }, route::on(0).stream(3)).get();
  sched.submit([&](device_context& c) { c.copy(back, buffer); }, route::on(0).stream(2)).get();
  EXPECT_EQ(back, numbers);
}

TEST_F(Memory, OfOtherUsersIsLeftAlone) {
  scheduler sched(gpus({0}));
  for (int k = 0; k < 20; ++k) sched.submit([](device_context& c) { (void)c.scratch<int>(1000); }).get();
  EXPECT_EQ(fakecuda_calls("cudaMallocAsync"), 0)
      << "that is the default pool, whose attributes are the application's";
  EXPECT_EQ(fakecuda_default_pool_touched(0), 0);
}

}  // namespace
}  // namespace heddle::test
