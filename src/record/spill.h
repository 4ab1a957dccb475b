// The spill files of a recording: what the tool writes while the program runs, and the reader reads.
//
// A recording folder holds for each process a text file `<pid>.process` (process_file.h) and for each of its
// threads a file `<pid>.<thread>.spill`: blocks of kBlock bytes, each a BlockHead and records. A record is a
// number of 64-bit words; the first says kind, number of words and time, and is written last, so that
// whatever ends a process leaves whole records and then zeros. A block that is full, or whose thread has
// ended, is sealed by `used` and `checksum`.
//
// Plain values; the functions here touch nothing but their arguments.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace hearth::record {

inline constexpr std::uint64_t kBlockMagic = 0x3152485452414548;  // "HEARTHR1"
inline constexpr std::size_t kBlock = std::size_t{64} << 10;
inline constexpr std::size_t kWindow = 4 * kBlock;  // mapped at a time, by each thread

struct BlockHead {
  std::uint64_t magic;
  std::uint32_t process;
  std::uint32_t thread;       // its number in the process
  std::uint64_t number;       // of the block in its file
  std::uint64_t ticks;        // the clock of the records as the block was opened
  std::uint64_t nanoseconds;  // CLOCK_MONOTONIC at the same time
  std::uint64_t used;         // bytes of records; 0: not sealed
  std::uint64_t checksum;     // of the fields above and the records
  std::uint64_t zero;
};
static_assert(sizeof(BlockHead) == 64);

enum class Kind : std::uint8_t {
  none,
  thread_begin,    // type, kernel's number
  thread_end,      // -
  task_create,     // parent, task, code, flags
  task_created,    // task: the runtime has made it and returns to the program
  task_switch,     // prior, next, status | cpu << 32
  dependences,     // task, then (address, type) for each
  footprint,       // task, then (begin, length, rows, pitch, bits) for each
  implicit_begin,  // region, task, team size | number << 32, flags | cpu << 32
  implicit_end,    // task, flags
  region_begin,    // parent task, region, requested threads | flags << 32, code
  region_end,      // region, task
  wait_begin,      // task, kind, code
  wait_end,        // task, kind
  work_begin,      // task, kind, count, code
  work_end,        // task, kind
  chunk,           // task, kind, first, iterations
  lock_wait,       // kind, lock, code, ticks as it began
  counters,        // cycles, instructions, cache misses of the thread so far
  forked,          // -: the process has a child, which is not recorded
  stopped,         // error number: nothing is recorded of this thread from here on
};
inline constexpr unsigned kKinds = static_cast<unsigned>(Kind::stopped) + 1;

/// Words of a record, the first one included; of those with lists, without the list.
inline constexpr std::uint8_t kWords[kKinds] = {0, 3, 1, 5, 2, 4, 2, 2, 5, 3, 5,
                                                3, 4, 3, 5, 3, 5, 5, 4, 1, 2};
/// Words of a list's item; 0: no list.
inline constexpr std::uint8_t kItemWords[kKinds] = {0, 0, 0, 0, 0, 0, 2, 5};
/// A list that is longer goes into several records.
inline constexpr std::size_t kMostItems = 48;

/// Bits of a footprint's range.
inline constexpr std::uint64_t kRangeRead = 1, kRangeWrite = 2, kRangeInferred = 4, kRangeDecides = 8,
                               kRangeStated = 16;

/// The clock's low 48 bits are enough: a block lasts less than a day.
inline constexpr std::uint64_t first_word(Kind kind, std::size_t words, std::uint64_t ticks) {
  return static_cast<std::uint64_t>(kind) | static_cast<std::uint64_t>(words) << 8 | ticks << 16;
}
inline constexpr unsigned kind_of(std::uint64_t first) { return first & 0xff; }
inline constexpr unsigned words_of(std::uint64_t first) { return first >> 8 & 0xff; }
/// The record's time, in a block that was opened at `opened`.
inline constexpr std::uint64_t ticks_of(std::uint64_t first, std::uint64_t opened) {
  return opened + (((first >> 16) - opened) & ((std::uint64_t{1} << 48) - 1));
}

/// Tasks and regions are numbered by the thread that makes them, without asking the others.
inline constexpr std::uint64_t first_id(std::uint32_t thread) { return std::uint64_t{thread + 1} << 40; }

inline std::uint64_t checksum_of(const BlockHead& head, const std::uint64_t* words, std::size_t count) {
  constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15;
  std::uint64_t lane[4] = {head.process + (std::uint64_t{head.thread} << 32), head.number, head.ticks,
                           head.nanoseconds ^ head.used << 32};
  const auto mix = [](std::uint64_t sum, std::uint64_t word) {
    sum = (sum ^ word) * kOdd;
    return sum << 31 | sum >> 33;
  };
  std::size_t i = 0;
  for (; i + 4 <= count; i += 4)  // four at a time: their multiplications overlap
    for (std::size_t k = 0; k < 4; ++k) lane[k] = mix(lane[k], words[i + k]);
  for (; i < count; ++i) lane[0] = mix(lane[0], words[i]);
  return mix(mix(mix(lane[0], lane[1]), lane[2]), lane[3]);
}

}  // namespace hearth::record
