#include "policy/site.h"

#include <algorithm>

#include "base/assert.h"
#include "policy/advice.h"
#include "policy/experience.h"
#include "policy/tuning.h"

namespace hearth::policy {
namespace {

using placement::Kind;

constexpr double kWhole = 1000;

bool is_known(const SiteUse::Tried& tried) { return tried.uses >= tuning::kKnownUses; }

// Those who use it have touched it first, and run where they did that: first touch has put it where it is used.
bool is_where_it_is_used(const SiteUse& use, std::int32_t locations) {
  const SiteUse::Tried& standard = use.tried[0];
  if (is_known(standard) && standard.local < tuning::kMostlyLocal) return false;
  // Spread evenly, all but one location's part is elsewhere; half as much is no more one thread's work.
  const double evenly = 1 - 1.0 / locations;
  return use.placed != 0 && static_cast<double>(use.spread) / kWhole >= evenly / 2;
}

RegionUse region_of(const SiteUse& use, std::int32_t locations) {
  return {.bytes = use.bytes,
          .part = static_cast<double>(use.part) / kWhole,
          .followed = static_cast<double>(use.followed) / kWhole,
          .tasks = static_cast<double>(use.share) / kWhole,
          .main = static_cast<double>(use.main) / kWhole,
          .touched_by_users = is_where_it_is_used(use, locations)};
}

bool is_near(const SiteUse::Tried& tried) { return tried.local >= tuning::kHalfLocal; }

// Whether tasks did worse under the first: they took much longer, or longer and not near, or not nearer, to their data.
bool did_worse(const SiteUse::Tried& one, const SiteUse::Tried& other) {
  const std::uint64_t longer = one.time - std::min(one.time, other.time);
  return longer > other.time / tuning::kMuchLongerPart ||
         (longer > other.time / tuning::kLongerPart && (!is_near(one) || one.local <= other.local));
}

}  // namespace

std::size_t site_kind_index(Kind kind) {
  const auto* const at = std::find(std::begin(kSiteKinds), std::end(kSiteKinds), kind);
  HEARTH_ASSERT(at != std::end(kSiteKinds), "no site gets %s", placement::kind_name(kind));
  return static_cast<std::size_t>(at - kSiteKinds);
}

SiteUse joined(const SiteUse& older, const SiteUse& newer) {
  SiteUse both;
  both.blocks = joined_count(older.blocks, newer.blocks);
  both.bytes = joined_mean(older.bytes, older.blocks, newer.bytes, newer.blocks);
  both.placed = joined_count(older.placed, newer.placed);
  both.spread = joined_mean(older.spread, older.placed, newer.spread, newer.placed);
  both.uses = joined_count(older.uses, newer.uses);
  both.part = joined_mean(older.part, older.uses, newer.part, newer.uses);
  both.main = joined_mean(older.main, older.uses, newer.main, newer.uses);
  both.share = joined_mean(older.share, older.uses, newer.share, newer.uses);
  both.followed = joined_mean(older.followed, older.uses, newer.followed, newer.uses);
  for (std::size_t i = 0; i < kSiteKindCount; ++i) {
    const SiteUse::Tried &old = older.tried[i], &now = newer.tried[i];
    both.tried[i] = {.uses = joined_count(old.uses, now.uses),
                     .time = joined_mean(old.time, old.uses, now.time, now.uses),
                     .local = joined_mean(old.local, old.uses, now.local, now.uses)};
  }
  return both;
}

Kind distribution_for(const SiteUse& use, std::int32_t locations, std::uint32_t workers) {
  if (use.uses < tuning::kKnownUses || locations < 2) return Kind::standard;
  const ProgramUse program = {.workers = workers, .busy = static_cast<double>(workers), .locations = locations};
  std::size_t best = site_kind_index(advise(program, region_of(use, locations)));
  if (!is_known(use.tried[best])) return kSiteKinds[best];
  // Tasks do not get to where that puts their data: then let all memory serve them.
  const std::size_t fine = site_kind_index(Kind::fine);
  if (!is_near(use.tried[best]) && !is_known(use.tried[fine])) return Kind::fine;
  for (std::size_t i = 0; i < kSiteKindCount; ++i)
    if (is_known(use.tried[i]) && did_worse(use.tried[best], use.tried[i])) best = i;
  return kSiteKinds[best];
}

}  // namespace hearth::policy
