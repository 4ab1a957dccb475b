#include "record/order.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <unordered_map>

namespace hearth::record {
namespace {

std::uint64_t mix(std::uint64_t key, std::uint64_t word) {
  std::uint64_t x = (key ^ word) + 0x9e3779b97f4a7c15;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return x ^ x >> 31;
}

const char* letter(Slot::Kind kind) {
  switch (kind) {
    case Slot::Kind::single: return "s";
    case Slot::Kind::section: return "x";
    case Slot::Kind::loop: return "l";
    case Slot::Kind::none: break;
  }
  return "";
}

std::string slot_name(const Slot& slot) {
  if (slot.kind == Slot::Kind::none) return "";
  std::string name = letter(slot.kind) + std::to_string(slot.construct);
  if (slot.kind != Slot::Kind::single) name += "@" + std::to_string(static_cast<std::int64_t>(slot.start));
  return name + ".";
}

/// A task or region beneath what its path continues.
struct Entry {
  Index anchor;
  Index self;  // with kRegionBit
  int group;   // initial and implicit tasks, then regions, then others: each counts for itself
  Slot slot;
  std::int64_t at;  // what the number comes from

  auto rank() const { return std::tie(anchor, group, slot, at, self); }
};

class Ordering {
 public:
  explicit Ordering(Recording& recording) : r_(recording) {}

  void run() {
    find_anchors();
    std::sort(entries_.begin(), entries_.end(),
              [](const Entry& a, const Entry& b) { return a.rank() < b.rank(); });
    number();
    walk();
    renumber();
  }

 private:
  /// The path goes by way of the worksharing construct, since any thread of the team may run its part.
  Index anchor_of(Index parent, const Slot& slot) const {
    if (parent == kNone) return kNone;
    const Task& task = r_.tasks[parent];
    if (slot.kind == Slot::Kind::none || task.region == kNone) return parent;
    return task.region | kRegionBit;
  }

  void find_anchors() {
    entries_.reserve(r_.tasks.size() + r_.regions.size());
    for (Index i = 0; i < r_.tasks.size(); ++i) {
      Task& task = r_.tasks[i];
      const bool implicit = task.kind == Task::Kind::implicit || task.kind == Task::Kind::initial;
      if (implicit) {
        task.slot = Slot();
        task.anchor = task.region == kNone ? kNone : task.region | kRegionBit;
        if (task.region != kNone) task.parent = r_.regions[task.region].parent;
      } else {
        task.anchor = anchor_of(task.parent, task.slot);
      }
      if (task.anchor == kNone) {
        const bool lost = !implicit && task.parent == kNone;
        lost_ += lost ? 1 : 0;
      }
      // Tasks without a parent have only their time; initial ones the number of their thread.
      entries_.push_back({task.anchor, i, implicit ? 0 : 2, task.slot,
                          implicit                 ? static_cast<std::int64_t>(task.nth)
                          : task.created == kNever ? task.begin
                                                   : task.created});
    }
    for (Index i = 0; i < r_.regions.size(); ++i) {
      Region& region = r_.regions[i];
      region.anchor = anchor_of(region.parent, region.slot);
      entries_.push_back({region.anchor, i | kRegionBit, 1, region.slot, region.begin});
    }
  }

  void number() {
    first_.assign(r_.tasks.size() + r_.regions.size() + 1, 0);
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      const Entry& entry = entries_[i];
      const bool follows = i != 0 && entries_[i - 1].anchor == entry.anchor &&
                           entries_[i - 1].group == entry.group && entries_[i - 1].slot == entry.slot;
      std::uint32_t& nth = nth_of(entry.self);
      if (entry.group != 0) nth = follows ? nth_of(entries_[i - 1].self) + 1 : 0;
      // Several leagues' initial tasks, or a region told of twice: still different tasks.
      if (entry.group == 0 && follows && nth <= nth_of(entries_[i - 1].self))
        nth = nth_of(entries_[i - 1].self) + 1;
      if (entry.anchor != kNone) ++first_[place_of(entry.anchor) + 1];
    }
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
    roots_ = static_cast<std::size_t>(std::lower_bound(entries_.begin(), entries_.end(), kNone,
                                                       [](const Entry& e, Index a) { return e.anchor < a; }) -
                                      entries_.begin());
  }

  std::uint32_t& nth_of(Index self) {
    return (self & kRegionBit) != 0 ? r_.regions[self & ~kRegionBit].nth : r_.tasks[self].nth;
  }
  // Anchors sort as numbers: tasks, then regions, then none.
  std::size_t place_of(Index anchor) const {
    return (anchor & kRegionBit) != 0 ? r_.tasks.size() + (anchor & ~kRegionBit) : anchor;
  }

