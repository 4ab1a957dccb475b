// How a recording becomes a workload:
//
// A task's body is the work between its events, in their order: tasks made, waits. Its work is the time that
// its thread ran it and neither waited nor made tasks. The initial task is the program. A region's implicit
// task is part of the body that met the region if it is the only one with tasks or much work, which is what a
// `single` leaves; else all of them are tasks, for which the region's end waits. Footprints are accesses of
// the longest piece of work; the part of its time that streaming these bytes would take is left to the
// simulator, the rest is computing. memory.h has which memory they touch.
#include "replay/recording_workload.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "replay/memory.h"
#include "replay/recorded.h"
#include "replay/recording_file.h"

namespace hearth::replay {
namespace {

using sim::Step;

/// What streaming costs a core of a machine of these years; the recording does not tell.
constexpr double kBytesPerNs = 8;
/// Implicit tasks with less of the region's work have none.
constexpr double kMuch = 0.05;
/// Regions within regions.
constexpr int kDeepest = 100;
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
    out_.error = read_recorded(file_, r_);
    out_.workload.kinds = r_.names;
    if (out_.ok() && find_root()) {
      out_.workload.regions = find_memory(r_);
      find_children();
      build();
      add_predecessors();
    }
    if (out_.error.empty() && !file_.wrong().empty()) out_.error = file_.wrong();
    if (out_.error.empty()) out_.error = out_.workload.inconsistency();
    out_.knows_allocations = r_.knows_allocations;
    out_.guessed = std::count_if(r_.touched.begin(), r_.touched.end(), [](const Touched& t) { return t.guessed; }) != 0;
    remark();
    return std::move(out_);
  }

 private:
  bool known(std::int64_t id) const { return r_.known(id); }
  RecordedTask& at(std::int64_t id) { return r_.at(id); }

  bool find_root() {
    for (std::size_t i = 0; i < r_.tasks.size() && root_ == kNone; ++i)
      if (known(static_cast<std::int64_t>(i)) && r_.tasks[i].kind == RecordedTask::Kind::initial)
        root_ = static_cast<std::int64_t>(i);
    if (root_ == kNone) out_.error = "it has no initial task";
    return root_ != kNone;
  }

