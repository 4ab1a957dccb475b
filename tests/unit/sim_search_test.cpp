// The search for distributions: what counts as used alike, that what it finds is no worse than the rules'
// advice, that it comes again from however many threads, and that it ends when it shall.
#include "sim/study/search.h"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "policy/policies.h"
#include "sim/workload/generators.h"
#include "sim/study/sweep.h"
#include "topology/model.h"

namespace hearth::sim {
namespace {

using placement::Kind;

class Search : public testing::Test {
 protected:
  void SetUp() override {
    const std::string path = std::string(HEARTH_SOURCE_DIR) + "/models/opteron-6172x4.toml";
    topology::LoadedMachine loaded = topology::load_model(path);
    ASSERT_EQ(loaded.error, "");
    machine_ = std::move(loaded.machine);
    LoadedParameters read = load_parameters(path, machine_);
    ASSERT_EQ(read.error(), "");
    parameters_ = std::move(read.parameters);
    workload_ = generate(*find_generator("vecmul"), {"inputs=paper"}).workload;
    request_.workload = &workload_;
    request_.machine = &machine_;
    request_.parameters = &parameters_;
    request_.policies = {&policy::adaptive};
    request_.draws = 2;
  }

  double mean_time(const policy::TaskPolicy* policy, const std::vector<Kind>& by_region) const {
    SweepRequest sweep;
    sweep.workload = &workload_;
    sweep.machine = &machine_;
    sweep.parameters = &parameters_;
    sweep.draws = request_.draws;
    RunOptions options;
    options.policy = policy;
    options.by_region = by_region;
    sweep.ways.push_back(options);
    double sum = 0;
    const Sweep swept = sim::sweep(sweep);
    for (const Result& result : swept.results[0]) sum += static_cast<double>(result.makespan);
    return sum;
  }

  topology::Machine machine_;
  Parameters parameters_;
  Workload workload_;
  SearchRequest request_;
};

TEST_F(Search, AllocationsThatAreUsedAlikeAreAGroup) {
  const std::vector<Kind> advice(workload_.regions.size(), Kind::coarse);
  const std::vector<RegionGroup> groups = group_regions(workload_, advice);
  ASSERT_EQ(groups.size(), 2u) << "the factors and the products";
  EXPECT_FALSE(groups[0].written);
  EXPECT_TRUE(groups[1].written);
  EXPECT_EQ(groups[0].regions.size(), 2 * groups[1].regions.size());
  EXPECT_GE(groups[0].touched, groups[1].touched);
  std::size_t all = 0;
  for (const RegionGroup& group : groups) all += group.regions.size();
  EXPECT_EQ(all, workload_.regions.size());
}

TEST_F(Search, WhatIsNotDistributedIsLeftAlone) {
  for (Region& region : workload_.regions) region.distributed = false;
  workload_.regions[5].distributed = true;
  const Searched found = search(request_);
  ASSERT_EQ(found.groups.size(), 1u);
  EXPECT_EQ(found.groups[0].regions, std::vector<RegionIndex>{5});
  for (std::size_t i = 0; i < found.by_region.size(); ++i) {
    if (i != 5) {
      EXPECT_EQ(found.by_region[i], Kind::standard) << i;
    }
  }
}

TEST_F(Search, WhatItFindsIsBetterThanTheRulesAndThanOneForAll) {
  const Searched found = search(request_);
  ASSERT_TRUE(found.complete);
  const double time = mean_time(found.policy, found.by_region);
  EXPECT_LT(time, 0.95 * mean_time(found.policy, found.by_rules));
  for (const Kind kind : searched_kinds())
    EXPECT_LE(time, 1.01 * mean_time(found.policy, std::vector<Kind>(workload_.regions.size(), kind)));
  const Kind factors = found.by_region[found.groups[0].regions[0]];
  EXPECT_NE(factors, found.by_region[found.groups[1].regions[0]]) << "each group has its own";
}

TEST_F(Search, ItTakesTheBestOfSeveralPolicies) {
  request_.policies = {&policy::central, &policy::locality};
  EXPECT_EQ(search(request_).policy, &policy::locality);
  request_.policies = {&policy::locality, &policy::central};
  EXPECT_EQ(search(request_).policy, &policy::locality);
}

TEST_F(Search, ItComesAgainFromAnyNumberOfThreads) {
  const Searched one = search(request_);
  request_.threads = 3;
  const Searched three = search(request_);
  EXPECT_EQ(one.by_region, three.by_region);
  EXPECT_EQ(one.ways, three.ways);
}

TEST_F(Search, ItKeepsToWhatIsAllowedAndEndsWhenAsked) {
  request_.most_ways = 1;
  EXPECT_EQ(search(request_).ways, searched_kinds().size() + 4) << "the first round and the finalists";
  request_.most_ways = 64;
  double last = 0;
  request_.progress = [&](double part) {
    EXPECT_GE(part, last);
    last = part;
    return false;
  };
  workload_ = generate(*find_generator("jacobi"), {"inputs=paper"}).workload;
  EXPECT_FALSE(search(request_).complete);
}

}  // namespace
}  // namespace hearth::sim
