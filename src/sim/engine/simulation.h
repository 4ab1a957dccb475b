// Simulation: the state of one simulate(), its workers and its tasks. The body of tasks and the passing of
// time are in simulation.cpp, its beginning in setup.cpp; queues, dealing and searching in scheduling.cpp. Used by one
// thread.
//
// A worker is always in one of these states: it waits for a timer (something costs time, or it will look for
// work), its activity runs in `fluid_`, or it is parked: it has found nothing, and goes on when there is
// something for it. A parked worker whose policy leaves far tasks alone for a while looks again on a timer as
// long as any task is queued anywhere; so nothing that is queued waits for ever.
#pragma once

#include <cstdint>

#include <vector>

#include "policy/account.h"
#include "policy/dealing.h"
#include "policy/machine_tables.h"
#include "policy/patience.h"
#include "policy/search.h"
#include "policy/shares.h"
#include "policy/task_policy.h"
#include "policy/tuning.h"
#include "sim/cost/fluid.h"
#include "sim/cost/memory_model.h"
#include "sim/cost/page_map.h"
#include "sim/engine/engine.h"
#include "sim/engine/queues.h"
#include "sim/engine/seats.h"
#include "sim/engine/turns.h"

namespace hearth::sim {

class Simulation {
 public:
  Simulation(const Workload& workload, const topology::Machine& machine, const Parameters& parameters,
             const RunOptions& options);
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;
  Result run();

 private:
  using Asking = policy::Asking;
  using WorkerIndex = std::uint32_t;
  static constexpr TaskIndex kNobody = UINT32_MAX;
  // policy/tuning.h, in picoseconds.
  static constexpr Time kSpin = 1000 * tuning::kSpinNs;
  static constexpr Time kNap = 1000 * tuning::kNapNs;

  enum Flag : std::uint16_t {
    kFootprint = 1,       // it declares what it touches
    kNamesDepend = 2,     // that, or it has predecessors
    kCreated = 4,         // it is there; whoever makes it ready queues it
    kUndeferred = 8,      // its maker waits for its predecessors, to run it
    kAwaited = 16,        // its body has met a wait that was not over
    kEnded = 32,          // its body has
    kIntense = 64,        // it has marked some of what it declares
    kStated = 128,        // it has stated some of that itself
    kAfterSeveral = 256,  // when it was made, more than one predecessor had not ended
  };

  enum class Wait : std::uint8_t { none, children, descendants, predecessors };

  struct Released {
    TaskIndex task;
    bool asks;  // it is dealt, if the policy wants
  };

  // A task whose body is under way on a worker.
  struct Frame {
    TaskIndex task;
    std::uint32_t step;  // the next
    Time begun;
    std::uint64_t served;  // by the worker until then
    Wait wait = Wait::none;
    // What runs above it is a creator's turn at its own location, and whether others could go on meanwhile.
    bool helps = false, fed = false;
  };

  enum class Next : std::uint8_t { body, created, search, work_ended };

  struct Worker {
    Location location = 0;
    Next next = Next::search;
    bool parked = false;
    bool dormant = false;   // parked, without a timer
    bool naps = false;      // parked, and does not look before the nap is over
    bool migrates = false;  // its activity does
    Asking asks = Asking::no;  // what it creates is dealt, if the policy wants
    bool deals = false;     // has dealt a task, and not looked for one since
    std::uint32_t turn = 0;
    std::uint32_t questions = 0;  // whether to ask about a task
    std::uint32_t last_victim = 0;
    std::uint64_t served = 0;
    policy::CreationTime creation;
    Time idle_since = kNever;  // when it found nothing; kNever: it has something
    Time spins_since = 0;      // it found nothing, or its last nap
    Time last_look = 0;        // far away
    Time pause = 0;            // until the next
    Time begun = 0;            // its activity
    std::vector<Frame> frames;
    std::vector<Released> released;  // ready, and queued when the worker goes on: deciding where takes time first
    Ring<TaskIndex> deque;
    Ring<TaskIndex> implicit;  // tasks that are its own
    policy::Patience patience;
    policy::CreatorsTurn creators_turn;
    WorkerResult result;
  };

  struct Inbox {
    Ring<TaskIndex> tasks;
    policy::Share share;
    std::uint64_t task_time = 0;  // ns, as policies count
    std::uint64_t stake = 0;
  };

  struct Place {
    std::vector<WorkerIndex> workers;
    std::vector<WorkerIndex> parked;
    std::uint32_t queued = 0;  // tasks in the deques of its workers
  };

