// The byte ranges of a footprint: plain data, for those who make, read or print them (locality/footprint.h).
//
// Made by the creator of the task before the task is published, constant from then on but for `untouched` and `told`, which
// are written by whoever deals the task.
#pragma once

#include <cstdint>

#include "placement/need.h"
#include "policy/silent.h"

namespace hearth::rt {

struct FootprintRange {
  std::uint64_t begin = 0;
  std::uint64_t length = 0;  // of a row
  placement::Access access = placement::Access::read_write;
  bool inferred = false;  // the length is a guess
  bool decides = false;   // ranges without this mark do not count beside it
  std::uint64_t rows = 1;
  std::uint64_t pitch = 0;  // from row to row
  std::int64_t per_iteration = 0;  // of a taskloop: bytes of one iteration, the first one's at `begin`; `length` is 0

  std::uint64_t bytes() const { return rows * length; }
};

struct Footprint {
  std::uint32_t count = 0;
  std::uint32_t room = 0;
  bool stated =
      false;  // by an affinity clause or a call, which say where the task should be and nothing else
  bool marked = false;       // some of its ranges decide
  bool untouched = false;    // some of it had no page yet when the task was dealt: whoever runs it places it
  bool told = false;         // a tool knows where its bytes are
  // Of a task without clauses (silent.h): what foretells the rest; a hash of its arguments, where the last task with the same
  // ones ran, and how many bytes all of it counts as.
  policy::Sign sign = policy::Sign::none;
  std::uint64_t signature = 0;
  placement::Location ran = placement::kUnknown;
  std::uint64_t weight = 0;
  FootprintRange ranges[1];  // `count` of them

  /// Of the ranges that count.
  std::uint64_t bytes() const {
    std::uint64_t sum = 0;
    for (std::uint32_t i = 0; i < count; ++i)
      if (!marked || ranges[i].decides) sum += ranges[i].bytes();
    return sum;
  }
};

}  // namespace hearth::rt
