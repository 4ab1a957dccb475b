// Which place each thread of a team gets: OpenMP 5.2, section 10.1.3, as pure functions of numbers.
//
// Nothing is allocated, nothing is shared; O(1) per thread, so a forking thread may call it for every member
// of a team, or every member for itself.
#pragma once

#include <cstdint>

namespace hearth::topology {

/// Values as in omp_proc_bind_t.
enum class ProcBind : std::uint8_t { false_ = 0, true_ = 1, primary = 2, close = 3, spread = 4 };
const char* proc_bind_name(ProcBind bind);

/// A contiguous piece of the place list: place-partition-var. Partitions never wrap around the end of the
/// list.
struct PlaceRange {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  bool holds(std::uint32_t place) const { return place >= first && place - first < count; }
  friend bool operator==(const PlaceRange&, const PlaceRange&) = default;
};

/// The place that a thread runs on and the partition that its implicit task inherits.
struct Binding {
  std::int32_t place = -1;  // -1: not bound
  PlaceRange partition;
  friend bool operator==(const Binding&, const Binding&) = default;
};

/// What thread `thread` of a team of `team_size` gets, whose parent ran on `parent_place` with `partition`.
///
///   false_   not bound; the partition is handed on.
///   true_    implementation defined by the specification: here it is close.
///   primary  the parent's place, whole partition.
///   close    T ≤ P: consecutive places from the parent's on. T > P: each place holds ⌊T/P⌋ or ⌈T/P⌉ threads
///   with consecutive
///            numbers, beginning with the parent's place; the first T mod P places of that walk hold the
///            larger number.
///   spread   T ≤ P: the partition is cut into T subpartitions of ⌊P/T⌋ or ⌈P/T⌉ consecutive places, the
///   first P mod T of them
///            being the larger; the primary thread stays on the parent's place and gets the subpartition
///            around it, each next thread gets the first place of the next subpartition, wrapping around. T >
///            P: as close, and each thread's partition is its own place.
///
/// A parent that is not bound (parent_place < 0), or whose place lies outside its partition, counts as being
/// on the partition's first place. An empty partition, or a team of nobody, binds nobody.
Binding bind_thread(ProcBind bind, PlaceRange partition, std::int32_t parent_place, std::uint32_t team_size,
                    std::uint32_t thread);

}  // namespace hearth::topology
