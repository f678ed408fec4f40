// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "image.hpp"
#include "resize.hpp"

namespace image_batch {

/// A contact sheet: small pictures in the order in which they were added, each in a frame whose colour and
/// number tell the gpu id of the device that made it; a bar at the bottom shows each device's share of the
/// pictures. Not thread-safe.
class contact_sheet {
 public:
  /// More pictures than this are counted but not shown.
  static constexpr std::size_t most_pictures = 200;

  /// What small pictures have to fit into.
  static constexpr picture_size thumbnail_box{192, 144};

  /// `ids`: the gpu ids of all devices, for the bar. `coloured`: without it all frames are of one grey and
  /// nothing tells the devices apart: the same bytes however many there are.
  contact_sheet(std::vector<int> ids, bool coloured);

  /// `thumbnail` fits into `thumbnail_box`, or `std::invalid_argument`.
  void add(image thumbnail, int id);

  std::size_t shown() const noexcept { return cells_.size(); }
  std::size_t left_out() const noexcept { return left_out_; }

  /// The picture of the sheet. Throws `std::logic_error` for a sheet without pictures.
  image draw() const;

 private:
  void draw_shares(target_view out) const;

  struct cell {
    image thumbnail;
    int id;
  };

  std::vector<int> ids_;
  bool coloured_;
  std::vector<cell> cells_ = {};
  std::size_t left_out_ = 0;
};

}  // namespace image_batch
