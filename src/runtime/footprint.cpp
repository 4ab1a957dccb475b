#include "runtime/footprint.h"

#include <algorithm>
#include <cstdlib>
#include <new>

#include <sys/uio.h>
#include <unistd.h>

#include "memory/owners.h"
#include "runtime/length_guess.h"

namespace hearth::rt {
namespace {

using memory::kPage;
using placement::ByteRange;
using placement::Shares;

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

memory::PageMap::Knowledge add_shares(const FootprintRange& range, Shares& shares) {
  memory::PageMap::Knowledge all;
  std::uint64_t visited = 0;
  for_each_part(range, [&](ByteRange part) {
    const auto knowledge = memory::where_is(part, shares);
    all.missing += knowledge.missing;
    all.old += knowledge.old;
    all.untouched += knowledge.untouched;
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
  return all;
}

// Asks the kernel about all ranges, some at a time. False when it refuses.
bool learn(const Footprint& footprint) {
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

// The pointer-sized object at `address`, which a depend clause names; 0 when it cannot be read: clauses may
// name invented addresses, which nobody ever reads.
std::uint64_t value_at(std::uint64_t address) {
  const auto* object = reinterpret_cast<const std::uint64_t*>(address);
  const ByteRange bytes = bytes_from(address, sizeof(*object));
  memory::ManagedBlock block;
  Shares page(memory::memory_homes().locations);
  // In a page that is known to be there. The program may write the object meanwhile.
  if (memory::block_at(object, block) || (memory::page_map.add_shares(bytes, page), page.unknown == 0))
    return __atomic_load_n(object, __ATOMIC_RELAXED);
  // The kernel's read fails where a load would crash.
  std::uint64_t value = 0;
  iovec to = {&value, sizeof(value)}, from = {reinterpret_cast<void*>(address), sizeof(value)};
  if (process_vm_readv(getpid(), &to, 1, &from, 1, 0) != sizeof(value)) return 0;
  memory::learn(&bytes, 1);
  return value;
}

// An object that holds the address of a block stands for that block: arrays of pointers to blocks are what
// many programs name in depend clauses. Of gcc's objects only the address is known; a block of data that
// begins with such an address is no such object, and has a length of a page or more as soon as two were seen.
bool stands_for_block(FootprintRange& range) {
  if (memory::owner_table.size() == 0 || range.begin % sizeof(void*) != 0) return false;
  if (range.inferred ? range.length > kPage : range.length != sizeof(void*)) return false;
  const std::uint64_t value = value_at(range.begin);
  memory::ManagedBlock block;
  if (!memory::owner_table.manages(value) || !memory::block_at(reinterpret_cast<const void*>(value), block) ||
      reinterpret_cast<std::uintptr_t>(block.begin) != value)
    return false;
  range.begin = value;
  range.length = block.size;
  range.inferred = false;
  return true;
}

Footprint* allocate(std::size_t room) {
  auto* footprint =
      static_cast<Footprint*>(std::malloc(sizeof(Footprint) + (room - 1) * sizeof(FootprintRange)));
  if (footprint == nullptr) return nullptr;
  new (footprint) Footprint;
  footprint->room = static_cast<std::uint32_t>(room);
  return footprint;
}

void attach(Task* task, Footprint* footprint) {
  task->footprint = footprint;
  task->flags |= kTaskFootprint;
}

}  // namespace

Footprint* make_footprint(Task* task, std::size_t count) {
  if (count == 0 || task->is(kTaskFootprint)) return nullptr;
  Footprint* footprint = allocate(count);
  if (footprint == nullptr) return nullptr;
  footprint->count = static_cast<std::uint32_t>(count);
  attach(task, footprint);
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
    stands_for_block(range);
    footprint->ranges[used++] = range;
  }
  footprint->count = used;
}

void announce(Thread* self, const FootprintRange& range) {
  Task* task = self->task;
  Footprint* all = task->is(kTaskAnnounced) ? task->announced : nullptr;
  if (all == nullptr || all->count == all->room) {
    if (all != nullptr && all->count >= kMostAnnounced) return;
    Footprint* more = allocate(all == nullptr ? 4 : std::size_t{2} * all->room);
    if (more == nullptr) return;
    more->stated = true;
    if (all != nullptr) {
      more->count = all->count;
      std::copy_n(all->ranges, all->count, more->ranges);
      std::free(all);
    }
    all = task->announced = more;
    task->flags |= kTaskAnnounced;
  }
  all->ranges[all->count++] = range;
}

void take_announced(Task* parent, Task* task) {
  parent->flags &= ~kTaskAnnounced;
  attach(task, parent->announced);
}

void drop_announced(Task* parent) {
  std::free(parent->announced);
  parent->flags &= ~kTaskAnnounced;
}

LoopFootprint LoopFootprint::of_pattern(Task* pattern) {
  if (HEARTH_LIKELY(!pattern->is(kTaskFootprint))) return LoopFootprint(nullptr);
  pattern->flags &= ~kTaskFootprint;
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
  const std::int32_t locations = need.read.locations;
  const FootprintRange* const first = footprint.ranges;
  const FootprintRange* const end = first + footprint.count;
  const bool marked = std::any_of(first, end, [](const FootprintRange& range) { return range.decides; });
  for (bool asked = false;; asked = true) {
    std::uint64_t unknown = 0, untouched = 0;
    for (const FootprintRange* range = first; range != end; ++range) {
      if (marked && !range->decides) continue;
      Shares shares(locations);
      const auto knowledge = add_shares(*range, shares);
      unknown += knowledge.missing + knowledge.old;
      untouched += knowledge.untouched;
      need.add(shares, range->access);
    }
    footprint.untouched = untouched != 0;
    if (unknown == 0 || asked || !learn(footprint)) return;
    need = placement::Need(locations);
  }
}

void drop_footprint(Task* task) {
  Footprint* footprint = task->footprint;
  if (footprint->untouched) {
    // Its pages are where the task ran, if it has touched them. The kernel knows; on a pretended machine
    // nobody else.
    const placement::Location here =
        memory::memory_homes().kernel_places ? placement::kUnknown : memory::location_here();
    for (std::uint32_t i = 0; i < footprint->count; ++i) {
      const FootprintRange& range = footprint->ranges[i];
      for_each_part(range, [&](ByteRange part) {
        if (here == placement::kUnknown)
          memory::page_map.forget(part);
        else if (range.access != placement::Access::read)
          memory::page_map.assume(part, here);
      });
    }
  }
  std::free(footprint);
  task->flags &= ~kTaskFootprint;
}

}  // namespace hearth::rt
