// What hearth bench plans, and what it may claim: pure, without any program that runs.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>

#include "trial/campaign.h"
#include "trial/conditions.h"
#include "trial/plan.h"
#include "trial/statistics.h"

using namespace hearth::trial;

namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

Runtime runtime(const char* name, const char* kind, const char* policy = "") {
  Runtime out;
  out.name = name;
  out.kind = kind;
  out.policy = policy;
  return out;
}

PlanInput input(std::initializer_list<const char*> compilers) {
  PlanInput out;
  out.sets = {"overheads", "tasks", "las", "nested"};
  out.threads = 4;
  out.nodes = 2;
  out.data_bytes = 64 * kMiB;
  out.runtimes = {runtime("hearth", "hearth"), runtime("hearth locality", "hearth", "locality"),
                  runtime("libgomp", "libgomp"), runtime("libomp", "libomp")};
  for (const char* compiler : compilers) {
    for (const char* program : {"overhead", "fib", "nqueens", "sort", "strassen", "sparselu", "uts", "health",
                                "las-map", "las-reduction", "las-vecmul", "las-matmul", "las-jacobi", "las-sparselu",
                                "nested_regions", "nested_stream", "zones", "nested_lu", "amr"})
      out.programs.insert(std::string(program) + "." + compiler);
  }
  return out;
}

}  // namespace

TEST(TrialStatistics, TheIntervalIsThatOfOrderStatistics) {
  EXPECT_EQ(spread_of({}).count, 0u);
  EXPECT_EQ(spread_of({3, kNone, 1, 2}).median, 2);
  const Spread six = spread_of({6, 5, 4, 3, 2, 1});
  EXPECT_EQ(six.low, 1);  // 2 / 2^6 = 3 %: all of them, but no fewer
  EXPECT_EQ(six.high, 6);
  const Spread nine = spread_of({1, 2, 3, 4, 5, 6, 7, 8, 9});
  EXPECT_EQ(nine.low, 2);  // 2 (1 + 9) / 2^9 = 4 %
  EXPECT_EQ(nine.high, 8);
}

TEST(TrialStatistics, RatiosAreFormedInsideARound) {
  const Spread ratio = ratio_of({1, 20, kNone, 4}, {2, 40, 6, kNone});
  EXPECT_EQ(ratio.count, 2u);
  EXPECT_EQ(ratio.median, 0.5);
}

TEST(TrialStatistics, OverlappingIntervalsClaimNothing) {
  const Spread low = spread_of({1, 2, 3, 4, 5}), high = spread_of({6, 7, 8, 9, 10}),
               between = spread_of({5, 6, 7, 8, 9});
  EXPECT_EQ(claim_of(low, high), Claim::less);
  EXPECT_EQ(claim_of(high, low), Claim::more);
  EXPECT_EQ(claim_of(low, between), Claim::none) << "they touch";
  EXPECT_EQ(claim_of(spread_of({1, 2, 3, 4}), high), Claim::none) << "four rounds are too few";
  EXPECT_EQ(claim_of(spread_of({0.5, 0.6, 0.7, 0.8, 0.9})), Claim::less);
  EXPECT_EQ(claim_of(spread_of({0.5, 0.6, 0.7, 0.8, 1.0})), Claim::none);
}

TEST(TrialPlan, EveryRuntimeRunsWhatItCan) {
  const PlanInput both = input({"gcc", "clang"});
  std::map<std::string, int> las;
  for (const Job& job : plan_jobs(both)) {
    const Runtime& one = both.runtimes[job.runtime];
    EXPECT_FALSE(job.compiler == "clang" && one.kind == "libgomp") << "clang's programs cannot run on libgomp";
    EXPECT_TRUE(both.programs.count(job.program) == 1) << job.program;
    if (job.set != "las") {
      EXPECT_TRUE(one.policy.empty() && job.data == "none");
      continue;
    }
    EXPECT_FALSE(one.kind == "hearth" && one.policy.empty());
    ++las[one.name + " " + job.compiler + " " + job.data];
  }
  for (const char* key : {"hearth locality gcc standard", "hearth locality gcc fine", "hearth locality clang coarse",
                          "libgomp gcc standard", "libgomp gcc interleaved", "libomp clang standard"})
    EXPECT_EQ(las[key], 6) << key;
  EXPECT_EQ(las.count("libomp gcc standard"), 0u);
}

TEST(TrialPlan, WithoutClangsProgramsLibompRunsGccs) {
  const PlanInput gcc = input({"gcc"});
  int found = 0;
  for (const Job& job : plan_jobs(gcc)) found += job.set == "las" && gcc.runtimes[job.runtime].name == "libomp" ? 1 : 0;
  EXPECT_EQ(found, 12);  // six of them, standard and interleaved
  EXPECT_TRUE(plan_jobs(input({})).empty());
}

TEST(TrialPlan, ProgramsStandTogether) {
  const std::vector<Job> jobs = plan_jobs(input({"gcc", "clang"}));
  std::vector<Job> seen;
  for (const Job& job : jobs) {
    if (!seen.empty() && seen.back().same_program(job)) continue;
    for (const Job& before : seen) EXPECT_FALSE(before.same_program(job)) << job.program;
    seen.push_back(job);
  }
}

