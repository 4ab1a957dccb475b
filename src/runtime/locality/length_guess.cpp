#include "runtime/locality/length_guess.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "runtime/state/thread.h"

namespace hearth::rt {

// Of one thread. Direct-mapped.
struct LengthGuesses {
  static constexpr std::size_t kItems = 16;
  static constexpr int kBases = 512;

  // What one function's tasks have named in one item: the addresses in rising order, as many as fit, and the
  // smallest gap.
  struct Bases {
    const void* body;
    std::size_t slot;
    std::uint32_t epoch;         // the region
    std::uint64_t last_gap;      // the smallest one of the addresses before these; kMost: unknown
    std::uint64_t smallest_gap;  // kMost: unknown
    int count;
    std::uint64_t at[kBases];
  };

  Bases items[kItems];
};

namespace {

using Bases = LengthGuesses::Bases;

constexpr std::uint64_t kFirstGuess = 4096;              // a page
constexpr std::uint64_t kMost = std::uint64_t{1} << 30;  // gaps beyond this separate arrays, not blocks
constexpr int kEnough = 64;  // so many of them tell the length by themselves

void begin_anew(Bases& bases, const void* body, std::size_t slot, std::uint32_t epoch) {
  if (bases.body != body || bases.slot != slot)
    bases.last_gap = kMost;
  else if (bases.smallest_gap != kMost)
    bases.last_gap = bases.smallest_gap;
  bases.body = body;
  bases.slot = slot;
  bases.epoch = epoch;
  bases.smallest_gap = kMost;
  bases.count = 0;
}

void note_gap(Bases& bases, std::uint64_t low, std::uint64_t high) {
  const std::uint64_t gap = high - low;
  if (gap != 0 && gap < bases.smallest_gap) bases.smallest_gap = gap;
}

}  // namespace

std::uint64_t guess_length(Thread* self, const void* body, std::size_t slot, std::uint64_t address) {
  if (self->length_guesses == nullptr) {
    self->length_guesses = static_cast<LengthGuesses*>(std::calloc(1, sizeof(LengthGuesses)));
    if (self->length_guesses == nullptr) return kFirstGuess;
  }
  const std::size_t key = (reinterpret_cast<std::uintptr_t>(body) >> 4) + slot;
  Bases& bases = self->length_guesses->items[key % LengthGuesses::kItems];
  const std::uint32_t epoch = self->team->epoch();
  if (bases.body != body || bases.slot != slot || bases.epoch != epoch) begin_anew(bases, body, slot, epoch);
  std::uint64_t* const end = bases.at + bases.count;
  std::uint64_t* const where = std::lower_bound(bases.at, end, address);
  const bool known = where != end && *where == address;
  std::uint64_t* const above = known ? where + 1 : where;
  if (above != end) note_gap(bases, address, *above);
  if (where != bases.at) note_gap(bases, *(where - 1), address);
  const std::uint64_t next = above != end ? *above - address : kMost;
  if (!known && bases.count < LengthGuesses::kBases) {
    std::memmove(where + 1, where, static_cast<std::size_t>(end - where) * sizeof(*where));
    *where = address;
    ++bases.count;
  }
  const std::uint64_t block =
      bases.count < kEnough ? std::min(bases.smallest_gap, bases.last_gap) : bases.smallest_gap;
  if (block == kMost) return kFirstGuess;
  // The next address may be missing so far, and the last of a row has none: then the other blocks' size is
  // the guess.
  return next <= block + block / 2 ? next : block;
}

void drop_length_guesses(Thread* self) {
  std::free(self->length_guesses);
  self->length_guesses = nullptr;
}

}  // namespace hearth::rt
