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

// `address`: in the region.
void compute_no_more(const OwnerTable::Region& region, std::uint64_t address) {
  note_owners(region.layout, {region.begin, region.end});
  owner_table.change(owner_table.id_at(address), {});
}

bool is_whole(const OwnerTable::Region& region, ByteRange common) {
  return common.begin <= region.begin && common.end >= region.end;
}

// Calls visit(region, the pages that are in it), under the lock of managed memory.
template <class Visit>
void for_each_region(ByteRange pages, Visit&& visit) {
  const Guard guard;
  while (pages.bytes() != 0 && owner_table.manages(pages.begin)) {
    OwnerTable::Region region;
    if (!owner_table.find(pages.begin, region)) return;
    const std::uint64_t end = std::min(pages.end, rounded_up(region.end, kPage));
    visit(region, ByteRange{pages.begin, end});
    pages.begin = std::max(end, pages.begin + kPage);
  }
}

}  // namespace

void owners_will_move(ByteRange pages) {
  for_each_region(pages, [](const OwnerTable::Region& region, ByteRange common) {
    if (!is_whole(region, common)) compute_no_more(region, common.begin);
  });
}

void owners_moved(ByteRange pages, Location to) {
  for_each_region(pages, [to](const OwnerTable::Region& region, ByteRange common) {
    const RegionId id = owner_table.id_at(common.begin);
    if (to != kUnknown && is_whole(region, common)) {
      Layout single;
      single.form = Layout::Form::single;
      single.single = to;
      single.unit = kPage;
      owner_table.change(id, single);
    } else if (region.layout.form != Layout::Form::single || region.layout.single != to) {
      note_owners(region.layout, {region.begin, common.begin});
      note_owners(region.layout, {common.end, region.end});
      owner_table.change(id, {});
    }
  });
}

void owners_unknown(ByteRange pages) {
  for_each_region(pages, [](const OwnerTable::Region& region, ByteRange common) { compute_no_more(region, common.begin); });
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
