// SPDX-License-Identifier: Apache-2.0
// "Each worker of my Pool needs its own GPU id, as a constant of that worker. I call Pool(2).starmap(f,
// payload), and f asks which GPU it is on." Here is how: nothing is handed to f, and nothing is forked.
//
//   gpu_pool             a pool of two devices; their ids are 0 and 1
//   gpu_pool --ids 7,3   the same with ids of your own
//
// It checks what it says. Exit code: 0 all as promised, 1 something is not, 2 the arguments were refused.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <map>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "heddle/heddle.hpp"

namespace {

bool is_prime(int n) {
  for (int d = 2; d * d <= n; ++d) {
    if (n % d == 0) return false;
  }
  return n >= 2;
}

int primes_between(int first, int last) {
  int count = 0;
  for (int n = first; n < last; ++n) count += is_prime(n) ? 1 : 0;
  return count;
}

struct answer {
  int gpu;
  std::thread::id worker;
  int primes;
};

/// The function of the pool. It asks which gpu it is on, wherever it is called from.
answer f(int first, int last) {
  return {heddle::this_device::id(), std::this_thread::get_id(), primes_between(first, last)};
}

bool all_kept = true;

void promise(bool kept, const std::string& what) {
  std::printf("%-6s  %s\n", kept ? "ok" : "BROKEN", what.c_str());
  all_kept = all_kept && kept;
}

void run(const std::vector<int>& wanted_ids) {
  // Pool(2): two devices, each with a host thread of its own.
  heddle::scheduler_options two;
  two.devices = {"0", "1"};
  two.ids = wanted_ids;
  heddle::scheduler pool(two);
  const int id[] = {pool.devices()[0].id, pool.devices()[1].id};
  std::printf("a pool of two: gpu %d is %s, gpu %d is %s\n\n", id[0], pool.devices()[0].name.c_str(), id[1],
              pool.devices()[1].name.c_str());

  std::vector<std::tuple<int, int>> payload;
  for (int k = 0; k < 10; ++k) payload.emplace_back(k * 10'000, (k + 1) * 10'000);

  const auto answers = pool.starmap(f, payload);  // in the order of the payload

  bool in_order = answers.size() == payload.size();
  for (std::size_t k = 0; k < answers.size(); ++k) {
    const auto [first, last] = payload[k];
    std::printf("f(%6d, %6d) = %5d on gpu %d\n", first, last, answers[k].primes, answers[k].gpu);
    in_order = in_order && answers[k].primes == primes_between(first, last);
  }
  std::printf("\n");

  // Each worker is asked again, by name, and by a second starmap.
  std::map<std::thread::id, int> gpu_of_worker;
  bool stable = true, known = true;
  const auto see = [&](const answer& a) {
    stable = stable && gpu_of_worker.emplace(a.worker, a.gpu).first->second == a.gpu;
    known = known && (a.gpu == id[0] || a.gpu == id[1]);
  };
  for (const auto& a : answers) see(a);
  for (auto& each : pool.broadcast([] { return f(0, 10); })) see(each.get());
  for (const auto& a : pool.starmap(f, payload)) see(a);
  const answer named = pool.submit([] { return f(0, 10); }, heddle::route::on(id[1])).get();

  promise(in_order, "results are in the order of the payload");
  promise(id[0] != id[1], "ids are unique");
  promise(known, "every call was on a gpu of the pool");
  promise(stable && gpu_of_worker.size() == 2,
          "ids are stable: one for each of the two workers, in every call");
  promise(named.gpu == id[1],
          "work for gpu " + std::to_string(id[1]) + " ran on gpu " + std::to_string(id[1]));
  promise(
      id[0] == (wanted_ids.empty() ? 0 : wanted_ids[0]) && id[1] == (wanted_ids.empty() ? 1 : wanted_ids[1]),
      wanted_ids.empty() ? "ids count from 0, since none were given" : "ids are those that were given");

  two.ids = {id[0], id[0]};
  try {
    heddle::scheduler refused(two);
    promise(false, "an id that is in use is refused");
  } catch (const heddle::invalid_option& e) {
    promise(true, std::string("an id that is in use is refused: \"") + e.what() + "\"");
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<int> ids;
  CLI::App app("A pool of two devices, where each call asks for its gpu id");
  app.add_option("--ids", ids, "the gpu ids of the two, such as 7,3")->delimiter(',')->expected(2);
  try {
    app.parse(argc, argv);
    run(ids);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  } catch (const heddle::error& e) {
    std::fprintf(stderr, "gpu_pool: %s\n", e.what());
    return 2;
  }
  return all_kept ? 0 : 1;
}