  std::uint64_t key_under(std::uint64_t key, const Entry& entry) {
    key = mix(key, static_cast<std::uint64_t>(entry.group) + 1);
    if (entry.slot.kind != Slot::Kind::none)
      key = mix(mix(key, static_cast<std::uint64_t>(entry.slot.kind) << 32 | entry.slot.construct),
                entry.slot.start);
    return mix(key, nth_of(entry.self));
  }

  /// In depth first: a task, its children, the next task.
  void walk() {
    task_order_.reserve(r_.tasks.size());
    region_order_.reserve(r_.regions.size());
    std::vector<char> seen(r_.tasks.size() + r_.regions.size(), 0);
    std::vector<std::pair<std::size_t, std::uint64_t>> stack;  // an entry, and its key
    const auto push = [&](std::size_t begin, std::size_t end, std::uint64_t key) {
      for (std::size_t i = end; i-- > begin;) stack.emplace_back(i, key_under(key, entries_[i]));
    };
    const auto drain = [&] {
      while (!stack.empty()) {
        const auto [at, key] = stack.back();
        stack.pop_back();
        const Index self = entries_[at].self;
        const std::size_t place = place_of(self);
        if (seen[place] != 0) continue;
        seen[place] = 1;
        if ((self & kRegionBit) != 0) {
          r_.regions[self & ~kRegionBit].key = key >> 1;
          region_order_.push_back(self & ~kRegionBit);
        } else {
          r_.tasks[self].key = key >> 1;  // SQL's integers have a sign
          task_order_.push_back(self);
        }
        push(first_[place], first_[place + 1], key);
      }
    };
    for (std::size_t i = entries_.size(); i-- > roots_;) {
      const Index self = entries_[i].self;
      const Index process =
          (self & kRegionBit) != 0 ? r_.regions[self & ~kRegionBit].process : r_.tasks[self].process;
      stack.emplace_back(i, key_under(mix(0, process), entries_[i]));
    }
    drain();
    // What hangs together only with itself comes from files that were changed.
    std::size_t circular = 0;
    for (std::size_t i = 0; i < roots_; ++i) {
      if (seen[place_of(entries_[i].self)] != 0) continue;
      ++circular;
      r_.problems.push_back({"", "a task is its own ancestor"});
      if ((entries_[i].self & kRegionBit) != 0) {
        r_.regions[entries_[i].self & ~kRegionBit].anchor =
            r_.regions[entries_[i].self & ~kRegionBit].parent = kNone;
      } else {
        r_.tasks[entries_[i].self].anchor = r_.tasks[entries_[i].self].parent = kNone;
      }
      stack.emplace_back(i, mix(1, circular));
      drain();
    }
    if (lost_ != 0)
      r_.problems.push_back({"", "of " + std::to_string(lost_) + " tasks it is not known who made them"});
  }

  template <class T>
  static std::vector<Index> reorder(std::vector<T>& all, const std::vector<Index>& order) {
    std::vector<Index> now(all.size(), kNone);
    std::vector<T> sorted;
    sorted.reserve(all.size());
    for (const Index old : order) {
      now[old] = static_cast<Index>(sorted.size());
      sorted.push_back(std::move(all[old]));
    }
    all = std::move(sorted);
    return now;
  }

  void renumber() {
    const std::vector<Index> tasks = reorder(r_.tasks, task_order_);
    const std::vector<Index> regions = reorder(r_.regions, region_order_);
    const auto task = [&](Index& i) { i = i == kNone ? kNone : tasks[i]; };
    const auto region = [&](Index& i) { i = i == kNone ? kNone : regions[i]; };
    const auto anchor = [&](Index& i) {
      if (i != kNone) i = (i & kRegionBit) != 0 ? regions[i & ~kRegionBit] | kRegionBit : tasks[i];
    };
    for (Task& t : r_.tasks) {
      task(t.parent);
      region(t.region);
      anchor(t.anchor);
    }
    for (Region& g : r_.regions) {
      task(g.parent);
      anchor(g.anchor);
    }
    const auto all = [&](auto& list) {
      for (auto& one : list) task(one.task);
    };
    all(r_.spans);
    all(r_.waits);
    all(r_.loops);
    all(r_.chunks);
    all(r_.dependences);
    all(r_.ranges);
    all(r_.task_bytes);
    all(r_.decisions);
    all(r_.touches);
    const auto by_task = [](const auto& a, const auto& b) { return a.task < b.task; };
    std::stable_sort(r_.dependences.begin(), r_.dependences.end(), by_task);
    std::stable_sort(r_.ranges.begin(), r_.ranges.end(), by_task);
    std::stable_sort(r_.task_bytes.begin(), r_.task_bytes.end(), by_task);
    std::stable_sort(r_.decisions.begin(), r_.decisions.end(), by_task);
    std::stable_sort(r_.spans.begin(), r_.spans.end(), [](const Span& a, const Span& b) {
      return std::tie(a.task, a.begin) < std::tie(b.task, b.begin);
    });
  }

