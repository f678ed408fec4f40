// SPDX-License-Identifier: Apache-2.0
#include "driver/host_driver.hpp"
#include "heddle/error.hpp"
#include "pure/select.hpp"
#include "scheduler/scheduler_core.hpp"
#include "work/fork_guard.hpp"

namespace heddle {

namespace detail {

namespace {

void refuse_cuda(backend use) {
  if (use != backend::cuda) return;
  throw no_device(
      "CUDA devices were asked for, but this build of heddle has no CUDA driver: use backend::automatic or "
      "backend::host "
      "(HEDDLE_BACKEND)");
}

}  // namespace

std::unique_ptr<driver> make_driver(const scheduler_options& options) {
  refuse_cuda(options.use);
  const auto all = list_host_devices(options.host);
  std::vector<device_info> chosen;
  for (const std::size_t k : select_devices(all, options.devices)) chosen.push_back(all[k]);
  return std::make_unique<host_driver>(std::move(chosen), options.host);
}

}  // namespace detail

std::vector<device_info> list_devices(backend use) {
  detail::refuse_in_forked_child("list_devices");
  detail::refuse_cuda(use);
  return detail::list_host_devices(scheduler_options::from_environment().host);
}

}  // namespace heddle
