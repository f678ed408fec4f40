// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <png.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "orientation.hpp"
#include "read_image.hpp"
#include "tests/samples.hpp"

namespace image_batch {
namespace {

using samples::bytes;
using samples::jpeg_kind;

bytes rgb_of(const image& picture) { return picture.pixels; }

std::string refusal(const bytes& file, bool png, const read_limits& limits = {}) {
  try {
    static_cast<void>(png ? decode_png(file, limits) : decode_jpeg(file, limits));
  } catch (const bad_picture& error) {
    return error.what();
  }
  return "";
}

int largest_difference(const image& a, const image& b) {
  if (a.width != b.width || a.height != b.height) return 1000;
  int largest = 0;
  for (std::size_t k = 0; k < a.pixels.size(); ++k)
    largest = std::max(largest, std::abs(a.pixels[k] - b.pixels[k]));
  return largest;
}

TEST(PngDecoder, GivesColoursUnchanged) {
  const auto picture = samples::noise(13, 7);
  EXPECT_EQ(decode_png(samples::png_file(13, 7, {PNG_COLOR_TYPE_RGB, 8}, picture.pixels), {}), picture);
}

TEST(PngDecoder, GivesInterlacedPicturesUnchanged) {
  const auto picture = samples::noise(13, 7);
  EXPECT_EQ(decode_png(samples::png_file(13, 7, {PNG_COLOR_TYPE_RGB, 8, true}, picture.pixels), {}), picture);
}

TEST(PngDecoder, RepeatsGreyInAllChannels) {
  const auto file = samples::png_file(2, 1, {PNG_COLOR_TYPE_GRAY, 8}, {10, 200});
  EXPECT_EQ(rgb_of(decode_png(file, {})), (bytes{10, 10, 10, 200, 200, 200}));
}

TEST(PngDecoder, SpreadsSingleBitsToBlackAndWhite) {
  const auto file = samples::png_file(2, 1, {PNG_COLOR_TYPE_GRAY, 1}, {0b01000000});
  EXPECT_EQ(rgb_of(decode_png(file, {})), (bytes{0, 0, 0, 255, 255, 255}));
}

TEST(PngDecoder, TakesTheUpperByteOf16Bits) {
  const auto file = samples::png_file(1, 1, {PNG_COLOR_TYPE_RGB, 16}, {0x40, 0x40, 0x80, 0x80, 0xff, 0xff});
  const auto rgb = rgb_of(decode_png(file, {}));
  EXPECT_NEAR(rgb[0], 0x40, 1);
  EXPECT_NEAR(rgb[1], 0x80, 1);
  EXPECT_EQ(rgb[2], 0xff);
}

TEST(PngDecoder, LooksUpPalettes) {
  const auto file = samples::png_file(2, 1, {PNG_COLOR_TYPE_PALETTE, 2}, {0b00100000});  // 0: black, 2: green
  EXPECT_EQ(rgb_of(decode_png(file, {})), (bytes{0, 0, 0, 0, 255, 0}));
}

TEST(PngDecoder, PutsTransparentPixelsOnGrey) {
  const auto file = samples::png_file(2, 1, {PNG_COLOR_TYPE_RGB_ALPHA, 8}, {9, 8, 7, 0, 9, 8, 7, 255});
  EXPECT_EQ(rgb_of(decode_png(file, {})), (bytes{128, 128, 128, 9, 8, 7}));
}

TEST(PngDecoder, PutsTransparentPaletteEntriesOnGrey) {
  const auto file = samples::png_file(1, 1, {PNG_COLOR_TYPE_PALETTE, 2}, {0b11000000});  // 3: blue, invisible
  EXPECT_EQ(rgb_of(decode_png(file, {})), (bytes{128, 128, 128}));
}

TEST(PngDecoder, ShowsWhiteStrokesOnAClearGround) {
  const auto file =
      samples::png_file(2, 1, {PNG_COLOR_TYPE_RGB_ALPHA, 8}, {255, 255, 255, 0, 255, 255, 255, 255});
  const auto rgb = rgb_of(decode_png(file, {}));
  EXPECT_GT(rgb[3] - rgb[0], 100);
}

TEST(PngDecoder, RefusesAFileCutShortAnywhere) {
  const auto picture = samples::noise(40, 30);
  const auto file = samples::png_file(40, 30, {PNG_COLOR_TYPE_RGB, 8}, picture.pixels);
  for (std::size_t size = 8; size + 16 < file.size(); size += 37) {
    EXPECT_NE(refusal({file.begin(), file.begin() + static_cast<std::ptrdiff_t>(size)}, true), "") << size;
  }
}

TEST(PngDecoder, RefusesDamagedData) {
  const auto picture = samples::noise(40, 30);
  auto file = samples::png_file(40, 30, {PNG_COLOR_TYPE_RGB, 8}, picture.pixels);
  file[file.size() / 2] ^= 0x55;
  EXPECT_NE(refusal(file, true).find("a broken PNG file: "), std::string::npos);
}

TEST(PngDecoder, RefusesHugePicturesByTheirHeader) {
  EXPECT_EQ(refusal(samples::png_header(60000, 50000), true),
            "too large: 60000 x 50000 pixels, the limit is 100 megapixels (--max-megapixels)");
}

TEST(PngDecoder, RefusesOnePixelMoreThanTheLimit) {
  const auto file = samples::png_file(3, 1, {PNG_COLOR_TYPE_GRAY, 8}, {1, 2, 3});
  EXPECT_NE(refusal(file, true, {.pixels = 2}), "");
  EXPECT_EQ(refusal(file, true, {.pixels = 3}), "");
}

TEST(JpegDecoder, GivesColoursNearly) {
  const auto picture = samples::quarters(64, 32);
  EXPECT_LE(largest_difference(decode_jpeg(samples::jpeg_file(picture), {}), picture), 6);
}

TEST(JpegDecoder, ReadsProgressiveFiles) {
  const auto picture = samples::quarters(64, 32);
  EXPECT_LE(largest_difference(decode_jpeg(samples::jpeg_file(picture, jpeg_kind::progressive), {}), picture),
            6);
}

TEST(JpegDecoder, RepeatsGreyInAllChannels) {
  const auto result = decode_jpeg(samples::jpeg_file(samples::noise(16, 16), jpeg_kind::grey), {});
  for (std::size_t k = 0; k < result.pixels.size(); k += 3) {
    ASSERT_EQ(result.pixels[k], result.pixels[k + 1]);
    ASSERT_EQ(result.pixels[k], result.pixels[k + 2]);
  }
}

TEST(JpegDecoder, TurnsInksIntoLight) {
  const auto picture = samples::quarters(64, 32);
  EXPECT_LE(largest_difference(decode_jpeg(samples::jpeg_file(picture, jpeg_kind::adobe_inks), {}), picture),
            8);
}

TEST(JpegDecoder, RefusesAFileCutShortAnywhere) {
  const auto file = samples::jpeg_file(samples::noise(40, 30));
  for (std::size_t size = 3; size < file.size(); size += 29) {
    EXPECT_NE(refusal({file.begin(), file.begin() + static_cast<std::ptrdiff_t>(size)}, false), "") << size;
  }
}

TEST(JpegDecoder, NamesThePrematureEnd) {
  EXPECT_EQ(refusal(samples::half(samples::jpeg_file(samples::noise(40, 30))), false),
            "a broken JPEG file: Premature end of JPEG file");
}

TEST(JpegDecoder, RefusesHugePicturesByTheirHeader) {
  const auto file = samples::with_jpeg_size(samples::jpeg_file(samples::noise(8, 8)), 65000, 64000);
  EXPECT_EQ(refusal(file, false),
            "too large: 65000 x 64000 pixels, the limit is 100 megapixels (--max-megapixels)");
}

// What each orientation makes of the quarters red, green, blue, white, from the top left, row by row. After
// the table of EXIF 2.3, section 4.6.4, "Orientation".
TEST(JpegDecoder, TurnsPicturesUpright) {
  constexpr const char* expected[] = {"rgbw", "grwb", "wbgr", "bwrg", "rbgw", "brwg", "wgbr", "gwrb"};
  for (int orientation = 1; orientation <= 8; ++orientation) {
    for (const bool big_endian : {false, true}) {
      const auto file =
          samples::jpeg_file(samples::quarters(64, 32), jpeg_kind::colour, orientation, big_endian);
      const auto upright = decode_jpeg(file, {});
      std::string found;
      for (int k = 0; k < 4; ++k) {
        const auto* p = upright.view().row(upright.height * (k / 2 * 2 + 1) / 4) +
                        std::ptrdiff_t{upright.width * (k % 2 * 2 + 1) / 4} * 3;
        found += p[0] > 128 ? (p[1] > 128 ? 'w' : 'r') : (p[1] > 128 ? 'g' : 'b');
      }
      EXPECT_EQ(found, expected[orientation - 1]) << orientation;
      EXPECT_EQ(upright.width, orientation >= 5 ? 32 : 64) << orientation;
    }
  }
}

// Any damage gives a picture or `bad_picture`: nothing else is thrown, and under the sanitizers nothing is
// found.
TEST(Decoders, SurviveDamageAnywhere) {
  const auto picture = samples::noise(24, 20);
  const bytes png = samples::png_file(24, 20, {PNG_COLOR_TYPE_RGB, 8, true}, picture.pixels);
  const bytes files[] = {png, samples::jpeg_file(picture, jpeg_kind::progressive, 6),
                         samples::jpeg_file(picture, jpeg_kind::adobe_inks)};
  const auto random = samples::noise(64, 64, 7).pixels;
  std::size_t next = 0;
  for (const auto& file : files) {
    for (int round = 0; round < 400; ++round) {
      auto damaged = file;
      for (int k = 0; k < 1 + round % 3; ++k, next += 3) {
        const std::size_t at = random[next % 12000] * 256u + random[next % 12000 + 1];
        damaged[at % damaged.size()] = random[next % 12000 + 2];
      }
      EXPECT_NO_THROW(static_cast<void>(refusal(damaged, &file == &files[0], {.pixels = 100'000})));
    }
  }
}

TEST(ExifOrientation, IsUprightForBrokenBlocks) {
  auto file = samples::jpeg_file(samples::quarters(64, 32), jpeg_kind::colour, 6);
  const std::string start("Exif\0\0", 6);
  const auto at = std::search(file.begin(), file.end(), start.begin(), start.end());
  const bytes segment(at, at + 32);
  ASSERT_EQ(exif_orientation(segment), 6);
  for (std::size_t size = 0; size < 26; ++size) {
    EXPECT_EQ(exif_orientation(std::span(segment).first(size)), 1) << size;
  }
}

TEST(ExifOrientation, EndsForADirectoryThatClaimsTheWholeAddressSpace) {
  bytes segment{'E', 'x', 'i', 'f', 0, 0, 'M', 'M', 0, 42, 0xff, 0xff, 0xff, 0xff};
  EXPECT_EQ(exif_orientation(segment), 1);
}

}  // namespace
}  // namespace image_batch
