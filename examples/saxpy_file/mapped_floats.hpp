// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <stdexcept>

namespace saxpy_file {

/// A file cannot be used; the message is a sentence that names it and the reason.
class file_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A file of floats, as the machine stores them, mapped into memory: the system reads and writes pages of it
/// as they are touched, so it may be larger than the memory. Move-only. All of it throws `file_error`.
class mapped_floats {
 public:
  enum class access { read, read_write };

  /// A file that exists, with a whole number of floats, or none.
  mapped_floats(const std::filesystem::path&, access);
  /// A new file of `count` floats, which gets its name by `publish()`, and is gone without: under that name
  /// there is nothing, or the whole file. Its place on the disk is taken now, so that no write can lack it.
  mapped_floats(const std::filesystem::path& wanted, std::size_t count);
  mapped_floats(mapped_floats&&) noexcept;
  mapped_floats& operator=(mapped_floats&&) = delete;
  ~mapped_floats();

  std::span<const float> values() const noexcept { return {data_, size_}; }
  std::span<float> values() noexcept { return {data_, size_}; }

  /// Waits until the file holds what was written to memory.
  void save() const;
  void publish();

 private:
  void map(int descriptor, access);

  std::filesystem::path name_;
  std::filesystem::path unpublished_ = {};  // the name that the new file has meanwhile
  float* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace saxpy_file
