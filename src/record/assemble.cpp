// From records to a Recording. Each thread's file is read once, from its beginning: what a thread runs is
// known from its own records, and what it says of other threads' tasks is their numbers. Then tasks are put
// into the order of their paths, and dependences into edges (order.cpp).
//
// While a process is read, times are the clock's ticks; convert_times() makes nanoseconds of them.
#include <algorithm>
#include <ctime>
#include <fstream>

#include "base/clock.h"
#include "base/cpu.h"
#include "record/order.h"
#include "record/recording.h"

namespace hearth::record {
namespace {

// ompt_task_flag_t and ompt_task_status_t, whose numbers are those of the standard.
constexpr std::uint32_t kFlagInitial = 1, kFlagTarget = 8, kFlagTaskwait = 0x10;
constexpr std::uint32_t kComplete = 1, kCancelled = 3, kEarlyFulfil = 5, kLateFulfil = 6,
                        kTaskwaitComplete = 8;
// ompt_work_t, ompt_dispatch_t, ompt_parallel_flag_t
constexpr std::uint32_t kWorkSections = 2, kWorkSingleExecutor = 3, kWorkTaskloop = 7;
constexpr std::uint32_t kDispatchSection = 2, kDispatchTaskloop = 4;
// ompt_sync_region_t: the barriers that end a region, and what is no barrier
constexpr std::uint32_t kBarrierImplicit = 2, kBarrierImplicitParallel = 9, kTaskwaitRegion = 5,
                        kTaskgroup = 6;

/// What a task's thread is doing in it, and where it stands in its region.
struct Scratch {
  Index open_wait = kNone;
  bool creating = false;
  std::uint32_t constructs = 0;  // worksharing constructs it has met
  Slot slot;
  Index open_loop = kNone;
  Index open_chunk = kNone;
  std::uint64_t single_began = 0;  // the number of the record
};

/// The indices of what the threads of a process have numbered.
class Numbers {
 public:
  /// `room`: more numbers than a file of that size can name are nonsense.
  void add_thread(std::uint32_t thread, std::uint64_t room) {
    if (thread >= of_thread_.size()) of_thread_.resize(thread + 1);
    of_thread_[thread].room = room;
  }
  /// Null for a number that cannot be.
  Index* find(std::uint64_t id) {
    const std::uint64_t thread = (id >> kNumberBits) - 1;
    const std::uint64_t number = id & ((std::uint64_t{1} << kNumberBits) - 1);
    if (thread >= of_thread_.size() || number > of_thread_[thread].room) return nullptr;
    auto& indices = of_thread_[thread].indices;
    if (number >= indices.size())
      indices.resize(std::max<std::size_t>(number + 1, indices.size() * 3 / 2), kNone);
    return &indices[number];
  }

 private:
  struct OfThread {
    std::uint64_t room = 0;
    std::vector<Index> indices;
  };
  std::vector<OfThread> of_thread_;
};

class ProcessAssembly {
 public:
  ProcessAssembly(Recording& out, Index process)
      : out_(out), process_(process), first_task_(out.tasks.size()) {
    codes_.reserve(64);
  }

  Numbers numbers;

  // ---- tasks and regions by number

  Index task(std::uint64_t id) {
    Index* index = id == 0 ? nullptr : numbers.find(id);
    if (index == nullptr) {
      if (id != 0) ++strange_;
      return kNone;
    }
    if (*index == kNone) {
      *index = static_cast<Index>(out_.tasks.size());
      out_.tasks.emplace_back();
      out_.tasks.back().process = process_;
      scratch_.emplace_back();
    }
    return *index;
  }

  Index region(std::uint64_t id) {
    Index* index = id == 0 ? nullptr : numbers.find(id);
    if (index == nullptr) return kNone;
    if (*index == kNone) {
      *index = static_cast<Index>(out_.regions.size());
      out_.regions.emplace_back();
      out_.regions.back().process = process_;
    }
    return *index < out_.regions.size() ? *index : kNone;
  }

