// SPDX-License-Identifier: Apache-2.0
#include "loops/run_on_host.hpp"

#include <tbb/task_arena.h>

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "heddle/device_context.hpp"
#include "heddle/error.hpp"
#include "loops/loop_items.hpp"
#include "loops/plan.hpp"
#include "loops/shared_loop.hpp"
#include "work/current.hpp"
#include "work/ticks.hpp"

namespace heddle::detail {

namespace {

using clock = std::chrono::steady_clock;
using seconds = std::chrono::duration<double>;

constexpr double wake_seconds =
    25e-6;  // until a device thread that sleeps has begun, and has been waited for
constexpr double grain_seconds = 20e-6;
constexpr seconds longest_probe{10e-6};
constexpr seconds unwatched{2e-6};             // a look at the clock is some 20 ns
constexpr std::uint64_t most_ticks = 500'000;  // 100 us, or some more

/// The calling thread, and the device that it acts for during the loop.
struct caller {
  explicit caller(scheduler_core& core) {
    const bound_device* const device = bound();
    if (device != nullptr && device->group == &core.group) {
      home = static_cast<std::size_t>(device->index);
      is_device_thread = on_own_device_thread();
      may_not_wait = on_arena_thread();
    } else {
      may_choose = true;
      while (home + 1 < core.devices.size() && !core.group.threads[home]->enabled()) ++home;
      may_not_wait = on_arena_thread();  // of another scheduler's device
    }
  }
  std::size_t home = 0;
  bool may_choose = false;  // another one
  bool is_device_thread = false;
  bool may_not_wait = false;
};

/// Calls `f` on this thread, acting for the device, in its arena.
template <class F>
void act_as(device_thread& device, F&& f) {
  const binding* const now = current().top;
  if (now != nullptr && now->device == &device.identity() && now->kind != binding_kind::guard) return f();
  device.arena().execute([&] { tbb::this_task_arena::isolate(f); });
}

int threads_of_each(const scheduler_core& core) noexcept {
  return std::max(1, core.cores / static_cast<int>(core.devices.size()));
}

std::int64_t in_units(double indices, const loop_request& request) noexcept {
  const double units = indices / static_cast<double>(request.unit);
  return units >= static_cast<double>(request.size) ? request.size : static_cast<std::int64_t>(units);
}

// Long enough that taking one costs nothing, short enough that all end together.
std::int64_t grain_of(const scheduler_core& core, const loop_request& request, const split& how,
                      const std::vector<loop_part>& parts) {
  const std::int64_t chunk = split_access::chunk(how);
  if (chunk > 0) return (chunk - 1) / request.unit + 1;
  const auto workers = static_cast<std::int64_t>(parts.size()) * threads_of_each(core);
  const std::int64_t even = std::max<std::int64_t>(1, (request.size - request.begin) / (8 * workers));
  const double rate = core.history.rate(request.body, parts.front().device);
  if (rate == 0) return even;
  return std::clamp<std::int64_t>(in_units(rate * grain_seconds, request), 1, even);
}

sharing plan(const scheduler_core& core, const loop_request& request, const split& how, bool alone,
             std::size_t home) {
  sharing all;
  if (alone) {
    all.parts = {{home, {request.begin, request.size}}};
  } else {
    auto places = enabled_places(core);
    const bool measured = split_access::kind_of(how) == split_access::kind::measured;
    // They share the machine's cores: more devices than these are no faster.
    if (measured && places.size() > static_cast<std::size_t>(core.cores)) {
      places.resize(static_cast<std::size_t>(core.cores));
    }
    all.parts = plan_parts(core, request, how, std::move(places), wake_seconds);
  }
  all.grain = grain_of(core, request, how, all.parts);
  const auto kind = split_access::kind_of(how);
  all.may_help = kind == split_access::kind::measured || kind == split_access::kind::dynamic;
  all.threads = threads_of_each(core);
  return all;
}

// Whether a loop that is believed to be short is measured: now and then, and when one before it was not
// short.
thread_local unsigned believed_since = 0;
bool is_sample() noexcept { return ++believed_since % 16 == 0; }
void doubt() noexcept { believed_since = 15; }

bool is_long(const loop_request& request, double rate) noexcept {
  return rate > 0 && static_cast<double>(request.indices) > 2 * wake_seconds * rate;
}

/// Runs the loop on this thread if it is short. Where that is not known, begins it, and moves its begin.
bool run_if_short(scheduler_core& core, loop_request& request, const loop_options& options,
                  const caller& self) {
  if (options.stop.stop_requested()) return false;
  std::size_t home = self.home;
  double rate = core.history.rate(request.body, home);
  if (is_long(request, rate)) {
    // Where a call was held up once, the loop would be long for ever: others are faster, so that it is not
    // measured there again.
    home = self.may_choose ? core.history.fastest(request.body, core.devices.size()) : home;
    rate = core.history.rate(request.body, home);
    if (is_long(request, rate) || !core.group.threads[home]->enabled()) return false;
  }
  const auto run = [&](std::int64_t begin, std::int64_t end) {
    try {
      request.operations->run(request.self, begin, end);
    } catch (...) {
      loop_outcome outcome(request, options.stop);
      outcome.failed({begin * request.unit, request.indices}, std::current_exception());
      outcome.finish(*core.group.sink, options.not_done);
    }
  };
  const bool believed = rate > 0;
  if (believed && !options.stop.stop_possible() && !is_sample()) {
    act_as(*core.group.threads[home], [&] {
      const std::uint64_t began = ticks();
      run(request.begin, request.size);
      if (ticks() - began > most_ticks) doubt();
    });
    return true;
  }
  // A sixteenth of what is believed to be short goes first: bodies of one type need not cost the same each
  // time.
  act_as(*core.group.threads[home], [&] {
    const auto began = clock::now();
    seconds took{0};
    std::int64_t done = request.begin;
    std::int64_t piece = believed ? std::max<std::int64_t>(1, request.size / 16) : 1;
    for (;;) {
      const std::int64_t end = done + std::min(piece, request.size - done);
      run(done, end);
      done = end;
      took = clock::now() - began;
      if (done == request.size || options.stop.stop_requested()) break;
      const seconds rest = took * (static_cast<double>(request.size - done) / static_cast<double>(done));
      if (believed ? rest.count() > 2 * wake_seconds : took >= longest_probe) break;
      piece = believed && rest < unwatched ? request.size - done : 2 * piece;
    }
    // The rest is planned by what was just seen, not by an average of it and of what was believed.
    const bool refuted = believed && done < request.size && !options.stop.stop_requested();
    const auto note = refuted ? &loop_history::note_anew : &loop_history::note;
    (core.history.*note)(request.body, home, core.devices.size(), request.indices_of({0, done}).size(),
                         took.count());
    request.begin = done;
  });
  return request.begin >= request.size;
}

/// What a loop that does not block is made of.
struct started_loop {
  started_loop(scheduler_core& core, const loop_request& request, const loop_options& options, sharing how,
               std::shared_ptr<void> the_owner)
      : owner(std::move(the_owner)),
        not_done(options.not_done),
        loop(core, request, options, std::move(how)) {}
  std::shared_ptr<void> owner;
  std::vector<index_range>* not_done;
  shared_loop loop;
};

/// The last item of a loop that does not block.
struct end_of_loop {
  std::shared_ptr<loop_parts> parts;
  std::shared_ptr<started_loop> started;
  void operator()() {
    auto all = parts->take();
    for (std::size_t k = 0; k < all.size(); ++k) {
      const part_end end = end_of(all[k]);
      if (end.unstarted) {
        started->loop.item_left_out(k);
      } else if (end.error) {
        started->loop.item_failed(k, end.error);
      }
    }
    started->loop.finish(started->not_done);
  }
};

}  // namespace

void run_on_host(scheduler_core& core, const loop_request& asked, const loop_options& options) {
  const counted_loop counted(core, asked.name);
  loop_request request = asked;
  const caller self(core);
  const bool measured = split_access::kind_of(options.split) == split_access::kind::measured;
  if (measured && run_if_short(core, request, options, self)) return;

  shared_loop loop(core, request, options, plan(core, request, options.split, self.may_not_wait, self.home));
  std::size_t mine = 0;
  for (std::size_t k = 0; k < loop.parts(); ++k) {
    if (loop.part(k).device == self.home) mine = k;
  }
  std::vector<future<void>> helpers(loop.parts());
  for (std::size_t k = 0; k < loop.parts(); ++k) {
    if (k == mine) continue;
    try {
      helpers[k] =
          submit_part(core, route::on(core.devices[loop.part(k).device].id).label(options.label), false,
                      [&loop, k](device_context& context) { context.enqueue([&loop, k] { loop.work(k); }); });
    } catch (const error&) {  // no room, or closed meanwhile: this thread does it
    }
  }
  const auto work = [&](std::size_t k) {
    act_as(*core.group.threads[loop.part(k).device], [&] { loop.work(k); });
  };
  work(mine);
  for (std::size_t k = 0; k < loop.parts(); ++k) {
    if (k == mine) continue;
    // A device that has not begun need not begin any more, where this thread may act for it.
    const bool replaceable = loop.may_help() || !self.is_device_thread;
    if (helpers[k].valid() && !(replaceable && helpers[k].cancel())) {
      if (const auto error = wait_for_part(helpers[k])) loop.item_failed(k, error);
    } else if (!loop.may_help()) {
      work(k);
    }
  }
  loop.finish(options.not_done);
}

future<void> start_on_host(scheduler_core& core, const loop_request& request, const loop_options& options,
                           std::shared_ptr<void> owner) {
  const counted_loop counted(core, request.name);
  if (request.size == 0) return submit_part(core, route::any().label(options.label), false, [] {});
  auto started = std::make_shared<started_loop>(
      core, request, options, plan(core, request, options.split, false, 0), std::move(owner));
  auto& loop = started->loop;
  std::vector<future<void>> parts;
  parts.reserve(loop.parts());
  for (std::size_t k = 0; k < loop.parts(); ++k) {
    try {
      parts.push_back(submit_part(core, route::on(core.devices[loop.part(k).device].id).label(options.label),
                                  k > 0, [started, k](device_context& context) {
                                    context.enqueue([started, k] { started->loop.work(k); });
                                  }));
    } catch (...) {
      if (k == 0) throw;
      for (; k < loop.parts(); ++k) {
        if (!loop.may_help()) loop.item_failed(k, std::current_exception());
      }
    }
  }
  return join_parts(end_of_loop{
      std::make_shared<loop_parts>(std::move(parts), [started] { started->loop.cancel(); }), started});
}

}  // namespace heddle::detail
