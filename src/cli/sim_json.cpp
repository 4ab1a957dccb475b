// The JSON of `hearth sim --json`.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "cli/json.h"
#include "cli/sim_advice.h"
#include "cli/sim_energy.h"
#include "cli/sim_report.h"

namespace hearth::cli {
namespace {

Json band_json(const std::vector<double>& values) {
  const sim::Band band = sim::band_of(values);
  return {{"median", band.median}, {"low", band.low}, {"high", band.high}};
}

Json run_json(const sim::Result& result, double ratio) {
  double work = 0, create = 0, search = 0, wait = 0;
  for (const sim::WorkerResult& worker : result.workers) {
    work += static_cast<double>(worker.work);
    create += static_cast<double>(worker.create);
    search += static_cast<double>(worker.search);
    wait += static_cast<double>(worker.wait);
  }
  constexpr double kPerMs = kPicosecondsPerMillisecond;
  return {{"ms", static_cast<double>(result.makespan) / kPerMs},
          {"ratio", ratio},
          {"bytes", result.bytes()},
          {"local_share", result.local_share()},
          {"weighted_remote_bytes", result.weighted_remote},
          {"cache_hit_bytes", result.cache_hits},
          {"steals", result.steals},
          {"far_steals", result.far_steals},
          {"deals", result.deals},
          {"threads_ms",
           {{"work", work / kPerMs},
            {"create", create / kPerMs},
            {"search", search / kPerMs},
            {"wait", wait / kPerMs}}}};
}

Json advice_json(const sim::Workload& workload, const sim::Searched& searched) {
  Json json = {
      {"policy", searched.policy->name()}, {"simulated", searched.ways}, {"allocations", Json::array()}};
  for (const sim::RegionGroup& group : searched.groups) {
    for (const sim::RegionIndex index : group.regions) {
      const sim::Region& region = workload.regions[index];
      json["allocations"].push_back({{"name", region.name},
                                     {"bytes", region.bytes},
                                     {"first_touched_by", toucher(region.first_touch)},
                                     {"part", group.use.part},
                                     {"said", group.use.followed},
                                     {"written", group.written},
                                     {"advised", placement::kind_name(searched.by_region[index])},
                                     {"by_rules", placement::kind_name(searched.by_rules[index])}});
    }
  }
  return json;
}

}  // namespace

std::string results_json(const SimRequest& request, const Study& study, const sim::Sweep& sweep) {
  Json json;
  json["program"] = study.workload.name;
  json["settings"] = Json::array(request.settings);
  json["tasks"] = study.workload.tasks.size() - 1;
  json["allocations"] = std::count_if(study.workload.regions.begin(), study.workload.regions.end(),
                                      [](const sim::Region& region) { return region.distributed && region.advisable; });
  json["unexplained"] = study.workload.unexplained;
  json["machine"] = study.model.machine.name;
  json["model"] = study.model.machine.origin;
  json["threads"] = threads_of(sweep);
  json["significance"] = request.significance;
  json["steal_threshold"] = request.threshold;
  json["vicinity"] = request.vicinity;
  json["seating"] = request.seating;
  json["caches"] = request.caches;
  json["allocations_before"] = request.allocations_before;
  json["seeds"] = request.draws;
  json["first_seed"] = request.first_seed;
  json["ranges"] = request.nominal ? Json::array() : Json::array(study.model.parameters.ranges());
  json["draws"] = Json::array();
  for (const std::vector<double>& draw : sweep.units) json["draws"].push_back(Json::array(draw));
  if (request.advise) json["advice"] = advice_json(study.workload, study.advice);
  json["ways"] = Json::array();
  for (std::size_t way = 0; way < study.ways.size(); ++way) {
    const Figures figures = figures_of(sweep.results[way], sweep.results[0]);
    Json one = {{"policy", study.ways[way].policy},
                {"distribution", study.ways[way].distribution},
                {"ms", band_json(figures.ms)},
                {"ratio", band_json(figures.ratio)},
                {"local_share", band_json(figures.local)},
                {"busy_share", band_json(figures.busy)},
                {"runs", Json::array()}};
    if (const std::vector<double> joules = joules_of_way(request, study, sweep, way); !joules.empty()) {
      one["joules"] = band_json(joules);
      one["joules_by_seed"] = Json::array(joules);
    }
    for (std::size_t i = 0; i < figures.ms.size(); ++i)
      one["runs"].push_back(run_json(sweep.results[way][i], figures.ratio[i]));
    json["ways"].push_back(std::move(one));
  }
  return json.dump(1) + '\n';
}

}  // namespace hearth::cli
