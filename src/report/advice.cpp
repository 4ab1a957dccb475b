// See advice.h.
#include "report/advice.h"

#include <algorithm>

#include <fmt/format.h>

#include "replay/recording_workload.h"
#include "sim/study/advice.h"

namespace hearth::report {
namespace {

using placement::Kind;

constexpr std::size_t kMostAllocations = 3;
constexpr std::uint64_t kPageBytes = 4096;

std::string why_of(const sim::RegionGroup& group) {
  std::string text = group.use.part > 0.995
                         ? "a task that touches it touches all of it"
                         : fmt::format("a task that touches it touches {:.2g} % of it", 100 * group.use.part);
  text += group.written ? ", and some write." : ", and all only read.";
  if (group.use.touched_by_users) text += " The tasks that use it are the first to touch it.";
  return text;
}

/// Several blocks of one place in the code are "app.c:7 #1" and so on.
std::string site_of(const sim::Region& region) { return region.name.substr(0, region.name.rfind(" #")); }

/// Whether the recorded run had all of it distributed like this.
bool has_it(const Run& run, const sim::Region& region, Kind kind) {
  const std::string site = site_of(region);
  bool found = false;
  for (const Allocation& allocation : run.allocations) {
    if (allocation.site != site) continue;
    if (allocation.distribution != placement::kind_name(kind)) return false;
    found = true;
  }
  return found;
}

Advice advice_of(const sim::Workload& workload, const std::vector<sim::RegionGroup>& groups,
                 const std::vector<Kind>& kinds) {
  Advice advice;
  for (const sim::RegionGroup& group : groups) {
    const sim::RegionIndex first = group.regions.front();
    const Kind kind = kinds[first];
    if (kind == Kind::standard || group.touched == 0 || advice.allocations.size() >= kMostAllocations) continue;
    Advice::Allocation allocation;
    allocation.name = workload.regions[first].name;
    for (const sim::RegionIndex region : group.regions) {
      std::string site = site_of(workload.regions[region]);
      if (allocation.sites.empty() || allocation.sites.back() != site) allocation.sites.push_back(std::move(site));
    }
    if (group.regions.size() > 1) {
      allocation.name = allocation.sites.size() == 1
                            ? fmt::format("{}, {} blocks", allocation.sites[0], group.regions.size())
                            : fmt::format("{} and {} more", allocation.name, group.regions.size() - 1);
    }
    allocation.distribution = placement::kind_name(kind);
    allocation.call = distribution_call(kind);
    allocation.bytes = static_cast<std::int64_t>(group.bytes);
    allocation.why = why_of(group);
    advice.allocations.push_back(std::move(allocation));
  }
  return advice;
}

/// Is there anything that rules could speak of? Reading a workload takes longer than all else.
bool worth_reading(const Run& run) {
  constexpr std::int64_t kLeast = 128 << 10;  // as replay/memory.h has it
  return run.nodes > 1 && !run.declared.empty() &&
         std::any_of(run.allocations.begin(), run.allocations.end(),
                     [](const Allocation& a) { return !a.own && a.bytes >= kLeast; });
}

}  // namespace

std::string distribution_call(Kind kind) {
  switch (kind) {
    case Kind::fine: return "omp_malloc_specific(size, OMP_MALLOC_FINE), or the trait partition = interleaved";
    case Kind::coarse: return "omp_malloc_specific(size, OMP_MALLOC_COARSE)";
    case Kind::blocked: return "omp_malloc_specific(size, OMP_MALLOC_BLOCKED), or the trait partition = blocked";
    case Kind::nearest:
      return "omp_malloc_specific(size, OMP_MALLOC_NEAREST) by the initial thread, or the trait partition = "
             "nearest";
    default: return "malloc(size): pages lie where they are first touched";
  }
}

Advice advice_by_rules(const Run& run, const Figures& figures) {
  if (!worth_reading(run) || figures.length() <= 0) return {};
  const replay::RecordedWorkload recorded = replay::load_workload(run.file);
  if (!recorded.ok() || !recorded.knows_allocations) return {};
  policy::ProgramUse program;
  program.workers = static_cast<std::uint32_t>(figures.threads.size());
  program.locations = run.nodes;
  program.page_bytes = kPageBytes;
  program.busy = figures.average_parallelism();
  for (const ThreadFigures& thread : figures.threads)
    program.creating = std::max(program.creating,
                                static_cast<double>(thread.time.creating) / static_cast<double>(figures.length()));
  const std::vector<sim::TasksUse> uses = sim::tasks_use(recorded.workload);
  std::vector<Kind> kinds;
  for (std::size_t i = 0; i < uses.size(); ++i) {
    const sim::Region& region = recorded.workload.regions[i];
    const Kind kind = region.distributed && region.advisable ? policy::advise(program, uses[i].region) : Kind::standard;
    kinds.push_back(has_it(run, region, kind) ? Kind::standard : kind);
  }
  Advice advice = advice_of(recorded.workload, sim::group_regions(recorded.workload, kinds), kinds);
  advice.command = "hearth report --machine MODEL asks the simulator.";
  return advice;
}

Advice advice_of_search(const sim::Workload& workload, const sim::Searched& searched, const std::string& gain) {
  Advice advice = advice_of(workload, searched.groups, searched.by_region);
  advice.gain = gain;
  return advice;
}

}  // namespace hearth::report