  Index code(std::uint64_t address) {
    if (address == 0) return kNone;
    for (const auto& [known, index] : codes_)  // few, and mostly the last ones
      if (known == address) return index;
    Code code;
    code.process = process_;
    code.address = address;
    for (const Module& module : out_.processes[process_].text.modules)
      if (address >= module.begin && address < module.end) {
        code.module = module.path;
        code.offset = address - module.base;
      }
    const auto index = static_cast<Index>(out_.codes.size());
    out_.codes.push_back(std::move(code));
    codes_.emplace_back(address, index);
    return index;
  }

  Scratch& scratch(Index task) { return scratch_[task - first_task_]; }
  Task& at(Index task) { return out_.tasks[task]; }
  bool is_task(Index index) const {
    return index != kNone && index >= first_task_ && index < out_.tasks.size();
  }

  Recording& out() { return out_; }
  Index process() const { return process_; }
  std::uint64_t strange() const { return strange_; }
  void is_strange() { ++strange_; }
  std::size_t first_task() const { return first_task_; }

 private:
  Recording& out_;
  Index process_;
  std::size_t first_task_;
  std::vector<Scratch> scratch_;
  std::vector<std::pair<std::uint64_t, Index>> codes_;
  std::uint64_t strange_ = 0;
};

/// A thread's records, in their order.
class ThreadAssembly {
 public:
  ThreadAssembly(ProcessAssembly& all, Index thread) : all_(all), thread_(thread) {}

  void take(const Record& record) {
    const std::uint64_t* const w = record.words;
    const auto now = static_cast<Nanoseconds>(record.ticks);
    ++all_.out().records;
    ++number_;
    last_ = now;
    if (me().begin == kNever) me().begin = now;
    switch (record.kind) {
      case Kind::thread_begin:
        me().type = static_cast<std::uint32_t>(w[0]);
        me().kernel_id = w[1];
        break;
      case Kind::thread_end: me().ended = true; break;
      case Kind::task_create: create(now, w[0], w[1], code_in(w[2]), unpack_flags(code_note_in(w[2]))); break;
      case Kind::task_created: created(now); break;
      case Kind::task_switch:
        switch_to(now, id_in(w[0]), id_in(w[1]), status_of(note_in(w[0])),
                  cpu_of(note_in(w[0]), note_in(w[1])));
        break;
      case Kind::dependences: dependences(record); break;
      case Kind::footprint: footprint(record); break;
      case Kind::implicit_begin: implicit_begin(now, w); break;
      case Kind::implicit_end: implicit_end(now, w[0]); break;
      case Kind::region_begin: region_begin(now, w); break;
      case Kind::region_end: region_end(now, w[0]); break;
      case Kind::wait_begin: wait_begin(now, w); break;
      case Kind::wait_end: wait_end(now, w[0]); break;
      case Kind::work_begin: work_begin(now, w); break;
      case Kind::work_end: work_end(now, w[0]); break;
      case Kind::chunk: chunk(now, w); break;
      case Kind::lock_wait: lock_wait(now, w); break;
      case Kind::counters: counters(w); break;
      case Kind::forked: ++all_.out().processes[all_.process()].forks; break;
      case Kind::stopped:
      case Kind::none: break;
    }
  }

  void finish() {
    leave(last_);
    me().end = last_;
  }

 private:
  Thread& me() { return all_.out().threads[thread_]; }

  // ---- whose time it is

  /// The time since the last look belongs to what the current task was doing.
  void account(Nanoseconds now) {
    if (current_ != kNone) {
      const Nanoseconds passed = now - accounted_;
      Task& task = all_.at(current_);
      const Scratch& scratch = all_.scratch(current_);
      if (scratch.open_wait != kNone) {
        task.waited += passed;
        all_.out().waits[scratch.open_wait].idle += passed;
      } else if (scratch.creating) {
        task.creating += passed;
      } else {
        task.work += passed;
      }
    }
    accounted_ = now;
  }

  void leave(Nanoseconds now) {
    account(now);
    if (current_ != kNone) all_.out().spans.push_back({current_, thread_, cpu_, span_begin_, now});
    current_ = kNone;
  }

