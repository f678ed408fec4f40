// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <stdexcept>
#include <vector>

#include "image.hpp"

namespace image_batch {

/// A file could not be written; nothing of it is left. The message names the file and the reason.
class write_failure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The bytes of a PNG file; the same bytes for the same picture, always.
std::vector<std::uint8_t> encode_png(image_view picture);

/// Writes the bytes under a temporary name in the same folder, then renames: under the name `file` there is
/// ever only the old file or the whole new one. Any thread; blocks. Throws `write_failure`; the temporary
/// file is gone then.
void write_whole_file(const std::filesystem::path& file, std::span<const std::uint8_t> bytes);

/// Both of the above.
void write_png(const std::filesystem::path& file, image_view picture);

}  // namespace image_batch
