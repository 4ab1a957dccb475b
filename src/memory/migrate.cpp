// See migrate.h.
//
// Orders: `ended_` is counted with acq_rel, so that whoever ends the last batch sees what all others have done before he
// tells the tables; `finished_` is stored with release after that and pairs with the acquire in done(). The counts are
// added before `ended_` and are relaxed themselves. `next_` only deals out numbers. The observer is stored with release and
// loaded with acquire.
#include "memory/migrate.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include <algorithm>

#include "base/assert.h"
#include "memory/areas.h"
#include "memory/costs.h"
#include "memory/managed.h"
#include "memory/owners.h"

namespace hearth::memory {
namespace {

using placement::ByteRange;

constexpr std::size_t kBatch = kernel::kMostPagesAtOnce;
static_assert(kBatch * kPage == kHugePage, "a huge page belongs to one batch");
constexpr auto kRelaxed = std::memory_order_relaxed;

constinit MigrationTally of_all;
constinit std::atomic<MoveObserver> the_observer{nullptr};

std::uint64_t now_ns() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

// Pages that come to the same location one after the other are noted at once.
class Notes {
 public:
  void add(std::uint64_t page, Location where) {
    if (page == range_.end && where == where_) {
      range_.end += kPage;
      return;
    }
    write();
    range_ = {page, page + kPage};
    where_ = where;
  }
  ~Notes() { write(); }
  Notes() = default;
  Notes(const Notes&) = delete;
  Notes& operator=(const Notes&) = delete;

