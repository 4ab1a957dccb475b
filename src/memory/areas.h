// Areas: memory in whole pages that the program has told the manager of, or has from it (<hearth/memory.h>).
//
// find() and get() are lock-free and may be called anywhere, also in a signal handler: they walk the index and copy the
// area's slot, which carries a version. Everything that changes an area takes the one lock (AreasGuard), which is held
// around fork() too. Nothing here reads or writes an area's bytes, makes a system call about them, or knows threads and
// teams: who uses an area is the runtime's business, which has the tag for it and hears of changes (set_observer).
//
// An id stays that of its area until it is removed; afterwards get() says no, also when its slot is used again.
#pragma once

#include <cstddef>
#include <cstdint>

#include "memory/homes.h"
#include "placement/need.h"

namespace hearth::memory {

using AreaId = std::uint64_t;  // 0: none

enum class AreaKind : std::uint8_t {
  registered,  // the program's own memory
  allocated,   // a block of the manager's, or a part of one
};

struct Area {
  AreaId id = 0;
  placement::ByteRange range;      // whole pages
  placement::ByteRange announced;  // of these: who touches them next shall have them; empty: none
  std::uint64_t tag = 0;           // the runtime's; 0 at first
  Location home = kUnknown;        // where all of it was placed or moved to, as far as we know
  AreaKind kind = AreaKind::registered;
};

enum class AreaResult : std::uint8_t { done, invalid, already, no_memory };

enum class AreaEvent : std::uint8_t {
  added,
  parted,    // `area` was cut off `whole`, whose id and tag the first part keeps; its tag is a copy
  released,  // `area` is gone; whatever its tag means is to be dropped
};
/// Called without the lock by the thread that has changed something, after the change.
using AreaObserver = void (*)(AreaEvent event, const Area& area, const Area& whole);

/// The whole pages in a range; empty where there are none.
inline placement::ByteRange whole_pages(placement::ByteRange range) {
  // Beyond the addresses that programs have nothing is whole.
  constexpr std::uint64_t kMost = std::uint64_t{1} << 56;
  const std::uint64_t begin = (range.begin + kPage - 1) / kPage * kPage, end = range.end / kPage * kPage;
  return range.begin >= kMost || range.end > kMost || begin >= end ? placement::ByteRange{}
                                                                    : placement::ByteRange{begin, end};
}
inline placement::ByteRange common(placement::ByteRange a, placement::ByteRange b) {
  const std::uint64_t begin = a.begin > b.begin ? a.begin : b.begin, end = a.end < b.end ? a.end : b.end;
  return begin < end ? placement::ByteRange{begin, end} : placement::ByteRange{};
}

class Areas {
 public:
  static constexpr std::size_t kMost = std::size_t{1} << 20;

  /// The area that holds the address. False also where a writer of it has stopped in the middle of a change.
  bool find(std::uint64_t address, Area& area) const;
  /// The same, and waits for such a writer: for calls of the program, not for signal handlers.
  bool find_settled(std::uint64_t address, Area& area) const;
  bool get(AreaId id, Area& area) const;

  /// `range`: whole pages, all of them in no area yet. already: just this is an area, whose id comes back.
  AreaResult add(placement::ByteRange range, AreaKind kind, Location home, AreaId& id);
  /// Makes areas of what of the range is in none.
  AreaResult cover(placement::ByteRange range);
  /// invalid: no area, or one of another kind.
  AreaResult remove(std::uint64_t address, AreaKind kind);
  /// All that lie in the range, as when a block is freed; those that reach into it are cut.
  void remove_all(placement::ByteRange range);
  /// n parts of nearly equal size in whole pages; begins[i], unless null, is where part i begins. invalid: no area,
  /// or too few pages.
  AreaResult split(std::uint64_t address, int n, void** begins);
  /// The area that is just this range of whole pages: there already, made, or cut out of a larger one. invalid: it lies
  /// across the border of one.
  AreaResult cut_out(placement::ByteRange range, AreaId& id);

  /// The tag becomes `desired` if it is `expected`; false: it is not, or there is no such area. No lock.
  bool set_tag(AreaId id, std::uint64_t expected, std::uint64_t desired);
  /// The pages were placed or moved: areas that lie in the range are at home there from now on; of those that reach
  /// beyond it nobody knows.
  void set_home(placement::ByteRange range, Location home);
  /// Bytes of areas whose home this is. Any thread, no lock.
  std::uint64_t bytes_at(Location home) const;

  /// Who touches these pages next shall have them: noted with the areas that hold them. False: some page is in no area.
  bool announce(placement::ByteRange range);
  /// They were moved, or nobody waits for a touch any more.
  void end_announcement(placement::ByteRange range);
  /// Areas with an announcement. One load.
  bool any_announced() const;
  /// Calls visit(area, data) for each of those that meet the range. The lock is not held meanwhile.
  void for_each_announced(placement::ByteRange range, void (*visit)(const Area& area, void* data), void* data) const;
  /// The same for all areas.
  void for_each(void (*visit)(const Area& area, void* data), void* data) const;

  void set_observer(AreaObserver observer);
};

/// The process's own.
extern Areas areas;

/// The lock of areas and marks.
class AreasGuard {
 public:
  AreasGuard();
  ~AreasGuard();
  AreasGuard(const AreasGuard&) = delete;
  AreasGuard& operator=(const AreasGuard&) = delete;
};
/// With the lock. The hook is called with the lock held by a thread that is about to fork.
void set_before_fork(void (*hook)());

}  // namespace hearth::memory
