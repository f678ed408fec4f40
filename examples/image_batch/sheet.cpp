// SPDX-License-Identifier: Apache-2.0
#include "sheet.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "paint.hpp"

namespace image_batch {
namespace {

constexpr colour ground{28, 29, 33};
constexpr colour mount{43, 45, 51};
constexpr colour plain_frame{150, 150, 150};
constexpr int frame = 5;
constexpr int gap = 12;
constexpr int dot = 3;      // of the digits
constexpr int padding = 4;  // around a number
constexpr int legend_height = 5 * dot + 2 * padding;
constexpr int cell_width = contact_sheet::thumbnail_box.width + 2 * frame;
constexpr int cell_height = contact_sheet::thumbnail_box.height + 2 * frame;

int tag_width(int id) { return number_width(id, dot) + 2 * padding; }

// A number in dark on its device's colour, as it stands in the corner of each frame and in the legend.
void draw_tag(target_view out, int left, int top, int id) {
  fill(out, left, top, tag_width(id), legend_height, colour_of(id));
  write_number(out, left + padding, top + padding, id, dot, ground);
}

int columns_for(std::size_t pictures) {
  const int wanted = static_cast<int>(std::ceil(std::sqrt(static_cast<double>(pictures) * 1.2)));
  return std::clamp(wanted, 1, 12);
}

}  // namespace

contact_sheet::contact_sheet(std::vector<int> ids, bool coloured)
    : ids_(std::move(ids)), coloured_(coloured) {}

void contact_sheet::add(image thumbnail, int id) {
  if (thumbnail.width > thumbnail_box.width || thumbnail.height > thumbnail_box.height) {
    throw std::invalid_argument("a thumbnail has to fit into the box of the contact sheet");
  }
  if (cells_.size() == most_pictures) {
    ++left_out_;
    return;
  }
  cells_.push_back({std::move(thumbnail), id});
}

image contact_sheet::draw() const {
  if (cells_.empty()) throw std::logic_error("a contact sheet needs at least one picture");
  const int columns = columns_for(cells_.size());
  const int rows = (static_cast<int>(cells_.size()) + columns - 1) / columns;
  image sheet(gap + columns * (cell_width + gap),
              gap + rows * (cell_height + gap) + (coloured_ ? legend_height + gap : 0));
  const auto out = sheet.target();
  fill(out, 0, 0, sheet.width, sheet.height, ground);

  int place = 0;
  for (const auto& [thumbnail, id] : cells_) {
    const int left = gap + place % columns * (cell_width + gap);
    const int top = gap + place / columns * (cell_height + gap);
    ++place;
    fill(out, left, top, cell_width, cell_height, coloured_ ? colour_of(id) : plain_frame);
    fill(out, left + frame, top + frame, thumbnail_box.width, thumbnail_box.height, mount);
    paste(out, left + frame + (thumbnail_box.width - thumbnail.width) / 2,
          top + frame + (thumbnail_box.height - thumbnail.height) / 2, thumbnail.view());
    if (coloured_) draw_tag(out, left, top, id);
  }

  if (coloured_) draw_shares(out);
  return sheet;
}

void contact_sheet::draw_shares(target_view out) const {
  int tags = 0;
  for (const int id : ids_) tags += tag_width(id);
  // Each device gets room for its number, and of what is left its share.
  const auto room = static_cast<std::size_t>(std::max(0, out.width - 2 * gap - tags));
  const int top = out.height - gap - legend_height;
  int left = gap;
  std::size_t made = 0;
  for (const int id : ids_) {
    const std::size_t before = room * made / cells_.size();
    for (const auto& shown : cells_) made += shown.id == id ? 1 : 0;
    const int width = tag_width(id) + static_cast<int>(room * made / cells_.size() - before);
    fill(out, left, top, width, legend_height, colour_of(id));
    draw_tag(out, left, top, id);
    left += width;
  }
}

}  // namespace image_batch
