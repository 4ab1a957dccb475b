// How a recording becomes a workload:
//
// A task's body is the work between its events, in their order: tasks made, waits. Its work is the time that
// its thread ran it and neither waited nor made tasks. The initial task is the program. A region's implicit
// task is part of the body that met the region if it is the only one with tasks or much work, which is what a
// `single` leaves; else all of them are tasks, for which the region's end waits. Footprints are accesses of
// the longest piece of work; the part of its time that streaming these bytes would take is left to the
// simulator, the rest is computing. Overlapping and neighbouring ranges make up the regions of memory.
#include "replay/recording_workload.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>

#include "replay/recording_file.h"

namespace hearth::cli {
namespace {

using sim::Step;

constexpr std::int64_t kNone = -1;
/// What streaming costs a core of a machine of these years; the recording does not tell.
constexpr double kBytesPerNs = 8;
/// Implicit tasks with less of the region's work have none.
constexpr double kMuch = 0.05;
/// Regions within regions.
constexpr int kDeepest = 100;
/// Ranges that are closer belong to one allocation.
constexpr std::uint64_t kPage = 4096;
/// Longer ranges are no footprints.
constexpr std::uint64_t kLongest = std::uint64_t{1} << 40;

struct Recorded {
  std::int64_t parent = kNone, region = kNone, created = 0, creation = 0, begin = 0, work = 0, end = 0;
  std::string step;
  enum class Kind { initial, implicit, task, wait } kind = Kind::task;
  bool undeferred = false;
  std::uint32_t name = 0;
};

struct Interval {
  std::int64_t owner = 0, begin = 0, end = 0;
  bool all = false;  // of waits: for descendants, too
};

struct RecordedRegion {
  std::int64_t parent = kNone, begin = 0, end = 0;
};

/// One range of a footprint.
struct Touched {
  std::int64_t task = 0;
  std::uint64_t begin = 0, length = 0, rows = 1, pitch = 0;
  bool read = false, written = false, stated = false, decides = false;
  std::uint64_t end() const { return begin + (rows - 1) * pitch + length; }
};

/// The entries of a task in a list that is sorted by `owner`.
template <class List>
std::pair<std::size_t, std::size_t> of(const List& list, std::int64_t task) {
  const auto less = [](const auto& entry, std::int64_t t) { return entry.owner < t; };
  const auto first = std::lower_bound(list.begin(), list.end(), task, less);
  const auto last = std::lower_bound(first, list.end(), task + 1, less);
  return {static_cast<std::size_t>(first - list.begin()), static_cast<std::size_t>(last - list.begin())};
}

class Conversion {
 public:
  explicit Conversion(RecordingFile& file) : file_(file) {}

  RecordedWorkload run() {
    choose_process();
    if (load() && find_root()) {
      find_memory();
      find_children();
      build();
      add_predecessors();
    }
    if (out_.error.empty() && !file_.wrong().empty()) out_.error = file_.wrong();
    if (out_.error.empty()) out_.error = out_.workload.inconsistency();
    remark();
    return std::move(out_);
  }

 private:
  // ---- what the file says

  void choose_process() {
    file_.query(
        "SELECT process, sum(work_ns) AS w FROM task GROUP BY process ORDER BY w DESC, process LIMIT 1",
        [&](const Row& row) { process_ = row.integer(0); });
    processes_ = file_.number("SELECT count(*) FROM process");
    ticks_per_ns_ = 1;
    file_.query("SELECT value FROM meta WHERE key = 'ticks_per_ns'", [&](const Row& row) {
      const double value = std::atof(row.text(0).c_str());
      if (value > 0.01 && value < 100) ticks_per_ns_ = value;
    });
  }

