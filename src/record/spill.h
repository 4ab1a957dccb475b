// The spill files of a recording: what the tool writes while the program runs, and the reader reads.
//
// A recording folder holds for each process a text file `<pid>.process` and for each of its threads a file
// `<pid>.<thread>.spill`: blocks of kBlock bytes, each a BlockHead and records. The last block of a thread that
// has not ended, or of one for which there was no more room, is a file of its own, `<pid>.<thread>.open`. A
// record is a number of 64-bit words; the first says kind, number of words and time, and is written last, so that
// whatever ends a process leaves whole records and then zeros. A block that is full, or whose thread has ended,
// is sealed by `used` and `checksum`.
//
// Plain values; the functions here touch nothing but their arguments.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace hearth::record {

inline constexpr std::uint64_t kBlockMagic = 0x3152485452414548;  // "HEARTHR1"
inline constexpr std::size_t kBlock = std::size_t{64} << 10;

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

// A word with a task's or region's number has room for a note, and so has one with an address of code: both
// are written for each task, and what is written costs time.
inline constexpr unsigned kNumberBits = 36, kIdBits = 52, kCodeBits = 48;

enum class Kind : std::uint8_t {
  none,
  thread_begin,    // type, kernel's number
  thread_end,      // -
  task_create,     // parent, task, code + flags
  task_created,    // -: the runtime has made the thread's last task and returns to the program
  task_switch,     // prior + status and low bits of the processor, next + its high bits
  dependences,     // task, then (address, type) for each
  footprint,       // task, then (begin, length, rows, pitch, bits) for each
  implicit_begin,  // region, task, team size | number << 32, flags | processor << 32
  implicit_end,    // task
  region_begin,    // parent task, region, requested threads | flags << 32, code
  region_end,      // region
  wait_begin,      // task, code + kind
  wait_end,        // task
  work_begin,      // task, code + kind, count
  work_end,        // task
  chunk,           // task + kind, first, iterations
  lock_wait,       // lock, code + kind, ticks as it began
  counters,        // cycles, instructions, cache misses of the thread so far
  forked,          // -: the process has a child, which is not recorded
  stopped,         // error number: nothing is recorded of this thread from here on
  allocation,      // address, bytes, code, ticks: may have been long before
  moved,           // what | why << 8 | (location + 1) << 16, count, address
  place,           // location + 1: where the thread is from now on, on a pretended machine
  decision,        // task, DecisionNote, then (location + 1 | read << 8, written) for each location
  freed,           // address, ticks
  home,            // address, bytes, location + 1: of a block, as it is freed or the program ends
  block,           // address, bytes, code, ticks, source | (distribution + 1) << 8
  touched,         // faults for each sample | processor << 32, then the address of each sample: touched first by the thread
  // Short forms, which lean on what the block has said before. Programs make tasks by the million from one place, and what
  // is written costs time: the reader makes the long forms of them (short_forms.h).
  create_again,    // -: a task_create like the block's last one, of the next number
  create_turned,   // -: the same, but deferred where that one was undeferred, or the other way round
  switch_on,       // next + status: from what the block's last switch went to, on the same processor
  switch_back,     // -: that is complete, and its thread goes back to what it left for it
  dependences_of_last,  // address + type for each: of the block's last created task
  footprint_of_last,    // (begin + bits, length) for each: the same, without rows
};
inline constexpr unsigned kKinds = static_cast<unsigned>(Kind::footprint_of_last) + 1;

/// Words of a record, the first one included; of those with lists, without the list.
inline constexpr std::uint8_t kWords[kKinds] = {0, 3, 1, 4, 1, 3, 2, 2, 5, 2, 5,
                                                2, 3, 2, 4, 2, 4, 4, 4, 1, 2, 5, 4,
                                                2, 3, 3, 4, 6, 2, 1, 1, 2, 1, 1, 1};
/// Words of a list's item; 0: no list.
inline constexpr std::uint8_t item_words(Kind kind) {
  switch (kind) {
    case Kind::touched:
    case Kind::dependences_of_last: return 1;
    case Kind::dependences:
    case Kind::decision:
    case Kind::footprint_of_last: return 2;
    case Kind::footprint: return 5;
    default: return 0;
  }
}
/// A list that is longer goes into several records.
inline constexpr std::size_t kMostItems = 48;

/// Bits of a footprint's range.
inline constexpr std::uint64_t kRangeRead = 1, kRangeWrite = 2, kRangeInferred = 4, kRangeDecides = 8,
                               kRangeStated = 16;

/// What the policy was asked of a task, in one word.
struct DecisionNote {
  bool asked = false;  // else only the bytes are told
  bool released = false, stated = false;
  std::int32_t location = -1, chosen = -1;
  std::uint32_t why = 0;