  void enter(Nanoseconds now, Index task, std::uint32_t cpu) {
    leave(now);
    current_ = task;
    span_begin_ = now;
    cpu_ = cpu;
    if (task == kNone) return;
    Task& it = all_.at(task);
    if (it.begin != kNever) return;
    it.begin = now;
    it.thread = thread_;
    it.cpu = cpu;
  }

  // ---- tasks

  void create(Nanoseconds now, std::uint64_t parent, std::uint64_t id, std::uint64_t code,
              std::uint32_t flags) {
    account(now);
    const Index creator = all_.task(parent);
    const Index task = all_.task(id);
    if (task == kNone || task == creator || !all_.is_task(task)) return;
    Task& it = all_.at(task);
    if (it.created != kNever) return all_.is_strange();
    it.created = now;
    it.creator = thread_;
    last_made_ = task;
    it.parent = creator;
    it.flags = flags;
    it.kind = (flags & kFlagTarget) != 0     ? Task::Kind::target
              : (flags & kFlagTaskwait) != 0 ? Task::Kind::taskwait
                                             : Task::Kind::explicit_;
    it.code = all_.code(code);
    if (!all_.is_task(creator)) return;
    it.region = all_.at(creator).region;
    it.slot = all_.scratch(creator).slot;
    if (creator == current_ && all_.out().processes[all_.process()].creations)
      all_.scratch(creator).creating = true;
  }

  void created(Nanoseconds now) {
    account(now);
    if (current_ != kNone) all_.scratch(current_).creating = false;
    if (all_.is_task(last_made_)) all_.at(last_made_).creation = now - all_.at(last_made_).created;
    last_made_ = kNone;
  }

  void switch_to(Nanoseconds now, std::uint64_t prior, std::uint64_t next, std::uint32_t status,
                 std::uint32_t cpu) {
    const Index from = all_.task(prior);
    const Index to = all_.task(next);
    if (status == kComplete || status == kCancelled || status == kLateFulfil || status == kTaskwaitComplete) {
      if (all_.is_task(from)) {
        all_.at(from).end = now;
        all_.at(from).status = status;
        if (status == kTaskwaitComplete && all_.at(from).begin == kNever)
          all_.at(from).begin = all_.at(from).created;
      }
    }
    // What only completes, or is promised to, does not change what the thread runs.
    if (next == 0 || status == kEarlyFulfil || status == kLateFulfil) return;
    if (current_ != kNone) {
      account(now);
      all_.scratch(current_).creating = false;
    }
    enter(now, all_.is_task(to) ? to : kNone, cpu);
  }

  void dependences(const Record& record) {
    const Index task = all_.task(record.words[0]);
    if (!all_.is_task(task)) return;
    for (std::size_t i = 0; i < record.items; ++i)
      all_.out().dependences.push_back(
          {task, static_cast<std::uint32_t>(record.words[2 + 2 * i]), record.words[1 + 2 * i]});
  }

  void footprint(const Record& record) {
    const Index task = all_.task(record.words[0]);
    if (!all_.is_task(task)) return;
    for (std::size_t i = 0; i < record.items; ++i) {
      const std::uint64_t* const w = record.words + 1 + 5 * i;
      all_.out().ranges.push_back({task, static_cast<std::uint32_t>(w[4]), w[0], w[1], w[2], w[3]});
    }
  }

  // ---- regions

  void implicit_begin(Nanoseconds now, const std::uint64_t* w) {
    const Index task = all_.task(w[1]);
    if (!all_.is_task(task) || all_.at(task).begin != kNever) return all_.is_strange();
    const Index region = w[0] == 0 ? kNone : all_.region(w[0]);
    Task& it = all_.at(task);
    it.flags = static_cast<std::uint32_t>(w[3]);
    it.kind = (it.flags & kFlagInitial) != 0 ? Task::Kind::initial : Task::Kind::implicit;
    it.nth = static_cast<std::uint32_t>(w[2] >> 32);
    it.region = region;
    if (region != kNone) {
      all_.out().regions[region].team = static_cast<std::uint32_t>(w[2]);
      it.code = all_.out().regions[region].code;
    } else {
      it.nth = all_.out().threads[thread_].number;  // the initial tasks of the program's own threads
    }
    outer_.push_back(current_);
    enter(now, task, static_cast<std::uint32_t>(w[3] >> 32));
  }

