// See recorded.h.
#include "replay/recorded.h"

#include <algorithm>
#include <cstdlib>
#include <limits>

#include <fmt/format.h>

#include "sim/workload/workload.h"

namespace hearth::replay {
namespace {

/// Longer ranges are no footprints, and neither are those of more rows: a simulation walks through each.
constexpr std::uint64_t kLongest = std::uint64_t{1} << 40;
constexpr std::uint64_t kMostRows = std::uint64_t{1} << 24;
/// Rows with smaller gaps move the same lines as one piece without gaps.
constexpr std::uint64_t kCacheLine = 64;

constexpr std::int64_t kForever = std::numeric_limits<std::int64_t>::max();

class Reading {
 public:
  Reading(RecordingFile& file, Recorded& out) : file_(file), out_(out) {}

  std::string run() {
    choose_process();
    const std::int64_t count = file_.number("SELECT coalesce(max(id) + 1, 0) FROM task");
    if (count <= 0 || count > std::int64_t{sim::kMaxIndex} / 2)
      return fmt::format("it has {} tasks; legal: 1 to {}", count, sim::kMaxIndex / 2);
    out_.tasks.resize(static_cast<std::size_t>(count));
    out_.is_known.assign(out_.tasks.size(), 0);
    tasks(count);
    regions(count);
    intervals();
    footprints();
    if (file_.schema() >= 2) allocations();
    return file_.wrong();
  }

 private:
  void choose_process() {
    file_.query("SELECT process, sum(work_ns) AS w FROM task GROUP BY process ORDER BY w DESC, process LIMIT 1",
                [&](const Row& row) { out_.process = row.integer(0); });
    out_.processes = file_.number("SELECT count(*) FROM process");
    file_.query("SELECT value FROM meta WHERE key = 'ticks_per_ns'", [&](const Row& row) {
      const double value = std::atof(row.text(0).c_str());
      if (value > 0.01 && value < 100) out_.ticks_per_ns = value;
    });
  }

  void tasks(std::int64_t count) {
    std::map<std::string, std::uint32_t> names;
    const std::string sql = fmt::format(
        "SELECT t.id, t.parent, t.region, t.created_ns, t.creation_ns, t.begin_ns, t.work_ns, t.kind, t.undeferred, "
        "coalesce(c.name, t.kind), t.end_ns FROM task t LEFT JOIN code c ON c.id = t.code WHERE t.process = {}",
        out_.process);
    file_.query(sql.c_str(), [&](const Row& row) {
      const std::int64_t id = row.integer(0);
      if (id < 0 || id >= count) return;
      using Kind = RecordedTask::Kind;
      RecordedTask& task = out_.at(id);
      out_.is_known[static_cast<std::size_t>(id)] = 1;
      task.parent = row.integer_or(1, kNone);
      if (task.parent < 0 || task.parent >= count) task.parent = kNone;
      task.region = row.integer_or(2, kNone);
      task.begin = row.integer_or(5, row.integer_or(3, 0));
      task.created = row.integer_or(3, task.begin);
      task.creation = std::max<std::int64_t>(row.integer_or(4, 0), 0);
      task.work = std::max<std::int64_t>(row.integer(6), 0);
      task.end = row.integer_or(10, kForever);
      const std::string kind = row.text(7);
      task.kind = kind == "initial"    ? Kind::initial
                  : kind == "implicit" ? Kind::implicit
                  : kind == "taskwait" ? Kind::wait
                                       : Kind::task;
      task.undeferred = row.integer(8) != 0;
      const auto [name, fresh] = names.try_emplace(row.text(9), static_cast<std::uint32_t>(out_.names.size()));
      if (fresh) out_.names.push_back(name->first);
      task.name = name->second;
    });
  }

  void regions(std::int64_t count) {
    const std::string sql =
        fmt::format("SELECT id, parent, begin_ns, end_ns FROM region WHERE process = {}", out_.process);
    file_.query(sql.c_str(), [&](const Row& row) {
      const std::int64_t parent = row.integer_or(1, kNone);
      out_.regions[row.integer(0)] = {parent < 0 || parent >= count ? kNone : parent, row.integer_or(2, 0),
                                      row.integer_or(3, kForever)};
    });
  }

  void intervals() {
    file_.query("SELECT task, begin_ns, end_ns FROM span ORDER BY task, begin_ns", [&](const Row& row) {
      if (out_.known(row.integer(0)))
        out_.spans.push_back({row.integer(0), row.integer(1), row.integer(2), false});
    });
    file_.query("SELECT task, begin_ns, end_ns, kind FROM wait WHERE task IS NOT NULL ORDER BY task, begin_ns",
                [&](const Row& row) {
                  const std::string kind = row.text(3);
                  const bool lock = kind.find("lock") != std::string::npos || kind == "critical" ||
                                    kind == "atomic" || kind == "ordered" || kind == "reduction";
                  if (out_.known(row.integer(0)) && !lock)
                    out_.waits.push_back({row.integer(0), row.integer(1), row.integer(2), kind != "taskwait"});
                });
  }

  void footprints() {
    file_.query(
        "SELECT task, address, length, rows, pitch, access, decides, stated, inferred FROM footprint "
        "ORDER BY task, nth",
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
          touched.guessed = row.integer(8) != 0;
          if (!out_.known(touched.task) || touched.length == 0 || (!touched.read && !touched.written)) return;
          if (make_credible(touched))
            out_.touched.push_back(touched);
          else
            ++out_.left_out;
        });
  }

  /// Rows that lie close become one. False: nothing like it is in any program.
  static bool make_credible(Touched& touched) {
    std::uint64_t reach = 0;
    if (__builtin_mul_overflow(touched.rows - 1, touched.pitch, &reach) ||
        __builtin_add_overflow(reach, touched.length, &reach) || reach > kLongest ||
        touched.begin > UINT64_MAX - reach)
      return false;
    if (touched.rows > 1 && touched.pitch < touched.length + kCacheLine) {
      touched.rows = 1;
      touched.pitch = 0;
      touched.length = reach;
    }
    return touched.rows <= kMostRows;
  }

  void allocations() {
    out_.knows_allocations = true;
    const std::string sql = fmt::format(
        "SELECT a.address, a.length, a.allocated_ns, coalesce(c.name, 'malloc'), {} FROM allocation a "
        "LEFT JOIN code c ON c.id = a.code WHERE a.process = {} ORDER BY a.allocated_ns, a.id",
        file_.schema() >= RecordingFile::kFirstWithPlaces ? "a.source IS 'hearth'" : "0", out_.process);
    file_.query(sql.c_str(), [&](const Row& row) {
      Allocation one;
      one.begin = static_cast<std::uint64_t>(row.integer(0));
      one.bytes = static_cast<std::uint64_t>(row.integer(1));
      one.when = row.integer(2);
      one.site = row.text(3);
      one.of_hearth = row.integer(4) != 0;
      if (one.bytes != 0 && one.bytes <= kLongest && one.begin <= UINT64_MAX - one.bytes)
        out_.allocations.push_back(std::move(one));
    });
  }

  RecordingFile& file_;
  Recorded& out_;
};

}  // namespace

std::string read_recorded(RecordingFile& file, Recorded& out) { return Reading(file, out).run(); }

}  // namespace hearth::replay
