// See run.h.
#include "report/run.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace hearth::report {
namespace {

using replay::RecordingFile;
using replay::Row;

constexpr std::int64_t kMostTasks = std::numeric_limits<std::int32_t>::max() / 2;
constexpr int kFirstWithAllocations = 2, kFirstWithMoves = 3;
constexpr std::int64_t kLongestFootprint = std::int64_t{1} << 46;  // longer ones are none

class Reading {
 public:
  Reading(RecordingFile& file, Run& out) : file_(file), out_(out) {}

  std::string run() {
    facts();
    const std::int64_t count = file_.number("SELECT coalesce(max(id) + 1, 0) FROM task");
    if (count > kMostTasks) return fmt::format("it has {} tasks; legal: up to {}", count, kMostTasks);
    out_.tasks.resize(static_cast<std::size_t>(count));
    threads();
    tasks(count);
    spans(count);
    waits(count);
    loops();
    ready(count);
    footprints(count);
    read_places(file_, count, out_.places);
    if (file_.schema() >= kFirstWithAllocations) allocations();
    out_.uses = read_allocation_uses(file_, out_);
    if (file_.schema() >= kFirstWithMoves) moves();
    return file_.wrong();
  }

 private:
  void facts() {
    out_.schema = file_.schema();
    file_.query("SELECT key, value FROM meta", [&](const Row& row) {
      const std::string key = row.text(0);
      if (key == "command") out_.command = row.text(1);
      if (key == "runtime") out_.runtime = row.text(1);
      if (key == "hearth") out_.hearth = row.text(1);
      if (key == "lacks") out_.lacks = row.text(1);
      if (key == "first_touch") out_.first_touch = row.text(1);
      if (key == "recorded") out_.recorded_ns = row.integer(1);
    });
    file_.query("SELECT place, text FROM problem", [&](const Row& row) {
      const std::string place = row.text(0);
      out_.problems.push_back(place + (place.empty() ? "" : ": ") + row.text(1));
    });
    file_.query("SELECT host, command, runtime, pid, complete, footprints, creations FROM process ORDER BY id",
                [&](const Row& row) {
                  out_.processes.push_back({row.text(0), row.text(1), row.text(2), row.integer(3), row.integer(4) != 0,
                                            row.integer(5) != 0, row.integer(6) != 0});
                });
    std::set<std::int64_t> nodes;
    file_.query("SELECT cpu, node FROM cpu WHERE process = 0", [&](const Row& row) {
      constexpr std::int64_t kMostCpus = 1 << 16;
      const std::int64_t cpu = row.integer(0), node = row.integer(1);
      if (cpu < 0 || cpu >= kMostCpus || node < 0 || node >= kMostCpus) return;
      nodes.insert(node);
      if (out_.node_of_cpu.size() <= static_cast<std::size_t>(cpu))
        out_.node_of_cpu.resize(static_cast<std::size_t>(cpu) + 1, kNone);
      out_.node_of_cpu[static_cast<std::size_t>(cpu)] = static_cast<std::int32_t>(node);
    });
    out_.nodes = static_cast<std::int32_t>(nodes.size());
    out_.regions = file_.number("SELECT count(*) FROM region");
    out_.edges = file_.number("SELECT count(*) FROM edge");
  }

  void threads() {
    file_.query("SELECT id, process, number, type FROM thread ORDER BY id", [&](const Row& row) {
      if (row.integer(0) != static_cast<std::int64_t>(out_.threads.size())) return;  // ids are rows
      out_.threads.push_back({static_cast<std::int32_t>(row.integer(1)), row.integer(2), row.text(3), {}});
    });
  }

  std::int32_t thread(const Row& row, int column) const {
    const std::int64_t id = row.integer_or(column, kNone);
    return id >= 0 && id < static_cast<std::int64_t>(out_.threads.size()) ? static_cast<std::int32_t>(id) : kNone;
  }

