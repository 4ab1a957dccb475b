#include "sim/study/advice.h"

#include <algorithm>

namespace hearth::sim {
namespace {

struct Sums {
  double touched = 0, followed = 0;  // bytes
  double beside = 0;                 // touched by the tasks that touch this region
  double parts = 0, accesses = 0;
  bool written = false;
};

double touched(const Access& access) {
  return static_cast<double>(access.length) * access.rows * std::min(static_cast<double>(access.passes), 1.0);
}

std::vector<Sums> sums_of(const Workload& workload) {
  std::vector<Sums> sums(workload.regions.size());
  for (const Work& work : workload.works) {
    double all = 0;
    for (std::uint32_t a = 0; a < work.accesses; ++a)
      all += touched(workload.accesses[work.first_access + a]);
    for (std::uint32_t a = 0; a < work.accesses; ++a) {
      const Access& access = workload.accesses[work.first_access + a];
      const Region& region = workload.regions[access.region];
      if (region.bytes == 0) continue;
      Sums& sum = sums[access.region];
      sum.touched += touched(access);
      sum.beside += all;
      sum.followed += access.declared ? touched(access) : 0;
      sum.parts += static_cast<double>(access.length) * access.rows / static_cast<double>(region.bytes);
      sum.accesses += 1;
      sum.written |= access.mode != placement::Access::read;
    }
  }
  return sums;
}

policy::RegionUse use_of(const Region& region, const Sums& sum, double tasks) {
  policy::RegionUse use;
  use.bytes = region.bytes;
  if (sum.accesses != 0) use.part = sum.parts / sum.accesses;
  if (sum.touched != 0) use.followed = sum.followed / sum.touched;
  use.tasks = sum.accesses / tasks;
  if (sum.beside != 0) use.main = sum.touched / sum.beside;
  use.touched_by_users = region.first_touch == FirstTouch::by_writer;
  return use;
}

}  // namespace

std::vector<TasksUse> tasks_use(const Workload& workload) {
  const std::vector<Sums> sums = sums_of(workload);
  const auto tasks = static_cast<double>(workload.tasks.size());
  std::vector<TasksUse> uses;
  for (std::size_t i = 0; i < sums.size(); ++i)
    uses.push_back({use_of(workload.regions[i], sums[i], tasks), sums[i].touched, sums[i].written});
  return uses;
}

std::vector<placement::Kind> advise(const Workload& workload, const topology::Machine& machine,
                                    const Parameters& parameters, const RunOptions& options) {
  RunOptions plain;
  plain.distribution.kind = placement::Kind::fine;
  plain.everything = true;
  plain.threads = options.threads;
  plain.seating = options.seating;
  plain.seed = options.seed;
  plain.progress = options.progress;
  const Result run = simulate(workload, machine, parameters, plain);
  policy::ProgramUse program;
  program.workers = static_cast<std::uint32_t>(run.workers.size());
  program.locations = run.locations;
  program.page_bytes = parameters.page_bytes;
  program.first_touch = machine.location_kind != topology::LocationKind::home_cache;
  double work = 0, creating = 0;
  for (const WorkerResult& worker : run.workers) {
    work += static_cast<double>(worker.work);
    creating = std::max(creating, static_cast<double>(worker.create));
  }
  if (run.makespan != 0) {
    program.busy = work / static_cast<double>(run.makespan);
    program.creating = creating / static_cast<double>(run.makespan);
  }

  const std::vector<TasksUse> uses = tasks_use(workload);
  std::vector<placement::Kind> advice;
  for (std::size_t i = 0; i < uses.size(); ++i) {
    advice.push_back(workload.regions[i].distributed && workload.regions[i].advisable ? advise(program, uses[i].region)
                                                     : placement::Kind::standard);
  }
  return advice;
}

}  // namespace hearth::sim
