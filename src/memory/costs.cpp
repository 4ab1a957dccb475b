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
#include "topology/kept_model.h"

namespace hearth::memory {
namespace {

constinit std::atomic<placement::CostModel*> published{nullptr};

using placement::CostModel;

// A call of whole batches has the base in the price of a page.
void set_migrations(CostModel& model, double base_ns, double page_ns) {
  for (Location to = 0; to < model.locations(); ++to)
    for (Location from = 0; from < to; ++from)
      for (std::int32_t size = 0; size < CostModel::kSizeClasses; ++size) {
        const bool batches = size == CostModel::kSizeClasses - 1;
        model.set_migration(from, to, size, batches ? 0 : base_ns,
                            page_ns + (batches ? base_ns / static_cast<double>(CostModel::kBatchPages) : 0));
      }
}

void fill(CostModel& model) {
  const topology::Machine& machine = topology::machine();
  const std::int32_t locations = memory_homes().locations;
  constexpr double kNs = 1000;
  topology::KeptFigures kept;
  if (!topology::read_kept_model(machine, kept)) return model.fill(machine, locations);
  model.fill(kept.machine, locations);
  if (kept.move_pages_us > 0) set_migrations(model, kept.move_pages_base_us * kNs, kept.move_pages_us * kNs);
  if (kept.move_thread_us > 0) model.thread_move_ns = kept.move_thread_us * kNs;
}

}  // namespace

placement::CostModel& costs() {
  if (placement::CostModel* there = published.load(std::memory_order_acquire)) return *there;
  void* room = mmap(nullptr, sizeof(placement::CostModel), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (room == MAP_FAILED) fatal("out of memory: no room for the table of costs");
  auto* mine = new (room) placement::CostModel;
  fill(*mine);
  placement::CostModel* expected = nullptr;
  if (published.compare_exchange_strong(expected, mine, std::memory_order_release, std::memory_order_acquire)) return *mine;
  munmap(room, sizeof(placement::CostModel));
  return *expected;
}

}  // namespace hearth::memory
