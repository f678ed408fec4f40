// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "filters.hpp"
#include "heddle/device_context.hpp"
#include "image.hpp"
#include "resize.hpp"

namespace image_batch {

/// What a device makes of one picture.
struct made_picture {
  image picture;
  image thumbnail;  ///< fits into `contact_sheet::thumbnail_box`
  int id = 0;       ///< gpu id of the device
};

/// Shrinks `source` to fit into `box`, applies `what`, and shrinks the result once more to a thumbnail, all
/// on the stream of the item: the pixels of both are there once the item's future is ready, and no sooner.
/// Inside a work item only. Never blocks.
made_picture make_picture(heddle::device_context& context, image source, picture_size box, operation what);

}  // namespace image_batch
