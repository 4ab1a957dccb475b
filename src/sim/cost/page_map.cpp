#include "sim/cost/page_map.h"

#include <algorithm>

#include "placement/owner_table.h"
#include "placement/slabs.h"

namespace hearth::sim {

using placement::Distribution;
using placement::Kind;
using placement::Layout;
using placement::Shares;

namespace {

std::uint64_t mix(std::uint64_t x) {
  x ^= x >> 31;
  x *= 0x9e3779b97f4a7c15u;
  x ^= x >> 29;
  x *= 0xbf58476d1ce4e5b9u;
  return x ^ x >> 32;
}

// Where managed memory would put blocks that are never freed.
class Addresses {
 public:
  std::uint64_t region(std::uint64_t bytes) {
    constexpr std::uint64_t kGranule = placement::OwnerTable::kGranule;
    const std::uint64_t begin = next_;
    next_ += std::max<std::uint64_t>((bytes + kGranule - 1) / kGranule, 1) * kGranule;
    return begin;
  }
  std::uint64_t in_slab(std::uint64_t bytes) {
    if (bytes > placement::kLargestInSlab) return region(bytes);
    const int size_class = placement::slab_class_for(bytes, 1);
    const std::size_t block = placement::kSlabClasses[size_class];
    Slab& slab = slabs_[size_class];
    if (slab.next == slab.end) {
      const std::size_t all = placement::slab_bytes(block, slab.before++);
      slab.next = region(all);
      slab.end = slab.next + all;
    }
    slab.next += block;
    return slab.next - block;
  }