  void implicit_end(Nanoseconds now, std::uint64_t id) {
    const Index task = all_.task(id);
    if (all_.is_task(task) && all_.at(task).end == kNever) {
      all_.at(task).end = now;
      all_.at(task).status = kComplete;
      end_loop(now, all_.scratch(task));
    }
    const Index before = outer_.empty() ? kNone : outer_.back();
    if (!outer_.empty()) outer_.pop_back();
    enter(now, before, cpu_);
  }

  void region_begin(Nanoseconds now, const std::uint64_t* w) {
    const Index parent = all_.task(w[0]);
    const Index region = all_.region(w[1]);
    if (region == kNone) return;
    Region& it = all_.out().regions[region];
    if (it.begin != kNever) return all_.is_strange();
    it.begin = now;
    it.parent = all_.is_task(parent) ? parent : kNone;
    it.requested = static_cast<std::uint32_t>(w[2]);
    it.flags = static_cast<std::uint32_t>(w[2] >> 32);
    it.code = all_.code(w[3]);
    if (it.parent != kNone) it.slot = all_.scratch(parent).slot;
  }

  void region_end(Nanoseconds now, std::uint64_t id) {
    const Index region = all_.region(id);
    if (region != kNone) all_.out().regions[region].end = now;
  }

  // ---- waiting

  void wait_begin(Nanoseconds now, const std::uint64_t* w) {
    account(now);
    const Index task = all_.task(w[0]);
    if (!all_.is_task(task)) return;
    end_wait(now, all_.scratch(task));
    const std::uint32_t kind = code_note_in(w[1]);
    if (kind != kTaskwaitRegion && kind != kTaskgroup && all_.scratch(task).open_loop == kNone)
      all_.scratch(task).slot = Slot();
    Wait wait;
    wait.task = task;
    wait.thread = thread_;
    wait.kind = kind;
    wait.code = all_.code(code_in(w[1]));
    wait.begin = wait.end = now;
    all_.scratch(task).open_wait = static_cast<Index>(all_.out().waits.size());
    all_.out().waits.push_back(wait);
  }

  void wait_end(Nanoseconds now, std::uint64_t id) {
    account(now);
    const Index task = all_.task(id);
    if (all_.is_task(task)) end_wait(now, all_.scratch(task));
  }

  void end_wait(Nanoseconds now, Scratch& scratch) {
    if (scratch.open_wait == kNone) return;
    all_.out().waits[scratch.open_wait].end = now;
    scratch.open_wait = kNone;
  }

  void lock_wait(Nanoseconds now, const std::uint64_t* w) {
    Wait wait;
    wait.on = Wait::On::lock;
    wait.task = current_;
    wait.thread = thread_;
    wait.kind = code_note_in(w[1]);
    wait.code = all_.code(code_in(w[1]));
    wait.begin = static_cast<Nanoseconds>(w[2]);
    wait.end = now;
    account(now);
    if (wait.begin > now || wait.begin < me().begin) return all_.is_strange();
    wait.idle = now - wait.begin;
    if (current_ != kNone && all_.scratch(current_).open_wait == kNone) {
      // It was taken for work.
      Task& task = all_.at(current_);
      const Nanoseconds moved = std::min(wait.idle, task.work);
      task.work -= moved;
      task.waited += moved;
    }
    all_.out().waits.push_back(wait);
  }

  // ---- worksharing

