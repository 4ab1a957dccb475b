// Where ready tasks go, and how a worker finds its next one: what runtime/task/tasking.cpp and
// runtime/locality/neighbourhood.cpp do with threads, on one clock.
#include <algorithm>

#include "sim/engine/simulation.h"

namespace hearth::sim {

using placement::Need;

namespace {

// Of a clause the runtime knows as much.
placement::Access mode_of(const Access& access) {
  return !access.stated && access.mode == placement::Access::write ? placement::Access::read_write
                                                                   : access.mode;
}

}  // namespace

// If the program has marked some of what it declares, only that.
Need Simulation::need_of(TaskIndex index) {
  const Task& task = workload_.tasks[index];
  Need need(view_.locations);
  need.decided = (flags_[index] & kIntense) != 0;
  for (std::uint32_t s = 0; s < task.steps; ++s) {
    const Step step = workload_.steps[task.first_step + s];
    if (step.kind != Step::Kind::work) continue;
    const Work& work = workload_.works[step.index];
    for (std::uint32_t a = 0; a < work.accesses; ++a) {
      const Access& access = workload_.accesses[work.first_access + a];
      if (access.declared && (access.intense || !need.decided))
        need.add(pages_.shares_of(Extent::of(access)), mode_of(access));
    }
  }
  return need;
}

policy::LoadView Simulation::load_for(const Worker& worker) {
  policy::LoadView load{.staffed = staffed_, .turn = worker.turn};
  if (!weighs_load_) return load;
  load.task_time = task_time(worker.location);
  load.stake_here = inboxes_[static_cast<std::size_t>(worker.location)].stake;
  load.create_time = worker.create_time;
  load.workers = static_cast<std::uint32_t>(workers_.size());
  load.dealers = dealers_;
  load.wait = wait_;
  load.guest_wait = guest_wait_;
  return load;
}

void Simulation::weigh_locations(std::uint64_t task_time, bool created) {
  for (std::size_t i = 0; i < inboxes_.size(); ++i) {
    const Inbox& inbox = inboxes_[i];
    const policy::Load here{.share = inbox.share,
                            .depth = static_cast<std::int64_t>(inbox.tasks.size()),
                            .workers = workers_at_[i]};
    const policy::Load::All all{released_ ? 0 : std::max(dealt_before_, dealt_now_),
                                static_cast<std::int64_t>(workers_.size()), task_time};
    wait_[i] = created ? here.wait(all) : here.queue(all);
    guest_wait_[i] = created ? here.guest_wait(all) : wait_[i];
  }
}

// Time that it has spent on other tasks does not count.
void Simulation::note_creation(Worker& worker) {
  if (worker.created_served == worker.served) {
    worker.create_time = policy::mean_creation(worker.create_time, ticks(now_ - worker.created_at));
  }
  worker.created_at = now_;
  worker.created_served = worker.served;
}

Location Simulation::deal(WorkerIndex index, TaskIndex task, bool created) {
  Worker& worker = workers_[index];
  const Need need = need_of(task);
  policy::LoadView load = load_for(worker);
  ++worker.turn;
  std::uint64_t stake = 0;
  load.stake = &stake;
  if (weighs_load_) weigh_locations(load.task_time, created);
  const bool stated = (flags_[task] & kStated) != 0;
  const Location where = policy_.deal(stated ? tables_.stated : view_, need, worker.location, load);
  if (weighs_load_ && where != policy::kHere) {
    std::uint64_t& mean = inboxes_[static_cast<std::size_t>(where)].stake;
    mean = policy::running_mean(mean, stake);
  }
  if (options_.log) options_.log({task, !created, stated, worker.location, need, load, where});
  return where;
}

void Simulation::note_dealing(Worker& worker) {
  if (worker.deals) return;
  worker.deals = true;
  if (dealers_++ != 0 || dealt_ != 0) return;
  for (Inbox& inbox : inboxes_) inbox.share = {.before = released_ ? 0 : inbox.share.dealt};
  dealt_before_ = released_ ? 0 : dealt_now_;
  dealt_now_ = 0;
  released_ = false;
}

void Simulation::end_dealing(Worker& worker) {
  if (!worker.deals) return;
  worker.deals = false;
  --dealers_;
}

bool Simulation::put_in_inbox(TaskIndex task, Location where, bool created) {
  if (where == policy::kHere) return false;
  Inbox& inbox = inboxes_[static_cast<std::size_t>(where)];
  if (inbox.tasks.size() >= kInbox) return false;
  inbox.tasks.push_back(task);
  ++dealt_;
  ++result_.deals;
  if (created) {
    ++dealt_ever_;
    ++inbox.share.dealt;
    ++dealt_now_;
  } else {
    released_ = true;
  }
  count_queued();
  wake_one(places_[static_cast<std::size_t>(where)].parked, task);
  return true;
}

bool Simulation::deal_away(WorkerIndex index, TaskIndex task, bool created) {
  const Location where = deal(index, task, created);
  if (created && where != policy::kHere) note_dealing(workers_[index]);
  return put_in_inbox(task, where, created);
}

void Simulation::enqueue(WorkerIndex index, TaskIndex task) {
  Worker& worker = workers_[index];
  if (one_queue_) {
    shared_.push_back(task);
  } else {
    worker.deque.push_back(task);
    ++places_[static_cast<std::size_t>(worker.location)].queued;
  }
  count_queued();
  wake_for_local(worker, task);
}

// One near it; or if anybody may steal from own queues, the nearest that there is.
void Simulation::wake_for_local(const Worker& worker, TaskIndex task) {
  if (wake_one(parked_near(worker), task) || !neighbourhood_ || !shares_own_queues_) return;
  const Location* near = tables_.near(worker.location);
  for (std::int32_t i = 1; i < view_.locations; ++i)
    if (wake_one(places_[static_cast<std::size_t>(near[i])].parked, task)) return;
}

// The first task that is queued has those look again that had nothing to look for.
void Simulation::count_queued() {
  if (queued_++ != 0 || dormant_ == 0) return;
  for (WorkerIndex i = 0; i < workers_.size(); ++i)
    if (workers_[i].dormant) arm(i);
}

// At the end of the pause that it would be in, had it looked all the time.
void Simulation::arm(WorkerIndex index) {
  Worker& worker = workers_[index];
  if (worker.dormant) {
    worker.dormant = false;
    --dormant_;
  }
  worker.next = Next::search;
  // Elsewhere naps make no difference: they cost nobody but the napper.
  if (turns_.on() && now_ >= worker.spins_since + kSpin) {
    worker.naps = true;
    return timers_.set(index, now_ + kNap);
  }
  const Time pauses = (now_ - worker.last_look) / worker.pause + 1;
  timers_.set(index, worker.last_look + pauses * worker.pause);
}

void Simulation::park(WorkerIndex index) {
  Worker& worker = workers_[index];
  if (worker.idle_since == kNever) worker.idle_since = worker.spins_since = worker.last_look = now_;
  if (!worker.parked) {
    worker.parked = true;
    std::vector<WorkerIndex>& parked = parked_near(worker);
    parked.insert(std::lower_bound(parked.begin(), parked.end(), index), index);
  }
  if (!looks_again(worker)) return;
  if (queued_ != 0) return arm(index);
  if (!worker.dormant) {
    worker.dormant = true;
    ++dormant_;
  }
}

void Simulation::unpark(WorkerIndex index) {
  Worker& worker = workers_[index];
  worker.parked = worker.naps = false;
  if (worker.dormant) {
    worker.dormant = false;
    --dormant_;
  }
  std::vector<WorkerIndex>& parked = parked_near(worker);
  parked.erase(std::lower_bound(parked.begin(), parked.end(), index));
}

// It spins, and sees at once what there is for it, or sleeps.
void Simulation::wake(WorkerIndex index) {
  Worker& worker = workers_[index];
  unpark(index);
  const bool asleep = now_ - worker.idle_since >= kSpin;
  const Time spent = asleep ? cost(wake_) : 0;
  worker.result.search += spent;
  if (asleep) worker.idle_since = now_;
  go_on(index, spent, Next::search);
}

// One of those, one that spins if possible, for a task that it may run.
bool Simulation::wake_one(const std::vector<WorkerIndex>& parked, TaskIndex task) {
  const std::size_t count = parked.size();
  if (count == 0) return false;
  const std::size_t first = deterministic_ ? 0 : random_.below(count);
  constexpr WorkerIndex kNone = UINT32_MAX;
  WorkerIndex sleeper = kNone;
  for (std::size_t i = 0; i < count; ++i) {
    const WorkerIndex index = parked[first + i < count ? first + i : first + i - count];
    const Worker& worker = workers_[index];
    const bool asleep = now_ - worker.idle_since >= kSpin;
    if ((asleep && sleeper != kNone) || !may_run(worker, task)) continue;
    if (!asleep) {
      wake(index);
      return true;
    }
    sleeper = index;
  }
  if (sleeper == kNone) return false;
  wake(sleeper);
  return true;
}

void Simulation::look(WorkerIndex index) {
  const Found found = find(index);
  Worker& worker = workers_[index];
  if (found.task == kNobody) {
    if (looks_again(worker) && !neighbourhood_ && worker.parked) {
      worker.last_look = now_;
      worker.pause = std::min(2 * worker.pause, longest_pause_);
    }
    return park(index);
  }
  if (worker.parked) unpark(index);
  worker.idle_since = kNever;
  worker.pause = first_pause_;
  const Time spent = cost(found.cost);
  worker.result.search += spent;
  begin_task(index, found.task, spent);
  go_on(index, spent, Next::body);
}

Simulation::Found Simulation::find(WorkerIndex index) {
  Worker& worker = workers_[index];
  if (!worker.implicit.empty() && may_run(worker, worker.implicit.at(0))) return {worker.implicit.take(0), 0};
  if (queued_ == 0 && !worker.patience.waiting()) {
    end_dealing(worker);
    return {};
  }
  if (one_queue_) {
    for (std::size_t i = 0; i < shared_.size(); ++i) {
      if (!may_run(worker, shared_.at(i))) continue;
      --queued_;
      return {shared_.take(i), take_};
    }
    return {};
  }
  if (!worker.deque.empty() && may_run(worker, worker.deque.at(worker.deque.size() - 1))) {
    --queued_;
    --places_[static_cast<std::size_t>(worker.location)].queued;
    return {worker.deque.pop_back(), take_};
  }
  return neighbourhood_ ? find_by_distance(index) : steal_anywhere(index);
}

Simulation::Found Simulation::stolen(WorkerIndex thief, TaskIndex task, Location victim) {
  const Location here = workers_[thief].location;
  --queued_;
  ++result_.steals;
  result_.far_steals += here != victim;
  return {task, steal_ + steal_hop_ * view_.hops_between(here, victim)};
}

Simulation::Found Simulation::steal_anywhere(WorkerIndex index) {
  Worker& worker = workers_[index];
  const auto count = static_cast<WorkerIndex>(workers_.size());
  if (count == 1) return {};
  WorkerIndex victim = worker.last_victim;
  for (WorkerIndex tries = 0; tries < count; ++tries) {
    Worker& other = workers_[victim];
    if (victim != index && !other.deque.empty() && may_run(worker, other.deque.at(0))) {
      worker.last_victim = victim;
      --places_[static_cast<std::size_t>(other.location)].queued;
      return stolen(index, other.deque.take(0), other.location);
    }
    if (++victim == count) victim = 0;
  }
  worker.last_victim = deterministic_ ? (index + 1) % count : static_cast<WorkerIndex>(random_.below(count));
  return {};
}

Simulation::Found Simulation::steal_at(WorkerIndex index, Location where) {
  Place& place = places_[static_cast<std::size_t>(where)];
  if (place.queued == 0) return {};
  const auto count = place.workers.size();
  // From the one that follows it in the team on.
  std::size_t at = static_cast<std::size_t>(
      std::upper_bound(place.workers.begin(), place.workers.end(), index) - place.workers.begin());
  for (std::size_t tries = 0; tries < count; ++tries, ++at) {
    if (at >= count) at = 0;
    const WorkerIndex victim = place.workers[at];
    Worker& other = workers_[victim];
    if (victim == index || other.deque.empty() || !may_run(workers_[index], other.deque.at(0))) continue;
    --place.queued;
    return stolen(index, other.deque.take(0), where);
  }
  return {};
}

TaskIndex Simulation::take_from_inbox(Location where, std::size_t i) {
  --dealt_;
  return inboxes_[static_cast<std::size_t>(where)].tasks.take(i);
}

Simulation::Found Simulation::take_dealt(WorkerIndex index, Location where) {
  Ring<TaskIndex>& tasks = inboxes_[static_cast<std::size_t>(where)].tasks;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (!may_run(workers_[index], tasks.at(i))) continue;
    const TaskIndex task = take_from_inbox(where, i);
    if (where != workers_[index].location) return stolen(index, task, where);
    --queued_;
    return {task, take_};
  }
  return {};
}

