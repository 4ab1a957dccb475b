// omp_* calls about threads, teams and ICVs of the current task. Any thread of the program.
#include <cstdint>

#include "abi/export.h"
#include "runtime/runtime.h"
#include "runtime/tasking.h"

using hearth::rt::Thread;

HEARTH_EXPORT int omp_get_thread_num() { return Thread::current()->tid; }
HEARTH_EXPORT int omp_get_num_threads() { return Thread::current()->team->size; }
