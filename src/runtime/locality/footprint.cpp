#include "runtime/locality/footprint.h"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <utility>

#include "base/assert.h"
#include "memory/areas.h"
#include "memory/owners.h"
#include "memory/sites.h"
#include "runtime/bubbles/announced.h"
#include "runtime/locality/length_guess.h"
#include "runtime/locality/probe_word.h"
#include "runtime/tools/check.h"
#include "runtime/tools/events.h"
#include "runtime/tools/explain.h"
#include "runtime/tools/told_bytes.h"

namespace hearth::rt {
namespace {

using memory::kPage;
using placement::ByteRange;
using placement::Shares;

// By those who want to know of it what nobody has told them when the policy has answered.
bool is_watched(const Footprint& footprint) {
  if (!events::active()) return false;
  return check::on || explain::on ||
         (told_bytes::wanted() && !footprint.told && memory::memory_homes().locations > 1);
}

// The paper's footprints count what is read and what is written; out, inout and the others of that kind
// cannot be told apart once they are dependences, and what is rewritten is mostly read, too.
placement::Access access_of(DependKind kind) {
  return kind == DependKind::in ? placement::Access::read : placement::Access::read_write;
}

ByteRange bytes_from(std::uint64_t begin, std::uint64_t length) {
  return ByteRange::of(reinterpret_cast<const void*>(begin), length);
}

// Calls visit(bytes) for contiguous parts that stand for the range: all of it; or of many rows some, one from
// each of kMostRows equal groups at a place that looks random, since regular places would meet the same
// location of a round-robin distribution again and again. Two calls visit the same parts.
template <class Visit>
void for_each_part(const FootprintRange& range, Visit visit) {
  constexpr std::uint64_t kMostRows = 32;
  // Gaps of less than a page leave no page out.
  if (range.rows <= 1 || range.pitch < range.length + kPage) {
    visit(bytes_from(range.begin,
                     range.rows <= 1 ? range.length : (range.rows - 1) * range.pitch + range.length));
    return;
  }
  const std::uint64_t group = (range.rows + kMostRows - 1) / kMostRows;
  for (std::uint64_t first = 0; first < range.rows; first += group) {
    const std::uint64_t rows = std::min(group, range.rows - first);
    // The golden ratio's multiples fill the unit interval evenly.
    const std::uint64_t row = first + ((first / group * 0x9e3779b97f4a7c15u >> 32) * rows >> 32);
    visit(bytes_from(range.begin + row * range.pitch, range.length));
  }
}

void add(memory::PageMap::Knowledge& all, const memory::PageMap::Knowledge& more) {
  all.missing += more.missing;
  all.old += more.old;
  all.untouched += more.untouched;
}

// Of rows, some of which stand for all.
memory::PageMap::Knowledge add_rows(const FootprintRange& range, Shares& sum) {
  memory::PageMap::Knowledge all;
  Shares shares(sum.locations);
  std::uint64_t visited = 0;
  for_each_part(range, [&](ByteRange part) {
    add(all, memory::where_is(part, shares));
    visited += part.bytes();
  });
  const std::uint64_t bytes = range.bytes();
  if (visited != bytes && visited != 0) {
    const double factor = static_cast<double>(bytes) / static_cast<double>(visited);
    const auto scale = [factor](std::uint64_t n) {
      return static_cast<std::uint64_t>(static_cast<double>(n) * factor);
    };
    for (std::int32_t i = 0; i < shares.locations; ++i) shares.at[i] = scale(shares.at[i]);
    shares.unknown = scale(shares.unknown);
  }
  sum.add(shares);
  return all;
}

// Of any range, where the owner table alone does not tell. Out of the way of those where it does.
[[gnu::noinline]] void add_others(const FootprintRange& range, Shares& sum, memory::PageMap::Knowledge& all) {
  add(all, HEARTH_UNLIKELY(range.rows > 1) ? add_rows(range, sum)
                                           : memory::where_is(bytes_from(range.begin, range.length), sum));
}

// Adds all ranges of the footprint that count.
memory::PageMap::Knowledge add_ranges(const Footprint& footprint, placement::Need& need) {
  memory::PageMap::Knowledge all;
  Shares both(need.read.locations);  // what is read and written
  Shares* const sums[] = {nullptr, &need.read, &need.written, &both};
  const FootprintRange* const end = footprint.ranges + footprint.count;
  for (const FootprintRange* range = footprint.ranges; range != end; ++range) {
    if (footprint.marked && !range->decides) continue;
    Shares& sum = *sums[static_cast<unsigned>(range->access)];
    if (HEARTH_UNLIKELY(range->rows > 1) ||
        !memory::owner_table.add_computed(bytes_from(range->begin, range->length), sum))
      add_others(*range, sum, all);
  }
  need.add(both, placement::Access::read_write);
  return all;
}

// Asks the kernel about all ranges, some at a time. False when it refuses.
[[gnu::noinline]] bool learn(const Footprint& footprint) {
  constexpr std::size_t kBatch = 32;
  ByteRange parts[kBatch];
  std::size_t n = 0;
  bool told = true;
  const auto ask = [&] {
    told = told && memory::learn(parts, n);
    n = 0;
  };
  for (std::uint32_t i = 0; i < footprint.count; ++i)
    for_each_part(footprint.ranges[i], [&](ByteRange part) {
      parts[n++] = part;
      if (n == kBatch) ask();
    });
  if (n != 0) ask();
  return told;
}

// An object that holds the address of a block stands for that block: arrays of pointers to blocks are what
// many programs name in depend clauses. Of gcc's objects only the address is known; a block of data that
// begins with such an address is no such object, and has a length of a page or more as soon as two were seen.
bool stands_for_block(Thread* self, FootprintRange& range) {
  if (memory::owner_table.size() == 0 || range.begin % sizeof(void*) != 0) return false;
  if (range.inferred ? range.length > kPage : range.length != sizeof(void*)) return false;
  const std::uint64_t value = program_word(self, range.begin);
  memory::ManagedBlock block;
  if (!memory::owner_table.manages(value) || !memory::block_at(reinterpret_cast<const void*>(value), block) ||
      reinterpret_cast<std::uintptr_t>(block.begin) != value)
    return false;
  range.begin = value;
  range.length = block.size;
  range.inferred = false;
  return true;
}

// Most footprints are short. A thread keeps one of those that it drops for the next that it makes.
constexpr std::size_t kShort = 8;

Footprint* allocate(std::size_t room) {
  Thread* self = Thread::current();
  room = std::max(room, kShort);
  Footprint* footprint = nullptr;
  if (room == kShort) footprint = std::exchange(self->spare_footprint, nullptr);
  if (footprint == nullptr)
    footprint = static_cast<Footprint*>(std::malloc(sizeof(Footprint) + (room - 1) * sizeof(FootprintRange)));
  if (footprint == nullptr) return nullptr;
  new (footprint) Footprint;
  footprint->room = static_cast<std::uint32_t>(room);
  return footprint;
}

void give_back(Footprint* footprint) {
  Thread* self = Thread::current();
  if (footprint->room == kShort && self->spare_footprint == nullptr)
    self->spare_footprint = footprint;
  else
    std::free(footprint);
}

void attach(Task* task, Footprint* footprint, std::uint32_t as = kTaskFootprint | kTaskSaysData) {
  HEARTH_ASSERT(!task->is(kTaskFootprint | kTaskWatched), "the task %p has a footprint already", static_cast<void*>(task));
  task->footprint = footprint;
  task->data_home = placement::kUnknown;
  task->stake = 0;
  task->flags |= as;
}

// What a task without clauses is taken to use: as many bytes as its time allows, where its arguments point to or where the
// last one ran.
[[gnu::noinline]] void weigh_guess(const Footprint& footprint, placement::Need& need) {
  if (footprint.sign == policy::Sign::runs) return need.read.add(footprint.ran, footprint.weight);
  const std::uint64_t known = need.read.known();
  if (known == 0) return;
  const double factor = static_cast<double>(footprint.weight) / static_cast<double>(known);
  for (std::int32_t i = 0; i < need.read.locations; ++i)
    need.read.at[i] = static_cast<std::uint64_t>(static_cast<double>(need.read.at[i]) * factor);
  need.written.clear(need.written.locations);
}

}  // namespace

Footprint* make_footprint(Task* task, std::size_t count) {
  if (count == 0 || task->is(kTaskFootprint)) return nullptr;
  Footprint* footprint = allocate(count);
  if (footprint == nullptr) return nullptr;
  HEARTH_ASSERT(count <= footprint->room, "%zu ranges in room for %u", count, footprint->room);
  footprint->count = static_cast<std::uint32_t>(count);
  attach(task, footprint);
  return footprint;
}

Footprint* note_watched(Task* task, std::size_t room) {
  Footprint* const footprint = allocate(room);
  if (footprint != nullptr) attach(task, footprint, kTaskWatched);
  return footprint;
}

void take_footprint_from(Thread* self, Task* task, const Dependence* list, std::size_t count) {
  Footprint* footprint = make_footprint(task, count);
  if (footprint == nullptr) return;
  const void* body = task->body();
  std::uint32_t used = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (list[i].address == nullptr) continue;  // all memory: says nothing
    FootprintRange range;
    range.begin = reinterpret_cast<std::uintptr_t>(list[i].address);
    range.access = access_of(list[i].kind);
    range.inferred = list[i].length == 0;
    range.length = range.inferred ? guess_length(self, body, i, range.begin) : list[i].length;
    stands_for_block(self, range);
    footprint->ranges[used++] = range;
  }
  footprint->count = used;
}