  /// Only rows of the chosen process; all indices are checked here.
  bool load() {
    const std::int64_t count = file_.number("SELECT coalesce(max(id) + 1, 0) FROM task");
    if (count <= 0 || count > std::int64_t{sim::kMaxIndex} / 2)
      return fail(fmt::format("it has {} tasks; legal: 1 to {}", count, sim::kMaxIndex / 2));
    tasks_.resize(static_cast<std::size_t>(count));
    known_.assign(tasks_.size(), 0);
    std::map<std::string, std::uint32_t> names;
    const std::string of_process = fmt::format(" = {}", process_);
    file_.query(
        ("SELECT t.id, t.parent, t.region, t.created_ns, t.creation_ns, t.begin_ns, t.work_ns, t.kind, "
         "t.undeferred, "
         "coalesce(c.name, t.kind), t.end_ns FROM task t LEFT JOIN code c ON c.id = t.code WHERE t.process" +
         of_process)
            .c_str(),
        [&](const Row& row) {
          const std::int64_t id = row.integer(0);
          if (id < 0 || id >= count) return;
          Recorded& task = at(id);
          known_[static_cast<std::size_t>(id)] = 1;
          task.parent = row.integer_or(1, kNone);
          if (task.parent < 0 || task.parent >= count) task.parent = kNone;
          task.region = row.integer_or(2, kNone);
          task.begin = row.integer_or(5, row.integer_or(3, 0));
          task.created = row.integer_or(3, task.begin);
          task.creation = std::max<std::int64_t>(row.integer_or(4, 0), 0);
          task.work = std::max<std::int64_t>(row.integer(6), 0);
          task.end = row.integer_or(10, std::numeric_limits<std::int64_t>::max());
          const std::string kind = row.text(7);
          task.kind = kind == "initial"    ? Recorded::Kind::initial
                      : kind == "implicit" ? Recorded::Kind::implicit
                      : kind == "taskwait" ? Recorded::Kind::wait
                                           : Recorded::Kind::task;
          task.undeferred = row.integer(8) != 0;
          const auto [name, fresh] =
              names.try_emplace(row.text(9), static_cast<std::uint32_t>(out_.workload.kinds.size()));
          if (fresh) out_.workload.kinds.push_back(name->first);
          task.name = name->second;
        });
    file_.query(("SELECT id, parent, begin_ns, end_ns FROM region WHERE process" + of_process).c_str(),
                [&](const Row& row) {
                  const std::int64_t parent = row.integer_or(1, kNone);
                  regions_[row.integer(0)] = {parent < 0 || parent >= count ? kNone : parent,
                                              row.integer_or(2, 0),
                                              row.integer_or(3, std::numeric_limits<std::int64_t>::max())};
                });
    file_.query("SELECT task, begin_ns, end_ns FROM span ORDER BY task, begin_ns", [&](const Row& row) {
      if (known(row.integer(0))) spans_.push_back({row.integer(0), row.integer(1), row.integer(2), false});
    });
    file_.query(
        "SELECT task, begin_ns, end_ns, kind FROM wait WHERE task IS NOT NULL ORDER BY task, begin_ns",
        [&](const Row& row) {
          const std::string kind = row.text(3);
          const bool lock = kind.find("lock") != std::string::npos || kind == "critical" ||
                            kind == "atomic" || kind == "ordered" || kind == "reduction";
          if (known(row.integer(0)) && !lock)
            waits_.push_back({row.integer(0), row.integer(1), row.integer(2), kind != "taskwait"});
        });
    file_.query(
        "SELECT task, address, length, rows, pitch, access, decides, stated FROM footprint ORDER BY task, "
        "nth",
        [&](const Row& row) {
          Touched touched;
          touched.task = row.integer(0);
          touched.begin = static_cast<std::uint64_t>(row.integer(1));
          touched.length = static_cast<std::uint64_t>(row.integer(2));
          touched.rows = static_cast<std::uint64_t>(std::max<std::int64_t>(row.integer(3), 1));
          touched.pitch = touched.rows == 1 ? 0 : static_cast<std::uint64_t>(row.integer(4));
          const std::string access = row.text(5);
          touched.read = access.starts_with("read");
          touched.written = access.ends_with("write");
          touched.decides = row.integer(6) != 0;
          touched.stated = row.integer(7) != 0;
          std::uint64_t reach = 0;
          if (!known(touched.task) || touched.length == 0 || (!touched.read && !touched.written)) return;
          if (__builtin_mul_overflow(touched.rows - 1, touched.pitch, &reach) ||
              __builtin_add_overflow(reach, touched.length, &reach) || reach > kLongest ||
              touched.begin > UINT64_MAX - reach || touched.rows > UINT32_MAX) {
            ++left_out_;
            return;
          }
          touched_.push_back(touched);
        });
    return file_.wrong().empty();
  }

