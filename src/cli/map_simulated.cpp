// See map_simulated.h.
#include "cli/map_simulated.h"

#include <algorithm>
#include <string>

#include "cli/sim_report.h"
#include "sim/workload/builder.h"

namespace hearth::cli {
namespace {

using mappers::Edge;
using mappers::LeafIndex;
using mappers::Thread;

constexpr std::uint64_t kRounds = 4;
constexpr double kMostBytes = 64.0 * (1 << 30);
constexpr std::size_t kMostSteps = 2'000'000;

struct Units {
  double us_per_load = 1, bytes_per_weight = 1;
};

Units units_of(const mappers::Graph& graph) {
  if (graph.measured) return {};
  double load = 0, weight = 0;
  for (const double one : graph.load) load += one;
  for (const Edge& edge : graph.edges) weight += edge.weight;
  Units units;
  if (load > 0) units.us_per_load = 1000 * static_cast<double>(graph.size()) / load;
  if (weight > 0) units.bytes_per_weight = (1 << 20) * static_cast<double>(graph.edges.size()) / weight;
  return units;
}

class Making {
 public:
  Making(const mappers::Graph& graph, const mappers::Target& target, const std::vector<LeafIndex>& leaf_of, double ghz)
      : graph_(graph),
        target_(target),
        leaf_of_(leaf_of),
        ghz_(ghz),
        units_(units_of(graph)),
        of_thread_(graph.size()) {}

  /// Workers get their bodies in the order of `used`.
  sim::Workload make(const std::vector<LeafIndex>& used) {
    sim::Builder builder("mapping");
    for (std::uint32_t e = 0; e < graph_.edges.size(); ++e) {
      const Edge& edge = graph_.edges[e];
      half_.push_back(std::max<std::uint64_t>(
          64, static_cast<std::uint64_t>(edge.weight * units_.bytes_per_weight / (2 * kRounds))));
      region_.push_back(builder.region("edge", 2 * half_.back(), sim::FirstTouch::by_writer));
      of_thread_[edge.a].push_back(e);
      of_thread_[edge.b].push_back(e);
    }
    const std::uint32_t kind = builder.kind("threads of a core");
    for (const LeafIndex leaf : used) {
      builder.begin_task(kind);
      for (std::uint64_t round = 0; round < kRounds; ++round)
        for (Thread t = 0; t < graph_.size(); ++t)
          if (leaf_of_[t] == leaf) body(builder, t);
      builder.end_task();
    }
    builder.wait_all();
    sim::Workload workload = builder.take();
    workload.producers = static_cast<std::uint32_t>(used.size());
    return workload;
  }

  bool too_large() const {
    double bytes = 0;
    for (const Edge& edge : graph_.edges) bytes += edge.weight * units_.bytes_per_weight;
    return bytes > kMostBytes || (graph_.size() + 4 * graph_.edges.size()) * kRounds > kMostSteps;
  }

 private:
  void body(sim::Builder& builder, Thread thread) {
    const double us = graph_.load[thread] * units_.us_per_load / target_.leaves()[leaf_of_[thread]].capacity;
    builder.work(static_cast<std::uint64_t>(us * 1000 * ghz_ / kRounds));
    for (const std::uint32_t e : of_thread_[thread]) {
      const bool first = graph_.edges[e].a == thread;
      for (const bool writes : {true, false}) {
        sim::Access access;
        access.region = region_[e];
        access.offset = first == writes ? 0 : half_[e];
        access.length = half_[e];
        access.mode = writes ? placement::Access::write : placement::Access::read;
        access.declared = false;
        builder.access(access);
      }
    }
  }

  const mappers::Graph& graph_;
  const mappers::Target& target_;
  const std::vector<LeafIndex>& leaf_of_;
  double ghz_;
  Units units_;
  std::vector<std::vector<std::uint32_t>> of_thread_;  // edges
  std::vector<std::uint64_t> half_;                    // by edge: bytes that each side writes in a round
  std::vector<sim::RegionIndex> region_;
};

}  // namespace

double simulated_ms(const mappers::Graph& graph, const mappers::Target& target, const std::vector<LeafIndex>& leaf_of,
                    const topology::Machine& machine, const sim::Parameters& parameters) {
  Making making(graph, target, leaf_of, parameters.clock_ghz.value);
  if (making.too_large()) return -1;
  std::vector<LeafIndex> used = leaf_of;
  std::sort(used.begin(), used.end());
  used.erase(std::unique(used.begin(), used.end()), used.end());
  const sim::Workload workload = making.make(used);
  sim::RunOptions options;
  options.deterministic = true;
  for (const LeafIndex leaf : used) options.cpus.push_back(target.leaves()[leaf].cpus.first());
  return static_cast<double>(sim::simulate(workload, machine, parameters, options).makespan) /
         kPicosecondsPerMillisecond;
}

}  // namespace hearth::cli
