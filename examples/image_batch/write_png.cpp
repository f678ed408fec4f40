// SPDX-License-Identifier: Apache-2.0
#include "write_png.hpp"

#include <fcntl.h>
#include <png.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <string>
#include <system_error>

#include "shown_name.hpp"

namespace image_batch {
namespace {

[[noreturn]] void fail(const std::filesystem::path& file, const std::string& reason) {
  throw write_failure("cannot write " + shown_name(file) + ": " + reason);
}

[[noreturn]] void fail(const std::filesystem::path& file, int code) {
  fail(file, std::generic_category().message(code));
}

// What a link leads to: a new file takes the place of that, and of no device or pipe.
std::filesystem::path file_of(const std::filesystem::path& wanted) {
  std::error_code none;
  const auto status = std::filesystem::status(wanted, none);
  if (!std::filesystem::exists(status)) return wanted;
  if (!std::filesystem::is_regular_file(status)) fail(wanted, "it is there, and is no regular file");
  const auto file = std::filesystem::canonical(wanted, none);
  return none ? wanted : file;
}

// A file that does not outlive this object unless it got its real name.
class unfinished_file {
 public:
  explicit unfinished_file(const std::filesystem::path& wanted) : wanted_(file_of(wanted)) {
    static std::atomic<unsigned> count{0};
    do {
      // Short, since the real name may already be as long as names may be.
      name_ = wanted_.parent_path() /
              (".image_batch-" + std::to_string(::getpid()) + "-" + std::to_string(count.fetch_add(1)));
      descriptor_ = ::open(name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    } while (descriptor_ < 0 && errno == EEXIST);
    if (descriptor_ < 0) fail(wanted_, errno);
  }
  unfinished_file(const unfinished_file&) = delete;
  unfinished_file& operator=(const unfinished_file&) = delete;
  ~unfinished_file() {
    if (descriptor_ >= 0) ::close(descriptor_);
    if (!finished_) ::unlink(name_.c_str());
  }

  void write(std::span<const std::uint8_t> bytes) {
    while (!bytes.empty()) {
      const auto written = ::write(descriptor_, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) fail(wanted_, errno);
      bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
  }

  void finish() {
    const int status = ::close(descriptor_);  // where a network file system tells that there was no room
    descriptor_ = -1;
    if (status != 0) fail(wanted_, errno);
    if (::rename(name_.c_str(), wanted_.c_str()) != 0) fail(wanted_, errno);
    finished_ = true;
  }

 private:
  std::filesystem::path wanted_;
  std::filesystem::path name_ = {};
  int descriptor_ = -1;
  bool finished_ = false;
};

}  // namespace

std::vector<std::uint8_t> encode_png(image_view picture) {
  png_image png{};
  png.version = PNG_IMAGE_VERSION;
  png.width = static_cast<png_uint_32>(picture.width);
  png.height = static_cast<png_uint_32>(picture.height);
  png.format = PNG_FORMAT_RGB;
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(png);
  std::vector<std::uint8_t> bytes(size);
  if (png_image_write_to_memory(&png, bytes.data(), &size, 0, picture.pixels, 0, nullptr) == 0) {
    throw std::runtime_error(std::string("cannot encode a PNG file: ") + png.message);
  }
  bytes.resize(size);
  return bytes;
}

void write_whole_file(const std::filesystem::path& file, std::span<const std::uint8_t> bytes) {
  unfinished_file output(file);
  output.write(bytes);
  output.finish();
}

void write_png(const std::filesystem::path& file, image_view picture) {
  write_whole_file(file, encode_png(picture));
}

}  // namespace image_batch
