// Places: OMP_PLACES turned into lists of CPU sets. Pure functions of the text and the Machine, so the same
// text can be tried on any machine; the caller prints what is said about it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "topology/cpu_mask.h"
#include "topology/machine.h"

namespace hearth::topology {

/// Something a person should know about a value they gave.
struct Remark {
  std::string wrong;         // what is wrong
  std::size_t column = 0;    // from 1; 0: the whole value
  std::string legal;         // may be empty, when the value was legal but asks for what is not there
  std::string used_instead;  // what is used now
};

/// `NAME="value": what is wrong at column N; legal: …; using X.`, without what the remark leaves out.
std::string remark_line(std::string_view variable, std::string_view value, const Remark& remark);

/// The place list: place numbers are indices. No place is empty, and none holds a CPU that we may not use.
struct PlaceList {
  std::vector<CpuMask> places;
  /// "threads", "cores", "ll_caches", "numa_domains", "sockets", or "list".
  std::string name;

  std::uint32_t size() const { return static_cast<std::uint32_t>(places.size()); }
  const CpuMask& operator[](std::size_t place) const { return places[place]; }
  /// The first place that holds `cpu`, or -1.
  int place_of_cpu(unsigned cpu) const;
  /// "{0-3},{4-7}".
  std::string text() const;
};

enum class PlaceUnit : std::uint8_t { threads, cores, ll_caches, numa_domains, sockets };

/// One place per unit that has a usable CPU, in machine order; the first `most` of them when that is not 0.
PlaceList places_of(PlaceUnit unit, const Machine& machine, std::uint32_t most = 0);

struct ParsedPlaces {
  PlaceList list;  // what to use; cores when the value was refused
  bool refused = false;
  std::vector<Remark> remarks;
};

/// OpenMP 5.2, section 21.1.6. Numbers are the kernel's CPU numbers. Beyond the grammar's letter: names in
/// any case; blank space anywhere between tokens. What the specification leaves open:
///   - CPUs that this process may not use are left out with a remark, places that become empty vanish;
///   - name(n) with more units than there are gives all of them, with a remark; with fewer, the first n in
///   machine order;
///   - !n in a place removes n from it, !place removes every equal place from the list, wherever they stand
///   in it; what excludes
///     nothing gets a remark.
ParsedPlaces parse_places(std::string_view text, const Machine& machine);

}  // namespace hearth::topology
