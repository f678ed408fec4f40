// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstddef>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "paint.hpp"
#include "sheet.hpp"
#include "tests/samples.hpp"

namespace image_batch {
namespace {

bool contains(const image& picture, colour wanted) {
  for (std::size_t k = 0; k < picture.pixels.size(); k += 3) {
    const colour found{picture.pixels[k], picture.pixels[k + 1], picture.pixels[k + 2]};
    if (found == wanted) return true;
  }
  return false;
}

TEST(ContactSheet, FramesPicturesInTheColourOfTheirDevice) {
  contact_sheet sheet({0, 1, 2}, true);
  sheet.add(image(10, 10), 1);
  const auto picture = sheet.draw();
  const auto blue = colour_of(1);
  const auto* corner = picture.view().row(140) + std::ptrdiff_t{13} * 3;  // left edge of the frame
  EXPECT_EQ((colour{corner[0], corner[1], corner[2]}), blue);
}

TEST(ContactSheet, ShowsEveryDeviceInItsBar) {
  contact_sheet sheet({0, 1, 2}, true);
  sheet.add(image(10, 10), 1);
  for (const int id : {0, 1, 2}) EXPECT_TRUE(contains(sheet.draw(), colour_of(id))) << id;
}

TEST(ContactSheet, TellsNothingOfDevicesWithoutColours) {
  contact_sheet one({0}, false);
  contact_sheet two({0, 1}, false);
  one.add(samples::noise(20, 20), 0);
  two.add(samples::noise(20, 20), 1);
  EXPECT_EQ(one.draw(), two.draw());
}

TEST(ContactSheet, LeavesOutWhatIsTooMuch) {
  contact_sheet sheet({0}, true);
  for (std::size_t k = 0; k < contact_sheet::most_pictures + 5; ++k) sheet.add(image(1, 1), 0);
  EXPECT_EQ(sheet.shown(), contact_sheet::most_pictures);
  EXPECT_EQ(sheet.left_out(), 5u);
}

TEST(ContactSheet, RefusesAThumbnailThatIsTooLarge) {
  contact_sheet sheet({0}, true);
  EXPECT_THROW(sheet.add(image(contact_sheet::thumbnail_box.width + 1, 1), 0), std::invalid_argument);
}

TEST(ContactSheet, HasRoomForManyDevices) {
  std::vector<int> ids(300);
  std::iota(ids.begin(), ids.end(), -150);
  contact_sheet sheet(ids, true);
  sheet.add(image(10, 10), 149);
  EXPECT_NO_THROW(static_cast<void>(sheet.draw()));
}

}  // namespace
}  // namespace image_batch
