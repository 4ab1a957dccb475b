// CpuMask against std::set.
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "support.h"

namespace hearth::topology::test {
namespace {

TEST(CpuMask, ListsInTheKernelsFormat) {
  EXPECT_EQ(cpus("").list(), "");
  EXPECT_EQ(cpus(" 0-3,8 \n").list(), "0-3,8");
  EXPECT_EQ(cpus("0-10:5").list(), "0,5,10");
  EXPECT_EQ(cpus("1023,1024,2047").list(), "1023-1024,2047");
  CpuMask mask{5};
  for (const char* bad : {"a", "1-", "3-1", "1,,2", "1,", "-1", "65536", "0-1:0", "1 2"}) {
    EXPECT_FALSE(CpuMask::parse_list(bad, mask)) << bad;
  }
  EXPECT_EQ(mask, CpuMask{5}) << "unchanged";
}

TEST(CpuMask, MembersAndNeighbours) {
  const CpuMask mask{3, 64, 200};
  EXPECT_EQ(mask.first(), 3U);
  EXPECT_EQ(mask.next(3), 64U);
  EXPECT_EQ(mask.next(64), 200U);
  EXPECT_EQ(mask.next(200), CpuMask::kNone);
  EXPECT_EQ(mask.last(), 200U);
  EXPECT_EQ(mask.nth(1), 64U);
  EXPECT_EQ(mask.nth(3), CpuMask::kNone);
  EXPECT_EQ(mask.count(), 3U);
  EXPECT_EQ(CpuMask().first(), CpuMask::kNone);
  EXPECT_EQ(CpuMask().last(), CpuMask::kNone);
  EXPECT_FALSE(mask.test(CpuMask::kNone));
  EXPECT_EQ(mask.bytes(), 4 * sizeof(CpuMask::Word));
}

TEST(CpuMask, BehavesAsASet) {
  std::mt19937 random(3);
  for (int round = 0; round < 500; ++round) {
    std::set<unsigned> x;
    std::set<unsigned> y;
    CpuMask a;
    CpuMask b;
    for (int i = 0; i < 20; ++i) {
      const unsigned p = random() % 300;
      const unsigned q = random() % (round % 2 == 0 ? 300 : 60);
      x.insert(p), a.set(p), y.insert(q), b.set(q);
      const unsigned gone = random() % 300;
      x.erase(gone), a.clear(gone);
    }
    const auto of = [](const CpuMask& mask) {
      std::set<unsigned> members;
      mask.for_each([&](unsigned cpu) { members.insert(cpu); });
      return members;
    };
    std::set<unsigned> both;
    std::set<unsigned> either = x;
    std::set<unsigned> rest;
    for (unsigned v : x) (y.count(v) != 0 ? both : rest).insert(v);
    either.insert(y.begin(), y.end());
    ASSERT_EQ(of(a), x);
    ASSERT_EQ(of(a & b), both);
    ASSERT_EQ(of(a | b), either);
    ASSERT_EQ(of(a - b), rest);
    ASSERT_EQ(a.intersects(b), !both.empty());
    ASSERT_TRUE(a.contains(a & b));
    ASSERT_EQ(a.contains(b), rest.size() + y.size() == x.size());
    ASSERT_EQ((a & b) | (a - b), a) << "no trailing words are kept";
    ASSERT_EQ(cpus(a.list().c_str()), a);
  }
}

}  // namespace
}  // namespace hearth::topology::test