TEST(TrialPlan, DataIsFourTimesTheCacheWhereMemoryAndTimeAllow) {
  EXPECT_EQ(choose_data({32 * kMiB, 64 * 1024 * kMiB, 600, false}, 120).bytes, 128 * kMiB);
  EXPECT_EQ(choose_data({32 * kMiB, 64 * 1024 * kMiB, 600, false}, 120).remark, "");
  const DataChoice large = choose_data({256 * kMiB, 64 * 1024 * kMiB, 36000, false}, 120);
  EXPECT_EQ(large.bytes, 256 * kMiB);
  EXPECT_NE(large.remark.find("too long to fill"), std::string::npos) << large.remark;
  const DataChoice narrow = choose_data({32 * kMiB, 300 * kMiB, 600, false}, 10);
  EXPECT_EQ(narrow.bytes, 64 * kMiB);
  EXPECT_NE(narrow.remark.find("memory"), std::string::npos);
  const DataChoice hurried = choose_data({32 * kMiB, 64 * 1024 * kMiB, 60, false}, 120);
  EXPECT_LT(hurried.bytes, 128 * kMiB);
  EXPECT_NE(hurried.remark.find("rounds"), std::string::npos);
}

TEST(TrialPlan, TooLittleMemoryIsRefusedInWords) {
  const DataChoice none = choose_data({32 * kMiB, 100 * kMiB, 600, false}, 120);
  EXPECT_EQ(none.bytes, 0u);
  EXPECT_EQ(none.remark, "las: 100 MiB of memory are available, 256 MiB are needed");
}

TEST(TrialPlan, RoundsAreDroppedNotBenchmarks) {
  EXPECT_EQ(rounds_that_fit(100, 30, 15), 3);
  EXPECT_EQ(rounds_that_fit(1000, 30, 15), 15);
  EXPECT_EQ(rounds_that_fit(20, 30, 15), 0);
  EXPECT_EQ(rounds_that_fit(-1, 0, 15), 0);
  EXPECT_EQ(rounds_that_fit(10, 0, 15), 15);
}

TEST(TrialConditions, RatesHowQuietItWas) {
  Conditions quiet;
  quiet.governor = "performance";
  judge({1000, 100, 0, 100}, {2000, 1000, 0, 990}, 4, quiet);
  EXPECT_TRUE(quiet.quiet);
  EXPECT_NEAR(quiet.others_percent, 1, 1e-9);
  Conditions loud;
  loud.load_before = 3;
  loud.governor = "powersave";
  loud.cpu_quota = 1.5;
  judge({1000, 100, 0, 100}, {2000, 900, 50, 400}, 4, loud);
  EXPECT_FALSE(loud.quiet);
  EXPECT_NEAR(loud.others_percent, 50, 1e-9);
  EXPECT_NEAR(loud.steal_percent, 5, 1e-9);
  EXPECT_EQ(loud.reasons.size(), 5u);
}

TEST(TrialAnswer, WrongAndHungAndCrashedAreNoTimes) {
  Job job;
  job.set = "tasks";
  job.benchmark = "fib";
  job.row_is_name = true;
  Ended ended;
  ended.how = Ended::How::normally;
  ended.output = R"({"runtime_file": "/x", "threads": 2, "rows": {"fib": {"ns": [1, 3, 2], "quiet": 0}}})";
  EXPECT_EQ(answer_of(job, ended, 30).ns.at("fib"), 2);
  EXPECT_EQ(answer_of(job, ended, 30).served_by, "/x");
  ended.status = 3;
  ended.errors = "bench: fib(33) = 1, not 3524578\n";
  EXPECT_EQ(answer_of(job, ended, 30).state, State::wrong);
  EXPECT_TRUE(answer_of(job, ended, 30).ns.empty());
  ended.errors = "map: no memory";
  EXPECT_EQ(answer_of(job, ended, 30).state, State::refused);
  ended.status = 0;
  ended.output = "{\"rows\": {}}";
  EXPECT_EQ(answer_of(job, ended, 30).state, State::wrong);
  ended.how = Ended::How::by_signal;
  ended.status = 11;
  EXPECT_EQ(answer_of(job, ended, 30).state, State::crashed);
  EXPECT_EQ(answer_of(job, ended, 30).why, "SIGSEGV");
  ended.how = Ended::How::by_time;
  EXPECT_EQ(answer_of(job, ended, 30).state, State::hung);
}

TEST(TrialAnswer, LinesOfTheSixAreRead) {
  Job job;
  job.set = "las";
  job.benchmark = "map";
  job.las_output = true;
  Ended ended;
  ended.how = Ended::How::normally;
  ended.output =
      "runtime /a/libgomp.so.1\nrepeat 0 balance 1.000 seconds 0.000003\nrepeat 1 balance 1.000 seconds 0.000001\n";
  const Answer answer = answer_of(job, ended, 30);
  EXPECT_EQ(answer.served_by, "/a/libgomp.so.1");
  EXPECT_NEAR(answer.ns.at("map"), 2000, 1e-6);
}

TEST(TrialProcess, AHungProgramIsKilledWithAllThatItStarted) {
  const Ended hung = run_process({"/bin/sh", "-c", "sleep 1000 & echo $!; wait"}, {"PATH=/usr/bin:/bin"}, 0.3,
                                 [] { return false; });
  EXPECT_EQ(hung.how, Ended::How::by_time);
  const Ended stopped = run_process({"/bin/sh", "-c", "sleep 1000"}, {"PATH=/usr/bin:/bin"}, 100, [] { return true; });
  EXPECT_EQ(stopped.how, Ended::How::stopped);
  const Ended good = run_process({"/bin/sh", "-c", "echo out; echo err >&2; exit 4"}, {}, 100, [] { return false; });
  EXPECT_EQ(good.how, Ended::How::normally);
  EXPECT_EQ(good.status, 4);
  EXPECT_EQ(good.output, "out\n");
  EXPECT_EQ(good.errors, "err\n");
  EXPECT_EQ(run_process({"/no/such/program"}, {}, 100, [] { return false; }).status, 127);
}
