// SPDX-License-Identifier: Apache-2.0
#include <png.h>

#include <cstddef>
#include <string>

#include "read_image.hpp"

namespace image_batch {
namespace {

// libpng's simplified interface catches its own long jumps, so that none ever crosses a frame of ours.
struct png_reader {
  png_image png{};

  png_reader() { png.version = PNG_IMAGE_VERSION; }
  png_reader(const png_reader&) = delete;
  png_reader& operator=(const png_reader&) = delete;
  ~png_reader() { png_image_free(&png); }

  [[noreturn]] void refuse() const { throw bad_picture(std::string("a broken PNG file: ") + png.message); }
};

// What lies under transparent pixels. Pictures that are all white strokes, or all black ones, are common, and
// only on a grey can both be seen.
constexpr png_color ground{128, 128, 128};

std::int64_t big_endian(std::span<const std::uint8_t> four) {
  return (std::int64_t{four[0]} << 24) | (four[1] << 16) | (four[2] << 8) | four[3];
}

}  // namespace

image decode_png(std::span<const std::uint8_t> bytes, const read_limits& limits) {
  // The header stands at a fixed place. Read here first, since libpng has a limit of its own on the sides and
  // a message that calls such a file invalid.
  if (bytes.size() >= 24) {
    check_pixel_count(big_endian(bytes.subspan(16)), big_endian(bytes.subspan(20)), limits);
  }
  png_reader reader;
  if (png_image_begin_read_from_memory(&reader.png, bytes.data(), bytes.size()) == 0) reader.refuse();
  check_pixel_count(reader.png.width, reader.png.height, limits);
  reader.png.format = PNG_FORMAT_RGB;
  reader.png.flags |= PNG_IMAGE_FLAG_16BIT_sRGB;  // 16-bit files without a gamma are not linear in practice

  image result(static_cast<int>(reader.png.width), static_cast<int>(reader.png.height));
  if (png_image_finish_read(&reader.png, &ground, result.pixels.data(), 0, nullptr) == 0) reader.refuse();
  return result;
}

}  // namespace image_batch
