// gcc's entry points for sections: translators to runtime/loop/loop.h. Sections are numbered from 1; 0 means that
// none is left. Each member of the team for itself.
#include "abi/export.h"
#include "abi/gomp/loop.h"
#include "abi/work_events.h"
#include "runtime/team/barrier.h"

using hearth::rt::Thread;
namespace abi = hearth::abi;

namespace {

unsigned next(Thread* self) {
  std::uint64_t first = 0, count = 0;
  if (!hearth::rt::next_chunk(self, first, count)) return 0;
  if (hearth::rt::events::active()) abi::tell_section(self);
  return static_cast<unsigned>(first) + 1;
}

void begin(Thread* self, unsigned count) {
  hearth::rt::begin_sections(self, count);
  abi::begin_work(self, ompt_work_sections, count);
}

void leave_sections(Thread* self) {
  hearth::rt::end_loop(self);
  abi::end_work(self);
}

}  // namespace

HEARTH_EXPORT unsigned GOMP_sections_start(unsigned count) {
  Thread* self = Thread::current();
  HEARTH_ENTRY(self);
  begin(self, count);
  return next(self);
}

HEARTH_EXPORT unsigned GOMP_sections2_start(unsigned count, std::uintptr_t* reductions, void** mem) {
  Thread* self = Thread::current();
  HEARTH_ENTRY(self);
  begin(self, count);
  abi::begin_gomp_share(self, reductions, mem);
  return next(self);
}

HEARTH_EXPORT unsigned GOMP_sections_next() {
  Thread* self = Thread::current();
  HEARTH_ENTRY(self);
  return next(self);
}

HEARTH_EXPORT void GOMP_sections_end() {
  Thread* self = Thread::current();
  HEARTH_ENTRY(self);
  leave_sections(self);
  abi::name_barrier_after_work(self);
  hearth::rt::barrier(self);
}

HEARTH_EXPORT bool GOMP_sections_end_cancel() {
  Thread* self = Thread::current();
  HEARTH_ENTRY(self);
  leave_sections(self);
  abi::name_barrier_after_work(self);
  return hearth::rt::barrier(self, true);
}

HEARTH_EXPORT void GOMP_sections_end_nowait() {
  Thread* self = Thread::current();
  HEARTH_ENTRY(self);
  leave_sections(self);
}