std::uint64_t Simulation::task_time(Location where) const {
  std::uint64_t time = inboxes_[static_cast<std::size_t>(where)].task_time;
  for (std::size_t i = 0; time == 0 && i < inboxes_.size(); ++i) time = inboxes_[i].task_time;
  return time;
}

policy::FarTasks Simulation::far_tasks(Location here, Location where) const {
  const Inbox& inbox = inboxes_[static_cast<std::size_t>(where)];
  policy::FarTasks far{.depth = static_cast<std::uint32_t>(inbox.tasks.size()),
                       .task_time = task_time(where),
                       .dealing = dealers_ != 0,
                       .workers = workers_at_[static_cast<std::size_t>(where)],
                       .stake = inbox.stake};
  policy::Shares shares;
  shares.all = far.dealing ? dealt_before_ : dealt_now_;
  shares.workers = static_cast<std::int64_t>(workers_.size());
  shares.victims = far.dealing ? inbox.share.expects() : inbox.share.has();
  shares.victim_workers = workers_at_[static_cast<std::size_t>(where)];
  const policy::Share& own = inboxes_[static_cast<std::size_t>(here)].share;
  shares.thiefs = far.dealing ? own.expects() : own.has();
  shares.thief_workers = workers_at_[static_cast<std::size_t>(here)];
  shares.released = released_;
  far.surplus = !(far.dealing && released_) && policy::has_surplus(shares);
  return far;
}