  struct Found {
    TaskIndex task = kNobody;
    Time cost = 0;
    explicit operator bool() const { return task != kNobody; }
  };
  /// One worker's search, as policy/search.h wants it.
  struct Searcher;

  // setup.cpp
  void index_tasks();
  void start_history();
  void end_history();
  static History::Wait in_history(Wait wait) {
    return wait == Wait::children ? History::Wait::children
           : wait == Wait::predecessors ? History::Wait::predecessors
                                        : History::Wait::descendants;
  }

  // simulation.cpp
  void resume(WorkerIndex index);
  void run_body(WorkerIndex index);
  bool begin_work(WorkerIndex index, const MemoryModel::Demand& demand);
  bool begin_migration(WorkerIndex index, const Migration& migration);
  Time move_worker(WorkerIndex index, Location to);
  void end_work(WorkerIndex index);
  void end_turn();
  void timer_fires(WorkerIndex index);
  Time begin_create(WorkerIndex index, TaskIndex child);
  std::uint32_t items_of(TaskIndex task) const;
  std::uint64_t declared_bytes(TaskIndex task) const;
  /// Calls function(access) for what the task declares.
  template <class Function>
  void for_each_declared(TaskIndex index, Function&& function) const {
    const Task& task = workload_.tasks[index];
    for (std::uint32_t s = 0; s < task.steps; ++s) {
      const Step step = workload_.steps[task.first_step + s];
      if (step.kind != Step::Kind::work) continue;
      const Work& work = workload_.works[step.index];
      for (std::uint32_t a = 0; a < work.accesses; ++a)
        if (const Access& access = workload_.accesses[work.first_access + a]; access.declared) function(access);
    }
  }
  /// False: something takes time first.
  bool created(WorkerIndex index);
  void begin_task(WorkerIndex index, TaskIndex task, Time after = 0);
  /// The time that it takes to release the successors.
  Time finish(WorkerIndex index);
  void queue_released(WorkerIndex index);
  void complete(TaskIndex task);
  bool is_over(const Frame& frame) const;
  void tell_runner(TaskIndex task);
  bool descends(TaskIndex task, TaskIndex ancestor) const;
  bool may_run(const Worker& worker, TaskIndex task) const {
    return worker.frames.empty() || descends(task, worker.frames.back().task);
  }
  Time cost(Time exact) {
    return deterministic_ || exact == 0 ? exact : exact * (922 + random_.next() % 205) / 1024;
  }
  void go_on(WorkerIndex index, Time after, Next next) {
    workers_[index].next = next;
    timers_.set(index, turns_.on() ? kNever : now_ + after);
    if (turns_.on()) turns_.set(index, now_, after);
  }
  void move_task_data(WorkerIndex index, TaskIndex task, bool created);

  // scheduling.cpp
  bool alone() const { return workers_.size() == 1; }
  bool alone_at_location(const Worker& worker) const {
    return workers_at_[static_cast<std::size_t>(worker.location)] == 1;
  }
  bool may_deal(TaskIndex task) const {
    return by_location_ && !alone() && (flags_[task] & kFootprint) != 0;
  }
  policy::LoadView load_for(const Worker& worker);
  void weigh_locations(std::uint64_t task_time, bool created);
  policy::Account& account_of(TaskIndex task) { return accounts_[workload_.tasks[task].kind]; }
  Asking asking(Worker& worker, TaskIndex task, bool wanted);
  Asking asks_created(Worker& worker, TaskIndex task);
  bool asks_released(Worker& worker, TaskIndex task);
  void note_time(const Frame& frame, const Worker& worker);
  Location deal(WorkerIndex index, TaskIndex task, bool created);
  placement::Need need_of(TaskIndex task);
  bool put_in_inbox(TaskIndex task, Location where, bool created);
  /// The task is ready, and is dealt if the policy wants so. `created`: by its maker, and not by one that it
  /// has waited for.
  bool deal_away(WorkerIndex index, TaskIndex task, bool created);
  void enqueue(WorkerIndex index, TaskIndex task);
  void count_queued();
  void note_dealing(Worker& worker);
  void end_dealing(Worker& worker);
  void look(WorkerIndex index);
  Found find(WorkerIndex index);
  Found steal_anywhere(WorkerIndex index);
  Found steal_at(WorkerIndex index, Location where);
  Found take_dealt(WorkerIndex index, Location where);
  Found find_by_distance(WorkerIndex index);
  Found stolen(WorkerIndex thief, TaskIndex task, Location victim);
  policy::DealingNow dealing_now() const;
  policy::LocationNow location_now(Location where) const;
  std::uint64_t task_time(Location where) const;
  void park(WorkerIndex index);
  void unpark(WorkerIndex index);
  void arm(WorkerIndex index);
  void wake(WorkerIndex index);
  bool wake_one(const std::vector<WorkerIndex>& parked, TaskIndex task);
  /// True: the worker has taken a task of its location.
  bool help_own_location(WorkerIndex index, bool fed);
  TaskIndex take_from_inbox(Location where, std::size_t i);
  std::vector<WorkerIndex>& parked_near(const Worker& worker) {
    return by_location_ ? places_[static_cast<std::size_t>(worker.location)].parked : everybody_parked_;
  }
  /// At the end of a region the initial thread is one among the others, who may run whatever there is.
  static bool in_barrier(const Worker& worker) {
    const Frame& frame = worker.frames.back();
    return frame.task == 0 && frame.wait == Wait::descendants;
  }
  /// A task has been put in its own queue.
  void wake_for_local(const Worker& worker, TaskIndex task);
  bool looks_again(const Worker& worker) const { return by_location_ || !worker.frames.empty(); }

