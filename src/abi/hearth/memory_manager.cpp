// The calls of <hearth/memory.h> about memory itself: blocks, areas, moving, statistics, costs. Any thread. Those about who
// uses it are in bubbles.cpp.
#include <cerrno>
#include <iterator>

#include "abi/export.h"
#include "hearth/hearth.h"
#include "memory/costs.h"
#include "memory/manager.h"
#include "memory/sites.h"
#include "memory/node_stats.h"
#include "runtime/bubbles/layout.h"
#include "runtime/process/startup.h"
#include "runtime/settings/settings.h"

namespace {

using hearth::placement::ByteRange;
namespace memory = hearth::memory;
namespace rt = hearth::rt;

std::uint64_t address_of(const void* address) { return reinterpret_cast<std::uintptr_t>(address); }

// Size 0: the area that holds the address; empty where none does.
ByteRange range_of(const void* address, std::size_t size) {
  rt::initialize();
  memory::Area area;
  if (size != 0) return ByteRange::of(address, size);
  return memory::areas.find_settled(address_of(address), area) ? area.range : ByteRange{};
}

int answer(int error) {
  if (error == 0) return 0;
  errno = error;
  return -1;
}

bool take_policy(int policy, int location, memory::BlockRequest& request) {
  request.huge = (policy & HEARTH_MEM_HUGE) != 0;
  request.location = location;
  switch (policy & ~HEARTH_MEM_HUGE) {
    case HEARTH_MEM_DEFAULT: request.policy = memory::BlockPolicy::by_default; return true;
    case HEARTH_MEM_FIRST_TOUCH: request.policy = memory::BlockPolicy::first_touch; return true;
    case HEARTH_MEM_AT: request.policy = memory::BlockPolicy::at; return true;
    case HEARTH_MEM_HERE: request.policy = memory::BlockPolicy::here; return true;
    case HEARTH_MEM_LEAST_LOADED: request.policy = memory::BlockPolicy::least_loaded; return true;
    default: return false;
  }
}

// What announcing stands for: HEARTH_NEXT_TOUCH. The memory is the program's, and so is the choice of who runs it.
memory::Touch announced_touch() {
  constexpr memory::Touch kWays[] = {memory::Touch::announced, memory::Touch::kernel, memory::Touch::trap};
  static_assert(std::size(kWays) == std::size(rt::kNextTouchNames));
  return kWays[rt::settings().next_touch];
}

// Both are locations of the machine.
bool is_pair(int from, int to) {
  rt::initialize();
  const int locations = memory::costs().locations();
  if (from >= 0 && from < locations && to >= 0 && to < locations) return true;
  errno = EINVAL;
  return false;
}

void* allocate_by_load(std::size_t size, bool huge, int& error) {
  const rt::Spread spread = rt::spread_by_load(rt::Thread::current());
  void* block = memory::manager_allocate(
      size, {.policy = memory::BlockPolicy::here, .location = hearth::placement::kUnknown, .huge = huge}, error);
  // A refusal has been told, and the block is near the caller then.
  if (block != nullptr && spread.count > 1) memory::manager_distribute(address_of(block), spread.at, spread.count);
  return block;
}

}  // namespace

HEARTH_EXPORT void* hearth_mem_alloc(std::size_t size, int policy, int location) {
  HEARTH_ALLOCATES_FOR_CALLER;
  rt::initialize();
  memory::BlockRequest request;
  int error = EINVAL;
  void* block = nullptr;
  if ((policy & ~HEARTH_MEM_HUGE) == HEARTH_MEM_BY_LOAD)
    block = allocate_by_load(size, (policy & HEARTH_MEM_HUGE) != 0, error);
  else if (take_policy(policy, location, request))
    block = memory::manager_allocate(size, request, error);
  if (block == nullptr) errno = error;
  return block;
}

HEARTH_EXPORT void hearth_mem_free(void* block) { memory::manager_free(block); }

