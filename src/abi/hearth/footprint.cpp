// The calls of <hearth/hearth.h> about tasks: what the next one touches. The thread that makes the task.
#include "abi/export.h"
#include "hearth/hearth.h"
#include "runtime/locality/footprint.h"

namespace {

namespace rt = hearth::rt;

// Null: nobody would read it.
rt::Thread* listener() {
  rt::Thread* self = rt::Thread::current();
  return HEARTH_UNLIKELY(rt::wants_footprints(self)) ? self : nullptr;
}

bool take_access(int access, rt::FootprintRange& range) {
  range.decides = (access & HEARTH_DECIDES) != 0;
  access &= ~HEARTH_DECIDES;
  range.access = static_cast<hearth::placement::Access>(access);
  return access >= HEARTH_READ && access <= HEARTH_READ_WRITE;
}

void announce_rows(const void* base, std::size_t rows, std::size_t row_bytes, std::size_t pitch, int access) {
  rt::Thread* self = listener();
  if (self == nullptr) return;
  rt::FootprintRange range;
  range.begin = reinterpret_cast<std::uintptr_t>(base);
  range.length = row_bytes;
  range.rows = rows;
  range.pitch = pitch;
  std::uint64_t end = 0;
  if (rows == 0 || row_bytes == 0 || __builtin_mul_overflow(rows - 1, pitch, &end) ||
      __builtin_add_overflow(end, row_bytes, &end) || __builtin_add_overflow(end, range.begin, &end))
    return;                 // nothing, or beyond the end of the address space
  if (pitch < row_bytes) {  // rows that overlap
    range.length = end - range.begin;
    range.rows = 1;
  }
  if (take_access(access, range)) rt::announce(self, range);
}

}  // namespace

HEARTH_EXPORT void hearth_task_footprint(const void* begin, std::size_t length, int access) {
  announce_rows(begin, 1, length, length, access);
}

HEARTH_EXPORT void hearth_task_footprint_strided(const void* base, std::size_t rows, std::size_t row_bytes,
                                                 std::size_t pitch, int access) {
  announce_rows(base, rows, row_bytes, pitch, access);
}

HEARTH_EXPORT void hearth_taskloop_footprint(const void* base, std::ptrdiff_t bytes_per_iteration,
                                             int access) {
  rt::Thread* self = listener();
  if (self == nullptr) return;
  rt::FootprintRange range;
  range.begin = reinterpret_cast<std::uintptr_t>(base);
  range.per_iteration = bytes_per_iteration;
  if (bytes_per_iteration != 0 && take_access(access, range)) rt::announce(self, range);
}
