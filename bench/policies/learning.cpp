#include "policies/learning.h"

#include <algorithm>
#include <bit>
#include <map>
#include <utility>
#include <vector>

#include "policy/site.h"
#include "sim/study/advice.h"

namespace hearth::policies {
namespace {

using placement::Kind;
using policy::SiteUse;

// Of tasks that lose nothing elsewhere: what makes policies leave them where they are made.
constexpr policy::Experience kNothingLost = {.asked = 1000, .saved = 1, .home = 1000, .home_time = 1000, .far = 1000,
                                             .far_time = 1000, .foretold = 1000};
constexpr std::uint64_t kOtherRaces = 1000;

sim::Result run(const Program& program, const sim::RunOptions& options) {
  return sim::simulate(program.workload, program.machine, program.parameters, options);
}

using SiteKey = std::pair<std::string, int>;
SiteKey site_of(const sim::Region& region) {
  return {region.name.substr(0, region.name.find('[')), static_cast<int>(std::bit_width(region.bytes))};
}

std::uint64_t thousandths(double part) { return static_cast<std::uint64_t>(1000 * part); }

// As the runtime would see them, in a run under first touch.
std::map<SiteKey, SiteUse> sites_of(const sim::Workload& workload) {
  std::map<SiteKey, SiteUse> sites;
  const std::vector<sim::TasksUse> uses = sim::tasks_use(workload);
  double named = 0;
  for (const sim::Work& work : workload.works) {
    const sim::Access* const first = workload.accesses.data() + work.first_access;
    named += std::any_of(first, first + work.accesses, [](const sim::Access& access) { return access.declared; });
  }
  for (std::size_t i = 0; i < uses.size(); ++i) {
    const sim::Region& region = workload.regions[i];
    const policy::RegionUse& use = uses[i].region;
    // What no task says that it touches is not seen.
    const double tasks = use.followed > 0 ? use.tasks * static_cast<double>(workload.tasks.size()) : 0;
    const bool by_one = region.first_touch == sim::FirstTouch::initial_thread;
    const SiteUse one = {.blocks = tasks > 0,
                         .bytes = region.bytes,
                         .placed = tasks > 0,
                         .spread = by_one ? 0u : 1000u,
                         .uses = static_cast<std::uint64_t>(tasks),
                         .part = thousandths(use.part),
                         .main = thousandths(use.main),
                         .share = thousandths(use.tasks),
                         .followed = thousandths(named / static_cast<double>(workload.works.size()))};
    SiteUse& site = sites[site_of(region)];
    site = policy::joined(site, one);
  }
  return sites;
}

void add_run(std::map<SiteKey, SiteUse>& sites, const std::map<SiteKey, Kind>& kinds, const sim::Result& result) {
  sim::Time work = 0;
  for (const sim::WorkerResult& worker : result.workers) work += worker.work;
  for (auto& [key, site] : sites)
    site.tried[policy::site_kind_index(kinds.at(key))] = {
        .uses = site.uses, .time = work / std::max<std::uint64_t>(result.tasks, 1), .local = thousandths(result.local_share())};
}

}  // namespace

sim::Result run_with(const Program& program, const std::string& earlier, sim::RunOptions options) {
  if (earlier == "wrong") options.earlier.assign(program.workload.kinds.size(), kNothingLost);
  if (earlier == "own") {
    sim::RunOptions before = options;
    before.seed += kOtherRaces;
    options.earlier = run(program, before).seen;
    before.seed += kOtherRaces;
    before.earlier = options.earlier;
    const std::vector<policy::Experience> newer = run(program, before).seen;
    for (std::size_t i = 0; i < newer.size(); ++i) options.earlier[i] = policy::joined(options.earlier[i], newer[i]);
  }
  return run(program, options);
}

sim::Result third_run(const Program& program, sim::RunOptions options) {
  std::map<SiteKey, SiteUse> sites = sites_of(program.workload);
  std::map<SiteKey, Kind> kinds;
  for (const auto& [key, site] : sites) kinds[key] = Kind::standard;
  const std::uint64_t seed = options.seed;
  for (std::uint64_t before = 2;; --before) {
    options.by_region.clear();
    for (const sim::Region& region : program.workload.regions)
      options.by_region.push_back(region.distributed ? kinds.at(site_of(region)) : Kind::standard);
    options.seed = seed + before * kOtherRaces;
    sim::Result result = run(program, options);
    if (before == 0) return result;
    add_run(sites, kinds, result);
    for (auto& [key, kind] : kinds)
      kind = policy::distribution_for(sites.at(key), result.locations, static_cast<std::uint32_t>(result.workers.size()));
  }
}

}  // namespace hearth::policies
