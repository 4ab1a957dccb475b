// `hearth topo`: what it prints, and that a recording gives back the machine it was made on.
#include <cstdio>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/topo.h"
#include "survey/archive.h"
#include "survey/gather.h"
#include "support.h"

namespace hearth::topology::test {
namespace {

std::string temporary(const char* name) { return testing::TempDir() + "/" + std::to_string(getpid()) + name; }

Machine replay(const std::string& archive) {
  const survey::UnpackedArchive unpacked(survey::read_archive(archive));
  const SystemRoot root(unpacked.folder());
  Machine machine = read_sysfs(root, read_allowance(root, recorded_affinity(root)));
  machine.origin.clear();
  return machine;
}

TEST(Topo, ARecordingGivesBackTheMachine) {
  for (const char* name : {"slurm-cpuset", "cxl", "hybrid", "nested-v1", "big-little"}) {
    const std::string path = temporary(".tar.gz");
    const SystemRoot root(tree(name));
    const survey::Gathered gathered = survey::gather(root, recorded_affinity(root), path);
    EXPECT_GT(gathered.files, 50U);
    Machine before = machine_of_tree(name);
    before.origin.clear();
    EXPECT_EQ(cli::machine_json(replay(path)), cli::machine_json(before)) << name;
    std::remove(path.c_str());
  }
}

TEST(Topo, ThisMachineCanBeRecorded) {
  const std::string path = temporary("-real.tar.gz");
  survey::gather(SystemRoot(), current_affinity(), path);
  const Machine here = read_sysfs(SystemRoot(), read_allowance(SystemRoot(), current_affinity()));
  const Machine again = replay(path);
  EXPECT_EQ(again.usable, here.usable);
  EXPECT_EQ(again.online, here.online);
  EXPECT_EQ(again.memory_nodes, here.memory_nodes);
  EXPECT_EQ(again.default_team_size(), here.default_team_size());
  EXPECT_EQ(again.llcs.size(), here.llcs.size());
  std::remove(path.c_str());
}

TEST(Topo, RecordingsHoldNothingPrivate) {
  const std::string path = temporary("-private.tar.gz");
  const survey::UnpackedArchive root({{"proc/self/status", "Name:\tsecret\nMems_allowed_list:\t0\n"},
                                   {"proc/self/mountinfo", "22 1 8:1 / /home/secret rw - ext4 /dev/sda rw\n"},
                                   {"proc/cpuinfo", "processor\t: 0\nSerial\t\t: secret\n"}});
  survey::gather(SystemRoot(root.folder()), cpus("0"), path);
  for (const survey::ArchiveFile& file : survey::read_archive(path)) {
    EXPECT_EQ(file.content.find("secret"), std::string::npos) << file.name;
  }
  std::remove(path.c_str());
}

TEST(Topo, JsonSaysWhatIsAllowedAndFromWhere) {
  const auto json = nlohmann::json::parse(cli::machine_json(machine_of_tree("nested-v2")));
  EXPECT_EQ(json["detected"]["cpus"], "0-7");
  EXPECT_EQ(json["allowed"]["quota"]["cpus"], 2.5);
  EXPECT_EQ(json["allowed"]["quota"]["from"], "/sys/fs/cgroup/kubepods.slice/cpu.max");
  EXPECT_EQ(json["default_team_size"], 3);
  const auto job = nlohmann::json::parse(cli::machine_json(machine_of_tree("slurm-cpuset")));
  EXPECT_EQ(job["allowed"]["cpus"], "4-8,36-40");
  EXPECT_EQ(job["allowed"]["memory_nodes"], "1-2");
  EXPECT_EQ(job["locations"].size(), 2U);
  EXPECT_EQ(job["nodes"].size(), 8U);
  EXPECT_EQ(job["allowed"]["quota"], nullptr);
}

TEST(Topo, TextShowsPartsThatAreNotAllowed) {
  const std::string text = cli::describe_machine(machine_of_tree("slurm-cpuset"), false);
  EXPECT_NE(text.find("Node 0  CPUs 0-3,32-35  32 GiB (not allowed)  (not allowed)"), std::string::npos)
      << text;
  EXPECT_NE(text.find("Node 2  CPUs 8-11,40-43  32 GiB  (allowed: 8,40)"), std::string::npos) << text;
  EXPECT_NE(text.find("Team      10 threads by default: one per CPU that may be used"), std::string::npos)
      << text;
  EXPECT_EQ(text.find("\xe2"), std::string::npos) << "no UTF-8 where nobody reads it";
  EXPECT_NE(cli::describe_machine(machine_of_tree("hybrid"), true)
                .find("4 performance cores x 2 threads, 8 efficiency cores"),
            std::string::npos);
}

TEST(Archive, NamesOfAnyLengthAndContentsOfAnySizeComeBack) {
  const std::string path = temporary("-archive.tar.gz");
  std::vector<survey::ArchiveFile> files;
  for (std::size_t size : {0, 1, 511, 512, 513, 5000}) {
    files.push_back({"folder/" + std::to_string(size), std::string(size, 'x')});
  }
  files.push_back({std::string(90, 'a') + "/" + std::string(90, 'b'), "long"});
  survey::write_archive(path, files);
  const std::vector<survey::ArchiveFile> back = survey::read_archive(path);
  ASSERT_EQ(back.size(), files.size());
  for (std::size_t i = 0; i < files.size(); ++i) {
    EXPECT_EQ(back[i].name, files[i].name);
    EXPECT_EQ(back[i].content, files[i].content);
  }
  std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
  EXPECT_THROW(survey::read_archive(path), std::runtime_error);
  std::remove(path.c_str());
}

TEST(Archive, NamesThatLeaveTheFolderAreRefused) {
  const std::string path = temporary("-evil.tar.gz");
  for (const char* name : {"../evil", "/etc/evil", "a/../../evil", ""}) {
    EXPECT_THROW(survey::write_archive(path, {{name, "x"}}), std::runtime_error) << name;
  }
  std::ofstream(path, std::ios::binary) << "no archive at all";
  EXPECT_THROW(survey::read_archive(path), std::runtime_error);
  std::remove(path.c_str());
  EXPECT_THROW(survey::read_archive("/nonexistent"), std::runtime_error);
}

TEST(Archive, UnpackedFoldersVanish) {
  std::string folder;
  {
    const survey::UnpackedArchive unpacked(std::vector<survey::ArchiveFile>{{"a/b", "c"}});
    folder = unpacked.folder();
    EXPECT_TRUE(std::filesystem::exists(folder + "/a/b"));
  }
  EXPECT_FALSE(std::filesystem::exists(folder));
}

}  // namespace
}  // namespace hearth::topology::test
