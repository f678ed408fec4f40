// SPDX-License-Identifier: Apache-2.0
#include "saxpy_file/mapped_floats.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

#include "image_batch/shown_name.hpp"

namespace saxpy_file {
namespace {

[[noreturn]] void fail(const std::filesystem::path& file, const char* what, int code) {
  throw file_error("cannot " + std::string(what) + ' ' + image_batch::shown_name(file) + ": " +
                   std::generic_category().message(code));
}

/// Closed at the end; a mapping does not need it.
struct descriptor {
  int number;
  ~descriptor() { ::close(number); }
};

}  // namespace

mapped_floats::mapped_floats(const std::filesystem::path& name, access how) : name_(name) {
  const descriptor file{::open(name.c_str(), (how == access::read ? O_RDONLY : O_RDWR) | O_CLOEXEC)};
  if (file.number < 0) fail(name, how == access::read ? "read" : "change", errno);
  struct stat status {};
  if (::fstat(file.number, &status) != 0) fail(name, "read", errno);
  const auto shown = image_batch::shown_name(name);
  if (!S_ISREG(status.st_mode)) throw file_error(shown + " is not a file with data: give one with floats");
  const auto bytes = static_cast<std::size_t>(status.st_size);
  if (bytes % sizeof(float) != 0) {
    throw file_error(shown + " has " + std::to_string(bytes) +
                     " bytes, which is no whole number of floats of " + std::to_string(sizeof(float)) +
                     " bytes: it is cut off, or holds something else");
  }
  size_ = bytes / sizeof(float);
  map(file.number, how);
}

mapped_floats::mapped_floats(const std::filesystem::path& wanted, std::size_t count)
    : name_(wanted), size_(count) {
  if (std::filesystem::exists(wanted)) {
    throw file_error(image_batch::shown_name(wanted) + " exists already: remove it, or name another folder");
  }
  const auto temporary =
      wanted.parent_path() / ("." + wanted.filename().string() + "-" + std::to_string(::getpid()));
  const descriptor file{::open(temporary.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666)};
  if (file.number < 0) fail(wanted, "make", errno);
  unpublished_ = temporary;
  try {
    if (count == 0) return;  // for which there is nothing to allocate or map
    const int code = ::posix_fallocate(file.number, 0, static_cast<off_t>(count * sizeof(float)));
    if (code != 0) fail(wanted, "make", code);
    map(file.number, access::read_write);
  } catch (...) {
    ::unlink(unpublished_.c_str());
    throw;
  }
}

mapped_floats::mapped_floats(mapped_floats&& other) noexcept
    : name_(std::move(other.name_)),
      unpublished_(std::exchange(other.unpublished_, {})),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

mapped_floats::~mapped_floats() {
  if (data_ != nullptr) ::munmap(data_, size_ * sizeof(float));
  if (!unpublished_.empty()) ::unlink(unpublished_.c_str());
}

void mapped_floats::map(int file, access how) {
  if (size_ == 0) return;
  const int protection = how == access::read ? PROT_READ : PROT_READ | PROT_WRITE;
  void* const memory = ::mmap(nullptr, size_ * sizeof(float), protection, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) fail(name_, "map", errno);
  data_ = static_cast<float*>(memory);
}

void mapped_floats::save() const {
  if (data_ != nullptr && ::msync(data_, size_ * sizeof(float), MS_SYNC) != 0) fail(name_, "write", errno);
}

void mapped_floats::publish() {
  save();
  if (::rename(unpublished_.c_str(), name_.c_str()) != 0) fail(name_, "make", errno);
  unpublished_.clear();
}

}  // namespace saxpy_file
