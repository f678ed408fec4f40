// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <string>
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

// What one scheduler keeps for its next items is there for another one on the same device.
TEST_F(Memory, ThatASchedulerKeepsIsNoneThatAnotherLacks) {
  machine(2);
  fakecuda_limit_memory(0, 1 << 20);
  scheduler one(gpus({0, 1}));
  scheduler other(gpus({0}));
  const auto take = [](device_context& c) { (void)c.scratch<char>(700'000); };
  for (int k = 0; k < 5; ++k) {
    EXPECT_NO_THROW(one.submit(take, route::on(0)).get());
    fakecuda_drain();  // the end of the memory stands in the stream's order
    EXPECT_NO_THROW(other.submit(take).get());
    fakecuda_drain();
  }
}

TEST_F(Memory, ThatIsPinnedIsGivenBackWhereMoreIsAskedForThanThereIs) {
  scheduler sched(gpus({0, 1}));
  { const pinned_buffer<int> on_one(sched, 0, 1000), on_other(sched, 1, 100'000); }
  const long before = fakecuda_calls("cudaFreeHost");
  fakecuda_inject("cudaHostAlloc", -1, 0, 1, cudaErrorMemoryAllocation);
  const pinned_buffer<int> larger(sched, 0, 300'000);
  EXPECT_EQ(fakecuda_calls("cudaFreeHost"), before + 2);
  fakecuda_inject("cudaHostAlloc", -1, 0, 2, cudaErrorMemoryAllocation);
  EXPECT_THROW((pinned_buffer<int>(sched, 0, 300'000)), out_of_device_memory);
}

// Virtual GPUs without unified memory have none.
TEST_F(Memory, NeedsNoPools) {
  machine(2);
  for (int device = 0; device < 2; ++device)
    fakecuda_inject("cudaMemPoolCreate", device, 0, 100, cudaErrorNotSupported);
  fakecuda_limit_memory(0, 1 << 20);
  scheduler sched(gpus({0, 1}));
  std::vector<int> numbers(1000, 7), back(1000);
  for (int k = 0; k < 20; ++k) {
    const device_buffer<int> here(sched, 0, 1000);
    const device_buffer<int> there(sched, 1, 1000);
    sched.submit([&](device_context& c) { c.copy(here, numbers); }, route::on(0)).get();
    sched.submit([&](device_context& c) { c.copy(there, here); }, route::on(1)).get();
    sched
        .submit(
            [&](device_context& c) {
              const auto between = c.scratch<int>(1000);
              c.copy(between, there);
              c.copy(back, between);
            },
            route::on(1))
        .get();
    EXPECT_EQ(std::exchange(back, std::vector<int>(1000)), numbers);
  }
  try {
    sched.submit([](device_context& c) { (void)c.scratch<char>(2 << 20); }, route::on(0)).get();
    FAIL();
  } catch (const out_of_device_memory& e) {
    EXPECT_TRUE(mentions(e, "cudaMalloc of 2097152 bytes")) << e.what();
  }
  EXPECT_EQ(fakecuda_calls("cudaMallocFromPoolAsync"), 0);
}

TEST_F(Memory, OfOtherUsersIsLeftAlone) {
  scheduler sched(gpus({0}));
  for (int k = 0; k < 20; ++k) sched.submit([](device_context& c) { (void)c.scratch<int>(1000); }).get();
  EXPECT_EQ(fakecuda_calls("cudaMallocAsync"), 0)
      << "that is the default pool, whose attributes are the application's";
  EXPECT_EQ(fakecuda_default_pool_touched(0), 0);
}

// A part for whose way back there is no memory must not have begun its way there: tried again in halves it
// would be worked on twice.
TEST_F(Memory, ThatRunsOutInAPartOfALoopLeavesNoIndexDoneTwice) {
  const auto kinds = {std::pair("cudaHostAlloc", 2L), std::pair("cudaMallocFromPoolAsync", 4L)};
  for (const auto& [name, tries] : kinds) {
    for (long k = 0; k < 8; ++k) {
      SCOPED_TRACE(std::string(name) + ", call " + std::to_string(k) + " fails");
      machine(4);
      scheduler sched(gpus({0, 1}));
      std::vector<int> x(100'000, 0), y(x.size(), 0);
      loop_options how;
      how.split = split::even();
      fakecuda_inject(name, -1, k, tries, cudaErrorMemoryAllocation);
      for_each_chunk(
          sched, x.size(), how,
          [](device_context& c, index_range part, view<int> a, view<int> b) {
            c.enqueue([=] {
              for (std::int64_t i = part.begin; i < part.end; ++i) ++a[i], ++b[i];
            });
          },
          inout(x), inout(y));
      fakecuda_clear_injections();
      EXPECT_EQ(x, std::vector<int>(x.size(), 1));
      EXPECT_EQ(y, std::vector<int>(y.size(), 1));
    }
  }
}

}  // namespace
}  // namespace heddle::test
