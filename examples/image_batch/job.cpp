// SPDX-License-Identifier: Apache-2.0
#include "job.hpp"

#include <cstdio>
#include <deque>
#include <exception>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include "heddle/route.hpp"
#include "interrupt.hpp"
#include "make_picture.hpp"
#include "progress.hpp"
#include "shown_name.hpp"
#include "write_png.hpp"

namespace image_batch {
namespace {

/// What is left of a picture once its result is on disk.
struct finished_picture {
  image thumbnail;
  picture_size size;
  int id = 0;
};

struct picture_in_flight {
  const picture_task* task;
  heddle::future<finished_picture> result;
};

heddle::route named(heddle::route route, const char* verb, const picture_task& task) {
  return std::move(route.label(verb + (' ' + shown_name(task.input.filename()))));
}

heddle::future<finished_picture> start(heddle::scheduler& sched, const picture_task& task,
                                       const job_settings& settings) {
  auto read = [input = task.input, limits = settings.limits] { return read_image(input, limits); };
  auto make = [what = settings.what, side = settings.size](heddle::device_context& context, image source) {
    return make_picture(context, std::move(source), {side, side}, what);
  };
  auto write = [output = settings.out / task.output_name](made_picture made) {
    write_png(output, made.picture.view());
    return finished_picture{std::move(made.thumbnail), {made.picture.width, made.picture.height}, made.id};
  };
  const auto any = heddle::route::any();
  return sched.submit(std::move(read), named(any, "read", task).in_arena())
      .then(std::move(make), named(any, "make", task))
      .then(std::move(write), named(any, "write", task).in_arena());
}

std::string reason_of(const std::exception& error) {
  return dynamic_cast<const std::bad_alloc*>(&error) != nullptr ? "not enough memory" : error.what();
}

/// Takes the results in input order and tells of them.
class collector {
 public:
  collector(std::size_t total, bool quiet, contact_sheet& sheet)
      : quiet_(quiet), sheet_(sheet), progress_(total) {}

  void take(picture_in_flight picture) {
    const auto name = shown_name(picture.task->input.filename());
    try {
      auto finished = picture.result.get();
      ++totals_.done;
      ++totals_.made_by[finished.id];
      if (!quiet_) print_done(name, *picture.task, finished);
      sheet_.add(std::move(finished.thumbnail), finished.id);
    } catch (const std::exception& error) {
      ++totals_.skipped;
      progress_.clear();
      std::fprintf(stderr, "skipped %s: %s\n", name.c_str(), reason_of(error).c_str());
    }
    progress_.advance();
  }

  job_totals totals() const { return totals_; }

 private:
  void print_done(const std::string& name, const picture_task& task, const finished_picture& finished) {
    progress_.clear();
    std::printf("%s -> %s, %d x %d, gpu %d\n", name.c_str(), shown_name(task.output_name).c_str(),
                finished.size.width, finished.size.height, finished.id);
    std::fflush(stdout);  // in step with standard error, where both are one terminal
  }

  bool quiet_;
  contact_sheet& sheet_;
  progress_line progress_;
  job_totals totals_ = {};
};

}  // namespace

job_totals run_job(heddle::scheduler& sched, const std::vector<picture_task>& tasks,
                   const job_settings& settings, contact_sheet& sheet) {
  const std::size_t most = settings.in_flight > 0 ? settings.in_flight : 2 * sched.devices().size() + 2;
  collector results(tasks.size(), settings.quiet, sheet);
  std::deque<picture_in_flight> in_flight;
  std::size_t started = 0;
  while (!in_flight.empty() || (started < tasks.size() && !interrupted())) {
    if (in_flight.size() < most && started < tasks.size() && !interrupted()) {
      const auto& task = tasks[started++];
      in_flight.push_back({&task, start(sched, task, settings)});
    } else {
      results.take(std::move(in_flight.front()));
      in_flight.pop_front();
    }
  }
  auto totals = results.totals();
  totals.not_started = tasks.size() - started;
  return totals;
}

}  // namespace image_batch
