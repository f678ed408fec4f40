// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>

#include "heddle/scheduler.hpp"

#if defined(LIBCUDACXX_ENABLE_EXPERIMENTAL_MEMORY_RESOURCE) && __has_include(<cuda/memory_resource>)
#include <cuda/memory_resource>
#define HEDDLE_HAS_CUDA_MEMORY_RESOURCE
#endif

namespace heddle {

namespace detail {
class driver;
}

/// A device's memory, from heddle's pool on it, for code that takes a memory resource: in the sense of
/// libcu++'s cuda::mr::resource and async_resource, with the property cuda::mr::device_accessible where that
/// header is there (and LIBCUDACXX_ENABLE_EXPERIMENTAL_MEMORY_RESOURCE was defined before it). A small value;
/// copies are equal, and keep the pool alive after the scheduler's end. Any thread.
class device_resource {
 public:
  /// Throws `invalid_option` for an unknown id.
  device_resource(scheduler& s, int id);

  /// For any stream at once. Blocks while it allocates. `alignment` of at most 256 bytes, or
  /// `invalid_option`. Throws `out_of_device_memory`. 0 bytes are a null pointer.
  void* allocate(std::size_t bytes, std::size_t alignment = 256);
  /// When no work uses it any more.
  void deallocate(void* memory, std::size_t bytes, std::size_t alignment = 256) noexcept;
  /// For work put on `stream`, a CUDA stream of the device, from now on; does not block. On a host device
  /// there are no streams, and it is `allocate`.
  template <class Stream>
  void* allocate_async(std::size_t bytes, std::size_t alignment, const Stream& stream) {
    return allocate_for(native(stream), bytes, alignment);
  }
  template <class Stream>
  void* allocate_async(std::size_t bytes, const Stream& stream) {
    return allocate_for(native(stream), bytes, 256);
  }
  /// Once the work put on `stream` so far is done.
  template <class Stream>
  void deallocate_async(void* memory, std::size_t bytes, std::size_t, const Stream& stream) noexcept {
    deallocate_for(native(stream), memory, bytes);
  }
  template <class Stream>
  void deallocate_async(void* memory, std::size_t bytes, const Stream& stream) noexcept {
    deallocate_for(native(stream), memory, bytes);
  }
  /// The gpu id.
  int device() const noexcept { return id_; }

  /// Whether memory of the one may be given back to the other.
  friend bool operator==(const device_resource& a, const device_resource& b) noexcept {
    return a.owner_ == b.owner_ && a.driver_device_ == b.driver_device_;
  }
#ifdef HEDDLE_HAS_CUDA_MEMORY_RESOURCE
  friend void get_property(const device_resource&, cuda::mr::device_accessible) noexcept {}
#endif

 private:
  // A cuda::stream_ref, or the stream itself.
  template <class Stream>
  static void* native(const Stream& stream) noexcept {
    if constexpr (requires { stream.get(); }) {
      return stream.get();
    } else {
      return stream;
    }
  }
  void* allocate_for(void* native, std::size_t bytes, std::size_t alignment);
  void deallocate_for(void* native, void* memory, std::size_t bytes) noexcept;

  std::shared_ptr<detail::driver> owner_;
  int driver_device_, id_;
};

}  // namespace heddle
