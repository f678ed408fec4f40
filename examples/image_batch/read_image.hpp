// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <stdexcept>

#include "image.hpp"

namespace image_batch {

/// A file that gives no picture. The message is the reason alone: "not a PNG or JPEG file".
class bad_picture : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What is refused before memory is allocated for it.
struct read_limits {
  std::int64_t pixels = 100'000'000;
  std::int64_t file_bytes = std::int64_t{1} << 30;
};

/// The picture in a PNG or JPEG file, told by its content, never by its name; upright as its EXIF data says,
/// on a middle grey where it is transparent, 8-bit RGB whatever it was. Any thread; blocks while it reads.
/// Throws `bad_picture` when the file cannot be read, is no picture, is broken or cut short, or is over a
/// limit.
image read_image(const std::filesystem::path& file, const read_limits& limits);

/// The same for bytes in memory that are known to be of the kind. Any thread.
image decode_png(std::span<const std::uint8_t> bytes, const read_limits& limits);
image decode_jpeg(std::span<const std::uint8_t> bytes, const read_limits& limits);

/// Throws `bad_picture` with both sizes if width times height is over the limit.
void check_pixel_count(std::int64_t width, std::int64_t height, const read_limits& limits);

}  // namespace image_batch