  bool known(std::int64_t id) const {
    return id >= 0 && id < static_cast<std::int64_t>(known_.size()) &&
           known_[static_cast<std::size_t>(id)] != 0;
  }
  Recorded& at(std::int64_t id) { return tasks_[static_cast<std::size_t>(id)]; }
  bool fail(const std::string& why) {
    if (out_.error.empty()) out_.error = why;
    return false;
  }

  bool find_root() {
    for (std::size_t i = 0; i < tasks_.size() && root_ == kNone; ++i)
      if (known_[i] != 0 && tasks_[i].kind == Recorded::Kind::initial) root_ = static_cast<std::int64_t>(i);
    return root_ != kNone || fail("it has no initial task");
  }

  // ---- memory

  void find_memory() {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges;
    ranges.reserve(touched_.size());
    for (const Touched& one : touched_) ranges.emplace_back(one.begin, one.end());
    std::sort(ranges.begin(), ranges.end());
    for (const auto& [begin, end] : ranges) {
      if (starts_.empty() || begin > ends_ + kPage) {
        starts_.push_back(begin);
        out_.workload.regions.emplace_back();
        out_.workload.regions.back().name = fmt::format("{:#x}", begin);
        ends_ = end;
      }
      ends_ = std::max(ends_, end);
      out_.workload.regions.back().bytes = ends_ - starts_.back();
    }
  }

  sim::Access access_of(const Touched& one) const {
    const auto region = static_cast<std::size_t>(std::upper_bound(starts_.begin(), starts_.end(), one.begin) -
                                                 starts_.begin()) -
                        1;
    sim::Access access;
    access.region = static_cast<sim::RegionIndex>(region);
    access.offset = one.begin - starts_[region];
    access.length = one.length;
    access.rows = static_cast<std::uint32_t>(one.rows);
    access.pitch = one.pitch;
    access.mode = static_cast<placement::Access>((one.read ? 1 : 0) | (one.written ? 2 : 0));
    access.pattern = one.rows > 1 && one.pitch > one.length ? sim::Pattern::strided : sim::Pattern::stream;
    access.intense = one.decides;
    access.stated = one.stated;
    return access;
  }

  // ---- bodies

  /// Whom a task's body contains, which need not be who made it.
  void find_children() {
    std::map<std::int64_t, std::vector<std::int64_t>> teams;
    for (std::size_t i = 0; i < tasks_.size(); ++i)
      if (known_[i] != 0 && tasks_[i].kind == Recorded::Kind::implicit)
        teams[tasks_[i].region].push_back(static_cast<std::int64_t>(i));
    std::vector<char> makes(tasks_.size(), 0);
    for (std::size_t i = 0; i < tasks_.size(); ++i)
      if (known_[i] != 0 && known(tasks_[i].parent) && tasks_[i].kind == Recorded::Kind::task)
        makes[static_cast<std::size_t>(tasks_[i].parent)] = 1;
    for (const auto& [region, it] : regions_)
      if (known(it.parent)) makes[static_cast<std::size_t>(it.parent)] = 1;
    inlined_.assign(tasks_.size(), 0);
    for (const auto& [region, members] : teams) {
      std::int64_t all = 0;
      for (const std::int64_t member : members) all += at(member).work;
      std::int64_t only = kNone;
      int busy = 0;
      for (const std::int64_t member : members) {
        const bool much =
            members.size() == 1 || static_cast<double>(at(member).work) > kMuch * static_cast<double>(all);
        if (makes[static_cast<std::size_t>(member)] == 0 && !much) continue;
        ++busy;
        // Who makes tasks is the producer, however much the others compute in vain.
        if (only == kNone || makes[static_cast<std::size_t>(member)] > makes[static_cast<std::size_t>(only)])
          only = member;
      }
      const bool one_producer = std::count_if(members.begin(), members.end(), [&](std::int64_t m) {
                                  return makes[static_cast<std::size_t>(m)] != 0;
                                }) == 1;
      if (only != kNone && (busy == 1 || one_producer)) inlined_[static_cast<std::size_t>(only)] = 1;
      for (const std::int64_t member : members) {
        const auto found = regions_.find(region);
        const std::int64_t parent = found == regions_.end() ? kNone : found->second.parent;
        // Idle members of a team with one producer are the simulator's own workers.
        if ((busy == 1 || one_producer) && member != only) continue;
        add_child(parent, member, found == regions_.end() ? at(member).begin : found->second.begin);
      }
    }
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      const auto id = static_cast<std::int64_t>(i);
      if (known_[i] == 0 || id == root_ || tasks_[i].kind == Recorded::Kind::implicit) continue;
      add_child(tasks_[i].parent, id, tasks_[i].created);
    }
    std::stable_sort(children_.begin(), children_.end(), [](const Child& a, const Child& b) {
      return std::tie(a.owner, a.when) < std::tie(b.owner, b.when);
    });
  }

