#include "sim/cost/shared_caches.h"

#include <algorithm>

namespace hearth::sim {

SharedCaches::SharedCaches(std::size_t caches, std::uint64_t bytes)
    : capacity_(bytes), caches_(caches), buckets_(1024, kNone) {}

void SharedCaches::unlink(const Entry& entry) {
  Cache& cache = caches_[entry.cache];
  (entry.newer == kNone ? cache.newest : entries_[entry.newer].older) = entry.older;
  (entry.older == kNone ? cache.oldest : entries_[entry.older].newer) = entry.newer;
}

void SharedCaches::make_newest(Index index) {
  Entry& entry = entries_[index];
  Cache& cache = caches_[entry.cache];
  entry.newer = kNone;
  entry.older = cache.newest;
  (cache.newest == kNone ? cache.oldest : entries_[cache.newest].newer) = index;
  cache.newest = index;
}

void SharedCaches::drop(Index index) {
  Entry& entry = entries_[index];
  Index* link = &bucket(entry.identity);
  while (*link != index) link = &entries_[*link].next;
  *link = entry.next;
  unlink(entry);
  caches_[entry.cache].held -= entry.bytes;
  entry.next = free_;
  free_ = index;
  --used_;
}

void SharedCaches::make_room(std::size_t cache, std::uint64_t bytes) {
  Cache& of = caches_[cache];
  while (of.held + bytes > capacity_) {
    const Index oldest = of.oldest;
    Entry& entry = entries_[oldest];
    const std::uint64_t excess = of.held + bytes - capacity_;
    if (entry.bytes <= excess) {
      drop(oldest);
    } else {
      entry.bytes -= excess;
      of.held -= excess;
    }
  }
}

void SharedCaches::grow() {
  buckets_.assign(buckets_.size() * 2, kNone);
  for (std::size_t i = 0; i < caches_.size(); ++i)
    for (Index index = caches_[i].newest; index != kNone; index = entries_[index].older) {
      Index& first = bucket(entries_[index].identity);
      entries_[index].next = first;
      first = index;
    }
}

std::uint64_t SharedCaches::keep(std::size_t cache, std::uint64_t identity, std::uint64_t bytes,
                                 Index found) {
  std::uint64_t hit = 0;
  if (found != kNone) {
    Entry& entry = entries_[found];
    hit = std::min(entry.bytes, bytes);
    if (entry.bytes >= bytes && bytes <= capacity_) {
      if (caches_[cache].newest != found) {
        unlink(entry);
        make_newest(found);
      }
      return hit;
    }
    drop(found);
  }
  make_room(cache, std::min(bytes, capacity_));
  if (bytes > capacity_) return hit;
  Index index = free_;
  if (index == kNone) {
    index = static_cast<Index>(entries_.size());
    entries_.emplace_back();
  } else {
    free_ = entries_[index].next;
  }
  if (++used_ > buckets_.size()) grow();
  Index& first = bucket(identity);
  entries_[index] = {identity, bytes, kNone, kNone, first, static_cast<std::uint32_t>(cache)};
  first = index;
  make_newest(index);
  caches_[cache].held += bytes;
  return hit;
}

std::uint64_t SharedCaches::use(std::size_t cache, std::uint64_t identity, std::uint64_t bytes) {
  if (capacity_ == 0 || bytes == 0) return 0;
  Index found = bucket(identity);
  while (found != kNone && (entries_[found].identity != identity || entries_[found].cache != cache))
    found = entries_[found].next;
  return keep(cache, identity, bytes, found);
}

std::uint64_t SharedCaches::write(std::size_t cache, std::uint64_t identity, std::uint64_t bytes) {
  if (capacity_ == 0 || bytes == 0) return 0;
  Index found = kNone;
  for (Index at = bucket(identity); at != kNone;) {
    const Index next = entries_[at].next;
    if (entries_[at].identity == identity) {
      if (entries_[at].cache == cache)
        found = at;
      else
        drop(at);
    }
    at = next;
  }
  return keep(cache, identity, bytes, found);
}

}  // namespace hearth::sim
