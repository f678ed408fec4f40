// SPDX-License-Identifier: Apache-2.0
#include "pure/select.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "heddle/error.hpp"

namespace heddle::detail {
namespace {

using indices = std::vector<std::size_t>;

device_info host(int ordinal) {
  return {.ordinal = ordinal, .kind = backend::host, .uuid = "HOST-" + std::to_string(ordinal)};
}

device_info gpu(int ordinal, std::string uuid, std::string bus) {
  return {.ordinal = ordinal, .kind = backend::cuda, .uuid = std::move(uuid), .pci_bus_id = std::move(bus)};
}

const std::vector<device_info> gpus = {
    gpu(0, "GPU-8932f937-d72c-4106-c12f-20bd9faed9f6", "0000:3B:00.0"),
    gpu(1, "GPU-8932aaaa-0000-4106-c12f-20bd9faed9f6", "0000:5e:00.0"),
    gpu(2, "GPU-01234567-d72c-4106-c12f-20bd9faed9f6", "00010000:3b:00.0"),
};

std::vector<device_info> hosts(int n) {
  std::vector<device_info> all;
  for (int i = 0; i < n; ++i) all.push_back(host(i));
  return all;
}

std::string refusal(const std::vector<device_info>& all, const std::vector<std::string>& wanted) {
  try {
    select_devices(all, wanted);
  } catch (const invalid_option& e) {
    return e.what();
  }
  return "accepted";
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(SelectDevices, TakesAllInTheirOrderWhenNoneIsNamed) {
  EXPECT_EQ(select_devices(gpus, {}), (indices{0, 1, 2}));
  EXPECT_EQ(select_devices({}, {}), indices{});
}

TEST(SelectDevices, KeepsTheOrderAskedFor) {
  // Every ordered choice among four devices, by ordinal and by qualified name.
  const auto all = hosts(4);
  indices order = {0, 1, 2, 3};
  do {
    for (std::size_t size = 1; size <= 4; ++size) {
      const indices chosen(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(size));
      std::vector<std::string> wanted;
      for (const auto i : chosen) wanted.push_back((i % 2 != 0 ? "host:" : "") + std::to_string(i));
      ASSERT_EQ(select_devices(all, wanted), chosen);
    }
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST(SelectDevices, GoesByTheOrdinalNotByThePlaceInTheList) {
  EXPECT_EQ(select_devices({host(3), host(1)}, {"1", "3"}), (indices{1, 0}));
}

TEST(SelectDevices, FindsAUniqueBeginningOfAUuidInEitherCase) {
  EXPECT_EQ(select_devices(gpus, {"GPU-8932f"}), indices{0});
  EXPECT_EQ(select_devices(gpus, {"gpu-8932A"}), indices{1});
  EXPECT_EQ(select_devices(gpus, {gpus[2].uuid}), indices{2});
}

TEST(SelectDevices, PrefersAWholeUuidToABeginning) {
  EXPECT_EQ(select_devices(hosts(12), {"HOST-1", "host-11"}), (indices{1, 11}));
}

TEST(SelectDevices, FindsAPciBusIdHoweverItIsWritten) {
  for (const char* name : {"0000:3b:00.0", "0000:3B:00.0", "00000000:3B:00.0", "3b:00.0", "0:3b:00.0"}) {
    EXPECT_EQ(select_devices(gpus, {name}), indices{0}) << name;
  }
  EXPECT_EQ(select_devices(gpus, {"10000:3b:00.0"}), indices{2});
}

TEST(SelectDevices, TellsBackendsApart) {
  std::vector<device_info> all = {gpus[0], host(0)};
  EXPECT_EQ(select_devices(all, {"host:0"}), indices{1});
  EXPECT_EQ(select_devices(all, {"CUDA:0"}), indices{0});
  EXPECT_TRUE(has(refusal(all, {"0"}), "\"0\" could be any of cuda:0 (GPU-8932f937"));
}

TEST(SelectDevices, RefusesABeginningThatSeveralUuidsHave) {
  const std::string message = refusal(gpus, {"GPU-8932"});
  EXPECT_TRUE(has(message, "cuda:0 (GPU-8932f937")) << message;
  EXPECT_TRUE(has(message, "cuda:1 (GPU-8932aaaa")) << message;
}

TEST(SelectDevices, RefusesWhatNamesNoDeviceAndListsThoseThereAre) {
  for (const char* name : {"2",
                           "-1",
                           "+1",
                           " 1",
                           "1 ",
                           "host:2",
                           "host:-1",
                           "host:",
                           ":1",
                           "cuda:0",
                           "gpu:0",
                           "automatic:0",
                           "99999999999999999999",
                           "host:99999999999999999999",
                           "1.0",
                           "0x1",
                           "HOST-2",
                           ":",
                           "::",
                           "...",
                           "3b:00.0",
                           "zz:00.0"}) {
    EXPECT_EQ(refusal(hosts(2), {name}), "devices: \"" + std::string(name) +
                                             "\" names no device that can be seen; there is host:0 (HOST-0), "
                                             "host:1 (HOST-1)");
  }
}

TEST(SelectDevices, RefusesAnEmptyEntry) {
  EXPECT_TRUE(
      has(refusal(hosts(2), {"0", ""}), "\"\" names no device; leave the list empty for all of them"));
}

TEST(SelectDevices, RefusesADeviceNamedTwiceUnderAnyNames) {
  for (const char* again : {"0", "host:0", "HOST-0", "00"}) {
    EXPECT_TRUE(has(refusal(hosts(2), {"1", "0", again}), "names host:0, which \"0\" named before")) << again;
  }
}

TEST(SelectDevices, ListsManyDevicesInBrief) {
  EXPECT_TRUE(has(refusal(hosts(100), {"100"}), "host:15 (HOST-15) and 84 more"));
}

TEST(SelectDevices, SaysSoWhenThereIsNoDevice) { EXPECT_TRUE(has(refusal({}, {"0"}), "there is no device")); }

// A device without uuid or bus id must not be what an odd entry happens to match.
TEST(SelectDevices, NeverMatchesAnAbsentUuidOrBusId) {
  const std::vector<device_info> bare = {{.ordinal = 0}};
  for (const char* name : {".", ":", "::.", "0:.", "x"}) {
    EXPECT_TRUE(has(refusal(bare, {name}), "names no device that can be seen")) << name;
  }
}

}  // namespace
}  // namespace heddle::detail
