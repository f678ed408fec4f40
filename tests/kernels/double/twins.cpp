// SPDX-License-Identifier: Apache-2.0
// What the double of the CUDA runtime runs in place of the kernels: their own bodies, thread after thread.
#include <chrono>
#include <cstdint>
#include <thread>

#include "fakecudart_twin.hpp"
#include "kernels/axpy_body.hpp"
#include "kernels/fill_body.hpp"
#include "kernels/global.hpp"
#include "kernels/image_body.hpp"
#include "kernels/reduce_body.hpp"
#include "kernels/stencil_2d_body.hpp"
#include "kernels/transpose_body.hpp"

namespace heddle::kernels {
namespace {

/// Calls `f(block, thread)` for every thread of a grid of two dimensions.
template <class F>
void for_each_thread(const fakecuda_launch& where, F f) {
  fakecuda_dim3 block{};
  fakecuda_dim3 thread{};
  for (block.y = 0; block.y < where.grid.y; ++block.y) {
    for (block.x = 0; block.x < where.grid.x; ++block.x) {
      for (thread.y = 0; thread.y < where.block.y; ++thread.y) {
        for (thread.x = 0; thread.x < where.block.x; ++thread.x) f(block, thread);
      }
    }
  }
}

template <class F>
void for_each_place(const fakecuda_launch& where, F f) {
  for_each_thread(where, [&](const auto& block, const auto& thread) {
    f(place_of(block, where.grid, thread, where.block));
  });
}

void axpy_twin(const fakecuda_launch& where, float a, const float* x, float* y, std::int64_t n) {
  for_each_place(where, [=](const thread_place& at) { axpy_thread(at, a, x, y, n); });
}

void busy_twin(const fakecuda_launch&, std::int64_t nanoseconds) {
  std::this_thread::sleep_for(std::chrono::nanoseconds(nanoseconds));
}

void fill_twin(const fakecuda_launch& where, float value, float* out, std::int64_t n) {
  for_each_place(where, [=](const thread_place& at) { fill_thread(at, value, out, n); });
}

void reduce_twin(const fakecuda_launch& where, const float* x, std::int64_t n, double* partials) {
  for (unsigned block = 0; block < where.grid.x; ++block) {
    double sums[reduce_threads];
    for (unsigned lane = 0; lane < where.block.x; ++lane) sums[lane] = lane_sum(x, n, block, lane);
    partials[block] = tree_sum(sums);
  }
}

void reduce_partials_twin(const fakecuda_launch& where, const double* partials, double* sum) {
  double sums[reduce_threads];
  for (unsigned lane = 0; lane < where.block.x; ++lane) sums[lane] = partials[lane];
  *sum = tree_sum(sums);
}

void stencil_2d_twin(const fakecuda_launch& where, float k, const float* in, float* out, std::int64_t height,
                     std::int64_t width) {
  for_each_place(where, [=](const thread_place& at) { stencil_thread(at, k, in, out, height, width); });
}

void transpose_twin(const fakecuda_launch& where, const float* in, float* out, std::int64_t height,
                    std::int64_t width) {
  for (unsigned y = 0; y < where.grid.y; ++y) {
    for (unsigned x = 0; x < where.grid.x; ++x) {
      for (std::int64_t down = y; down < pieces_of(height, tile_side); down += where.grid.y) {
        for (std::int64_t across = x; across < pieces_of(width, tile_side); across += where.grid.x) {
          transpose_tile({down, across}, in, out, height, width);
        }
      }
    }
  }
}

template <class Pixel>
void image_twin(const fakecuda_launch& where, image_view in, image_target out) {
  for_each_place(where, [=](const thread_place& at) { image_thread<Pixel>(at, in, out); });
}

// Before main(): the double keeps them through every reset.
[[maybe_unused]] const bool bound =
    fakecuda::bind<&axpy_twin>(&gpu::axpy_kernel, "axpy") &&
    fakecuda::bind<&busy_twin>(&gpu::busy_kernel, "busy") &&
    fakecuda::bind<&fill_twin>(&gpu::fill_kernel, "fill") &&
    fakecuda::bind<&reduce_twin>(&gpu::reduce_kernel, "reduce") &&
    fakecuda::bind<&reduce_partials_twin>(&gpu::reduce_partials_kernel, "reduce_partials") &&
    fakecuda::bind<&stencil_2d_twin>(&gpu::stencil_2d_kernel, "stencil_2d") &&
    fakecuda::bind<&transpose_twin>(&gpu::transpose_kernel, "transpose") &&
    fakecuda::bind<&image_twin<resize_pixel>>(&gpu::resize_kernel, "resize") &&
    fakecuda::bind<&image_twin<filter_pixel<sharpen_filter>>>(&gpu::sharpen_kernel, "sharpen") &&
    fakecuda::bind<&image_twin<filter_pixel<blur_filter>>>(&gpu::blur_kernel, "blur") &&
    fakecuda::bind<&image_twin<filter_pixel<edges_filter>>>(&gpu::edges_kernel, "edges");

}  // namespace
}  // namespace heddle::kernels
