// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <vector>

#include "filters.hpp"
#include "heddle/scheduler.hpp"
#include "listing.hpp"
#include "read_image.hpp"
#include "sheet.hpp"

namespace image_batch {

struct job_settings {
  std::filesystem::path out;
  operation what = operation::sharpen;
  int size = 1024;            ///< longest side of a result, in pixels
  std::size_t in_flight = 0;  ///< pictures worked on at once; bounds the memory; 0: two per device, and two
  read_limits limits = {};
  bool quiet = false;  ///< no line for a picture that is done
};

struct job_totals {
  std::size_t done = 0;
  std::size_t skipped = 0;
  std::size_t not_started = 0;              ///< since the program was interrupted
  std::map<int, std::size_t> made_by = {};  ///< pictures done, by gpu id
};

/// Makes a picture of each file: reads it on an arena thread, works on it on any device, writes it on an
/// arena thread. Never holds more than `in_flight` pictures, and a thumbnail of each picture of the sheet.
/// Prints, in input order, a line on standard output for each picture done, and one on standard error for
/// each that is skipped, with the reason; a failure of one picture ends nothing but that picture. Blocks.
job_totals run_job(heddle::scheduler& sched, const std::vector<picture_task>& tasks,
                   const job_settings& settings, contact_sheet& sheet);

/// Draws sample pictures 0 to `count` - 1 into `folder`, rows in parallel on all devices. Existing files of
/// these names are replaced. Blocks. Throws `write_failure`; returns how many were drawn, fewer than `count`
/// only when interrupted.
int draw_samples(heddle::scheduler& sched, int count, const std::filesystem::path& folder);

}  // namespace image_batch