  /// By the code's number and the task's kind: constructs that people cannot tell apart are one.
  std::int32_t construct(std::int64_t code, const std::string& kind) {
    const auto [found, fresh] = by_code_.try_emplace({code, kind}, 0);
    if (!fresh) return found->second;
    const auto named = codes_.find(code);
    ConstructName name = named == codes_.end() ? ConstructName{} : named->second;
    if (name.name.empty()) name.name = kind;
    name.kind = kind;
    const auto [place, first] = by_name_.try_emplace({name.name, kind},
                                                     static_cast<std::int32_t>(out_.constructs.size()));
    if (first) out_.constructs.push_back(name);
    return found->second = place->second;
  }

  void tasks(std::int64_t count) {
    file_.query("SELECT id, name, function, file, line, module FROM code", [&](const Row& row) {
      codes_[row.integer(0)] = {row.text(1), "", row.text(2), row.text(3), row.text(5), row.integer(4)};
    });
    file_.query(
        "SELECT id, parent, code, kind, thread, cpu, process, region, created_ns, creation_ns, begin_ns, end_ns, "
        "work_ns, wait_ns, create_ns, cycles, cache_misses, key FROM task",
        [&](const Row& row) {
          const std::int64_t id = row.integer(0);
          if (id < 0 || id >= count) return;
          Task& task = out_.tasks[static_cast<std::size_t>(id)];
          const std::int64_t parent = row.integer_or(1, kNone);
          task.parent = parent < 0 || parent >= count ? kNone : static_cast<std::int32_t>(parent);
          task.construct = construct(row.integer_or(2, kNone), row.text(3));
          task.thread = thread(row, 4);
          task.cpu = static_cast<std::int32_t>(row.integer_or(5, kNone));
          task.process = static_cast<std::int32_t>(row.integer(6));
          task.region = static_cast<std::int32_t>(row.integer_or(7, kNone));
          task.created = row.integer_or(8, -1);
          task.creation = std::max<std::int64_t>(row.integer_or(9, 0), 0);
          task.begin = row.integer_or(10, -1);
          task.end = row.integer_or(11, -1);
          task.work = std::max<std::int64_t>(row.integer(12), 0);
          task.wait = std::max<std::int64_t>(row.integer(13), 0);
          task.create = std::max<std::int64_t>(row.integer(14), 0);
          task.cycles = row.integer_or(15, -1);
          task.cache_misses = row.integer_or(16, -1);
          task.key = row.integer(17);
          out_.counters |= task.cycles >= 0;
        });
  }

  void spans(std::int64_t count) {
    file_.query("SELECT thread, task, cpu, begin_ns, end_ns FROM span", [&](const Row& row) {
      const std::int32_t on = thread(row, 0);
      const std::int64_t task = row.integer(1), begin = row.integer(3), end = row.integer(4);
      if (on == kNone || task < 0 || task >= count || end < begin) return;
      out_.threads[static_cast<std::size_t>(on)].spans.push_back(
          {static_cast<std::int32_t>(task), static_cast<std::int32_t>(row.integer_or(2, kNone)), begin, end});
    });
    for (Thread& thread : out_.threads)
      std::sort(thread.spans.begin(), thread.spans.end(),
                [](const Span& a, const Span& b) { return std::pair(a.begin, a.end) < std::pair(b.begin, b.end); });
  }

  /// The end of a region or a loop has no place of its own in some runtimes: then it is that of the waiting task.
  void waits(std::int64_t count) {
    std::map<std::pair<std::string, std::string>, std::int32_t> places;
    file_.query("SELECT task, thread, kind, code, begin_ns, end_ns, idle_ns FROM wait", [&](const Row& row) {
      Wait wait;
      const std::int64_t task = row.integer_or(0, kNone);
      wait.task = task < 0 || task >= count ? kNone : static_cast<std::int32_t>(task);
      wait.thread = thread(row, 1);
      const std::string kind = row.text(2);
      const auto code = codes_.find(row.integer_or(3, kNone));
      std::string name;
      if (code != codes_.end())
        name = code->second.name;
      else if (wait.task != kNone)
        name = out_.constructs[static_cast<std::size_t>(out_.tasks[static_cast<std::size_t>(wait.task)].construct)]
                   .name;
      if (name == "implicit" || name == "initial") name.clear();  // kinds, of tasks whose place is not known
      const auto [place, fresh] = places.try_emplace({kind, name}, static_cast<std::int32_t>(out_.wait_places.size()));
      if (fresh) out_.wait_places.push_back({kind, name});
      wait.place = place->second;
      wait.begin = row.integer(4);
      wait.end = row.integer(5);
      wait.idle = std::max<std::int64_t>(row.integer(6), 0);
      out_.waits.push_back(wait);
    });
    std::sort(out_.waits.begin(), out_.waits.end(),
              [](const Wait& a, const Wait& b) { return std::pair(a.task, a.begin) < std::pair(b.task, b.begin); });
  }

