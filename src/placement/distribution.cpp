// The arithmetic of layouts; see distribution.h.
#include "placement/distribution.h"

#include <cstring>

#include <algorithm>

namespace hearth::placement {
namespace {

constexpr std::uint8_t kNobody = 0xff;  // in a BlockTable

/// A word of a BlockTable, which may be recycled while it is read.
template <class T>
T peek(const T& word) {
  return __atomic_load_n(&word, __ATOMIC_RELAXED);
}

/// Where slot i of the layout's period begins.
std::uint64_t slot_begin(const Layout& layout, std::int32_t i) {
  const std::uint64_t longer = std::min<std::uint64_t>(static_cast<std::uint64_t>(i), layout.extra);
  return layout.shape->begin[i] * layout.grain + longer * layout.unit;
}

/// All ones before the middle, then zeros: from kBelow + kMiddle - s on, what lies below s.
constexpr std::int32_t kMiddle = kMaxLocations;
struct Below {
  std::uint64_t at[2 * kMaxLocations] = {};
  constexpr Below() {
    for (std::int32_t i = 0; i < kMiddle; ++i) at[i] = ~std::uint64_t{0};
  }
};
constexpr Below kBelow;

// Two numbers side by side, in one register.
using Pair = std::uint64_t __attribute__((vector_size(16)));
Pair both(std::uint64_t n) { return Pair{n, n}; }
Pair load_pair(const std::uint64_t* from) {
  Pair pair;
  std::memcpy(&pair, from, sizeof(pair));
  return pair;
}

bool is_power_of_two(std::uint64_t n) { return (n & (n - 1)) == 0; }

std::int32_t slot_of(const Layout& layout, std::uint64_t offset_in_period) {
  std::int32_t low = 0, high = layout.shape->slots;
  while (high - low > 1) {
    const std::int32_t middle = (low + high) / 2;
    (slot_begin(layout, middle) <= offset_in_period ? low : high) = middle;
  }
  return low;
}

}  // namespace

// No branch on what the range is, and sums side by side. Divisions cost as much as the rest, and are rare: a
// page, or an eighth of a gibibyte, and the usual numbers of locations are powers of two.
void add_plain_shares(const Shape& shape, std::uint64_t width, std::uint64_t from, std::uint64_t to,
                      Shares& shares) {
  const auto count = static_cast<std::uint32_t>(shape.slots);
  std::uint64_t first, last, periods;  // slots, counted from the first period's first; then in their periods
  if (is_power_of_two(width)) {
    first = from >> __builtin_ctzll(width);
    last = to >> __builtin_ctzll(width);
  } else {
    first = from / width;
    last = to / width;
  }
  const std::uint64_t of_first = from - first * width, of_last = to - last * width;
  if (is_power_of_two(count)) {
    periods = (last >> __builtin_ctz(count)) - (first >> __builtin_ctz(count));
    first &= count - 1;
    last &= count - 1;
  } else {
    periods = last / count - first / count;
    first %= count;
    last %= count;
  }
  // Of what comes before `to` in its period, slots below `last` have all, and `last` itself a part, which is
  // below last + 1; the same of `from`, to be taken away.
  const std::uint64_t* const below_last = kBelow.at + kMiddle - last;
  const std::uint64_t* const below_first = kBelow.at + kMiddle - first;
  const Pair whole = both(periods * width), most_of_last = both(width - of_last),
             rest_of_last = both(of_last);
  const Pair most_of_first = both(width - of_first), rest_of_first = both(of_first);
  std::uint32_t i = 0;
  do {
    for (std::uint32_t end = i + 8; i != end; i += 2) {
      Pair sum = load_pair(shares.at + i) + whole;
      sum += (load_pair(below_last + i) & most_of_last) + (load_pair(below_last + i - 1) & rest_of_last);
      sum -= (load_pair(below_first + i) & most_of_first) + (load_pair(below_first + i - 1) & rest_of_first);
      std::memcpy(shares.at + i, &sum, sizeof(sum));
    }
  } while (HEARTH_UNLIKELY(i < count));
}

const char* kind_name(Kind kind) {
  switch (kind) {
    case Kind::standard: return "standard";
    case Kind::fine: return "fine";
    case Kind::coarse: return "coarse";
    case Kind::environment: return "environment";
    case Kind::nearest: return "nearest";
    case Kind::blocked: return "blocked";
    case Kind::interleaved: return "interleaved";
    case Kind::weighted: return "weighted";
    case Kind::custom: return "custom";
  }
  return "unknown";
}

Shape make_shape(const Homes& homes, const std::uint32_t* weights) {
  std::uint64_t sum = 0;
  for (std::int32_t i = 0; weights != nullptr && i < homes.count; ++i) sum += weights[i];
  if (sum == 0 || sum > UINT32_MAX) weights = nullptr;
  Shape shape;
  for (std::int32_t i = 0; i < homes.count; ++i) {
    const std::uint32_t weight = weights != nullptr ? weights[i] : 1;
    if (weight == 0) continue;
    shape.location[shape.slots] = homes.at[i];
    shape.begin[shape.slots + 1] = shape.begin[shape.slots] + weight;
    ++shape.slots;
  }
  return shape;
}

Location Layout::owner(std::uint64_t address) const {
  switch (form) {
    case Form::unknown: return kUnknown;
    case Form::single: return single;
    case Form::blocks: return blocks.owner((address - anchor) / blocks.block_bytes());
    case Form::cyclic: break;
  }
  const std::uint64_t length = period();
  if (length == 0) return kUnknown;
  return shape->location[slot_of(*this, (address - anchor) % length)];
}

std::uint64_t Layout::run_end(std::uint64_t address) const {
  switch (form) {
    case Form::unknown:
    case Form::single: return UINT64_MAX;
    case Form::blocks: {
      const std::size_t size = blocks.block_bytes();
      std::size_t block = (address - anchor) / size;
      const Location mine = blocks.owner(block);
      do ++block;
      while (block < blocks.blocks() && blocks.owner(block) == mine);
      return block < blocks.blocks() ? anchor + block * size : UINT64_MAX;
    }
    case Form::cyclic: break;
  }
  const std::uint64_t length = period();
  if (length == 0 || shape->slots == 1) return UINT64_MAX;
  const std::uint64_t offset = (address - anchor) % length;
  std::int32_t slot = slot_of(*this, offset);
  return address - offset + slot_begin(*this, slot + 1);
}

void Layout::add_divided_shares(std::uint64_t begin, std::uint64_t end, Shares& shares) const {
  if (form == Form::blocks) {
    blocks.add_shares(begin - anchor, end - anchor, shares, [] { return true; });
    return;
  }
  const std::uint64_t length = form == Form::cyclic ? period() : 0;
  if (length == 0) {
    shares.unknown += end - begin;
    return;
  }
  const std::uint64_t from = begin - anchor, to = end - anchor;
  // Locals, since for all the compiler knows the sums below could be fields of this object.
  const Shape& slots = *shape;
  const std::int32_t count = slots.slots;
  if (extra == 0 && slots.is_plain(shares)) return add_plain_shares(slots, grain, from, to, shares);
  const std::uint64_t periods = to / length - from / length, first = from % length, last = to % length;
  const std::uint64_t bytes_of_grain = grain, bytes_of_unit = unit;
  const std::uint32_t longer = extra;
  std::uint64_t low = 0;  // of the slot
  std::uint64_t before_last = 0, before_first = 0;
  for (std::int32_t i = 0; i < count; ++i) {
    const std::uint64_t width = (slots.begin[i + 1] - slots.begin[i]) * bytes_of_grain +
                                (static_cast<std::uint32_t>(i) < longer ? bytes_of_unit : 0);
    low += width;
    // What of the period's first `last`, and first `first`, bytes lies in the slots up to this one.
    const std::uint64_t up_to_last = std::min(last, low), up_to_first = std::min(first, low);
    shares.add(slots.location[i],
               periods * width + (up_to_last - before_last) - (up_to_first - before_first));
    before_last = up_to_last;
    before_first = up_to_first;
  }
}

Layout lay_out(const Distribution& what, const Allocation& allocation, const Homes& homes, const Shape* equal,
               const Shape* weighted, const BlockTable& blocks) {
  Layout layout;
  layout.unit = allocation.unit;
  if (homes.count == 0) return layout;
  const auto whole_at = [&layout](Location where) {
    layout.form = where >= 0 ? Layout::Form::single : Layout::Form::unknown;
    layout.single = where;
  };
  const auto cycle = [&layout](const Shape* shape, std::uint64_t anchor, std::uint64_t grain) {
    layout.form = Layout::Form::cyclic;
    layout.shape = shape;
    layout.anchor = anchor;
    layout.grain = grain;
  };
  switch (what.kind) {
    case Kind::standard:
    case Kind::environment: break;
    case Kind::coarse:
      whole_at(homes.at[allocation.ordinal % static_cast<std::uint64_t>(homes.count)]);
      break;
    case Kind::nearest: whole_at(allocation.requester); break;
    case Kind::fine:
    case Kind::interleaved:
      // Counted from address 0, as the kernel's interleaving is: adjacent allocations take turns.
      cycle(equal, 0, allocation.unit);
      break;
    case Kind::blocked: {
      const std::uint64_t units = (allocation.bytes + allocation.unit - 1) / allocation.unit;
      const auto count = static_cast<std::uint64_t>(homes.count);
      cycle(equal, allocation.begin, units / count * allocation.unit);
      layout.extra = static_cast<std::uint32_t>(units % count);
      break;
    }
    case Kind::weighted: cycle(weighted, allocation.begin, allocation.unit); break;
    case Kind::custom:
      if (blocks.memory() == nullptr) break;
      layout.form = Layout::Form::blocks;
      layout.anchor = allocation.begin;
      layout.blocks = blocks;
      break;
  }
  return layout;
}

std::uint64_t weighted_grain(const Shape& shape, std::uint64_t bytes, std::uint64_t unit,
                             std::uint64_t most_pieces) {
  const auto slots = static_cast<std::uint64_t>(shape.slots);
  std::uint64_t grain = unit;
  while (bytes / (grain * shape.total()) * slots > most_pieces) grain *= 2;
  return grain;
}

// ---- BlockTable
//
// The whole counts (checkpoint 0 stands before block 0), the counts since the checkpoint (one row more than
// there are blocks), the owners.

namespace {

/// The locations up to the last that holds memory.
std::int32_t columns(const Homes& homes) {
  std::int32_t most = 0;
  for (std::int32_t i = 0; i < homes.count; ++i) most = std::max(most, homes.at[i] + 1);
  return most;
}

std::size_t bytes_of_whole_counts(std::size_t blocks, std::int32_t locations) {
  return (blocks / BlockTable::kStride + 1) * static_cast<std::size_t>(locations) * sizeof(std::uint32_t);
}

std::size_t bytes_of_counts(std::size_t blocks, std::int32_t locations) {
  return (blocks + 1) * static_cast<std::size_t>(locations);
}

}  // namespace

std::size_t BlockTable::bytes_needed(std::size_t blocks, const Homes& homes) {
  const std::int32_t locations = columns(homes);
  return bytes_of_whole_counts(blocks, locations) + bytes_of_counts(blocks, locations) + blocks;
}

const std::uint32_t* BlockTable::whole_counts(std::size_t block) const {
  return static_cast<const std::uint32_t*>(memory_) + block / kStride * static_cast<std::size_t>(locations_);
}

const std::uint8_t* BlockTable::counts(std::size_t block) const {
  return static_cast<const std::uint8_t*>(memory_) + bytes_of_whole_counts(blocks_, locations_) +
         block * static_cast<std::size_t>(locations_);
}

const std::uint8_t* BlockTable::owners() const { return counts(blocks_ + 1); }

std::size_t BlockTable::block_of(std::uint64_t offset) const {
  const bool shift = (block_bytes_ & (block_bytes_ - 1)) == 0;  // a division costs more than the rest
  const std::uint64_t block = shift ? offset >> __builtin_ctzll(block_bytes_) : offset / block_bytes_;
  return std::min<std::size_t>(block, blocks_);
}

BlockTable::BlockTable(void* memory, const Distribution& what, const Homes& homes, std::size_t blocks,
                       std::size_t block_bytes)
    : memory_(memory), blocks_(blocks), block_bytes_(block_bytes), locations_(columns(homes)) {
  const auto row = static_cast<std::size_t>(locations_);
  auto* whole = static_cast<std::uint32_t*>(memory);
  auto* count = static_cast<std::uint8_t*>(memory) + bytes_of_whole_counts(blocks, locations_);
  std::uint8_t* const owner = count + bytes_of_counts(blocks, locations_);
  std::uint32_t so_far[kMaxLocations] = {};
  for (std::size_t block = 0;; ++block, count += row) {
    if (block % kStride == 0) {
      if (block != 0) whole += row;
      std::copy_n(so_far, row, whole);
    }
    for (std::size_t i = 0; i < row; ++i) count[i] = static_cast<std::uint8_t>(so_far[i] - whole[i]);
    if (block == blocks) break;
    const std::int32_t home = what.owner(block, blocks, homes.count, what.data);
    const bool legal = home >= 0 && home < homes.count;
    owner[block] = legal ? static_cast<std::uint8_t>(homes.at[home]) : kNobody;
    if (legal) ++so_far[homes.at[home]];
  }
}

Location BlockTable::owner(std::size_t block) const {
  if (block >= blocks_) return kUnknown;
  const std::uint8_t owner = peek(owners()[block]);
  return owner < locations_ ? owner : kUnknown;
}

void BlockTable::subtract(std::uint64_t from, std::uint64_t to, std::int32_t locations,
                          Difference& difference) const {
  const std::size_t first = block_of(from), last = block_of(to);
  const std::uint32_t *const whole_first = whole_counts(first), *const whole_last = whole_counts(last);
  const std::uint8_t *const count_first = counts(first), *const count_last = counts(last);
  const std::int32_t common = std::min(locations_, locations);
  difference.locations = common;
  for (std::int32_t i = 0; i < common; ++i)
    difference.blocks[i] =
        peek(whole_last[i]) + peek(count_last[i]) - (peek(whole_first[i]) + peek(count_first[i]));
  difference.first_owner = owner(first);
  difference.last_owner = owner(last);
  difference.first_bytes = first * block_bytes_ - from;  // below 0, and added as such
  difference.last_bytes = to - last * block_bytes_;
}

}  // namespace hearth::placement
