// See sim_energy.h.
#include "cli/sim_energy.h"

#include <algorithm>

#include "cli/energy_report.h"

namespace hearth::cli {

double joules_of(const sim::Result& result, const sim::Parameters& parameters, const topology::Machine& machine) {
  constexpr double kPerSecond = 1e12;  // picoseconds
  energy::Activity activity;
  activity.seconds = static_cast<double>(result.makespan) / kPerSecond;
  activity.packages = static_cast<double>(machine.packages.size());
  activity.cores = static_cast<double>(machine.cores.size());
  for (const sim::WorkerResult& worker : result.workers)
    activity.busy_core_seconds += static_cast<double>(worker.work + worker.create + worker.search + worker.migrate) /
                                  kPerSecond;
  const double line = std::max<double>(parameters.line_bytes, 1);
  std::uint64_t local = 0;
  for (std::int32_t location = 0; location < result.locations; ++location) local += result.missed(location, location);
  activity.cache_lines = static_cast<double>(result.cache_hits) / line;
  activity.memory_lines = static_cast<double>(result.bytes()) / line;
  activity.remote_lines = static_cast<double>(result.bytes() - local) / line;
  return modelled_joules(rates_of(parameters, Within::value), activity);
}

std::vector<double> joules_of_way(const SimRequest& request, const Study& study, const sim::Sweep& sweep,
                                  std::size_t way) {
  const sim::Parameters& parameters = study.model.parameters;
  std::vector<double> joules;
  if (!parameters.energy.given) return joules;
  const std::vector<sim::Result>& results = sweep.results[way];
  for (std::size_t draw = 0; draw < results.size(); ++draw)
    joules.push_back(joules_of(results[draw], request.nominal ? parameters : parameters.drawn(sweep.units[draw]),
                               study.model.machine));
  return joules;
}

}  // namespace hearth::cli
