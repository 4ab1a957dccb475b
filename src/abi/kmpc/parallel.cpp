// Clang's entry points for parallel regions and barriers: translators to the core in runtime/.
//
// Any thread of the program. The `gtid` arguments are ignored: the thread knows who it is.
#include <cstdarg>
#include <cstdint>

#include "abi/export.h"
#include "abi/kmpc/kmp_types.h"
#include "runtime/team/barrier.h"
#include "runtime/tools/events.h"
#include "runtime/team/fork.h"
#include "runtime/state/region.h"

using hearth::rt::Region;
using hearth::rt::Thread;

namespace {

constexpr std::int32_t kMaxArgsOnStack = 64;

void fork_call(Thread* self, std::int32_t argc, void* microtask, std::va_list list) {
  void* few[kMaxArgsOnStack];
  void** argv = argc <= kMaxArgsOnStack
                    ? few
                    : static_cast<void**>(__builtin_alloca(sizeof(void*) * static_cast<std::size_t>(argc)));
  for (std::int32_t i = 0; i < argc; ++i) argv[i] = va_arg(list, void*);
  Region region;
  region.function = microtask;
  region.argv = argv;
  region.argc = argc;
  region.is_kmp = true;
  region.num_threads = self->pushed_threads;
  region.proc_bind = self->pushed_bind;
  if (HEARTH_UNLIKELY(self->pushed_list != nullptr)) {
    region.threads_list = self->pushed_list;
    self->pushed_list = nullptr;
  }
  self->pushed_threads = 0;
  self->pushed_bind = 0;
  hearth::rt::parallel(self, region);
}

}  // namespace

HEARTH_EXPORT void __kmpc_fork_call(ident_t*, std::int32_t argc, void* microtask, ...) {
  Thread* self = Thread::current();
  HEARTH_ENTRY(self);
  std::va_list list;
  va_start(list, microtask);
  fork_call(self, argc, microtask, list);
  va_end(list);
}

HEARTH_EXPORT void __kmpc_fork_call_if(ident_t*, std::int32_t argc, void* microtask, std::int32_t condition,
                                       void* args) {
  Thread* self = Thread::current();
  HEARTH_ENTRY(self);
  Region region;
  region.function = microtask;
  region.argv = &args;
  region.argc = argc;
  region.is_kmp = true;
  region.num_threads = condition != 0 ? self->pushed_threads : 1;
  region.proc_bind = self->pushed_bind;
  self->pushed_threads = 0;
  self->pushed_bind = 0;
  hearth::rt::parallel(self, region);
}

HEARTH_EXPORT void __kmpc_serialized_parallel(ident_t*, std::int32_t) {
  Thread* self = Thread::current();
  // Not an Entry: the encountering task stays in the runtime until __kmpc_end_serialized_parallel.
  if (hearth::rt::events::active()) {
    self->ompt_codeptr = __builtin_return_address(0);
    self->task->ompt_enter_frame = __builtin_frame_address(0);
  }
  Region region;
  region.num_threads = 1;
  region.is_kmp = true;
  // The construct's clauses, which clang pushes before it looks at `if`: not for the next construct.
  self->pushed_threads = 0;
  self->pushed_bind = 0;
  hearth::rt::begin_region(self, region);
  if (hearth::rt::events::active())
    hearth::rt::events::enter_user_code(self->task, __builtin_frame_address(0));
}

HEARTH_EXPORT void __kmpc_end_serialized_parallel(ident_t*, std::int32_t) {
  Thread* self = Thread::current();
  hearth::rt::end_region(self);
  if (hearth::rt::events::active()) {
    self->ompt_codeptr = nullptr;
    self->task->ompt_enter_frame = nullptr;
  }
}

HEARTH_EXPORT std::int32_t __kmpc_global_thread_num(ident_t*) { return Thread::current()->gtid; }

HEARTH_EXPORT std::int32_t __kmpc_bound_thread_num(ident_t*) { return Thread::current()->tid; }

HEARTH_EXPORT std::int32_t __kmpc_global_num_threads(ident_t*) { return Thread::current()->team->size; }

HEARTH_EXPORT std::int32_t __kmpc_bound_num_threads(ident_t*) { return Thread::current()->team->size; }

HEARTH_EXPORT std::int32_t __kmpc_in_parallel(ident_t*) { return Thread::current()->team->active_level > 0; }

HEARTH_EXPORT std::int32_t __kmpc_ok_to_fork(ident_t*) { return 1; }

HEARTH_EXPORT void __kmpc_begin(ident_t*, std::int32_t) {}

HEARTH_EXPORT void __kmpc_end(ident_t*) {}

HEARTH_EXPORT void __kmpc_push_num_threads(ident_t*, std::int32_t, std::int32_t num_threads) {
  Thread::current()->pushed_threads = num_threads;
}

HEARTH_EXPORT void __kmpc_push_proc_bind(ident_t*, std::int32_t, std::int32_t proc_bind) {
  Thread::current()->pushed_bind = proc_bind;
}

HEARTH_EXPORT void __kmpc_barrier(ident_t* where, std::int32_t) {
  Thread* self = Thread::current();
  HEARTH_ENTRY(self);
  if (hearth::rt::events::active()) {
    constexpr std::int32_t kExplicit = 0x20, kImplicit = 0x40;  // in ident_t::flags
    hearth::rt::events::set_barrier_kind(
        self, (where->flags & kExplicit) != 0   ? ompt_sync_region_barrier_explicit
              : (where->flags & kImplicit) != 0 ? ompt_sync_region_barrier_implicit_workshare
                                                : ompt_sync_region_barrier_implementation);
  }
  hearth::rt::barrier(self);
}
