// Where is a range of bytes? The one question of everybody who deals tasks or plans migrations: computed for
// memory that Hearth distributed, looked up in the PageMap for all other. Answers are hints.
//
// where_is() is wait-free and makes no system call; any thread. What it reports as missing, learn() asks the
// kernel about: once for memory that was never seen, and for what has grown old when there is time.
#pragma once

#include "memory/managed.h"
#include "memory/page_map.h"

namespace hearth::memory {

/// Adds the range's bytes by location.
inline PageMap::Knowledge where_is(placement::ByteRange range, placement::Shares& shares) {
  if (owner_table.add_computed(range, shares) || range.bytes() == 0) return {};
  if (!owner_table.manages(range.begin)) return page_map.add_shares(range, shares);
  const std::uint64_t unknown_before = shares.unknown;
  owner_table.add_pieces(range, shares);
  if (shares.unknown - unknown_before != range.bytes()) return {};
  // Nothing of it is computed: the operating system placed it, or did not do as it was told.
  shares.unknown = unknown_before;
  return page_map.add_shares(range, shares);
}

/// See PageMap::learn().
inline bool learn(const placement::ByteRange* ranges, std::size_t count) { return page_map.learn(ranges, count); }

/// The range's bytes by location, after asking the kernel where the answer is missing or old.
placement::Shares look_up(placement::ByteRange range);

}  // namespace hearth::memory
