// Distributions: which location owns each unit of an allocation (Muddukrishna et al. 2015, tables 1 and 2;
// OpenMP 5.2, the partition trait).
//
// A Distribution says what somebody wants; lay_out() turns it and one allocation into a Layout, from which
// the owner of any byte, and the bytes by location of any range, are computed. All of it is pure: values in,
// values out, no memory of its own. A Shape is shared by many layouts and constant once it was made; whoever
// makes a Layout keeps its Shape and the memory of its BlockTable alive as long as it is used.
//
// All layouts but the custom ones are cyclic: a period is cut into one slot per location, and the period is
// repeated over the allocation. Fine is a period of one unit per location; blocked is a single period as long
// as the allocation; coarse and nearest have one slot. So the bytes that a range has at a location are a
// difference of two closed expressions, whatever the length of the range.
#pragma once

#include <cstddef>
#include <cstdint>

#include <string_view>

#include "base/assert.h"
#include "placement/need.h"
#include "placement/quotient.h"

namespace hearth::placement {

enum class Kind : std::uint8_t {
  standard,     // the operating system decides: first touch on Linux
  fine,         // unit by unit, round robin over all locations
  coarse,       // whole allocations, round robin over all locations
  environment,  // OpenMP's trait: the same as standard
  nearest,      // all of it at the location of the thread that asks
  blocked,      // one part of nearly equal size at each location, in order
  interleaved,  // OpenMP's trait: the same as fine
  weighted,     // round robin, each location getting units in proportion to its weight
  custom,       // a function of the program says for each block
};
/// "fine"; for messages.
const char* kind_name(Kind kind);

/// The plug-in point: which of the `locations` that hold memory owns block `block` of an allocation of
/// `blocks`, 0 to locations - 1; any other result leaves the block to the operating system. Called once per
/// block, in order, when the allocation is made, by the thread that makes it.
using BlockOwner = int (*)(std::size_t block, std::size_t blocks, int locations, void* data);

struct Distribution {
  Kind kind = Kind::standard;
  const std::uint32_t* weights =
      nullptr;                  // weighted: one for each location that holds memory; null: equal ones
  BlockOwner owner = nullptr;   // custom
  void* data = nullptr;         // custom: handed to owner
  std::size_t block_bytes = 0;  // custom: rounded up to whole units
};

/// The locations that can hold memory, in rising order: what distributions distribute over.
struct Homes {
  std::int32_t count = 0;
  Location at[kMaxLocations] = {};
};

/// The slots of one period, in grains: slot i is [begin[i], begin[i + 1]) and belongs to location[i].
struct Shape {
  std::int32_t slots = 0;
  Location location[kMaxLocations] = {};
  std::uint32_t begin[kMaxLocations + 1] = {};
  std::uint32_t plain = 0;

