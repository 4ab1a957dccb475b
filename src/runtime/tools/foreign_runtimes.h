// What `hearth run --verify` is told when a process ends: how much Hearth served, and who else did.
//
// One line of JSON per process, appended with a single write(2) to the file that HEARTH_VERIFY_FILE names, so
// that the lines of many processes do not mix:
//
//   {"pid":7,"exe":"/usr/bin/app","regions":12,"tasks":340,"foreign":[],"mapped":["/usr/lib/…/libgomp.so.1.0.0"]}
//
// foreign: OpenMP runtimes that some object of the process is bound to (or that are built into the object
// that uses them), so that they may have served it. mapped: runtimes that lie in memory but that nobody's
// calls go to.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hearth::rt {

/// What this process has done; a forked child starts at zero.
struct Served {
  std::uint64_t regions = 0;
  std::uint64_t tasks = 0;
  std::uint64_t plans = 0;          // that moved threads or pages to each other
  std::uint64_t threads_moved = 0;
  std::uint64_t pages_moved = 0;
};

/// Append the line, if settings() name a file. Called once at the end of the process, when no other thread of
/// the runtime is in a region any more. Allocates nothing.
void verify_report(const Served& served);

/// Calls `visit` for each OpenMP runtime in the process that is not this library: objects that define
/// GOMP_parallel or
/// __kmpc_fork_call. `bound` tells whether calls of some object go to it. Takes the loader's lock; not from a
/// signal handler, and not by two threads at once.
using ForeignVisitor = void (*)(void* context, const char* path, bool bound);
void visit_foreign_runtimes(ForeignVisitor visit, void* context);

}  // namespace hearth::rt