  void end_chunk(Nanoseconds now, Scratch& scratch) {
    if (scratch.open_chunk != kNone) all_.out().chunks[scratch.open_chunk].end = now;
    scratch.open_chunk = kNone;
  }
  void end_loop(Nanoseconds now, Scratch& scratch) {
    end_chunk(now, scratch);
    if (scratch.open_loop != kNone) all_.out().loops[scratch.open_loop].end = now;
    scratch.open_loop = kNone;
    // gcc's programs do not say where a single ends, and its end is told at once: what comes up to the next
    // barrier or construct is taken to belong to it.
    if (scratch.single_began == 0 || scratch.single_began + 1 != number_) scratch.slot = Slot();
    scratch.single_began = 0;
  }

  void work_begin(Nanoseconds now, const std::uint64_t* w) {
    const Index task = all_.task(w[0]);
    if (!all_.is_task(task)) return;
    Scratch& scratch = all_.scratch(task);
    Loop loop;
    loop.task = task;
    loop.thread = thread_;
    loop.kind = code_note_in(w[1]);
    loop.iterations = w[2];
    loop.code = all_.code(code_in(w[1]));
    loop.begin = now;
    if (loop.kind != kWorkTaskloop) {
      end_loop(now, scratch);
      scratch.slot = Slot();
      loop.construct = scratch.constructs++;
      scratch.open_loop = static_cast<Index>(all_.out().loops.size());
      if (loop.kind == kWorkSingleExecutor) {
        scratch.slot = {Slot::Kind::single, loop.construct, 0};
        scratch.single_began = number_;
      }
    } else {
      loop.end = now;
    }
    all_.out().loops.push_back(loop);
  }

  void work_end(Nanoseconds now, std::uint64_t id) {
    const Index task = all_.task(id);
    if (all_.is_task(task)) end_loop(now, all_.scratch(task));
  }

  void chunk(Nanoseconds now, const std::uint64_t* w) {
    const Index task = all_.task(id_in(w[0]));
    const unsigned kind = note_in(w[0]);
    if (!all_.is_task(task)) return;
    Scratch& scratch = all_.scratch(task);
    end_chunk(now, scratch);
    const bool section = kind == kDispatchSection;
    if (kind != kDispatchTaskloop && scratch.open_loop != kNone) {
      // Addresses differ from run to run, offsets do not.
      const Index code = section ? all_.code(w[1]) : kNone;
      scratch.slot = {section ? Slot::Kind::section : Slot::Kind::loop,
                      all_.out().loops[scratch.open_loop].construct,
                      section && code != kNone ? all_.out().codes[code].offset : w[1]};
    }
    scratch.open_chunk = static_cast<Index>(all_.out().chunks.size());
    all_.out().chunks.push_back({task, thread_, scratch.open_loop, section ? 0 : w[1], w[2], now, kNever});
    if (kind == kDispatchTaskloop) {
      all_.out().chunks.back().end = now;  // as long as its task
      scratch.open_chunk = kNone;
    }
  }

  void counters(const std::uint64_t* w) {
    Task* task = current_ == kNone || !counted_ ? nullptr : &all_.at(current_);
    for (int i = 0; i < 3; ++i) {
      if (task != nullptr && w[i] >= counters_[i]) task->counters[i] += w[i] - counters_[i];
      counters_[i] = w[i];
    }
    if (task != nullptr) task->counted = true;
    counted_ = true;
  }

