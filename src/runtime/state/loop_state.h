// What one member remembers of the worksharing construct that it is in. Written and read by that member
// alone.
//
// Iterations are numbered 0 to trip-1 here, whatever the type, the bounds and the direction of the program's
// loop; the skins translate. [next, end) is the member's reserve: iterations that are its own already and
// that it hands to the program chunk by chunk without asking anybody.
#pragma once

#include <atomic>
#include <cstdint>

namespace hearth::rt {

struct WorkShare;
struct RememberedLoop;

enum class LoopKind : std::uint8_t {
  none,       // no loop, or nothing left of it
  blocks,     // static: one block a member
  rounds,     // static with a chunk: chunks go round
  counter,    // dynamic, monotonic: the team's counter
  guided,     // the same counter, chunks that shrink
  stealing,   // dynamic, nonmonotonic: a range a member
  remembered  // dynamic and guided, nonmonotonic, where there are several locations: loop_affinity.h
};

struct LoopState {
  std::uint64_t next = 0, end = 0;  // the reserve
  std::uint64_t chunk = 1;          // what the program gets at a time; 0: the whole reserve
  LoopKind kind = LoopKind::none;
  bool ordered = false;
  bool eager = false;  // may reserve several chunks at once
  bool alone = false;  // stealing: the reserve holds all of this member's iterations, its range is unused
  std::uint32_t reserve = 1;      // units to reserve next time
  std::uint64_t reserved_at = 0;  // ticks
  std::uint64_t unit = 1;         // iterations per unit, in which shared counters and ranges count
  std::uint64_t units = 0;
  std::uint64_t trip = 0;
  std::uint64_t dealt = 0;    // iterations that units cover: all, or all but the last chunk
  std::uint64_t minimum = 1;  // guided: smallest chunk, in units
  bool whole_chunks = false;  // guided: chunks are multiples of the smallest
  std::uint32_t number = 0;   // of this construct among those that use the same kind of shared state

  // How many constructs of each kind this member has met, over all regions of the team (workshare.h).
  std::uint32_t counted = 0;
  std::uint32_t stealing = 0;
  std::uint32_t shared = 0;

  // Of remembered loops (loop_affinity.h).
  std::uint64_t instances = 0;          // how many this member has met
  std::uint64_t instance = 0;           // the number of this one
  const void* site = nullptr;           // where the program's loop is
  RememberedLoop* past = nullptr;       // null: not entered yet
  std::uint32_t parts = 0, looked = 0;  // into how many it is cut; how many of them were passed over
  bool shrinking = false;               // guided
  bool roams = false;                   // has waited long enough for work nearby
  std::uint32_t vain_looks = 0;
  std::uint64_t began = 0, waits_since = 0;  // ticks; 0: does not wait

  // The program's loop, for the skins: value of iteration i is base + i * step, in the arithmetic of unsigned
  // numbers.
  std::uint64_t base = 0, step = 1;
  std::uint64_t limit = 0;  // gomp: the bound that the program wrote, which ends the last chunk
  std::int32_t work = 0;    // ompt_work_t of the construct that the tool was told of, 0: none
  std::uint64_t told = 0;   // and its iterations

  std::uint64_t cancelled = 0;  // as WorkShares::cancelled, for a team of one

  // Constructs that keep state in a WorkShare.
  WorkShare* share = nullptr;
  void* own_memory = nullptr;                        // a team of one keeps the construct's memory here
  std::uint64_t ordered_first = 0, ordered_end = 0;  // the chunk whose turn it is or will be
  std::uint64_t ordered_done = 0;                    // ordered regions that this chunk has been through
  bool ordered_passed = true;                        // the turn has been passed on

  WorkShare* doacross = nullptr;
  std::uint64_t* doacross_shape = nullptr;  // doacross.cpp
  std::uint32_t doacross_dims = 0;

  std::uint8_t reduce_method = 0;  // reduction.cpp

  // The loop of a combined construct in gcc's old form, between GOMP_parallel_loop_*_start and
  // GOMP_parallel_end.
  void* combined[12] = {};
};

}  // namespace hearth::rt
