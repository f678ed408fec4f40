// SPDX-License-Identifier: Apache-2.0
#include "make_picture.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "device_picture.hpp"
#include "heddle/extents.hpp"
#include "kernels/image.hpp"
#include "sheet.hpp"

namespace image_batch {
namespace {

/// One step of the work: row by row on host devices, and the kernel of the same arithmetic on GPUs.
struct step {
  row_function row;
  heddle::kernels::image_function kernel;  // null: a copy
};

step step_of(operation what) {
  switch (what) {
    case operation::sharpen:
      return {row_of(what), heddle::kernels::sharpen};
    case operation::blur:
      return {row_of(what), heddle::kernels::blur};
    case operation::edges:
      return {row_of(what), heddle::kernels::edges};
    case operation::none:
      break;
  }
  return {row_of(what), nullptr};
}

/// A new picture on the device, made from `in`.
target_view apply(heddle::device_context& context, const step& what, image_view in, picture_size size) {
  const auto out = device_picture(context, size.width, size.height);
  const auto bytes = static_cast<std::size_t>(out.width) * static_cast<std::size_t>(out.height) * 3;
  if (context.info().kind == heddle::backend::cuda && what.kernel != nullptr) {
    what.kernel(context, {in.pixels, in.width, in.height}, {out.pixels, out.width, out.height});
    return out;
  }
  if (what.kernel == nullptr) {
    context.copy(std::span(out.pixels, bytes), std::span(in.pixels, bytes));
    return out;
  }
  context.launch(
      heddle::extents{out.height},
      [compute = what.row](std::int64_t y, image_view from, target_view to) { compute(from, to, y); }, in,
      out);
  return out;
}

}  // namespace

made_picture make_picture(heddle::device_context& context, image source, picture_size box, operation what) {
  const auto size = fit({source.width, source.height}, box);
  const auto full = upload(context, std::move(source));
  const step shrink{resize_row, heddle::kernels::resize};
  const auto small = apply(context, shrink, full, size).read();
  const auto result = apply(context, step_of(what), small, size).read();
  const auto thumbnail = apply(context, shrink, result, fit(size, contact_sheet::thumbnail_box)).read();
  return {download(context, result), download(context, thumbnail), context.id()};
}

}  // namespace image_batch
