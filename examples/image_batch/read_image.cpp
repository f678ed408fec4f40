// SPDX-License-Identifier: Apache-2.0
#include "read_image.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <string>
#include <system_error>
#include <vector>

namespace image_batch {
namespace {

constexpr std::array<std::uint8_t, 8> png_start{0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
constexpr std::array<std::uint8_t, 3> jpeg_start{0xff, 0xd8, 0xff};

[[noreturn]] void refuse(int code) {
  throw bad_picture("cannot be read: " + std::generic_category().message(code));
}

class open_file {
 public:
  // Without O_NONBLOCK, opening a pipe that nobody writes to would never return.
  explicit open_file(const std::filesystem::path& name)
      : descriptor_(::open(name.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)) {
    if (descriptor_ < 0) refuse(errno);
  }
  open_file(const open_file&) = delete;
  open_file& operator=(const open_file&) = delete;
  ~open_file() { ::close(descriptor_); }

  struct stat status() const {
    struct stat now {};
    if (::fstat(descriptor_, &now) != 0) refuse(errno);
    return now;
  }

  /// Fills `to` from where the last read ended; the number of bytes that the file still had.
  std::size_t read(std::span<std::uint8_t> to) const {
    std::size_t have = 0;
    while (have < to.size()) {
      const auto got = ::read(descriptor_, to.data() + have, to.size() - have);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) refuse(errno);
      if (got == 0) break;
      have += static_cast<std::size_t>(got);
    }
    return have;
  }

 private:
  int descriptor_;
};

template <std::size_t N>
bool begins_with(std::span<const std::uint8_t> bytes, const std::array<std::uint8_t, N>& start) {
  return bytes.size() >= N && std::equal(start.begin(), start.end(), bytes.begin());
}

std::string mebibytes(std::int64_t bytes) { return std::to_string(bytes >> 20) + " MiB"; }

}  // namespace

void check_pixel_count(std::int64_t width, std::int64_t height, const read_limits& limits) {
  if (width < 1 || height < 1 || height <= limits.pixels / width) return;  // decoders refuse sizes below 1
  throw bad_picture("too large: " + std::to_string(width) + " x " + std::to_string(height) +
                    " pixels, the limit is " + std::to_string(limits.pixels / 1'000'000) +
                    " megapixels (--max-megapixels)");
}

image read_image(const std::filesystem::path& file, const read_limits& limits) {
  const open_file input(file);
  const auto status = input.status();
  if (S_ISDIR(status.st_mode)) throw bad_picture("a folder, not a picture");
  if (!S_ISREG(status.st_mode)) throw bad_picture("not a regular file");
  if (status.st_size == 0) throw bad_picture("an empty file");

  std::vector<std::uint8_t> bytes(png_start.size());
  bytes.resize(input.read(bytes));
  const bool png = begins_with(bytes, png_start);
  if (!png && !begins_with(bytes, jpeg_start)) throw bad_picture("not a PNG or JPEG file");
  if (status.st_size > limits.file_bytes)
    throw bad_picture("too large: a file of " + mebibytes(status.st_size) + ", the limit is " +
                      mebibytes(limits.file_bytes));

  const std::size_t have = bytes.size();
  bytes.resize(std::max(have, static_cast<std::size_t>(status.st_size)));
  bytes.resize(have + input.read(std::span(bytes).subspan(have)));
  return png ? decode_png(bytes, limits) : decode_jpeg(bytes, limits);
}

}  // namespace image_batch
