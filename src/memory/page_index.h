// PageIndex: whole pages -> a number. Which area holds this address, which mark? A tree like the processor's page
// tables: five levels of 512 entries, where an entry that a range fills stands for all below it; so a range of any size
// is a few entries.
//
// find() is wait-free, makes no system call and may be called in a signal handler. Writers, of all indices together,
// exclude each other (AreasGuard, areas.h). Tables are never given back, so a reader may stand in one for as long as it
// likes; while a writer changes the very range that it asks about, it gets the old answer, the new one, or none.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "placement/need.h"

namespace hearth::memory {

class PageIndex {
 public:
  using Id = std::uint32_t;  // 0: none

  constexpr PageIndex() = default;

  Id find(std::uint64_t address) const;
  /// Writers. `pages` is whole pages, not empty and below 2^57. False: no memory for a table; then pages of the range
  /// may have either number.
  bool set(placement::ByteRange pages, Id id);
  bool clear(placement::ByteRange pages) { return set(pages, 0); }
  /// The first number in the range; 0: none. Writers.
  Id first_in(placement::ByteRange pages) const;

 private:
  static constexpr int kBits = 9, kLevels = 5;
  static constexpr std::size_t kEntries = std::size_t{1} << kBits;
  struct Table;
  struct Entry {
    std::atomic<Table*> below{nullptr};
    std::atomic<Id> id{0};
  };
  struct Table {
    Entry at[kEntries];
  };
  struct Leaf;

  static bool set_in(Table& table, int level, std::uint64_t first, std::uint64_t last, Id id);
  static void set_leaf(Leaf& leaf, std::uint64_t first, std::uint64_t last, Id id);
  static bool open_up(Entry& entry, int level);
  static Table* new_table(int level, Id id);
  static void wipe(Table* table, int level);
  static Id first_below(const Table& table, int level, std::uint64_t first, std::uint64_t last);

  Table root_;
};

}  // namespace hearth::memory
