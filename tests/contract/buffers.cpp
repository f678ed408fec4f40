// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "heddle/memory_resource.hpp"
#include "support/contract.hpp"

namespace heddle::test {
namespace {

HEDDLE_CONTRACT_SUITE(Buffers);

TEST_P(Buffers, GoThereAndBack) {
  scheduler sched(options(2));
  std::vector<int> numbers(1000);
  std::iota(numbers.begin(), numbers.end(), 0);
  std::vector<int> back(1000);
  auto buffer = sched
                    .submit(
                        [&](device_context& c) {
                          device_buffer<int> made(c, numbers.size());
                          c.copy(made, numbers);
                          return made;
                        },
                        route::on(1))
                    .get();
  EXPECT_EQ(buffer.device(), 1);
  ASSERT_EQ(buffer.size(), 1000u);
  sched.submit([&](device_context& c) { c.copy(back, buffer); }, route::on(1)).get();
  EXPECT_EQ(back, numbers);
}

TEST_P(Buffers, GoToAnotherDevice) {
  scheduler sched(options(2));
  const std::vector<int> numbers(100, 7);
  std::vector<int> back(100);
  const device_buffer<int> there(sched, 0, 100);
  const device_buffer<int> here(sched, 1, 100);
  sched.submit([&](device_context& c) { c.copy(there, numbers); }, route::on(0)).get();
  sched
      .submit(
          [&](device_context& c) {
            c.copy(here, there);
            c.copy(back, here);
          },
          route::on(1))
      .get();
  EXPECT_EQ(back, numbers);
}

TEST_P(Buffers, OfAnotherDeviceAreRefusedByBothNames) {
  auto chosen = options(2);
  chosen.ids = {11, 22};
  scheduler sched(chosen);
  const device_buffer<int> buffer(sched, 22, 10);
  std::vector<int> host(10);
  const auto refused = [&](auto use) {
    try {
      sched.submit([&](device_context& c) { use(c); }, route::on(11)).get();
      ADD_FAILURE();
    } catch (const invalid_option& e) {
      const std::string what = e.what();
      EXPECT_NE(what.find("device 11"), std::string::npos) << what;
      EXPECT_NE(what.find("device 22"), std::string::npos) << what;
    }
  };
  refused([&](device_context& c) { (void)buffer.view(c); });
  refused([&](device_context& c) { c.copy(host, buffer); });
  refused([&](device_context& c) { c.copy(buffer, host); });
}

TEST_P(Buffers, OfAnUnknownDeviceAreRefused) {
  scheduler sched(options(1));
  EXPECT_THROW((device_buffer<int>(sched, 9, 10)), invalid_option);
  EXPECT_THROW((pinned_buffer<int>(sched, -1, 10)), invalid_option);
}

TEST_P(Buffers, MayDieOnAnyThreadAndAfterTheScheduler) {
  std::optional<device_buffer<int>> late;
  std::optional<pinned_buffer<int>> late_pinned;
  {
    scheduler sched(options(2));
    late.emplace(sched, 1, 100);
    late_pinned.emplace(sched, 1, 100);
    auto from_item =
        sched.submit([](device_context& c) { return device_buffer<int>(c, 50); }, route::on(1)).get();
    std::thread([mine = std::move(from_item)] {}).join();
    sched.submit([mine = device_buffer<int>(sched, 0, 10)] {}, route::on(1)).get();
    sched.submit([mine = pinned_buffer<int>(sched, 0, 10)] {}, route::any().in_arena()).get();
    as_device(sched, 0, [&] { const device_buffer<int> mine(sched, 1, 10); });
  }
  std::thread([&] {
    late.reset();
    late_pinned.reset();
  }).join();
}

TEST_P(Buffers, ThatDieInTheirItemServeItsStreamWorkFirst) {
  scheduler sched(options(2));
  for (int round = 0; round < 20; ++round) {
    std::vector<int> back(1000);
    sched
        .submit([&](device_context& c) {
          pinned_buffer<int> from(c, 1000);
          std::fill(from.begin(), from.end(), round);
          const device_buffer<int> buffer(c, 1000);
          c.copy(buffer, from);
          c.copy(back, buffer);
        })
        .get();
    ASSERT_EQ(back, std::vector<int>(1000, round));
  }
}

TEST_P(Buffers, AreEmptyWhenMovedFromOrMadeSo) {
  scheduler sched(options(1));
  device_buffer<int> a(sched, 0, 10);
  int* const data = a.data();
  device_buffer<int> b(std::move(a));
  EXPECT_TRUE(a.empty());
  EXPECT_EQ(a.data(), nullptr);
  EXPECT_EQ(b.data(), data);
  a = std::move(b);
  EXPECT_EQ(a.data(), data);
  EXPECT_EQ(a.size(), 10u);
  EXPECT_EQ(b.size(), 0u);
  const device_buffer<int> none(sched, 0, 0);
  EXPECT_TRUE(none.empty());
  EXPECT_EQ(device_buffer<int>().device(), -1);
  EXPECT_EQ(pinned_buffer<int>().device(), -1);
  const std::vector<int> nothing;
  sched.submit([&](device_context& c) { c.copy(none, nothing); }).get();
}

TEST_P(Buffers, BeyondAnyAddressSpaceAreRefused) {
  scheduler sched(options(1));
  const auto huge = std::numeric_limits<std::size_t>::max() / 2;
  EXPECT_THROW((device_buffer<int>(sched, 0, huge)), out_of_device_memory);
  EXPECT_THROW((pinned_buffer<int>(sched, 0, huge)), out_of_device_memory);
  EXPECT_THROW((pinned_buffer<char>(sched, 0, huge)), out_of_device_memory);
}

TEST_P(Buffers, BeyondTheMemoryFailTheirItemAlone) {
  auto chosen = options(2);
  limit_memory(GetParam(), chosen, 1 << 20);
  scheduler sched(chosen);
  auto too_large =
      sched.submit([](device_context& c) { const device_buffer<char> mine(c, (1 << 20) + 1); }, route::on(0));
  auto fits =
      sched.submit([](device_context& c) { const device_buffer<char> mine(c, 1 << 20); }, route::on(0));
  EXPECT_THROW(too_large.get(), out_of_device_memory);
  EXPECT_NO_THROW(fits.get());
}

// What heddle's stream work is for: host functions, copies and loops in one order.
TEST_P(Buffers, AreCopiedInTheOrderOfTheStream) {
  scheduler sched(options(1));
  std::vector<int> back(4);
  sched
      .submit([&](device_context& c) {
        auto& from = c.keep(pinned_buffer<int>(c, 4));
        const device_buffer<int> buffer(c, 4);
        c.enqueue([&from] { std::fill(from.begin(), from.end(), 1); });
        c.copy(buffer, from);
        c.copy(back, buffer);
        c.enqueue([&from, &back] { std::fill(from.begin(), from.end(), 10 * back[3]); });
        c.copy(buffer, from);
        c.copy(back, buffer);
      })
      .get();
  EXPECT_EQ(back, std::vector<int>(4, 10));
}

TEST_P(Buffers, MayBeLocalToADevice) {
  scheduler sched(options(2));
  const device_local tables(sched, [](device_context& c) { return device_buffer<int>(c, 100); });
  for (auto& each : sched.broadcast([&](device_context& c) { return tables[c].device() == c.id(); })) {
    EXPECT_TRUE(each.get());
  }
}

TEST_P(Buffers, OfMoreBytesThanAnyMemoryAreRefused) {
  scheduler sched(options(1));
  for (const std::size_t bytes : {~std::size_t{0}, ~std::size_t{0} - 10, ~std::size_t{0} / 2 + 1}) {
    EXPECT_THROW(device_buffer<char>(sched, 0, bytes), out_of_device_memory);
    EXPECT_THROW(pinned_buffer<char>(sched, 0, bytes), out_of_device_memory);
    EXPECT_THROW(sched.submit([=](device_context& c) { (void)c.scratch<char>(bytes); }).get(),
                 out_of_device_memory);
    EXPECT_THROW((void)device_resource(sched, 0).allocate(bytes, 256), out_of_device_memory);
  }
}

TEST_P(Buffers, OfAnotherSchedulersDeviceAreRefusedThoughTheIdsAreTheSame) {
  HEDDLE_ON_HOST_DEVICES_ONLY("the options name them");
  auto first = options(1), second = options(1);
  first.host.devices = second.host.devices = 2;
  first.devices = {"host:0"};
  second.devices = {"host:1"};
  scheduler a(first), b(second);
  const device_buffer<int> of_a(a, 0, 10), of_b(b, 0, 10);
  std::vector<int> host(10);
  const auto refused = [&](auto use) {
    const std::string message = b.submit([&](device_context& c) {
                                   try {
                                     use(c);
                                   } catch (const invalid_option& e) {
                                     return std::string(e.what());
                                   }
                                   return std::string();
                                 }).get();
    EXPECT_NE(message.find("another scheduler"), std::string::npos) << message;
    EXPECT_NE(message.find("HOST-0"), std::string::npos) << message;
  };
  refused([&](device_context& c) { (void)of_a.view(c); });
  refused([&](device_context& c) { c.copy(host, of_a); });
  refused([&](device_context& c) { c.copy(of_a, host); });
  refused([&](device_context& c) { c.copy(of_b, of_a); });
  refused([&](device_context& c) { c.copy(of_a, of_b); });
}

TEST_P(Buffers, OfTheSameDeviceInAnotherSchedulerAreOfThisDevice) {
  HEDDLE_ON_HOST_DEVICES_ONLY("the options name them");
  auto first = options(2), second = options(2);
  second.ids = {5, 6};
  scheduler a(first), b(second);
  const device_buffer<int> of_a(a, 1, 3);
  const std::vector<int> host{1, 2, 3};
  std::vector<int> back(3);
  b.submit([&](device_context& c) { c.copy(of_a, host); }, route::on(6)).get();
  a.submit([&](device_context& c) { c.copy(back, of_a); }, route::on(1)).get();
  EXPECT_EQ(back, host);
}

}  // namespace
}  // namespace heddle::test
