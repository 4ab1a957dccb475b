#include "papers/las.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "policy/policies.h"
#include "sim/engine/engine.h"
#include "sim/workload/generators.h"

namespace hearth::papers {
namespace {

using placement::Kind;
using policy::Significance;
using policy::Threshold;

constexpr std::int32_t kAllTiles = 63;

struct Variant {
  std::string name;  // after the benchmark's; empty: as the paper has it
  std::vector<std::string> settings = {};
  bool waits_for_each_line = false;
};

// A workload is the same in every visit, and takes longer to make than to simulate.
const sim::Workload& workload(const std::string& benchmark, const Variant& variant, const char* inputs) {
  static std::mutex mutex;
  static std::map<std::string, sim::Workload> made;
  std::string name = benchmark + " " + inputs + " " + variant.name;
  const std::lock_guard lock(mutex);
  const auto [entry, is_new] = made.try_emplace(name);
  if (!is_new) return entry->second;
  std::vector<std::string> settings = variant.settings;
  settings.push_back(std::string("inputs=") + inputs);
  const sim::Generator* generator = sim::find_generator(benchmark);
  sim::Generated generated = generator ? sim::generate(*generator, settings) : sim::Generated{};
  if (!generator || !generated.ok()) {
    std::fprintf(stderr, "papers: %s: %s\n", name.c_str(),
                 generator ? generated.error.c_str() : "no such benchmark");
    std::exit(1);
  }
  if (variant.waits_for_each_line) {
    for (sim::Access& access : generated.workload.accesses) access.pattern = sim::Pattern::chase;
  }
  entry->second = std::move(generated.workload);
  return entry->second;
}

sim::RunOptions options(const policy::TaskPolicy& policy, Kind distribution, const Visit& visit) {
  sim::RunOptions all;
  all.policy = &policy;
  all.distribution.kind = distribution;
  all.seed = visit.seed;
  return all;
}

bool everything_is_distributed(const sim::Workload& work) {
  return std::all_of(work.regions.begin(), work.regions.end(),
                     [](const sim::Region& region) { return region.distributed; });
}

double ns(const Visit& visit, const sim::Workload& work, const sim::RunOptions& how) {
  return static_cast<double>(sim::simulate(work, visit.machine, visit.parameters, how).makespan) / 1000;
}

// How often Map walks through its vectors is in the authors' public code.
constexpr const char* kMapPasses = "passes=10";

}  // namespace

Cells figure_7(const Visit& visit) {
  Cells cells;
  const char* inputs = visit.quick ? "small" : "paper";
  const auto all = [&](const char* benchmark, const Variant& variant) {
    const std::string at = std::string("figure 7/") + benchmark + variant.name + "/";
    const sim::Workload& work = workload(benchmark, variant, inputs);
    for (const policy::TaskPolicy* policy : {&policy::work_stealing, &policy::locality}) {
      const std::string name = at + (policy == &policy::locality ? "locality + " : "stealing + ");
      cells[name + "fine"] = ns(visit, work, options(*policy, Kind::fine, visit));
      // numactl knows no allocations: it interleaves everything that is touched. These programs have nothing
      // else than what fine distributes.
      if (everything_is_distributed(work)) {
        cells[name + "numactl"] = cells[name + "fine"];
      } else {
        sim::RunOptions how = options(*policy, Kind::fine, visit);
        how.everything = true;
        cells[name + "numactl"] = ns(visit, work, how);
      }
      cells[name + "coarse"] = ns(visit, work, options(*policy, Kind::coarse, visit));
    }
  };
  // The paper's own rule of what is worth dealing, and three readings of its threshold.
  const auto readings = [&](const char* benchmark, const Variant& variant, Kind kind) {
    const std::string at = std::string("figure 7/") + benchmark + variant.name + "/locality + " +
                           placement::kind_name(kind) + "/paper";
    for (const auto& [threshold, said] : {std::pair{Threshold::hops, ""},
                                          {Threshold::slit, ", threshold by SLIT"},
                                          {Threshold::none, ", no threshold"}}) {
      sim::RunOptions how = options(policy::locality, kind, visit);
      how.significance = Significance::paper;
      how.threshold = threshold;
      cells[at + said] = ns(visit, workload(benchmark, variant, inputs), how);
    }
  };
  const Variant map{"", {kMapPasses}};
  // A page more than 256 of them: what an allocator's header before the vector makes of a megabyte.
  const Variant headers{" with headers", {kMapPasses, visit.quick ? "kib=260" : "kib=1028"}};
  const Variant waiting{" that waits for each line", {"ops_per_cycle=6"}, true};
  all("map", map);
  all("map", headers);
  readings("map", headers, Kind::fine);
  for (const char* benchmark : {"matmul", "vecmul", "sparselu", "jacobi", "reduction"}) all(benchmark, {});
  all("matmul", waiting);
  readings("sparselu", {}, Kind::coarse);
  return cells;
}

namespace {

struct Tiles {
  const char* benchmark;
  Variant variant;
};

// A tile multiplies 16 bits at a time: three instructions of one pipe for a product of words, beside which it
// adds.
constexpr const char* kVecmulSpeed = "ops_per_cycle=0.5";
const std::vector<Tiles>& figure_9_benchmarks() {
  static const std::vector<Tiles> all = {{"map", {"", {kMapPasses, "ops_per_cycle=0.33"}}},
                                         {"reduction", {}},
                                         {"vecmul", {"", {kVecmulSpeed}}},
                                         {"sparselu", {"", {"ops_per_cycle=0.67"}}}};
  return all;
}

// How Vecmul may have been cut into tasks, each with the caption's 128 vectors in all, or nearly so.
const std::vector<Tiles>& guesses() {
  static const std::vector<Tiles> all = [] {
    std::vector<Tiles> made;
    for (const auto& [structure, vectors] : {std::pair{"triples", 42},
                                             {"lists", 42},
                                             {"in-place", 64},
                                             {"shared", 127},
                                             {"neighbours", 64},
                                             {"pieces", 42},
                                             {"all-pairs", 128}}) {
      made.push_back(
          {"vecmul",
           {std::string(", ") + structure,
            {kVecmulSpeed, std::string("structure=") + structure, "vectors=" + std::to_string(vectors)}}});
    }
    return made;
  }();
  return all;
}

}  // namespace

Cells figure_9(const Visit& visit) {
  Cells cells;
  const auto all = [&](const Tiles& tiles, Kind kind, std::initializer_list<std::int32_t> vicinities) {
    const std::string at = std::string("figure 9/") + tiles.benchmark + tiles.variant.name + "/";
    const sim::Workload& work = workload(tiles.benchmark, tiles.variant, visit.quick ? "small" : "manycore");
    const std::string distribution = placement::kind_name(kind);
    cells[at + "stealing + " + distribution] = ns(visit, work, options(policy::work_stealing, kind, visit));
    const std::string name = at + "locality + " + distribution + ", ";
    double best = 0;
    for (const std::int32_t vicinity : vicinities) {
      sim::RunOptions how = options(policy::home_cache, kind, visit);
      how.vicinity = vicinity == kAllTiles ? 0 : vicinity;
      const double time = ns(visit, work, how);
      cells[name + "vicinity " + std::to_string(vicinity)] = time;
      best = best == 0 ? time : std::min(best, time);
    }
    if (best != 0) cells[name + "best vicinity"] = best;
  };
  for (const Tiles& tiles : figure_9_benchmarks()) {
    all(tiles, Kind::coarse, {1, 4, 8, 16, kAllTiles});
    // All fine tasks wait at their creator's, and in a small vicinity the others look for them in vain, for
    // seconds.
    if (visit.drawn) {
      all(tiles, Kind::fine, {16, kAllTiles});
    } else {
      all(tiles, Kind::fine, {1, 4, 8, 16, kAllTiles});
    }
  }
  for (const Tiles& tiles : guesses()) {
    all(tiles, Kind::fine, {});
    all(tiles, Kind::coarse, {1, 8, kAllTiles});
  }
  return cells;
}

}  // namespace hearth::papers
