// PageMap: where foreign memory is, memory that Hearth did not distribute itself. Hints: a wrong one costs
// time, never correctness.
//
// A fixed table of single words, one page each: page number, age, owner. Lookups are wait-free and make no
// system call: they load words. learn() asks the kernel, in batches, about what is not in the table or has
// grown old; assume() notes what the caller knows better, above all under a pretended machine, where the
// kernel cannot know; forget() is for our own migrations and for memory that goes away. Any thread may call
// anything at any time; a word is written whole, so the latest writer wins. A page that nobody has touched is
// remembered as such, so that it is not asked about again before it is old. Where the locations are
// last-level caches, a page that is first seen is given to one of its node's, in turn, and stays there while
// the kernel says the same node; so a block's tasks find it in the same cache again.
//
// Large ranges are sampled: kSamples pages, one from each of so many equal strata of the address space, at a
// place that looks random (regular places would always meet the same node of an interleaved range) but is the
// same for everybody, so that lookups find what learn() asked.
#pragma once

#include <cstddef>
#include <cstdint>

#include "memory/homes.h"
#include "placement/need.h"
#include "policy/tuning.h"

namespace hearth::memory {

class PageMap {
 public:
  static constexpr std::uint64_t kSamples = 32;
  static constexpr std::size_t kEntries = std::size_t{1} << 20;  // direct-mapped: 4 GiB in a row never collide

  struct Knowledge {
    std::uint64_t missing = 0;    // bytes that are not in the table: learn() would ask
    std::uint64_t old = 0;        // bytes that are, but should be asked about again when there is time
    std::uint64_t untouched = 0;  // bytes without a page yet: they count as unknown in the shares
  };

  /// Adds what the table says of the range.
  Knowledge add_shares(placement::ByteRange range, placement::Shares& shares) const;
  /// Asks the kernel about what is missing, old or untouched. Nothing under a pretended machine, or where
  /// there is one node only. False when the kernel refuses to tell.
  bool learn(const placement::ByteRange* ranges, std::size_t count);
  /// From now on the range counts as being at `where` (kUnknown: untouched).
  void assume(placement::ByteRange range, Location where);
  /// The same, to be asked about when there is time; where a node has several locations the kernel's answer
  /// leaves the page with `where` if that is on the page's node.
  void suppose(placement::ByteRange range, Location where);
  void forget(placement::ByteRange range);
  void forget_everything();
  /// Asks the kernel about these addresses, at most kMostProbes of them: does what the table says of them
  /// still hold? Memory that was unmapped and mapped again lies elsewhere now, and nobody told us. False when
  /// more than a few have moved; one system call.
  static constexpr std::size_t kMostProbes = 64;
  bool holds(const std::uint64_t* addresses, std::size_t count) const;
  /// A page that stands for the range, one of them at random: something to ask holds() about later. The first
  /// page alone would not do, as allocators write there themselves.
  static std::uint64_t a_page_of(placement::ByteRange range, std::uint32_t random);
  /// Lets entries age: call it now and then, where a clock can be read. Returns the number of the tick.
  std::uint32_t tick();
  void tick(std::int64_t now_ns);

 private:
  bool attach();
  void note(placement::ByteRange range, Location where, std::uint32_t tick);
};

/// The process's own.
extern PageMap page_map;

}  // namespace hearth::memory
