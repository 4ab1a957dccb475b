#include "runtime/tools/decisions.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/kept_file.h"
#include "base/log.h"
#include "policy/task_policy.h"
#include "runtime/settings/settings.h"
#include "runtime/state/process.h"
#include "runtime/sync/lock.h"
#include "runtime/tools/file_name.h"
#include "topology/current.h"

namespace hearth::rt::decisions {

constinit bool on = false;

namespace {

pid_t process_id = 0;

// Under the lock.
Lock lock;
enum class State : std::uint8_t { unopened, open, closed } state = State::unopened;
constinit KeptFile file;
policy::DecisionBudget budget;

void give_up(const char* what) {
  warn("HEARTH_LOG_DECISIONS=\"%s\": %s (%s); decisions are not logged.", settings().decisions_file, what,
       std::strerror(errno));
  file.close();
  state = State::closed;
}

void write_all(const char* text, std::size_t length) {
  HEARTH_ASSERT(lock.is_locked() && state == State::open,
                "%zu bytes of the log are written without its lock, or in state %d", length, static_cast<int>(state));
  if (!file.write(text, length)) give_up("cannot be written any more");
}

void open_file(const policy::MachineView& view) {
  char path[4096];
  if (!expand_file_name(settings().decisions_file, path, sizeof(path))) return give_up("cannot be opened");
  // Locked: two processes would destroy each other's log.
  if (!file.open(path, O_WRONLY | O_CREAT, 0644, true))
    return give_up(errno == EWOULDBLOCK ? "is being written by another process; put %p into the name"
                                        : "cannot be opened");
  if (ftruncate(file.descriptor(), 0) != 0 && errno != EINVAL) return give_up("cannot be emptied");  // EINVAL: a pipe
  state = State::open;
  static char line[policy::kDecisionHeadRoom];
  char program[1024];
  const ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);
  program[length > 0 ? length : 0] = '\0';
  write_all(line, policy::decision_head(
                      {program, topology::machine().name.c_str(), process.policy->name(), view}, line));
}

// "program+0x1a2b", for addr2line.
void name_construct(const void* function, char* out, std::size_t room) {
  Dl_info info;
  const auto address = reinterpret_cast<std::uintptr_t>(function);
  if (dladdr(function, &info) == 0 || info.dli_fname == nullptr) {
    std::snprintf(out, room, "0x%lx", static_cast<unsigned long>(address));
    return;
  }
  const char* slash = std::strrchr(info.dli_fname, '/');
  std::snprintf(out, room, "%s+0x%lx", slash == nullptr ? info.dli_fname : slash + 1,
                static_cast<unsigned long>(address - reinterpret_cast<std::uintptr_t>(info.dli_fbase)));
}

}  // namespace

void start() {
  if (settings().decisions_file == nullptr) return;
  if (!process.several_locations) {
    warn(
        "HEARTH_LOG_DECISIONS=\"%s\": nothing to log, since policy %s deals no tasks on a machine with %zu location%s.",
        settings().decisions_file, process.policy->name(), topology::machine().locations.size(),
        topology::machine().locations.size() == 1 ? "" : "s");
    return;
  }
  process_id = getpid();
  on = true;
}

void number(Task* parent, Task* task) {
  task->child_number = parent->children_made++;
  task->children_made = 0;
}

void number_implicit(Thread* self) {
  self->task->child_number = static_cast<std::uint32_t>(self->tid);
  self->task->children_made = 0;
}

void note(const Task* task, const policy::MachineView& view, policy::Decision decision) {
  if (getpid() != process_id) return;
  policy::TaskPath path;
  for (const Task* at = task;; at = at->parent.load(std::memory_order_relaxed)) {
    path.prepend(at->child_number);
    if (at->is(kTaskImplicit)) break;
  }
  char construct[256];
  name_construct(task->function_of_program(), construct, sizeof(construct));
  decision.task = path.text();
  decision.construct = construct;
  char line[policy::kDecisionRoom];
  const std::size_t length = policy::decision_line(decision, line);
  lock.lock();
  if (state == State::unopened) open_file(view);
  if (state == State::open && budget.admits(length)) write_all(line, length);
  lock.unlock();
}

void finish() {
  if (!on || getpid() != process_id) return;
  char line[policy::kDecisionRoom];
  lock.lock();
  if (state == State::open) {
    write_all(line, budget.end_line(line));
    // Others may still decide something; their lines would stand behind the end.
    state = State::closed;
  }
  lock.unlock();
}

}  // namespace hearth::rt::decisions
