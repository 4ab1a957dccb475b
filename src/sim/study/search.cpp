// See search.h.
#include "sim/study/search.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "sim/study/advice.h"
#include "sim/study/sweep.h"

namespace hearth::sim {
namespace {

using placement::Kind;

constexpr Kind kKinds[] = {Kind::standard, Kind::fine, Kind::coarse, Kind::blocked, Kind::nearest};
/// What gains less than this part may be luck of the draws.
constexpr double kLeastGain = 0.01;
/// In the end the best of all are held against each other over so many times the draws, which are others: who
/// was the best of many owes it to luck in part.
constexpr std::size_t kFinalists = 4;
constexpr std::uint32_t kMoreDraws = 2;
/// Groups beyond these are left as the best of the first round has them.
constexpr std::size_t kMostGroups = 8;

/// Something to try.
struct Way {
  const policy::TaskPolicy* policy = nullptr;
  std::vector<Kind> by_region;
};

struct Tried {
  double time;
  Way way;
};

class DistributionSearch {
 public:
  explicit DistributionSearch(const SearchRequest& request) : request_(request) {}

  Searched run() {
    found_.by_rules = advise(*request_.workload, *request_.machine, *request_.parameters, advice_options());
    found_.groups = group_regions(*request_.workload, found_.by_rules);
    if (found_.complete) begin();
    for (bool gains = true; gains && found_.complete;) {
      gains = false;
      for (std::size_t g = 0; g < std::min(found_.groups.size(), kMostGroups) && found_.complete; ++g)
        gains |= improve(found_.groups[g]);
      // Of one group everything has been tried.
      if (found_.groups.size() == 1) break;
    }
    if (found_.complete) decide();
    found_.policy = best_.policy;
    found_.by_region = std::move(best_.by_region);
    return std::move(found_);
  }

 private:
  RunOptions advice_options() {
    RunOptions options = request_.options;
    options.seed = request_.first_seed;
    if (request_.progress) {
      options.progress = [this](std::uint64_t) {
        const bool goes_on = request_.progress(0);
        found_.complete = found_.complete && goes_on;
        return goes_on;
      };
    }
    return options;
  }

  std::vector<Kind> everywhere(Kind kind) const {
    std::vector<Kind> kinds(found_.by_rules.size(), Kind::standard);
    for (const RegionGroup& group : found_.groups)
      for (const RegionIndex region : group.regions) kinds[region] = kind;
    return kinds;
  }

  // The rules' advice is what others have to beat.
  void begin() {
    std::vector<Way> ways;
    for (const policy::TaskPolicy* policy : request_.policies) {
      add(ways, {policy, found_.by_rules});
      for (const Kind kind : kKinds) add(ways, {policy, everywhere(kind)});
    }
    best_ = ways.front();
    best_time_ = HUGE_VAL;
    keep_best(ways);
  }

  bool improve(const RegionGroup& group) {
    std::vector<Way> ways;
    for (const Kind kind : kKinds) {
      Way way = best_;
      for (const RegionIndex region : group.regions) way.by_region[region] = kind;
      add(ways, std::move(way));
    }
    if (ways.empty() || found_.ways + ways.size() + kFinalists > request_.most_ways) return false;
    return keep_best(ways);
  }

  void add(std::vector<Way>& ways, Way way) const {
    const auto same = [&](const Way& other) {
      return other.policy == way.policy && other.by_region == way.by_region;
    };
    if (std::none_of(tried_.begin(), tried_.end(), [&](const Tried& tried) { return same(tried.way); }) &&
        std::none_of(ways.begin(), ways.end(), same))
      ways.push_back(std::move(way));
  }

  bool keep_best(const std::vector<Way>& ways) {
    const std::vector<double> times = times_of(ways, request_.first_seed, request_.draws);
    bool better = false;
    for (std::size_t i = 0; i < times.size(); ++i) {
      tried_.push_back({times[i], ways[i]});
      if (times[i] >= best_time_ - kLeastGain) continue;
      best_time_ = times[i];
      best_ = ways[i];
      better = true;
    }
    return better;
  }