  Recording& r_;
  std::vector<Entry> entries_;
  std::vector<std::size_t> first_;  // of each task's, then each region's, entries
  std::size_t roots_ = 0;
  std::size_t lost_ = 0;
  std::vector<Index> task_order_, region_order_;
};

// ---- dependences

constexpr std::uint32_t kIn = 1, kInoutset = 7, kOutAllMemory = 34, kInoutAllMemory = 35;

/// The tasks that the next ones of an address wait for (OpenMP 5.2, section 15.9.5). Sets of tasks that do
/// not order each other: readers, and those of an inoutset.
struct Address {
  std::uint32_t kind = 0;
  std::vector<Index> current, previous;
};

/// A task's dependences, in the list of all.
struct Named {
  Index task;
  std::size_t first, end;
};

class Siblings {
 public:
  explicit Siblings(Recording& recording) : r_(recording) {}

  void add(const Named& named) {
    const std::size_t first_edge = r_.edges.size();
    for (std::size_t i = named.first; i < named.end; ++i) add(named.task, r_.dependences[i]);
    const auto begin = r_.edges.begin() + static_cast<std::ptrdiff_t>(first_edge);
    std::sort(begin, r_.edges.end(),
              [](const Edge& a, const Edge& b) { return a.predecessor < b.predecessor; });
    r_.edges.erase(std::unique(begin, r_.edges.end(),
                               [](const Edge& a, const Edge& b) { return a.predecessor == b.predecessor; }),
                   r_.edges.end());
  }

 private:
  void wait_for(Index task, const std::vector<Index>& before) {
    for (const Index one : before)
      if (one != task) r_.edges.push_back({task, one});
  }

  void add(Index task, const Dependence& one) {
    if (one.type == kOutAllMemory || one.type == kInoutAllMemory) {
      for (auto& [address, state] : table_) {
        wait_for(task, state.current);
        state = {one.type, {task}, {}};
      }
      table_[0] = {one.type, {task}, {}};
      return;
    }
    auto [found, fresh] = table_.try_emplace(one.address);
    Address& state = found->second;
    if (fresh && one.address != 0) {
      const auto everything = table_.find(0);
      if (everything != table_.end()) state = everything->second;
    }
    const bool named_twice = !state.current.empty() && state.current.back() == task;
    if (named_twice) {
      if (one.type != kIn) state.kind = one.type;  // the stronger one counts
      return;
    }
    const bool shares = (one.type == kIn || one.type == kInoutset) && state.kind == one.type;
    if (shares) {
      wait_for(task, state.previous);
      state.current.push_back(task);
      return;
    }
    wait_for(task, state.current);
    state.previous = std::move(state.current);
    state.current = {task};
    state.kind = one.type;
  }

  Recording& r_;
  std::unordered_map<std::uint64_t, Address> table_;
};

void find_edges(Recording& r) {
  std::vector<Named> all;
  for (std::size_t i = 0; i < r.dependences.size();) {
    const Index task = r.dependences[i].task;
    const std::size_t first = i;
    while (i < r.dependences.size() && r.dependences[i].task == task) ++i;
    all.push_back({task, first, i});
  }
  // What counts is the order in which the parent has made them.
  const auto rank = [&](const Named& n) {
    return std::make_tuple(r.tasks[n.task].parent, r.tasks[n.task].created, n.task);
  };
  std::sort(all.begin(), all.end(), [&](const Named& a, const Named& b) { return rank(a) < rank(b); });
  for (std::size_t i = 0; i < all.size();) {
    Siblings siblings(r);
    for (const Index parent = r.tasks[all[i].task].parent;
         i < all.size() && r.tasks[all[i].task].parent == parent; ++i)
      siblings.add(all[i]);
  }
}

}  // namespace

void order(Recording& recording) {
  Ordering(recording).run();
  find_edges(recording);
}

std::string step_name(const Task& task) {
  switch (task.kind) {
    case Task::Kind::initial: return "i" + std::to_string(task.nth);
    case Task::Kind::implicit: return "t" + std::to_string(task.nth);
    default: return slot_name(task.slot) + std::to_string(task.nth);
  }
}

std::string step_name(const Region& region) {
  return slot_name(region.slot) + "r" + std::to_string(region.nth);
}

}  // namespace hearth::record
