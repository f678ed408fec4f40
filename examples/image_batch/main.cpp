// SPDX-License-Identifier: Apache-2.0
// Shrinks and sharpens a folder of pictures on all devices; see `image_batch --help`.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <map>
#include <string>
#include <system_error>
#include <vector>

#include "filters.hpp"
#include "heddle/error.hpp"
#include "heddle/scheduler.hpp"
#include "interrupt.hpp"
#include "job.hpp"
#include "listing.hpp"
#include "report.hpp"
#include "sheet.hpp"
#include "shown_name.hpp"
#include "write_png.hpp"

namespace image_batch {
namespace {

namespace fs = std::filesystem;

enum exit_code : int { all_done = 0, some_skipped = 1, nothing_done = 2, stopped_by_signal = 130 };

const fs::path sheet_name = "contact-sheet.png";

const std::map<std::string, operation> operations{{"sharpen", operation::sharpen},
                                                  {"blur", operation::blur},
                                                  {"edges", operation::edges},
                                                  {"none", operation::none}};

struct command {
  fs::path folder;
  int draw = 0;
  int devices = 0;
  int megapixels = 100;
  std::string operation_name = "sharpen";
  bool plain_frames = false;
  job_settings job = {};
};

constexpr const char* footer = R"(
Results are PNG files with the names of the pictures, beside contact-sheet.png, where the colour and number of
a frame tell the device that made the picture. Files that are no pictures, broken, or too large are named and
left out. Names that begin with a dot, and folders inside FOLDER, are not looked into.

Exit code: 0 all done, 1 some skipped, 2 nothing done, 130 interrupted.

Examples:
  image_batch photos --out small --size 800
  image_batch --draw 24 samples --out small --op edges --devices 4)";

/// Fills `wanted`; throws CLI::ParseError.
void parse(CLI::App& app, command& wanted, int argc, char** argv) {
  app.footer(footer);
  app.add_option("FOLDER", wanted.folder, "Folder with PNG and JPEG files")->required();
  auto* out = app.add_option("-o,--out", wanted.job.out, "Folder for the results; made if it is missing");
  app.add_option("--op", wanted.operation_name, "What to do after shrinking: sharpen, blur, edges or none")
      ->check(CLI::IsMember(operations).description(""))
      ->type_name("NAME")
      ->capture_default_str();
  app.add_option("--size", wanted.job.size,
                 "Longest side of a result in pixels; smaller pictures keep their size")
      ->check(CLI::Range(1, 65535).description(""))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--devices", wanted.devices,
                 "Number of host devices (default: HEDDLE_HOST_DEVICES, or as heddle chooses)")
      ->check(CLI::PositiveNumber.description(""))
      ->type_name("N");
  app.add_option("--in-flight", wanted.job.in_flight,
                 "Pictures held in memory at once (default: two per device, and two)")
      ->check(CLI::PositiveNumber.description(""))
      ->type_name("N");
  app.add_option("--max-megapixels", wanted.megapixels, "Larger pictures are left out")
      ->check(CLI::Range(1, 4000).description(""))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--draw", wanted.draw,
                 "First draw N sample pictures into FOLDER, which is made if it is missing")
      ->check(CLI::Range(1, 100000).description(""))
      ->type_name("N");
  app.add_flag("--no-colours,--no-colors", wanted.plain_frames,
               "Grey frames: the contact sheet is the same whatever device made a picture");
  app.add_flag("-q,--quiet", wanted.job.quiet, "No line for each picture that is done");
  app.parse(argc, argv);
  wanted.job.what = operations.at(wanted.operation_name);
  if (out->empty() && wanted.draw == 0) throw CLI::RequiredError("--out");
}

int refuse(const std::string& reason) {
  std::fprintf(stderr, "image_batch: %s\n", reason.c_str());
  return nothing_done;
}

std::string count_of(std::size_t pictures) {
  return std::to_string(pictures) + (pictures == 1 ? " picture" : " pictures");
}

