#include "runtime/footprint.h"

#include <cstdlib>
#include <new>

#include "memory/owners.h"
#include "runtime/length_guess.h"

namespace hearth::rt {
namespace {

placement::Access access_of(DependKind kind) {
  return kind == DependKind::in ? placement::Access::read : placement::Access::read_write;
}

// The paper's footprints count what is read and what is written; out, inout and the others of that kind cannot be told
// apart once they are dependences, and what is rewritten is mostly read, too.
placement::ByteRange range_of(const FootprintRange& range) { return {range.begin, range.begin + range.length}; }

}  // namespace

Footprint* make_footprint(Task* task, std::size_t count) {
  if (count == 0 || task->is(kTaskFootprint)) return nullptr;
  auto* footprint =
      static_cast<Footprint*>(std::malloc(sizeof(Footprint) + (count - 1) * sizeof(FootprintRange)));
  if (footprint == nullptr) return nullptr;
  new (footprint) Footprint;
  footprint->count = static_cast<std::uint32_t>(count);
  task->footprint = footprint;
  task->flags |= kTaskFootprint;
  return footprint;
}

void take_footprint_from(Thread* self, Task* task, const Dependence* list, std::size_t count) {
  Footprint* footprint = make_footprint(task, count);
  if (footprint == nullptr) return;
  const void* body = task->body();
  std::uint32_t used = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (list[i].address == nullptr) continue;  // all memory: says nothing
    const auto begin = reinterpret_cast<std::uintptr_t>(list[i].address);
    const bool inferred = list[i].length == 0;
    const std::uint64_t length = inferred ? guess_length(self, body, i, begin) : list[i].length;
    footprint->ranges[used++] = {begin, length, access_of(list[i].kind), inferred};
  }
  footprint->count = used;
}

void resolve(Footprint& footprint, placement::Need& need) {
  const std::int32_t locations = need.read.locations;
  for (bool asked = false;; asked = true) {
    memory::PageMap::Knowledge unknown;
    for (std::uint32_t i = 0; i < footprint.count; ++i) {
      placement::Shares shares(locations);
      const auto knowledge = memory::where_is(range_of(footprint.ranges[i]), shares);
      unknown.missing += knowledge.missing + knowledge.old;
      unknown.untouched += knowledge.untouched;
      need.add(shares, footprint.ranges[i].access);
    }
    footprint.untouched = unknown.untouched != 0;
    if (unknown.missing == 0 || asked) return;
    constexpr std::size_t kBatch = 16;
    placement::ByteRange ranges[kBatch];
    for (std::uint32_t first = 0; first < footprint.count; first += kBatch) {
      std::size_t n = 0;
      while (n < kBatch && first + n < footprint.count) {
        ranges[n] = range_of(footprint.ranges[first + n]);
        ++n;
      }
      if (!memory::learn(ranges, n)) return;
    }
    need = placement::Need(locations);
  }
}

void drop_footprint(Task* task) {
  Footprint* footprint = task->footprint;
  if (footprint->untouched) {
    // Its pages are where the task ran, if it has touched them. The kernel knows; on a pretended machine nobody else.
    const placement::Location here =
        memory::memory_homes().kernel_places ? placement::kUnknown : memory::location_here();
    for (std::uint32_t i = 0; i < footprint->count; ++i) {
      if (here == placement::kUnknown)
        memory::page_map.forget(range_of(footprint->ranges[i]));
      else if (footprint->ranges[i].access != placement::Access::read)
        memory::page_map.assume(range_of(footprint->ranges[i]), here);
    }
  }
  std::free(footprint);
  task->flags &= ~kTaskFootprint;
}

}  // namespace hearth::rt
