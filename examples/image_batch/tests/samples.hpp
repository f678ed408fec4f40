// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "image.hpp"

/// Files of all kinds, written by libpng and libjpeg themselves and not by the code under test.
namespace image_batch::samples {

using bytes = std::vector<std::uint8_t>;

/// A picture in which every pixel differs from its neighbours; the same one for the same arguments.
image noise(int width, int height, unsigned seed = 1);

/// A picture that survives JPEG: each quarter has one colour (red, green above; blue, white below).
image quarters(int width, int height);

struct png_kind {
  int colour_type;  ///< PNG_COLOR_TYPE_…
  int bit_depth;
  bool interlaced = false;
};

/// A PNG file whose samples, from left to right and top to bottom, are `raw` (packed as the format asks).
/// A palette holds black, red (half transparent), green, blue (fully transparent).
bytes png_file(int width, int height, const png_kind& kind, const bytes& raw);

/// The same, cut after its header: what a file of that size begins with.
bytes png_header(int width, int height);

enum class jpeg_kind { colour, grey, progressive, adobe_inks };

/// A JPEG file of quality 95; `orientation` above 0 adds an EXIF block that says so, `big_endian` in that
/// order.
bytes jpeg_file(const image& picture, jpeg_kind kind = jpeg_kind::colour, int orientation = 0,
                bool big_endian = true);

/// The same file with other sides in its header.
bytes with_jpeg_size(bytes file, int width, int height);

void save(const std::filesystem::path& file, const bytes& content);
bytes load(const std::filesystem::path& file);

/// The first half of a file.
bytes half(bytes file);

}  // namespace image_batch::samples