  struct Child {
    std::int64_t owner, id, when;
  };
  void add_child(std::int64_t parent, std::int64_t id, std::int64_t when) {
    if (!known(parent) || parent == id) parent = root_;
    children_.push_back({parent, id, when});
  }

  void build() {
    workload_index_.assign(tasks_.size(), 0);
    reached_.assign(tasks_.size(), 0);
    out_.workload.tasks.emplace_back();
    reached_[static_cast<std::size_t>(root_)] = 1;
    // Tasks in the order in which they are met; each one's steps are contiguous.
    std::vector<std::int64_t> order{root_};
    for (std::size_t i = 0; i < order.size(); ++i) {
      const auto index = static_cast<std::size_t>(i);
      out_.workload.tasks[index].first_step = static_cast<std::uint32_t>(out_.workload.steps.size());
      out_.workload.tasks[index].kind = at(order[i]).name;
      add_body(order[i], order, 0, i == 0);
      out_.workload.tasks[index].steps =
          static_cast<std::uint32_t>(out_.workload.steps.size()) - out_.workload.tasks[index].first_step;
    }
    out_.workload.unexplained =
        all_time_ > 0 ? static_cast<double>(unexplained_time_) / static_cast<double>(all_time_) : 0;
  }

  struct Event {
    std::int64_t when;
    enum class What { make, wait_own, wait_all, part } what;
    std::int64_t id;
  };

  void add_body(std::int64_t task, std::vector<std::int64_t>& order, int depth, bool is_root) {
    // Bodies within bodies: regions met in regions with one producer. As deep as they nest.
    std::vector<Event> events;
    const auto [first_child, last_child] = of(children_, task);
    for (std::size_t i = first_child; i < last_child; ++i) {
      const Child& child = children_[i];
      if (reached_[static_cast<std::size_t>(child.id)] != 0) continue;
      reached_[static_cast<std::size_t>(child.id)] = 1;
      const Recorded& it = at(child.id);
      if (it.kind == Recorded::Kind::wait) {
        events.push_back({child.when, Event::What::wait_own, child.id});
      } else if (it.kind == Recorded::Kind::implicit && inlined_[static_cast<std::size_t>(child.id)] != 0 &&
                 depth < kDeepest) {
        events.push_back({child.when, Event::What::part, child.id});
      } else {
        events.push_back({child.when, Event::What::make, child.id});
        if (it.kind == Recorded::Kind::implicit) {
          const auto region = regions_.find(it.region);
          const std::int64_t end = region == regions_.end() ? it.end : region->second.end;
          events.push_back({end, Event::What::wait_all, child.id});
        }
      }
    }
    const auto [first_wait, last_wait] = of(waits_, task);
    for (std::size_t i = first_wait; i < last_wait; ++i)
      events.push_back(
          {waits_[i].begin, waits_[i].all ? Event::What::wait_all : Event::What::wait_own, kNone});
    std::stable_sort(events.begin(), events.end(),
                     [](const Event& a, const Event& b) { return a.when < b.when; });

    Pieces pieces(*this, task, first_child, last_child);
    const std::size_t first_work = out_.workload.works.size();
    bool waited_for_all = false;
    for (const Event& event : events) {
      add_work(pieces.until(event.when));
      switch (event.what) {
        case Event::What::make: {
          const auto index = static_cast<std::uint32_t>(out_.workload.tasks.size());
          workload_index_[static_cast<std::size_t>(event.id)] = index;
          out_.workload.tasks.emplace_back();
          order.push_back(event.id);
          step(at(event.id).undeferred ? Step::Kind::run : Step::Kind::create, index);
          waited_for_all = false;
          break;
        }
        case Event::What::part:
          add_body(event.id, order, depth + 1, false);
          step(Step::Kind::wait_all, 0);
          break;
        case Event::What::wait_own: step(Step::Kind::task_wait, 0); break;
        case Event::What::wait_all:
          if (!waited_for_all) step(Step::Kind::wait_all, 0);
          waited_for_all = true;
          break;
      }
    }
    add_work(pieces.until(std::numeric_limits<std::int64_t>::max()));
    if (is_root) step(Step::Kind::wait_all, 0);
    add_accesses(task, first_work);
  }