  ProcessAssembly& all_;
  Index thread_;
  std::uint64_t number_ = 0;  // of the present record, from 1
  Index current_ = kNone;
  Index last_made_ = kNone;
  std::uint32_t cpu_ = UINT32_MAX;
  Nanoseconds span_begin_ = 0, accounted_ = 0, last_ = 0;
  std::vector<Index> outer_;  // what the thread ran as each of its implicit tasks began
  bool counted_ = false;
  std::uint64_t counters_[3] = {};
};

// ---- the clock

struct Clock {
  double rate = 1;  // nanoseconds a tick
  std::uint64_t ticks = 0, nanoseconds = 0;
};

/// How long a tick is on this machine.
double measure_rate() {
  const auto now = [] {
    timespec t{};
    clock_gettime(CLOCK_MONOTONIC, &t);
    return ClockPair{
        ticks(), static_cast<std::uint64_t>(t.tv_sec) * 1000000000u + static_cast<std::uint64_t>(t.tv_nsec)};
  };
  const ClockPair first = now();
  ClockPair last = first;
  while (last.nanoseconds - first.nanoseconds < 20000000) last = now();
  return static_cast<double>(last.nanoseconds - first.nanoseconds) /
         static_cast<double>(last.ticks - first.ticks);
}

Clock calibrate(const std::vector<ClockPair>& pairs, const std::string& name,
                std::vector<Problem>& problems) {
  constexpr std::uint64_t kShort = 5000000;  // the two clocks are read some 100 ns apart
  Clock clock;
  if (pairs.empty()) return clock;
  const auto by_ticks = [](const ClockPair& a, const ClockPair& b) { return a.ticks < b.ticks; };
  const auto [first, last] = std::minmax_element(pairs.begin(), pairs.end(), by_ticks);
  clock.ticks = first->ticks;
  clock.nanoseconds = first->nanoseconds;
  if (last->nanoseconds > first->nanoseconds + kShort) {
    clock.rate = static_cast<double>(last->nanoseconds - first->nanoseconds) /
                 static_cast<double>(last->ticks - first->ticks);
    if (clock.rate > 0.01 && clock.rate < 100) return clock;
    problems.push_back(
        {name, "the clock's readings contradict each other; its rate is taken from this machine"});
  }
  static const double rate_here = measure_rate();
  clock.rate = rate_here;
  return clock;
}

/// What was appended to the recording since `from`.
struct Marks {
  std::size_t threads, tasks, regions, spans, waits, loops, chunks;
};
Marks mark(const Recording& r) {
  return {r.threads.size(), r.tasks.size(), r.regions.size(), r.spans.size(),
          r.waits.size(),   r.loops.size(), r.chunks.size()};
}

void convert_times(Recording& out, const Marks& from, const Clock& clock) {
  const auto length = [&](Nanoseconds& t) {
    t = static_cast<Nanoseconds>(static_cast<double>(t) * clock.rate + 0.5);
  };
  const auto point = [&](Nanoseconds& t) {
    if (t == kNever) return;
    const double since = static_cast<double>(t - static_cast<Nanoseconds>(clock.ticks)) * clock.rate;
    t = static_cast<Nanoseconds>(clock.nanoseconds) + static_cast<Nanoseconds>(since);
  };
  const auto both = [&](auto& all, std::size_t first) {
    for (std::size_t i = first; i < all.size(); ++i) {
      point(all[i].begin);
      point(all[i].end);
    }
  };
  both(out.threads, from.threads);
  both(out.tasks, from.tasks);
  both(out.regions, from.regions);
  both(out.spans, from.spans);
  both(out.waits, from.waits);
  both(out.loops, from.loops);
  both(out.chunks, from.chunks);
  for (std::size_t i = from.waits; i < out.waits.size(); ++i) length(out.waits[i].idle);
  for (std::size_t i = from.tasks; i < out.tasks.size(); ++i) {
    Task& task = out.tasks[i];
    point(task.created);
    if (task.creation != kNever) length(task.creation);
    length(task.work);
    length(task.waited);
    length(task.creating);
  }
}

/// A worker leaves the barrier that ends a region when it is needed again: what is beyond the region's end is
/// no waiting of the region's.
void cut_at_regions_end(Recording& out, const Marks& from) {
  const auto end_of = [&](Index index) {
    const Task& task = out.tasks[index];
    if (task.kind != Task::Kind::implicit || task.region == kNone || task.nth == 0) return INT64_MAX;
    const Nanoseconds end = out.regions[task.region].end;
    return end == kNever ? INT64_MAX : end;
  };
  for (std::size_t i = from.waits; i < out.waits.size(); ++i) {
    Wait& wait = out.waits[i];
    if (wait.on != Wait::On::region ||
        (wait.kind != kBarrierImplicitParallel && wait.kind != kBarrierImplicit))
      continue;
    const Nanoseconds end = end_of(wait.task);
    if (wait.end <= end) continue;
    const Nanoseconds cut = std::min(wait.idle, wait.end - std::max(end, wait.begin));
    wait.end = std::max(end, wait.begin);
    wait.idle -= cut;
    Task& task = out.tasks[wait.task];
    task.waited -= std::min(cut, task.waited);
  }
  for (std::size_t i = from.spans; i < out.spans.size(); ++i) {
    Span& span = out.spans[i];
    span.end = std::max(span.begin, std::min(span.end, end_of(span.task)));
  }
  for (std::size_t i = from.tasks; i < out.tasks.size(); ++i) {
    Task& task = out.tasks[i];
    if (task.end != kNever)
      task.end = std::max(task.begin, std::min(task.end, end_of(static_cast<Index>(i))));
  }
}

// ---- processes

class FolderAssembly {
 public:
  FolderAssembly(const std::filesystem::path& folder,
                 const std::function<void(std::uint64_t, std::uint64_t)>& progress)
      : progress_(progress), files_(find_processes(folder, out_.problems)) {}

