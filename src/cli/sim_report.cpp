// See sim_report.h.
#include "cli/sim_report.h"

#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/output.h"
#include "cli/sim_advice.h"
#include "cli/sim_energy.h"

namespace hearth::cli {
namespace {

/// Share of the threads' time in which bodies of tasks ran.
double busy_share(const sim::Result& result) {
  double work = 0;
  for (const sim::WorkerResult& worker : result.workers) work += static_cast<double>(worker.work);
  const double all = static_cast<double>(result.makespan) * static_cast<double>(result.workers.size());
  return all > 0 ? work / all : 0;
}

/// "1.23 (1.10 - 1.31)"
std::string band_text(const std::vector<double>& values, const char* format) {
  const sim::Band band = sim::band_of(values);
  const auto text = [format](double value) { return fmt::format(fmt::runtime(format), value); };
  return text(band.low) == text(band.high)
             ? text(band.median)
             : fmt::format("{} ({} - {})", text(band.median), text(band.low), text(band.high));
}

/// "21.96 s (20.1 - 23.4)", in the unit that suits the median.
std::string time_text(const std::vector<double>& ms) {
  struct Unit {
    const char* name;
    double per_ms;
  };
  const double median = sim::band_of(ms).median;
  const Unit unit = median >= 1000 ? Unit{"s", 1e-3} : median >= 1 ? Unit{"ms", 1} : Unit{"us", 1e3};
  std::vector<double> values;
  for (const double value : ms) values.push_back(value * unit.per_ms);
  std::string text = band_text(values, "{:.4g}");
  return text.insert(text.find(' ') == std::string::npos ? text.size() : text.find(' '), fmt::format(" {}", unit.name));
}

/// "12.3 J (10.1 - 15.0)"
std::string energy_text(const std::vector<double>& joules) {
  std::string text = band_text(joules, "{:.4g}");
  return text.insert(text.find(' ') == std::string::npos ? text.size() : text.find(' '), " J");
}

/// What the heads of the table mean.
std::string legend(const SimRequest& request, const Study& study, const std::string& by_first) {
  std::string text = fmt::format("\n{}: time / time of the first row; below 1 is faster\n", by_first);
  if (request.advise) text += fmt::format("{}: time / time of that row\n", kRules);
  return text +
         "local: part of the bytes from memory that come from the thread's own location\n"
         "busy: part of the threads' time in which tasks run\n"
         "far steals: tasks that were stolen from other locations\n" +
         (study.model.parameters.energy.given
              ? "energy: an estimate by the model's coefficients, drawn with each seed\n"
              : "");
}

std::string table(const SimRequest& request, const Study& study, const sim::Sweep& sweep) {
  const std::string by_first = fmt::format("by stealing + {}", study.ways[0].distribution);
  std::vector<std::vector<std::string>> rows = {
      {"policy", "distribution", "time", by_first, "local", "busy", "far steals"}};
  if (study.model.parameters.energy.given) rows[0].push_back("energy");
  if (request.advise) rows[0].insert(rows[0].begin() + 4, kRules);
  for (std::size_t way = 0; way < study.ways.size(); ++way) {
    const Figures figures = figures_of(sweep.results[way], sweep.results[0]);
    rows.push_back({study.ways[way].policy, study.ways[way].distribution, time_text(figures.ms),
                    band_text(figures.ratio, "{:.2f}"),
                    fmt::format("{:.0f} %", 100 * sim::band_of(figures.local).median),
                    fmt::format("{:.0f} %", 100 * sim::band_of(figures.busy).median),
                    fmt::format("{:.0f}", sim::band_of(figures.far).median)});
    if (const std::vector<double> joules = joules_of_way(request, study, sweep, way); !joules.empty())
      rows.back().push_back(energy_text(joules));
    if (!request.advise) continue;
    const Figures by_rules = figures_of(sweep.results[way], sweep.results[kByRules]);
    rows.back().insert(rows.back().begin() + 4, band_text(by_rules.ratio, "{:.2f}"));
  }
  std::string text =
      fmt::format("{} on {}: {}, {}", study.workload.name, study.model.machine.name,
                  counted(study.workload.tasks.size() - 1, "task"), counted(threads_of(sweep), "thread"));
  const std::size_t ranges = request.nominal ? 0 : study.model.parameters.ranges().size();
  text += request.draws == 1 ? "\n" : fmt::format("; median (5 % - 95 %) of {} seeds", request.draws);
  if (request.draws != 1)
    text += ranges == 0 ? "\n" : fmt::format(" over {} figures that are known as ranges\n", ranges);
  if (study.workload.unexplained > 0) {
    text += fmt::format("{:.0f} % of the tasks' time is not explained by what they are known to touch.\n",
                        100 * study.workload.unexplained);
  }
  text += '\n' + aligned(rows) + legend(request, study, by_first);
  if (request.advise) text += advice_text(study.workload, study.advice, study.allocations_known);
  return text;
}

}  // namespace

Figures figures_of(const std::vector<sim::Result>& results, const std::vector<sim::Result>& reference) {
  Figures figures;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const sim::Result& result = results[i];
    const auto time = static_cast<double>(result.makespan);
    figures.ms.push_back(time / kPicosecondsPerMillisecond);
    figures.ratio.push_back(time / static_cast<double>(reference[i].makespan));
    figures.local.push_back(result.local_share());
    figures.busy.push_back(busy_share(result));
    figures.far.push_back(static_cast<double>(result.far_steals));
  }
  return figures;
}

std::uint32_t threads_of(const sim::Sweep& sweep) {
  return static_cast<std::uint32_t>(sweep.results[0][0].workers.size());
}

int write_results(const SimRequest& request, const Study& study, const sim::Sweep& sweep) {
  if (request.json != "-") put_text(stdout, table(request, study, sweep));
  if (request.json.empty()) return 0;
  return write_file(request.json, results_json(request, study, sweep)) ? 0 : kExitFailed;
}

}  // namespace hearth::cli