  void step(Step::Kind kind, std::uint32_t index) {
    Step one;
    one.kind = kind;
    one.index = index & sim::kMaxIndex;
    out_.workload.steps.push_back(one);
  }

  void add_work(std::int64_t ns) {
    if (ns <= 0) return;
    step(Step::Kind::work, static_cast<std::uint32_t>(out_.workload.works.size()));
    out_.workload.works.push_back({static_cast<std::uint64_t>(static_cast<double>(ns) * ticks_per_ns_),
                                   static_cast<std::uint32_t>(out_.workload.accesses.size()), 0});
  }

  /// The work of a task from one time to the next.
  class Pieces {
   public:
    Pieces(Conversion& all, std::int64_t task, std::size_t first_child, std::size_t last_child) {
      const auto add = [&](std::int64_t begin, std::int64_t end, int sign) {
        if (end <= begin) return;
        marks_.push_back({begin, sign});
        marks_.push_back({end, -sign});
      };
      constexpr int kHere = 1, kBusyOtherwise = 1 << 16;
      const auto [first_span, last_span] = of(all.spans_, task);
      for (std::size_t i = first_span; i < last_span; ++i) add(all.spans_[i].begin, all.spans_[i].end, kHere);
      const auto [first_wait, last_wait] = of(all.waits_, task);
      for (std::size_t i = first_wait; i < last_wait; ++i)
        add(all.waits_[i].begin, all.waits_[i].end, kBusyOtherwise);
      for (std::size_t i = first_child; i < last_child; ++i) {
        const Recorded& child = all.at(all.children_[i].id);
        if (child.kind == Recorded::Kind::task)
          add(child.created, child.created + child.creation, kBusyOtherwise);
      }
      std::sort(marks_.begin(), marks_.end());
    }

    std::int64_t until(std::int64_t time) {
      std::int64_t work = 0;
      for (;;) {
        const bool more = next_ < marks_.size() && marks_[next_].first <= time;
        const std::int64_t to = more ? marks_[next_].first : time;
        if (state_ == 1 && to > now_) work += to - now_;
        now_ = std::max(now_, to);
        if (!more) return work;
        state_ += marks_[next_++].second;
      }
    }

   private:
    std::vector<std::pair<std::int64_t, int>> marks_;
    std::size_t next_ = 0;
    std::int64_t now_ = std::numeric_limits<std::int64_t>::min();
    int state_ = 0;
  };

