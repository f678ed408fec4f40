// SPDX-License-Identifier: Apache-2.0
// Draws the Mandelbrot set on all devices, which is uneven work: a pixel of the set costs a hundred times as
// much as one far from it. With --show-devices the picture shows which device computed what, and so how each
// --split divides such work; see `mandelbrot --help`. The loop is in compute.cpp, its body in pixel.hpp.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "heddle/error.hpp"
#include "heddle/scheduler.hpp"
#include "image_batch/shown_name.hpp"
#include "image_batch/write_png.hpp"
#include "mandelbrot/check.hpp"
#include "mandelbrot/compute.hpp"
#include "mandelbrot/tint.hpp"

namespace mandelbrot {
namespace {

constexpr const char* footer = R"(
Examples:
  mandelbrot --show-devices --split even
  mandelbrot --size 1920x1280 --centre=-0.7436,0.1318 --zoom 300 --iterations 2000

Exit code: 0 done, 1 the picture is wrong, 2 refused.)";

const std::map<std::string, heddle::split> splits{{"even", heddle::split::even()},
                                                  {"measured", heddle::split::measured()},
                                                  {"dynamic", heddle::split::dynamic()}};

struct command {
  frame f = {};
  std::filesystem::path out = "mandelbrot.png";
  std::string split = "measured";
  bool show_devices = false;
};

/// "960x640"; throws CLI::ValidationError.
void read_size(const std::string& text, frame& f) {
  int end = 0;
  if (std::sscanf(text.c_str(), "%5dx%5d%n", &f.width, &f.height, &end) != 2 ||
      end != static_cast<int>(text.size()) || f.width < 1 || f.height < 1 || f.width > 20000 ||
      f.height > 20000) {
    throw CLI::ValidationError("--size",
                               text +
                                   " is not a size: it takes WIDTHxHEIGHT, each from 1 to 20000, such "
                                   "as 960x640");
  }
}

/// Fills `wanted`; throws CLI::ParseError.
void parse(CLI::App& app, command& wanted, int argc, char** argv) {
  std::string size = "960x640";
  std::vector<double> centre{wanted.f.centre_x, wanted.f.centre_y};
  app.footer(footer);
  app.add_option("-o,--out", wanted.out, "The PNG file")->type_name("FILE")->capture_default_str();
  app.add_option("--size", size, "Of the picture, in pixels")->type_name("WxH")->capture_default_str();
  app.add_option("--split", wanted.split,
                 "How the pixels are divided among the devices: even, measured or dynamic")
      ->check(CLI::IsMember(splits).description(""))
      ->type_name("NAME")
      ->capture_default_str();
  app.add_flag("--show-devices", wanted.show_devices,
               "Each pixel in the colour of the device that computed it, with a key below");
  app.add_option("--centre,--center", centre, "Where to look")->delimiter(',')->expected(2)->type_name("X,Y");
  app.add_option("--zoom", wanted.f.zoom, "How close to look")
      ->check(CLI::Range(0.1, 1e13).description(""))
      ->type_name("Z")
      ->capture_default_str();
  app.add_option("--iterations", wanted.f.iterations, "Points that last longer are drawn black")
      ->check(CLI::Range(1, 1'000'000).description(""))
      ->type_name("N")
      ->capture_default_str();
  app.parse(argc, argv);
  read_size(size, wanted.f);
  wanted.f.centre_x = centre[0];
  wanted.f.centre_y = centre[1];
}

std::vector<device_share> shares_of(const heddle::scheduler& sched, const picture& drawn) {
  std::vector<device_share> shares;
  for (const auto& device : sched.devices()) {
    shares.push_back({device.id, std::count(drawn.made_by.begin(), drawn.made_by.end(), device.id)});
  }
  return shares;
}

int run(const command& wanted) {
  const auto folder = wanted.out.parent_path();
  if (!folder.empty() && !std::filesystem::is_directory(folder)) {
    throw CLI::ValidationError("--out", image_batch::shown_name(folder) + " is not a folder");
  }
  heddle::scheduler sched;
  heddle::loop_options how;
  how.split = splits.at(wanted.split);

  const auto began = std::chrono::steady_clock::now();
  const picture drawn = compute(sched, wanted.f, how, wanted.show_devices);
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - began;

  const bool on_host = sched.devices().front().kind == heddle::backend::host;
  const bool makers_known = on_host || wanted.show_devices;
  const auto shares = shares_of(sched, drawn);
  std::printf("%d x %d pixels, split %s, %.3f s\n", wanted.f.width, wanted.f.height, wanted.split.c_str(),
              spent.count());
  for (std::size_t k = 0; k < shares.size(); ++k) {
    std::printf("gpu %-3d %-24s", shares[k].id, sched.devices()[k].name.c_str());
    if (makers_known) {
      std::printf(" %5.1f %% of the pixels\n",
                  100. * static_cast<double>(shares[k].pixels) / static_cast<double>(drawn.pixels.size()));
    } else {
      std::printf(" --show-devices tells its share\n");
    }
  }
  std::vector<int> makers{unknown_device};
  if (makers_known) {
    makers.clear();
    for (const auto& each : shares) makers.push_back(each.id);
  }
  const auto fault = fault_of(drawn, wanted.f, on_host, makers);
  if (!fault.empty()) {
    std::fprintf(stderr, "mandelbrot: WRONG: %s\n", fault.c_str());
    return 1;
  }
  const auto image =
      wanted.show_devices ? tinted_image(drawn, wanted.f, shares) : plain_image(drawn, wanted.f);
  image_batch::write_png(wanted.out, image.view());
  std::printf("wrote %s\n", image_batch::shown_name(wanted.out).c_str());
  return 0;
}

}  // namespace
}  // namespace mandelbrot

int main(int argc, char** argv) {
  mandelbrot::command wanted;
  CLI::App app("Draws the Mandelbrot set on all devices of a heddle scheduler.", "mandelbrot");
  try {
    mandelbrot::parse(app, wanted, argc, argv);
    return mandelbrot::run(wanted);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "mandelbrot: %s\n", e.what());
    return 2;
  }
}