 private:
  struct Slab {
    std::uint64_t next = 0, end = 0;
    unsigned before = 0;
  };
  std::uint64_t next_ = placement::OwnerTable::kGranule;
  Slab slabs_[placement::kSlabClassCount];
};

struct OwnersByPage {
  const std::uint8_t* owner;
  const std::uint8_t* home_index;
};

int owner_of_page(std::size_t block, std::size_t, int, void* data) {
  const auto* by_page = static_cast<const OwnersByPage*>(data);
  return by_page->home_index[by_page->owner[block]];
}

}  // namespace

std::uint64_t Extent::identity() const {
  std::uint64_t x = mix(offset + (std::uint64_t{region} << 40));
  x = mix(x + length);
  return rows == 1 ? x : mix(x + pitch * 0x10001 + rows);
}

PageMap::PageMap(const Workload& workload, const Setup& setup)
    : locations_(setup.tables.view.locations), page_bytes_(setup.page_bytes) {
  const auto count = static_cast<std::size_t>(locations_);
  home_index_.resize(count, 0);
  for (std::size_t i = 0; i < count; ++i) {
    if (!setup.machine.locations[i].holds_memory) continue;
    home_index_[i] = static_cast<std::uint8_t>(homes_.count);
    homes_.at[homes_.count++] = static_cast<Location>(i);
  }
  for (std::size_t i = 0; i < count; ++i) {
    const Location* near = setup.tables.near(static_cast<Location>(i));
    const Location* home = std::find_if(near, near + count, [&](Location where) {
      return setup.machine.locations[static_cast<std::size_t>(where)].holds_memory;
    });
    nearest_home_.push_back(home == near + count ? 0 : *home);
  }
  equal_ = make_shape(homes_, nullptr);
  std::vector<std::uint16_t> node(count);
  for (std::size_t i = 0; i < count; ++i)
    node[i] = static_cast<std::uint16_t>(setup.machine.locations[i].node);
  const bool divided = setup.machine.location_kind == topology::LocationKind::llc;
  rounds_ = divided ? make_rounds(homes_, node.data()) : equal_;
  weighted_ = make_shape(homes_, setup.what.weights);

  // Whole pages of a home cache machine move as one, unless the distribution goes round line by line.
  const bool lines = setup.machine.location_kind == topology::LocationKind::home_cache;
  const std::uint64_t unit = lines ? setup.line_bytes : setup.page_bytes;
  Addresses addresses;
  std::uint64_t ordinal = setup.allocations_before;
  const Location initial = home_near(setup.workers[0]);
  for (const Region& region : workload.regions) {
    Pages& pages = pages_.emplace_back();
    Distribution what = region.distributed || setup.everything ? setup.what : Distribution{};
    if (!setup.by_region.empty()) what = {.kind = setup.by_region[pages_.size() - 1]};
    // What a machine of home caches does by itself (Muddukrishna et al. 2015, 2.2).
    if (lines && (what.kind == Kind::standard || what.kind == Kind::environment)) what.kind = Kind::fine;
    const bool rounds = what.kind == Kind::fine || what.kind == Kind::interleaved;
    pages.bytes = region.bytes;
    // Lines are so many that where they begin to go round tells nothing.
    pages.base = rounds && !lines ? addresses.in_slab(region.bytes) : addresses.region(region.bytes);
    if (what.kind != Kind::standard && what.kind != Kind::environment) {
      placement::Allocation allocation{pages.base, pages.bytes, unit, initial, ordinal};
      if (what.kind == Kind::coarse) ++ordinal;
      if (what.kind == Kind::custom) {
        const std::uint64_t block =
            std::max<std::uint64_t>((what.block_bytes + setup.page_bytes - 1) / setup.page_bytes, 1) *
            setup.page_bytes;
        make_table(pages, what, block);
      } else {
        pages.layout = lay_out(what, allocation, homes_, rounds ? &rounds_ : &equal_, &weighted_, {});
      }
      continue;
    }
    const std::uint64_t units = (pages.bytes + setup.page_bytes - 1) / setup.page_bytes;
    switch (region.first_touch) {
      case FirstTouch::initial_thread:
        pages.layout.form = Layout::Form::single;
        pages.layout.single = initial;
        break;
      case FirstTouch::by_parts:
        pages.owner.resize(units);
        for (std::uint64_t i = 0; i < units; ++i) {
          // The worker whose part holds the page's first byte.
          const std::size_t worker = static_cast<std::size_t>(
              static_cast<unsigned __int128>(i) * setup.page_bytes * setup.workers.size() / pages.bytes);
          pages.owner[i] = static_cast<std::uint8_t>(home_near(setup.workers[worker]));
        }
        settle_owners(pages);
        break;
      case FirstTouch::by_writer:
        pages.owner.resize(units, kUntouched);
        pages.untouched = units;
        break;
    }
  }
}

void PageMap::make_table(Pages& pages, const Distribution& what, std::uint64_t block_bytes) {
  const std::uint64_t blocks = (pages.bytes + block_bytes - 1) / block_bytes;
  if (blocks == 0) return;
  const std::size_t needed = placement::BlockTable::bytes_needed(blocks, homes_);
  pages.table.reset(new std::uint64_t[(needed + 7) / 8]());
  pages.layout.form = Layout::Form::blocks;
  pages.layout.anchor = pages.base;
  pages.layout.unit = page_bytes_;
  pages.layout.blocks = placement::BlockTable(pages.table.get(), what, homes_, blocks, block_bytes);
}

// All pages have owners, which do not change any more.
void PageMap::settle_owners(Pages& pages) {
  const std::vector<std::uint8_t> owner = std::move(pages.owner);
  pages.owner.clear();
  for (std::size_t i = 0; i < owner.size() && pages.runs.size() <= kMostRuns; ++i) {
    const std::uint64_t end = (i + 1) * page_bytes_;
    if (pages.runs.empty() || pages.runs.back().owner != owner[i])
      pages.runs.push_back({end, owner[i]});
    else
      pages.runs.back().end = end;
  }
  if (pages.runs.size() <= kMostRuns) return;
  std::vector<Run>().swap(pages.runs);
  OwnersByPage by_page{owner.data(), home_index_.data()};
  make_table(pages, {.kind = Kind::custom, .owner = owner_of_page, .data = &by_page}, page_bytes_);
}

void PageMap::add_piece(const Pages& pages, std::uint64_t begin, std::uint64_t end, Shares& shares) const {
  if (pages.moved_to.empty()) return add_unmoved(pages, begin, end, shares);
  while (begin < end) {
    // As many pages as have the same fate.
    std::uint64_t page = begin / page_bytes_;
    const std::uint8_t to = pages.moved_to[page];
    do {
      ++page;
    } while (page * page_bytes_ < end && pages.moved_to[page] == to);
    const std::uint64_t stop = std::min(end, page * page_bytes_);
    if (to == kUnmoved)
      add_unmoved(pages, begin, stop, shares);
    else
      shares.add(to, stop - begin);
    begin = stop;
  }
}

void PageMap::add_unmoved(const Pages& pages, std::uint64_t begin, std::uint64_t end, Shares& shares) const {
  if (!pages.runs.empty()) {
    auto run = std::upper_bound(pages.runs.begin(), pages.runs.end(), begin,
                                [](std::uint64_t offset, const Run& other) { return offset < other.end; });
    for (; run->end < end; ++run) {
      shares.add(run->owner, run->end - begin);
      begin = run->end;
    }
    shares.add(run->owner, end - begin);
    return;
  }
  if (pages.owner.empty()) {
    pages.layout.add_shares(pages.base + begin, pages.base + end, shares);
    return;
  }
  while (begin < end) {
    const std::uint64_t page = begin / page_bytes_;
    const std::uint64_t stop = std::min(end, (page + 1) * page_bytes_);
    const std::uint8_t owner = pages.owner[page];
    shares.add(owner == kUntouched ? placement::kUnknown : owner, stop - begin);
    begin = stop;
  }
}

void PageMap::add_shares(const Extent& extent, Shares& shares) const {
  if (extent.length == 0) return;
  const Pages& pages = pages_[extent.region];
  if (pages.layout.form == Layout::Form::single && pages.moved_to.empty()) {
    shares.add(pages.layout.single, extent.bytes());
    return;
  }
  std::uint64_t begin = extent.offset;
  for (std::uint32_t row = 0; row < extent.rows; ++row, begin += extent.pitch)
    add_piece(pages, begin, begin + extent.length, shares);
}

const Shares& PageMap::shares_of(const Extent& extent) {
  const Pages& pages = pages_[extent.region];
  if (extent.rows <= kManyRows || pages.untouched != 0 || pages.layout.form == Layout::Form::single) {
    scratch_.clear(locations_);
    add_shares(extent, scratch_);
    return scratch_;
  }
  if (remembered_.empty()) remembered_.resize(kRemembered);
  Remembered& slot = remembered_[extent.identity() % kRemembered];
  if (!(slot.extent == extent)) {
    slot.extent = extent;
    slot.shares.clear(locations_);
    add_shares(extent, slot.shares);
  }
  return slot.shares;
}

template <class Visit>
void PageMap::for_each_page(const Extent& extent, Visit visit) const {
  if (extent.length == 0) return;
  std::uint64_t begin = extent.offset;
  for (std::uint32_t row = 0; row < extent.rows; ++row, begin += extent.pitch) {
    const std::uint64_t last = (begin + extent.length - 1) / page_bytes_;
    for (std::uint64_t page = begin / page_bytes_; page <= last; ++page) visit(page);
  }
}

void PageMap::touch_untouched(const Extent& extent, Location where) {
  Pages& pages = pages_[extent.region];
  const auto owner = static_cast<std::uint8_t>(home_near(where));
  for_each_page(extent, [&](std::uint64_t page) {
    if (pages.owner[page] != kUntouched) return;
    pages.owner[page] = owner;
    --pages.untouched;
  });
  if (pages.untouched == 0) settle_owners(pages);
}

std::uint64_t PageMap::move(const Extent& extent, Location to, bool only_marked, Shares& moved) {
  Pages& pages = pages_[extent.region];
  const Location home = home_near(to);
  if (pages.moved_to.empty()) pages.moved_to.assign((pages.bytes + page_bytes_ - 1) / page_bytes_, kUnmoved);
  std::uint64_t count = 0;
  for_each_page(extent, [&](std::uint64_t page) {
    const bool marked = !pages.marked.empty() && pages.marked[page] != 0;
    if (only_marked && !marked) return;
    if (marked) {
      pages.marked[page] = 0;
      --pages.marked_pages;
    }
    const std::uint64_t begin = page * page_bytes_, end = std::min(begin + page_bytes_, pages.bytes);
    Shares before(locations_);
    add_piece(pages, begin, end, before);
    if (before.at[home] == end - begin || before.unknown != 0) return;
    before.at[home] = 0;
    moved.add(before);
    pages.moved_to[page] = static_cast<std::uint8_t>(home);
    ++count;
  });
  if (count != 0) remembered_.clear();
  return count;
}

void PageMap::mark(const Extent& extent) {
  Pages& pages = pages_[extent.region];
  if (pages.marked.empty()) pages.marked.assign((pages.bytes + page_bytes_ - 1) / page_bytes_, 0);
  for_each_page(extent, [&](std::uint64_t page) {
    pages.marked_pages += pages.marked[page] == 0;
    pages.marked[page] = 1;
  });
}

}  // namespace hearth::sim
