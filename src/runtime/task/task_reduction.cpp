#include "runtime/task/taskgroup.h"
#include "runtime/task/task_reduction.h"

#include <cstdlib>
#include <cstring>
#include <new>

#include "base/assert.h"
#include "base/log.h"
#include "runtime/sync/wait.h"

namespace hearth::rt {
namespace {

[[noreturn]] void no_memory_for_reduction() { fatal("out of memory: no room for a task reduction"); }

// Words of libgomp's array.
enum : int {
  kCount = 0,
  kThreadBytes = 1,
  kMemory = 2,
  kOlder = 4,
  kHead = 5,
  kEnd = 6,
  kFirst = 7,
  kStride = 3
};

std::uintptr_t* older_of(const std::uintptr_t* data) {
  return reinterpret_cast<std::uintptr_t*>(data[kOlder]);
}

std::uintptr_t* enclosing_gomp_reductions(const Taskgroup* group) {
  for (; group != nullptr; group = group->outer)
    if (group->gomp_reductions != nullptr) return group->gomp_reductions;
  return nullptr;
}

// The arrays of one construct are chained by the compiler; the last is linked to those of the constructs
// around.
template <class Fill>
void link_arrays(std::uintptr_t* data, std::uintptr_t* around, Fill fill) {
  for (std::uintptr_t* d = data;;) {
    fill(d);
    d[kHead] = d == data;
    std::uintptr_t* older = older_of(d);
    if (older == nullptr) {
      d[kOlder] = reinterpret_cast<std::uintptr_t>(around);
      return;
    }
    d = older;
  }
}

void allocate(std::uintptr_t* d, std::int32_t threads) {
  std::size_t align = d[kMemory];
  if (align < sizeof(void*)) align = sizeof(void*);
  const std::size_t bytes = d[kThreadBytes] * static_cast<std::size_t>(threads);
  void* memory = nullptr;
  if (posix_memalign(&memory, align, bytes == 0 ? align : bytes) != 0) no_memory_for_reduction();
  std::memset(memory, 0, bytes);
  d[kMemory] = reinterpret_cast<std::uintptr_t>(memory);
  d[kEnd] = d[kMemory] + bytes;
}

}  // namespace

void register_gomp_reductions(Thread* self, std::uintptr_t* data) {
  Taskgroup* group = self->task->group;
  const std::int32_t threads = self->team->size;
  link_arrays(data, enclosing_gomp_reductions(group->outer),
              [threads](std::uintptr_t* d) { allocate(d, threads); });
  group->gomp_reductions = data;
}

void allocate_gomp_reductions(std::uintptr_t* data, std::int32_t threads) {
  link_arrays(data, nullptr, [threads](std::uintptr_t* d) { allocate(d, threads); });
}

void unregister_gomp_reductions(std::uintptr_t* data) {
  std::uintptr_t* d = data;
  do {
    std::free(reinterpret_cast<void*>(d[kMemory]));
    d = older_of(d);
  } while (d != nullptr && d[kHead] == 0);
}

void remap_gomp_reductions(Thread* self, std::size_t count, std::size_t originals, void** addresses) {
  std::uintptr_t* const all = enclosing_gomp_reductions(self->task->group);
  const auto tid = static_cast<std::uintptr_t>(self->tid);
  for (std::size_t i = 0; i < count; ++i) {
    const auto wanted = reinterpret_cast<std::uintptr_t>(addresses[i]);
    bool found = false;
    for (std::uintptr_t* d = all; d != nullptr && !found; d = older_of(d)) {
      // Either the original's address, or one in some thread's copy of it.
      const bool inside = wanted >= d[kMemory] && wanted < d[kEnd];
      const std::uintptr_t offset = inside ? (wanted - d[kMemory]) % d[kThreadBytes] : 0;
      for (std::uintptr_t k = 0; k < d[kCount] && !found; ++k) {
        const std::uintptr_t* item = d + kFirst + k * kStride;
        if (inside ? item[1] != offset : item[0] != wanted) continue;
        found = true;
        addresses[i] = reinterpret_cast<void*>(d[kMemory] + tid * d[kThreadBytes] + item[1]);
        if (i < originals) addresses[count + i] = reinterpret_cast<void*>(item[0]);
      }
    }
    if (!found)
      fatal("in_reduction: no task_reduction around this task names the variable at %p", addresses[i]);
  }
}

void begin_workshare_reductions(Thread* self, std::uintptr_t* data, std::atomic<void*>* share) {
  Taskgroup* group = taskgroup_begin(self);
  group->worksharing = true;
  std::uintptr_t* const around = enclosing_gomp_reductions(group->outer);
  const std::int32_t threads = self->team->size;
  group->gomp_reductions = data;
  if (share == nullptr) {
    link_arrays(data, around, [threads](std::uintptr_t* d) { allocate(d, threads); });
    return;
  }
  static char being_made;
  void* first = nullptr;
  count_shared_write();
  // Relaxed: the mark says who makes the memory, and publishes nothing.
  if (share->compare_exchange_strong(first, &being_made, std::memory_order_relaxed)) {
    link_arrays(data, around, [threads](std::uintptr_t* d) { allocate(d, threads); });
    share->store(data, std::memory_order_release);  // pairs with the acquire below
    self->team->events.notify_all();
    return;
  }
  // Pairs with the release above: the array is filled in.
  wait_until(self->team->events,
             [&] { return (first = share->load(std::memory_order_acquire)) != &being_made; });
  auto* from = static_cast<const std::uintptr_t*>(first);
  link_arrays(data, around, [&from](std::uintptr_t* d) {
    d[kMemory] = from[kMemory];
    d[kEnd] = from[kEnd];
    from = older_of(from);
  });
}

void end_workshare_reductions(Thread* self) {
  std::uintptr_t* data = self->task->group->gomp_reductions;
  taskgroup_end(self);
  // The primary thread has combined the copies, behind a barrier that saw all tasks complete.
  if (self->tid == 0) unregister_gomp_reductions(data);
}

// The threads' copies of a construct's variables. Each is made by the thread that first asks for its own.
struct Copies {
  std::int32_t threads;
  std::size_t count;
  std::atomic<std::int32_t> left;  // members of the team that have ended the construct, when they share it