// As the runtime's function of the same name: near by first; then, unless it looked a short while ago, far.
Simulation::Found Simulation::find_by_distance(WorkerIndex index) {
  Worker& worker = workers_[index];
  end_dealing(worker);
  Found found = take_dealt(index, worker.location);
  if (found.task == kNobody) found = steal_at(index, worker.location);
  if (found.task != kNobody) {
    if (worker.patience.waiting()) worker.patience.found_near(ticks(now_));
    return found;
  }
  if (shares_own_queues_) {
    found = steal_anywhere(index);
    if (found.task != kNobody) return found;
  }
  if (worker.patience.rests(ticks(now_))) return {};
  found = find_far(index);
  if (found.task == kNobody) {
    worker.patience.rest(ticks(now_));
    worker.last_look = now_;
    worker.pause = std::min(2 * worker.pause, longest_pause_);
  }
  return found;
}

Simulation::Found Simulation::find_far(WorkerIndex index) {
  Worker& worker = workers_[index];
  const Location here = worker.location;
  const bool waits = !worker.frames.empty() && !in_barrier(worker);
  const policy::MachineView& machine = view_;
  const policy::Idleness idle = worker.patience.look(ticks(now_), dealt_, dealt_ever_, worker.served);
  if (queued_ == 0) return {};
  const bool any = worker.patience.looks() > 2 * kWaiterLooks;
  const Location* near = tables_.near(here);
  for (std::int32_t i = 1; i < machine.locations; ++i) {
    const Location where = near[i];
    Place& place = places_[static_cast<std::size_t>(where)];
    Inbox& inbox = inboxes_[static_cast<std::size_t>(where)];
    const auto dealt = static_cast<std::uint32_t>(inbox.tasks.size());
    if (place.queued != 0 && ((any && (waits || policy_.may_reach(machine, here, where))) ||
                              policy_.may_steal(machine, here, where, place.queued)))
      if (const Found found = steal_at(index, where); found.task != kNobody) return found;
    if (dealt == 0) continue;
    const bool may = waits && (any || !weighs_load_)
                         ? any || (worker.patience.looks() > kWaiterLooks &&
                                   policy_.may_steal(machine, here, where, dealt))
                         : policy_.may_steal_dealt(machine, here, where, far_tasks(here, where), idle);
    if (!may) continue;
    const Found found = take_dealt(index, where);
    if (found.task == kNobody) continue;
    if (!waits) worker.patience.steal(idle);
    --inbox.share.stolen;
    ++inboxes_[static_cast<std::size_t>(here)].share.stolen;
    return found;
  }
  return {};
}

// A creator that is its location's only worker runs a task of it now and then.
bool Simulation::help_own_location(WorkerIndex index, bool fed) {
  Worker& worker = workers_[index];
  Ring<TaskIndex>& tasks = inboxes_[static_cast<std::size_t>(worker.location)].tasks;
  const std::uint64_t time = task_time(worker.location);
  const TaskIndex creator = worker.frames.back().task;
  while (!tasks.empty() && worker.creators_turn.has_come(time, fed)) {
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      if (!descends(tasks.at(i), creator)) continue;
      worker.frames.back().helps = true;
      worker.frames.back().fed = fed;
      const TaskIndex task = take_from_inbox(worker.location, i);
      --queued_;
      const Time spent = cost(take_);
      worker.result.search += spent;
      begin_task(index, task, spent);
      go_on(index, spent, Next::body);
      return true;
    }
    worker.creators_turn.is_over(ticks(now_), time);
  }
  return false;
}

}  // namespace hearth::sim
