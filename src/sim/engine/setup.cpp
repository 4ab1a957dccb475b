// How a simulation begins: the machine in numbers, the workers in their seats, and who waits for whom.
#include <algorithm>

#include "policy/policies.h"
#include "sim/engine/simulation.h"

namespace hearth::sim {
namespace {

std::uint64_t whole(const Figure& figure) { return static_cast<std::uint64_t>(figure.value + 0.5); }

Time ps(const Figure& ns) { return static_cast<Time>(std::max(ns.value, 0.0) * 1000 + 0.5); }

std::vector<Location> locations_of(const std::vector<Seat>& seats) {
  std::vector<Location> locations;
  for (const Seat& seat : seats) locations.push_back(seat.location);
  return locations;
}

std::vector<std::uint32_t> count_by_location(const std::vector<Location>& workers, std::int32_t locations) {
  std::vector<std::uint32_t> count(static_cast<std::size_t>(locations), 0);
  for (const Location where : workers) ++count[static_cast<std::size_t>(where)];
  return count;
}

}  // namespace

Simulation::Tables::Tables(const topology::Machine& machine, const RunOptions& options) {
  fill(machine, static_cast<std::int32_t>(std::min<std::size_t>(machine.locations.size(), placement::kMaxLocations)),
       {options.significance, options.threshold, options.vicinity});
}

Simulation::Simulation(const Workload& workload, const topology::Machine& machine, const Parameters& parameters,
                       const RunOptions& options)
    : workload_(workload),
      options_(options),
      policy_(options.policy == nullptr ? policy::work_stealing : *options.policy),
      deterministic_(options.deterministic),
      tables_(machine, options),
      seats_(seats_of(machine, options)),
      worker_locations_(locations_of(seats_)),
      workers_at_(count_by_location(worker_locations_, view_.locations)),
      accounts_(policy_.weighs_load() ? workload.kinds.size() : 0),
      pages_(workload, {machine, tables_, options.distribution, options.everything, parameters.page_bytes,
                        parameters.line_bytes, options.allocations_before, worker_locations_, options.by_region}),
      fluid_(options.grain),
      memory_(workload, machine, parameters, workers_at_, pages_, fluid_),
      random_(options.seed),
      timers_(seats_.size()),
      turns_(seats_.size(), 1000 * ps(parameters.turn_us), options.seed, options.deterministic),
      create_bytes_(whole(parameters.task_data.create_bytes)),
      run_bytes_(whole(parameters.task_data.run_bytes)),
      deal_create_bytes_(whole(parameters.task_data.deal_create_bytes)),
      deal_run_bytes_(whole(parameters.task_data.deal_run_bytes)),
      create_(ps(parameters.create_ns)),
      item_(ps(parameters.item_ns)),
      deal_(ps(parameters.deal_ns)),
      take_(ps(parameters.take_ns)),
      steal_(ps(parameters.steal_ns)),
      steal_hop_(ps(parameters.steal_hop_ns)),
      wake_(ps(parameters.wake_ns)),
      move_thread_(1000 * ps(parameters.move_thread_us)),
      first_pause_(std::max<Time>(ps(parameters.backoff_min_ns), 1000)),
      longest_pause_(std::max(ps(parameters.backoff_max_ns), first_pause_)),
      workers_(seats_.size()),
      places_(workers_at_.size()),
      inboxes_(workers_at_.size()) {
  for (std::size_t i = 0; i < std::min(accounts_.size(), options.earlier.size()); ++i) accounts_[i].begin_with(options.earlier[i]);
  one_queue_ = policy_.one_queue();
  by_location_ = !policy_.deals_here_always() && !one_queue_ && view_.locations > 1;
  weighs_load_ = policy_.weighs_load();
  shares_own_queues_ = policy_.shares_own_queues();
  if (by_location_) {
    // A worker's patience makes it pause for longer than a machine's back-off would.
    first_pause_ = std::max(first_pause_, 1000 * tuning::kFirstPauseNs);
    longest_pause_ = std::max(longest_pause_, 1000 * tuning::kLongestPauseNs);
  }
  for (WorkerIndex i = 0; i < workers_.size(); ++i) {
    Worker& worker = workers_[i];
    worker.location = worker.result.location = worker_locations_[i];
    worker.last_victim = i + 1 < workers_.size() ? i + 1 : 0;
    worker.pause = first_pause_;
    places_[static_cast<std::size_t>(worker.location)].workers.push_back(i);
    staffed_ |= std::uint64_t{1} << worker.location;
  }
  index_tasks();
  if (options.warm) memory_.warm(workers_[0].location);
}

// Who made whom is known as tasks are made; what a task has before and after it is worked out here.
void Simulation::index_tasks() {
  const std::size_t count = workload_.tasks.size();
  parent_.assign(count, kNobody);
  pending_.assign(count, 0);
  unfinished_.assign(count, 0);
  incomplete_.assign(count, 0);
  flags_.assign(count, 0);
  runner_.assign(count, 0);
  if (weighs_load_) foretold_.assign(count, {});
  for (std::size_t t = 0; t < count; ++t) {
    const Task& task = workload_.tasks[t];
    pending_[t] = task.predecessors;
    if (task.predecessors != 0) flags_[t] |= kNamesDepend;
    for (std::uint32_t s = 0; s < task.steps; ++s) {
      const Step step = workload_.steps[task.first_step + s];
      if (step.kind != Step::Kind::work) continue;
      const Work& work = workload_.works[step.index];
      for (std::uint32_t a = 0; a < work.accesses; ++a) {
        const Access& access = workload_.accesses[work.first_access + a];
        if (!access.declared) continue;
        flags_[t] |= kFootprint | kNamesDepend;
        if (access.intense) flags_[t] |= kIntense;
        if (access.stated || access.intense) flags_[t] |= kStated;
      }
    }
  }
  if (workload_.predecessors.empty()) return;
  first_successor_.assign(count + 1, 0);
  for (const Task& task : workload_.tasks)
    for (std::uint32_t i = 0; i < task.predecessors; ++i)
      ++first_successor_[workload_.predecessors[task.first_predecessor + i] + 1];
  for (std::size_t t = 0; t < count; ++t) first_successor_[t + 1] += first_successor_[t];
  successor_.resize(first_successor_[count]);
  // Filled from the ends, so that the starts are right afterwards.
  for (std::size_t t = count; t-- > 0;) {
    const Task& task = workload_.tasks[t];
    for (std::uint32_t i = task.predecessors; i-- > 0;) {
      const TaskIndex before = workload_.predecessors[task.first_predecessor + i];
      successor_[--first_successor_[before + 1]] = static_cast<TaskIndex>(t);
    }
  }
  // Now [t + 1] is where those of t begin.
  std::rotate(first_successor_.begin(), first_successor_.begin() + 1, first_successor_.end());
  first_successor_.back() = static_cast<std::uint32_t>(successor_.size());
}

void Simulation::start_history() {
  for (const Seat& seat : seats_) {
    options_.history->cpus.push_back(seat.cpu);
    options_.history->seats.push_back(seat.location);
  }
  options_.history->start(workload_.tasks.size(), workers_.size());
}

void Simulation::end_history() {
  options_.history->finish(now_);
  for (RegionIndex i = 0; i < workload_.regions.size(); ++i)
    options_.history->homes.push_back(pages_.shares_of({i, 1, 0, workload_.regions[i].bytes, 0}));
}

}  // namespace hearth::sim