  std::uint32_t total() const { return begin[slots]; }
  /// One slot more.
  void add(Location where, std::uint32_t grains) {
    HEARTH_ASSERT(slots < kMaxLocations && where >= 0 && where < kMaxLocations && grains != 0,
                  "slot %d: %u grains of location %d", slots, grains, where);
    plain = where == slots && grains == 1 && (plain != 0 || slots == 0);
    location[slots] = where;
    begin[slots + 1] = begin[slots] + grains;
    ++slots;
  }
  /// Slot i is location i's and all have one grain.
  bool is_plain() const { return plain != 0; }
};
/// `shares` has as many locations, or begins with them in whole eights.
inline bool takes_plain_slots(const Shares& shares, std::int32_t slots) {
  return slots == shares.locations || (slots < shares.locations && slots % 8 == 0);
}
/// add_plain_shares() of a range that reaches over many slots.
void add_many_slots(std::uint32_t count, std::uint64_t width, std::uint64_t from, std::uint64_t to,
                    Shares& shares);
/// Adds what [from, to), not empty and counted from where a period begins, has at each location when the
/// shape is plain, `shares` takes its slots, and its grain has `width` bytes, not 0.
inline void add_plain_shares(std::int32_t slots, std::uint64_t width, std::uint64_t from, std::uint64_t to,
                             Shares& shares) {
  const auto count = static_cast<std::uint32_t>(slots);
  const auto slot = [count](std::uint64_t n) { return static_cast<Location>(remainder(n, count)); };
  // Slots, counted from the first period's first.
  const std::uint64_t first = quotient(from, width), last = quotient(to - 1, width);
  if (last == first) {
    shares.add_known(slot(first), to - from);
  } else if (last - first == 1) {
    const std::uint64_t of_last = to - last * width;
    shares.add_known(slot(first), to - from - of_last);
    shares.add_known(slot(last), of_last);
  } else if (remainder(to - from, count * width) == 0) {
    const std::uint64_t each = quotient(to - from, count);
    std::int32_t i = 0;
    do {
      for (std::int32_t k = 0; k < 8; ++k) shares.at[i + k] += each;
      i += 8;
    } while (HEARTH_UNLIKELY(i < slots));
  } else {
    add_many_slots(count, width, from, to, shares);
  }
}
/// `weights` null: equal ones. Locations of weight 0 get no slot; if all have weight 0 they count as equal.
Shape make_shape(const Homes& homes, const std::uint32_t* weights);
/// For fine where several homes are on one node, which stand together: the nodes in turn, and of each node
/// its homes in turn. Whole rounds, since the kernel begins anew with the first node; so many that all homes
/// have had their turn, where there is room. `node`: by location.
Shape make_rounds(const Homes& homes, const std::uint16_t* node);

/// The owners of a custom distribution: a byte per block, and how many of the blocks before it each location
/// has, so that a range's bytes need no walk over it. These counts are bytes too, each row counting from the
/// last checkpoint, where the whole counts stand. A view: the memory is the maker's, and may be recycled
/// while somebody reads (owner_table.h), so reads are relaxed and stay inside whatever the content.
class BlockTable {
 public:
  static constexpr std::size_t kStride = 256;  // blocks between checkpoints
  static std::size_t bytes_needed(std::size_t blocks, const Homes& homes);

  BlockTable() = default;
  /// Fills `memory`, bytes_needed() of it, aligned to 8, by asking what.owner about each block.
  BlockTable(void* memory, const Distribution& what, const Homes& homes, std::size_t blocks,
             std::size_t block_bytes);

  /// One that was built before: what memory(), blocks() and so on told.
  BlockTable(const void* memory, std::size_t blocks, std::size_t block_bytes, std::int32_t locations)
      : memory_(memory), blocks_(blocks), block_bytes_(block_bytes), locations_(locations) {}

  Location owner(std::size_t block) const {
    if (block >= blocks_) return kUnknown;
    const std::uint8_t owner = peek(static_cast<const std::uint8_t*>(memory_)[block]);
    return owner < locations_ ? owner : kUnknown;
  }
  /// Adds what [from, to), offsets in the allocation, has at each location, once all of the table that it
  /// takes is read and still_valid() says that this was right.
  template <class StillValid>
  bool add_shares(std::uint64_t from, std::uint64_t to, Shares& shares, StillValid still_valid) const {
    if (from == to) return true;
    return is_in_two(from, to) ? add_two(from, to, shares, still_valid)
                               : add_many(from, to, shares, still_valid);
  }
  /// Whether [from, to), not empty, lies in one block or in two, as most do.
  bool is_in_two(std::uint64_t from, std::uint64_t to) const {
    const std::size_t first = quotient(from, block_bytes_), last = quotient(to - 1, block_bytes_);
    return last - first <= 1 && last < blocks_;
  }
  /// add_shares() of such a range.
  template <class StillValid>
  bool add_two(std::uint64_t from, std::uint64_t to, Shares& shares, StillValid still_valid) const {
    const std::size_t first = quotient(from, block_bytes_), last = quotient(to - 1, block_bytes_);
    const auto* const owners = static_cast<const std::uint8_t*>(memory_);
    const std::uint8_t of_first = peek(owners[first]), of_last = peek(owners[last]);
    if (!still_valid()) return false;
    const std::uint64_t behind = last == first ? 0 : to - last * block_bytes_;
    // kNobody is no location's number.
    const auto add = [&shares](std::uint8_t owner, std::uint64_t bytes) {
      if (HEARTH_LIKELY(owner < shares.locations))
        shares.add_known(owner, bytes);
      else
        shares.unknown += bytes;
    };
    add(of_first, to - from - behind);
    if (last != first) add(of_last, behind);
    return true;
  }
  std::size_t blocks() const { return blocks_; }
  std::size_t block_bytes() const { return block_bytes_; }
  std::int32_t locations() const { return locations_; }
  const void* memory() const { return memory_; }

