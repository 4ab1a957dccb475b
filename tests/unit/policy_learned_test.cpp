// The file of what runs have learned, as text: what is read is what was written, strange content is refused with its place,
// and neither entries nor bytes grow without end.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "policy/learned.h"

namespace hearth::policy {
namespace {

constexpr const char* kText =
    "hearth-learned 1\n"
    "construct 9f86d081884c7d65 8 0x1a2b asked=512 saved=80123 home=300 home-ns=51200 far=12 far-ns=81400 foretold=30120 "
    "5d41402a /home/user/my app\n";

Learned entry(std::uint64_t offset, std::string_view build = "5d41402a", std::string_view module = "/home/user/app") {
  return {.machine = 7, .threads = 8, .offset = offset, .build = build, .module = module, .seen = {.home = 5, .home_time = 1'000}};
}

TEST(Learned, IsReadAsItWasWritten) {
  const LearnedText read = read_learned(kText);
  ASSERT_TRUE(read.ok());
  ASSERT_EQ(read.entries.size(), 1u);
  const Learned& one = read.entries.front();
  EXPECT_EQ(one.machine, 0x9f86d081884c7d65u);
  EXPECT_EQ(one.threads, 8u);
  EXPECT_EQ(one.offset, 0x1a2bu);
  EXPECT_EQ(one.seen.asked, 512u);
  EXPECT_EQ(one.seen.foretold, 30'120u);
  EXPECT_EQ(one.build, "5d41402a");
  EXPECT_EQ(one.module, "/home/user/my app");
  EXPECT_EQ(write_learned(read.entries), kText);
}

TEST(Learned, AnEmptyFileHasNoEntries) {
  EXPECT_TRUE(read_learned("").ok());
  EXPECT_TRUE(read_learned("hearth-learned 1\n").ok());
}

struct Strange {
  const char* what;
  std::string text;
  std::size_t line, column;
};

std::string changed(const std::string& from, const std::string& to) {
  std::string text = kText;
  return text.replace(text.find(from), from.size(), to);
}

TEST(Learned, StrangeContentIsRefusedWithItsPlace) {
  const Strange all[] = {{"another version", changed("learned 1", "learned 2"), 1, 1},
                         {"no such file at all", "\x7f" "ELF\n", 1, 1},
                         {"an unknown kind", changed("construct", "destruct"), 2, 1},
                         {"not hexadecimal", changed("9f86", "xf86"), 2, 11},
                         {"too many digits", changed("9f86", "19f86"), 2, 11},
                         {"a sign", changed(" 8 ", " -8 "), 2, 28},
                         {"no threads", changed(" 8 ", "  "), 2, 28},
                         {"another field", changed("asked=", "told="), 2, 37},
                         {"no number", changed("asked=512", "asked=many"), 2, 43},
                         {"a number with a tail", changed("asked=512", "asked=512x"), 2, 43},
                         {"too long a time", changed("saved=80123", "saved=80123000000000000"), 2, 53},
                         {"beyond 64 bits", changed("saved=80123", "saved=99999999999999999999"), 2, 53},
                         {"no path", changed("/home", "home"), 2, 126},
                         {"a control character in the path", changed("my app", "my\tapp"), 2, 126},
                         {"cut off", std::string(kText).substr(0, 100), 2, 1}};
  for (const Strange& strange : all) {
    const LearnedText read = read_learned(strange.text);
    EXPECT_FALSE(read.ok()) << strange.what;
    EXPECT_TRUE(read.entries.empty()) << strange.what;
    EXPECT_EQ(read.line, strange.line) << strange.what << ": " << read.wrong;
    EXPECT_EQ(read.column, strange.column) << strange.what << ": " << read.wrong;
  }
}

TEST(Learned, ANewerEntryIsJoinedToItsOlderOneAndComesLast) {
  std::vector<Learned> all = {entry(1), entry(2)};
  add_learned(all, entry(1));
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all.back().offset, 1u);
  EXPECT_EQ(all.back().seen.home, 10u);
}

TEST(Learned, AModuleThatWasBuiltAnewForgetsWhatItWas) {
  Learned elsewhere = entry(1);
  elsewhere.machine = 8;
  std::vector<Learned> all = {entry(1), entry(2), elsewhere, entry(1, "5d41402a", "/other")};
  add_learned(all, entry(3, "abc"));
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].machine, 8u) << "another machine's copy may be another build";
  EXPECT_EQ(all[1].module, "/other");
  EXPECT_EQ(all[2].build, "abc");
}

TEST(Learned, TheOldestGoFirst) {
  std::vector<Learned> all;
  for (std::uint64_t i = 0; i < kMostLearned + 10; ++i) all.push_back(entry(i));
  const std::string text = write_learned(all);
  const LearnedText read = read_learned(text);
  ASSERT_TRUE(read.ok()) << read.wrong;
  EXPECT_EQ(read.entries.size(), kMostLearned);
  EXPECT_EQ(read.entries.front().offset, 10u);

  const std::string longest = "/" + std::string(kMostModule - 1, 'x');
  for (Learned& one : all) one.module = longest;
  const std::string fewer = write_learned(all);
  EXPECT_LE(fewer.size(), kMostLearnedBytes);
  EXPECT_EQ(read_learned(fewer).entries.back().offset, kMostLearned + 9);
}

}  // namespace
}  // namespace hearth::policy
