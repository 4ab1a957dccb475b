// libhearth-record.so, an OMPT tool (OpenMP 5.2, chapter 19): writes what the runtime tells it into spill
// files. Works in any runtime that has OMPT; from Hearth it also asks for what the standard leaves out
// (hearth/ompt.h).
//
// The callbacks come in any thread of the program, at the places that they name. Each writes a record into
// the spill file of its thread; nothing is shared but the count of threads. Tasks and regions are known by
// the numbers that are kept in the runtime's ompt_data_t. Does nothing unless HEARTH_RECORD names a folder.
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <dlfcn.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/cpu.h"
#include "hearth/omp-tools.h"
#include "hearth/ompt.h"
#include "record/allocations.h"
#include "record/places.h"
#include "record/process_notes.h"
#include "record/tool_thread.h"
#include "record/writer.h"

namespace hearth::record {
namespace {

constexpr std::uint64_t kNoticedLockWaitNs = 2'000;  // shorter waits for locks are not worth a record
// Of the tasks that one place makes in a row, how long making them took is told of one in seven; the reader takes for the
// others what those took. Reading the clock makes the processor wait for all that it has begun, which costs more than the
// record. Seven, since descriptors come in chunks of sizes that it does not divide.
constexpr std::uint8_t kUntimed = 6;

const char* folder = nullptr;
const char* runtime_name = "";
bool counting = false;
std::atomic<bool> counters_refused{false};
std::atomic<std::uint32_t> threads{0};
thread_local constinit Writer* own = nullptr;

std::uint64_t word_of(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

// ---- the thread

// Of the initial thread, from the loading of the program on: most programs fill their arrays before their first region.
constinit PageFaults initial_faults;
std::atomic<bool> faults_refused{false};

[[gnu::constructor]] void watch_initial_thread() {
  const char* wanted = secure_getenv("HEARTH_RECORD");
  if (wanted != nullptr && wanted[0] != 0) initial_faults.open();  // if not, begin_thread() tries again, and tells why
}

void open_faults(Writer* writer) {
  if (initial_faults.is_open() && syscall(SYS_gettid) == getpid()) {
    writer->faults = initial_faults;
    initial_faults = PageFaults();
  } else if (!writer->faults.open() && !faults_refused.exchange(true, std::memory_order_relaxed)) {
    note("faults_refused %d", errno);
  }
}

[[gnu::cold, gnu::noinline]] void put_faults_now(Writer* mine) {
  std::uint64_t addresses[kMostItems];
  const Moment now = moment();
  while (const std::size_t count = mine->faults.read(addresses, kMostItems)) {
    std::uint64_t* const record = mine->room(2 + count);
    if (record == nullptr) return;
    record[1] = PageFaults::kEvery | std::uint64_t{now.cpu} << 32;
    std::memcpy(record + 2, addresses, count * sizeof *addresses);
    mine->publish(Kind::touched, 2 + count, now.ticks);
  }
}

/// What the thread has touched first since the last time, before something happens that it belongs before.
inline void put_faults(Writer* mine) {
  if (mine->faults.any()) put_faults_now(mine);
}

void on_allocation(const AllocationNote& one) {
  if (recording_stopped()) return;
  if (own != nullptr) put_faults(own);
  if (own != nullptr)
    own->put(Kind::block, ticks(), one.address, one.bytes, code_with(one.code, 0), one.ticks, facts_of(one.address));
  else  // a thread that OpenMP does not know
    note("block %llu %llx %llx %llx %llu", static_cast<unsigned long long>(one.ticks),
         static_cast<unsigned long long>(one.address), static_cast<unsigned long long>(one.bytes),
         static_cast<unsigned long long>(one.code), static_cast<unsigned long long>(facts_of(one.address)));
}

[[gnu::cold, gnu::noinline]] Writer* begin_thread(std::uint64_t type) {
  if (recording_stopped()) return nullptr;
  Writer* writer = Writer::make(threads.fetch_add(1, std::memory_order_relaxed));
  if (writer == nullptr) return nullptr;
  own = writer;
  if (counting && !counters_refused.load(std::memory_order_relaxed)) {
    writer->counts = writer->counters.open();
    if (!writer->counts && !counters_refused.exchange(true, std::memory_order_relaxed)) {
      const int error = errno;
      std::fprintf(stderr, "hearth-record: no hardware counters: perf_event_open: %s%s\n",
                   std::strerror(error),
                   error == EACCES || error == EPERM ? " (see /proc/sys/kernel/perf_event_paranoid)" : "");
      note("problem %d counters", error);
    }
  }
  writer->put(Kind::thread_begin, ticks(), type, syscall(SYS_gettid));
  open_faults(writer);
  deliver_frees([](std::uint64_t address, std::uint64_t bytes) {
    if (own != nullptr) put_faults(own);
    on_free(address, bytes);
  });
  deliver_allocations(on_allocation);
  return writer;
}

/// The calling thread's, or null when nothing is recorded.
inline Writer* writer() {
  Writer* mine = own;
  // A thread that the runtime has not announced: the initial one of some runtimes.
  return HEARTH_LIKELY(mine != nullptr) ? mine : begin_thread(ompt_thread_unknown);
}

void end_thread() {
  Writer* mine = own;
  if (mine == nullptr) return;
  // The blocks that the program never frees: nobody else is told before the end.
  if (syscall(SYS_gettid) == getpid()) note_homes();
  own = nullptr;
  put_faults(mine);
  if (mine->faults.lost() != 0) note("lost_faults %llu", static_cast<unsigned long long>(mine->faults.lost()));
  mine->faults.close();
  mine->put(Kind::thread_end, ticks());
  if (mine->counts) mine->counters.close();
  mine->close();
}

inline void put_counters(Writer* mine) {
  if (HEARTH_LIKELY(!mine->counts)) return;
  std::uint64_t values[kCounters];
  mine->counters.read(values);
  mine->put(Kind::counters, ticks(), values[0], values[1], values[2]);
}

// ---- callbacks

void on_thread_begin(ompt_thread_t type, ompt_data_t*) {
  if (own == nullptr) begin_thread(type);
}

void on_thread_end(ompt_data_t*) { end_thread(); }

void on_task_create(ompt_data_t* parent, const ompt_frame_t*, ompt_data_t* task, int flags, int,
                    const void* code) {
  Writer* mine = writer();
  if (mine == nullptr) return;
  const std::uint64_t parent_id = id_of(mine, parent);
  const std::uint64_t id = task->value = mine->next_id();
  const std::uint64_t code_word = code_with(word_of(code), pack_flags(static_cast<unsigned>(flags)));
  constexpr std::size_t kLong = kWords[static_cast<unsigned>(Kind::task_create)];
  if (mine->room(kLong) == nullptr) return;
  Writer::Said& said = mine->said;
  const bool next = said.task + 1 == id && said.parent == parent_id;
  const std::uint64_t other = said.code ^ code_word;
  said = {parent_id, id, code_word, said.left, said.entered, said.cpu};
  mine->making = true;
  mine->created = ticks();
  if (next && other == 0) return mine->put(Kind::create_again, mine->created);
  if (next && other == kUndeferredInCode) return mine->put(Kind::create_turned, mine->created);
  mine->until_timed = 0;  // a series begins
  mine->put(Kind::task_create, mine->created, parent_id, id, code_word);
}

void on_return() {
  Writer* mine = own;
  if (mine == nullptr || !mine->making) return;
  mine->making = false;
  if (mine->until_timed != 0) {
    --mine->until_timed;
    return;
  }
  mine->until_timed = kUntimed;
  mine->put(Kind::task_created, ticks());
}

void on_task_schedule(ompt_data_t* prior, ompt_task_status_t status, ompt_data_t* next) {
  Writer* mine = writer();
  if (mine == nullptr) return;
  mine->making = false;
  put_counters(mine);
  put_faults(mine);
  note_place(mine);
  const std::uint64_t prior_id = id_of(mine, prior);
  const std::uint64_t next_id = id_of(mine, next);
  constexpr std::size_t kLong = kWords[static_cast<unsigned>(Kind::task_switch)];
  if (mine->room(kLong) == nullptr) return;
  const Moment now = moment();
  Writer::Said& said = mine->said;
  const bool on = said.entered == prior_id && prior_id != 0 && said.cpu == now.cpu;
  const bool back = on && said.left == next_id && status == ompt_task_complete;
  said.left = prior_id;
  said.entered = next_id;
  said.cpu = now.cpu;
  if (back) return mine->put(Kind::switch_back, now.ticks);
  if (on) return mine->put(Kind::switch_on, now.ticks, with_note(next_id, status));
  mine->put(Kind::task_switch, now.ticks, with_note(prior_id, switch_low(status, now.cpu)),
            with_note(next_id, switch_high(now.cpu)));
}

// False: they need the long form.
bool put_dependences_of_last(Writer* mine, std::uint64_t id, const ompt_dependence_t* list, std::size_t count) {
  if (count > kMostItems) return false;
  std::uint64_t* const record = mine->room(1 + count);
  if (record == nullptr) return true;
  if (mine->said.task != id) return false;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t address = word_of(list[i].variable.ptr);
    if (!leaves_room(address)) return false;
    record[1 + i] = data_with(address, list[i].dependence_type);
  }
  mine->publish(Kind::dependences_of_last, 1 + count, mine->created);
  return true;
}

std::uint64_t bits_of(const hearth_ompt_range_t& range) {
  return static_cast<std::uint64_t>(range.access) | (range.inferred != 0 ? kRangeInferred : 0) |
         (range.decides != 0 ? kRangeDecides : 0) | (range.stated != 0 ? kRangeStated : 0);
}

// The same.
bool put_footprint_of_last(Writer* mine, std::uint64_t id, const hearth_ompt_range_t* ranges, std::size_t count) {
  if (count > kMostItems) return false;
  std::uint64_t* const record = mine->room(1 + 2 * count);
  if (record == nullptr) return true;
  if (mine->said.task != id) return false;
  for (std::size_t i = 0; i < count; ++i) {
    const hearth_ompt_range_t& range = ranges[i];
    const std::uint64_t begin = word_of(range.begin);
    if (range.rows != 1 || range.pitch != 0 || !leaves_room(begin)) return false;
    record[1 + 2 * i] = data_with(begin, bits_of(range));
    record[2 + 2 * i] = range.length;
  }
  mine->publish(Kind::footprint_of_last, 1 + 2 * count, mine->created);
  return true;
}

void on_dependences(ompt_data_t* task, const ompt_dependence_t* list, int count) {
  Writer* mine = writer();
  if (mine == nullptr || count <= 0) return;
  // Iterations of doacross loops are told in the same way, and of the current task: they are no addresses.
  if (list[0].dependence_type == ompt_dependence_type_source ||
      list[0].dependence_type == ompt_dependence_type_sink)
    return;
  const std::uint64_t id = id_of(mine, task);
  if (put_dependences_of_last(mine, id, list, static_cast<std::size_t>(count))) return;
  const std::uint64_t now = ticks();
  for (std::size_t done = 0; done < static_cast<std::size_t>(count);) {
    const std::size_t left = static_cast<std::size_t>(count) - done;
    const std::size_t items = left < kMostItems ? left : kMostItems;
    const std::size_t words = 2 + 2 * items;
    std::uint64_t* const record = mine->room(words);
    if (record == nullptr) return;
    record[1] = id;
    for (std::size_t i = 0; i < items; ++i) {
      record[2 + 2 * i] = word_of(list[done + i].variable.ptr);
      record[3 + 2 * i] = static_cast<std::uint64_t>(list[done + i].dependence_type);
    }
    mine->publish(Kind::dependences, words, now);
    done += items;
  }
}

void on_footprint(ompt_data_t* task, const hearth_ompt_range_t* ranges, std::size_t count) {
  Writer* mine = writer();
  if (mine == nullptr) return;
  const std::uint64_t id = id_of(mine, task);
  if (put_footprint_of_last(mine, id, ranges, count)) return;
  const std::uint64_t now = ticks();
  for (std::size_t done = 0; done < count;) {
    const std::size_t items = count - done < kMostItems ? count - done : kMostItems;
    const std::size_t words = 2 + 5 * items;
    std::uint64_t* const record = mine->room(words);
    if (record == nullptr) return;
    record[1] = id;
    for (std::size_t i = 0; i < items; ++i) {
      const hearth_ompt_range_t& range = ranges[done + i];
      std::uint64_t* const at = record + 2 + 5 * i;
      at[0] = word_of(range.begin);
      at[1] = range.length;
      at[2] = range.rows;
      at[3] = range.pitch;
      at[4] = bits_of(range);
    }
    mine->publish(Kind::footprint, words, now);
    done += items;
  }
}

void on_implicit_task(ompt_scope_endpoint_t endpoint, ompt_data_t* region, ompt_data_t* task, unsigned size,
                      unsigned number, int flags) {
  Writer* mine = writer();
  if (mine == nullptr) return;
  put_counters(mine);
  put_faults(mine);
  note_place(mine);
  const Moment now = moment();
  if (endpoint == ompt_scope_end) {
    mine->put(Kind::implicit_end, now.ticks, id_of(mine, task));
    return;
  }
  task->value = mine->next_id();
  // The initial task belongs to no region that was told of.
  const std::uint64_t region_id =
      (flags & ompt_task_initial) != 0 ? (region == nullptr ? 0 : region->value) : id_of(mine, region);
  mine->put(Kind::implicit_begin, now.ticks, region_id, task->value, size | std::uint64_t{number} << 32,
            static_cast<unsigned>(flags) | std::uint64_t{now.cpu} << 32);
}

void on_parallel_begin(ompt_data_t* parent, const ompt_frame_t*, ompt_data_t* region, unsigned requested,
                       int flags, const void* code) {
  Writer* mine = writer();
  if (mine == nullptr) return;
  put_faults(mine);
  const std::uint64_t parent_id = id_of(mine, parent);
  region->value = mine->next_id();
  mine->put(Kind::region_begin, ticks(), parent_id, region->value,
            requested | std::uint64_t{static_cast<unsigned>(flags)} << 32, word_of(code));
}

void on_parallel_end(ompt_data_t* region, ompt_data_t*, int, const void*) {
  if (Writer* mine = writer()) mine->put(Kind::region_end, ticks(), id_of(mine, region));
}

void on_wait(ompt_sync_region_t kind, ompt_scope_endpoint_t endpoint, ompt_data_t*, ompt_data_t* task,
             const void* code) {
  Writer* mine = writer();
  if (mine == nullptr) return;
  const std::uint64_t id = id_of(mine, task);
  if (endpoint == ompt_scope_begin)
    mine->put(Kind::wait_begin, ticks(), id, code_with(word_of(code), kind));
  else
    mine->put(Kind::wait_end, ticks(), id);
}

void on_work(ompt_work_t kind, ompt_scope_endpoint_t endpoint, ompt_data_t*, ompt_data_t* task,
             std::uint64_t count, const void* code) {
  Writer* mine = writer();
  if (mine == nullptr) return;
  const std::uint64_t id = id_of(mine, task);
  if (endpoint == ompt_scope_begin)
    mine->put(Kind::work_begin, ticks(), id, code_with(word_of(code), kind), count);
  else
    mine->put(Kind::work_end, ticks(), id);
}

void on_dispatch(ompt_data_t*, ompt_data_t* task, ompt_dispatch_t kind, ompt_data_t instance) {
  Writer* mine = writer();
  if (mine == nullptr) return;
  const bool is_chunk = kind == ompt_dispatch_ws_loop_chunk || kind == ompt_dispatch_taskloop_chunk ||
                        kind == ompt_dispatch_distribute_chunk;
  const auto* chunk = is_chunk ? static_cast<const ompt_dispatch_chunk_t*>(instance.ptr) : nullptr;
  mine->put(Kind::chunk, ticks(), with_note(id_of(mine, task), kind),
            chunk != nullptr ? chunk->start : instance.value, chunk != nullptr ? chunk->iterations : 1);
}

void on_mutex_acquire(ompt_mutex_t, unsigned, unsigned, ompt_wait_id_t, const void*) {
  if (Writer* mine = writer()) mine->lock_wanted = ticks();
}

void on_mutex_acquired(ompt_mutex_t kind, ompt_wait_id_t lock, const void* code) {
  Writer* mine = writer();
  if (mine == nullptr) return;
  const std::uint64_t now = ticks();
  const std::uint64_t began = mine->lock_wanted;
  mine->lock_wanted = 0;
  if (began != 0 && to_ns(now - began) >= kNoticedLockWaitNs)
    mine->put(Kind::lock_wait, now, lock, code_with(word_of(code), kind), began);
}

void on_moved(hearth_ompt_moved_t what, hearth_ompt_cause_t why, std::uint64_t count, int to, const void* begin) {
  Writer* mine = writer();
  if (mine == nullptr) return;
  mine->put(Kind::moved, ticks(),
            static_cast<unsigned>(what) | static_cast<unsigned>(why) << 8 | static_cast<std::uint64_t>(to + 1) << 16, count,
            word_of(begin));
}

// ---- begin and end

// The files are the parent's, and so are the parent's threads.
void in_forked_child() {
  leave_recording();
  own = nullptr;
}

void before_fork() {
  if (own != nullptr) own->put(Kind::forked, ticks());
}

template <class Callback>
void set(ompt_set_callback_t set_callback, ompt_callbacks_t which, Callback* callback, const char* name) {
  const ompt_set_result_t result = set_callback(which, reinterpret_cast<ompt_callback_t>(callback));
  // Whoever reads the recording shall know what cannot be in it.
  if (result != ompt_set_always) note("untold %d %s", static_cast<int>(result), name);
}

int initialize(ompt_function_lookup_t lookup, int, ompt_data_t*) {
  const ClockReading begin = read_clocks();
  if (!open_recording(folder) || !note_process(runtime_name)) return 0;
  const char* wanted = secure_getenv("HEARTH_RECORD_COUNTERS");
  counting = wanted != nullptr && std::strcmp(wanted, "1") == 0;
  auto* const set_callback = reinterpret_cast<ompt_set_callback_t>(lookup("ompt_set_callback"));
  if (set_callback == nullptr) return 0;
  const auto on = [set_callback](ompt_callbacks_t which, auto* callback, const char* name) {
    set(set_callback, which, callback, name);
  };
  on(ompt_callback_thread_begin, on_thread_begin, "thread_begin");
  on(ompt_callback_thread_end, on_thread_end, "thread_end");
  on(ompt_callback_task_create, on_task_create, "task_create");
  on(ompt_callback_task_schedule, on_task_schedule, "task_schedule");
  on(ompt_callback_dependences, on_dependences, "dependences");
  on(ompt_callback_implicit_task, on_implicit_task, "implicit_task");
  on(ompt_callback_parallel_begin, on_parallel_begin, "parallel_begin");
  on(ompt_callback_parallel_end, on_parallel_end, "parallel_end");
  on(ompt_callback_sync_region_wait, on_wait, "sync_region_wait");
  on(ompt_callback_work, on_work, "work");
  on(ompt_callback_dispatch, on_dispatch, "dispatch");
  on(ompt_callback_mutex_acquire, on_mutex_acquire, "mutex_acquire");
  on(ompt_callback_mutex_acquired, on_mutex_acquired, "mutex_acquired");
  auto* const footprints =
      reinterpret_cast<hearth_ompt_set_footprint_callback_t>(lookup("hearth_ompt_set_footprint_callback"));
  if (footprints != nullptr)
    footprints(on_footprint);
  else
    note("untold 0 footprint");
  auto* const returns =
      reinterpret_cast<hearth_ompt_set_return_callback_t>(lookup("hearth_ompt_set_return_callback"));
  if (returns != nullptr)
    returns(on_return);
  else
    note("untold 0 task_created");
  auto* const moves = reinterpret_cast<hearth_ompt_set_moved_callback_t>(lookup("hearth_ompt_set_moved_callback"));
  if (moves != nullptr) moves(on_moved);
  note_machine(lookup);
  pthread_atfork(before_fork, nullptr, in_forked_child);
  set_clock_rate(begin);
  return 1;
}

void finalize(ompt_data_t*) {
  if (recording_stopped()) return;
  end_thread();
  note_modules();
  note_clock();
  note("end");
}

ompt_start_tool_result_t result{initialize, finalize, {0}};

}  // namespace

Writer* writer_of_thread() { return writer(); }
Writer* writer_if_any() { return own; }

}  // namespace hearth::record

extern "C" __attribute__((visibility("default"))) ompt_start_tool_result_t* ompt_start_tool(
    unsigned, const char* runtime) {
  const char* folder = secure_getenv("HEARTH_RECORD");
  if (folder == nullptr || folder[0] == 0) return nullptr;
  hearth::record::folder = folder;
  hearth::record::runtime_name = runtime;
  return &hearth::record::result;
}
