// A file that several processes change: none loses what another has added, and who dies half way harms nobody.
#include <gtest/gtest.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/merged_file.h"

namespace hearth {
namespace {

namespace fs = std::filesystem;

class MergedFileTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/hearth-merged-XXXXXX";
    folder_ = mkdtemp(name);
    path_ = folder_ + "/file";
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string content() const {
    std::string text;
    EXPECT_TRUE(read_plain_file(path_.c_str(), 1 << 20, text));
    return text;
  }
  std::string folder_, path_;
};

TEST_F(MergedFileTest, ManyProcessesLoseNothing) {
  constexpr int kProcesses = 8, kTimes = 25;
  for (int i = 0; i < kProcesses; ++i)
    if (fork() == 0) {
      for (int j = 0; j < kTimes; ++j) {
        MergedFile file;
        if (!file.open(path_.c_str(), 1 << 20, 20'000) || !file.replace(file.text() + "x\n")) _exit(1);
      }
      _exit(0);
    }
  for (int i = 0; i < kProcesses; ++i) {
    int status = 1;
    wait(&status);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(content().size(), 2u * kProcesses * kTimes);
  EXPECT_FALSE(fs::exists(path_ + ".new"));
}

TEST_F(MergedFileTest, WhatSomebodyLeftHalfWrittenIsWrittenOver) {
  std::ofstream(path_ + ".new") << "half";
  MergedFile file;
  ASSERT_TRUE(file.open(path_.c_str(), 100, 0));
  ASSERT_TRUE(file.replace("whole"));
  EXPECT_EQ(content(), "whole");
}

TEST_F(MergedFileTest, AFileThatStaysLockedIsLeftAlone) {
  std::ofstream(path_) << "theirs";
  const int held = open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_EQ(flock(held, LOCK_EX), 0);
  MergedFile file;
  EXPECT_FALSE(file.open(path_.c_str(), 100, 10));
  EXPECT_EQ(errno, EWOULDBLOCK);
  close(held);
  EXPECT_EQ(content(), "theirs");
}

TEST_F(MergedFileTest, ALinkStaysALink) {
  std::ofstream(folder_ + "/real") << "old";
  fs::create_symlink("real", path_);
  MergedFile file;
  ASSERT_TRUE(file.open(path_.c_str(), 100, 0));
  ASSERT_TRUE(file.replace("new"));
  EXPECT_TRUE(fs::is_symlink(path_));
  EXPECT_EQ(content(), "new");
}

TEST_F(MergedFileTest, OnlyPlainFilesOfBoundedSizeAreRead) {
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  std::string text;
  EXPECT_FALSE(read_plain_file(path_.c_str(), 100, text));
  EXPECT_EQ(errno, EINVAL);
  fs::remove(path_);
  std::ofstream(path_) << std::string(101, 'x');
  EXPECT_FALSE(read_plain_file(path_.c_str(), 100, text));
  EXPECT_EQ(errno, EFBIG);
  EXPECT_EQ(text, "");
}

TEST_F(MergedFileTest, TheFileKeepsItsMode) {
  std::ofstream(path_) << "old";
  chmod(path_.c_str(), 0640);
  MergedFile file;
  ASSERT_TRUE(file.open(path_.c_str(), 100, 0));
  ASSERT_TRUE(file.replace("new"));
  EXPECT_EQ(fs::status(path_).permissions(), static_cast<fs::perms>(0640));
}

}  // namespace
}  // namespace hearth
