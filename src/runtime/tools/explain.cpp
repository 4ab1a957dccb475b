#include "runtime/tools/explain.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include <fcntl.h>
#include <unistd.h>

#include "base/code_place.h"
#include "base/kept_file.h"
#include "base/log.h"
#include "base/object_path.h"
#include "policy/task_policy.h"
#include "runtime/settings/settings.h"
#include "runtime/state/footprint_ranges.h"
#include "runtime/state/function_hash.h"
#include "runtime/state/process.h"
#include "runtime/state/thread_table.h"
#include "runtime/sync/relaxed.h"
#include "runtime/tools/explain_counts.h"
#include "runtime/tools/file_name.h"
#include "topology/current.h"

namespace hearth::rt {

namespace {

struct Construct {
  const void* function;
  Construct* next;  // constant, as the function is, once this one is published
  Relaxed<std::uint64_t> n[explain::kCounts];

  void add(std::size_t which, std::uint64_t more = 1) { n[which] = n[which] + more; }
};

}  // namespace

// What one thread has counted. Only that thread adds anything, and nothing is ever taken out.
struct Explained {
  std::atomic<Construct*> chains[kFunctionHashes];
};

}  // namespace hearth::rt

namespace hearth::rt::explain {

constinit bool on = false;

namespace {

constexpr std::size_t kConstructRoom = 8 * 1024;

// Which of the process's tasks comes first opens the file: it then is there, and empty, if the process does not end well.
std::atomic<bool> opened{false};
constinit KeptFile file;

void open_file() {
  if (std::strcmp(settings().explain_file, "stderr") == 0) return;
  char path[4096];
  if (expand_file_name(settings().explain_file, path, sizeof path) &&
      file.open(path, O_WRONLY | O_CREAT | O_APPEND, 0644, false))
    return;
  warn("HEARTH_EXPLAIN=\"%s\": cannot be opened (%s); tasks are not explained.", settings().explain_file,
       std::strerror(errno));
}

Explained* make_explained(Thread* self) {
  void* const memory = std::calloc(1, sizeof(Explained));
  if (memory == nullptr) return nullptr;
  auto* const mine = new (memory) Explained;
  // Pairs with the acquire in visit_constructs(): the chains are seen empty.
  self->explained.store(mine, std::memory_order_release);
  return mine;
}

// Null: out of memory, and the task is not counted.
Construct* construct_of(Thread* self, const Task* task) {
  const void* const function = task->function_of_program();
  Explained* mine = self->explained.load(std::memory_order_relaxed);
  if (mine == nullptr && (mine = make_explained(self)) == nullptr) return nullptr;
  std::atomic<Construct*>& chain = mine->chains[function_hash(function)];
  Construct* const first = chain.load(std::memory_order_relaxed);
  for (Construct* one = first; one != nullptr; one = one->next)
    if (one->function == function) return one;
  void* const memory = std::calloc(1, sizeof(Construct));
  if (memory == nullptr) return nullptr;
  auto* const made = static_cast<Construct*>(memory);
  made->function = function;
  made->next = first;
  // Pairs with the acquire in visit_constructs(): what stands in it is seen.
  chain.store(made, std::memory_order_release);
  return made;
}

// The task whose place in the machine is the task's: a piece's, of those that it runs.
const Task* placed_task(const Task* task) {
  const Task* const parent = task->parent.load(std::memory_order_relaxed);
  return parent->is(kTaskRange) ? parent : task;
}

template <class Visit>
void visit_constructs(Visit visit) {
  for_each_thread(
      [](Thread* thread, void* context) {
        // Pairs with the release in make_explained().
        Explained* const all = thread->explained.load(std::memory_order_acquire);
        if (all == nullptr) return;
        for (std::atomic<Construct*>& chain : all->chains)
          // Pairs with the release in construct_of().
          for (const Construct* one = chain.load(std::memory_order_acquire); one != nullptr; one = one->next)
            (*static_cast<Visit*>(context))(*one);
      },
      &visit);
}

// Tasks of the runtime's own, such as what stands for the dependences of taskwait nowait.
bool is_ours(const void* function) {
  static char mine[PATH_MAX];  // large, and the process ends once
  static CodePlace place;
  return object_path(mine, sizeof mine) && find_code(function, place) && std::strcmp(place.module, mine) == 0;
}

// One for each construct, those first that took longest. Null: there are none, or no memory.
Sums* sum_up(std::size_t& count) {
  std::size_t room = 0;
  visit_constructs([&](const Construct&) { ++room; });
  auto* const all = room == 0 ? nullptr : static_cast<Sums*>(std::calloc(room, sizeof(Sums)));
  count = 0;
  if (all == nullptr) return nullptr;
  visit_constructs([&](const Construct& one) {
    if (count == room) return;  // another thread has met one meanwhile
    all[count].construct = one.function;
    for (std::size_t i = 0; i < kCounts; ++i) all[count].n[i] = one.n[i];
    ++count;
  });
  std::sort(all, all + count, [](const Sums& a, const Sums& b) { return a.construct < b.construct; });
  std::size_t used = 0;
  for (std::size_t i = 1; i < count; ++i) {
    if (all[i].construct != all[used].construct) {
      all[++used] = all[i];
      continue;
    }
    for (std::size_t k = 0; k < kCounts; ++k) all[used].n[k] += all[i].n[k];
  }
  count = count == 0 ? 0 : used + 1;
  count = static_cast<std::size_t>(
      std::remove_if(all, all + count, [](const Sums& sums) { return is_ours(sums.construct); }) - all);
  std::sort(all, all + count, [](const Sums& a, const Sums& b) {
    return a.n[kTime] != b.n[kTime] ? a.n[kTime] > b.n[kTime] : a.n[kCreated] > b.n[kCreated];
  });
  return all;
}

void write_out(const char* text, std::size_t length) {
  if (std::strcmp(settings().explain_file, "stderr") == 0) return write_stderr(text, length);
  if (!file.write(text, length))
    warn("HEARTH_EXPLAIN=\"%s\": cannot be written (%s).", settings().explain_file, std::strerror(errno));
}

std::size_t head_text(const Dealing& dealing, std::size_t constructs, char* out, std::size_t room) {
  char program[1024];
  const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
  program[length > 0 ? length : 0] = '\0';
  const int wanted =
      std::snprintf(out, room, "hearth: the tasks of %s (process %d): policy %s, %zu location%s, %zu task construct%s\n",
                    program, static_cast<int>(getpid()), dealing.policy, dealing.locations,
                    dealing.locations == 1 ? "" : "s", constructs, constructs == 1 ? "" : "s");
  return std::min(static_cast<std::size_t>(std::max(wanted, 0)), room - 1);
}

}  // namespace

void start() { on = settings().explain_file != nullptr; }

void created(Thread* self, const Task* task) {
  if (!opened.exchange(true, std::memory_order_relaxed)) open_file();
  if (Construct* const mine = construct_of(self, task)) mine->add(task->is(kTaskRange) ? kPieces : kCreated);
}

void not_asked(Thread* self, const Task* task, policy::Why why) {
  if (Construct* const mine = construct_of(self, task)) mine->add(kWhy + static_cast<std::size_t>(why));
}

void answered(Thread* self, Task* task, const Answer& answer) {
  if (answer.why == policy::Why::dealt) task->flags |= kTaskDealt;
  Construct* const mine = construct_of(self, task);
  if (mine == nullptr) return;
  mine->add(kAsked);
  mine->add(kForetold, answer.foretold);
  mine->add(kAsking, answer.took);
  mine->add(kWhy + static_cast<std::size_t>(answer.why));
}

void ran(Thread* self, const Task* task, std::uint64_t ns, bool mixed) {
  Construct* const mine = task->is(kTaskRange) ? nullptr : construct_of(self, task);
  if (mine == nullptr) return;
  mine->add(kRan);
  const Task* const placed = placed_task(task);
  const bool says = placed->is(kTaskSaysData);
  if (!says) mine->add(kSilent);
  if (says && placed->footprint->sign == policy::Sign::arguments) mine->add(kByArguments);
  if (says && placed->footprint->sign == policy::Sign::runs) mine->add(kByRuns);
  if (says && task->priority != 0) mine->add(kWhy + static_cast<std::size_t>(policy::Why::has_priority));
  if (!mixed) {
    mine->add(kTimed);
    mine->add(kTime, ns);
  }
  const placement::Location home = says ? placed->data_home : placement::kUnknown;
  const placement::Location here = self->member->location.load(std::memory_order_relaxed);
  if (home == placement::kUnknown || here < 0) return;
  const std::size_t where = home == here ? kHome : kFar;
  mine->add(where);
  if (!mixed) {
    mine->add(where + 1);
    mine->add(where + 2, ns);
  }
  mine->add(kHelped, home == here && placed->is(kTaskDealt));
}
static_assert(kHomeTimed == kHome + 1 && kHomeTime == kHome + 2 && kFarTimed == kFar + 1 && kFarTime == kFar + 2);

void finish() {
  if (!on || !opened.load(std::memory_order_relaxed)) return;
  std::size_t count = 0;
  Sums* const all = sum_up(count);
  const std::size_t room = (count + 1) * kConstructRoom;
  auto* const text = static_cast<char*>(std::malloc(room));
  if (all != nullptr && text != nullptr) {
    const std::size_t locations = topology::machine().locations.size();
    const Dealing dealing{process.policy->name(), locations, process.several_locations, process.weighs_load};
    std::size_t length = head_text(dealing, count, text, room);
    for (std::size_t i = 0; i < count; ++i) {
      static CodePlace place;  // large, and the process ends once
      char where[sizeof place.module + 32];
      if (find_code(all[i].construct, place))
        std::snprintf(where, sizeof where, "%s+%#lx", place.module, static_cast<unsigned long>(place.offset));
      else
        std::snprintf(where, sizeof where, "%p", all[i].construct);
      length += construct_text(all[i], dealing, where, text + length, kConstructRoom);
    }
    write_out(text, length);
  } else {
    warn("HEARTH_EXPLAIN: there is not enough memory to explain tasks.");
  }
  std::free(text);
  std::free(all);
  file.close();
}

void forget_after_fork() {
  if (!on) return;
  for_each_thread([](Thread* thread, void*) { thread->explained.store(nullptr, std::memory_order_relaxed); }, nullptr);
  file.close();
  opened.store(false, std::memory_order_relaxed);
}

}  // namespace hearth::rt::explain
