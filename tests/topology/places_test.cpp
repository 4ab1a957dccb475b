// OMP_PLACES: what each text means on which machine, and what is said about those that mean nothing.
#include <random>

#include <gtest/gtest.h>

#include "support.h"
#include "topology/places.h"

namespace hearth::topology::test {
namespace {

// 2 packages, 2 nodes each, 1 cache each, 2 cores each, 2 siblings side by side: CPUs 0-15.
const Machine& box() {
  static const Machine machine = regular(2, 2, 1, 2, 2);
  return machine;
}

std::string places(const char* text, const Machine& machine = box()) {
  const ParsedPlaces parsed = parse_places(text, machine);
  EXPECT_FALSE(parsed.refused) << text << ": " << (parsed.remarks.empty() ? "" : parsed.remarks[0].wrong);
  return parsed.list.text();
}

struct Good {
  const char* text;
  const char* places;
};

class GoodPlaces : public testing::TestWithParam<Good> {};
TEST_P(GoodPlaces, MeansTheseSets) {
  const ParsedPlaces parsed = parse_places(GetParam().text, box());
  EXPECT_FALSE(parsed.refused);
  EXPECT_TRUE(parsed.remarks.empty()) << parsed.remarks[0].wrong;
  EXPECT_EQ(parsed.list.text(), GetParam().places);
}
INSTANTIATE_TEST_SUITE_P(
    Names, GoodPlaces,
    testing::Values(Good{"threads", "{0},{1},{2},{3},{4},{5},{6},{7},{8},{9},{10},{11},{12},{13},{14},{15}"},
                    Good{"cores", "{0-1},{2-3},{4-5},{6-7},{8-9},{10-11},{12-13},{14-15}"},
                    Good{"ll_caches", "{0-3},{4-7},{8-11},{12-15}"},
                    Good{"numa_domains", "{0-3},{4-7},{8-11},{12-15}"}, Good{"sockets", "{0-7},{8-15}"},
                    Good{"SOCKETS", "{0-7},{8-15}"}, Good{"  Cores (3) ", "{0-1},{2-3},{4-5}"},
                    Good{"threads(2)", "{0},{1}"}, Good{"sockets(2)", "{0-7},{8-15}"}));
INSTANTIATE_TEST_SUITE_P(
    Lists, GoodPlaces,
    testing::Values(
        Good{"{0}", "{0}"}, Good{"{0,1,2,3}", "{0-3}"}, Good{"{0:4}", "{0-3}"}, Good{"{0:4:2}", "{0,2,4,6}"},
        Good{"{6:3:-2}", "{2,4,6}"}, Good{"{0:4},{4:4}", "{0-3},{4-7}"}, Good{"{0},{2},{1}", "{0},{2},{1}"},
        Good{"{0:2}:4:2", "{0-1},{2-3},{4-5},{6-7}"}, Good{"{0:4}:4:4", "{0-3},{4-7},{8-11},{12-15}"},
        Good{"{0}:3", "{0},{1},{2}"}, Good{"{12:4}:4:-4", "{12-15},{8-11},{4-7},{0-3}"},
        Good{"{3}:4:-1", "{3},{2},{1},{0}"}, Good{"0,1,2", "{0},{1},{2}"}, Good{"0:4", "{0},{1},{2},{3}"},
        Good{"1:3:4", "{1},{5},{9}"}, Good{" { 0 : 2 } : 2 : 4 , { 8 } ", "{0-1},{4-5},{8}"},
        Good{"{0:2},{0:2}", "{0-1},{0-1}"}, Good{"{0,0,0}", "{0}"}, Good{"{0:1:0}", "{0}"},
        Good{"{0}:1:0", "{0}"}, Good{"{0:2,8:2}", "{0-1,8-9}"}, Good{"{0:2}:2:+8", "{0-1},{8-9}"}));
INSTANTIATE_TEST_SUITE_P(Exclusions, GoodPlaces,
                         testing::Values(Good{"{0:4,!3}", "{0-2}"}, Good{"{!3,0:4}", "{0-2}"},
                                         Good{"{0:8,!0,!7}", "{1-6}"},
                                         Good{"{0:4}:4:4,!{4:4}", "{0-3},{8-11},{12-15}"},
                                         Good{"{0}:4,!2", "{0},{1},{3}"}, Good{"!{1},{0}:3", "{0},{2}"},
                                         Good{"{0},{1},{0},!{0}", "{1}"},
                                         Good{"{0:4,!1}:2:4", "{0,2-3},{4,6-7}"}));

struct Bad {
  const char* text;
  std::size_t column;
  const char* wrong;
};
class BadPlaces : public testing::TestWithParam<Bad> {};
TEST_P(BadPlaces, IsRefusedAtItsColumnAndCoresAreUsed) {
  const ParsedPlaces parsed = parse_places(GetParam().text, box());
  EXPECT_TRUE(parsed.refused);
  ASSERT_EQ(parsed.remarks.size(), 1U);
  EXPECT_EQ(parsed.remarks[0].column, GetParam().column);
  EXPECT_EQ(parsed.remarks[0].wrong, GetParam().wrong);
  EXPECT_EQ(parsed.remarks[0].used_instead, "cores");
  EXPECT_FALSE(parsed.remarks[0].legal.empty());
  EXPECT_EQ(parsed.list.text(), places_of(PlaceUnit::cores, box()).text());
}
INSTANTIATE_TEST_SUITE_P(
    Texts, BadPlaces,
    testing::Values(
        Bad{"", 0, "no places"}, Bad{"   ", 0, "no places"}, Bad{"numa_domain", 1, "unknown place name"},
        Bad{"  node", 3, "unknown place name"}, Bad{"cores(", 7, "not a number of places"},
        Bad{"cores(x)", 7, "not a number of places"}, Bad{"cores(0)", 7, "0 places"},
        Bad{"cores(2", 8, "missing )"}, Bad{"cores(2)x", 9, "unexpected text"},
        Bad{"cores,threads", 6, "unexpected text"}, Bad{"cores(-1)", 7, "not a number of places"},
        Bad{"{0", 3, "missing }"}, Bad{"{}", 2, "not a CPU number"},
        Bad{"{0},", 5, "the text ends where a CPU number or { should stand"},
        Bad{"{0},,{1}", 5, "not a CPU number or {"}, Bad{"{0:}", 4, "not a length"},
        Bad{"{0:0}", 4, "a length of 0"}, Bad{"{0:2:}", 6, "not a stride"},
        Bad{"{0:2:0}", 6, "a stride of 0"}, Bad{"{1:3:-1}", 2, "the interval reaches below CPU 0"},
        Bad{"{0}:2:-1", 1, "the interval reaches below CPU 0"}, Bad{"{0}}", 4, "unexpected text"},
        Bad{"{0:2,!0,!1}", 1, "a place without CPUs"}, Bad{"{0},cores", 5, "a name inside a list"},
        Bad{"{99999}", 2, "CPU number above 65535"}, Bad{"{65535:2}", 2, "the interval reaches above 65535"},
        Bad{"{0}:65536", 5, "length above 65535"}, Bad{"0:65535,0:65535", 9, "more than 65536 places"},
        Bad{"!{0}:2,{0}:4", 5, "an interval after an exclusion"},
        Bad{"{0},!{0}", 0, "every place is excluded"},
        Bad{"{20},{21}", 0, "none of its CPUs can be used by this process, which may use 0-15"},
        Bad{"{0 1}", 4, "expected , or }"}, Bad{"-1", 1, "not a CPU number or {"}));

TEST(Places, ANameWithAWrongCountStillCounts) {
  const char* const texts[] = {"sockets(", "sockets()", "sockets(0)", "sockets(1", "sockets(1)x"};
  for (const char* text : texts) {
    const ParsedPlaces parsed = parse_places(text, box());
    EXPECT_TRUE(parsed.refused) << text;
    ASSERT_EQ(parsed.remarks.size(), 1U) << text;
    EXPECT_EQ(parsed.remarks[0].used_instead, "sockets") << text;
    EXPECT_EQ(parsed.list.text(), "{0-7},{8-15}") << text;
  }
}

TEST(Places, TheLineThatPeopleGet) {
  const ParsedPlaces parsed = parse_places("numa_domain", box());
  EXPECT_EQ(remark_line("OMP_PLACES", "numa_domain", parsed.remarks[0]),
            "OMP_PLACES=\"numa_domain\": unknown place name at column 1; legal: threads, cores, ll_caches, "
            "numa_domains, sockets, "
            "or a list such as \"{0:4},{4:4}\"; using cores.");
}

TEST(Places, OnlyUsableCpusAreInPlaces) {
  const Machine half = restricted(box(), "2-5,14");
  EXPECT_EQ(places("threads", half), "{2},{3},{4},{5},{14}");
  EXPECT_EQ(places("cores", half), "{2-3},{4-5},{14}");
  EXPECT_EQ(places("numa_domains", half), "{2-3},{4-5},{14}");
  EXPECT_EQ(places("sockets", half), "{2-5},{14}");
}

TEST(Places, MissingCpusAreLeftOutWithARemark) {
  const Machine half = restricted(box(), "0-5");
  const ParsedPlaces parsed = parse_places("{0:4}:4:4", half);
  EXPECT_FALSE(parsed.refused);
  EXPECT_EQ(parsed.list.text(), "{0-3},{4-5}");
  ASSERT_EQ(parsed.remarks.size(), 1U);
  EXPECT_EQ(remark_line("OMP_PLACES", "{0:4}:4:4", parsed.remarks[0]),
            "OMP_PLACES=\"{0:4}:4:4\": this process may not use CPUs 6-15; using {0-3},{4-5}.");
}

TEST(Places, MoreUnitsThanThereAreGiveAllWithARemark) {
  const ParsedPlaces parsed = parse_places("sockets(5)", box());
  EXPECT_EQ(parsed.list.size(), 2U);
  ASSERT_EQ(parsed.remarks.size(), 1U);
  EXPECT_EQ(parsed.remarks[0].wrong, "only 2 of 5 sockets can be used by this process");
  EXPECT_EQ(parsed.remarks[0].column, 9U);
}

TEST(Places, AnExclusionOfNothingGetsARemark) {
  for (const char* text : {"{0:4},!{9}", "{0:4,!9}"}) {
    const ParsedPlaces parsed = parse_places(text, box());
    EXPECT_EQ(parsed.list.text(), "{0-3}") << text;
    ASSERT_EQ(parsed.remarks.size(), 1U) << text;
    EXPECT_EQ(parsed.remarks[0].wrong, "this exclusion excludes nothing");
  }
}

TEST(Places, SiblingsAreNeighboursWhateverTheirNumbers) {
  EXPECT_EQ(places("threads(4)", regular(2, 1, 1, 2, 2, "by-thread")), "{0},{4},{1},{5}");
  EXPECT_EQ(places("cores", regular(2, 1, 1, 2, 2, "by-thread")), "{0,4},{1,5},{2,6},{3,7}");
}

TEST(Places, CachesBelowNodesAndAboveThem) {
  EXPECT_EQ(places("ll_caches", machine_of_tree("epyc-nps4")).substr(0, 25), "{0-1,32-33},{2-3,34-35},{");
  EXPECT_EQ(places("ll_caches", machine_of_tree("hybrid")), "{0-15},{16-17}");
}

TEST(Places, PlaceOfACpu) {
  const PlaceList list = places_of(PlaceUnit::sockets, box());
  EXPECT_EQ(list.place_of_cpu(9), 1);
  EXPECT_EQ(list.place_of_cpu(99), -1);
}

// Whatever the text: no crash, no empty place, nothing that we may not use, and a remark whenever it was
// refused.
TEST(Places, AnyTextGivesAUsableList) {
  std::mt19937 random(20240521);
  const std::string alphabet = "{}:,!-+0123456789 coresthadku()";
  const Machine half = restricted(box(), "1-3,8-9");
  int accepted = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string text;
    const unsigned length = random() % 14;
    for (unsigned i = 0; i < length; ++i)
      text += alphabet[random() % (round % 2 == 0 ? 17 : alphabet.size())];
    const ParsedPlaces parsed = parse_places(text, half);
    ASSERT_FALSE(parsed.list.places.empty()) << text;
    ASSERT_EQ(parsed.refused && parsed.remarks.empty(), false) << text;
    for (const CpuMask& place : parsed.list.places) {
      ASSERT_FALSE(place.empty()) << text;
      ASSERT_TRUE(half.usable.contains(place)) << text;
    }
    for (const Remark& remark : parsed.remarks) ASSERT_LE(remark.column, text.size() + 1) << text;
    accepted += parsed.refused ? 0 : 1;
  }
  EXPECT_GT(accepted, 100) << "the generator makes legal texts, too";
}

// An interval is its own expansion.
TEST(Places, IntervalsEqualTheirExpansion) {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    const int first = static_cast<int>(random() % 8);
    const int size = 1 + static_cast<int>(random() % 4);
    const int length = 1 + static_cast<int>(random() % 4);
    const int stride = static_cast<int>(random() % 9) - 4;
    if (first + stride * (length - 1) < 0 || first + size - 1 + stride * (length - 1) > 15 || stride == 0)
      continue;
    std::string expanded;
    for (int i = 0; i < length; ++i) {
      std::string place;
      for (int k = 0; k < size; ++k) place += (k == 0 ? "" : ",") + std::to_string(first + i * stride + k);
      expanded += (i == 0 ? "{" : ",{") + place + "}";
    }
    const std::string interval = "{" + std::to_string(first) + ":" + std::to_string(size) +
                                 "}:" + std::to_string(length) + ":" + std::to_string(stride);
    ASSERT_EQ(places(interval.c_str()), places(expanded.c_str())) << interval;
  }
}

}  // namespace
}  // namespace hearth::topology::test