  Recording run() {
    for (const ProcessFiles& files : files_)
      for (const auto& spill : files.spills) all_ += size_of(spill.second);
    struct Opened {
      const ProcessFiles* files;
      Process process;
    };
    std::vector<Opened> opened;
    for (const ProcessFiles& files : files_) {
      Opened one{&files, {}};
      one.process.name =
          files.text.empty() ? files.spills.front().second.filename().string() : files.text.stem().string();
      if (files.text.empty()) {
        problem(
            one.process.name,
            "the process's text file is missing: code has no names, and the clock's rate is this machine's");
      } else {
        std::ifstream in(files.text);
        if (!in) problem(files.text.string(), "cannot be opened");
        one.process.text = read_process(in, files.text.filename().string(), out_.problems);
      }
      const auto told = [&](const char* what) {
        const auto& untold = one.process.text.untold;
        return !files.text.empty() && std::find(untold.begin(), untold.end(), what) == untold.end();
      };
      one.process.footprints = told("footprint");
      one.process.creations = told("task_created");
      opened.push_back(std::move(one));
    }
    // In the order of their starts, which is more or less the same in each run; numbers of processes are not.
    std::stable_sort(opened.begin(), opened.end(), [](const Opened& a, const Opened& b) {
      const auto start = [](const Opened& o) {
        return o.process.text.clock.empty() ? 0 : o.process.text.clock.front().nanoseconds;
      };
      return start(a) < start(b);
    });
    for (Opened& one : opened) {
      out_.processes.push_back(std::move(one.process));
      read(*one.files);
    }
    start_at_zero();
    order(out_);
    return std::move(out_);
  }

 private:
  static std::uint64_t size_of(const std::filesystem::path& path) {
    std::error_code error;
    const auto size = std::filesystem::file_size(path, error);
    return error ? 0 : size;
  }

  void problem(const std::string& where, const std::string& what) { out_.problems.push_back({where, what}); }

  void read(const ProcessFiles& files) {
    const auto process = static_cast<Index>(out_.processes.size() - 1);
    ProcessAssembly assembly(out_, process);
    for (const auto& [thread, path] : files.spills)
      if (thread < kMostThreads) assembly.numbers.add_thread(thread, size_of(path) / sizeof(std::uint64_t));
    const Marks from = mark(out_);
    std::vector<ClockPair> clock = out_.processes[process].text.clock;
    for (const auto& [thread, path] : files.spills) {
      if (thread >= kMostThreads) {
        problem(path.filename().string(), "no process has so many threads; it is left out");
        continue;
      }
      read(assembly, thread, path, clock);
    }
    check_threads(files);
    if (assembly.strange() != 0)
      problem(out_.processes[process].name,
              std::to_string(assembly.strange()) + " records contradict others or name tasks that cannot be");
    const Clock rate = calibrate(clock, out_.processes[process].name, out_.problems);
    if (process == 0) out_.ticks_per_ns = 1 / rate.rate;
    convert_times(out_, from, rate);
    cut_at_regions_end(out_, from);
  }