 private:
  static constexpr std::uint8_t kNobody = 0xff;
  static_assert(kNobody >= kMaxLocations);
  // A word of the table.
  template <class T>
  static T peek(const T& word) {
    return __atomic_load_n(&word, __ATOMIC_RELAXED);
  }
  // What to add where; a location may occur again, and what was too much be taken away (bytes wrap round).
  struct Parts {
    std::int32_t count = 0;
    Location at[kMaxLocations + 3];
    std::uint64_t bytes[kMaxLocations + 3];
    void add(Location where, std::uint64_t more) {
      at[count] = where;
      bytes[count++] = more;
    }
  };
  void divide(std::uint64_t from, std::uint64_t to, std::int32_t locations, Parts& parts) const;
  template <class StillValid>
  [[gnu::noinline]] bool add_many(std::uint64_t from, std::uint64_t to, Shares& shares,
                                  StillValid still_valid) const {
    Parts parts;
    divide(from, to, shares.locations, parts);
    if (!still_valid()) return false;
    for (std::int32_t i = 0; i < parts.count; ++i) shares.add(parts.at[i], parts.bytes[i]);
    return true;
  }
  // What of a row belongs to the checkpoint, and what to the block itself.
  const std::uint32_t* whole_counts(std::size_t block) const;
  const std::uint8_t* counts(std::size_t block) const;
  std::size_t block_of(std::uint64_t offset) const {
    const std::size_t block = quotient(offset, block_bytes_);
    return block < blocks_ ? block : blocks_;
  }

  const void* memory_ = nullptr;
  std::size_t blocks_ = 0;
  std::size_t block_bytes_ = 0;
  std::int32_t locations_ = 0;  // columns; location numbers are below it
};

/// One allocation, as a distribution sees it.
struct Allocation {
  std::uint64_t begin = 0;  // address; a multiple of the unit
  std::uint64_t bytes = 0;
  std::uint64_t unit = 4096;      // page, huge page, or cache line of a home cache
  Location requester = kUnknown;  // location of the asking thread: nearest
  std::uint64_t ordinal = 0;      // how many whole allocations were dealt out before: coarse
};

struct Layout {
  enum class Form : std::uint8_t { unknown, single, cyclic, blocks };
  Form form = Form::unknown;
  Location single = kUnknown;
  std::uint64_t anchor = 0;  // address where a period begins
  std::uint64_t grain = 0;   // bytes of a shape's grain
  std::uint32_t extra = 0;   // the first so many slots are a unit longer (blocked)
  std::uint64_t unit = 0;
  const Shape* shape = nullptr;
  BlockTable blocks;  // custom

  std::uint64_t period() const { return shape->total() * grain + extra * unit; }
  /// Who owns the byte at `address`, which lies in the allocation.
  Location owner(std::uint64_t address) const;
  /// Where the run of bytes with one owner that contains `address` ends; the allocation may end before.
  std::uint64_t run_end(std::uint64_t address) const;
  /// Adds what [begin, end), a part of the allocation, has at each location. O(locations).
  void add_shares(std::uint64_t begin, std::uint64_t end, Shares& shares) const {
    if (form == Form::single)
      shares.add(single, end - begin);
    else
      add_divided_shares(begin, end, shares);
  }

 private:
  void add_divided_shares(std::uint64_t begin, std::uint64_t end, Shares& shares) const;
};

/// The layout of one allocation. `equal` is make_shape(homes, nullptr); `weighted` the shape of the weights,
/// for that kind only; `blocks` the table of a custom one. Every other argument is a value. `nearest` wants a
/// requester that holds memory, and gives `unknown` otherwise: who is nearest to it is the machine's
/// knowledge.
Layout lay_out(const Distribution& what, const Allocation& allocation, const Homes& homes, const Shape* equal,
               const Shape* weighted, const BlockTable& blocks);

/// The bytes of a weighted distribution's grain: whole units, a power of two of them, and so many that the
/// allocation has no more than `most_pieces` runs.
std::uint64_t weighted_grain(const Shape& shape, std::uint64_t bytes, std::uint64_t unit,
                             std::uint64_t most_pieces);

}  // namespace hearth::placement
