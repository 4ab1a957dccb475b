// See manager.h.
//
// Orders: the mover is stored with release and loaded with acquire. The default policy is one word.
#include "memory/manager.h"

#include <cerrno>

#include <algorithm>
#include <atomic>

#include <sys/mman.h>

#include "base/log.h"
#include "memory/managed.h"
#include "memory/node_stats.h"
#include "memory/owners.h"
#include "memory/touch_trap.h"

namespace hearth::memory {
namespace {

using placement::ByteRange;
using placement::Kind;
using placement::Shares;

constinit std::atomic<Mover> the_mover{nullptr};
// What by_default means: policy, huge pages, location.
constexpr std::uint32_t word_of(const BlockRequest& request) {
  return static_cast<std::uint32_t>(request.location + 1) << 16 | (request.huge ? 256u : 0u) |
         static_cast<std::uint32_t>(request.policy);
}
constexpr BlockRequest request_of(std::uint32_t word) {
  return {static_cast<BlockPolicy>(word & 255), static_cast<Location>(word >> 16) - 1, (word & 256) != 0};
}
constinit std::atomic<std::uint32_t> the_default{word_of({BlockPolicy::first_touch, kUnknown, false})};

int error_of(AreaResult result) {
  switch (result) {
    case AreaResult::done: return 0;
    case AreaResult::invalid: return EINVAL;
    case AreaResult::already: return EALREADY;
    case AreaResult::no_memory: return ENOMEM;
  }
  return EINVAL;
}

std::uint64_t address_of(const void* block) { return reinterpret_cast<std::uintptr_t>(block); }
std::size_t in_pages(std::size_t size) { return (size + kPage - 1) / kPage * kPage; }

// Where nothing can be managed (ulimit -v): a mapping, whose size stands in a page before the block.
void* map_block(std::size_t size) {
  void* room = mmap(nullptr, size + kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (room == MAP_FAILED) return nullptr;
  *static_cast<std::size_t*>(room) = size;
  return static_cast<char*>(room) + kPage;
}

Location home_for(const BlockRequest& request) {
  switch (request.policy) {
    case BlockPolicy::at: return request.location;
    case BlockPolicy::here: return location_here();
    case BlockPolicy::least_loaded: return select_home(Choice::least_loaded);
    default: return kUnknown;
  }
}

bool is_location(Location where) { return where >= 0 && where < memory_homes().locations; }

bool is_legal(const BlockRequest& request) { return request.policy != BlockPolicy::at || is_location(request.location); }

}  // namespace

void* manager_allocate(std::size_t size, const BlockRequest& wanted, int& error) {
  BlockRequest request = wanted;
  if (request.policy == BlockPolicy::by_default) {
    request = request_of(the_default.load(std::memory_order_relaxed));
    request.huge |= wanted.huge;
  }
  constexpr std::size_t kMost = std::size_t{1} << 56;
  error = size == 0 || !is_legal(request) ? EINVAL : ENOMEM;
  if (error == EINVAL || size >= kMost) return nullptr;
  const MemoryHomes& machine = memory_homes();
  Location home = home_for(request);
  home = is_location(home) ? machine.nearest[home] : kUnknown;
  void* block = managed_allocate({.what = {.kind = home == kUnknown ? Kind::standard : Kind::nearest},
                                  .size = size,
                                  .requester = home,
                                  .tag = kTagOfManager,
                                  .huge = request.huge,
                                  .own_pages = true});
  if (block == nullptr && (block = map_block(in_pages(size))) == nullptr) return nullptr;
  const ByteRange range{address_of(block), address_of(block) + in_pages(size)};
  areas.remove_all(range);  // memory that was unmapped while it was an area
  if (home == kUnknown) page_map.forget(range);
  AreaId id = 0;
  if (areas.add(range, AreaKind::allocated, home, id) == AreaResult::done) {
    error = 0;
    return block;
  }
  if (is_managed(block))
    managed_release(block);
  else
    munmap(static_cast<char*>(block) - kPage, in_pages(size) + kPage);
  return nullptr;
}

void manager_free(void* block) {
  if (block == nullptr) return;
  ManagedBlock managed;
  Area area;
  if (block_at(block, managed) && managed.begin == block && managed.tag == kTagOfManager) {
    const ByteRange range{address_of(block), address_of(block) + in_pages(managed.size)};
    open_marks(range);
    areas.remove_all(range);
    page_map.forget(range);
    managed_release(block);
    return;
  }
  if (is_managed(block) || !areas.find_settled(address_of(block), area) || area.kind != AreaKind::allocated ||
      area.range.begin != address_of(block))
    fatal("hearth_mem_free(%p): not a block of hearth_mem_alloc(), or freed before.", block);
  char* const room = static_cast<char*>(block) - kPage;
  const std::size_t size = *reinterpret_cast<std::size_t*>(room);
  open_marks({address_of(block), address_of(block) + size});
  areas.remove_all({address_of(block), address_of(block) + size});
  munmap(room, size + kPage);
}

int manager_set_default(const BlockRequest& request) {
  if (request.policy == BlockPolicy::by_default || !is_legal(request)) return EINVAL;
  BlockRequest kept = request;
  if (kept.policy != BlockPolicy::at) kept.location = kUnknown;
  the_default.store(word_of(kept), std::memory_order_relaxed);
  return 0;
}

int manager_register(ByteRange range) {
  const ByteRange pages = whole_pages(range);
  if (pages.bytes() == 0 || shares_pages(pages)) return EINVAL;
  AreaId id = 0;
  const AreaResult result = areas.add(pages, AreaKind::registered, kUnknown, id);
  Area there;
  if (result != AreaResult::invalid || (areas.get(id, there) && there.kind == AreaKind::allocated)) return error_of(result);
  // Memory that was freed while it was an area, and that is the program's anew.
  areas.remove_all(pages);
  return error_of(areas.add(pages, AreaKind::registered, kUnknown, id));
}

int manager_unregister(std::uint64_t address) {
  Area area;
  if (areas.find_settled(address, area)) open_marks(area.range);
  return error_of(areas.remove(address, AreaKind::registered));
}

int manager_split(std::uint64_t address, int n, void** begins) { return error_of(areas.split(address, n, begins)); }

namespace {

// By what is known, without a question for each page.
Location locate_by_tables(ByteRange range) {
  const Shares shares = look_up(range);
  Location found = kUntouched;
  for (std::int32_t i = 0; i < shares.locations; ++i)
    if (shares.at[i] != 0) found = found == kUntouched ? i : kSeveral;
  return found;
}

// False: the kernel does not say.
bool locate_by_kernel(const MemoryHomes& machine, ByteRange range, Location& found) {
  constexpr std::uint64_t kMostAsked = 32768;
  const std::uint64_t first = range.begin / kPage, pages = (range.end - 1) / kPage - first + 1;
  const std::uint64_t asked = std::min(pages, kMostAsked);
  constexpr std::uint64_t kBatch = kernel::kMostPagesAtOnce;
  void* addresses[kBatch];
  int status[kBatch];
  found = kUntouched;
  for (std::uint64_t begin = 0; begin < asked && found != kSeveral; begin += kBatch) {
    const std::uint64_t count = std::min(asked - begin, kBatch);
    for (std::uint64_t i = 0; i < count; ++i)
      addresses[i] = reinterpret_cast<void*>((first + (begin + i) * pages / asked) * kPage);
    if (kernel::query(addresses, count, status) != kernel::Outcome::done) return false;
    for (std::uint64_t i = 0; i < count; ++i) {
      if (status[i] < 0) continue;
      const Location where = machine.location_of(status[i]);
      if (found == kUntouched)
        found = where;
      else if (found != where)
        found = kSeveral;
    }
  }
  return true;
}

}  // namespace

Location manager_locate(ByteRange range) {
  const MemoryHomes& machine = memory_homes();
  Location found = kNowhere;
  // Of a node's several locations the tables alone know which it is.
  if (machine.kernel_places && locate_by_kernel(machine, range, found) && (found == kUntouched || !machine.divided)) return found;
  found = locate_by_tables(range);
  return found == kUntouched && machine.kernel_places ? kNowhere : found;
}

void set_mover(Mover mover) { the_mover.store(mover, std::memory_order_release); }

int carry_out(Migration& migration) {
  if (const Mover mover = the_mover.load(std::memory_order_acquire))
    mover(migration);
  else
    migration.step(Migration::kNoLimit);
  const MigrationCounts counts = migration.counts();
  if (counts.refused) return EPERM;
  if (counts.moved != 0 || counts.untouched != 0) return 0;
  return counts.stayed() != 0 ? EBUSY : EALREADY;
}

int manager_migrate(ByteRange range, Location to) {
  const ByteRange pages = whole_pages(range);
  if (pages.bytes() == 0 || !is_location(to)) return EINVAL;
  if (!memory_homes().several()) return EALREADY;
  open_marks(pages);
  Migration migration;
  return migration.add(pages, to) ? carry_out(migration) : EINVAL;
}

int manager_distribute(std::uint64_t address, const Location* at, int n) {
  Area area;
  if (at == nullptr || n < 1 || !areas.find_settled(address, area)) return EINVAL;
  if (!std::all_of(at, at + n, is_location)) return EINVAL;
  if (!memory_homes().several()) return EALREADY;
  open_marks(area.range);
  Migration migration;
  return migration.add_in_turn(area.range, at, n) ? carry_out(migration) : EINVAL;
}

int manager_next_touch(ByteRange range, Touch how) { return error_of(next_touch(whole_pages(range), how)); }

}  // namespace hearth::memory