  void read(ProcessAssembly& assembly, std::uint32_t thread, const std::filesystem::path& path,
            std::vector<ClockPair>& clock) {
    const std::string name = path.filename().string();
    const auto index = static_cast<Index>(out_.threads.size());
    Thread& it = out_.threads.emplace_back();
    it.process = assembly.process();
    it.number = thread;
    ThreadAssembly reading(assembly, index);
    std::ifstream in(path, std::ios::binary);
    if (!in) return problem(name, "cannot be opened");
    std::uint64_t since = 0;
    const SpillSummary summary = read_spill(
        in, name,
        [&](const Record& record) {
          reading.take(record);
          if (++since % 65536 == 0)
            progress_(done_ + static_cast<std::uint64_t>(std::max<std::streamoff>(in.tellg(), 0)), all_);
        },
        out_.problems);
    reading.finish();
    done_ += size_of(path);
    progress_(done_, all_);
    clock.insert(clock.end(), summary.clock.begin(), summary.clock.end());
    for (const auto& [ended, blocks] : out_.processes[assembly.process()].text.threads)
      if (ended == thread && blocks > summary.blocks + summary.damaged_blocks)
        problem(name, "of " + std::to_string(blocks) + " blocks " +
                          std::to_string(blocks - summary.blocks - summary.damaged_blocks) +
                          " are missing at the end");
    if (summary.stopped) problem(name, "recording was stopped within the run");
    if (!summary.ended && !summary.stopped && !summary.cut)
      problem(name, "the thread's end is missing: the program was killed, or ended without its runtime");
  }

  void check_threads(const ProcessFiles& files) {
    const Process& process = out_.processes.back();
    for (const auto& ended : process.text.threads) {
      const bool there = std::any_of(files.spills.begin(), files.spills.end(),
                                     [&](const auto& spill) { return spill.first == ended.first; });
      if (!there) problem(process.name, "the file of thread " + std::to_string(ended.first) + " is missing");
    }
    if (!process.text.stopped.empty()) problem(process.name, "recording stopped: " + process.text.stopped);
    if (!process.text.counters_refused.empty())
      problem(process.name, "no hardware counters: " + process.text.counters_refused);
    if (process.forks != 0)
      problem(process.name, std::to_string(process.forks) + " children by fork() are not recorded");
    if (!process.text.ended && !files.text.empty() && process.text.stopped.empty())
      problem(process.name, "the process's end is missing: it was killed, or has not ended yet");
  }

  void start_at_zero() {
    Nanoseconds start = INT64_MAX;
    for (const Process& process : out_.processes)
      if (!process.text.clock.empty()) {
        const auto first = static_cast<Nanoseconds>(process.text.clock.front().nanoseconds);
        if (first >= start) continue;
        start = first;
        out_.realtime = process.text.realtime;
      }
    if (start == INT64_MAX)
      for (const Thread& thread : out_.threads)
        if (thread.begin != kNever) start = std::min(start, thread.begin);
    const auto shift = [start](Nanoseconds& t) {
      if (t != kNever) t -= start;
    };
    const auto both = [&](auto& all) {
      for (auto& one : all) {
        shift(one.begin);
        shift(one.end);
      }
    };
    both(out_.threads);
    both(out_.tasks);
    both(out_.regions);
    both(out_.spans);
    both(out_.waits);
    both(out_.loops);
    both(out_.chunks);
    for (Task& task : out_.tasks) shift(task.created);
  }

  Recording out_;
  const std::function<void(std::uint64_t, std::uint64_t)>& progress_;
  std::vector<ProcessFiles> files_;
  std::uint64_t done_ = 0, all_ = 0;
};

}  // namespace

Recording assemble(const std::filesystem::path& folder,
                   const std::function<void(std::uint64_t, std::uint64_t)>& progress) {
  return FolderAssembly(folder, progress).run();
}

}  // namespace hearth::record
