// SPDX-License-Identifier: Apache-2.0
// Does not compile: each function has one mistake, which the compiler is to name in one sentence of heddle's,
// and in no other error. See sentences.cmake.
#include <heddle/heddle.hpp>

#include <cstdint>
#include <functional>
#include <vector>

heddle::scheduler& sched();
std::vector<float>& x();

void arity() {
  heddle::parallel_for(sched(), 10, [](std::int64_t, std::int64_t) {});
}
void dimensions() {
  heddle::parallel_for(sched(), heddle::extents{10, 10}, [](std::int64_t) {});
}
void missing_view() {
  heddle::parallel_for(
      sched(), 10, [](std::int64_t) {}, heddle::in(x()));
}
void view_that_writes() {
  heddle::parallel_for_async(
      sched(), 10, [](std::int64_t, heddle::view<float>) {}, heddle::in(x()));
}
void mutable_body() {
  heddle::parallel_for(sched(), 10, [k = 0](std::int64_t) mutable { ++k; });
}
void nothing_to_join() {
  heddle::parallel_reduce(sched(), 10, 0, std::plus<>(), [](std::int64_t) {});
}
void body_before_join() {
  heddle::parallel_reduce(
      sched(), 10, 0, [](std::int64_t) { return 1; }, std::plus<>());
}
void cut_off() {
  heddle::parallel_reduce(sched(), 10, 0, std::plus<>(), [](std::int64_t) { return 0.6; });
}
void join_of_nothing() {
  heddle::parallel_reduce(
      sched(), 10, 0, [](int, int) {}, [](std::int64_t) { return 1; });
}
void scan_of_nothing() {
  heddle::inclusive_scan(sched(), heddle::in(x()), heddle::out(x()), 0.f, [](float, float) {});
}
void half_an_index() {
  heddle::parallel_for(sched(), 10.5, [](std::int64_t) {});
}
void options_last() {
  heddle::parallel_for(
      sched(), 10, [](std::int64_t, const auto&...) {}, heddle::loop_options{});
}
void chunk_without_context() {
  heddle::for_each_chunk(sched(), 10, [](heddle::index_range) {});
}