  void decide() {
    std::stable_sort(tried_.begin(), tried_.end(),
                     [](const Tried& a, const Tried& b) { return a.time < b.time; });
    std::vector<Way> finalists;
    for (std::size_t i = 0; i < std::min(tried_.size(), kFinalists); ++i)
      finalists.push_back(std::move(tried_[i].way));
    if (finalists.size() == 1) return;
    const std::vector<double> times =
        times_of(finalists, request_.first_seed + request_.draws, kMoreDraws * request_.draws);
    if (times.empty()) return;
    best_ = finalists[static_cast<std::size_t>(std::min_element(times.begin(), times.end()) - times.begin())];
  }

  // The means of the logarithms: draws in which everything takes long count no more than others. Empty if it
  // was interrupted.
  std::vector<double> times_of(const std::vector<Way>& ways, std::uint64_t first_seed, std::uint32_t draws) {
    SweepRequest sweep;
    sweep.workload = request_.workload;
    sweep.machine = request_.machine;
    sweep.parameters = request_.parameters;
    sweep.draws = draws;
    sweep.nominal = request_.nominal;
    sweep.first_seed = first_seed;
    sweep.threads = request_.threads;
    for (const Way& way : ways) {
      RunOptions& options = sweep.ways.emplace_back(request_.options);
      options.policy = way.policy;
      options.by_region = way.by_region;
    }
    if (request_.progress) {
      const auto most = static_cast<double>(std::max(request_.most_ways, found_.ways + ways.size()));
      const auto before = static_cast<double>(found_.ways), these = static_cast<double>(ways.size());
      sweep.progress = [this, most, before, these](double part) {
        return request_.progress((before + these * part) / most);
      };
    }
    const Sweep swept = sim::sweep(sweep);
    found_.ways += ways.size();
    found_.complete = found_.complete && swept.complete;
    std::vector<double> times;
    if (!swept.complete) return times;
    for (const std::vector<Result>& results : swept.results) {
      double sum = 0;
      for (const Result& result : results)
        sum += std::log(static_cast<double>(std::max<Time>(result.makespan, 1)));
      times.push_back(sum / draws);
    }
    return times;
  }

  const SearchRequest& request_;
  Searched found_;
  Way best_;
  double best_time_ = 0;
  std::vector<Tried> tried_;
};

}  // namespace

std::span<const Kind> searched_kinds() { return kKinds; }

std::vector<RegionGroup> group_regions(const Workload& workload, const std::vector<Kind>& advice) {
  const std::vector<TasksUse> uses = tasks_use(workload);
  // Alike: what the rules would do, who touches it first, how much of it a task uses, whether any writes it
  // or says that it uses it, and its size roughly.
  std::map<std::tuple<Kind, FirstTouch, bool, bool, int, int>, RegionGroup> groups;
  for (std::size_t i = 0; i < uses.size(); ++i) {
    const Region& region = workload.regions[i];
    if (!region.distributed || !region.advisable) continue;
    const policy::RegionUse& use = uses[i].region;
    const auto size = static_cast<int>(std::log2(static_cast<double>(region.bytes) + 1));
    const auto followed = static_cast<int>(std::lround(4 * use.followed));
    RegionGroup& group =
        groups[{advice[i], region.first_touch, policy::used_whole(use), uses[i].written, followed, size}];
    if (group.regions.empty()) group.use = use, group.written = uses[i].written;
    group.regions.push_back(static_cast<RegionIndex>(i));
    group.bytes += region.bytes;
    group.touched += uses[i].touched;
  }
  std::vector<RegionGroup> list;
  for (auto& [alike, group] : groups) list.push_back(std::move(group));
  std::stable_sort(list.begin(), list.end(), [](const RegionGroup& a, const RegionGroup& b) {
    return a.touched > b.touched || (a.touched == b.touched && a.regions[0] < b.regions[0]);
  });
  return list;
}

Searched search(const SearchRequest& request) { return DistributionSearch(request).run(); }

}  // namespace hearth::sim
