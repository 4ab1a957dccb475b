// The arithmetic of layouts; see distribution.h.
#include "placement/distribution.h"

#include <cstring>

#include <algorithm>

namespace hearth::placement {
namespace {

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

std::int32_t slot_of(const Layout& layout, std::uint64_t offset_in_period) {
  std::int32_t low = 0, high = layout.shape->slots;
  while (high - low > 1) {
    const std::int32_t middle = (low + high) / 2;
    (slot_begin(layout, middle) <= offset_in_period ? low : high) = middle;
  }
  return low;
}

}  // namespace

// No branch on what the range is, and sums side by side.
void add_many_slots(std::uint32_t count, std::uint64_t width, std::uint64_t from, std::uint64_t to,
                    Shares& shares) {
  std::uint64_t first = quotient(from, width), last = quotient(to, width);
  const std::uint64_t of_first = from - first * width, of_last = to - last * width;
  // Slots in their periods from here on.
  const std::uint64_t periods = quotient(last, count) - quotient(first, count);
  first = remainder(first, count);
  last = remainder(last, count);
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
    shape.add(homes.at[i], weight);
  }
  return shape;
}

Shape make_rounds(const Homes& homes, const std::uint16_t* node) {
  std::int32_t first[kMaxLocations], count[kMaxLocations], nodes = 0, most = 0;
  for (std::int32_t h = 0; h < homes.count; ++h) {
    if (h == 0 || node[homes.at[h]] != node[homes.at[h - 1]]) {
      first[nodes] = h;
      count[nodes++] = 0;
    }
    most = std::max(most, ++count[nodes - 1]);
  }
  Shape shape;
  if (nodes == 0) return shape;
  for (std::int32_t round = 0; round < std::min(most, kMaxLocations / nodes); ++round)
    for (std::int32_t n = 0; n < nodes; ++n) shape.add(homes.at[first[n] + round % count[n]], 1);
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
  if (extra == 0 && from < to && slots.is_plain() && takes_plain_slots(shares, count))
    return add_plain_shares(count, grain, from, to, shares);
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
// The owners; the whole counts (checkpoint 0 stands before block 0); the counts since the checkpoint, one row
// more than there are blocks.

namespace {

/// The locations up to the last that holds memory.
std::int32_t columns(const Homes& homes) {
  std::int32_t most = 0;
  for (std::int32_t i = 0; i < homes.count; ++i) most = std::max(most, homes.at[i] + 1);
  return most;
}

std::size_t bytes_of_owners(std::size_t blocks) {
  constexpr std::size_t kWord = sizeof(std::uint64_t);  // the next array's alignment
  return (blocks + kWord - 1) / kWord * kWord;
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
  return bytes_of_owners(blocks) + bytes_of_whole_counts(blocks, locations) +
         bytes_of_counts(blocks, locations);
}

const std::uint32_t* BlockTable::whole_counts(std::size_t block) const {
  const auto* first =
      reinterpret_cast<const std::uint32_t*>(static_cast<const char*>(memory_) + bytes_of_owners(blocks_));
  return first + block / kStride * static_cast<std::size_t>(locations_);
}

const std::uint8_t* BlockTable::counts(std::size_t block) const {
  return static_cast<const std::uint8_t*>(memory_) + bytes_of_owners(blocks_) +
         bytes_of_whole_counts(blocks_, locations_) + block * static_cast<std::size_t>(locations_);
}

BlockTable::BlockTable(void* memory, const Distribution& what, const Homes& homes, std::size_t blocks,
                       std::size_t block_bytes)
    : memory_(memory), blocks_(blocks), block_bytes_(block_bytes), locations_(columns(homes)) {
  const auto row = static_cast<std::size_t>(locations_);
  auto* const owner = static_cast<std::uint8_t*>(memory);
  std::uint8_t* const behind = owner + bytes_of_owners(blocks);
  auto* whole = reinterpret_cast<std::uint32_t*>(behind);
  std::uint8_t* count = behind + bytes_of_whole_counts(blocks, locations_);
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

void BlockTable::divide(std::uint64_t from, std::uint64_t to, std::int32_t locations, Parts& parts) const {
  const std::size_t first = block_of(from), last = block_of(to);
  const std::uint32_t *const whole_first = whole_counts(first), *const whole_last = whole_counts(last);
  const std::uint8_t *const count_first = counts(first), *const count_last = counts(last);
  std::uint64_t unknown = to - from;
  const auto add = [&](Location where, std::uint64_t bytes) {
    parts.add(where, bytes);
    unknown -= bytes;
  };
  const std::int32_t common = std::min(locations_, locations);
  for (std::int32_t i = 0; i < common; ++i) {
    const std::uint32_t blocks =
        peek(whole_last[i]) + peek(count_last[i]) - (peek(whole_first[i]) + peek(count_first[i]));
    add(i, blocks * block_bytes_);
  }
  // All of the first block was counted, and nothing of the last.
  const Location first_owner = owner(first), last_owner = owner(last);
  if (first_owner >= 0 && first_owner < common) add(first_owner, first * block_bytes_ - from);
  if (last_owner >= 0 && last_owner < common) add(last_owner, to - last * block_bytes_);
  parts.add(kUnknown, unknown);
}

}  // namespace hearth::placement
