// Nestable locks that one task holds more often than the lock's word can count (lock.h).
//
// The parts of kMost that the word has no room for are counted in a list, one entry for each such lock. An entry
// belongs to the lock's holder; the list, which all holders search, is under a lock of its own. A lock that is
// initialized anew while it is held leaves its entry behind, for the next deep nest at that address.
#include <cstdlib>

#include "base/log.h"
#include "runtime/sync/lock.h"

namespace hearth::rt {
namespace {

struct DeepNest {
  const NestLock* lock;
  std::uint32_t parts;
  DeepNest* next;
};

constinit Lock list_lock;
constinit DeepNest* list = nullptr;  // under list_lock

// The link to the lock's entry, or to null. With list_lock.
DeepNest** find(const NestLock* lock) {
  DeepNest** link = &list;
  while (*link != nullptr && (*link)->lock != lock) link = &(*link)->next;
  return link;
}

// One part more; of the first one there may be an old entry. The parts that there are now.
std::uint32_t add_part(const NestLock* lock, bool first) {
  LockGuard guard(list_lock);
  DeepNest** link = find(lock);
  if (*link == nullptr) {
    *link = static_cast<DeepNest*>(std::malloc(sizeof(DeepNest)));
    if (*link == nullptr) fatal("out of memory: no room to count how often a nestable lock is held");
    **link = {lock, 0, nullptr};
  }
  if (first) (*link)->parts = 0;
  return ++(*link)->parts;
}

// One part less; the last one takes the entry with it. The parts that are left.
std::uint32_t take_part(const NestLock* lock) {
  LockGuard guard(list_lock);
  DeepNest** link = find(lock);
  DeepNest* entry = *link;
  if (entry == nullptr) return 0;  // the program unsets what it does not hold
  if (--entry->parts != 0) return entry->parts;
  *link = entry->next;
  std::free(entry);
  return 0;
}

std::uint32_t parts_of(const NestLock* lock) {
  LockGuard guard(list_lock);
  const DeepNest* entry = *find(lock);
  return entry != nullptr ? entry->parts : 0;
}

}  // namespace

std::uint32_t NestLock::nest_deep(std::uint32_t held) {
  std::uint32_t parts = 0;
  if ((held & kMost) == kMost) {
    parts = add_part(this, (held & kDeep) == 0);
    held = ((held & ~kMost) | kDeep) + 1;
  } else {
    parts = parts_of(this);
    ++held;
  }
  owner_.store(held, std::memory_order_relaxed);
  return parts * kMost + (held & kMost);
}

// `left` is the word of a deep nest after an unset, which counts at least one part beside it.
std::uint32_t NestLock::unlock_deep(std::uint32_t left) {
  std::uint32_t parts = 0;
  if ((left & kMost) == 0) {
    parts = take_part(this);
    left |= kMost;
    if (parts == 0) left &= ~kDeep;
  } else {
    parts = parts_of(this);
  }
  owner_.store(left, std::memory_order_relaxed);
  return parts * kMost + (left & kMost);
}

void free_deep_nests_after_fork() { list_lock.reset(); }

}  // namespace hearth::rt
