#include "runtime/team/budget.h"

#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <ctime>

#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "base/thread_budget.h"
#include "runtime/settings/settings.h"
#include "runtime/state/process.h"
#include "runtime/sync/lock.h"
#include "runtime/sync/wait.h"

namespace hearth::rt::budget {
namespace {

constexpr char kLoss[] =
    "This process runs without a budget: it starts as many threads as it is told to, and the processes that share the budget do "
    "not know of them.";

struct Shared {
  Lock lock;  // over all below, once start() is over
  ThreadBudget mine;
  BudgetPage* page = nullptr;
  std::uint32_t size = 0;
  bool over = false;  // nobody joins any more
};
constinit Shared shared;

// Some 5 ns, and milliseconds apart: what it is compared with is longer.
std::int64_t now_coarse() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
  return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

// Under the lock. False: there is no budget.
bool join() {
  if (shared.mine.joined()) return true;
  if (shared.over) return false;
  const std::uint64_t owner = budget_owner_now(static_cast<std::uint32_t>(getpid()));
  if (owner > kBudgetNobody && shared.mine.join(shared.page, shared.size, owner, budget_owner_lives)) return true;
  shared.over = true;
  HEARTH_WARN_ONCE("HEARTH_THREAD_BUDGET: %s. %s",
                   owner <= kBudgetNobody ? "/proc/self/stat cannot be read, which tells processes apart"
                                          : "1024 processes share the budget, and there is no room for more",
                   kLoss);
  return false;
}

}  // namespace

void start() {
  const Budget& asked = settings().budget;
  if (asked.threads == Budget::off) return;
  // Numbers of processes mean something else in another namespace: each has a page of its own.
  struct stat space;
  if (!file_status("/proc/self/ns/pid", space)) {
    warn("HEARTH_THREAD_BUDGET: /proc/self/ns/pid: %s. %s", strerror(errno), kLoss);
    return;
  }
  char path[128];
  std::snprintf(path, sizeof path, "/dev/shm/hearth-budget.%u.%" PRIu64 ".%.*s", unsigned{geteuid()}, std::uint64_t{space.st_ino},
                static_cast<int>(asked.name.size()), asked.name.data());
  const char* why = "";
  shared.page = map_budget_page(path, why);
  if (shared.page == nullptr) {
    const int error = errno;
    warn("HEARTH_THREAD_BUDGET: %s %s%s%s. %s", path, why, error != 0 ? ": " : "", error != 0 ? strerror(error) : "", kLoss);
    return;
  }
  const std::uint64_t magic = shared.page->magic.load(std::memory_order_relaxed);
  if (magic != 0 && magic != kBudgetMagic) {
    unmap_budget_page(shared.page);
    shared.page = nullptr;
    warn("HEARTH_THREAD_BUDGET: %s is not a budget of threads of this version. %s", path, kLoss);
    return;
  }
  shared.size = static_cast<std::uint32_t>(asked.threads == Budget::cpus ? contention.cpus : asked.threads);
  process.has_budget = true;
}

std::int32_t take(Thread* self, std::int32_t size, Part& part) {
  const LockGuard guard(shared.lock);
  if (!join()) return size;
  // A worker is counted by the region that it works for.
  const bool counted = !self->is_root || self->in_budget;
  const auto want = static_cast<std::uint32_t>(counted ? size - 1 : size);
  part.asked = true;
  part.threads = static_cast<std::int32_t>(shared.mine.take(want, now_coarse()));
  part.has_primary = !counted && part.threads > 0;
  if (part.has_primary) self->in_budget = true;
  return counted ? part.threads + 1 : part.threads > 1 ? part.threads : 1;
}

void note(Team* team, const Part& part) {
  team->budget = part.threads + 1;
  team->budget_has_primary = part.has_primary;
}

void give(Thread* self, Team* team) {
  const std::int32_t threads = team->budget - 1;
  team->budget = 0;
  if (team->budget_has_primary) self->in_budget = false;
  const LockGuard guard(shared.lock);
  if (shared.mine.joined()) shared.mine.give(static_cast<std::uint32_t>(threads), now_coarse());
}

void leave() {
  if (!process.has_budget) return;
  const LockGuard guard(shared.lock);
  shared.mine.leave();
  shared.over = true;
}

void forget_after_fork() {
  shared.lock.reset();
  shared.mine.forget();
  if (Thread* self = Thread::current_or_null()) self->in_budget = false;
}

}  // namespace hearth::rt::budget