  std::uint64_t word() const {
    return std::uint64_t{asked} | std::uint64_t{released} << 1 | std::uint64_t{stated} << 2 | std::uint64_t{why & 0xff} << 8 |
           std::uint64_t{static_cast<std::uint16_t>(location + 1)} << 16 |
           std::uint64_t{static_cast<std::uint16_t>(chosen + 1)} << 32;
  }
  static DecisionNote of(std::uint64_t word) {
    return {(word & 1) != 0,
            (word & 2) != 0,
            (word & 4) != 0,
            static_cast<std::int32_t>(word >> 16 & 0xffff) - 1,
            static_cast<std::int32_t>(word >> 32 & 0xffff) - 1,
            static_cast<std::uint32_t>(word >> 8 & 0xff)};
  }
};

/// Who gave out a block.
enum class BlockSource : std::uint8_t { allocator, hearth };

/// The clock's low 48 bits are enough: no thread is silent for a day.
inline constexpr std::uint64_t first_word(Kind kind, std::size_t words, std::uint64_t ticks) {
  return static_cast<std::uint64_t>(kind) | static_cast<std::uint64_t>(words) << 8 | ticks << 16;
}
inline constexpr unsigned kind_of(std::uint64_t first) { return first & 0xff; }
inline constexpr unsigned words_of(std::uint64_t first) { return first >> 8 & 0xff; }
/// The record's time. `before`: that of the record before it, or of the block; the record may be a little
/// older, since its time is taken before its room is.
inline constexpr std::uint64_t ticks_of(std::uint64_t first, std::uint64_t before) {
  constexpr std::uint64_t kOlder = std::uint64_t{1} << 40;
  const std::uint64_t since = before - kOlder;
  return since + (((first >> 16) - since) & ((std::uint64_t{1} << 48) - 1));
}

/// Tasks and regions are numbered by the thread that makes them, without asking the others.
inline constexpr std::uint32_t kMostThreads = (1u << (kIdBits - kNumberBits)) - 1;
inline constexpr std::uint64_t first_id(std::uint32_t thread) {
  return std::uint64_t{thread + 1} << kNumberBits;
}

inline constexpr std::uint64_t with_note(std::uint64_t id, unsigned note) {
  return id | std::uint64_t{note} << kIdBits;
}
inline constexpr std::uint64_t id_in(std::uint64_t word) {
  return word & ((std::uint64_t{1} << kIdBits) - 1);
}
inline constexpr unsigned note_in(std::uint64_t word) { return static_cast<unsigned>(word >> kIdBits); }
/// An address of data with 8 bits beside it, if it leaves room for them.
inline constexpr unsigned kDataBits = 56;
inline constexpr bool leaves_room(std::uint64_t address) { return address >> kDataBits == 0; }
inline constexpr std::uint64_t data_with(std::uint64_t address, std::uint64_t note) {
  return address | note << kDataBits;
}
inline constexpr std::uint64_t data_in(std::uint64_t word) { return word & ((std::uint64_t{1} << kDataBits) - 1); }
inline constexpr std::uint64_t data_note_in(std::uint64_t word) { return word >> kDataBits; }
inline constexpr std::uint64_t code_with(std::uint64_t code, unsigned note) {
  return (code & ((std::uint64_t{1} << kCodeBits) - 1)) | std::uint64_t{note} << kCodeBits;
}
inline constexpr std::uint64_t code_in(std::uint64_t word) {
  return word & ((std::uint64_t{1} << kCodeBits) - 1);
}
inline constexpr unsigned code_note_in(std::uint64_t word) {
  return static_cast<unsigned>(word >> kCodeBits);
}

// The flags of a task lie at both ends of their word.
inline constexpr unsigned pack_flags(std::uint32_t flags) { return (flags & 31) | (flags >> 27 & 31) << 5; }
inline constexpr std::uint32_t unpack_flags(unsigned packed) {
  return (packed & 31) | (packed >> 5 & 31) << 27;
}

/// In a code word: ompt_task_undeferred.
inline constexpr std::uint64_t kUndeferredInCode = std::uint64_t{pack_flags(0x08000000)} << kCodeBits;

// A switch's status has 4 bits, its processor 20.
inline constexpr std::uint32_t kNoCpu = (1u << 20) - 1;
inline constexpr unsigned switch_low(unsigned status, std::uint32_t cpu) {
  return (status & 15) | (cpu & 0xff) << 4;
}
inline constexpr unsigned switch_high(std::uint32_t cpu) { return cpu >> 8 & 0xfff; }
inline constexpr unsigned status_of(unsigned low) { return low & 15; }
inline constexpr std::uint32_t cpu_of(unsigned low, unsigned high) { return low >> 4 | high << 8; }

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
