// See sites.h.
#include "memory/sites.h"

#include <algorithm>
#include <atomic>
#include <bit>

#include "base/assert.h"
#include "memory/managed_regions.h"
#include "memory/owners.h"

namespace hearth::memory::sites {

constinit bool on = false;

namespace {

using placement::Kind;
using policy::kSiteKindCount;
using policy::SiteUse;
using Count = std::atomic<std::uint64_t>;

constexpr std::uint64_t kWhole = 1000;

struct Site {
  std::atomic<std::uint64_t> key{0};  // 0: free
  std::atomic<bool> ready{false};     // `earlier` is written
  SiteUse earlier;
  // Sums over this process.
  Count blocks{0}, bytes{0}, placed{0}, spread{0}, uses{0}, part{0}, main{0};
  struct Tried {
    Count uses{0}, local{0};
    Count time{0};  // no sum: follow_median()
  } tried[kSiteKindCount];
};

constexpr std::size_t kSites = 256, kProbes = 16;
static_assert(kSites <= UINT8_MAX + 1 && (kSites & (kSites - 1)) == 0);
constinit Site table[kSites];
constinit Count tasks{0}, tasks_meant{0};  // noted; and what these stand for

std::int32_t locations = 0;
std::uint32_t workers = 0;
Earlier ask_earlier = nullptr;
Counted count_tasks = nullptr;

void add(Count& count, std::uint64_t value) { count.fetch_add(value, std::memory_order_relaxed); }
std::uint64_t get(const Count& count) { return count.load(std::memory_order_relaxed); }
std::uint64_t mean(const Count& sum, std::uint64_t count) { return count == 0 ? 0 : get(sum) / count; }

// The median of what comes, as well as it can be had without keeping it: up or down by a part with each value. A thread that
// loses its CPU in the middle of a task makes that one take a hundred times as long, of which a mean would tell.
void follow_median(Count& median, std::uint64_t value, std::uint64_t values) {
  const std::uint64_t now = get(median);
  const std::uint64_t step = std::max<std::uint64_t>(now / (values < tuning::kMedianSettles ? 4 : 32), 1);
  const std::uint64_t next = now == 0 ? value : value > now ? std::min(value, now + step) : std::max(value, now - step);
  median.store(next, std::memory_order_relaxed);
}

std::uint32_t class_of(std::size_t size) { return static_cast<std::uint32_t>(std::bit_width(size)); }
// Addresses of user space leave the upper bits free.
std::uint64_t key_of(const void* caller, std::size_t size) {
  return reinterpret_cast<std::uintptr_t>(caller) << 8 | class_of(size);
}
const void* caller_of(std::uint64_t key) { return reinterpret_cast<const void*>(key >> 8); }

/// Null: there are too many sites.
Site* site_of(const void* caller, std::size_t size) {
  const std::uint64_t key = key_of(caller, size);
  const std::size_t first = key * 0x9e3779b97f4a7c15 >> 56;
  for (std::size_t i = first; i < first + kProbes; ++i) {
    Site& site = table[i % kSites];
    std::uint64_t owner = site.key.load(std::memory_order_relaxed);
    if (owner == key) return &site;
    if (owner != 0) continue;
    if (site.key.compare_exchange_strong(owner, key, std::memory_order_relaxed)) {
      ask_earlier(caller, class_of(size), site.earlier);
      site.ready.store(true, std::memory_order_release);  // pairs with use_of()
      return &site;
    }
    if (owner == key) return &site;
  }
  return nullptr;
}

SiteUse seen_of(const Site& site) {
  SiteUse use;
  use.blocks = get(site.blocks);
  use.bytes = mean(site.bytes, use.blocks);
  use.placed = get(site.placed);
  use.spread = mean(site.spread, use.placed);
  use.uses = get(site.uses);
  use.part = mean(site.part, use.uses);
  use.main = mean(site.main, use.uses);
  const std::uint64_t possible = get(tasks) * use.blocks;
  if (possible != 0) use.share = std::min(kWhole, use.uses * kWhole / possible);
  // Those that have ended and those that were noted are not counted at the same moment.
  const std::uint64_t meant = get(tasks_meant);
  use.followed = std::min(kWhole, meant * kWhole / std::max(count_tasks(), std::max<std::uint64_t>(meant, 1)));
  for (std::size_t i = 0; i < kSiteKindCount; ++i) {
    const Site::Tried& tried = site.tried[i];
    const std::uint64_t count = get(tried.uses);
    use.tried[i] = {.uses = count, .time = get(tried.time), .local = mean(tried.local, count)};
  }
  return use;
}

// Who has touched a block that lies as the operating system put it, before tasks used it: one thread, or many. In thousandths,
// what is not where most of it is; all of it, if its users are the first.
std::uint64_t spread_of(const ManagedBlock& block, bool untouched) {
  if (untouched) return kWhole;
  const placement::Shares shares = look_up(placement::ByteRange::of(block.begin, block.size));
  std::uint64_t all = 0, most = 0;
  for (std::int32_t i = 0; i < shares.locations; ++i) {
    all += shares.at[i];
    most = std::max(most, shares.at[i]);
  }
  return 2 * all < block.size ? kWhole : (all - most) * kWhole / all;
}

}  // namespace

void begin(std::int32_t of_machine, std::uint32_t threads, Earlier earlier, Counted all_tasks) {
  count_tasks = all_tasks;
  locations = of_machine;
  workers = threads;
  ask_earlier = earlier;
  on = true;
}

Kind next_kind(const SiteUse& use) { return policy::distribution_for(use, locations, workers); }

void choose(const void* caller, ManagedRequest& request) {
  Site* const site = site_of(allocating_for != nullptr ? allocating_for : caller, request.size);
  request.own_pages = true;
  request.what = {.kind = Kind::standard};
  if (site == nullptr) return;
  const bool known = site->ready.load(std::memory_order_acquire);  // pairs with site_of()
  const SiteUse seen = seen_of(*site);
  request.what.kind = next_kind(known ? joined(site->earlier, seen) : seen);
  request.site = static_cast<SiteId>(site - table + 1);
}

std::uint32_t notes(std::uint64_t turn) {
  if (get(tasks) < tuning::kNotedUses) return 1;
  return turn % tuning::kNotesRarely == 0 ? tuning::kNotesRarely : 0;
}

void note_task(std::uint32_t stands_for) {
  add(tasks, 1);
  add(tasks_meant, stands_for);
}

void note_use(const ManagedBlock& block, const Use& use) {
  HEARTH_ASSERT(block.site != 0 && block.site <= kSites, "site %u of %zu", block.site, kSites);
  Site& site = table[block.site - 1];
  placement::Shares shares(memory_homes().locations);
  const PageMap::Knowledge before = where_is(use.part, shares);
  if (first_use(block.begin)) {
    add(site.blocks, 1);
    add(site.bytes, block.size);
    // On a pretended machine nobody knows what the program has touched.
    if (block.site_kind == Kind::standard && memory_homes().kernel_places) {
      add(site.placed, 1);
      add(site.spread, spread_of(block, before.untouched != 0));
    }
  }
  const std::uint64_t named = std::max<std::uint64_t>(use.bytes, 1), part = std::max<std::uint64_t>(use.part.bytes(), 1);
  add(site.uses, 1);
  add(site.part, std::min(kWhole, named * kWhole / std::max<std::uint64_t>(block.size, 1)));
  add(site.main, std::min(kWhole, named * kWhole / std::max(use.all_bytes, named)));
  Site::Tried& tried = site.tried[policy::site_kind_index(block.site_kind)];
  follow_median(tried.time, use.time, tried.uses.fetch_add(1, std::memory_order_relaxed));
  if (use.here >= 0 && use.here < shares.locations) add(tried.local, std::min(kWhole, shares.at[use.here] * kWhole / part));
}

void for_each(void (*visit)(const void*, std::uint32_t, const SiteUse&, void*), void* data) {
  for (const Site& site : table) {
    const std::uint64_t key = site.key.load(std::memory_order_relaxed);
    if (key == 0 || get(site.uses) == 0) continue;
    visit(caller_of(key), static_cast<std::uint32_t>(key & 0xff), seen_of(site), data);
  }
}

}  // namespace hearth::memory::sites
