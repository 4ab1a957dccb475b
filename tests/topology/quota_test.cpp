// The CPU quota: recorded containers, and mounts that are spelled in every way the kernel has.
#include <gtest/gtest.h>

#include "support.h"
#include "topology/quota.h"

namespace hearth::topology::test {
namespace {

struct Case {
  std::vector<survey::ArchiveFile> files;

  Case& file(const char* name, const std::string& content) {
    files.push_back({name, content});
    return *this;
  }
  CpuQuota read() const {
    const survey::UnpackedArchive tree(files);
    return read_cpu_quota(SystemRoot(tree.folder()));
  }
};

Case v2(const std::string& path, const std::string& mount_root = "/",
        const std::string& point = "/sys/fs/cgroup") {
  Case one;
  one.file("proc/self/cgroup", "0::" + path + "\n");
  one.file("proc/self/mountinfo",
           "30 21 0:26 " + mount_root + " " + point + " rw shared:8 - cgroup2 cgroup rw\n");
  return one;
}

TEST(Quota, ContainersFromRecordings) {
  const auto team = [](const char* name) { return machine_of_tree(name).default_team_size(); };
  EXPECT_EQ(team("container-v2"), 4U) << "3.5, rounded up";
  EXPECT_EQ(team("container-v1"), 2U) << "1.5, rounded up";
  EXPECT_EQ(team("nested-v2"), 3U) << "the slice above the pod allows 2.5";
  EXPECT_EQ(team("nested-v1"), 3U) << "75 ms in 25 ms, the innermost";
  EXPECT_EQ(team("cxl"), 16U) << "no quota";
  EXPECT_EQ(machine_of_tree("nested-v2").quota.file, "/sys/fs/cgroup/kubepods.slice/cpu.max");
}

TEST(Quota, TheTeamIsNeverLargerThanTheMaskNorSmallerThanOne) {
  EXPECT_EQ((Allowance{cpus("0-1"), {350000, 100000, "f"}}).default_team_size(), 2U);
  EXPECT_EQ((Allowance{cpus("0-7"), {1000, 100000, "f"}}).default_team_size(), 1U);
  EXPECT_EQ((Allowance{cpus("0-7"), {100000, 100000, "f"}}).default_team_size(), 1U);
  EXPECT_EQ((Allowance{cpus("0-7"), {100001, 100000, "f"}}).default_team_size(), 2U);
  EXPECT_EQ((Allowance{cpus("0-7"), {}}).default_team_size(), 8U);
}

TEST(Quota, MaxIsNoLimit) {
  EXPECT_FALSE(v2("/a").file("sys/fs/cgroup/a/cpu.max", "max 100000\n").read().limited());
}

TEST(Quota, TheLeafTheMiddleAndTheTopCount) {
  const auto with = [](const char* leaf, const char* middle, const char* top) {
    return v2("/a/b")
        .file("sys/fs/cgroup/a/b/cpu.max", leaf)
        .file("sys/fs/cgroup/a/cpu.max", middle)
        .file("sys/fs/cgroup/cpu.max", top)
        .read()
        .cpus();
  };
  EXPECT_DOUBLE_EQ(with("100000 100000\n", "200000 100000\n", "300000 100000\n"), 1);
  EXPECT_DOUBLE_EQ(with("300000 100000\n", "200000 100000\n", "max 100000\n"), 2);
  EXPECT_DOUBLE_EQ(with("max 100000\n", "max 100000\n", "300000 100000\n"), 3);
}

TEST(Quota, FractionsAreComparedNotNumbers) {
  const CpuQuota quota = v2("/a/b")
                             .file("sys/fs/cgroup/a/b/cpu.max", "20000 10000\n")
                             .file("sys/fs/cgroup/a/cpu.max", "150000 100000\n")
                             .read();
  EXPECT_DOUBLE_EQ(quota.cpus(), 1.5);
  EXPECT_EQ(quota.file, "/sys/fs/cgroup/a/cpu.max");
}

TEST(Quota, AMissingPeriodIsTheKernelsDefault) {
  EXPECT_DOUBLE_EQ(v2("/").file("sys/fs/cgroup/cpu.max", "250000").read().cpus(), 2.5);
}

TEST(Quota, NonsenseIsNoLimit) {
  for (const char* text : {"", "abc", "-5 100000", "100000 x", "100000 0", "99999999999999999999 100000"}) {
    EXPECT_FALSE(v2("/").file("sys/fs/cgroup/cpu.max", text).read().limited()) << text;
  }
}

TEST(Quota, ABindMountOfOurOwnGroup) {
  // No namespace: the path is the host's, the mount shows only our subtree.
  EXPECT_DOUBLE_EQ(
      v2("/docker/abc/job", "/docker/abc").file("sys/fs/cgroup/job/cpu.max", "200000 100000\n").read().cpus(),
      2);
  EXPECT_DOUBLE_EQ(
      v2("/docker/abc", "/docker/abc").file("sys/fs/cgroup/cpu.max", "200000 100000\n").read().cpus(), 2);
}

TEST(Quota, ARootThatIsOnlyTextuallyAPrefixIsNot) {
  const CpuQuota quota = v2("/docker/abcdef", "/docker/abc")
                             .file("sys/fs/cgroup/def/cpu.max", "100000 100000\n")
                             .file("sys/fs/cgroup/cpu.max", "200000 100000\n")
                             .read();
  EXPECT_DOUBLE_EQ(quota.cpus(), 2) << "the mount point is the nearest group that can be seen";
}

TEST(Quota, APathOutsideTheNamespaceStopsAtTheMountPoint) {
  EXPECT_DOUBLE_EQ(v2("/../other").file("sys/fs/cgroup/cpu.max", "200000 100000\n").read().cpus(), 2);
  EXPECT_DOUBLE_EQ(v2("/", "/../..").file("sys/fs/cgroup/cpu.max", "200000 100000\n").read().cpus(), 2);
}

TEST(Quota, MountPointsWithBlanks) {
  EXPECT_DOUBLE_EQ(
      v2("/x", "/", "/my\\040groups").file("my groups/x/cpu.max", "200000 100000\n").read().cpus(), 2);
}

TEST(Quota, OfSeveralMountsTheOneThatShowsMost) {
  Case one = v2("/a/b", "/a/b", "/inner");
  one.files[1].content +=
      "31 21 0:26 / /outer rw - cgroup2 cgroup rw\n32 21 0:26 /elsewhere /third rw - cgroup2 cgroup rw\n";
  one.file("outer/a/cpu.max", "100000 100000\n")
      .file("inner/cpu.max", "300000 100000\n")
      .file("third/cpu.max", "50000 100000\n");
  EXPECT_DOUBLE_EQ(one.read().cpus(), 1);
}

TEST(Quota, HybridSystemsCountBothHierarchies) {
  const auto hybrid = [](const char* v1_quota, const char* v2_quota) {
    Case one;
    one.file("proc/self/cgroup", "4:cpu,cpuacct:/x\n0::/y\n");
    one.file("proc/self/mountinfo",
             "30 21 0:26 / /cg/cpu rw - cgroup cgroup rw,cpu,cpuacct\n31 21 0:27 / /cg/unified rw - cgroup2 "
             "cgroup2 rw\n"
             "32 21 0:28 / /cg/cpuset rw - cgroup cgroup rw,cpuset\n");
    one.file("cg/cpu/x/cpu.cfs_quota_us", v1_quota).file("cg/cpu/x/cpu.cfs_period_us", "100000\n");
    one.file("cg/unified/y/cpu.max", v2_quota);
    return one.read().cpus();
  };
  EXPECT_DOUBLE_EQ(hybrid("200000\n", "300000 100000\n"), 2);
  EXPECT_DOUBLE_EQ(hybrid("400000\n", "300000 100000\n"), 3);
  EXPECT_DOUBLE_EQ(hybrid("-1\n", "max 100000\n"), 0);
}

TEST(Quota, CpusetAndCpuacctAreNotTheCpuController) {
  Case one;
  one.file("proc/self/cgroup", "4:cpuacct:/x\n3:cpuset:/x\n");
  one.file("proc/self/mountinfo", "30 21 0:26 / /cg rw - cgroup cgroup rw,cpuacct\n");
  one.file("cg/x/cpu.cfs_quota_us", "100000\n").file("cg/x/cpu.cfs_period_us", "100000\n");
  EXPECT_FALSE(one.read().limited());
}

TEST(Quota, FoldersForARecordingAreOwnGroupFirst) {
  const survey::UnpackedArchive unpacked(v2("/a/b").files);
  EXPECT_EQ(cpu_cgroup_folders(SystemRoot(unpacked.folder())),
            (std::vector<std::string>{"/sys/fs/cgroup/a/b", "/sys/fs/cgroup/a", "/sys/fs/cgroup"}));
}

TEST(Affinity, TheKernelsMaskIsRead) {
  const CpuMask mask = current_affinity();
  EXPECT_FALSE(mask.empty());
  EXPECT_TRUE(mask.contains(CpuMask{mask.first()}));
}

}  // namespace
}  // namespace hearth::topology::test