  static sim::Access access_of(const Touched& one) {
    sim::Access access;
    access.region = static_cast<sim::RegionIndex>(one.memory);
    access.offset = one.offset;
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
    for (std::size_t i = 0; i < r_.tasks.size(); ++i)
      if (known(static_cast<std::int64_t>(i)) && r_.tasks[i].kind == RecordedTask::Kind::implicit)
        teams[r_.tasks[i].region].push_back(static_cast<std::int64_t>(i));
    std::vector<char> makes(r_.tasks.size(), 0);
    for (std::size_t i = 0; i < r_.tasks.size(); ++i)
      if (known(static_cast<std::int64_t>(i)) && known(r_.tasks[i].parent) && r_.tasks[i].kind == RecordedTask::Kind::task)
        makes[static_cast<std::size_t>(r_.tasks[i].parent)] = 1;
    for (const auto& [region, it] : r_.regions)
      if (known(it.parent)) makes[static_cast<std::size_t>(it.parent)] = 1;
    inlined_.assign(r_.tasks.size(), 0);
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
        const auto found = r_.regions.find(region);
        const std::int64_t parent = found == r_.regions.end() ? kNone : found->second.parent;
        // Idle members of a team with one producer are the simulator's own workers.
        if ((busy == 1 || one_producer) && member != only) continue;
        add_child(parent, member, found == r_.regions.end() ? at(member).begin : found->second.begin);
      }
    }
    for (std::size_t i = 0; i < r_.tasks.size(); ++i) {
      const auto id = static_cast<std::int64_t>(i);
      if (!known(id) || id == root_ || r_.tasks[i].kind == RecordedTask::Kind::implicit) continue;
      add_child(r_.tasks[i].parent, id, r_.tasks[i].created);
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
    workload_index_.assign(r_.tasks.size(), 0);
    reached_.assign(r_.tasks.size(), 0);
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
      const RecordedTask& it = at(child.id);
      if (it.kind == RecordedTask::Kind::wait) {
        events.push_back({child.when, Event::What::wait_own, child.id});
      } else if (it.kind == RecordedTask::Kind::implicit && inlined_[static_cast<std::size_t>(child.id)] != 0 &&
                 depth < kDeepest) {
        events.push_back({child.when, Event::What::part, child.id});
      } else {
        events.push_back({child.when, Event::What::make, child.id});
        if (it.kind == RecordedTask::Kind::implicit) {
          const auto region = r_.regions.find(it.region);
          const std::int64_t end = region == r_.regions.end() ? it.end : region->second.end;
          events.push_back({end, Event::What::wait_all, child.id});
        }
      }
    }
    const auto [first_wait, last_wait] = of(r_.waits, task);
    for (std::size_t i = first_wait; i < last_wait; ++i)
      events.push_back(
          {r_.waits[i].begin, r_.waits[i].all ? Event::What::wait_all : Event::What::wait_own, kNone});
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
    out_.workload.works.push_back({static_cast<std::uint64_t>(static_cast<double>(ns) * r_.ticks_per_ns),
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
      const auto [first_span, last_span] = of(all.r_.spans, task);
      for (std::size_t i = first_span; i < last_span; ++i) add(all.r_.spans[i].begin, all.r_.spans[i].end, kHere);
      const auto [first_wait, last_wait] = of(all.r_.waits, task);
      for (std::size_t i = first_wait; i < last_wait; ++i)
        add(all.r_.waits[i].begin, all.r_.waits[i].end, kBusyOtherwise);
      for (std::size_t i = first_child; i < last_child; ++i) {
        const RecordedTask& child = all.at(all.children_[i].id);
        if (child.kind == RecordedTask::Kind::task)
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
    const auto first = std::lower_bound(r_.touched.begin(), r_.touched.end(), task,
                                        [](const Touched& t, std::int64_t id) { return t.task < id; });
    const auto last = std::find_if(first, r_.touched.end(), [&](const Touched& t) { return t.task != task; });
    if (at(task).kind != RecordedTask::Kind::initial) {
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
    const auto memory = static_cast<std::uint64_t>(bytes / kBytesPerNs * r_.ticks_per_ns);
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
    if (r_.processes > 1)
      add(fmt::format("Of {} recorded processes the one with the most work is simulated.", r_.processes));
    const std::string lacks = file_.text("SELECT value FROM meta WHERE key = 'lacks'");
    if (!lacks.empty()) add(lacks);
    if (r_.touched.empty())
      add("No task has a footprint: all its time is taken for computing, and where the data is makes no "
          "difference.");
    if (r_.left_out != 0)
      add(fmt::format("{} ranges are longer, or have more rows, than any program's data; they are left out.", r_.left_out));
    if (out_.guessed)
      add(out_.knows_allocations
              ? "gcc passes no lengths of data: they are guesses, cut where the allocation ends."
              : "gcc passes no lengths of data: they are guesses. This recording does not say what was allocated, so "
                "guesses may join what is apart; record it anew.");
    const std::int64_t problems = file_.number("SELECT count(*) FROM problem");
    if (problems != 0)
      add(fmt::format("The recording is not complete: {} (and {} more in its table \"problem\").",
                      file_.text("SELECT place || ': ' || text FROM problem"), problems - 1));
  }

  RecordingFile& file_;
  Recorded r_;
  RecordedWorkload out_;
  std::int64_t root_ = kNone;
  std::vector<char> inlined_, reached_;  // by task
  std::vector<Child> children_;
  std::vector<std::uint32_t> workload_index_;  // by task
  std::int64_t all_time_ = 0, unexplained_time_ = 0;
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

}  // namespace hearth::replay
