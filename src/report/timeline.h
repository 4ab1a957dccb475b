// The timeline for the page: all pieces of all threads' time (pieces.h) and what tasks are, packed.
//
// For each thread of Figures::threads one block: four columns, each behind its length in bytes. Gap: from the end of the piece
// before, in steps. Length, in steps. Task: the difference to that of the piece before, signed, times two, plus one if it
// waits. Wait: the place, for those that wait. One more block has the tasks, by id, in columns of the same kind:
// construct, parent (id - parent; 0: none), delay from ready to begin in steps plus one (0: not known), bytes declared,
// mean distance of its known bytes times ten (0: not known), remote share of those times 200 plus one, location plus one,
// chosen location plus two (1: it stays; 0: no decision), why (of Places::whys), last-level misses per 10^6 cycles plus one.
// And an overview for the first picture: for each thread and each of kOverview equal parts of the run, the construct that
// ran longest plus one, and how much of the part tasks worked, of 255.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/figures.h"

namespace hearth::report {

inline constexpr std::size_t kOverview = 512;

struct Timeline {
  std::int64_t step = 1;             // ns
  std::vector<std::string> threads;  // base64
  std::string tasks, overview;       // base64
  bool tells_delays = true;          // else there was no room for that and for the bytes
  std::uint64_t pieces = 0;

  std::size_t size() const;
};

/// As exact as fits into `most` bytes: 1 ns, then 100 ns, then without what single tasks waited and declare, then coarser.
Timeline timeline_of(const Run& run, const Figures& figures, std::size_t most);

}  // namespace hearth::report
