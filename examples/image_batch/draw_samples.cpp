// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <deque>
#include <utility>

#include "device_picture.hpp"
#include "draw.hpp"
#include "heddle/extents.hpp"
#include "heddle/route.hpp"
#include "interrupt.hpp"
#include "job.hpp"
#include "write_png.hpp"

namespace image_batch {
namespace {

image draw(heddle::device_context& context, const drawing& what) {
  const auto out = device_picture(context, what.width, what.height);
  context.launch(
      heddle::extents{out.height},
      [](std::int64_t y, const drawing& plan, target_view to) { draw_row(plan, to, y); }, what, out);
  return download(context, out.read());
}

heddle::future<bool> start(heddle::scheduler& sched, int number, const std::filesystem::path& folder) {
  const auto any = heddle::route::any();
  const auto name = file_name_of(number);
  return sched
      .submit([what = drawing_of(number)](heddle::device_context& context) { return draw(context, what); },
              heddle::route(any).label("draw " + name))
      .then(
          [file = folder / name](const image& picture) {
            write_png(file, picture.view());
            return true;
          },
          heddle::route(any).label("write " + name).in_arena());
}

}  // namespace

int draw_samples(heddle::scheduler& sched, int count, const std::filesystem::path& folder) {
  const std::size_t most = 2 * sched.devices().size() + 2;
  std::deque<heddle::future<bool>> in_flight;
  int started = 0;
  while (!in_flight.empty() || (started < count && !interrupted())) {
    if (in_flight.size() < most && started < count && !interrupted()) {
      in_flight.push_back(start(sched, started++, folder));
    } else {
      in_flight.front().get();
      in_flight.pop_front();
    }
  }
  return started;
}

}  // namespace image_batch
