// SharedCaches: what the cache of each location holds, as a list of extents by their last use.
//
// A cache keeps whole extents, known by identity (Extent::identity()): what is used as different extents that
// overlap counts as different data. The least recently used go first; the last of them may go in part. What
// is larger than the cache sweeps it clean, and leaves nothing behind. Used by one thread; memory grows with
// the extents that are held, not with those that ever were.
#pragma once

#include <cstdint>

#include <vector>

namespace hearth::sim {

class SharedCaches {
 public:
  /// So many caches of `bytes` each; 0: they hold nothing.
  SharedCaches(std::size_t caches, std::uint64_t bytes);

  /// `cache` uses an extent of so many bytes: how many of them it held. It holds all of them afterwards.
  std::uint64_t use(std::size_t cache, std::uint64_t identity, std::uint64_t bytes);
  /// The same for a write: no other cache holds the extent any more.
  std::uint64_t write(std::size_t cache, std::uint64_t identity, std::uint64_t bytes);

  std::uint64_t held(std::size_t cache) const { return caches_[cache].held; }

 private:
  using Index = std::uint32_t;
  static constexpr Index kNone = UINT32_MAX;
  struct Entry {
    std::uint64_t identity;
    std::uint64_t bytes;
    Index newer, older;  // of the same cache
    Index next;          // in the bucket; in the list of free entries
    std::uint32_t cache;
  };
  struct Cache {
    std::uint64_t held = 0;
    Index newest = kNone, oldest = kNone;
  };

  Index& bucket(std::uint64_t identity) { return buckets_[identity & (buckets_.size() - 1)]; }
  void unlink(const Entry& entry);
  void make_newest(Index index);
  void drop(Index index);
  void make_room(std::size_t cache, std::uint64_t bytes);
  std::uint64_t keep(std::size_t cache, std::uint64_t identity, std::uint64_t bytes, Index found);
  void grow();

  std::uint64_t capacity_;
  std::vector<Cache> caches_;
  std::vector<Entry> entries_;
  std::vector<Index> buckets_;  // a power of two
  Index free_ = kNone;
  std::size_t used_ = 0;
};

}  // namespace hearth::sim
