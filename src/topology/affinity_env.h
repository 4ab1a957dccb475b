// The affinity variables of libgomp and libomp that scripts in the field set, translated to places:
// GOMP_CPU_AFFINITY, KMP_AFFINITY, KMP_HW_SUBSET. Pure functions of text and Machine; the caller decides
// which variable wins and prints the remarks.
#pragma once

#include <cstdint>

#include <string_view>
#include <vector>

#include "topology/binding.h"
#include "topology/places.h"

namespace hearth::topology {

/// GOMP_CPU_AFFINITY="0 3 1-2 4-15:2": numbers, ranges and ranges with a stride, separated by blank space or
/// commas. One place per CPU, in that order; threads are then bound to them one after the other (as
/// OMP_PROC_BIND=true).
ParsedPlaces parse_gomp_cpu_affinity(std::string_view text, const Machine& machine);

/// What KMP_AFFINITY asks for.
struct KmpAffinity {
  enum class Type : std::uint8_t {
    unset,     // only modifiers were given ("verbose")
    disabled,  // keep hands off affinity altogether
    none,      // no binding; places still exist
    compact,
    scatter,
    balanced,
    explicit_,
  };
  Type type = Type::unset;
  bool refused = false;  // nothing of the value is used
  bool verbose = false;  // asks for a display of the binding
  bool warnings = true;
  bool reset = false;                // outside of parallel regions the primary thread has its first mask again
  PlaceList list;                    // compact, scatter, balanced, explicit_: where threads go, in thread order
  ProcBind bind = ProcBind::false_;  // how: close for those four
  std::vector<Remark> remarks;
};

/// KMP_AFFINITY=[modifier,...]type[,permute][,offset]
///   type      compact: neighbours in machine order; scatter: round robin over the machine from the top;
///             balanced: over cores, consecutive threads on one core once there are more threads than cores;
///             explicit: the proclist; none; disabled. logical and physical, which are deprecated, are refused with a remark.
///   modifier  granularity=fine|thread|core|tile|die|l2|ll_cache|numa|socket: how far a thread may move; core when absent.
///             proclist=[...], verbose, noverbose, warnings, nowarnings, reset, noreset, respect. norespect is known, but gets a
///             remark: Hearth never leaves the cpuset it was given.
///   permute   moves that many of the innermost levels to the front of the order: compact,1 walks cores' first siblings first
///   offset    the place at which the first thread starts
KmpAffinity parse_kmp_affinity(std::string_view text, const Machine& machine);

struct HwSubset {
  CpuMask cpus;  // what is left; all usable CPUs when the value was refused
  bool refused = false;
  std::vector<Remark> remarks;
};

/// KMP_HW_SUBSET="2s,4c,1t", "1s@1", "8c:eff1&4c:eff0", ":2s,4c": so many of each layer inside each of the
/// layer before, beginning with number @offset. `*` or nothing before the layer means all of them. Layers:
/// s(ocket), d(ie: read as socket), n(uma), l3/ll(c), l2 and tile (read as cores where no cache description
/// tells them apart), c(ore), t(hread). Cores take an attribute: :effN (kind N counted from the slowest),
/// :intel_core, :intel_atom. Separators: comma, or the x of older releases.
/// Sockets, cores and threads count as named with all of them, unless the text begins with a colon. A request
/// beyond what is there is refused as a whole, as libomp does.
HwSubset parse_kmp_hw_subset(std::string_view text, const Machine& machine);

}  // namespace hearth::topology
