// SPDX-License-Identifier: Apache-2.0
#include "make_picture.hpp"

#include <cstdint>
#include <utility>

#include "device_picture.hpp"
#include "heddle/extents.hpp"
#include "sheet.hpp"

namespace image_batch {
namespace {

/// A new picture on the device, whose rows `compute` makes from `in` in parallel.
target_view apply(heddle::device_context& context, row_function compute, image_view in, picture_size size) {
  const auto out = device_picture(context, size.width, size.height);
  context.launch(
      heddle::extents{out.height},
      [compute](std::int64_t y, image_view from, target_view to) { compute(from, to, y); }, in, out);
  return out;
}

}  // namespace

made_picture make_picture(heddle::device_context& context, image source, picture_size box, operation what) {
  const auto size = fit({source.width, source.height}, box);
  const auto full = upload(context, std::move(source));
  const auto small = apply(context, resize_row, full, size).read();
  const auto result = apply(context, row_of(what), small, size).read();
  const auto thumbnail = apply(context, resize_row, result, fit(size, contact_sheet::thumbnail_box)).read();
  return {download(context, result), download(context, thumbnail), context.id()};
}

}  // namespace image_batch
