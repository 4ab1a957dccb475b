// See thread_assembly.h.
#include "record/thread_assembly.h"

#include <algorithm>

namespace hearth::record {
namespace {

// ompt_task_flag_t and ompt_task_status_t, whose numbers are those of the standard.
constexpr std::uint32_t kFlagInitial = 1, kFlagTarget = 8, kFlagTaskwait = 0x10;
constexpr std::uint32_t kComplete = 1, kCancelled = 3, kEarlyFulfil = 5, kLateFulfil = 6,
                        kTaskwaitComplete = 8;
// ompt_work_t, ompt_dispatch_t, ompt_parallel_flag_t
constexpr std::uint32_t kWorkSections = 2, kWorkSingleExecutor = 3, kWorkTaskloop = 7;
constexpr std::uint32_t kDispatchSection = 2, kDispatchTaskloop = 4;
// ompt_sync_region_t: what is no barrier
constexpr std::uint32_t kTaskwaitRegion = 5, kTaskgroup = 6;

/// What it usually takes to make a task in one place of the code: the middle one of the last three times.
class UsualTime {
 public:
  void add(Index code, Nanoseconds time) {
    if (code != code_) next_ = 0;
    code_ = code;
    times_[next_++ % 3] = time;
    if (next_ < 3) times_[2] = times_[1] = time;
  }
  Nanoseconds median() const {
    return std::max(std::min(times_[0], times_[1]), std::min(std::max(times_[0], times_[1]), times_[2]));
  }

 private:
  Nanoseconds times_[3] = {};
  Index code_ = kNone;
  unsigned next_ = 0;
};

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
      case Kind::allocation: allocation(w); break;
      case Kind::moved: moved(now, w); break;
      case Kind::place: place_ = static_cast<std::int32_t>(std::min<std::uint64_t>(w[0], kMostPlaces)) - 1; break;
      case Kind::decision: decision(now, record); break;
      case Kind::freed: all_.freed(w[0], static_cast<Nanoseconds>(w[1])); break;
      case Kind::home: home(now, w); break;
      case Kind::block: block(w); break;
      case Kind::touched: touched(now, record); break;
      case Kind::create_again:  // the reader gives long forms only
      case Kind::create_turned:
      case Kind::switch_on:
      case Kind::switch_back:
      case Kind::dependences_of_last:
      case Kind::footprint_of_last:
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
      Scratch& scratch = all_.scratch(current_);
      if (scratch.open_wait != kNone) {
        task.waited += passed;
        all_.out().waits[scratch.open_wait].idle += passed;
      } else if (scratch.creating) {  // nobody has said when that was over
        const Nanoseconds making = std::min(passed, usual_making_.median());
        task.creating += making;
        task.work += passed - making;
        note_made(making);
        scratch.creating = false;
      } else {
        task.work += passed;
      }
    }
    accounted_ = now;
  }

  /// The same where the runtime has been at work on the last created task up to now.
  void account_making(Nanoseconds now) {
    if (current_ != kNone && all_.scratch(current_).creating) {
      all_.scratch(current_).creating = false;
      if (all_.scratch(current_).open_wait == kNone) {
        all_.at(current_).creating += now - accounted_;
        accounted_ = now;
      }
    }
    account(now);
  }

  void note_made(Nanoseconds took) {
    if (all_.is_task(last_made_)) all_.at(last_made_).creation = took;
    last_made_ = kNone;
  }

  void leave(Nanoseconds now) {
    account(now);
    if (current_ != kNone) all_.out().spans.push_back({current_, thread_, cpu_, span_begin_, now, location_of(cpu_)});
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
    it.location = location_of(cpu);
  }

  /// On a pretended machine only the runtime knows, else the kernel.
  std::int32_t location_of(std::uint32_t cpu) const { return all_.pretended() ? place_ : all_.location_of_cpu(cpu); }

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
    account_making(now);
    if (!all_.is_task(last_made_)) return;
    const Nanoseconds took = now - all_.at(last_made_).created;
    usual_making_.add(all_.at(last_made_).code, took);
    note_made(took);
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
    if (all_.is_task(to) && to == last_made_) {
      account_making(now);
      last_made_ = kNone;
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
    wait.code = all_.code_of_program(code_in(w[1]));
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

  void allocation(const std::uint64_t* w) {
    Allocation& one = all_.out().allocations.emplace_back();
    one.process = all_.process();
    one.thread = thread_;
    one.code = all_.code(code_in(w[2]));
    one.address = w[0];
    one.bytes = w[1];
    one.when = static_cast<Nanoseconds>(w[3]);
  }

  void moved(Nanoseconds now, const std::uint64_t* w) {
    all_.out().moves.push_back({all_.process(), thread_, static_cast<std::uint32_t>(w[0] & 0xff),
                                static_cast<std::uint32_t>(w[0] >> 8 & 0xff), w[1],
                                static_cast<std::int64_t>(w[0] >> 16) - 1, w[2], now});
  }

  void decision(Nanoseconds now, const Record& record) {
    const Index task = all_.task(record.words[0]);
    if (!all_.is_task(task)) return;
    const DecisionNote note = DecisionNote::of(record.words[1]);
    for (std::size_t i = 0; i < record.items; ++i) {
      const std::uint64_t* const item = record.words + 2 + 2 * i;
      all_.out().task_bytes.push_back({task, static_cast<std::int32_t>(item[0] & 0xff) - 1, item[0] >> 8, item[1], note.asked});
    }
    if (note.asked)
      all_.out().decisions.push_back(
          {task, thread_, now, note.released, note.stated, note.location, note.chosen, note.why});
  }

  void home(Nanoseconds now, const std::uint64_t* w) {
    all_.homes.push_back({w[0], {kNone, static_cast<std::int32_t>(std::min<std::uint64_t>(w[2], kMostPlaces)) - 1, w[1], now}});
  }

  void touched(Nanoseconds now, const Record& record) {
    const auto faults = static_cast<std::uint32_t>(record.words[0]);
    const auto cpu = static_cast<std::uint32_t>(record.words[0] >> 32);
    for (std::size_t i = 0; i < record.items; ++i)
      all_.touches.push_back({record.words[1 + i], {kNone, current_, thread_, location_of(cpu), faults, now}});
  }

  void block(const std::uint64_t* w) {
    all_.block({w[3], w[0], w[1], code_in(w[2]), w[4]}, thread_);
  }

  static constexpr std::uint64_t kMostPlaces = 0xffff;

  ProcessAssembly& all_;
  Index thread_;
  std::int32_t place_ = -1;  // on a pretended machine
  std::uint64_t number_ = 0;  // of the present record, from 1
  Index current_ = kNone;
  Index last_made_ = kNone;
  UsualTime usual_making_;
  std::uint32_t cpu_ = UINT32_MAX;
  Nanoseconds span_begin_ = 0, accounted_ = 0, last_ = 0;
  std::vector<Index> outer_;  // what the thread ran as each of its implicit tasks began
  bool counted_ = false;
  std::uint64_t counters_[3] = {};
};

}  // namespace

void assemble_thread(ProcessAssembly& all, Index thread,
                     const std::function<void(const std::function<void(const Record&)>&)>& read) {
  ThreadAssembly reading(all, thread);
  read([&](const Record& record) { reading.take(record); });
  reading.finish();
}

}  // namespace hearth::record