 private:
  void write() {
    if (range_.bytes() != 0) page_map.assume(range_, where_);
  }
  ByteRange range_;
  Location where_ = kUnknown;
};

// The kernel knows nothing of the places: what we say is where things are.
void note_batch(ByteRange pages, const Targets& targets, MigrationCounts& counts) {
  const std::int32_t locations = memory_homes().locations;
  Notes notes;
  for (std::uint64_t page = pages.begin; page < pages.end; page += kPage) {
    const Location to = targets.of(page);
    placement::Shares shares(locations);
    where_is({page, page + kPage}, shares);
    if (shares.at[to] == kPage)
      ++counts.there;
    else
      ++(shares.unknown == kPage ? counts.untouched : counts.moved);
    notes.add(page, to);
  }
}

void count_stayed(int error, MigrationCounts& counts) {
  if (error == -EBUSY)
    ++counts.pinned;
  else if (error == -EACCES)
    ++counts.shared;
  else
    ++counts.failed;
}

// Of those whose move is not known to have succeeded: where they are now. Of a huge page the first address moves it, and
// the others find it under way.
void look_again(std::size_t begin, std::size_t count, MigrationScratch& scratch) {
  constexpr std::size_t kAtOnce = 64;
  int seen[kAtOnce];
  for (std::size_t i = begin; i < count; i += kAtOnce) {
    const std::size_t end = std::min(count, i + kAtOnce);
    if (std::none_of(scratch.moved + i, scratch.moved + end, [](int status) { return status == -EBUSY; })) continue;
    if (kernel::query(scratch.pages + i, end - i, seen) != kernel::Outcome::done) return;
    for (std::size_t k = i; k < end; ++k)
      if (scratch.moved[k] == -EBUSY && seen[k - i] == scratch.nodes[k]) scratch.moved[k] = seen[k - i];
  }
}

// Moves `count` misplaced pages; afterwards moved[] says where they are, or why they stayed. False: refused.
bool move_misplaced(std::size_t count, MigrationScratch& scratch) {
  // A call ends at a page that cannot be moved, and says nothing of those behind it: they have their turn in another
  // one, as long as that helps some.
  constexpr int kMostCalls = 8;
  std::fill_n(scratch.moved, count, -EBUSY);
  const auto busy = [&scratch](std::size_t begin, std::size_t end) {
    return static_cast<std::size_t>(std::count(scratch.moved + begin, scratch.moved + end, -EBUSY));
  };
  std::size_t begin = 0, left = count;
  for (int call = 0; call < kMostCalls && left != 0; ++call) {
    const kernel::Outcome outcome =
        kernel::move(scratch.pages + begin, count - begin, scratch.nodes + begin, scratch.moved + begin);
    if (outcome == kernel::Outcome::refused) return false;
    look_again(begin, count, scratch);
    const std::size_t still = busy(begin, count);
    if (still == left && call != 0) break;
    begin = static_cast<std::size_t>(std::find(scratch.moved + begin, scratch.moved + count, -EBUSY) - scratch.moved);
    begin += begin < count ? 1 : 0;
    left = busy(begin, count);
  }
  return true;
}

}  // namespace

void MigrationTally::add(const MigrationCounts& more) {
  moved_.fetch_add(more.moved, kRelaxed);
  there_.fetch_add(more.there, kRelaxed);
  untouched_.fetch_add(more.untouched, kRelaxed);
  pinned_.fetch_add(more.pinned, kRelaxed);
  shared_.fetch_add(more.shared, kRelaxed);
  failed_.fetch_add(more.failed, kRelaxed);
  if (more.refused) refused_.store(true, kRelaxed);
}

MigrationCounts MigrationTally::sum() const {
  return {.moved = moved_.load(kRelaxed),
          .there = there_.load(kRelaxed),
          .untouched = untouched_.load(kRelaxed),
          .pinned = pinned_.load(kRelaxed),
          .shared = shared_.load(kRelaxed),
          .failed = failed_.load(kRelaxed),
          .refused = refused_.load(kRelaxed)};
}

MigrationCounts all_migrations() { return of_all.sum(); }

void set_move_observer(MoveObserver observer) { the_observer.store(observer, std::memory_order_release); }

void tell_moved(const MoveNote& note) {
  if (note.pages == 0) return;
  if (const MoveObserver observer = the_observer.load(std::memory_order_acquire)) observer(note);
}

namespace {

void move_by_kernel(const MemoryHomes& machine, ByteRange pages, const Targets& targets, MigrationScratch& scratch,
                    MigrationCounts& counts) {
  const std::size_t count = pages.bytes() / kPage;
  for (std::size_t i = 0; i < count; ++i) scratch.pages[i] = reinterpret_cast<void*>(pages.begin + i * kPage);
  if (kernel::query(scratch.pages, count, scratch.status) != kernel::Outcome::done) {
    counts.refused = true;
    return;
  }
  std::size_t misplaced = 0;
  int from = -1;
  for (std::size_t i = 0; i < count; ++i) {
    const int node = machine.node[targets.of(pages.begin + i * kPage)];
    if (scratch.status[i] < 0 || scratch.status[i] == node) continue;
    if (misplaced == 0) from = scratch.status[i];
    scratch.pages[misplaced] = scratch.pages[i];
    scratch.nodes[misplaced++] = node;
  }
  const std::uint64_t before = now_ns();
  if (misplaced != 0 && !move_misplaced(misplaced, scratch)) {
    counts.refused = true;
    return;
  }
  const std::uint64_t took = now_ns() - before;
  std::uint64_t moved = 0;
  Notes notes;
  for (std::size_t i = 0, m = 0; i < count; ++i) {
    const std::uint64_t page = pages.begin + i * kPage;
    const Location to = targets.of(page);
    if (scratch.status[i] < 0) {
      ++counts.untouched;
      notes.add(page, kUnknown);
    } else if (machine.is_at(to, scratch.status[i])) {
      ++counts.there;
      notes.add(page, to);
    } else if (const int after = scratch.moved[m++]; after == machine.node[to]) {
      ++moved;
      notes.add(page, to);
    } else {
      count_stayed(after, counts);
      // Somebody else may be moving it just now.
      page_map.forget({page, page + kPage});
    }
  }
  counts.moved += moved;
  const Location source = machine.location_of(from);
  if (moved != 0 && targets.count == 1 && source != kUnknown)
    costs().observe_migration(source, *targets.at, moved, static_cast<double>(took));
}

}  // namespace

void move_batch(ByteRange pages, const Targets& targets, MigrationScratch& scratch, MigrationCounts& counts) {
  const MemoryHomes& machine = memory_homes();
  HEARTH_ASSERT(pages.bytes() <= kBatch * kPage, "%zu bytes in a batch", std::size_t{pages.bytes()});
  counts = {};
  if (machine.kernel_places)
    move_by_kernel(machine, pages, targets, scratch, counts);
  else
    note_batch(pages, targets, counts);
  of_all.add(counts);
}

Migration::~Migration() {
  for (std::int32_t i = 0; i < count_; ++i)
    if (parts_[i].count > 1) std::free(parts_[i].at);
  if (parts_ != inline_) std::free(parts_);
}

bool Migration::grow() {
  const std::int32_t room = room_ * 4;
  auto* parts = static_cast<Part*>(std::malloc(static_cast<std::size_t>(room) * sizeof(Part)));
  if (parts == nullptr) return false;
  std::copy_n(parts_, count_, parts);
  if (parts_ != inline_) std::free(parts_);
  parts_ = parts;
  room_ = room;
  return true;
}

bool Migration::add_in_turn(ByteRange range, const Location* at, std::int32_t count) {
  const MemoryHomes& machine = memory_homes();
  HEARTH_ASSERT(next_.load(kRelaxed) == 0, "added to a migration that has begun: batch %zu", std::size_t{next_.load(kRelaxed)});
  if (range.bytes() == 0 || count < 1 || shares_pages(range)) return false;
  for (std::int32_t i = 0; i < count; ++i)
    if (at[i] < 0 || at[i] >= machine.locations || machine.nearest[at[i]] == kUnknown) return false;
  if (count_ == room_ && !grow()) return false;
  if (owner_table.manages(range.begin)) owners_will_move(range);
  Part part{range, batches_, nullptr, count, machine.nearest[at[0]]};
  if (count > 1) {
    part.at = static_cast<Location*>(std::malloc(static_cast<std::size_t>(count) * sizeof(Location)));
    if (part.at == nullptr) return false;
    for (std::int32_t i = 0; i < count; ++i) part.at[i] = machine.nearest[at[i]];
  }
  parts_[count_++] = part;
  batches_ += (range.end - 1) / kHugePage - range.begin / kHugePage + 1;
  return true;
}

const Migration::Part& Migration::part_of(std::uint64_t batch) const {
  const Part* after = std::upper_bound(parts_, parts_ + count_, batch,
                                       [](std::uint64_t n, const Part& part) { return n < part.first_batch; });
  return *(after - 1);
}

Targets Migration::targets_of(const Part& part) {
  return {part.count == 1 ? &part.one : part.at, part.count, part.range.begin};
}

void Migration::run(std::uint64_t batch, MigrationScratch& scratch, MoveNote& note) {
  const MemoryHomes& machine = memory_homes();
  const Part& part = part_of(batch);
  const Targets targets = targets_of(part);
  if (batch == part.first_batch && machine.kernel_places && machine.several()) {
    // So that pages that are not there yet come from the right place.
    auto* const begin = reinterpret_cast<void*>(part.range.begin);
    std::uint16_t nodes[placement::kMaxLocations];
    const std::int32_t count = std::min(targets.count, placement::kMaxLocations);
    for (std::int32_t i = 0; i < count; ++i) nodes[i] = machine.node[targets.at[i]];
    if (targets.count == 1)
      kernel::prefer(begin, part.range.bytes(), nodes[0]);
    else
      kernel::interleave(begin, part.range.bytes(), nodes, count);
  }
  const std::uint64_t first = part.range.begin / kHugePage + (batch - part.first_batch);
  const ByteRange pages = common(part.range, {first * kHugePage, (first + 1) * kHugePage});
  MigrationCounts counts;
  if (!tally_.refused()) move_batch(pages, targets, scratch, counts);
  tally_.add(counts);
  if (counts.moved == 0) return;
  const Location to = part.count == 1 ? part.one : kUnknown;
  if (note.pages != 0 && note.to != to) {
    tell_moved(note);
    note.pages = 0;
  }
  if (note.pages == 0) note.begin = pages.begin;
  note.to = to;
  note.pages += counts.moved;
}

bool Migration::step(std::uint64_t hold_ns) {
  const std::uint64_t begin = now_ns();
  MigrationScratch scratch;
  MoveNote note{.cause = cause_};
  while (next_.load(kRelaxed) < batches_) {
    const std::uint64_t batch = next_.fetch_add(1, kRelaxed);
    if (batch >= batches_) break;
    run(batch, scratch, note);
    if (ended_.fetch_add(1, std::memory_order_acq_rel) + 1 == batches_) {
      settle();
      finished_.store(batches_, std::memory_order_release);
    }
    if (now_ns() - begin >= hold_ns) break;
  }
  tell_moved(note);
  return next_.load(kRelaxed) >= batches_;
}

std::uint64_t Migration::left() const {
  const std::uint64_t next = next_.load(kRelaxed);
  return next < batches_ ? batches_ - next : 0;
}

void Migration::settle() {
  const MigrationCounts total = counts();
  if (total.refused) return;
  for (std::int32_t i = 0; i < count_; ++i) {
    const Part& part = parts_[i];
    const Location to = part.count == 1 && total.stayed() == 0 ? part.one : kUnknown;
    if (owner_table.manages(part.range.begin)) owners_moved(part.range, to);
    areas.set_home(part.range, to);
  }
}

}  // namespace hearth::memory
