// What the blocks of one allocation site were used like, and which distribution suits its next block.
//
// Pure. A site is a place in the code that allocates, and a class of sizes. Numbers come from the runtime as it runs tasks
// (memory/sites.h), and from earlier runs (learned.h).
#pragma once

#include <cstddef>
#include <cstdint>

#include "placement/distribution.h"

namespace hearth::policy {

/// The distributions that a site may get; the first is what an unknown one gets.
inline constexpr placement::Kind kSiteKinds[] = {placement::Kind::standard, placement::Kind::fine, placement::Kind::coarse,
                                                 placement::Kind::blocked, placement::Kind::nearest};
inline constexpr std::size_t kSiteKindCount = 5;
/// Of one of those.
std::size_t site_kind_index(placement::Kind kind);

/// Counts and means. Parts are in thousandths. A use: a task with a footprint that names a part of a block has ended.
struct SiteUse {
  std::uint64_t blocks = 0;   // that were used
  std::uint64_t bytes = 0;    // of a block
  std::uint64_t placed = 0;   // blocks that were first touched before a task used them,
  std::uint64_t spread = 0;   // and what of these was not where most of the block was
  std::uint64_t uses = 0;
  std::uint64_t part = 0;     // of the block, that a use names
  std::uint64_t main = 0;     // of all that its task names
  std::uint64_t share = 0;    // of all tasks with a footprint, those that use a given block
  std::uint64_t followed = 0;  // of all tasks, those with a footprint
  struct Tried {
    std::uint64_t uses = 0;
    std::uint64_t time = 0;   // that a task took as a rule, ns
    std::uint64_t local = 0;  // what it named that was where it ran
  } tried[kSiteKindCount] = {};  // as kSiteKinds
};

/// Both, of which the older one counts as few uses; experience.h.
SiteUse joined(const SiteUse& older, const SiteUse& newer);

/// For the site's next block. What nobody has seen used by tasks that say so gets first touch; else what suits (advice.h); and
/// where that was tried and tasks took longer than under another one, that.
placement::Kind distribution_for(const SiteUse& use, std::int32_t locations, std::uint32_t workers);

}  // namespace hearth::policy