  /// A loop that the runtime gives no place is at that of its region.
  void loops() {
    file_.query(
        "SELECT l.kind, coalesce(c.name, r.name, ''), l.thread, count(*), sum(l.iterations), sum(l.end_ns - l.begin_ns) "
        "FROM loop l LEFT JOIN code c ON c.id = l.code LEFT JOIN task t ON t.id = l.task LEFT JOIN code r ON r.id = t.code WHERE l.end_ns IS NOT NULL GROUP BY 1, 2, 3 ORDER BY 1, 2, 3",
        [&](const Row& row) {
          out_.loops.push_back(
              {row.text(0), row.text(1), thread(row, 2), row.integer(3), row.integer(4), row.integer(5)});
        });
  }

  void ready(std::int64_t count) {
    out_.ready.assign(out_.tasks.size(), -1);
    for (std::size_t i = 0; i < out_.tasks.size(); ++i)
      if (out_.tasks[i].created >= 0) out_.ready[i] = out_.tasks[i].created;
    if (out_.edges == 0) return;
    file_.query("SELECT task, predecessor FROM edge", [&](const Row& row) {
      const std::int64_t task = row.integer(0), before = row.integer(1);
      if (task < 0 || task >= count || before < 0 || before >= count) return;
      std::int64_t& when = out_.ready[static_cast<std::size_t>(task)];
      when = std::max(when, out_.tasks[static_cast<std::size_t>(before)].end);
    });
  }

  void footprints(std::int64_t count) {
    file_.query("SELECT task, length, rows FROM footprint", [&](const Row& row) {
      const std::int64_t task = row.integer(0), length = row.integer(1), rows = row.integer(2);
      if (task < 0 || task >= count || length <= 0 || rows <= 0 || length > kLongestFootprint / rows) return;
      if (out_.declared.empty()) out_.declared.assign(out_.tasks.size(), 0);
      out_.declared[static_cast<std::size_t>(task)] += length * rows;
    });
  }

  void allocations() {
    const char* const sql = out_.places.told
                                ? "SELECT id, length, allocated_ns, thread, code, distribution FROM allocation ORDER BY id"
                                : "SELECT id, length, allocated_ns, thread, code, NULL FROM allocation ORDER BY id";
    file_.query(sql, [&](const Row& row) {
      const auto code = codes_.find(row.integer_or(4, kNone));
      const ConstructName name = code == codes_.end() ? ConstructName{} : code->second;
      const bool own = name.module.substr(name.module.rfind('/') + 1).starts_with("libhearth");
      out_.allocations.push_back({row.integer(0), row.integer(1), row.integer(2), thread(row, 3), name.name, own, row.text(5)});
    });
  }

  void moves() {
    file_.query("SELECT moved_ns, count, location, thread, what, why FROM move ORDER BY moved_ns", [&](const Row& row) {
      out_.moves.push_back(
          {row.integer(0), row.integer(1), row.integer_or(2, -1), thread(row, 3), row.text(4), row.text(5)});
    });
  }

  RecordingFile& file_;
  Run& out_;
  std::map<std::int64_t, ConstructName> codes_;
  std::map<std::pair<std::int64_t, std::string>, std::int32_t> by_code_;
  std::map<std::pair<std::string, std::string>, std::int32_t> by_name_;
};

}  // namespace

std::string read_run(const std::string& path, Run& out) {
  RecordingFile file;
  std::string wrong = file.open(path);
  if (!wrong.empty()) return wrong;
  out.file = path;
  wrong = Reading(file, out).run();
  if (!wrong.empty()) return wrong;
  return {};
}

}  // namespace hearth::report
