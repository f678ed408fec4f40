// SPDX-License-Identifier: Apache-2.0
#include "config/cpu_budget.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "support/temp_tree.hpp"

namespace heddle::detail {
namespace {

using quotas = std::vector<cpu_quota>;
using test::temp_tree;

constexpr const char* v2_mount = "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
constexpr const char* v1_mount =
    "33 31 0:30 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n";

TEST(CoresFrom, IsTheLeastOfAffinityAndQuotasRoundedUp) {
  for (int affinity = 1; affinity <= 12; ++affinity) {
    for (std::uint64_t a = 1; a <= 30; ++a) {
      for (std::uint64_t b = 1; b <= 30; ++b) {  // quotas in thirds of a core
        const int whole = static_cast<int>(std::min((a + 2) / 3, (b + 2) / 3));
        ASSERT_EQ(cores_from(affinity, quotas{{a, 3}, {b, 3}}), std::min(affinity, whole));
      }
    }
  }
}

TEST(CoresFrom, IsTheAffinityWithoutQuotas) { EXPECT_EQ(cores_from(7, {}), 7); }

// Case 51 (microsoft/onnxruntime#1295): a count of 0 made an empty pool.
TEST(CoresFrom, IsAtLeastOneWhenEverythingSaysZero) {
  EXPECT_EQ(cores_from(0, {}), 1);
  EXPECT_EQ(cores_from(-1, {}), 1);
  EXPECT_EQ(cores_from(0, quotas{{0, 0}}), 1);
  EXPECT_EQ(cores_from(8, quotas{{0, 100000}}), 1);
}

TEST(CoresFrom, IgnoresAPeriodOfZero) { EXPECT_EQ(cores_from(8, quotas{{5, 0}}), 8); }

TEST(CoresFrom, DoesNotOverflow) {
  constexpr auto huge = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(cores_from(8, quotas{{huge, 1}, {huge, huge}}), 1);
  EXPECT_EQ(cores_from(8, quotas{{huge, 1}}), 8);
}

// Case 50 (oneTBB#1760, #190): the quota of a container was ignored. Version 2 of control groups.
TEST(CpuBudget, HonoursAQuotaOfVersion2) {
  temp_tree tree;
  tree.file("proc/self/cgroup", "0::/\n").file("proc/self/mountinfo", v2_mount);
  tree.file("sys/fs/cgroup/cpu.max", "200000 100000\n");
  EXPECT_EQ(read_cpu_budget(tree.root(), 64).cores, 2);
}

// Case 50, version 1.
TEST(CpuBudget, HonoursAQuotaOfVersion1) {
  temp_tree tree;
  tree.file("proc/self/cgroup", "4:cpu,cpuacct:/box\n0::/\n").file("proc/self/mountinfo", v1_mount);
  tree.file("sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_quota_us", "200000\n");
  tree.file("sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(read_cpu_budget(tree.root(), 64).cores, 2);
}

// Case 50, affinity.
TEST(CpuBudget, HonoursTheAffinityWhereItIsLess) {
  temp_tree tree;
  tree.file("proc/self/cgroup", "0::/\n").file("sys/fs/cgroup/cpu.max", "800000 100000\n");
  EXPECT_EQ(read_cpu_budget(tree.root(), 3).cores, 3);
}

TEST(CpuBudget, RoundsAPartOfACoreUp) {
  temp_tree tree;
  tree.file("proc/self/cgroup", "0::/\n").file("sys/fs/cgroup/cpu.max", "150000 100000\n");
  EXPECT_EQ(read_cpu_budget(tree.root(), 64).cores, 2);
}

TEST(CpuBudget, IsTheAffinityWhereNothingCanBeRead) {
  const temp_tree empty;
  EXPECT_EQ(read_cpu_budget(empty.root(), 5).cores, 5);
  EXPECT_TRUE(read_cpu_budget(empty.root(), 5).quotas.empty());
}

TEST(CpuBudget, OfThisProcessIsWithinItsAffinity) {
  const cpu_budget here = read_cpu_budget();
  EXPECT_GE(here.cores, 1);
  EXPECT_LE(here.cores, std::max(here.affinity, 1));
}

TEST(CpuQuotas, AsksTheOwnGroupAndEveryAncestor) {
  temp_tree tree;
  tree.file("proc/self/cgroup", "0::/a/b/c\n").file("proc/self/mountinfo", v2_mount);
  tree.file("sys/fs/cgroup/a/b/c/cpu.max", "max 100000\n");
  tree.file("sys/fs/cgroup/a/b/cpu.max", "500000 100000\n");
  tree.file("sys/fs/cgroup/a/cpu.max", "300000 50000\n");
  tree.file("sys/fs/cgroup/cpu.max", "900000 100000\n");
  tree.file("sys/fs/cgroup/other/cpu.max", "1 100000\n");
  EXPECT_EQ(read_cpu_quotas(tree.root()), (quotas{{500000, 100000}, {300000, 50000}, {900000, 100000}}));
}

TEST(CpuQuotas, AreReadOnceForAGroupThatIsTheMountPoint) {
  temp_tree tree;
  tree.file("proc/self/cgroup", "0::/\n").file("proc/self/mountinfo", v2_mount);
  tree.file("sys/fs/cgroup/cpu.max", "900000 100000\n");
  EXPECT_EQ(read_cpu_quotas(tree.root()), (quotas{{900000, 100000}}));
}

TEST(CpuQuotas, OfBothVersionsCountOnAMixedSystem) {
  temp_tree tree;
  tree.file("proc/self/cgroup", "2:cpuset:/x\n1:cpuacct,cpu:/old\n0::/new\n");
  tree.file("proc/self/mountinfo",
            std::string(v1_mount) + "41 31 0:38 / /sys/fs/cgroup/unified rw shared:9 - cgroup2 cgroup2 rw\n");
  tree.file("sys/fs/cgroup/cpu,cpuacct/old/cpu.cfs_quota_us", "400000\n");
  tree.file("sys/fs/cgroup/cpu,cpuacct/old/cpu.cfs_period_us", "100000\n");
  tree.file("sys/fs/cgroup/unified/new/cpu.max", "300000 100000\n");
  EXPECT_EQ(read_cpu_quotas(tree.root()), (quotas{{400000, 100000}, {300000, 100000}}));
}

TEST(CpuQuotas, AreFoundWhereOnlyTheOwnPartIsMounted) {
  temp_tree tree;
  tree.file("proc/self/cgroup", "0::/docker/abc/inner\n");
  tree.file("proc/self/mountinfo", "30 23 0:26 /docker/abc /sys/fs/cgroup ro - cgroup2 cgroup2 rw\n");
  tree.file("sys/fs/cgroup/cpu.max", "400000 100000\n");
  tree.file("sys/fs/cgroup/inner/cpu.max", "200000 100000\n");
  EXPECT_EQ(read_cpu_quotas(tree.root()), (quotas{{200000, 100000}, {400000, 100000}}));
}

TEST(CpuQuotas, OfAGroupOutsideTheMountAreThoseOfTheMountPoint) {
  for (const char* group : {"0::/../sibling\n", "0::/elsewhere\n", "0::/docker/abcdef\n"}) {
    temp_tree tree;
    tree.file("proc/self/cgroup", group);
    tree.file("proc/self/mountinfo", "30 23 0:26 /docker/abc /sys/fs/cgroup ro - cgroup2 cgroup2 rw\n");
    tree.file("sys/fs/cgroup/cpu.max", "400000 100000\n");
    tree.file("sys/fs/cgroup/sibling/cpu.max", "100000 100000\n");
    EXPECT_EQ(read_cpu_quotas(tree.root()), (quotas{{400000, 100000}})) << group;
  }
}

TEST(CpuQuotas, OfAGroupAboveTheMountedRootAreThoseOfTheMountPoint) {
  temp_tree tree;
  tree.file("proc/self/cgroup", "0::/../../sibling\n").file("proc/self/mountinfo", v2_mount);
  tree.file("sys/fs/cgroup/cpu.max", "400000 100000\n");
  tree.file("sys/fs/cgroup/sibling/cpu.max", "100000 100000\n").file("sys/sibling/cpu.max", "1 1\n");
  EXPECT_EQ(read_cpu_quotas(tree.root()), (quotas{{400000, 100000}}));
}

TEST(CpuQuotas, AreFoundAtAMountPointWithASpace) {
  temp_tree tree;
  tree.file("proc/self/cgroup", "0::/a b\n");
  tree.file("proc/self/mountinfo", "30 23 0:26 / /odd\\040place rw - cgroup2 cgroup2 rw\n");
  tree.file("odd place/a b/cpu.max", "400000 100000\n");
  EXPECT_EQ(read_cpu_quotas(tree.root()), (quotas{{400000, 100000}}));
}

TEST(CpuQuotas, AreNoneWithoutALimit) {
  temp_tree tree;
  tree.file("proc/self/cgroup", "4:cpu:/\n0::/\n");
  tree.file("sys/fs/cgroup/cpu.max", "max 100000\n");
  tree.file("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
  tree.file("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_TRUE(read_cpu_quotas(tree.root()).empty());
}

TEST(CpuQuotas, AreNoneWhereTheFilesMakeNoSense) {
  for (const char* text : {"", "\n", "abc", "abc 100000", "100000 abc", "-5 100000", "100000 0", "1e5 100000",
                           "99999999999999999999999 100000"}) {
    temp_tree tree;
    tree.file("proc/self/cgroup", "0::/\n").file("sys/fs/cgroup/cpu.max", text);
    tree.file("sys/fs/cgroup/cpu/cpu.cfs_quota_us", text);
    EXPECT_TRUE(read_cpu_quotas(tree.root()).empty()) << text;
  }
}

TEST(CpuQuotas, SurviveNonsenseInTheProcessFiles) {
  for (const char* text :
       {"", "\n\n", ":", "::", ":::", "0:", "0::", "a b c d e f g - cgroup2\n", "30 23 0:26 / /sys - - -\n",
        "- - - - - - - - -\n", "\\", "1 2 3 / \\04 - cgroup2 x y"}) {
    temp_tree tree;
    tree.file("proc/self/cgroup", text).file("proc/self/mountinfo", text);
    EXPECT_TRUE(read_cpu_quotas(tree.root()).empty()) << text;
  }
}

TEST(CpuQuotas, AreNoneWhereAFolderStandsInPlaceOfTheFile) {
  temp_tree tree;
  tree.file("proc/self/cgroup", "0::/\n").file("sys/fs/cgroup/cpu.max/inside", "");
  EXPECT_TRUE(read_cpu_quotas(tree.root()).empty());
}

}  // namespace
}  // namespace heddle::detail
