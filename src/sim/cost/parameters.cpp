// A walk over all figures of the parameters: which of them are ranges, and draws from these. Pure.
#include "sim/cost/parameters.h"

#include "topology/text.h"

namespace hearth::sim {
namespace {

using topology::format;
using topology::Matrix;

/// Shows `visit(name, figures...)` every figure in a fixed order; figures that have one value in a draw come
/// together. One walk for ranges() and drawn(), so that their orders agree.
template <class AnyParameters, class Visit>
void for_each_figure(AnyParameters& all, const Visit& visit) {
  using AnyFigure = std::remove_reference_t<decltype((all.clock_ghz))>;
  const auto one = [&](const std::string& name, AnyFigure& figure) { visit(name, std::vector<AnyFigure*>{&figure}); };
  one("clock_ghz", all.clock_ghz);
  for (std::size_t p = 0; p < kPatterns; ++p) {
    const std::string prefix = format("patterns.%s.", kPatternNames[p]);
    one(prefix + "misses_in_flight", all.patterns[p].misses_in_flight);
    one(prefix + "overlap", all.patterns[p].overlap);
  }
  if (all.memory_alike) {
    std::vector<AnyFigure*> alike;
    for (AnyFigure& figure : all.memory_gbs) alike.push_back(&figure);
    visit("memory_gbs", alike);
  } else {
    for (std::size_t i = 0; i < all.memory_gbs.size(); ++i) one(format("memory_gbs.%zu", i), all.memory_gbs[i]);
  }
  for (std::size_t group = 0; group < all.link_groups.size(); ++group) {
    std::vector<AnyFigure*> alike;
    for (auto& link : all.links) {
      if (link.group == group) alike.push_back(&link.gbs);
    }
    visit("links." + all.link_groups[group], alike);
  }
  for (auto& step : all.latency_steps) one(format("latency.%u", step.distance), step.more_ns);
  one("remote_occupancy", all.remote_occupancy);
  one("write_occupancy", all.write_occupancy);
  one("write_latency", all.write_latency);
  one("coherence_gbs", all.coherence_gbs);
  one("llc_ns", all.llc_ns);
  one("off_chip_ns", all.off_chip_ns);
  one("off_chip_gbs", all.off_chip_gbs);
  one("scheduling.create_ns", all.create_ns);
  one("scheduling.item_ns", all.item_ns);
  one("scheduling.deal_ns", all.deal_ns);
  one("scheduling.take_ns", all.take_ns);
  one("scheduling.steal_ns", all.steal_ns);
  one("scheduling.steal_hop_ns", all.steal_hop_ns);
  one("scheduling.backoff_min_ns", all.backoff_min_ns);
  one("scheduling.backoff_max_ns", all.backoff_max_ns);
  one("scheduling.wake_ns", all.wake_ns);
  one("scheduling.turn_us", all.turn_us);
  one("tasks.create_bytes", all.task_data.create_bytes);
  one("tasks.run_bytes", all.task_data.run_bytes);
  one("tasks.deal_create_bytes", all.task_data.deal_create_bytes);
  one("tasks.deal_run_bytes", all.task_data.deal_run_bytes);
  one("migration.move_pages_base_us", all.move_pages_base_us);
  one("migration.move_pages_us", all.move_pages_us);
  one("migration.move_thread_us", all.move_thread_us);
  one("migration.fault_us", all.fault_us);
  one("energy.uncore_w", all.energy.uncore_w);
  one("energy.idle_w", all.energy.idle_w);
  one("energy.active_w", all.energy.active_w);
  one("energy.cache_nj", all.energy.cache_nj);
  one("energy.memory_nj", all.energy.memory_nj);
  one("energy.remote_nj", all.energy.remote_nj);
  one("energy.switch_uj", all.energy.switch_uj);
}

}  // namespace

void Parameters::resolve_latencies() {
  if (latency_steps.empty()) return;
  std::vector<double> of_step;
  double so_far = 0;
  for (const LatencyStep& step : latency_steps) of_step.push_back(so_far += step.more_ns.value);
  const std::size_t nodes = latency_step_of.size();
  read_ns = Matrix<double>(nodes, 0);
  for (std::size_t from = 0; from < nodes; ++from) {
    for (std::size_t to = 0; to < nodes; ++to) read_ns.at(from, to) = of_step[latency_step_of.at(from, to)];
  }
}

std::vector<std::string> Parameters::ranges() const {
  std::vector<std::string> names;
  for_each_figure(*this, [&](const std::string& name, const std::vector<const Figure*>& figures) {
    if (!figures.empty() && !figures.front()->known()) names.push_back(name);
  });
  return names;
}

Parameters Parameters::drawn(const std::vector<double>& unit) const {
  Parameters result = *this;
  std::size_t next = 0;
  for_each_figure(result, [&](const std::string&, const std::vector<Figure*>& figures) {
    if (figures.empty() || figures.front()->known()) return;
    const double at = unit.at(next++);
    for (Figure* figure : figures) {
      figure->value = figure->low + at * (figure->high - figure->low);
      figure->low = figure->high = figure->value;
    }
  });
  result.resolve_latencies();
  return result;
}

}  // namespace hearth::sim
