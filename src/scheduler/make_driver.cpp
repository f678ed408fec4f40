// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>

#include "driver/cuda_devices.hpp"
#include "driver/host_driver.hpp"
#include "heddle/error.hpp"
#include "pure/select.hpp"
#include "scheduler/scheduler_core.hpp"
#include "work/fork_guard.hpp"

namespace heddle {

namespace detail {

namespace {

// CUDA devices if they are wanted and there; none means host devices. Throws `no_device` if they must be
// there.
std::vector<device_info> cuda_devices_for(backend use) {
  if (use == backend::host) return {};
  cuda_devices found = list_cuda_devices();
  if (!found.all.empty()) return std::move(found.all);
  if (use == backend::cuda) {
    throw no_device("CUDA devices were asked for, but " + found.why_none +
                    "; or use backend::automatic or backend::host (HEDDLE_BACKEND)");
  }
  static std::atomic<bool> told{false};  // publishes nothing
  if (found.supported && !told.exchange(true, std::memory_order_relaxed)) {
    std::fprintf(stderr,
                 "heddle: running on host devices, since %s (HEDDLE_BACKEND=host, or backend::host in the "
                 "options, runs there without this line)\n",
                 found.why_none.c_str());
  }
  return {};
}

// "host:1" and "HOST-1", in any case, ask for host devices where a GPU is there, too.
bool names_host_devices(const std::vector<std::string>& wanted) {
  return !wanted.empty() && std::all_of(wanted.begin(), wanted.end(), [](const std::string& name) {
    constexpr std::string_view host = "host";
    return name.size() >= host.size() &&
           std::equal(host.begin(), host.end(), name.begin(), [](char h, char c) { return h == (c | 0x20); });
  });
}

std::vector<device_info> chosen_of(const std::vector<device_info>& all,
                                   const std::vector<std::string>& wanted) {
  std::vector<device_info> chosen;
  for (const std::size_t k : select_devices(all, wanted)) chosen.push_back(all[k]);
  return chosen;
}

}  // namespace

std::shared_ptr<driver> make_driver(const scheduler_options& options, std::weak_ptr<error_sink> sink) {
  const bool host_by_name = options.use == backend::automatic && names_host_devices(options.devices);
  const auto gpus = cuda_devices_for(host_by_name ? backend::host : options.use);
  if (!gpus.empty()) return make_cuda_driver(chosen_of(gpus, options.devices), std::move(sink));
  return std::make_shared<host_driver>(chosen_of(list_host_devices(options.host), options.devices),
                                       options.host);
}

}  // namespace detail

std::vector<device_info> list_devices(backend use) {
  detail::refuse_in_forked_child("list_devices");
  auto gpus = detail::cuda_devices_for(use);
  if (!gpus.empty()) return gpus;
  return detail::list_host_devices(scheduler_options::from_environment().host);
}

}  // namespace heddle
