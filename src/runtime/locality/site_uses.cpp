#include "runtime/locality/site_uses.h"

#include "memory/sites.h"
#include "runtime/state/footprint_ranges.h"

namespace hearth::rt {

namespace sites = memory::sites;

void note_site_uses(const Thread* self, const Task* task, placement::Location here, std::uint64_t time) {
  const std::uint32_t stands_for = sites::notes(self->tasks_served());
  if (stands_for == 0) return;
  sites::note_task(stands_for);
  const Footprint& footprint = *task->footprint;
  const std::uint64_t all = footprint.bytes();
  for (std::uint32_t i = 0; i < footprint.count; ++i) {
    const FootprintRange& range = footprint.ranges[i];
    const auto* const begin = reinterpret_cast<const void*>(range.begin);
    memory::ManagedBlock block;
    if (!memory::is_managed(begin) || !memory::block_at(begin, block) || block.site == 0) continue;
    const std::uint64_t reach = range.rows > 1 ? (range.rows - 1) * range.pitch + range.length : range.length;
    sites::note_use(block, {.part = placement::ByteRange::of(begin, reach),
                            .bytes = range.bytes(),
                            .all_bytes = all,
                            .time = time,
                            .here = here});
  }
}

}  // namespace hearth::rt