Footprint* room_for_announcement(Task* task) {
  Footprint* all = task->is(kTaskAnnounced) ? task->announced : nullptr;
  if (all != nullptr && all->count >= kMostAnnounced) return nullptr;
  Footprint* more = allocate(all == nullptr ? 4 : std::size_t{2} * all->room);
  if (more == nullptr) return nullptr;
  more->stated = true;
  if (all != nullptr) {
    more->count = all->count;
    more->marked = all->marked;
    std::copy_n(all->ranges, all->count, more->ranges);
    give_back(all);
  }
  task->flags |= kTaskAnnounced;
  return task->announced = more;
}

void take_announced(Task* parent, Task* task) {
  parent->flags &= ~kTaskAnnounced;
  attach(task, parent->announced);
}

void drop_announced(Task* parent) {
  give_back(parent->announced);
  parent->flags &= ~kTaskAnnounced;
}

LoopFootprint LoopFootprint::of_pattern(Task* pattern) {
  if (HEARTH_LIKELY(!pattern->is(kTaskFootprint))) return LoopFootprint(nullptr);
  pattern->flags &= ~(kTaskFootprint | kTaskSaysData);
  return LoopFootprint(pattern->footprint);
}

LoopFootprint LoopFootprint::announced_by(Task* task) {
  if (HEARTH_LIKELY(!task->is(kTaskAnnounced))) return LoopFootprint(nullptr);
  task->flags &= ~kTaskAnnounced;
  return LoopFootprint(task->announced);
}

