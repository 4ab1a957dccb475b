// num_threads with OpenMP 6.0's list and strict modifier, as later clangs compile it.
//
// Any thread of the program. Lists are kept once each, for good: the ICVs of tasks point at them, and a
// program has a handful.
#include <cstdint>
#include <cstring>
#include <new>

#include "abi/export.h"
#include "abi/kmpc/kmp_types.h"
#include "base/log.h"
#include "runtime/team/fork.h"
#include "runtime/sync/lock.h"
#include "runtime/state/thread.h"

namespace {

using hearth::rt::Thread;
using hearth::rt::ThreadsList;

struct Kept {
  ThreadsList list;
  Kept* next;
};

constinit hearth::rt::Lock kept_lock;
Kept* kept = nullptr;  // under kept_lock

const ThreadsList* keep(std::uint32_t length, const std::int32_t* values) {
  ThreadsList wanted;
  wanted.count = static_cast<std::int32_t>(length < ThreadsList::kMost ? length : ThreadsList::kMost);
  for (std::int32_t i = 0; i < wanted.count; ++i) wanted.values[i] = values[i] > 0 ? values[i] : 1;
  hearth::rt::LockGuard guard(kept_lock);
  for (const Kept* old = kept; old != nullptr; old = old->next)
    if (std::memcmp(&old->list, &wanted, sizeof(wanted)) == 0) return &old->list;
  auto* fresh = new (std::nothrow) Kept{wanted, kept};
  if (fresh == nullptr) hearth::fatal("out of memory: no room for the list of a num_threads clause");
  kept = fresh;
  return &fresh->list;
}

void push_list(Thread* self, std::uint32_t length, const std::int32_t* values) {
  if (length == 0) return;
  self->pushed_threads = values[0];
  self->pushed_list = length > 1 ? keep(length, values) : nullptr;
}

// Strict: fewer threads than asked for are an error, or worth a warning. Told where the ICVs do not allow
// them; a thread that the system refuses has a message of its own.
void be_strict(Thread* self, std::int32_t wanted, int severity, const char* message) {
  constexpr int kFatal = 2;
  const std::int32_t given = hearth::rt::decide_team_size(self, wanted);
  if (given >= wanted) return;
  const char* text = message != nullptr ? message : "fewer threads than num_threads(strict: ...) asks for";
  if (severity == kFatal) hearth::fatal("%s (%d asked for, %d given).", text, wanted, given);
  hearth::warn("%s (%d asked for, %d given).", text, wanted, given);
}

}  // namespace

HEARTH_EXPORT void __kmpc_push_num_threads_strict(ident_t*, std::int32_t, std::int32_t count, int severity,
                                                  const char* message) {
  Thread* self = Thread::current();
  self->pushed_threads = count;
  be_strict(self, count, severity, message);
}

HEARTH_EXPORT void __kmpc_push_num_threads_list(ident_t*, std::int32_t, std::uint32_t length,
                                                const std::int32_t* values) {
  push_list(Thread::current(), length, values);
}

HEARTH_EXPORT void __kmpc_push_num_threads_list_strict(ident_t*, std::int32_t, std::uint32_t length,
                                                       const std::int32_t* values, int severity,
                                                       const char* message) {
  Thread* self = Thread::current();
  push_list(self, length, values);
  if (length > 0) be_strict(self, values[0], severity, message);
}

/// Takes back what was pushed for a region that does not come.
HEARTH_EXPORT void __kmpc_pop_num_threads(ident_t*, std::int32_t) {
  Thread* self = Thread::current();
  self->pushed_threads = 0;
  self->pushed_list = nullptr;
}
