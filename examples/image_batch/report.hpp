// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "heddle/scheduler.hpp"

namespace image_batch {

/// The table at the end: for each device its id, its name, the pictures it made, all the work items it ran,
/// the time it was busy and its share of the pictures. `pictures`: how many, by gpu id.
std::string device_table(const heddle::scheduler& sched, const std::map<int, std::size_t>& pictures);

}  // namespace image_batch
