// SPDX-License-Identifier: Apache-2.0
#include "driver/host_stream.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <vector>

namespace heddle::detail {
namespace {

void run_all(host_stream& stream) {
  while (stream.advance()) {
  }
}

TEST(HostStream, RunsItsWorkInOrderAndNotBefore) {
  host_stream stream;
  std::vector<int> ran;
  for (int k = 0; k < 3; ++k) stream.enqueue(operation([&ran, k] { ran.push_back(k); }));
  EXPECT_TRUE(ran.empty());
  run_all(stream);
  EXPECT_EQ(ran, (std::vector<int>{0, 1, 2}));
}

TEST(HostStream, AMarkOfAnIdleStreamIsReached) {
  host_stream stream;
  EXPECT_EQ(stream.record(mark_kind::end_of_item), 0u);
  EXPECT_EQ(stream.query(0), std::optional(std::exception_ptr()));
}

TEST(HostStream, AMarkIsReachedOnceTheWorkBeforeItHasRun) {
  host_stream stream;
  stream.enqueue(operation([] {}));
  const auto mark = stream.record(mark_kind::end_of_item);
  EXPECT_FALSE(stream.query(mark));
  ASSERT_TRUE(stream.advance());
  EXPECT_FALSE(stream.query(mark));
  ASSERT_TRUE(stream.advance());
  EXPECT_EQ(stream.query(mark), std::optional(std::exception_ptr()));
}

TEST(HostStream, AFailureBelongsToItsMarkAloneAndSkipsTheRestBeforeIt) {
  host_stream stream;
  int ran = 0;
  stream.enqueue(operation([] { throw std::runtime_error("first"); }));
  stream.enqueue(operation([&ran] { ++ran; }));
  const auto failed = stream.record(mark_kind::end_of_item);
  stream.enqueue(operation([&ran] { ran += 10; }));
  const auto fine = stream.record(mark_kind::end_of_item);
  run_all(stream);
  EXPECT_EQ(ran, 10);
  ASSERT_TRUE(stream.query(failed));
  EXPECT_THROW(std::rethrow_exception(*stream.query(failed)), std::runtime_error);
  EXPECT_EQ(stream.query(fine), std::optional(std::exception_ptr()));
}

TEST(HostStream, WaitsForAMarkOfAnotherStream) {
  host_stream first, second;
  std::vector<int> ran;
  first.enqueue(operation([&ran] { ran.push_back(1); }));
  second.order_after(first, first.record(mark_kind::event));
  second.enqueue(operation([&ran] { ran.push_back(2); }));
  EXPECT_FALSE(second.advance());
  run_all(first);
  run_all(second);
  EXPECT_EQ(ran, (std::vector<int>{1, 2}));
}

TEST(HostStream, FailsAsTheMarkFailedThatItWaitsFor) {
  host_stream first, second;
  int ran = 0;
  first.enqueue(operation([] { throw std::runtime_error("first"); }));
  second.order_after(first, first.record(mark_kind::event));
  second.enqueue(operation([&ran] { ++ran; }));
  const auto mark = second.record(mark_kind::end_of_item);
  run_all(first);
  run_all(second);
  EXPECT_EQ(ran, 0);
  EXPECT_THROW(std::rethrow_exception(second.query(mark).value()), std::runtime_error);
}

TEST(HostStream, AnEventBehindFailedWorkDoesNotEndTheFailureOfItsItem) {
  host_stream stream;
  stream.enqueue(operation([] { throw std::runtime_error("first"); }));
  const auto event = stream.record(mark_kind::event);
  const auto end = stream.record(mark_kind::end_of_item);
  run_all(stream);
  EXPECT_THROW(std::rethrow_exception(stream.query(event).value()), std::runtime_error);
  EXPECT_THROW(std::rethrow_exception(stream.query(end).value()), std::runtime_error);
}

TEST(HostStream, DestroysTheWorkThatNobodyRan) {
  const auto counted = std::make_shared<int>(0);
  {
    host_stream stream;
    stream.enqueue(operation([counted] {}));
    EXPECT_EQ(counted.use_count(), 2);
  }
  EXPECT_EQ(counted.use_count(), 1);
}

}  // namespace
}  // namespace heddle::detail
