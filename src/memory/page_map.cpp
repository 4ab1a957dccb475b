// The table of pages; see page_map.h. Synchronisation: every word by itself, relaxed, since no word says
// anything about another.
//
// Orders: the table's address is published with release in attach() and read with acquire everywhere else. The memory
// is fresh from the kernel, so nothing but the mapping itself has to be seen.
#include "memory/page_map.h"

#include <cinttypes>
#include <ctime>

#include <algorithm>
#include <atomic>

#include <sys/mman.h>

#include "base/assert.h"
#include "memory/kernel_pages.h"

namespace hearth::memory {

PageMap page_map;

namespace {

using placement::ByteRange;
using placement::Shares;

// A word: page number (45 bits: addresses of 57), tick of the answer (11), owner (8). 0: empty.
constexpr int kOwnerBits = 8, kTickBits = 11;
constexpr std::uint64_t kOwnerMask = (1u << kOwnerBits) - 1;
constexpr std::uint32_t kTickMask = (1u << kTickBits) - 1;
constexpr std::uint64_t kUntouched = 0xfe;  // there is no page yet
constexpr std::uint64_t kElsewhere =
    0xff;  // on a node that is no location of ours, or the kernel would not say
static_assert(placement::kMaxLocations <= 0xf0);

constinit std::atomic<std::atomic<std::uint64_t>*> the_table{nullptr};
constinit std::atomic<std::uint32_t> now_tick{1};
constinit std::atomic<std::uint32_t> next_turn{0};  // of the locations of one node

std::uint64_t scrambled(std::uint64_t value) {
  value *= 0x9e3779b97f4a7c15u;
  return value ^ (value >> 29);
}

std::atomic<std::uint64_t>& word_of(std::atomic<std::uint64_t>* table, std::uint64_t page) {
  // Neighbours stay neighbours, so a block's pages are a few cache lines; what is far apart is spread.
  return table[(page + scrambled(page / PageMap::kEntries)) % PageMap::kEntries];
}

std::uint64_t word(std::uint64_t page, std::uint32_t tick, std::uint64_t owner) {
  HEARTH_ASSERT(page >> (64 - kOwnerBits - kTickBits) == 0 && owner <= kOwnerMask,
                "page %#" PRIx64 " or owner %#" PRIx64 " does not fit a word", page, owner);
  return page << (kOwnerBits + kTickBits) | static_cast<std::uint64_t>(tick & kTickMask) << kOwnerBits |
         owner;
}
std::uint64_t page_in(std::uint64_t word) { return word >> (kOwnerBits + kTickBits); }
std::uint32_t tick_in(std::uint64_t word) {
  return static_cast<std::uint32_t>(word >> kOwnerBits) & kTickMask;
}
bool is_old(std::uint64_t word, std::uint32_t now) {
  return ((now - tick_in(word)) & kTickMask) > tuning::kPageMapOldTicks;
}

// The pages of a range in equal strata, of each of which one page stands for all. Not of an empty range.
struct Strata {
  explicit Strata(ByteRange range) : first(range.begin / kPage), last((range.end - 1) / kPage) {
    while ((last - first) / pages >= PageMap::kSamples) pages *= 2;
  }
  std::uint64_t page_of(std::uint64_t stratum) const {
    const std::uint64_t page = stratum * pages + (pages > 1 ? scrambled(stratum ^ pages << 32) % pages : 0);
    return std::clamp(page, first, last);  // strata at the ends reach beyond the range
  }
  const std::uint64_t first, last;
  std::uint64_t pages = 1;  // of a stratum; a power of two, so that overlapping ranges share their samples
};

/// Calls visit(page, bytes) for the pages that stand for a range; the bytes add up to the range's.
template <class Visit>
void for_each_sample(ByteRange range, Visit&& visit) {
  if (range.bytes() == 0) return;
  const Strata strata(range);
  for (std::uint64_t s = strata.first / strata.pages; s <= strata.last / strata.pages; ++s) {
    const std::uint64_t begin = std::max(s * strata.pages * kPage, range.begin);
    const std::uint64_t end = std::min((s + 1) * strata.pages * kPage - 1, range.end - 1) + 1;
    visit(strata.page_of(s), end - begin);
  }
}

}  // namespace

bool PageMap::attach() {
  if (the_table.load(std::memory_order_acquire) != nullptr) return true;
  constexpr std::size_t kBytes = kEntries * sizeof(std::atomic<std::uint64_t>);
  void* memory =
      mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return false;
  std::atomic<std::uint64_t>* expected = nullptr;
  if (!the_table.compare_exchange_strong(expected, static_cast<std::atomic<std::uint64_t>*>(memory),
                                         std::memory_order_release, std::memory_order_acquire))
    munmap(memory, kBytes);
  return true;
}

PageMap::Knowledge PageMap::add_shares(ByteRange range, Shares& shares) const {
  Knowledge knowledge;
  std::atomic<std::uint64_t>* table = the_table.load(std::memory_order_acquire);
  if (table == nullptr) {
    shares.unknown += range.bytes();
    knowledge.missing = range.bytes();
    return knowledge;
  }
  const std::uint32_t now = now_tick.load(std::memory_order_relaxed);
  for_each_sample(range, [&](std::uint64_t page, std::uint64_t bytes) {
    const std::uint64_t seen = word_of(table, page).load(std::memory_order_relaxed);
    if (seen == 0 || page_in(seen) != page) {
      knowledge.missing += bytes;
      shares.unknown += bytes;
      return;
    }
    const std::uint64_t owner = seen & kOwnerMask;
    HEARTH_ASSERT(owner < placement::kMaxLocations || owner >= kUntouched, "page %#" PRIx64 " has owner %#" PRIx64,
                  page, owner);
    shares.add(owner < placement::kMaxLocations ? static_cast<Location>(owner) : kUnknown, bytes);
    if (owner == kUntouched) knowledge.untouched += bytes;
    if (is_old(seen, now)) knowledge.old += bytes;
  });
  return knowledge;
}

bool PageMap::learn(const ByteRange* ranges, std::size_t count) {
  const MemoryHomes& machine = memory_homes();
  if (!machine.kernel_places || !attach()) return true;
  tick();
  std::atomic<std::uint64_t>* table = the_table.load(std::memory_order_acquire);
  const std::uint32_t now = now_tick.load(std::memory_order_relaxed);
  constexpr std::size_t kBatch = kernel::kMostPagesAtOnce;
  void* pages[kBatch];
  int status[kBatch];
  std::size_t waiting = 0;
  bool told = true;
  // What is asked about together belongs to one task, and comes to one location of each node.
  const std::uint32_t turn = machine.divided ? next_turn.fetch_add(1, std::memory_order_relaxed) : 0;
  const auto ask = [&] {
    if (waiting > 0 && told) told = kernel::query(pages, waiting, status) == kernel::Outcome::done;
    for (std::size_t i = 0; i < waiting && told; ++i) {
      const std::uint64_t page = reinterpret_cast<std::uintptr_t>(pages[i]) / kPage;
      // -ENOENT and -EFAULT: not touched, or not there. Any other failure is worth no second question soon
      // either.
      std::atomic<std::uint64_t>& entry = word_of(table, page);
      const std::uint64_t seen = entry.load(std::memory_order_relaxed);
      const auto before = page_in(seen) == page ? static_cast<Location>(seen & kOwnerMask) : kUnknown;
      const Location where = machine.location_of(status[i], before, turn);
      const std::uint64_t owner = where != kUnknown ? static_cast<std::uint64_t>(where)
                                  : status[i] >= 0  ? kElsewhere
                                                    : kUntouched;
      entry.store(word(page, now, owner), std::memory_order_relaxed);
    }
    waiting = 0;
  };
  for (std::size_t r = 0; r < count; ++r)
    for_each_sample(ranges[r], [&](std::uint64_t page, std::uint64_t) {
      const std::uint64_t seen = word_of(table, page).load(std::memory_order_relaxed);
      if (seen != 0 && page_in(seen) == page && !is_old(seen, now) && (seen & kOwnerMask) != kUntouched)
        return;
      pages[waiting++] = reinterpret_cast<void*>(page * kPage);
      if (waiting == kBatch) ask();
    });
  ask();
  return told;
}

void PageMap::assume(ByteRange range, Location where) {
  note(range, where, now_tick.load(std::memory_order_relaxed));
}

void PageMap::note(ByteRange range, Location where, std::uint32_t tick) {
  if (range.bytes() == 0 || !attach()) return;
  std::atomic<std::uint64_t>* table = the_table.load(std::memory_order_acquire);
  const std::uint64_t owner =
      where >= 0 && where < placement::kMaxLocations ? static_cast<std::uint64_t>(where) : kUntouched;
  const auto note_page = [&](std::uint64_t page) {
    word_of(table, page).store(word(page, tick, owner), std::memory_order_relaxed);
  };
  // Page by page as long as that is cheap; of huge ranges, what a lookup of the same range will look at.
  constexpr std::uint64_t kMostPages = 4096;
  const std::uint64_t first = range.begin / kPage, last = (range.end - 1) / kPage;
  if (last - first < kMostPages)
    for (std::uint64_t page = first; page <= last; ++page) note_page(page);
  else
    for_each_sample(range, [&](std::uint64_t page, std::uint64_t) { note_page(page); });
}

void PageMap::suppose(ByteRange range, Location where) {
  note(range, where, now_tick.load(std::memory_order_relaxed) - tuning::kPageMapOldTicks - 1);
}

void PageMap::forget(ByteRange range) {
  std::atomic<std::uint64_t>* table = the_table.load(std::memory_order_acquire);
  if (table == nullptr || range.bytes() == 0) return;
  const std::uint64_t first = range.begin / kPage, last = (range.end - 1) / kPage;
  if (last - first >= kEntries) {
    for (std::size_t i = 0; i < kEntries; ++i) {
      const std::uint64_t page = page_in(table[i].load(std::memory_order_relaxed));
      if (page >= first && page <= last) table[i].store(0, std::memory_order_relaxed);
    }
    return;
  }
  for (std::uint64_t page = first; page <= last; ++page) {
    std::atomic<std::uint64_t>& entry = word_of(table, page);
    if (page_in(entry.load(std::memory_order_relaxed)) == page) entry.store(0, std::memory_order_relaxed);
  }
}

void PageMap::forget_everything() {
  std::atomic<std::uint64_t>* table = the_table.load(std::memory_order_acquire);
  // The pages come back as zeros; a reader sees a word before or after.
  if (table != nullptr) madvise(table, kEntries * sizeof(*table), MADV_DONTNEED);
}

bool PageMap::holds(const std::uint64_t* addresses, std::size_t count) const {
  const MemoryHomes& machine = memory_homes();
  std::atomic<std::uint64_t>* table = the_table.load(std::memory_order_acquire);
  if (table == nullptr || !machine.kernel_places) return true;
  void* pages[kMostProbes];
  std::uint64_t owners[kMostProbes];
  int status[kMostProbes];
  std::size_t asked = 0;
  for (std::size_t i = 0; i < count && asked < kMostProbes; ++i) {
    const std::uint64_t page = addresses[i] / kPage;
    const std::uint64_t seen = word_of(table, page).load(std::memory_order_relaxed);
    if (seen == 0 || page_in(seen) != page || (seen & kOwnerMask) >= placement::kMaxLocations) continue;
    pages[asked] = reinterpret_cast<void*>(page * kPage);
    owners[asked++] = seen & kOwnerMask;
  }
  if (asked == 0 || kernel::query(pages, asked, status) != kernel::Outcome::done) return true;
  std::size_t moved = 0;
  for (std::size_t i = 0; i < asked; ++i)
    moved += status[i] < 0 || !machine.is_at(static_cast<Location>(owners[i]), status[i]);
  return moved * 16 <= asked;
}

std::uint64_t PageMap::a_page_of(ByteRange range, std::uint32_t random) {
  if (range.bytes() == 0) return range.begin;
  const Strata strata(range);
  const std::uint64_t first = strata.first / strata.pages, count = strata.last / strata.pages - first + 1;
  return strata.page_of(first + (random * count >> 32)) * kPage;
}

std::uint32_t PageMap::tick() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  tick(now.tv_sec * std::int64_t{1'000'000'000} + now.tv_nsec);
  return now_tick.load(std::memory_order_relaxed);
}

void PageMap::tick(std::int64_t now_ns) {
  now_tick.store(static_cast<std::uint32_t>(now_ns / tuning::kPageMapTickNs + 1), std::memory_order_relaxed);
}

}  // namespace hearth::memory
