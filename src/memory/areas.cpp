// See areas.h. A slot for each area, type-stable, in one mapping; the index says which slot an address is in.
//
// Orders: a slot's version is odd while it is written. Writers store its fields between a release fence behind the odd
// version and a release store of the even one; a reader loads the version with acquire, the fields, and behind an acquire
// fence the version again. The table's address, the observer and the hook are stored with release and loaded with acquire.
#include "memory/areas.h"

#include <algorithm>
#include <atomic>

#include <pthread.h>
#include <sys/mman.h>

#include "base/assert.h"
#include "memory/page_index.h"

namespace hearth::memory {

Areas areas;

namespace {

using placement::ByteRange;
using Slots = std::uint32_t;

struct Slot {
  std::atomic<std::uint32_t> version;
  std::atomic<std::uint32_t> generation;  // odd: there is an area
  std::atomic<std::uint64_t> begin, end, announced_begin, announced_end, tag;
  std::atomic<Location> home;
  std::atomic<AreaKind> kind;
  Slots next_free;  // the lock's
};
static_assert(sizeof(Slot) == 64);

constinit PageIndex index;
constinit std::atomic<Slot*> the_slots{nullptr};
constinit std::atomic<Slots> used{1};  // slots from here on were never used; 0 is "none"
Slots free_slots = 0;
constinit std::atomic<std::int64_t> bytes_of_home[placement::kMaxLocations];
constinit std::atomic<std::int32_t> announcements{0};
constinit std::atomic<AreaObserver> the_observer{nullptr};
constinit std::atomic<void (*)()> the_hook{nullptr};
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

constexpr auto kRelaxed = std::memory_order_relaxed;

AreaId id_of(Slots slot, std::uint32_t generation) { return AreaId{generation} << 32 | slot; }

Slot* slots() { return the_slots.load(std::memory_order_acquire); }

void before_fork() {
  pthread_mutex_lock(&lock);
  if (void (*const hook)() = the_hook.load(std::memory_order_acquire)) hook();
}
void after_fork() { pthread_mutex_unlock(&lock); }

// With the lock, as everything below that changes something.
void register_for_forks() {
  static bool registered = false;
  if (!registered) pthread_atfork(before_fork, after_fork, after_fork);
  registered = true;
}

bool attach() {
  if (slots() != nullptr) return true;
  void* memory = mmap(nullptr, Areas::kMost * sizeof(Slot), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return false;
  register_for_forks();
  the_slots.store(static_cast<Slot*>(memory), std::memory_order_release);
  return true;
}

void copy(const Slot& slot, Slots number, Area& area) {
  area.range = {slot.begin.load(kRelaxed), slot.end.load(kRelaxed)};
  area.announced = {slot.announced_begin.load(kRelaxed), slot.announced_end.load(kRelaxed)};
  area.tag = slot.tag.load(kRelaxed);
  area.home = slot.home.load(kRelaxed);
  area.kind = slot.kind.load(kRelaxed);
  area.id = id_of(number, slot.generation.load(kRelaxed));
}

// False: there is no area, or a writer is at it for long.
bool read(Slots number, Area& area) {
  const Slot& slot = slots()[number];
  constexpr int kTries = 1000;
  for (int i = 0; i < kTries; ++i) {
    const std::uint32_t version = slot.version.load(std::memory_order_acquire);
    if ((version & 1) != 0) continue;
    copy(slot, number, area);
    std::atomic_thread_fence(std::memory_order_acquire);
    if (slot.version.load(kRelaxed) == version) return (area.id >> 32 & 1) != 0;
  }
  return false;
}

void count_home(Location home, std::int64_t bytes) {
  if (home >= 0 && home < placement::kMaxLocations) bytes_of_home[home].fetch_add(bytes, kRelaxed);
}

/// Changes a slot: readers see all of it or nothing.
class Change {
 public:
  explicit Change(Slots number) : slot_(slots()[number]), version_(slot_.version.load(kRelaxed)) {
    slot_.version.store(version_ + 1, kRelaxed);
    std::atomic_thread_fence(std::memory_order_release);
    copy(slot_, number, area);
    was_announced_ = area.announced.bytes() != 0;
    count_home(area.home, -static_cast<std::int64_t>(area.range.bytes()));
  }
  ~Change() {
    count_home(area.home, static_cast<std::int64_t>(area.range.bytes()));
    const bool is_announced = area.announced.bytes() != 0;
    if (is_announced != was_announced_) announcements.fetch_add(is_announced ? 1 : -1, kRelaxed);
    slot_.begin.store(area.range.begin, kRelaxed);
    slot_.end.store(area.range.end, kRelaxed);
    slot_.announced_begin.store(area.announced.begin, kRelaxed);
    slot_.announced_end.store(area.announced.end, kRelaxed);
    slot_.home.store(area.home, kRelaxed);
    slot_.kind.store(area.kind, kRelaxed);
    slot_.version.store(version_ + 2, std::memory_order_release);
  }
  Change(const Change&) = delete;
  Change& operator=(const Change&) = delete;

  Area area;
  Slot& slot() { return slot_; }

 private:
  Slot& slot_;
  const std::uint32_t version_;
  bool was_announced_ = false;
};

// A slot for a new area, in the index too; 0: no memory, and the index says `before` again.
Slots make(ByteRange range, const Area& like, Slots before = 0) {
  Slots number = free_slots;
  if (number != 0) {
    free_slots = slots()[number].next_free;
  } else {
    number = used.load(kRelaxed);
    if (number == Areas::kMost) return 0;
    used.store(number + 1, kRelaxed);
  }
  if (!index.set(range, number)) {
    index.set(range, before);
    slots()[number].next_free = free_slots;
    free_slots = number;
    return 0;
  }
  Change change(number);
  change.slot().generation.fetch_add(1, kRelaxed);
  change.slot().tag.store(like.tag, kRelaxed);
  change.area.range = range;
  change.area.announced = common(like.announced, range);
  change.area.home = like.home;
  change.area.kind = like.kind;
  return number;
}

void drop(Slots number) {
  Change change(number);
  index.clear(change.area.range);
  change.slot().generation.fetch_add(1, kRelaxed);
  change.slot().next_free = free_slots;
  free_slots = number;
  change.area = {};
}

void tell(AreaEvent event, const Area& area, const Area& whole = {}) {
  if (const AreaObserver observer = the_observer.load(std::memory_order_acquire)) observer(event, area, whole);
}

// Cuts [at, end) off the area: a new one, with the same tag. 0: no memory, and nothing is changed.
Slots cut_at(Slots number, std::uint64_t at) {
  Area area;
  read(number, area);
  const Slots rest = make({at, area.range.end}, area, number);
  if (rest == 0) return 0;
  Change change(number);
  change.area.range.end = at;
  change.area.announced = common(change.area.announced, change.area.range);
  return rest;
}

bool is_legal(ByteRange range) { return range.bytes() != 0 && range.begin % kPage == 0 && range.end % kPage == 0; }

}  // namespace

AreasGuard::AreasGuard() { pthread_mutex_lock(&lock); }
AreasGuard::~AreasGuard() { pthread_mutex_unlock(&lock); }

void set_before_fork(void (*hook)()) {
  register_for_forks();
  the_hook.store(hook, std::memory_order_release);
}

bool Areas::find(std::uint64_t address, Area& area) const {
  constexpr int kTries = 16;  // the slot may have become another area's meanwhile
  for (int i = 0; i < kTries; ++i) {
    const Slots number = index.find(address);
    if (number == 0) return false;
    if (read(number, area) && address >= area.range.begin && address < area.range.end) return true;
  }
  return false;
}

bool Areas::find_settled(std::uint64_t address, Area& area) const {
  if (find(address, area)) return true;
  if (index.find(address) == 0) return false;
  // A writer has lost its processor in the middle of a change.
  AreasGuard guard;
  const Slots number = index.find(address);
  return number != 0 && read(number, area);
}

bool Areas::get(AreaId id, Area& area) const {
  const auto number = static_cast<Slots>(id);
  return number != 0 && number < used.load(kRelaxed) && read(number, area) && area.id == id;
}

AreaResult Areas::add(ByteRange range, AreaKind kind, Location home, AreaId& id) {
  if (!is_legal(range)) return AreaResult::invalid;
  Area area;
  {
    AreasGuard guard;
    if (!attach()) return AreaResult::no_memory;
    if (const Slots there = index.first_in(range); there != 0) {
      read(there, area);
      id = area.id;
      const bool same = area.range.begin == range.begin && area.range.end == range.end;
      return same ? AreaResult::already : AreaResult::invalid;
    }
    Area wanted;
    wanted.home = home;
    wanted.kind = kind;
    const Slots number = make(range, wanted);
    if (number == 0) return AreaResult::no_memory;
    read(number, area);
  }
  id = area.id;
  tell(AreaEvent::added, area);
  return AreaResult::done;
}

AreaResult Areas::cover(ByteRange range) {
  if (!is_legal(range)) return AreaResult::invalid;
  while (range.bytes() != 0) {
    ByteRange gap = range;
    Area area;
    AreaId id = 0;
    if (find(range.begin, area)) {
      range.begin = std::min(range.end, area.range.end);
      continue;
    }
    {
      AreasGuard guard;
      if (const Slots next = slots() == nullptr ? 0 : index.first_in(range); next != 0 && read(next, area))
        gap.end = std::max(range.begin + kPage, area.range.begin);
    }
    // Somebody else may have been faster: look again.
    if (add(gap, AreaKind::registered, kUnknown, id) == AreaResult::no_memory) return AreaResult::no_memory;
  }
  return AreaResult::done;
}

AreaResult Areas::remove(std::uint64_t address, AreaKind kind) {
  Area area;
  {
    AreasGuard guard;
    const Slots number = index.find(address);
    if (number == 0 || !read(number, area) || area.kind != kind) return AreaResult::invalid;
    drop(number);
  }
  tell(AreaEvent::released, area);
  return AreaResult::done;
}

void Areas::remove_all(ByteRange range) {
  while (range.bytes() != 0) {
    Area area;
    bool inside = true;
    {
      AreasGuard guard;
      const Slots number = slots() == nullptr ? 0 : index.first_in(range);
      if (number == 0) return;
      read(number, area);
      // Memory that one unmaps in part: what lies beside it stays an area.
      if (area.range.end > range.end && cut_at(number, range.end) == 0) return;
      if (area.range.begin < range.begin) {
        if (cut_at(number, range.begin) == 0) return;
        inside = false;
      } else {
        read(number, area);
        drop(number);
        range.begin = std::min(range.end, area.range.end);
      }
    }
    if (inside) tell(AreaEvent::released, area);
  }
}

AreaResult Areas::split(std::uint64_t address, int n, void** begins) {
  Area whole;
  if (n < 1 || !find(address, whole)) return AreaResult::invalid;
  const std::uint64_t pages = whole.range.bytes() / kPage, parts = static_cast<std::uint64_t>(n);
  if (pages < parts) return AreaResult::invalid;
  const auto begin_of = [&](std::uint64_t part) { return whole.range.begin + pages * part / parts * kPage; };
  // From the end, so that what is left to cut is always the first.
  for (std::uint64_t part = parts; part-- > 1;) {
    Area cut;
    {
      AreasGuard guard;
      const Slots number = index.find(whole.range.begin);
      const std::uint64_t at = begin_of(part);
      if (number == 0 || !read(number, cut) || at <= cut.range.begin || at >= cut.range.end) return AreaResult::invalid;
      const Slots rest = cut_at(number, at);
      if (rest == 0) return AreaResult::no_memory;
      read(rest, cut);
    }
    tell(AreaEvent::parted, cut, whole);
  }
  for (std::uint64_t part = 0; part < parts && begins != nullptr; ++part)
    begins[part] = reinterpret_cast<void*>(begin_of(part));
  return AreaResult::done;
}

AreaResult Areas::cut_out(ByteRange range, AreaId& id) {
  if (!is_legal(range)) return AreaResult::invalid;
  Area whole, parts[2];
  int cuts = 0;
  bool made = false;
  {
    AreasGuard guard;
    if (!attach()) return AreaResult::no_memory;
    Slots number = index.find(range.begin);
    if (number == 0) {
      if (index.first_in(range) != 0) return AreaResult::invalid;
      number = make(range, {});
      if (number == 0) return AreaResult::no_memory;
      made = true;
      read(number, whole);
    } else {
      read(number, whole);
      if (range.end > whole.range.end) return AreaResult::invalid;
      for (const std::uint64_t at : {range.end, range.begin}) {
        if (at == whole.range.end || at == whole.range.begin) continue;
        const Slots rest = cut_at(number, at);
        if (rest == 0) return AreaResult::no_memory;
        read(rest, parts[cuts++]);
        if (at == range.begin) number = rest;
      }
    }
    Area area;
    read(number, area);
    id = area.id;
  }
  for (int i = 0; i < cuts; ++i) tell(AreaEvent::parted, parts[i], whole);
  if (made) tell(AreaEvent::added, whole);
  return AreaResult::done;
}

bool Areas::set_tag(AreaId id, std::uint64_t expected, std::uint64_t desired) {
  Area area;
  if (!get(id, area)) return false;
  // Release: whoever finds the tag finds what it stands for; acquire for the same reason, of the tag that was there.
  return slots()[static_cast<Slots>(id)].tag.compare_exchange_strong(expected, desired, std::memory_order_acq_rel,
                                                                     std::memory_order_acquire);
}

void Areas::set_home(ByteRange range, Location home) {
  AreasGuard guard;
  if (slots() == nullptr) return;
  for (ByteRange left = range; left.bytes() != 0;) {
    const Slots number = index.first_in(left);
    if (number == 0) return;
    Change change(number);
    const bool inside = change.area.range.begin >= range.begin && change.area.range.end <= range.end;
    change.area.home = inside || change.area.home == home ? home : kUnknown;
    left.begin = std::min(left.end, change.area.range.end);
  }
}

std::uint64_t Areas::bytes_at(Location home) const {
  if (home < 0 || home >= placement::kMaxLocations) return 0;
  return static_cast<std::uint64_t>(std::max<std::int64_t>(0, bytes_of_home[home].load(kRelaxed)));
}

bool Areas::announce(ByteRange range) {
  AreasGuard guard;
  if (slots() == nullptr) return false;
  while (range.bytes() != 0) {
    const Slots number = index.find(range.begin);
    if (number == 0) return false;
    Change change(number);
    const ByteRange part = common(range, change.area.range);
    ByteRange& announced = change.area.announced;
    announced = announced.bytes() == 0 ? part
                                       : ByteRange{std::min(announced.begin, part.begin), std::max(announced.end, part.end)};
    range.begin = part.end;
  }
  return true;
}

void Areas::end_announcement(ByteRange range) {
  if (!any_announced()) return;
  AreasGuard guard;
  while (range.bytes() != 0) {
    const Slots number = index.first_in(range);
    if (number == 0) return;
    Change change(number);
    ByteRange& announced = change.area.announced;
    // A part in the middle stays announced: moving it again finds it in its place.
    if (range.begin <= announced.begin)
      announced = common(announced, {range.end, announced.end});
    else if (range.end >= announced.end)
      announced = common(announced, {announced.begin, range.begin});
    range.begin = std::min(range.end, change.area.range.end);
  }
}

bool Areas::any_announced() const { return announcements.load(kRelaxed) != 0; }

void Areas::for_each_announced(ByteRange range, void (*visit)(const Area& area, void* data), void* data) const {
  if (!any_announced()) return;
  while (range.bytes() != 0) {
    Area area;
    {
      AreasGuard guard;
      const Slots number = index.first_in(range);
      if (number == 0) return;
      read(number, area);
    }
    if (common(area.announced, range).bytes() != 0) visit(area, data);
    range.begin = std::min(range.end, area.range.end);
  }
}

void Areas::for_each(void (*visit)(const Area& area, void* data), void* data) const {
  const Slots end = used.load(kRelaxed);
  Area area;
  for (Slots number = 1; number < end; ++number)
    if (read(number, area)) visit(area, data);
}

void Areas::set_observer(AreaObserver observer) { the_observer.store(observer, std::memory_order_release); }

}  // namespace hearth::memory