HEARTH_EXPORT int hearth_mem_set_default(int policy, int location) {
  rt::initialize();
  memory::BlockRequest request;
  return answer(take_policy(policy, location, request) ? memory::manager_set_default(request) : EINVAL);
}

HEARTH_EXPORT int hearth_mem_register(void* address, std::size_t size) {
  rt::initialize();
  return answer(memory::manager_register(ByteRange::of(address, size)));
}

HEARTH_EXPORT int hearth_mem_unregister(void* address) { return answer(memory::manager_unregister(address_of(address))); }

HEARTH_EXPORT int hearth_mem_split(void* address, int n, void** parts) {
  return answer(memory::manager_split(address_of(address), n, parts));
}

HEARTH_EXPORT int hearth_mem_locate(const void* address, std::size_t size, int* location) {
  const ByteRange range = range_of(address, size);
  if (location == nullptr || range.bytes() == 0) return answer(EINVAL);
  *location = memory::manager_locate(range);
  return 0;
}

HEARTH_EXPORT int hearth_mem_migrate(void* address, std::size_t size, int location) {
  return answer(memory::manager_migrate(range_of(address, size), location));
}

HEARTH_EXPORT int hearth_mem_distribute(void* address, const int* locations, int n) {
  rt::initialize();
  return answer(memory::manager_distribute(address_of(address), locations, n));
}

HEARTH_EXPORT int hearth_mem_next_touch(void* address, std::size_t size, int how) {
  const ByteRange range = range_of(address, size);
  switch (how) {
    case HEARTH_TOUCH_ANNOUNCED: return answer(memory::manager_next_touch(range, announced_touch()));
    case HEARTH_TOUCH_KERNEL: return answer(memory::manager_next_touch(range, memory::Touch::kernel));
    case HEARTH_TOUCH_TRAP: return answer(memory::manager_next_touch(range, memory::Touch::trap));
    default: return answer(EINVAL);
  }
}

HEARTH_EXPORT int hearth_mem_stats(int location, int figure, std::size_t* bytes) {
  rt::initialize();
  memory::NodeStats stats;
  if (bytes == nullptr || !memory::node_stats(location, stats)) return answer(EINVAL);
  switch (figure) {
    case HEARTH_MEM_TOTAL: *bytes = stats.total; return 0;
    case HEARTH_MEM_FREE_BYTES: *bytes = stats.free; return 0;
    case HEARTH_MEM_AREAS: *bytes = stats.in_areas; return 0;
    default: return answer(EINVAL);
  }
}

HEARTH_EXPORT int hearth_mem_select(int choice, int* location) {
  rt::initialize();
  if (location == nullptr || choice < HEARTH_MOST_FREE || choice > HEARTH_NEAREST) return answer(EINVAL);
  const memory::Choice wanted = choice == HEARTH_MOST_FREE      ? memory::Choice::most_free
                                : choice == HEARTH_LEAST_LOADED ? memory::Choice::least_loaded
                                                                : memory::Choice::nearest;
  const int found = memory::select_home(wanted);
  if (found == hearth::placement::kUnknown) return answer(ENOENT);
  *location = found;
  return 0;
}

HEARTH_EXPORT double hearth_cost_read(int from, int to, std::size_t size) {
  return is_pair(from, to) ? memory::costs().read_ns(from, to, static_cast<double>(size)) : -1;
}

HEARTH_EXPORT double hearth_cost_write(int from, int to, std::size_t size) {
  return is_pair(from, to) ? memory::costs().write_ns(from, to, static_cast<double>(size)) : -1;
}

HEARTH_EXPORT double hearth_cost_migrate(int from, int to, std::size_t size) {
  if (!is_pair(from, to)) return -1;
  const hearth::placement::CostModel& costs = memory::costs();
  return costs.migrate_ns(from, to, costs.pages(static_cast<double>(size)));
}