LoopFootprint::~LoopFootprint() { std::free(all_); }

void LoopFootprint::give(Task* task, std::uint64_t first, std::uint64_t iterations) const {
  Footprint* footprint = make_footprint(task, all_->count);
  if (footprint == nullptr) return;
  footprint->stated = true;
  footprint->marked = all_->marked;
  for (std::uint32_t i = 0; i < all_->count; ++i) {
    FootprintRange range = all_->ranges[i];
    if (range.per_iteration != 0) {
      const auto step = static_cast<std::uint64_t>(range.per_iteration);
      const bool down = range.per_iteration < 0;
      range.begin += (down ? first + iterations - 1 : first) * step;
      range.length = iterations * (down ? -step : step);
      range.per_iteration = 0;
    }
    footprint->ranges[i] = range;
  }
}

void resolve(Footprint& footprint, placement::Need& need) {
  memory::PageMap::Knowledge all = add_ranges(footprint, need);
  if (HEARTH_UNLIKELY(all.missing + all.old != 0) && learn(footprint)) {
    need = placement::Need(need.read.locations);
    all = add_ranges(footprint, need);
  }
  need.decided = footprint.marked;
  footprint.untouched = all.untouched != 0;
  if (HEARTH_UNLIKELY(footprint.sign != policy::Sign::none)) weigh_guess(footprint, need);
}

void fetch_announced(Thread* self, const Footprint& footprint) {
  constexpr std::uint64_t kMostRows = 256;
  for (std::uint32_t i = 0; i < footprint.count; ++i) {
    const FootprintRange& range = footprint.ranges[i];
    const bool in_one = range.rows <= 1 || range.pitch < range.length + kPage;  // as for_each_part()
    if (in_one) {
      for_each_part(range, [self](ByteRange part) { move_announced_for_task(self, part); });
    } else if (range.length >= kPage && range.rows <= kMostRows) {
      for (std::uint64_t row = 0; row < range.rows; ++row)
        move_announced_for_task(self, bytes_from(range.begin + row * range.pitch, range.length));
    }
  }
}

void drop_decided_footprint(Task* task) {
  // Announcements that come later are for tasks that are made later.
  const Footprint& footprint = *task->footprint;
  const bool needed = footprint.untouched || footprint.sign == policy::Sign::runs || is_watched(footprint) ||
                      memory::sites::on || memory::areas.any_announced();
  if (HEARTH_LIKELY(!needed)) drop_footprint(task);
}

void drop_told_footprint(Thread* self, Task* task) {
  if (self->team->locality == nullptr && task->is(kTaskFootprint)) drop_decided_footprint(task);
}

void drop_footprint(Task* task) {
  Footprint* footprint = task->footprint;
  HEARTH_ASSERT(task->is(kTaskFootprint | kTaskWatched) && footprint->count <= footprint->room, "%u ranges in room for %u",
                footprint->count, footprint->room);
  if (footprint->untouched) {
    // Its pages are where the task ran, if it has touched them. The kernel knows; on a pretended machine, and
    // of the caches of a node, nobody else.
    const memory::MemoryHomes& homes = memory::memory_homes();
    const placement::Location here =
        homes.kernel_places && !homes.divided ? placement::kUnknown : memory::location_here();
    for (std::uint32_t i = 0; i < footprint->count; ++i) {
      const FootprintRange& range = footprint->ranges[i];
      for_each_part(range, [&](ByteRange part) {
        if (here == placement::kUnknown)
          memory::page_map.forget(part);
        else if (homes.kernel_places)
          memory::page_map.suppose(part, here);
        else if (range.access != placement::Access::read)
          memory::page_map.assume(part, here);
      });
    }
  }
  give_back(footprint);
  task->flags &= ~(kTaskFootprint | kTaskWatched);
}

}  // namespace hearth::rt
