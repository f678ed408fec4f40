// SPDX-License-Identifier: Apache-2.0
// What an imap gives where a submission, a wait or a part of it is refused.
#include <atomic>
#include <memory>
#include <numeric>
#include <ranges>
#include <span>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "support/contract.hpp"
#include "support/counted.hpp"
#include "support/eventually.hpp"
#include "support/gate.hpp"
#include "support/threads.hpp"

namespace heddle::test {
namespace {

HEDDLE_CONTRACT_SUITE(ImapRefused);

const auto same = [](int x) { return x; };

// What is at hand comes first, and what was not submitted then is tried again.
TEST_P(ImapRefused, GivesWhatItHasBeforeItTellsOfARefusal) {
  auto chosen = options(1);
  chosen.queue_capacity = 1;
  chosen.full = when_full::reject;
  scheduler sched(chosen);
  auto r = sched.imap(same, std::vector{0, 1, 2, 3}, {.ahead = 1});
  auto it = r.begin();
  std::vector<int> read{*it};
  sched.drain();
  {
    occupied_device busy(sched, 0);
    auto filler = sched.submit([] {});
    ++it;
    read.push_back(*it);
    EXPECT_THROW(++it, queue_full);
    busy.release();
    filler.get();
  }
  sched.drain();
  for (++it; it != r.end(); ++it) read.push_back(*it), sched.drain();
  EXPECT_EQ(read, (std::vector{0, 1, 2, 3}));
}

TEST_P(ImapRefused, TellsOfEachCallOfACancelledItem) {
  scheduler sched(options(1));
  std::stop_source stop;
  const auto f = [&](int x) {
    if (x == 0) stop.request_stop();
    return x;
  };
  std::vector<int> input(12);
  std::iota(input.begin(), input.end(), 0);
  auto r = sched.imap(f, input, {.route = route::any().stop(stop.get_token()), .chunk = 4, .ahead = 12});
  std::vector<int> read;
  for (auto it = r.begin(); it != r.end(); ++it) {
    try {
      read.push_back(*it);
    } catch (const cancelled&) {
      read.push_back(-1);
    }
  }
  EXPECT_EQ(read, (std::vector{0, 1, 2, 3, -1, -1, -1, -1, -1, -1, -1, -1}));
}

// The first waits for the item that reads, which waits for an element behind the first one: one of the two
// waits is refused, and nothing of the imap may run once it is gone.
TEST_P(ImapRefused, IsNotLeftByACallWhoseWaitWasRefused) {
  scheduler sched(options(2));
  gate given;
  future<void> reader;
  std::atomic<pid_t> first_thread{0};
  std::atomic<bool> gone{false};
  std::atomic<int> after{0};
  const auto in_line = route::on(1).stream(0);
  auto first = sched.submit(
      [&] {
        given.wait();
        first_thread = this_thread_number();
        try {
          reader.get();
        } catch (const would_deadlock&) {
        }
      },
      in_line);
  reader = sched.submit(
      [&] {
        given.wait();
        EXPECT_TRUE(eventually([&] { return first_thread != 0 && sleeps(first_thread); }));
        {
          auto r = sched.imap([&](int) { return after += gone; }, std::vector{0}, {.route = in_line});
          for (auto it = r.begin(); it != r.end(); ++it) {
            try {
              (void)*it;
            } catch (const would_deadlock&) {
            }
          }
        }
        gone = true;
      },
      route::on(0));
  given.open();
  first.get();
  sched.drain();
  EXPECT_EQ(after, 0);
}

}  // namespace
}  // namespace heddle::test
