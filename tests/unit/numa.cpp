// SPDX-License-Identifier: Apache-2.0
#include "config/numa.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "config/affinity.hpp"
#include "support/temp_tree.hpp"

namespace heddle::detail {
namespace {

using cpus = std::vector<int>;
using test::temp_tree;

const std::string folder = "sys/devices/system/node/";

std::vector<numa_node> unknown(cpus allowed) { return {{std::nullopt, std::move(allowed)}}; }

TEST(ParseCpulist, ReadsNumbersAndRanges) {
  EXPECT_EQ(parse_cpulist("0-3,8,10-11"), (cpus{0, 1, 2, 3, 8, 10, 11}));
  EXPECT_EQ(parse_cpulist("0\n"), cpus{0});
  EXPECT_EQ(parse_cpulist("5-5"), cpus{5});
}

TEST(ParseCpulist, IsEmptyForANodeWithoutCpus) {
  EXPECT_EQ(parse_cpulist(""), cpus{});
  EXPECT_EQ(parse_cpulist("\n"), cpus{});
}

TEST(ParseCpulist, SortsAndDropsRepeats) { EXPECT_EQ(parse_cpulist("7,2-4,3-5"), (cpus{2, 3, 4, 5, 7})); }

TEST(ParseCpulist, RefusesWhatIsNoList) {
  for (const char* text : {"-1", "a", "0-", "-3", "3-1", "1,,2", ",", "1,", "1 2", "1-2-3", "0x1", "1.5",
                           "4294967296", "0-4000000000", "1048576", "0--1", "+1"}) {
    EXPECT_EQ(parse_cpulist(text), std::nullopt) << text;
  }
}

TEST(ParseCpulist, RefusesRepeatedHugeRangesBeforeTheyFillTheMemory) {
  std::string text = "0-1048575";
  for (int i = 0; i < 3; ++i) text += ",0-1048575";
  EXPECT_EQ(parse_cpulist(text), std::nullopt);
}

TEST(ParseCpulist, ReadsBackEverySetOfTenCpus) {
  for (unsigned set = 0; set < 1024; ++set) {
    cpus expected;
    std::string text;
    for (int cpu = 0; cpu < 10; ++cpu) {
      if ((set >> cpu & 1u) == 0) continue;
      const bool run = !expected.empty() && expected.back() == cpu - 1;
      if (run) {
        if (text.ends_with("-" + std::to_string(cpu - 1))) text.resize(text.rfind('-'));
        text += "-" + std::to_string(cpu);
      } else {
        text += (text.empty() ? "" : ",") + std::to_string(cpu);
      }
      expected.push_back(cpu);
    }
    ASSERT_EQ(parse_cpulist(text), expected) << text;
  }
}

TEST(NumaNodes, ListsEachNodeWithTheCpusThatAreAllowed) {
  temp_tree tree;
  tree.file(folder + "online", "0-1\n");
  tree.file(folder + "node0/cpulist", "0-3,8-11\n").file(folder + "node1/cpulist", "4-7\n");
  EXPECT_EQ(numa_nodes({2, 3, 5, 8}, tree.root()), (std::vector<numa_node>{{0, {2, 3, 8}}, {1, {5}}}));
}

TEST(NumaNodes, LeavesOutNodesWithoutAllowedCpus) {
  temp_tree tree;
  tree.file(folder + "online", "0,2-3\n").file(folder + "node0/cpulist", "0-3\n");
  tree.file(folder + "node2/cpulist", "4-7\n").file(folder + "node3/cpulist", "\n");
  EXPECT_EQ(numa_nodes({5}, tree.root()), (std::vector<numa_node>{{2, {5}}}));
}

// Case 84 (ai-dynamo/dynamo#3700, openxla/xla#21708): sysfs is missing or says -1.
TEST(NumaNodes, AreOneUnknownNodeWhereThereIsNoFolder) {
  const temp_tree empty;
  EXPECT_EQ(numa_nodes({0, 1}, empty.root()), unknown({0, 1}));
}

TEST(NumaNodes, AreOneUnknownNodeWhereTheListOfNodesIsNonsense) {
  for (const char* text : {"-1\n", "", "\n", "x", "0-", "4000000000", "7"}) {
    temp_tree tree;
    tree.file(folder + "online", text).file(folder + "node0/cpulist", "0-1\n");
    EXPECT_EQ(numa_nodes({0, 1}, tree.root()), unknown({0, 1})) << text;
  }
}

TEST(NumaNodes, AreOneUnknownNodeWhereOneNodeIsNonsense) {
  for (const char* text : {"-1", "x", "1-", "3-1"}) {
    temp_tree tree;
    tree.file(folder + "online", "0-1").file(folder + "node0/cpulist", "0-1\n");
    tree.file(folder + "node1/cpulist", text);
    EXPECT_EQ(numa_nodes({0, 1}, tree.root()), unknown({0, 1})) << text;
  }
}

TEST(NumaNodes, AreOneUnknownNodeWhereAnAllowedCpuIsInNoneOrInTwo) {
  temp_tree tree;
  tree.file(folder + "online", "0-1");
  tree.file(folder + "node0/cpulist", "0-1\n").file(folder + "node1/cpulist", "1-2\n");
  EXPECT_EQ(numa_nodes({0, 9}, tree.root()), unknown({0, 9}));
  EXPECT_EQ(numa_nodes({0, 1}, tree.root()), unknown({0, 1}));
}

TEST(NumaNodes, AreOneUnknownNodeWhereNoCpuIsKnown) {
  const temp_tree empty;
  EXPECT_EQ(numa_nodes({}, empty.root()), unknown({}));
}

TEST(NumaNodes, OfThisMachineHoldEveryAllowedCpuOnce) {
  const cpus allowed = allowed_cpus();
  std::multiset<int> seen;
  for (const numa_node& n : numa_nodes(allowed)) seen.insert(n.cpus.begin(), n.cpus.end());
  EXPECT_EQ(cpus(seen.begin(), seen.end()), allowed);
}

}  // namespace
}  // namespace heddle::detail
