// simulate(): a workload on a machine under a policy, from the first task to the end of the last.
//
// What is modelled: src/sim/README.md. The policy is the very object that the runtime uses; queues, searches
// and patience follow docs/internals/dealing-and-stealing.md. Pure: the same arguments
// give the same result, to the byte, on every machine; several threads may simulate at once.
#pragma once

#include <cstdint>

#include <functional>
#include <string>
#include <vector>

#include "placement/distribution.h"
#include "policy/experience.h"
#include "policy/task_policy.h"
#include "sim/cost/fluid.h"
#include "sim/cost/parameters.h"
#include "sim/engine/history.h"
#include "sim/workload/workload.h"
#include "topology/machine.h"

namespace hearth::sim {

using placement::Location;

/// On which CPUs the workers are. A core's further SMT siblings are used only when there are more workers
/// than cores.
enum class Seating : std::uint8_t {
  close,             // core after core in the machine's order
  spread,            // over all cores, evenly
  one_per_location,  // worker i at the i-th location that has cores
};

/// One call of TaskPolicy::deal(); for a log of decisions.
struct Decision {
  TaskIndex task;
  bool released;  // by the end of a predecessor, and not as its creator made it
  bool stated;    // whether the policy was shown MachineTables::stated
  Location creator;
  const placement::Need& need;
  const policy::LoadView& load;
  Location chosen;  // policy::kHere: the creator's own queue
  std::uint32_t worker;
  Time when;
};

struct RunOptions {
  const policy::TaskPolicy* policy = nullptr;  // null: work stealing
  policy::Significance significance = policy::Significance::gain;
  policy::Threshold threshold = policy::Threshold::hops;
  std::int32_t vicinity = 0;  // locations of a group: 1, 4, 8 or 16; 0: all are one
  /// Of regions that are distributed; of every region with `everything` (numactl --interleave is that, and
  /// fine).
  placement::Distribution distribution;
  bool everything = false;
  /// The last-level cache of the initial thread begins with what that has filled, as far as it fits; else it
  /// is empty.
  bool warm = false;
  /// Distributed allocations that the program has made before: `coarse` goes on from there.
  std::uint64_t allocations_before = 0;
  /// One for each region, instead of `distribution`; empty: none.
  std::vector<placement::Kind> by_region;
  std::uint32_t threads = 0;  // 0: as many as the machine's default team; one per location: ignored
  Seating seating = Seating::close;
  /// The CPU of each worker, by the kernel's number; empty: as `threads` and `seating` say.
  std::vector<unsigned> cpus;
  std::uint64_t seed = 1;
  /// No races: costs do not vary, of equals the first is taken, and victims are tried in order.
  bool deterministic = false;
  /// Tasks in the creator's own queue beyond which a further one that would stay there runs at once; 0:
  /// never.
  std::uint32_t task_cutoff = 256;
  /// Bandwidth is shared out anew so long at most after an activity has begun or ended: about a round trip to
  /// memory, of which all requests that are under way know nothing. 0: at once, which takes longer to work
  /// out.
  Time grain = 100'000;
  /// What earlier runs have shown, by task construct (Workload::kinds); for policies that weigh load. Empty: nothing.
  std::vector<policy::Experience> earlier;
  std::function<void(const Decision&)> log;
  History* history = nullptr;  // filled if there is one
  /// Called now and then with the tasks that have ended; false ends the simulation, whose result then says
  /// so.
  std::function<bool(std::uint64_t)> progress;
};

struct WorkerResult {
  Location location = 0;  // the last, if it has moved
  Time work = 0;          // running bodies: computing and waiting for memory
  Time create = 0;        // creating and dealing
  Time search = 0;        // taking, stealing, waking up
  Time migrate = 0;       // moving memory or itself; not what pages cost that move when they are touched
  Time wait = 0;          // the rest
  std::uint64_t tasks = 0;
};

struct Result {
  Time makespan = 0;
  std::vector<WorkerResult> workers;
  std::int32_t locations = 0;
  /// Bytes that came from, or went to, memory (or home caches, where these are the locations): by computing
  /// location x home, row by row.
  std::vector<std::uint64_t> misses;
  /// Remote bytes, each counted as many times as the distance is longer than to local memory.
  double weighted_remote = 0;
  /// Bytes that the location's last-level cache had, which are no misses; bytes that the home cache had,
  /// which are among them.
  std::uint64_t cache_hits = 0;
  std::uint64_t migrated_bytes = 0;  // in pages that were moved
  std::uint64_t tasks = 0;           // that have ended
  std::uint64_t unfinished = 0;      // not 0 only if `progress` ended it, or if the workload is inconsistent
  std::uint64_t steals = 0;          // taken from another worker's queue, or from another location's inbox
  std::uint64_t far_steals = 0;      // of those, from another location
  std::uint64_t deals = 0;           // put into an inbox
  std::vector<policy::Experience> seen;  // by task construct, where load is weighed
  std::uint64_t solutions = 0;       // how often the sharing of bandwidth was worked out

  std::uint64_t missed(Location computing, Location home) const {
    return misses[static_cast<std::size_t>(computing * locations + home)];
  }
  std::uint64_t bytes() const;
  /// Of the missed bytes, those at the computing location: 0 to 1; 1 if there are none.
  double local_share() const;
};

/// `workload` is consistent (Workload::inconsistency()), and every range of `parameters` is drawn.
Result simulate(const Workload& workload, const topology::Machine& machine, const Parameters& parameters,
                const RunOptions& options);

}  // namespace hearth::sim
