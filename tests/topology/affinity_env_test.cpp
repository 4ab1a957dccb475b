// GOMP_CPU_AFFINITY, KMP_AFFINITY and KMP_HW_SUBSET, as scripts in the field write them.
#include <random>

#include <gtest/gtest.h>

#include "support.h"
#include "topology/affinity_env.h"

namespace hearth::topology::test {
namespace {

using Type = KmpAffinity::Type;

// 2 packages, 1 node each, 1 cache each, 2 cores each, 2 siblings side by side: CPUs 0-7.
const Machine& box() {
  static const Machine machine = regular(2, 1, 1, 2, 2);
  return machine;
}

std::string gomp(const char* text, const Machine& machine = box()) {
  const ParsedPlaces parsed = parse_gomp_cpu_affinity(text, machine);
  return parsed.refused ? "refused at " + std::to_string(parsed.remarks[0].column) : parsed.list.text();
}

TEST(GompCpuAffinity, ListsRangesAndStrides) {
  EXPECT_EQ(gomp("0 3 1-2"), "{0},{3},{1},{2}");
  EXPECT_EQ(gomp("0-6:2 1"), "{0},{2},{4},{6},{1}");
  EXPECT_EQ(gomp("0,1, 2 ,3"), "{0},{1},{2},{3}");
  EXPECT_EQ(gomp("  7  "), "{7}");
  EXPECT_EQ(gomp("3-0:-1"), "{3},{2},{1},{0}");
  EXPECT_EQ(gomp("1 1 0"), "{1},{1},{0}");
}
TEST(GompCpuAffinity, NonsenseIsRefusedAtItsColumn) {
  EXPECT_EQ(gomp(""), "refused at 0");
  EXPECT_EQ(gomp("x"), "refused at 1");
  EXPECT_EQ(gomp("0 x"), "refused at 3");
  EXPECT_EQ(gomp("0-"), "refused at 3");
  EXPECT_EQ(gomp("0-4:0"), "refused at 5");
  EXPECT_EQ(gomp("4-2"), "refused at 1");
  EXPECT_EQ(gomp("0,"), "refused at 3");
  EXPECT_EQ(gomp("0x1"), "refused at 2");
  EXPECT_EQ(gomp("70000"), "refused at 1");
}
TEST(GompCpuAffinity, WhatWeMayNotUseIsLeftOut) {
  const ParsedPlaces parsed = parse_gomp_cpu_affinity("0-65535", box());
  EXPECT_EQ(parsed.list.size(), 8U);
  ASSERT_EQ(parsed.remarks.size(), 1U);
  EXPECT_EQ(gomp("8-9"), "refused at 0");
}

std::string kmp(const char* text, const Machine& machine = box()) {
  const KmpAffinity parsed = parse_kmp_affinity(text, machine);
  if (parsed.refused) return "refused at " + std::to_string(parsed.remarks[0].column);
  return parsed.list.text();
}
KmpAffinity::Type type(const char* text) { return parse_kmp_affinity(text, box()).type; }

TEST(KmpAffinity, TypesWithoutPlaces) {
  EXPECT_EQ(type("none"), Type::none);
  EXPECT_EQ(type("disabled"), Type::disabled);
  EXPECT_EQ(type("verbose"), Type::unset);
  EXPECT_EQ(type("verbose,none"), Type::none);
  EXPECT_TRUE(parse_kmp_affinity("verbose", box()).verbose);
  EXPECT_FALSE(parse_kmp_affinity("nowarnings,none", box()).warnings);
  EXPECT_EQ(parse_kmp_affinity("none", box()).bind, ProcBind::false_);
  EXPECT_TRUE(parse_kmp_affinity("reset,compact", box()).reset);
  EXPECT_FALSE(parse_kmp_affinity("reset,noreset,compact", box()).reset);
}
TEST(KmpAffinity, CompactFillsCoreAfterCore) {
  EXPECT_EQ(kmp("granularity=fine,compact"), "{0},{1},{2},{3},{4},{5},{6},{7}");
  EXPECT_EQ(kmp("compact"), "{0-1},{0-1},{2-3},{2-3},{4-5},{4-5},{6-7},{6-7}")
      << "threads may move within their core";
  EXPECT_EQ(kmp("granularity=socket,compact").substr(0, 11), "{0-3},{0-3}");
  EXPECT_EQ(parse_kmp_affinity("compact", box()).bind, ProcBind::close);
}
TEST(KmpAffinity, CompactWithPermuteWalksFirstSiblingsFirst) {
  // The line of Intel's documentation: granularity=fine,compact,1,0.
  EXPECT_EQ(kmp("granularity=fine,compact,1,0"), "{0},{2},{4},{6},{1},{3},{5},{7}");
}
TEST(KmpAffinity, ScatterGoesRoundThePackages) {
  EXPECT_EQ(kmp("granularity=fine,scatter"), "{0},{4},{2},{6},{1},{5},{3},{7}");
  EXPECT_EQ(kmp("scatter").substr(0, 23), "{0-1},{4-5},{2-3},{6-7}");
}
TEST(KmpAffinity, ScatterGoesRoundTheNodesInsidePackages) {
  EXPECT_EQ(kmp("granularity=fine,scatter", regular(2, 2, 1, 2, 1)), "{0},{4},{2},{6},{1},{5},{3},{7}");
}
TEST(KmpAffinity, OffsetStartsElsewhere) {
  EXPECT_EQ(kmp("granularity=fine,compact,0,3"), "{3},{4},{5},{6},{7},{0},{1},{2}");
}
TEST(KmpAffinity, BalancedTakesCoresInOrder) { EXPECT_EQ(kmp("balanced"), "{0-1},{2-3},{4-5},{6-7}"); }
TEST(KmpAffinity, ExplicitLists) {
  EXPECT_EQ(kmp("explicit,proclist=[3,0-1,{4,6}]"), "{3},{0},{1},{4,6}");
  EXPECT_EQ(kmp("proclist=[7-5:-1],explicit"), "{7},{6},{5}");
  EXPECT_EQ(kmp("proclist=[2]"), "{2}");
  EXPECT_EQ(kmp("granularity=core,proclist=[2],explicit"), "{2-3}");
  EXPECT_EQ(kmp("explicit"), "refused at 0");
  EXPECT_EQ(kmp("explicit,proclist=[77]"), "refused at 0");
}
TEST(KmpAffinity, NonsenseIsRefusedAtItsColumn) {
  EXPECT_EQ(kmp(""), "refused at 0");
  EXPECT_EQ(kmp("compat"), "refused at 1");
  EXPECT_EQ(kmp("verbose,compat"), "refused at 9");
  EXPECT_EQ(kmp("compact,scatter"), "refused at 9");
  EXPECT_EQ(kmp("1,compact"), "refused at 1");
  EXPECT_EQ(kmp("compact,1,2,3"), "refused at 13");
  EXPECT_EQ(kmp("granularity=cor,compact"), "refused at 13");
  EXPECT_EQ(kmp("granularity"), "refused at 12");
  EXPECT_EQ(kmp("explicit,proclist=[1"), "refused at 21");
  EXPECT_EQ(kmp("compact;"), "refused at 8");
  EXPECT_EQ(kmp("physical"), "refused at 1");
}
TEST(KmpAffinity, WhatIsIgnoredIsSaid) {
  const KmpAffinity parsed = parse_kmp_affinity("norespect,compact", box());
  EXPECT_FALSE(parsed.refused);
  ASSERT_EQ(parsed.remarks.size(), 1U);
  EXPECT_EQ(parsed.remarks[0].used_instead, "respect");
}
TEST(KmpAffinity, OnlyUsableCpus) {
  EXPECT_EQ(kmp("granularity=fine,scatter", restricted(box(), "1-2,7")), "{1},{7},{2}");
}

std::string subset(const char* text, const Machine& machine = box()) {
  const HwSubset parsed = parse_kmp_hw_subset(text, machine);
  return parsed.refused ? "refused at " + std::to_string(parsed.remarks[0].column) : parsed.cpus.list();
}

TEST(KmpHwSubset, CountsPerLayer) {
  EXPECT_EQ(subset("1s"), "0-3");
  EXPECT_EQ(subset("2s,1c"), "0-1,4-5");
  EXPECT_EQ(subset("2s,2c,1t"), "0,2,4,6");
  EXPECT_EQ(subset("1t"), "0,2,4,6") << "one thread of every core";
  EXPECT_EQ(subset("1c,1t"), "0,4") << "sockets are implied: one core of each";
  EXPECT_EQ(subset(":1c,1t"), "0")
      << "unless a colon says that only the layers named divide: one core in all";
  EXPECT_EQ(subset("*s,1c"), "0-1,4-5");
  EXPECT_EQ(subset("s,1c"), "0-1,4-5");
  EXPECT_EQ(subset("1t,2s"), "0,2,4,6") << "in any order, outermost first";
  EXPECT_EQ(subset(":1s,1c,2t"), "0-1");
}
TEST(KmpHwSubset, Offsets) {
  EXPECT_EQ(subset("1s@1"), "4-7");
  EXPECT_EQ(subset("1s@1,1c@1,1t@1"), "7");
}
TEST(KmpHwSubset, OldSeparatorsAndLongNames) {
  EXPECT_EQ(subset("2sx1cx1t"), "0,4");
  EXPECT_EQ(subset("1Socket,2Cores,1Thread"), "0,2");
  EXPECT_EQ(subset("1s,1numa,1ll_cache"), "0-3");
  EXPECT_EQ(subset(":1L3"), "0-3");
}
TEST(KmpHwSubset, KindsOfCores) {
  const Machine hybrid = machine_of_tree("hybrid");
  EXPECT_EQ(subset("2c:intel_core", hybrid), "0-3");
  EXPECT_EQ(subset("4c:intel_atom", hybrid), "8-11");
  EXPECT_EQ(subset("2c:eff2,1t", hybrid), "0,2");
  EXPECT_EQ(subset("2c:eff0&1c:eff2", hybrid), "0-1,16-17");
  EXPECT_EQ(subset("1c:eff3", hybrid), "refused at 3");
  EXPECT_EQ(subset("1c:intel_atom"), "refused at 3");
}
TEST(KmpHwSubset, WhatIsNotThereIsRefusedAsAWhole) {
  for (const char* text : {"3s", "1s@2", "2s,3c", "3t", "1s,1c,1t@2"}) {
    const HwSubset parsed = parse_kmp_hw_subset(text, box());
    EXPECT_TRUE(parsed.refused) << text;
    EXPECT_EQ(parsed.cpus, box().usable) << text;
  }
  EXPECT_EQ(subset(""), "refused at 0");
  EXPECT_EQ(subset("0c"), "refused at 1");
  EXPECT_EQ(subset("2q"), "refused at 2");
  EXPECT_EQ(subset("1s,1s"), "refused at 4");
  EXPECT_EQ(subset("1s;"), "refused at 3");
}

TEST(AffinityVariables, AnyTextGivesSomethingUsable) {
  std::mt19937 random(99);
  const std::string alphabet = "0123456789,-:{}[]=@*&x scatnumlfipre";
  for (int round = 0; round < 20000; ++round) {
    std::string text;
    const unsigned length = random() % 20;
    for (unsigned i = 0; i < length; ++i) text += alphabet[random() % alphabet.size()];
    const ParsedPlaces list = parse_gomp_cpu_affinity(text, box());
    ASSERT_FALSE(list.list.places.empty()) << text;
    const HwSubset left = parse_kmp_hw_subset(text, box());
    ASSERT_FALSE(left.cpus.empty()) << text;
    ASSERT_TRUE(box().usable.contains(left.cpus)) << text;
    const KmpAffinity affinity = parse_kmp_affinity(text, box());
    ASSERT_EQ(affinity.refused && affinity.remarks.empty(), false) << text;
    for (const CpuMask& place : affinity.list.places)
      ASSERT_TRUE(!place.empty() && box().usable.contains(place)) << text;
  }
}

}  // namespace
}  // namespace hearth::topology::test
