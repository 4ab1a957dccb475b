// The result of hearth bench: its JSON, what it may not hold, the comparison of two, and the page.
#include <gtest/gtest.h>

#include <limits>

#include <unistd.h>

#include "topology/current.h"
#include "topology/sysfs.h"
#include "trial/conditions.h"
#include "trial/page.h"
#include "trial/result.h"
#include "trial/text.h"

using namespace hearth;
using namespace hearth::trial;

namespace {

Row row(const char* runtime, std::vector<double> ns, const char* set = "tasks", const char* name = "fib",
        const char* data = "none") {
  return {set, name, "gcc", data, runtime, State::measured, "", std::move(ns)};
}

Result example() {
  Result out;
  out.hearth_version = "0.1.0";
  out.sets = {"tasks", "las"};
  out.threads = 2;
  out.rounds = 5;
  out.machine.processor = "A processor";
  out.machine.cpus = 2;
  out.machine.nodes = {{2, 1000}};
  out.machine.distance = {{10}};
  out.machine.measured = MeasuredFacts{{{80}}, {{9000}}, {90}, {9}, 20, {"Quick."}};
  out.runtimes = {{"hearth", "hearth", "aa"},
                  {"hearth locality", "hearth", "aa"},
                  {"libgomp", "libgomp", "bb"},
                  {"libomp", "libomp", "cc"}};
  out.rows = {row("hearth", {1, 2, 3, 4, 5}),
              row("libgomp", {10, 20, 30, 40, 50}),
              row("libomp", {1, 2, 3, 4, std::numeric_limits<double>::quiet_NaN()}),
              row("hearth locality", {5, 5, 5, 5, 5}, "las", "map", "fine"),
              row("libgomp", {1, 1, 1, 1, 1}, "las", "map", "standard"),
              row("libgomp", {9, 9, 9, 9, 9}, "las", "map", "interleaved")};
  out.rows.push_back({"las", "matmul", "gcc", "standard", "libgomp", State::hung, "no end after 30 s", {}});
  return out;
}

}  // namespace

TEST(TrialResult, ItsJsonIsAsTheSchemaSaysAndIsReadAgain) {
  const std::string text = json_of(example());
  const ReadResult read = read_result(text);
  ASSERT_EQ(read.problem, "");
  EXPECT_EQ(json_of(read.result), text);
  EXPECT_EQ(read.result.rows.size(), 7u);
  EXPECT_EQ(read.result.rows[6].state, State::hung);
}

TEST(TrialResult, AnEmptyOneIsAsTheSchemaSays) {
  Result empty;
  empty.hearth_version = "0";
  empty.ended = "interrupted";
  EXPECT_EQ(read_result(json_of(empty)).problem, "");
}

TEST(TrialResult, RatiosAreToRivalsWithTheMemoryThatAProgramGets) {
  const std::vector<Ratio> ratios = ratios_of(example());
  ASSERT_EQ(ratios.size(), 3u);
  EXPECT_EQ(ratios[0].theirs, "libgomp");
  EXPECT_NEAR(ratios[0].spread.median, 0.1, 1e-12);
  EXPECT_STREQ(claim_word(ratios[0].spread), "faster");
  EXPECT_STREQ(claim_word(ratios[1].spread), "too few rounds");
  EXPECT_EQ(ratios[2].spread.median, 5);
  EXPECT_STREQ(claim_word(ratios[2].spread), "slower");
}

TEST(TrialResult, OfThisMachineItTellsNoNamesAndNoPaths) {
  Result result = example();
  result.machine = machine_facts(topology::SystemRoot(),
                                 topology::read_sysfs(topology::SystemRoot(), topology::allowance()));
  result.conditions = conditions_before(topology::SystemRoot(), topology::machine());
  result.left_out = {harmless("cannot read /home/somebody/x")};
  const std::string text = json_of(result);
  EXPECT_EQ(read_result(text).problem, "");
  EXPECT_EQ(text.find('/'), std::string::npos);
  const std::string fixed = json_of(example());  // a host may have the name of a member
  const auto expect_without = [&](const std::string& secret) {
    const bool telling = secret.size() > 3 && fixed.find(secret) == std::string::npos;
    EXPECT_TRUE(!telling || text.find(secret) == std::string::npos) << secret;
  };
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  expect_without(host);
  for (const char* name : {"HOME", "USER", "LOGNAME", "PWD"}) {
    const char* value = getenv(name);
    expect_without(value != nullptr ? value : "");
  }
}

TEST(TrialResult, APathInAFileIsRefused) {
  std::string text = json_of(example());
  const std::size_t at = text.find("A processor");
  text.replace(at, 11, "/home/peter");
  EXPECT_NE(read_result(text).problem.find("machine.processor"), std::string::npos);
}

TEST(TrialCompare, NeverSaysLessWhereIntervalsOverlap) {
  const Result a = example();
  Result b = example();
  EXPECT_EQ(compare_text(a, b).find("takes less"), std::string::npos);
  b.rows[0].ns = {5, 6, 7, 8, 9};  // touches 5
  EXPECT_EQ(compare_text(a, b).find("takes less"), std::string::npos);
  b.rows[0].ns = {6, 7, 8, 9, 10};
  EXPECT_NE(compare_text(a, b).find("A takes less time"), std::string::npos) << compare_text(a, b);
  b.rows[0].ns = {6, 7, 8, 9};
  EXPECT_EQ(compare_text(a, b).find("takes less"), std::string::npos) << "four rounds are too few";
}

TEST(TrialCompare, ToldApartAreMachinesSettingsAndBuilds) {
  const Result a = example();
  Result b = example();
  b.machine.processor = "Another";
  b.threads = 8;
  b.runtimes[2].build = "dd";
  b.rows[1].state = State::crashed;
  const std::string text = compare_text(a, b);
  for (const char* part : {"Different machines", "processor: A processor | Another", "threads: 2 | 8",
                           "libgomp, build: bb | dd", "crashed"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
}

TEST(TrialPage, HoldsAllFiguresAndNoTextFromAFileAsMarkup) {
  Result result = example();
  result.machine.processor = "<img src=x onerror=alert(1)>";
  result.rows[0].name = result.rows[1].name = "</td><script>";
  const std::string page = page_of(result);
  EXPECT_EQ(page.find("<img"), std::string::npos);
  EXPECT_EQ(page.find("<script"), std::string::npos);
  EXPECT_NE(page.find("hung: no end after 30 s"), std::string::npos);
  EXPECT_NE(page.find("0.100 (0.100 to 0.100)"), std::string::npos);
  EXPECT_NE(page.find("default-src 'none'"), std::string::npos);
}
