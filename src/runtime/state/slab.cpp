#include "runtime/state/slab.h"

#include <cstdlib>
#include <new>

#include <sys/mman.h>

#include "base/assert.h"
#include "base/log.h"
#include "runtime/state/task.h"
#include "runtime/state/thread.h"

namespace hearth::rt {

constinit SlabChunkListener on_slab_chunk = nullptr;

namespace {

constexpr std::size_t kChunk = std::size_t{64} << 10;
constexpr std::uint16_t kLargeClass = 0xffff;

int class_for(std::size_t payload) {
  for (int c = 0; c < Slab::kClasses; ++c)
    if (payload <= Slab::payload_of(c)) return c;
  return -1;
}

void* map_chunk() {
  void* p = mmap(nullptr, kChunk, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) return nullptr;
  if (on_slab_chunk != nullptr) on_slab_chunk(p, kChunk);
  return p;
}

// Take back everything that other threads returned, sorted into the free lists.
void reclaim(Thread* self) {
  Slab& slab = self->slab;
  Task* task = slab.returned.exchange(
      nullptr, std::memory_order_acquire);  // pairs with the release push in flush_away()
  while (task != nullptr) {
    HEARTH_ASSERT(task->home == self && task->size_class < Slab::kClasses && task->is(kTaskFree),
                  "the descriptor %p, class %u, flags %#x, has come to thread %d, which is not its home",
                  static_cast<void*>(task), task->size_class, task->flags, self->gtid);
    Task* next = task->next_free;
    task->next_free = slab.free[task->size_class];
    slab.free[task->size_class] = task;
    task = next;
  }
}

[[gnu::noinline]] Task* carve(Thread* self, int size_class) {
  Slab& slab = self->slab;
  if (slab.returned.load(std::memory_order_relaxed) != nullptr) {
    reclaim(self);
    if (Task* task = slab.free[size_class]) {
      slab.free[size_class] = task->next_free;
      return mark_taken(task);
    }
  }
  const std::size_t size = sizeof(Task) + Slab::payload_of(size_class);
  if (static_cast<std::size_t>(slab.fresh_end - slab.fresh) < size) {
    auto* chunk = static_cast<char*>(map_chunk());
    if (chunk == nullptr) return nullptr;
    slab.fresh = chunk;
    slab.fresh_end = chunk + kChunk;
  }
  HEARTH_ASSERT(slab.fresh_end - slab.fresh >= static_cast<std::ptrdiff_t>(size),
                "%td bytes of the chunk are left, and %zu are needed", slab.fresh_end - slab.fresh, size);
  auto* task = new (slab.fresh) Task;
  slab.fresh += size;
  task->home = self;
  task->size_class = static_cast<std::uint16_t>(size_class);
  return task;
}

Task* allocate_large(std::size_t payload) {
  void* block = nullptr;
  if (posix_memalign(&block, kCacheLine, sizeof(Task) + payload) != 0) return nullptr;
  auto* task = new (block) Task;
  task->size_class = kLargeClass;
  return task;
}

// What another thread sends home: of one home, and no longer than a batch.
[[maybe_unused]] int count_chain(const Thread* home, const Task* head, const Task* tail) {
  int count = 0;
  for (const Task* task = head; count <= Slab::kBatch; task = task->next_free) {
    if (task->home != home) return -1;
    ++count;
    if (task == tail) break;
  }
  return count;
}

void return_chain(Thread* home, Task* head, Task* tail) {
  HEARTH_ASSERT(tail != nullptr && home != nullptr, "a chain from %p without an end or a home",
                static_cast<void*>(head));
  Task* old = home->slab.returned.load(std::memory_order_relaxed);
  do {
    tail->next_free = old;
    count_shared_write();
    // Release pairs with the acquire in reclaim(): the owner sees the chain, and nobody uses the descriptors any more.
  } while (!home->slab.returned.compare_exchange_weak(old, head, std::memory_order_release,
                                                      std::memory_order_relaxed));
}

}  // namespace

Task* allocate_task_slowly(Thread* self, std::size_t payload) {
  const int size_class = class_for(payload);
  Task* task;
  if (HEARTH_UNLIKELY(size_class < 0)) {
    task = allocate_large(payload);
  } else {
    task = self->slab.free[size_class];
    if (HEARTH_LIKELY(task != nullptr))
      self->slab.free[size_class] = mark_taken(task)->next_free;
    else
      task = carve(self, size_class);
  }
  if (HEARTH_UNLIKELY(task == nullptr))
    fatal("out of memory: no room for a task of %zu bytes", sizeof(Task) + payload);
  return task;
}

void free_task_slowly(Thread* self, Task* task) {
  if (task->size_class == kLargeClass) {
    std::free(task);
    return;
  }
  Slab& slab = self->slab;
  if (slab.away_home != task->home || slab.away_count >= Slab::kBatch) {
    flush_away(self);
    slab.away_home = task->home;
    slab.away_tail = task;
  }
  HEARTH_ASSERT((slab.away_head == nullptr) == (slab.away_count == 0) && slab.away_count < Slab::kBatch,
                "the outgoing batch counts %d", slab.away_count);
  task->next_free = slab.away_head;
  slab.away_head = task;
  ++slab.away_count;
}

std::size_t payload_bytes(const Task& task) {
  return task.size_class < Slab::kClasses ? Slab::payload_of(task.size_class) : 0;
}

void flush_away(Thread* self) {
  Slab& slab = self->slab;
  HEARTH_ASSERT_INVARIANT(
      slab.away_head == nullptr || count_chain(slab.away_home, slab.away_head, slab.away_tail) == slab.away_count,
      "of a batch of %d for thread %d, %d go there (-1: some belong elsewhere)", slab.away_count, slab.away_home->gtid,
      count_chain(slab.away_home, slab.away_head, slab.away_tail));
  if (slab.away_head != nullptr) return_chain(slab.away_home, slab.away_head, slab.away_tail);
  slab.away_head = slab.away_tail = nullptr;
  slab.away_home = nullptr;
  slab.away_count = 0;
}

}  // namespace hearth::rt
