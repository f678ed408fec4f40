// SPDX-License-Identifier: Apache-2.0
#define LIBCUDACXX_ENABLE_EXPERIMENTAL_MEMORY_RESOURCE
#include "heddle/memory_resource.hpp"

#include <memory>

#include "support_cuda/double_machine.hpp"

namespace heddle::test {
namespace {

#ifdef HEDDLE_HAS_CUDA_MEMORY_RESOURCE
static_assert(cuda::mr::resource<device_resource>);
static_assert(cuda::mr::async_resource<device_resource>);
static_assert(cuda::mr::async_resource_with<device_resource, cuda::mr::device_accessible>);
static_assert(!cuda::mr::resource_with<device_resource, cuda::mr::host_accessible>);
#endif

class MemoryResource : public cuda_double {};

TEST_F(MemoryResource, GivesMemoryOfItsDeviceToAnyThread) {
  scheduler sched(gpus({1, 2}));
  device_resource resource(sched, 1);
  EXPECT_EQ(resource.device(), 1);
  void* const memory = resource.allocate(1000);
  EXPECT_EQ(fakecuda_live(2).device_allocs, 1);
  EXPECT_EQ(fakecuda_context_depth(), 0);
  resource.deallocate(memory, 1000);
  EXPECT_EQ(fakecuda_live(2).device_allocs, 0);
  EXPECT_EQ(resource.allocate(0), nullptr);
  EXPECT_THROW((void)resource.allocate(10, 512), invalid_option);
  EXPECT_THROW((device_resource(sched, 7)), invalid_option);
}

TEST_F(MemoryResource, WorksInTheOrderOfAStream) {
  scheduler sched(gpus({0}));
  sched
      .submit([&](device_context& c) {
        device_resource resource(sched, 0);
        const auto stream = static_cast<cudaStream_t>(c.native_stream());
        void* const memory = resource.allocate_async(100, stream);
        EXPECT_EQ(cudaMemsetAsync(memory, 1, 100, stream), cudaSuccess);
        resource.deallocate_async(memory, 100, stream);
      })
      .get();
}

TEST_F(MemoryResource, IsEqualForOneDeviceOfOneSchedulerAndOutlivesIt) {
  std::unique_ptr<device_resource> late;
  void* memory = nullptr;
  {
    scheduler sched(gpus({0, 1}));
    scheduler other(gpus({0}));
    late = std::make_unique<device_resource>(sched, 0);
    EXPECT_EQ(*late, (device_resource(sched, 0)));
    EXPECT_FALSE(*late == device_resource(sched, 1));
    EXPECT_FALSE(*late == device_resource(other, 0));
    memory = late->allocate(64);
  }
  late->deallocate(memory, 64);
  late.reset();
}

}  // namespace
}  // namespace heddle::test
