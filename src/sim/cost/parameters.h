// What the simulator needs to know of a machine beyond topology::Machine: the table [simulator] of a model
// file (schema: docs/reference/model-files.md). Pure; the reader checks every figure and refuses one without a source
// mark.
#pragma once

#include <cstdint>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/workload/workload.h"
#include "topology/machine.h"

namespace hearth::sim {

/// A figure of a model. Where only a range is known, results over it are bands.
struct Figure {
  double value = 0;
  double low = 0;  // low == high == value: known
  double high = 0;
  char mark = 0;  // P, M, S, C, A or H, as in the model files

  bool known() const { return low == high; }
};

struct PatternSpeed {
  Figure misses_in_flight;  // of one core
  Figure overlap;           // 0 to 1: how much of the shorter of computing and waiting the longer one hides
};

/// A directed link between two nodes, as indices of topology::Machine::nodes.
struct Link {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  Figure gbs;
  std::uint32_t group = 0;  // of Parameters::link_groups: links given by one figure have one value in a draw
};

/// How much longer a line takes from memory at this distance (of Machine::node_distance) than from the step
/// before; the first step is local memory. So no draw makes what is farther nearer.
struct LatencyStep {
  std::uint32_t distance = 10;
  Figure more_ns;
};

inline constexpr const char* kPatternNames[kPatterns] = {"stream", "strided", "random", "chase"};

struct Parameters {
  Figure clock_ghz;
  std::uint32_t line_bytes = 64;
  std::uint32_t page_bytes = 4096;
  PatternSpeed patterns[kPatterns];

  /// By location: a node's controllers, or what a home cache serves. Last-level caches of one node have its
  /// controllers in common.
  std::vector<Figure> memory_gbs;
  bool memory_alike = false;  // they are one figure, with one value in a draw
  std::vector<Link> links;
  std::vector<std::string> link_groups;  // their names
  /// By from * nodes + to: indices of links that the answer to a request takes on its way from the node of
  /// the memory to that of the core; empty on the diagonal. Shortest ways, the first of equals.
  std::vector<std::vector<std::uint32_t>> routes;
  /// From the CPUs of a node (row) to the memory of a node (column), by the steps' present values or, without
  /// steps, as the machine has it. Empty where home caches are the locations: Machine::home_latency_ns is
  /// known exactly.
  topology::Matrix<double> read_ns;
  std::vector<LatencyStep> latency_steps;
  topology::Matrix<std::uint32_t> latency_step_of;  // which step a pair of nodes is; empty without steps
  Figure remote_occupancy;  // of the serving node, by a byte that leaves it; a byte that stays takes 1
  Figure write_occupancy;   // by a written byte: fill and write-back are 2
  Figure write_latency;     // of a written line by a read one, where the model has no write latencies
  Figure coherence_gbs;     // all misses of the machine together; 0: no such limit

  /// A task's reuse of what its worker's node (or home cache) kept, and of its own private cache.
  std::uint64_t llc_bytes = 0;  // per location
  std::uint32_t llc_ways = 0;   // 0: not known, and what fits is kept
  std::uint64_t private_bytes = 0;
  Figure llc_ns;  // a line from the last-level cache

  Figure off_chip_ns;   // home caches: more for a line that its home does not hold
  Figure off_chip_gbs;  // and all of those together; 0: no such limit

  // What scheduling costs, in nanoseconds.
  Figure create_ns;
  Figure item_ns;       // more to create a task, for each item that its clauses name
  Figure deal_ns;       // to resolve a footprint and to put the task into another's inbox
  Figure take_ns;       // from the own deque or inbox
  Figure steal_ns;      // one attempt at the nearest
  Figure steal_hop_ns;  // more per step of distance
  Figure backoff_min_ns;
  Figure backoff_max_ns;
  Figure wake_ns;
  /// One processor runs all workers in turn, so long each on average; 0: they all run at once.
  Figure turn_us;

  /// What the runtime's own data of a task moves, all at the location that creates it: what the creator
  /// writes, what a worker elsewhere fetches to run it, and how much more where a policy looks at the
  /// footprint. The time for that is in what scheduling costs.
  struct TaskData {
    Figure create_bytes, run_bytes, deal_create_bytes, deal_run_bytes;
  } task_data;

  // Migration.
  Figure move_pages_base_us;
  Figure move_pages_us;  // per page
  Figure move_thread_us;
  Figure fault_us;  // next touch: per page that is touched

  /// What energy/model.h multiplies: watts, nanojoules of a line, microjoules of a switch.
  struct Energy {
    bool given = false;
    Figure uncore_w, idle_w, active_w, cache_nj, memory_nj, remote_nj, switch_uj;
  } energy;

  /// The names of all figures with a range, "patterns.stream.overlap", in the order of drawn().
  std::vector<std::string> ranges() const;
  /// The same with every range replaced by one value of it: `unit` in [0, 1) for each, in the order of
  /// ranges().
  Parameters drawn(const std::vector<double>& unit) const;
  /// Fills read_ns in from latency_steps, where there are any.
  void resolve_latencies();
};

struct LoadedParameters {
  Parameters parameters;
  /// "FILE:LINE: what; legal: ..." each, by line; empty: the parameters are good.
  std::vector<std::string> problems;

  bool ok() const { return problems.empty(); }
  std::string error() const { return problems.empty() ? std::string() : problems.front(); }
};

/// The table [simulator] of the model that `machine` was read from. `file` is only named in messages.
LoadedParameters parse_parameters(std::string_view text, const std::string& file, const topology::Machine& machine);
LoadedParameters load_parameters(const std::string& path, const topology::Machine& machine);

}  // namespace hearth::sim
