// The bodies of tasks, and how time passes.
#include "sim/engine/simulation.h"

#include <algorithm>

namespace hearth::sim {
Result Simulation::run() {
  const std::uint64_t count = workload_.tasks.size();
  constexpr std::uint64_t kTell = 8192;
  std::uint64_t told = 0;
  implicit_left_ = workload_.producers > 1 ? workload_.producers : 0;
  if (options_.history != nullptr) start_history();
  begin_task(0, 0);
  go_on(0, 0, Next::body);
  for (WorkerIndex i = 1; i < workers_.size(); ++i) park(i);
  while (result_.tasks < count) {
    const Time timer = timers_.first();
    if (timer > now_) {
      const Time end = turns_.on() ? turns_.next_end() : fluid_.next_end(timer);
      if (end <= timer) {
        if (end == kNever) break;  // nobody can go on: a workload that is inconsistent
        now_ = end;
        if (turns_.on())
          end_turn();
        else
          end_work(of_activity_[fluid_.end_next()]);
        continue;
      }
      now_ = timer;
    }
    const auto first = static_cast<WorkerIndex>(timers_.first_worker());
    timer_fires(first);
    if (options_.progress && result_.tasks - told >= kTell) {
      told = result_.tasks;
      if (!options_.progress(told)) break;
    }
  }
  if (options_.history != nullptr) end_history();
  result_.makespan = now_;
  result_.unfinished = count - result_.tasks;
  result_.locations = view_.locations;
  result_.misses = memory_.misses();
  result_.cache_hits = memory_.hits();
  result_.migrated_bytes = memory_.migrated_bytes();
  result_.solutions = fluid_.solved();
  const policy::MachineView& machine = view_;
  for (Location here = 0; here < machine.locations; ++here)
    for (Location home = 0; home < machine.locations; ++home)
      if (here != home)
        result_.weighted_remote += static_cast<double>(result_.missed(here, home)) *
                                   machine.distance_between(here, home) /
                                   machine.distance_between(here, here);
  for (const policy::Account& account : accounts_) result_.seen.push_back(account.seen());
  for (Worker& worker : workers_) {
    WorkerResult& r = worker.result;
    const Time busy = r.work + r.create + r.search + r.migrate;
    r.wait = now_ - std::min(now_, busy);
    result_.workers.push_back(r);
  }
  return std::move(result_);
}

void Simulation::resume(WorkerIndex index) {
  switch (workers_[index].next) {
    case Next::body: return run_body(index);
    case Next::created:
      if (created(index)) run_body(index);
      return;
    case Next::search: return workers_[index].frames.empty() ? look(index) : run_body(index);
    case Next::work_ended: return end_work(index);
  }
}

// Where CPUs take turns one that spins looks when its turn comes; the end of a nap is an interrupt.
void Simulation::timer_fires(WorkerIndex index) {
  timers_.set(index, kNever);
  if (!turns_.on()) return resume(index);
  Worker& worker = workers_[index];
  if (!worker.naps) return turns_.set(index, now_, 0);
  worker.naps = false;
  const Time spent = cost(wake_);
  worker.result.search += spent;
  worker.spins_since = now_ + spent;
  turns_.set(index, now_, spent);
  turns_.interrupt(now_);
}

void Simulation::end_turn() {
  const std::size_t worker = turns_.end_next(now_);
  if (worker != Turns::kNobody) resume(static_cast<WorkerIndex>(worker));
}

bool Simulation::is_over(const Frame& frame) const {
  switch (frame.wait) {
    case Wait::none: return true;
    case Wait::children: return unfinished_[frame.task] == 0;
    case Wait::descendants: return incomplete_[frame.task] == 0;
    case Wait::predecessors: {
      const Task& task = workload_.tasks[frame.task];
      return pending_[workload_.steps[task.first_step + frame.step].index] == 0;
    }
  }
  return true;
}

// Goes on with the topmost task until something takes time.
void Simulation::run_body(WorkerIndex index) {
  Worker& worker = workers_[index];
  queue_released(index);
  while (!worker.frames.empty()) {
    Frame& frame = worker.frames.back();
    const Task& task = workload_.tasks[frame.task];
    if (frame.wait != Wait::none) {
      if (!is_over(frame)) {
        flags_[frame.task] |= kAwaited;
        if (options_.history != nullptr) options_.history->wait(index, in_history(frame.wait), now_);
        return look(index);
      }
      if (worker.parked) unpark(index);
      worker.idle_since = kNever;
      if (options_.history != nullptr) options_.history->go_on(index, now_);
      frame.step += frame.wait != Wait::predecessors;
      frame.wait = Wait::none;
    }
    if (frame.helps) {
      frame.helps = false;
      worker.creators_turn.is_over(ns(now_), task_time(worker.location));
      if (help_own_location(index, frame.fed)) return;
    }
    if (frame.step == task.steps) {
      const Time spent = finish(index);
      if (spent != 0) return go_on(index, spent, Next::body);
      continue;
    }
    const Step step = workload_.steps[task.first_step + frame.step];
    switch (step.kind) {
      case Step::Kind::work:
        ++frame.step;
        if (begin_work(index, memory_.begin(workload_.works[step.index], worker.location))) return;
        break;
      case Step::Kind::create:
        if (const Time spent = begin_create(index, step.index)) return go_on(index, spent, Next::created);
        break;
      case Step::Kind::run:
        if (pending_[step.index] != 0) {
          flags_[step.index] |= kUndeferred;
          parent_[step.index] = frame.task;
          frame.wait = Wait::predecessors;
          break;
        }
        ++frame.step;
        parent_[step.index] = frame.task;
        ++unfinished_[frame.task];
        ++incomplete_[frame.task];
        if (options_.history != nullptr) options_.history->created(index, step.index, now_, 0);
        begin_task(index, step.index);
        break;
      case Step::Kind::task_wait: frame.wait = Wait::children; break;
      case Step::Kind::wait_all: frame.wait = Wait::descendants; break;
      case Step::Kind::migrate:
        ++frame.step;
        if (begin_migration(index, workload_.migrations[step.index])) return;
        break;
    }
  }
  look(index);
}

bool Simulation::begin_work(WorkerIndex index, const MemoryModel::Demand& demand) {
  Worker& worker = workers_[index];
  if (demand.alone == 0) return false;
  worker.begun = now_;
  if (turns_.on()) {
    go_on(index, demand.alone, Next::work_ended);
    return true;
  }
  const Fluid::Activity activity = fluid_.start(now_, demand.alone, demand.bytes, demand.uses);
  if (activity >= of_activity_.size()) of_activity_.resize(activity + 1);
  of_activity_[activity] = index;
  return true;
}

void Simulation::end_work(WorkerIndex index) {
  Worker& worker = workers_[index];
  (worker.migrates ? worker.result.migrate : worker.result.work) += now_ - worker.begun;
  worker.migrates = false;
  run_body(index);
}

bool Simulation::begin_migration(WorkerIndex index, const Migration& migration) {
  Worker& worker = workers_[index];
  if (migration.kind != Migration::Kind::thread)
    return worker.migrates = begin_work(index, memory_.migrate(migration, worker.location));
  if (migration.to < 0 || migration.to == worker.location || migration.to >= view_.locations) return false;
  const Time spent = move_worker(index, migration.to);
  worker.result.migrate += spent;
  if (spent == 0) return false;
  go_on(index, spent, Next::body);
  return true;
}

// With the tasks in its deque; what was dealt to its location stays there.
Time Simulation::move_worker(WorkerIndex index, Location to) {
  Worker& worker = workers_[index];
  Place& left = places_[static_cast<std::size_t>(worker.location)];
  Place& entered = places_[static_cast<std::size_t>(to)];
  left.workers.erase(std::find(left.workers.begin(), left.workers.end(), index));
  entered.workers.insert(std::lower_bound(entered.workers.begin(), entered.workers.end(), index), index);
  const auto queued = static_cast<std::uint32_t>(worker.deque.size());
  left.queued -= queued;
  entered.queued += queued;
  if (--workers_at_[static_cast<std::size_t>(worker.location)] == 0)
    staffed_ &= ~(std::uint64_t{1} << worker.location);
  ++workers_at_[static_cast<std::size_t>(to)];
  staffed_ |= std::uint64_t{1} << to;
  worker.location = worker.result.location = to;
  return cost(move_thread_);
}

// The time that it takes; none: that is all.
Time Simulation::begin_create(WorkerIndex index, TaskIndex child) {
  Worker& worker = workers_[index];
  Frame& frame = worker.frames.back();
  parent_[child] = frame.task;
  if (frame.task == 0 && implicit_left_ != 0) {
    const auto owner = static_cast<WorkerIndex>((workload_.producers - implicit_left_) % workers_.size());
    --implicit_left_;
    ++frame.step;
    ++unfinished_[0];
    ++incomplete_[0];
    workers_[owner].implicit.push_back(child);
    if (options_.history != nullptr) options_.history->created(index, child, now_, 0);
    if (workers_[owner].parked) wake(owner);
    return 0;
  }
  worker.asks = pending_[child] == 0 ? asks_created(worker, child) : Asking::no;
  const Time items = item_ == 0 ? 0 : item_ * items_of(child);
  const Time spent = std::max<Time>(cost(create_ + items + (worker.asks == Asking::yes ? deal_ : 0)), 1);
  worker.result.create += spent;
  if (options_.history != nullptr) options_.history->created(index, child, now_, spent);
  return spent;
}

std::uint32_t Simulation::items_of(TaskIndex index) const {
  std::uint32_t items = 0;
  for_each_declared(index, [&](const Access&) { ++items; });
  return items;
}

// The task that the topmost frame makes is there.
bool Simulation::created(WorkerIndex index) {
  Worker& worker = workers_[index];
  Frame& frame = worker.frames.back();
  const TaskIndex child = workload_.steps[workload_.tasks[frame.task].first_step + frame.step].index;
  ++frame.step;
  ++unfinished_[frame.task];
  ++incomplete_[frame.task];
  flags_[child] |= kCreated;
  move_task_data(index, child, true);
  const bool ready = pending_[child] == 0;
  if (pending_[child] > 1) flags_[child] |= kAfterSeveral;
  if (ready) {
    if (weighs_load_ && may_deal(child)) {
      worker.creation.created(ns(now_), worker.served);
      note_dealing(worker);
    }
    const bool full = options_.task_cutoff != 0 && worker.deque.size() >= options_.task_cutoff;
    if (worker.asks != Asking::yes || !deal_away(index, child, true)) {
      // What may be dealt is worth a queue however long; where load is weighed, only if others are near.
      const bool cut = worker.asks == Asking::no || (weighs_load_ && alone_at_location(worker));
      if (cut && (alone() || full)) {
        begin_task(index, child);
        return true;
      }
      enqueue(index, child);
    }
  }
  if (!by_location_ || (flags_[child] & kNamesDepend) == 0 || !alone_at_location(worker)) return true;
  worker.creators_turn.created(ns(now_), task_time(worker.location));
  return !help_own_location(index, ready);
}

// A descriptor lies where its task was created.
void Simulation::move_task_data(WorkerIndex index, TaskIndex task, bool created) {
  const Location here = workers_[index].location;
  const Location home = workers_[runner_[parent_[task]]].location;
  if (!created && here == home) return;
  const std::uint64_t more = !may_deal(task) ? 0 : created ? deal_create_bytes_ : deal_run_bytes_;
  memory_.move_own(here, home, (created ? create_bytes_ : run_bytes_) + more);
}

void Simulation::begin_task(WorkerIndex index, TaskIndex task, Time after) {
  Worker& worker = workers_[index];
  ++worker.served;
  ++worker.result.tasks;
  runner_[task] = static_cast<std::uint16_t>(index);
  if ((flags_[task] & kCreated) != 0) move_task_data(index, task, false);
  worker.frames.push_back({task, 0, now_ + after, worker.served});
  if (options_.history != nullptr) options_.history->begin(index, worker.location, task, now_ + after);
}

Time Simulation::finish(WorkerIndex index) {
  Worker& worker = workers_[index];
  const Frame frame = worker.frames.back();
  worker.frames.pop_back();
  const TaskIndex task = frame.task;
  if (options_.history != nullptr) {
    options_.history->end(index, worker.location, now_);
    if ((flags_[task] & kFootprint) != 0) options_.history->need(task, need_of(task));
  }
  if ((flags_[task] & kFootprint) != 0 && by_location_) note_time(frame, worker);
  ++result_.tasks;
  flags_[task] |= kEnded;
  Time spent = 0;
  if (!first_successor_.empty()) {
    for (std::uint32_t i = first_successor_[task]; i < first_successor_[task + 1]; ++i) {
      const TaskIndex next = successor_[i];
      if (--pending_[next] != 0) continue;
      if ((flags_[next] & kUndeferred) != 0) {
        tell_runner(parent_[next]);
      } else if ((flags_[next] & kCreated) != 0) {
        const bool asks = asks_released(worker, next);
        if (asks) spent += cost(deal_);
        worker.released.push_back({next, asks});
      }
    }
    worker.result.create += spent;
    if (spent == 0) queue_released(index);
  }
  if (task != 0 && --unfinished_[parent_[task]] == 0) tell_runner(parent_[task]);
  if (incomplete_[task] == 0) complete(task);
  return spent;
}

void Simulation::queue_released(WorkerIndex index) {
  std::vector<Released>& released = workers_[index].released;
  for (const auto& [task, asks] : released)
    if (!asks || !deal_away(index, task, false)) enqueue(index, task);
  released.clear();
}

// The task and all its descendants have ended.
void Simulation::complete(TaskIndex task) {
  while (task != 0) {
    const TaskIndex parent = parent_[task];
    if (--incomplete_[parent] != 0) return;
    tell_runner(parent);
    // A parent whose body runs yet completes when that ends.
    if ((flags_[parent] & kEnded) == 0) return;
    task = parent;
  }
}

// What the task waits for may be over.
void Simulation::tell_runner(TaskIndex task) {
  if ((flags_[task] & kAwaited) == 0) return;
  const WorkerIndex index = runner_[task];
  Worker& worker = workers_[index];
  if (!worker.parked || worker.frames.empty() || worker.frames.back().task != task ||
      !is_over(worker.frames.back()))
    return;
  wake(index);
}

bool Simulation::descends(TaskIndex task, TaskIndex ancestor) const {
  if (ancestor == 0) return true;
  while (task != 0 && task != ancestor) task = parent_[task];
  return task == ancestor;
}

std::uint64_t Result::bytes() const {
  std::uint64_t sum = 0;
  for (const std::uint64_t bytes : misses) sum += bytes;
  return sum;
}

double Result::local_share() const {
  std::uint64_t local = 0;
  for (Location i = 0; i < locations; ++i) local += missed(i, i);
  const std::uint64_t all = bytes();
  return all == 0 ? 1 : static_cast<double>(local) / static_cast<double>(all);
}

Result simulate(const Workload& workload, const topology::Machine& machine, const Parameters& parameters,
                const RunOptions& options) {
  return Simulation(workload, machine, parameters, options).run();
}

}  // namespace hearth::sim