  /// The time of policies.
  static std::uint64_t ns(Time time) { return time / 1000; }

  const Workload& workload_;
  const RunOptions& options_;
  const policy::TaskPolicy& policy_;
  const bool deterministic_;
  struct Tables : policy::MachineTables {
    Tables(const topology::Machine& machine, const RunOptions& options);
  };
  const Tables tables_;
  const policy::MachineView& view_ = tables_.view;
  std::vector<Seat> seats_;
  std::vector<Location> worker_locations_;
  std::vector<std::uint32_t> workers_at_;
  bool by_location_ = false;  // tasks are dealt
  bool one_queue_ = false;
  bool weighs_load_ = false, shares_own_queues_ = false;
  std::vector<policy::Account> accounts_;  // by task construct, where load is weighed
  std::uint64_t wait_[placement::kMaxLocations] = {};  // LoadView's
  std::uint64_t guest_wait_[placement::kMaxLocations] = {};
  PageMap pages_;
  Fluid fluid_;
  MemoryModel memory_;
  Random random_;
  Timers timers_;
  Turns turns_;  // where the machine has them, nothing runs in `fluid_`, and timers tell when to look again
  Time now_ = 0;

  std::uint64_t create_bytes_, run_bytes_, deal_create_bytes_, deal_run_bytes_;
  Time create_, item_, deal_, take_, steal_, steal_hop_, wake_, move_thread_, first_pause_, longest_pause_;

  std::vector<Worker> workers_;
  std::vector<WorkerIndex> of_activity_;
  std::vector<Place> places_;
  std::vector<Inbox> inboxes_;
  Ring<TaskIndex> shared_;  // the one queue
  std::vector<WorkerIndex> everybody_parked_;
  std::vector<WorkerIndex> parked_anywhere_;  // for a moment
  std::size_t queued_ = 0;   // tasks in deques, inboxes and the one queue
  std::uint32_t dealt_ = 0;  // of those, in inboxes
  std::uint32_t dealt_ever_ = 0;
  std::int64_t dealt_now_ = 0;  // to all inboxes, in this dealing and in the one before
  std::int64_t dealt_before_ = 0;
  bool released_ = false;  // tasks that creators did not deal were, in this dealing
  std::uint32_t dealers_ = 0;
  std::uint64_t staffed_ = 0;
  std::uint32_t dormant_ = 0;
  std::uint32_t implicit_left_ = 0;  // of the workload's producers

  // By task.
  std::vector<TaskIndex> parent_;
  std::vector<std::uint32_t> pending_;     // predecessors that have not ended
  std::vector<std::uint32_t> unfinished_;  // children
  std::vector<std::uint32_t> incomplete_;  // children of which some descendant, or they themselves, run yet
  std::vector<std::uint16_t> flags_;
  struct Foretold {
    Location home = policy::kHere;  // of tasks that were asked about
    std::uint64_t stake = 0;
  };
  std::vector<Foretold> foretold_;  // where load is weighed
  std::vector<std::uint16_t> runner_;  // the worker whose frame it is
  // Successors of task t: successor_[first_successor_[t]] and on; empty if nobody has any.
  std::vector<std::uint32_t> first_successor_;
  std::vector<TaskIndex> successor_;

  Result result_;
};

}  // namespace hearth::sim
