// SPDX-License-Identifier: Apache-2.0
// Pools at their limit, and calls that wait for the device.
#include <cstdint>

#include "answer.hpp"
#include "kernels.hpp"

namespace heddle::facts {

namespace {

constexpr std::size_t mebibyte = std::size_t{1} << 20;

cudaMemPool_t new_pool(std::size_t most) {
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  properties.location.id = 0;
  properties.maxSize = most;
  cudaMemPool_t pool = nullptr;
  must(cudaMemPoolCreate(&pool, &properties), "cudaMemPoolCreate");
  std::uint64_t keep = UINT64_MAX;
  must(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep), "cudaMemPoolSetAttribute");
  return pool;
}

std::string reserved(cudaMemPool_t pool) {
  std::uint64_t bytes = 0;
  must(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &bytes), "cudaMemPoolGetAttribute");
  return bytes < mebibyte ? std::to_string(bytes) + " bytes" : std::to_string(bytes / mebibyte) + " MiB";
}

/// Memory of `first` is freed behind work that is still running, and as much is wanted on `second`, where the
/// pool has room for one of them only.
std::string second_allocation(bool same_stream, bool ordered, int follow_dependencies) {
  const cudaMemPool_t pool = new_pool(64 * mebibyte);
  must(cudaMemPoolSetAttribute(pool, cudaMemPoolReuseFollowEventDependencies, &follow_dependencies),
       "attribute");
  must(cudaMemPoolSetAttribute(pool, cudaMemPoolReuseAllowInternalDependencies, &follow_dependencies),
       "attribute");
  const cudaStream_t first = new_stream(), second = same_stream ? first : new_stream();
  void *old_memory = nullptr, *new_memory = nullptr;
  must(cudaMallocFromPoolAsync(&old_memory, 48 * mebibyte, pool, first), "cudaMallocFromPoolAsync");
  must(cudaStreamSynchronize(first), "cudaStreamSynchronize");
  must(launch_spin(200, nullptr, first), "launch");
  must(cudaFreeAsync(old_memory, first), "cudaFreeAsync");
  if (ordered) {
    const cudaEvent_t freed = new_event();
    must(cudaEventRecord(freed, first), "cudaEventRecord");
    must(cudaStreamWaitEvent(second, freed, 0), "cudaStreamWaitEvent");
  }
  cudaError_t status = cudaSuccess;
  const auto took =
      time_of([&] { status = cudaMallocFromPoolAsync(&new_memory, 48 * mebibyte, pool, second); });
  const bool busy = cudaStreamQuery(first) == cudaErrorNotReady;
  (void)cudaGetLastError();
  std::string told = text(status) + " after " + shown(took);
  if (status == cudaSuccess) told += new_memory == old_memory ? ", the same memory" : ", other memory";
  told += busy ? ", the freeing stream still busy" : ", the freeing stream done";
  must(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  if (status != cudaSuccess) {
    status = cudaMallocFromPoolAsync(&new_memory, 48 * mebibyte, pool, second);
    told += "; again once the device is idle: " + text(status);
  }
  if (status == cudaSuccess) must(cudaFreeAsync(new_memory, second), "cudaFreeAsync");
  must(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  must(cudaMemPoolDestroy(pool), "cudaMemPoolDestroy");
  return told;
}

void pool_at_its_limit() {
  must(launch_empty(nullptr), "launch");
  must(launch_spin(1, nullptr, nullptr), "launch");
  say("another stream: " + second_allocation(false, false, 1));
  say("another stream, no internal dependencies: " + second_allocation(false, false, 0));
  say("another stream that waits for the free: " + second_allocation(false, true, 1));
  say("the same stream: " + second_allocation(true, false, 1));
}

void pool_keeps() {
  const cudaMemPool_t pool = new_pool(0);
  const cudaStream_t on = new_stream();
  void *small = nullptr, *large = nullptr;
  must(cudaMallocFromPoolAsync(&small, 1, pool, on), "cudaMallocFromPoolAsync");
  say("1 byte reserves " + reserved(pool));
  must(cudaMallocFromPoolAsync(&large, 100 * mebibyte, pool, on), "cudaMallocFromPoolAsync");
  say("and 100 MiB " + reserved(pool));
  must(cudaFreeAsync(large, on), "cudaFreeAsync");
  must(cudaStreamSynchronize(on), "cudaStreamSynchronize");
  say("freed, with a threshold without end " + reserved(pool));
  must(cudaMemPoolTrimTo(pool, 0), "cudaMemPoolTrimTo");
  say("trimmed " + reserved(pool));
  std::uint64_t keep = 0;
  must(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep), "cudaMemPoolSetAttribute");
  must(cudaFreeAsync(small, on), "cudaFreeAsync");
  must(cudaStreamSynchronize(on), "cudaStreamSynchronize");
  say("all freed, threshold 0, synchronised " + reserved(pool));
}

void device_waits() {
  const cudaStream_t busy = new_stream(), other = new_stream();
  const cudaEvent_t event = new_event();
  void *memory = nullptr, *pinned = nullptr, *pooled = nullptr, *made = nullptr;
  cudaStream_t stream = nullptr;
  must(launch_spin(1, nullptr, busy), "launch");
  must(cudaMalloc(&memory, mebibyte), "cudaMalloc");
  must(cudaMallocHost(&pinned, mebibyte), "cudaMallocHost");
  must(cudaMallocAsync(&pooled, mebibyte, other), "cudaMallocAsync");
  must(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  outcomes all;
  const auto see = [&](const char* name, const std::function<cudaError_t()>& call) {
    must(launch_spin(100, nullptr, busy), "launch");
    cudaError_t status = cudaSuccess;
    const auto took = time_of([&] { status = call(); });
    must(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    all.add(name, std::string(took.count() > 50'000 ? "waits" : "does not wait") +
                      (status == cudaSuccess ? "" : " and gives " + text(status)));
  };
  see("Malloc", [&] { return cudaMalloc(&made, mebibyte); });
  see("Malloc(1 GiB)", [&] { return cudaMalloc(&made, 1024 * mebibyte); });
  see("Free", [&] { return cudaFree(memory); });
  see("MallocHost", [&] { return cudaMallocHost(&made, mebibyte); });
  see("FreeHost", [&] { return cudaFreeHost(pinned); });
  see("MallocAsync", [&] { return cudaMallocAsync(&made, mebibyte, other); });
  see("MallocAsync(1 GiB)", [&] { return cudaMallocAsync(&made, 1024 * mebibyte, other); });
  see("FreeAsync", [&] { return cudaFreeAsync(pooled, other); });
  see("StreamCreate", [&] { return cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking); });
  see("StreamDestroy(busy)", [&] {
    must(launch_spin(100, nullptr, stream), "launch");
    return cudaStreamDestroy(stream);
  });
  see("EventDestroy(pending)", [&] {
    must(cudaEventRecord(event, busy), "cudaEventRecord");
    return cudaEventDestroy(event);
  });
  say("while another stream is busy for 100 ms: " + all.summary());
}

}  // namespace

std::vector<question> memory_questions() {
  return {
      {"pool_at_its_limit", "Memory freed on a stream that is busy, wanted where the pool is at its limit",
       pool_at_its_limit},
      {"pool_keeps", "What a pool reserves and gives back", pool_keeps},
      {"device_waits", "Which calls wait for the device", device_waits},
  };
}

}  // namespace heddle::facts
