// How many writes to lines that several threads use the process has made: only in the counting build
// (runtime/sync/shared_writes.h).
#include "runtime/sync/shared_writes.h"

#ifdef HEARTH_COUNT_SHARED_WRITES
#include <cstdint>

#include "abi/export.h"
#include "runtime/state/thread_table.h"

HEARTH_EXPORT std::uint64_t hearth_shared_writes() {
  std::uint64_t sum = 0;
  hearth::rt::for_each_thread(
      [](hearth::rt::Thread* thread, void* total) {
        *static_cast<std::uint64_t*>(total) += thread->shared_writes;
      },
      &sum);
  return sum;
}
#endif
