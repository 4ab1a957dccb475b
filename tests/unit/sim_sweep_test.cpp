// Sweeps: the same results from however many threads, an end when it is asked for, and draws that cover their
// ranges.
#include "sim/study/sweep.h"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "policy/policies.h"
#include "sim/workload/generators.h"
#include "topology/model.h"

namespace hearth::sim {
namespace {

TEST(LatinHypercube, HasOnePointInEachPartOfEachDimension) {
  const auto points = latin_hypercube(5, 40, 9);
  ASSERT_EQ(points.size(), 40u);
  for (std::size_t d = 0; d < 5; ++d) {
    std::vector<int> parts;
    for (const auto& point : points) parts.push_back(static_cast<int>(point[d] * 40));
    std::sort(parts.begin(), parts.end());
    for (int i = 0; i < 40; ++i) EXPECT_EQ(parts[static_cast<std::size_t>(i)], i);
  }
  EXPECT_EQ(points, latin_hypercube(5, 40, 9));
  EXPECT_NE(points, latin_hypercube(5, 40, 10));
  EXPECT_EQ(latin_hypercube(0, 3, 1), std::vector<std::vector<double>>(3));
}

TEST(Band, IsWhereNineOfTenValuesLie) {
  std::vector<double> values;
  for (int i = 100; i >= 0; --i) values.push_back(i);
  const Band band = band_of(values);
  EXPECT_DOUBLE_EQ(band.low, 5);
  EXPECT_DOUBLE_EQ(band.median, 50);
  EXPECT_DOUBLE_EQ(band.high, 95);
  EXPECT_DOUBLE_EQ(band_of({1, 2}).median, 1.5);
  EXPECT_DOUBLE_EQ(band_of({3}).high, 3);
}

class Sweeps : public testing::Test {
 protected:
  void SetUp() override {
    const std::string path = std::string(HEARTH_SOURCE_DIR) + "/models/opteron-6172x4.toml";
    topology::LoadedMachine loaded = topology::load_model(path);
    ASSERT_EQ(loaded.error, "");
    machine_ = std::move(loaded.machine);
    LoadedParameters read = load_parameters(path, machine_);
    ASSERT_EQ(read.error(), "");
    parameters_ = std::move(read.parameters);
    workload_ = generate(*find_generator("map"), {"kib=64"}).workload;
    request_.workload = &workload_;
    request_.machine = &machine_;
    request_.parameters = &parameters_;
    for (const policy::TaskPolicy* policy : {&policy::work_stealing, &policy::locality}) {
      RunOptions options;
      options.policy = policy;
      options.distribution.kind = placement::Kind::coarse;
      request_.ways.push_back(options);
    }
    request_.draws = 6;
  }

  topology::Machine machine_;
  Parameters parameters_;
  Workload workload_;
  SweepRequest request_;
};

TEST_F(Sweeps, GiveTheSameFromAnyNumberOfThreads) {
  const Sweep alone = sweep(request_);
  request_.threads = 5;
  const Sweep together = sweep(request_);
  ASSERT_TRUE(alone.complete && together.complete);
  EXPECT_EQ(alone.units, together.units);
  for (std::size_t way = 0; way < 2; ++way) {
    for (std::size_t draw = 0; draw < 6; ++draw) {
      const Result& one = alone.results[way][draw];
      EXPECT_GT(one.makespan, 0u);
      EXPECT_EQ(one.tasks, workload_.tasks.size());
      EXPECT_EQ(one.makespan, together.results[way][draw].makespan);
      EXPECT_EQ(one.misses, together.results[way][draw].misses);
    }
  }
  EXPECT_NE(alone.results[0][0].makespan, alone.results[0][1].makespan);
}

TEST_F(Sweeps, TheFirstDrawsAreThoseOfAShorterNominalSweep) {
  request_.nominal = true;
  const Sweep longer = sweep(request_);
  request_.draws = 2;
  const Sweep shorter = sweep(request_);
  EXPECT_EQ(shorter.results[0][1].makespan, longer.results[0][1].makespan);
}

TEST_F(Sweeps, RandomProgramsEndUnderEveryPolicy) {
  request_.ways.clear();
  for (std::size_t i = 0; policy::policy_at(i) != nullptr; ++i) {
    for (const placement::Kind kind : {placement::Kind::standard, placement::Kind::coarse}) {
      RunOptions options;
      options.policy = policy::policy_at(i);
      options.distribution.kind = kind;
      options.threads = i % 2 == 0 ? 0 : 5;
      request_.ways.push_back(options);
    }
  }
  request_.draws = 1;
  for (int seed = 1; seed <= 30 && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    workload_ = generate(*find_generator("random"), {"seed=" + std::to_string(seed), "blocks=50"}).workload;
    std::uint64_t cycles = 0;
    for (const Work& work : workload_.works) cycles += work.cycles;
    for (const auto& results : sweep(request_).results) {
      EXPECT_EQ(results[0].unfinished, 0u);
      EXPECT_EQ(results[0].tasks, workload_.tasks.size());
      Time work = 0;
      for (const WorkerResult& worker : results[0].workers) work += worker.work;
      EXPECT_GE(static_cast<double>(work) * 2.1e-3, static_cast<double>(cycles) * 0.999);  // 2.1 GHz
    }
  }
}

TEST_F(Sweeps, EndWhenTheyAreToldTo) {
  workload_ = generate(*find_generator("jacobi"), {}).workload;
  request_.draws = 100'000;
  request_.threads = 2;
  double most = 0;
  request_.progress = [&](double part) {
    most = std::max(most, part);
    return part == 0;
  };
  EXPECT_FALSE(sweep(request_).complete);
  EXPECT_GT(most, 0);
  EXPECT_LT(most, 1);
}

}  // namespace
}  // namespace hearth::sim
