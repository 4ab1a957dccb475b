// Bytes by location: what a byte range has where (Shares), and what a task reads and writes where (Need).
//
// Plain values of a fixed size, so that a task's need can live on a stack or in a descriptor and nothing
// here allocates. A location is an index into topology::Machine::locations. Machines with more than
// kMaxLocations of them are used up to that number; what lies further away counts as unknown.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/assert.h"
#include "base/cpu.h"

namespace hearth::placement {

using Location = std::int32_t;
inline constexpr Location kUnknown = -1;  // nobody knows, or nobody has touched it yet
inline constexpr std::int32_t kMaxLocations = 64;
static_assert(kMaxLocations % 8 == 0);

/// Bytes [begin, end) of the address space.
struct ByteRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;

  static ByteRange of(const void* start, std::size_t length) {
    const auto begin = reinterpret_cast<std::uintptr_t>(start);
    // A length that runs past the end of the address space ends there.
    const std::uint64_t end = begin + length < begin ? UINT64_MAX : begin + length;
    return {begin, end};
  }
  std::uint64_t bytes() const { return end > begin ? end - begin : 0; }
  friend bool operator==(const ByteRange&, const ByteRange&) = default;
};

/// How many bytes lie where. Entries beyond `locations` mean nothing, beyond the next multiple of eight they
/// are not initialised.
struct Shares {
  std::int32_t locations = 0;
  std::uint64_t unknown = 0;  // bytes nobody can say anything about
  alignas(16) std::uint64_t at[kMaxLocations];

  Shares() = default;
  explicit Shares(std::int32_t count) { clear(count); }
  void clear(std::int32_t count) {
    locations = count < kMaxLocations ? count : kMaxLocations;
    unknown = 0;
    // Eight at a time: what compilers make of the plain loop takes longer to begin than this to end.
    std::int32_t i = 0;
    do {
      for (std::int32_t k = 0; k < 8; ++k) at[i + k] = 0;
      i += 8;
    } while (HEARTH_UNLIKELY(i < locations));
  }
  void add(Location where, std::uint64_t bytes) {
    if (where >= 0 && where < locations)
      at[where] += bytes;
    else
      unknown += bytes;
  }
  /// For one of the `locations`, and to be read soon. Writes two numbers, since so many are read at a time: a
  /// processor that finds half of what it reads in a store under way waits for that store.
  void add_known(Location where, std::uint64_t bytes) {
    HEARTH_ASSERT(where >= 0 && where < locations, "location %d of %d", where, locations);
    using Two = std::uint64_t __attribute__((vector_size(16)));
    static constexpr Two kHalf[] = {{~std::uint64_t{0}, 0}, {0, ~std::uint64_t{0}}};
    auto* const pair = __builtin_assume_aligned(at + (where & ~1), 16);
    Two two;
    __builtin_memcpy(&two, pair, sizeof(two));
    two += Two{bytes, bytes} & kHalf[where & 1];
    __builtin_memcpy(pair, &two, sizeof(two));
  }
  void add(const Shares& more) {
    if (HEARTH_LIKELY(more.locations == locations)) {
      // The same, and for the same reason.
      std::int32_t i = 0;
      do {
        for (std::int32_t k = 0; k < 8; ++k) at[i + k] += more.at[i + k];
        i += 8;
      } while (HEARTH_UNLIKELY(i < locations));
      unknown += more.unknown;
      return;
    }
    const std::int32_t common = more.locations < locations ? more.locations : locations;
    for (std::int32_t i = 0; i < common; ++i) at[i] += more.at[i];
    for (std::int32_t i = common; i < more.locations; ++i) unknown += more.at[i];
    unknown += more.unknown;
  }
  std::uint64_t known() const {
    std::uint64_t sum = 0;
    for (std::int32_t i = 0; i < locations; ++i) sum += at[i];
    return sum;
  }
};

enum class Access : std::uint8_t { read = 1, write = 2, read_write = 3 };

/// What a task touches, by location. The same bytes count on both sides when they are read and written.
struct Need {
  Shares read;
  Shares written;
  bool decided = false;  // the program has said which of the task's bytes decide, and these are only those

  Need() = default;
  explicit Need(std::int32_t locations) : read(locations), written(locations) {}
  void add(const Shares& range, Access access) {
    if ((static_cast<unsigned>(access) & 1u) != 0) read.add(range);
    if ((static_cast<unsigned>(access) & 2u) != 0) written.add(range);
  }
};

}  // namespace hearth::placement