  /// The footprint goes to the longest of the task's pieces of work.
  void add_accesses(std::int64_t task, std::size_t first_work) {
    auto& works = out_.workload.works;
    const auto first = std::lower_bound(touched_.begin(), touched_.end(), task,
                                        [](const Touched& t, std::int64_t id) { return t.task < id; });
    const auto last = std::find_if(first, touched_.end(), [&](const Touched& t) { return t.task != task; });
    if (at(task).kind != Recorded::Kind::initial) {
      all_time_ += at(task).work;
      if (first == last) unexplained_time_ += at(task).work;
    }
    if (first == last || first_work == works.size()) return;
    auto longest = works.end();  // those of bodies within this one have their own
    for (auto work = works.begin() + static_cast<std::ptrdiff_t>(first_work); work != works.end(); ++work)
      if (work->accesses == 0 && (longest == works.end() || work->cycles > longest->cycles)) longest = work;
    if (longest == works.end()) return;
    longest->first_access = static_cast<std::uint32_t>(out_.workload.accesses.size());
    double bytes = 0;
    for (auto one = first; one != last; ++one) {
      out_.workload.accesses.push_back(access_of(*one));
      ++longest->accesses;
      bytes += static_cast<double>(one->rows) * static_cast<double>(one->length);
    }
    const auto memory = static_cast<std::uint64_t>(bytes / kBytesPerNs * ticks_per_ns_);
    longest->cycles -= std::min(longest->cycles, memory);
  }

  void add_predecessors() {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> edges;
    file_.query("SELECT task, predecessor FROM edge", [&](const Row& row) {
      const std::int64_t task = row.integer(0);
      const std::int64_t before = row.integer(1);
      if (!known(task) || !known(before) || at(task).parent != at(before).parent) return;
      const std::uint32_t to = workload_index_[static_cast<std::size_t>(task)];
      const std::uint32_t from = workload_index_[static_cast<std::size_t>(before)];
      if (to != 0 && from != 0 && from < to) edges.emplace_back(to, from);
    });
    std::sort(edges.begin(), edges.end());
    edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
    for (const auto& [to, from] : edges) {
      sim::Task& task = out_.workload.tasks[to];
      if (task.predecessors == 0)
        task.first_predecessor = static_cast<std::uint32_t>(out_.workload.predecessors.size());
      ++task.predecessors;
      out_.workload.predecessors.push_back(from);
    }
  }

  void remark() {
    const auto add = [&](const std::string& text) {
      out_.remarks += (out_.remarks.empty() ? "" : " ") + text;
    };
    if (processes_ > 1)
      add(fmt::format("Of {} recorded processes the one with the most work is simulated.", processes_));
    const std::string lacks = file_.text("SELECT value FROM meta WHERE key = 'lacks'");
    if (!lacks.empty()) add(lacks);
    if (touched_.empty())
      add("No task has a footprint: all its time is taken for computing, and where the data is makes no "
          "difference.");
    if (left_out_ != 0) add(fmt::format("{} ranges are too long to be true, and are left out.", left_out_));
    const std::int64_t problems = file_.number("SELECT count(*) FROM problem");
    if (problems != 0)
      add(fmt::format("The recording is not complete: {} (and {} more in its table \"problem\").",
                      file_.text("SELECT place || ': ' || text FROM problem"), problems - 1));
  }

  RecordingFile& file_;
  RecordedWorkload out_;
  std::int64_t process_ = 0, processes_ = 0, root_ = kNone;
  double ticks_per_ns_ = 1;
  std::vector<Recorded> tasks_;
  std::vector<char> known_, inlined_, reached_;
  std::map<std::int64_t, RecordedRegion> regions_;
  std::vector<Interval> spans_, waits_;
  std::vector<Child> children_;
  std::vector<Touched> touched_;
  std::vector<std::uint32_t> workload_index_;
  std::vector<std::uint64_t> starts_;  // of the regions of memory
  std::uint64_t ends_ = 0;
  std::int64_t all_time_ = 0, unexplained_time_ = 0;
  std::size_t left_out_ = 0;
};

}  // namespace

RecordedWorkload load_workload(const std::string& path) {
  RecordingFile file;
  RecordedWorkload loaded;
  loaded.error = file.open(path);
  if (!loaded.ok()) return loaded;
  loaded = Conversion(file).run();
  if (!loaded.ok()) loaded.error = path + ": " + loaded.error;
  loaded.workload.name = path;
  return loaded;
}

}  // namespace hearth::cli
