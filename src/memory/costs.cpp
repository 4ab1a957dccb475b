// See costs.h.
//
// Orders: `published` is set with release by the thread whose model it is, and read with acquire by all others.
#include "memory/costs.h"

#include <atomic>
#include <new>

#include <sys/mman.h>

#include "base/log.h"
#include "memory/homes.h"
#include "topology/current.h"

namespace hearth::memory {
namespace {

constinit std::atomic<placement::CostModel*> published{nullptr};

}  // namespace

placement::CostModel& costs() {
  if (placement::CostModel* there = published.load(std::memory_order_acquire)) return *there;
  void* room = mmap(nullptr, sizeof(placement::CostModel), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (room == MAP_FAILED) fatal("out of memory: no room for the table of costs");
  auto* mine = new (room) placement::CostModel;
  mine->fill(topology::machine(), memory_homes().locations);
  placement::CostModel* expected = nullptr;
  if (published.compare_exchange_strong(expected, mine, std::memory_order_release, std::memory_order_acquire)) return *mine;
  munmap(room, sizeof(placement::CostModel));
  return *expected;
}

}  // namespace hearth::memory
