// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "heddle/device_context.hpp"
#include "image.hpp"

namespace image_batch {

/// Memory of the item's device for a picture of this size; it lives until the item's stream work is done.
/// Inside a work item only, as everything here.
inline target_view device_picture(heddle::device_context& context, int width, int height) {
  const std::size_t bytes = static_cast<std::size_t>(width) * static_cast<std::size_t>(height) * 3;
  return {context.scratch<std::uint8_t>(bytes).data(), width, height};
}

/// Puts a copy of the picture into the device's memory on the item's stream, and keeps it until that is done.
inline image_view upload(heddle::device_context& context, image picture) {
  const auto& kept = context.keep(std::move(picture));
  const auto on_device = device_picture(context, kept.width, kept.height);
  context.copy(std::span(on_device.pixels, kept.pixels.size()), std::span(kept.pixels));
  return on_device.read();
}

/// A picture of the host that is filled from the device's memory when the item's future is ready, and no
/// sooner. It may be moved before that, as results of items are: its pixels stay where they are.
inline image download(heddle::device_context& context, image_view on_device) {
  image picture(on_device.width, on_device.height);
  context.copy(std::span(picture.pixels), std::span(on_device.pixels, picture.pixels.size()));
  return picture;
}

}  // namespace image_batch
