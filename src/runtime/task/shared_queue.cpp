#include "runtime/task/shared_queue.h"

#include <utility>

#include "base/assert.h"

namespace hearth::rt {
namespace {

bool before(const SharedQueue& q, std::uint32_t a, std::uint32_t b) {
  if (q.heap[a]->priority != q.heap[b]->priority) return q.heap[a]->priority > q.heap[b]->priority;
  return q.age[a] < q.age[b];
}

void swap_entries(SharedQueue& q, std::uint32_t a, std::uint32_t b) {
  std::swap(q.heap[a], q.heap[b]);
  std::swap(q.age[a], q.age[b]);
}

void sift_up(SharedQueue& q, std::uint32_t i) {
  for (; i != 0 && before(q, i, (i - 1) / 2); i = (i - 1) / 2) swap_entries(q, i, (i - 1) / 2);
}

void sift_down(SharedQueue& q, std::uint32_t i, std::uint32_t size) {
  for (;;) {
    std::uint32_t first = i;
    for (std::uint32_t child = 2 * i + 1; child <= 2 * i + 2 && child < size; ++child)
      if (before(q, child, first)) first = child;
    if (first == i) return;
    swap_entries(q, i, first);
    i = first;
  }
}

// In the heap; 0: none. Under the lock.
[[maybe_unused]] std::uint32_t first_out_of_order(const SharedQueue& q) {
  const std::uint32_t size = q.size.load(std::memory_order_relaxed);
  for (std::uint32_t i = 1; i < size; ++i)
    if (before(q, i, (i - 1) / 2)) return i;
  return 0;
}

}  // namespace

void push_to_shared_queue(SharedQueue& queue, Task* task) {
  queue.lock.lock();
  const std::uint32_t size = queue.size.load(std::memory_order_relaxed);
  if (size == queue.capacity) {
    const std::uint32_t capacity = queue.capacity == 0 ? 64 : queue.capacity * 2;
    auto* heap = static_cast<Task**>(std::realloc(queue.heap, capacity * sizeof(Task*)));
    if (heap != nullptr) queue.heap = heap;
    auto* age = static_cast<std::uint64_t*>(std::realloc(queue.age, capacity * sizeof(std::uint64_t)));
    if (age != nullptr) queue.age = age;
    if (heap == nullptr || age == nullptr) fatal("out of memory: no room for %u queued tasks", capacity);
    queue.capacity = capacity;
  }
  queue.heap[size] = task;
  queue.age[size] = queue.next_age++;
  sift_up(queue, size);
  count_shared_write(3);
  queue.size.store(size + 1, std::memory_order_relaxed);
  HEARTH_ASSERT_STRUCTURE(first_out_of_order(queue) == 0, "entry %u of %u comes before the one above it",
                          first_out_of_order(queue), size + 1);
  queue.lock.unlock();
}

Task* remove_from_shared_queue(SharedQueue& queue, std::uint32_t i) {
  HEARTH_ASSERT(queue.lock.is_locked(), "entry %u is removed from the queue without the lock", i);
  HEARTH_ASSERT(i < queue.size.load(std::memory_order_relaxed), "entry %u of %u", i,
                queue.size.load(std::memory_order_relaxed));
  const std::uint32_t last = queue.size.load(std::memory_order_relaxed) - 1;
  Task* task = queue.heap[i];
  swap_entries(queue, i, last);
  if (i < last) {
    sift_down(queue, i, last);
    sift_up(queue, i);
  }
  count_shared_write(3);
  queue.size.store(last, std::memory_order_relaxed);
  HEARTH_ASSERT_STRUCTURE(first_out_of_order(queue) == 0, "entry %u of %u comes before the one above it",
                          first_out_of_order(queue), last);
  return task;
}

}  // namespace hearth::rt
