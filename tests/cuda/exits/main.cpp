// SPDX-License-Identifier: Apache-2.0
// Leaves main with a scheduler that lives on in the way that the argument names; the process has to end with
// 0. Source: rapidsai/rmm#1371: an object of static life destroys its event after the driver has stopped.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>

#include "fakecudart.h"
#include "heddle/heddle.hpp"

namespace {

struct used {
  used() {
    heddle::scheduler_options gpus;
    gpus.use = heddle::backend::cuda;
    pool.emplace(gpus);
    buffer = heddle::device_buffer<int>(*pool, 0, 100);
    pinned = heddle::pinned_buffer<int>(*pool, 1, 100);
    pool->submit([](heddle::device_context& c) { (void)c.scratch<int>(10); }).get();
  }
  heddle::device_buffer<int> buffer;
  std::optional<heddle::scheduler> pool;
  heddle::pinned_buffer<int> pinned;
};

void stop_cuda() { fakecuda_unloading(1); }

}  // namespace

int main(int argc, char** argv) {
  const std::string how = argc == 2 ? argv[1] : "";
  fakecuda_reset(2, std::size_t{1} << 30);
  if (how == "local") {
    const used here;
  } else if (how == "static") {
    std::atexit(stop_cuda);  // runs after the destructor of what is made later
    static const used here;
  } else if (how == "static_after_cuda") {
    static const used here;
    std::atexit(stop_cuda);
  } else if (how == "thread_local") {
    std::atexit(stop_cuda);
    thread_local const used here;
    (void)here.pool->devices();
  } else if (how == "leaked") {
    (void)new used;
  } else if (how == "inside_an_item") {
    static used here;
    here.pool->submit([] { std::exit(0); }).get();
    return 1;
  } else {
    std::fprintf(stderr,
                 "exits: give local, static, static_after_cuda, thread_local, leaked or inside_an_item\n");
    return 2;
  }
  return 0;
}
