// What is known of managed memory after some of it was moved (managed.h). Any thread; takes the lock of managed memory.
#include <algorithm>

#include "memory/managed.h"
#include "memory/managed_regions.h"
#include "memory/page_map.h"

namespace hearth::memory {
namespace {

using placement::ByteRange;
using placement::Layout;
using placement::OwnerTable;

// What was computed of the range becomes what is noted.
void note_owners(const Layout& layout, ByteRange range) {
  if (layout.form == Layout::Form::unknown) return;
  for (std::uint64_t at = range.begin, next; at < range.end; at = next) {
    next = std::min(range.end, layout.run_end(at));
    page_map.assume({at, next}, layout.owner(at));
  }
}

void compute_no_more(std::uint64_t address, const OwnerTable::Region& region) {
  note_owners(region.layout, {region.begin, region.end});
  owner_table.change(owner_table.id_at(address), {});
}

}  // namespace

void owners_will_move(ByteRange pages) {
  const Guard guard;
  while (pages.bytes() != 0 && owner_table.manages(pages.begin)) {
    OwnerTable::Region region;
    if (!owner_table.find(pages.begin, region)) return;
    const std::uint64_t end = std::min(pages.end, rounded_up(region.end, kPage));
    if (pages.begin > region.begin || end < region.end) compute_no_more(pages.begin, region);
    pages.begin = std::max(end, pages.begin + kPage);
  }
}

void owners_moved(ByteRange pages, Location to) {
  const Guard guard;
  while (pages.bytes() != 0 && owner_table.manages(pages.begin)) {
    OwnerTable::Region region;
    if (!owner_table.find(pages.begin, region)) return;
    const std::uint64_t end = std::min(pages.end, rounded_up(region.end, kPage));
    const RegionId id = owner_table.id_at(pages.begin);
    if (to != kUnknown && pages.begin <= region.begin && end >= region.end) {
      Layout single;
      single.form = Layout::Form::single;
      single.single = to;
      single.unit = kPage;
      owner_table.change(id, single);
    } else if (region.layout.form != Layout::Form::single || region.layout.single != to) {
      note_owners(region.layout, {region.begin, pages.begin});
      note_owners(region.layout, {end, region.end});
      owner_table.change(id, {});
    }
    pages.begin = std::max(end, pages.begin + kPage);
  }
}

void owners_unknown(ByteRange pages) {
  const Guard guard;
  while (pages.bytes() != 0 && owner_table.manages(pages.begin)) {
    OwnerTable::Region region;
    if (!owner_table.find(pages.begin, region)) return;
    compute_no_more(pages.begin, region);
    pages.begin = std::max(rounded_up(region.end, kPage), pages.begin + kPage);
  }
}

bool shares_pages(ByteRange range) {
  for (const std::uint64_t address : {range.begin, range.end - 1}) {
    ManagedBlock block;
    block_at(pointer(address), block);
    if (block.in_slab) return true;
  }
  return false;
}

}  // namespace hearth::memory
