// Where ready tasks go, and how a worker finds its next one. The search and the rules of dealing are policy/search.h
// and policy/dealing.h, which the runtime uses too; here are the queues, on one clock.
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

policy::Asking Simulation::asking(Worker& worker, TaskIndex task, bool wanted) {
  return wanted ? account_of(task).asks(worker.questions++) : Asking::no;
}

policy::Asking Simulation::asks_created(Worker& worker, TaskIndex task) {
  if (!may_deal(task)) return Asking::no;
  if (!weighs_load_) return Asking::yes;
  return asking(worker, task, policy_.asks(view_, load_for(worker), declared_bytes(task)));
}

bool Simulation::asks_released(Worker& worker, TaskIndex task) {
  if (!may_deal(task)) return false;
  if (!weighs_load_) return true;
  const policy::Released released{
      .here = worker.location, .bytes = declared_bytes(task), .of_several = (flags_[task] & kAfterSeveral) != 0};
  const bool wanted = policy_.asks_released(view_, load_for(worker), released);
  return asking(worker, task, wanted) == Asking::yes;
}

// Of a task that has a footprint. Where load is weighed, a task that has run others meanwhile says nothing.
void Simulation::note_time(const Frame& frame, const Worker& worker) {
  if (weighs_load_ && worker.served != frame.served) return;
  std::uint64_t& mean = inboxes_[static_cast<std::size_t>(worker.location)].task_time;
  const std::uint64_t time = ns(now_ - frame.begun);
  mean = policy::running_mean(mean, time);
  if (!weighs_load_ || foretold_[frame.task].home == policy::kHere) return;
  const Foretold& foretold = foretold_[frame.task];
  account_of(frame.task).ended(worker.location == foretold.home, time, foretold.stake, static_cast<std::uint32_t>(worker.served));
}

std::uint64_t Simulation::declared_bytes(TaskIndex index) const {
  std::uint64_t bytes = 0;
  for_each_declared(index, [&](const Access& access) { bytes += access.length * access.rows; });
  return bytes;
}

// If the program has marked some of what it declares, only that.
Need Simulation::need_of(TaskIndex index) {
  Need need(view_.locations);
  need.decided = (flags_[index] & kIntense) != 0;
  for_each_declared(index, [&](const Access& access) {
    if (access.intense || !need.decided) need.add(pages_.shares_of(Extent::of(access)), mode_of(access));
  });
  return need;
}

policy::LoadView Simulation::load_for(const Worker& worker) {
  policy::LoadView load{.staffed = staffed_, .turn = worker.turn};
  if (!weighs_load_) return load;
  load.task_time = task_time(worker.location);
  load.stake_here = inboxes_[static_cast<std::size_t>(worker.location)].stake;
  load.create_time = worker.creation.mean();
  load.workers = static_cast<std::uint32_t>(workers_.size());
  load.dealers = dealers_;
  load.wait = wait_;
  load.guest_wait = guest_wait_;
  return load;
}

void Simulation::weigh_locations(std::uint64_t task_time, bool created) {
  const policy::Load::All all = dealing_now().load(task_time);
  for (std::size_t i = 0; i < inboxes_.size(); ++i) {
    const Inbox& inbox = inboxes_[i];
    const policy::Load here{
        .share = inbox.share, .depth = static_cast<std::int64_t>(inbox.tasks.size()), .workers = workers_at_[i]};
    wait_[i] = created ? here.wait(all) : here.queue(all);
    guest_wait_[i] = created ? here.guest_wait(all) : wait_[i];
  }
}

Location Simulation::deal(WorkerIndex index, TaskIndex task, bool created) {
  Worker& worker = workers_[index];
  const Need need = need_of(task);
  policy::LoadView load = load_for(worker);
  ++worker.turn;
  Foretold foretold;
  load.released = !created;
  load.stake = &foretold.stake;
  load.home = &foretold.home;
  if (weighs_load_) {
    weigh_locations(load.task_time, created);
    load.believes = account_of(task).believes();
    load.tries = account_of(task).tries(load.workers);
  }
  const bool stated = (flags_[task] & kStated) != 0;
  const Location where = policy_.deal(stated ? tables_.stated : view_, need, worker.location, load);
  if (weighs_load_) {
    foretold_[task] = foretold;
    account_of(task).decided(where == policy::kHere ? 0 : foretold.stake);
    if (where != policy::kHere) {
      std::uint64_t& mean = inboxes_[static_cast<std::size_t>(where)].stake;
      mean = policy::running_mean(mean, foretold.stake);
    }
  }
  if (options_.log) options_.log({task, !created, stated, worker.location, need, load, where, index, now_});
  return where;
}

