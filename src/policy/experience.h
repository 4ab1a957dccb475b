// What the tasks of one construct have shown, as plain numbers: an Account (account.h) to keep until the next run.
//
// Pure. An earlier run's numbers decide what a run looks into first, and nothing else: only what it has seen itself counts. So
// a file that is wrong costs no more than a few tasks.
#pragma once

#include <cstdint>

#include "policy/tuning.h"

namespace hearth::policy {

/// Counts of tasks, and means in ns.
struct Experience {
  std::uint64_t asked = 0, saved = 0;           // asked about, and what dealing was foretold to save
  std::uint64_t home = 0, home_time = 0;        // that ran at home
  std::uint64_t far = 0, far_time = 0;          // and elsewhere
  std::uint64_t foretold = 0;                   // what those were foretold to lose elsewhere
};

/// Tasks that ran elsewhere took so much longer as one may expect of what was foretold.
constexpr bool took_longer(std::uint64_t home_time, std::uint64_t far_time, std::uint64_t foretold) {
  return far_time >= home_time + foretold / tuning::kBelievedPart;
}
/// Enough is known of the construct, and it is that its tasks lose nothing elsewhere.
constexpr bool is_doubted(const Experience& seen) {
  return seen.home >= tuning::kKnownTimes && seen.far >= tuning::kKnownTimes &&
         !took_longer(seen.home_time, seen.far_time, seen.foretold);
}

/// A count, and the mean of as many values, of earlier runs and of this one. Of the older ones few count in the mean, so newer
/// experience outweighs it soon. Numbers without sense do not overflow.
std::uint64_t joined_count(std::uint64_t older, std::uint64_t newer);
std::uint64_t joined_mean(std::uint64_t older, std::uint64_t olders, std::uint64_t newer, std::uint64_t newers);
Experience joined(const Experience& older, const Experience& newer);

}  // namespace hearth::policy
