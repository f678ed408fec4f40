// SPDX-License-Identifier: Apache-2.0
// Does an empty item cost more where there are more devices?
//
// One thread submits items that any device may run: to 1, 2, 4 … 64 host devices, most of which are more than
// the machine has cores. The goal is a flat curve: at most 1.25 times what it costs with a single device.
// Beside it threads that share a queue with a condition.
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "host_devices.hpp"
#include "rivals/condvar_queue.hpp"
#include "rounds.hpp"
#include "tally.hpp"

namespace {

constexpr const char* question = "Does an empty item cost more where there are more devices?";

bench::tally counted;
const auto item = [] { counted.add(1); };

}  // namespace

int main(int argc, char** argv) {
  bench::session session(argc, argv, question);
  const std::vector<int> numbers =
      session.quick() ? std::vector<int>{1, 8, 64} : std::vector<int>{1, 2, 4, 8, 16, 32, 64};
  const auto named = [](const char* who, int devices) { return who + (", " + std::to_string(devices)); };

  bench::contest all(session, "empty items, by the number of devices", 8);
  std::int64_t asked = 0;
  const auto add = [&](const std::string& name, bench::role is, auto push, auto drain) {
    all.add({.name = name, .is = is, .run = [&asked, push, drain](std::int64_t n) {
               for (std::int64_t k = 0; k < n; ++k) push();
               drain();
               asked += n;
             }});
  };
  for (const int n : numbers) {
    const auto sched = std::shared_ptr(bench::host_devices(n));
    add(
        named("heddle", n), bench::role::heddle, [sched] { static_cast<void>(sched->submit(item)); },
        [sched] { sched->drain(); });
  }
  for (const int n : numbers) {
    const auto queue = std::make_shared<bench::condvar_queue>(n);
    add(
        named("a queue with a condition", n), bench::role::rival, [queue] { queue->push(item); },
        [queue] { queue->drain(); });
  }
  all.show_in({"ns", 1e9});
  all.turn(10e-3);
  all.check([&] { return counted.take() == std::exchange(asked, 0); });
  for (const int n : numbers) {
    if (n > 1) all.add_goal({.of = named("heddle", n), .to = {named("heddle", 1)}, .at_most = 1.25});
  }
  all.run();
  return session.finish();
}