void Simulation::note_dealing(Worker& worker) {
  if (worker.deals) return;
  worker.deals = true;
  if (!policy::begins_dealing(dealers_++, dealt_)) return;
  for (Inbox& inbox : inboxes_) inbox.share = policy::next_share(inbox.share, released_);
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
  if (inbox.tasks.size() >= tuning::kInboxRoom) return false;
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

// One near it; where anybody may steal from own queues, any: all who spin see it as soon.
void Simulation::wake_for_local(const Worker& worker, TaskIndex task) {
  if (!by_location_ || !shares_own_queues_) {
    wake_one(parked_near(worker), task);
    return;
  }
  parked_anywhere_.clear();
  for (const Place& place : places_) parked_anywhere_.insert(parked_anywhere_.end(), place.parked.begin(), place.parked.end());
  wake_one(parked_anywhere_, task);
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
    if (looks_again(worker) && !by_location_ && worker.parked) {
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
  return by_location_ ? find_by_distance(index) : steal_anywhere(index);
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

policy::DealingNow Simulation::dealing_now() const {
  return {.several = dealers_ > 1,
          .dealing = dealers_ != 0,
          .released = released_,
          .before = dealt_before_,
          .dealt = dealt_now_,
          .workers = static_cast<std::int64_t>(workers_.size())};
}

policy::LocationNow Simulation::location_now(Location where) const {
  const Inbox& inbox = inboxes_[static_cast<std::size_t>(where)];
  return {.share = inbox.share,
          .depth = static_cast<std::uint32_t>(inbox.tasks.size()),
          .workers = workers_at_[static_cast<std::size_t>(where)],
          .task_time = task_time(where),
          .stake = inbox.stake};
}

struct Simulation::Searcher {
  using Found = Simulation::Found;
  Simulation& s;
  const WorkerIndex index;
  Worker& worker = s.workers_[index];

  policy::SearchRules rules() const { return {s.policy_, s.view_, s.weighs_load_}; }
  const Location* near() const { return s.tables_.near(worker.location); }
  bool shares_own_queues() const { return s.shares_own_queues_; }
  std::uint64_t now() const { return ns(s.now_); }
  Found take_dealt(Location where) { return s.take_dealt(index, where); }
  Found steal_at(Location where) { return s.steal_at(index, where); }
  Found steal_anywhere() { return s.steal_anywhere(index); }
  std::uint32_t dealt_at(Location where) const {
    return static_cast<std::uint32_t>(s.inboxes_[static_cast<std::size_t>(where)].tasks.size());
  }
  std::uint32_t queued_at(Location where) const { return s.places_[static_cast<std::size_t>(where)].queued; }
  std::uint32_t waiting() const { return s.dealt_; }
  std::uint32_t created() const { return s.dealt_ever_; }
  std::uint64_t served() const { return worker.served; }
  policy::FarTasks far_tasks(Location where) const {
    const policy::LocationNow own = s.location_now(worker.location);
    return policy::far_tasks(s.dealing_now(), s.location_now(where), &own);
  }
  bool anything_waits() const { return s.queued_ != 0; }
  void left_alone() const {}
  void count_stolen(Location where) {
    --s.inboxes_[static_cast<std::size_t>(where)].share.stolen;
    ++s.inboxes_[static_cast<std::size_t>(worker.location)].share.stolen;
  }
  Found last_resort() const { return {}; }
};

Simulation::Found Simulation::find_by_distance(WorkerIndex index) {
  Worker& worker = workers_[index];
  end_dealing(worker);
  Searcher searcher{*this, index};
  const std::uint32_t looks = worker.patience.looks();
  const Found found = policy::find_by_distance(
      searcher, {.here = worker.location, .waits = !worker.frames.empty() && !in_barrier(worker)}, worker.patience);
  if (!found && worker.patience.looks() != looks) {  // it has looked far away
    worker.last_look = now_;
    worker.pause = std::min(2 * worker.pause, longest_pause_);
  }
  return found;
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
    worker.creators_turn.is_over(ns(now_), time);
  }
  return false;
}

}  // namespace hearth::sim
