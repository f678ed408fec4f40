// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "heddle/detail/item.hpp"

namespace heddle::detail {
namespace {

TEST(Blocks, AreAlignedAndApart) {
  std::vector<std::pair<void*, std::size_t>> blocks;
  for (std::size_t bytes = 1; bytes <= 1024; bytes += 37) {
    void* const block = allocate_block(bytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % 64, 0u);
    std::memset(block, static_cast<int>(bytes & 0xff), bytes);
    blocks.push_back({block, bytes});
  }
  for (const auto& [block, bytes] : blocks) {
    const auto* const at = static_cast<const unsigned char*>(block);
    EXPECT_EQ(at[0], bytes & 0xff);
    EXPECT_EQ(at[bytes - 1], bytes & 0xff);
    free_block(block, bytes);
  }
}

TEST(Blocks, MadeByOneThreadAndFreedByAnotherAreNeverInTwoHands) {
  constexpr int rounds = 200;
  constexpr int each_time = 500;
  std::mutex mutex;
  std::vector<void*> passed;
  std::atomic<bool> over{false};
  std::jthread consumer([&] {
    for (;;) {
      std::vector<void*> mine;
      const bool last = over.load();
      {
        const std::lock_guard lock(mutex);
        mine.swap(passed);
      }
      for (void* const block : mine) free_block(block, 128);
      if (last && mine.empty()) return;
    }
  });
  for (int round = 0; round < rounds; ++round) {
    std::vector<void*> made;
    std::set<void*> distinct;
    for (int k = 0; k < each_time; ++k) {
      made.push_back(allocate_block(128));
      std::memset(made.back(), round & 0xff, 128);
      distinct.insert(made.back());
    }
    EXPECT_EQ(distinct.size(), made.size());
    for (void* const block : made) EXPECT_EQ(static_cast<unsigned char*>(block)[127], round & 0xff);
    const std::lock_guard lock(mutex);
    passed.insert(passed.end(), made.begin(), made.end());
  }
  over.store(true);
}

TEST(Blocks, OfAThreadThatHasEndedServeOthers) {
  void* block = nullptr;
  std::thread([&] { block = allocate_block(64); }).join();
  free_block(block, 64);
  std::thread([&] { free_block(allocate_block(64), 64); }).join();
}

}  // namespace
}  // namespace heddle::detail