void print_summary(const heddle::scheduler& sched, const job_totals& totals, double seconds) {
  std::printf("\n%s\n%s done", device_table(sched, totals.made_by).c_str(), count_of(totals.done).c_str());
  if (totals.skipped > 0) std::printf(", %zu skipped", totals.skipped);
  if (totals.not_started > 0) std::printf(", %zu not started", totals.not_started);
  std::printf(" in %.1f s: %.1f per second\n", seconds, static_cast<double>(totals.done) / seconds);
}

/// Whether the sheet was written.
bool write_sheet(const contact_sheet& sheet, const fs::path& file) {
  try {
    write_png(file, sheet.draw().view());
  } catch (const write_failure& failure) {
    std::fprintf(stderr, "no contact sheet: %s\n", failure.what());
    return false;
  }
  std::printf("contact sheet: %s\n", shown_name(file).c_str());
  if (sheet.left_out() > 0) {
    std::printf("it shows the first %zu pictures and leaves out %zu\n", sheet.shown(), sheet.left_out());
  }
  return true;
}

int process(heddle::scheduler& sched, const command& wanted) {
  const auto& out = wanted.job.out;
  fs::create_directories(out);
  if (same_file(out, wanted.folder)) {
    return refuse(
        "--out is the folder of the pictures, where results would replace them; name another folder");
  }
  const auto tasks = list_folder(wanted.folder, out, sheet_name);
  if (tasks.empty()) return refuse("nothing to do: " + shown_name(wanted.folder) + " holds no files");
  if (::access(out.c_str(), W_OK | X_OK) != 0) {  // told now rather than once for each picture
    return refuse("cannot write into " + shown_name(out) + ": " + std::generic_category().message(errno));
  }

  std::vector<int> ids;
  for (const auto& device : sched.devices()) ids.push_back(device.id);
  contact_sheet sheet(ids, !wanted.plain_frames);
  const auto begin = std::chrono::steady_clock::now();
  const auto totals = run_job(sched, tasks, wanted.job, sheet);
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;

  bool complete = totals.skipped == 0;
  if (totals.done > 0) {
    print_summary(sched, totals, spent.count());
    complete = write_sheet(sheet, out / sheet_name) && complete;
  }
  if (totals.not_started > 0) return stopped_by_signal;
  if (totals.done == 0) return refuse("none of the " + count_of(tasks.size()) + " could be done");
  return complete ? all_done : some_skipped;
}

int run(const command& wanted) {
  auto options = heddle::scheduler_options::from_environment();
  if (wanted.devices > 0) options.host.devices = wanted.devices;
  if (wanted.draw > 0) {
    fs::create_directories(wanted.folder);
  } else if (!fs::is_directory(wanted.folder)) {
    return refuse(shown_name(wanted.folder) + " is not a folder");
  }
  if (wanted.draw > 0) {
    auto drawing = options;
    drawing.use = heddle::backend::host;  // it has no kernels for that
    drawing.devices = {};
    drawing.ids = {};
    heddle::scheduler sched(drawing);  // of its own, so that the table at the end counts the pictures alone
    const int drawn = draw_samples(sched, wanted.draw, wanted.folder);
    std::printf("drew %s into %s\n", count_of(static_cast<std::size_t>(drawn)).c_str(),
                shown_name(wanted.folder).c_str());
    if (drawn < wanted.draw) return stopped_by_signal;
    if (wanted.job.out.empty()) return all_done;
  }
  heddle::scheduler sched(options);
  return process(sched, wanted);
}

}  // namespace
}  // namespace image_batch

int main(int argc, char** argv) {
  using namespace image_batch;
  defer_signals();
  CLI::App app("Shrinks and sharpens a folder of pictures on all devices of one heddle scheduler.",
               "image_batch");
  command wanted;
  try {
    parse(app, wanted, argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? all_done : nothing_done;
  }
  wanted.job.limits.pixels = std::int64_t{wanted.megapixels} * 1'000'000;
  try {
    const int code = run(wanted);
    if (std::fflush(stdout) != 0) return refuse("standard output could not be written");
    return code;
  } catch (const fs::filesystem_error& error) {
    return refuse(shown_name(error.path1()) + ": " + error.code().message());
  } catch (const std::exception& error) {
    return refuse(error.what());
  }
}