  /// [item][thread]. Written by the thread itself; read by it, by threads that were handed an address inside,
  /// and at the end.
  std::atomic<char*>& at(std::size_t item, std::int32_t tid) {
    return reinterpret_cast<std::atomic<char*>*>(
        this + 1)[item * static_cast<std::size_t>(threads) + static_cast<std::size_t>(tid)];
  }
};

// The reductions of one taskgroup in clang's programs. Members that share a construct have the copies in
// common, but each its own variables to reduce into.
struct Reductions {
  Copies* copies;
  bool shared;
  std::size_t count;
  ReductionItem* items() { return reinterpret_cast<ReductionItem*>(this + 1); }
};

namespace {

Copies* make_copies(Thread* self, std::size_t count) {
  const auto threads = static_cast<std::size_t>(self->team->size);
  auto* copies =
      static_cast<Copies*>(std::calloc(1, sizeof(Copies) + count * threads * sizeof(std::atomic<char*>)));
  if (copies == nullptr) no_memory_for_reduction();
  copies->threads = self->team->size;
  copies->count = count;
  return copies;
}

Reductions* make_reductions(Copies* copies, bool shared, const ReductionItem* items, std::size_t count) {
  auto* reductions =
      static_cast<Reductions*>(std::malloc(sizeof(Reductions) + count * sizeof(ReductionItem)));
  if (reductions == nullptr) no_memory_for_reduction();
  *reductions = {copies, shared, count};
  for (std::size_t i = 0; i < count; ++i) reductions->items()[i] = items[i];
  return reductions;
}

char* own_copy(Thread* self, Reductions* reductions, std::size_t i) {
  HEARTH_ASSERT(self->tid < reductions->copies->threads && i < reductions->count,
                "variable %zu of %zu, thread %d of %d", i, reductions->count, self->tid, reductions->copies->threads);
  std::atomic<char*>& slot = reductions->copies->at(i, self->tid);
  char* copy = slot.load(std::memory_order_relaxed);
  if (HEARTH_LIKELY(copy != nullptr)) return copy;
  const ReductionItem& item = reductions->items()[i];
  void* memory = nullptr;
  const std::size_t bytes = (item.size + kCacheLine - 1) & ~(kCacheLine - 1);
  if (posix_memalign(&memory, kCacheLine, bytes == 0 ? kCacheLine : bytes) != 0) no_memory_for_reduction();
  copy = static_cast<char*>(memory);
  if (item.init == nullptr)
    std::memset(copy, 0, item.size);
  else if (item.original != nullptr)
    reinterpret_cast<void (*)(void*, void*)>(item.init)(copy, item.original);
  else
    reinterpret_cast<void (*)(void*)>(item.init)(copy);
  // Release pairs with the acquire in combine(), though the tasks' completion orders them already.
  slot.store(copy, std::memory_order_release);
  return copy;
}

void combine(Reductions* reductions) {
  Copies* copies = reductions->copies;
  for (std::size_t i = 0; i < reductions->count; ++i) {
    const ReductionItem& item = reductions->items()[i];
    for (std::int32_t tid = 0; tid < copies->threads; ++tid) {
      char* copy = copies->at(i, tid).load(std::memory_order_acquire);  // pairs with the release in own_copy()
      if (copy == nullptr) continue;
      item.combine(item.shared, copy);
      if (item.fini != nullptr) item.fini(copy);
      std::free(copy);
    }
  }
  std::free(copies);
}

bool is_inside(const char* address, const char* copy, std::size_t size) {
  return copy != nullptr && address >= copy && address < copy + size;
}

}  // namespace

Taskgroup* register_reductions(Thread* self, const ReductionItem* items, std::size_t count) {
  Taskgroup* group = self->task->group;
  if (group == nullptr) fatal("a task reduction outside any taskgroup");
  if (count != 0) group->reductions = make_reductions(make_copies(self, count), false, items, count);
  return group;
}

Taskgroup* begin_shared_reductions(Thread* self, bool worksharing, const ReductionItem* items,
                                   std::size_t count) {
  Taskgroup* group = taskgroup_begin(self);
  group->worksharing = true;
  std::atomic<void*>& shared = self->team->task_reductions[worksharing];
  void* found = shared.load(std::memory_order_acquire);  // pairs with the release below
  if (found == nullptr) {
    Copies* mine = make_copies(self, count);
    count_shared_write();
    // Acquire and release pair among the members.
    if (shared.compare_exchange_strong(found, mine, std::memory_order_acq_rel, std::memory_order_acquire))
      found = mine;
    else
      std::free(mine);
  }
  group->reductions = make_reductions(static_cast<Copies*>(found), true, items, count);
  return group;
}

void end_shared_reductions(Thread* self, bool worksharing) {
  Reductions* reductions = self->task->group->reductions;
  taskgroup_end(self);
  count_shared_write();
  // Acquire and release pair among the members: the last one sees all copies.
  Copies* copies = reductions->copies;
  const std::int32_t last = copies->threads - 1;  // read first: the last member frees the copies
  const std::int32_t left = copies->left.fetch_add(1, std::memory_order_acq_rel);
  HEARTH_ASSERT(left <= last, "%d members of %d have ended the construct", left + 1, last + 1);
  if (left == last) {
    // The barrier that follows the construct orders this before the next one.
    self->team->task_reductions[worksharing].store(nullptr, std::memory_order_relaxed);
    combine(reductions);
  }
  std::free(reductions);
}

void* private_copy(Thread* self, Taskgroup* group, void* variable) {
  if (group == nullptr) group = self->task->group;
  const auto* address = static_cast<const char*>(variable);
  for (; group != nullptr; group = group->outer) {
    Reductions* reductions = group->reductions;
    if (reductions == nullptr) continue;
    for (std::size_t i = 0; i < reductions->count; ++i) {
      if (reductions->items()[i].shared == variable || reductions->items()[i].original == variable)
        return own_copy(self, reductions, i);
      const std::size_t size = reductions->items()[i].size;
      for (std::int32_t tid = 0; tid < reductions->copies->threads; ++tid)
        // Relaxed: the address is compared, and not followed.
        if (is_inside(address, reductions->copies->at(i, tid).load(std::memory_order_relaxed), size))
          return own_copy(self, reductions, i);
    }
  }
  fatal("in_reduction: no task_reduction around this task names the variable at %p", variable);
}

void finish_reductions(Thread*, Taskgroup* group) {
  if (group->reductions->shared) return;
  combine(group->reductions);
  std::free(group->reductions);
}

}  // namespace hearth::rt
