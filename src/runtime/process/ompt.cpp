// The start of an OMPT tool, and the functions that a tool looks up (OpenMP 5.2, sections 19.2 and 19.6).
//
// start_tool() runs once, from initialize(). The inquiry functions may be called by the tool from any thread;
// the ones that are marked async-signal-safe in the specification take no lock and allocate nothing.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <dlfcn.h>
#include <sched.h>
#include <unistd.h>

#include "base/log.h"
#include "runtime/binding/places.h"
#include "runtime/tools/events.h"
#include "runtime/tools/ompt_callbacks.h"
#include "runtime/process/ompt_places.h"
#include "runtime/process/startup.h"
#include "runtime/state/process.h"
#include "runtime/settings/settings.h"

namespace hearth::rt::events {
namespace {

ompt_start_tool_result_t* tool = nullptr;

struct Named {
  int value;
  const char* name;
};
#define HEARTH_STATE(state, code) {state, #state},
#define HEARTH_MUTEX(impl, code) {impl, #impl},
constexpr Named kStates[] = {HEARTH_OMPT_STATES(HEARTH_STATE)};
constexpr Named kMutexes[] = {HEARTH_MUTEX_IMPLS(HEARTH_MUTEX)};

template <std::size_t n>
int enumerate(const Named (&list)[n], int current, int* next, const char** name) {
  for (std::size_t i = 0; i + 1 < n; ++i) {
    if (list[i].value != current) continue;
    *next = list[i + 1].value;
    *name = list[i + 1].name;
    return 1;
  }
  return 0;
}

int enumerate_states(int current, int* next, const char** name) {
  return enumerate(kStates, current, next, name);
}
int enumerate_mutex_impls(int current, int* next, const char** name) {
  return enumerate(kMutexes, current, next, name);
}

bool is_host_event(int which) {
  switch (which) {
#define HEARTH_EVENT(event, number) case event:
    HEARTH_OMPT_HOST_EVENTS(HEARTH_EVENT)
    return true;
    default: return false;
  }
}

ompt_set_result_t set_callback(ompt_callbacks_t which, ompt_callback_t function) {
  if (!is_host_event(which)) return which > 0 && which < kCallbacks ? ompt_set_never : ompt_set_error;
  callbacks[which].store(function, std::memory_order_relaxed);
  return ompt_set_always;
}

int get_callback(ompt_callbacks_t which, ompt_callback_t* function) {
  if (which <= 0 || which >= kCallbacks) return 0;
  *function = callbacks[which].load(std::memory_order_relaxed);
  return *function != nullptr;
}

// Whom the inquiry functions speak of: the calling thread, while a tool is active.
Thread* asker() { return active() ? Thread::current_or_null() : nullptr; }

// A thread that Hearth does not know is outside of all regions.
int get_state(ompt_wait_id_t* wait_id) {
  Thread* self = asker();
  if (self == nullptr) return ompt_state_work_serial;
  if (wait_id != nullptr) *wait_id = self->ompt_wait_id;
  return self->ompt_state;
}

// Tasks from the current one outwards: what its thread was running before each explicit task, then the task
// that met the region.
Task* ancestor_task(int level, Team** team) {
  Thread* self = asker();
  if (self == nullptr || level < 0) return nullptr;
  Task* task = self->task;
  for (; level > 0 && task != nullptr; --level)
    task = task->is(kTaskImplicit) ? task->parent.load(std::memory_order_relaxed) : task->ompt_outer;
  if (task != nullptr && team != nullptr) *team = task->team;
  return task;
}

int get_parallel_info(int level, ompt_data_t** data, int* size) {
  Thread* self = asker();
  if (self == nullptr || level < 0) return 0;
  Team* team = self->team;
  for (; level > 0 && team != nullptr; --level) team = team->parent;
  if (team == nullptr) return 0;
  if (data != nullptr) *data = reinterpret_cast<ompt_data_t*>(&team->ompt_parallel_data);
  if (size != nullptr) *size = team->size;
  return 2;
}

int type_of(const Task* task) {
  if (task->is(kTaskInitial)) return ompt_task_initial;
  if (task->is(kTaskImplicit))
    return task->team->size == 1 ? ompt_task_implicit | ompt_task_undeferred : ompt_task_implicit;
  return static_cast<int>(task->ompt_flags);
}

int get_task_info(int level, int* flags, ompt_data_t** task_data, ompt_frame_t** frame,
                  ompt_data_t** parallel_data, int* thread_num) {
  Team* team = nullptr;
  Task* task = ancestor_task(level, &team);
  if (task == nullptr) return 0;
  if (flags != nullptr) *flags = type_of(task);
  if (task_data != nullptr) *task_data = reinterpret_cast<ompt_data_t*>(&task->ompt_task_data);
  if (frame != nullptr) *frame = reinterpret_cast<ompt_frame_t*>(&task->ompt_exit_frame);
  if (parallel_data != nullptr) *parallel_data = reinterpret_cast<ompt_data_t*>(&team->ompt_parallel_data);
  if (thread_num != nullptr) {
    // The number, in the task's team, of the thread that runs it on the way to the current task.
    Thread* self = Thread::current();
    *thread_num = self->tid;
    for (Team* inner = self->team; inner != nullptr && inner != team; inner = inner->parent)
      *thread_num = inner->parent_member == nullptr ? 0 : inner->parent_member->tid;
  }
  return 2;
}

int get_task_memory(void** address, std::size_t* size, int block) {
  Thread* self = asker();
  if (self == nullptr || block != 0 || self->task->is(kTaskImplicit)) return 0;
  *address = self->task->payload();
  *size = payload_bytes(*self->task);
  return 0;
}

ompt_data_t* get_thread_data() {
  Thread* self = asker();
  return self == nullptr ? nullptr : reinterpret_cast<ompt_data_t*>(&self->ompt_thread_data);
}

std::uint64_t get_unique_id() {
  static constinit std::atomic<std::uint64_t> next{0};
  return next.fetch_add(1, std::memory_order_relaxed) + 1;
}

int get_num_procs() { return process.visible_cpus; }
int get_num_places() { return place_count(); }

int get_place_proc_ids(int place, int room, int* ids) {
  struct Out {
    int room;
    int* ids;
  } out{room, ids};
  for_each_cpu_of_place(
      place,
      [](void* to, unsigned cpu) {
        auto& list = *static_cast<Out*>(to);
        if (list.room-- > 0) *list.ids++ = static_cast<int>(cpu);
      },
      &out);
  return place_size(place);
}

int get_place_num() {
  Thread* self = asker();
  return self == nullptr ? -1 : partition_of(self).place;
}

int get_partition_place_nums(int room, int* numbers) {
  Thread* self = asker();
  if (self == nullptr) return 0;
  const Partition partition = partition_of(self);
  for (int i = 0; i < partition.count && i < room; ++i) numbers[i] = partition.first + i;
  return partition.count;
}
int get_proc_id() { return asker() == nullptr ? -1 : sched_getcpu(); }
int get_target_info(std::uint64_t*, ompt_id_t*, ompt_id_t*) { return 0; }
int get_num_devices() { return 0; }
void finalize_tool() { close_tool(); }

// Extensions: hearth/ompt.h.
void set_footprint_callback(hearth_ompt_callback_footprint_t function) { footprint_callback = function; }
void set_return_callback(hearth_ompt_callback_return_t function) { return_callback = function; }

ompt_interface_fn_t lookup(const char* name) {
  struct Function {
    const char* name;
    ompt_interface_fn_t function;
  };
#define HEARTH_LOOKUP(f) {"ompt_" #f, reinterpret_cast<ompt_interface_fn_t>(f)}
  static const Function kFunctions[] = {
      HEARTH_LOOKUP(enumerate_states),
      HEARTH_LOOKUP(enumerate_mutex_impls),
      HEARTH_LOOKUP(set_callback),
      HEARTH_LOOKUP(get_callback),
      HEARTH_LOOKUP(get_state),
      HEARTH_LOOKUP(get_parallel_info),
      HEARTH_LOOKUP(get_task_info),
      HEARTH_LOOKUP(get_task_memory),
      HEARTH_LOOKUP(get_thread_data),
      HEARTH_LOOKUP(get_unique_id),
      HEARTH_LOOKUP(finalize_tool),
      HEARTH_LOOKUP(get_num_procs),
      HEARTH_LOOKUP(get_num_places),
      HEARTH_LOOKUP(get_place_proc_ids),
      HEARTH_LOOKUP(get_place_num),
      HEARTH_LOOKUP(get_partition_place_nums),
      HEARTH_LOOKUP(get_proc_id),
      HEARTH_LOOKUP(get_target_info),
      HEARTH_LOOKUP(get_num_devices),
      {"hearth_ompt_set_footprint_callback", reinterpret_cast<ompt_interface_fn_t>(set_footprint_callback)},
      {"hearth_ompt_set_return_callback", reinterpret_cast<ompt_interface_fn_t>(set_return_callback)},
      {"hearth_ompt_set_moved_callback", reinterpret_cast<ompt_interface_fn_t>(tell_moves_to)},
  };
  for (const Function& f : kFunctions)
    if (std::strcmp(f.name, name) == 0) return f.function;
  return lookup_places(name);
}

constexpr unsigned kOmpVersion = 202111;
const char* runtime_version() { return "Hearth 0.1.0"; }

using StartTool = ompt_start_tool_result_t* (*)(unsigned, const char*);

// OMP_TOOL_VERBOSE_INIT: what the search for a tool did, in the words that libomp uses and scripts look for.
void report(const char* format, const char* what = "") {
  const std::string_view where = settings().tool_verbose_init;
  if (where.empty()) return;
  char line[8192];
  const int needed = std::snprintf(line, sizeof(line), format, what);
  const auto length =
      needed < static_cast<int>(sizeof(line)) ? static_cast<std::size_t>(needed) : sizeof(line) - 1;
  if (where == "STDOUT" || where == "stdout") {
    std::fwrite(line, 1, length, stdout);  // in order with what the tool prints
    return;
  }
  if (where == "STDERR" || where == "stderr") {
    write_stderr(line, length);
    return;
  }
  char path[512];
  std::snprintf(path, sizeof(path), "%.*s", static_cast<int>(where.size()), where.data());
  if (std::FILE* file = std::fopen(path, "a")) {
    std::fwrite(line, 1, length, file);
    std::fclose(file);
  }
}

ompt_start_tool_result_t* ask(void* symbol) {
  return reinterpret_cast<StartTool>(symbol)(kOmpVersion, runtime_version());
}

ompt_start_tool_result_t* ask_library(const char* path) {
  report("Opening %s... ", path);
  void* library = dlopen(path, RTLD_LAZY);
  if (library == nullptr) {
    report("Failed: %s\n", dlerror());
    return nullptr;
  }
  report("Success.\nSearching for ompt_start_tool in %s... ", path);
  void* symbol = dlsym(library, "ompt_start_tool");
  if (symbol == nullptr) {
    report("Failed: %s\n", dlerror());
    dlclose(library);
    return nullptr;
  }
  ompt_start_tool_result_t* result = ask(symbol);
  if (result == nullptr) {
    report("Found but not using the OMPT interface.\nContinuing search...\n");
    dlclose(library);
  }
  return result;
}

ompt_start_tool_result_t* ask_libraries() {
  std::string_view list = settings().tool_libraries;
  if (list.empty()) {
    report("No OMP_TOOL_LIBRARIES defined.\n");
    return nullptr;
  }
  char all[4096];
  std::snprintf(all, sizeof(all), "%.*s", static_cast<int>(list.size()), list.data());
  report("Searching tool libraries...\nOMP_TOOL_LIBRARIES = %s\n", all);
  while (!list.empty()) {
    const std::size_t colon = list.find(':');
    const std::string_view name = list.substr(0, colon);
    list = colon == std::string_view::npos ? std::string_view() : list.substr(colon + 1);
    char path[4096];
    std::snprintf(path, sizeof(path), "%.*s", static_cast<int>(name.size()), name.data());
    if (path[0] == 0) continue;
    if (ompt_start_tool_result_t* result = ask_library(path)) return result;
  }
  return nullptr;
}

ompt_start_tool_result_t* find_tool() {
  if (!settings().tool) {
    report("OMP tool disabled.\n");
    return nullptr;
  }
  report("Search for OMP tool in current address space... ");
  void* symbol = dlsym(RTLD_DEFAULT, "ompt_start_tool");
  ompt_start_tool_result_t* result = symbol == nullptr ? nullptr : ask(symbol);
  if (result == nullptr) {
    report("Failed.\n");
    result = ask_libraries();
    if (result == nullptr) report("...searching tool libraries failed.\nNo OMP tool loaded.\n");
  }
  if (result != nullptr) report("Success.\nTool was started and is using the OMPT interface.\n");
  dlerror();  // the program shall not find the message of a search in vain
  return result;
}

}  // namespace

bool start_tool() {
  report("----- START LOGGING OF TOOL REGISTRATION -----\n");
  ompt_start_tool_result_t* result = find_tool();
  report("----- END LOGGING OF TOOL REGISTRATION -----\n");
  if (result == nullptr) return false;
  if (result->initialize(lookup, 0, &result->tool_data) == 0) {
    footprint_callback = nullptr;
    return_callback = nullptr;
    tell_moves_to(nullptr);
    forget_places();
    return false;
  }
  tool = result;
  return true;
}

void finish_tool() {
  if (tool == nullptr) return;
  ompt_start_tool_result_t* finished = tool;
  tool = nullptr;
  finished->finalize(&finished->tool_data);
  active_word = 0;
  footprint_callback = nullptr;
  return_callback = nullptr;
  tell_moves_to(nullptr);
  forget_places();
  for (auto& callback : callbacks) callback.store(nullptr, std::memory_order_relaxed);
}

int control_tool(Thread* self, int command, int modifier, void* arg) {
  if (tool == nullptr) return -2;  // omp_control_tool_notool
  auto* told = callback<ompt_callback_control_tool_t>(ompt_callback_control_tool);
  if (told == nullptr) return -1;  // omp_control_tool_nocallback
  return told(static_cast<std::uint64_t>(command), static_cast<std::uint64_t>(modifier), arg,
              self->ompt_codeptr);
}

}  // namespace hearth::rt::events
