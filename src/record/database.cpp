#include "record/database.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <optional>

#include <sqlite3.h>

#include "record/cpu_lists.h"
#include "record/schema.h"

namespace hearth::record {
namespace {

constexpr std::uint32_t kUndeferred = 0x08000000, kUntied = 0x10000000, kFinal = 0x20000000;
constexpr std::uint32_t kLeague = 1;

const char* name_in(std::initializer_list<const char*> names, std::size_t first, std::size_t value) {
  return value >= first && value - first < names.size() ? names.begin()[value - first] : "unknown";
}

const char* thread_type(std::uint32_t type) { return name_in({"initial", "worker", "other"}, 1, type); }
const char* task_kind(Task::Kind kind) {
  return name_in({"initial", "implicit", "explicit", "target", "taskwait"}, 0,
                 static_cast<std::size_t>(kind));
}
const char* outcome(std::uint32_t status) {
  return name_in(
      {"complete", "yield", "cancelled", "detached", "early-fulfilled", "complete", "switch", "complete"}, 1,
      status);
}
const char* wait_kind(const Wait& wait) {
  if (wait.on == Wait::On::lock)
    return name_in({"lock", "test-lock", "nest-lock", "test-nest-lock", "critical", "atomic", "ordered"}, 1,
                   wait.kind);
  return name_in({"barrier", "implicit-barrier", "barrier", "runtime-barrier", "taskwait", "taskgroup",
                  "reduction", "loop-end", "region-end", "league-end"},
                 1, wait.kind);
}
const char* work_kind(std::uint32_t kind) {
  return name_in({"loop", "sections", "single", "single-other", "workshare", "distribute", "taskloop",
                  "scope", "unknown", "static", "dynamic", "guided", "loop"},
                 1, kind);
}
const char* dependence_kind(std::uint32_t type) {
  switch (type) {
    case 1: return "in";
    case 2: return "out";
    case 3: return "inout";
    case 4: return "mutexinoutset";
    case 7: return "inoutset";
    case 34: return "out-all-memory";
    case 35: return "inout-all-memory";
    default: return "unknown";
  }
}

/// One statement, run for each row.
class Insert {
 public:
  Insert(sqlite3* database, const char* table, int columns) : database_(database) {
    std::string sql = std::string("INSERT INTO ") + table + " VALUES(?";
    for (int i = 1; i < columns; ++i) sql += ",?";
    sql += ")";
    good_ = sqlite3_prepare_v2(database, sql.c_str(), -1, &statement_, nullptr) == SQLITE_OK;
  }
  ~Insert() { sqlite3_finalize(statement_); }
  Insert(const Insert&) = delete;
  Insert& operator=(const Insert&) = delete;

  template <class... Values>
  bool row(const Values&... values) {
    if (!good_) return false;
    int column = 0;
    (bind(++column, values), ...);
    good_ = sqlite3_step(statement_) == SQLITE_DONE;
    sqlite3_reset(statement_);
    return good_;
  }

 private:
  void bind(int column, const char* text) { sqlite3_bind_text(statement_, column, text, -1, SQLITE_STATIC); }
  void bind(int column, const std::string& text) {
    sqlite3_bind_text(statement_, column, text.data(), static_cast<int>(text.size()), SQLITE_STATIC);
  }
  void bind(int column, double value) { sqlite3_bind_double(statement_, column, value); }
  void bind(int column, std::int64_t value) { sqlite3_bind_int64(statement_, column, value); }
  template <class T>
  void bind(int column, const std::optional<T>& value) {
    if (value)
      bind(column, *value);
    else
      sqlite3_bind_null(statement_, column);
  }
  template <class T>
    requires std::is_integral_v<T>
  void bind(int column, T value) {
    bind(column, static_cast<std::int64_t>(value));
  }

  sqlite3* database_;
  sqlite3_stmt* statement_ = nullptr;
  bool good_;
};

using Number = std::optional<std::int64_t>;
Number index(Index i) { return i == kNone ? Number() : Number(i); }
Number time(Nanoseconds t) { return t == kNever ? Number() : Number(t); }
Number anchor(Index i) {
  if (i == kNone) return {};
  return (i & kRegionBit) != 0 ? -1 - std::int64_t{i & ~kRegionBit} : std::int64_t{i};
}
Number cpu(std::uint32_t number) {
  return number == UINT32_MAX || number == kNoCpu ? Number() : Number(number);
}
Number place(std::int32_t location) { return location < 0 ? Number() : Number(location); }
std::optional<std::string> text(const std::string& s) {
  return s.empty() ? std::optional<std::string>() : std::optional<std::string>(s);
}

/// How a construct is called in the views.
std::string name_of(const Code& code, const CodeName& name) {
  if (!name.file.empty()) {
    const std::size_t slash = name.file.rfind('/');
    return name.file.substr(slash == std::string::npos ? 0 : slash + 1) + ":" + std::to_string(name.line);
  }
  if (!name.function.empty()) return name.function;
  const std::string module =
      code.module.substr(code.module.rfind('/') == std::string::npos ? 0 : code.module.rfind('/') + 1);
  char offset[32];
  std::snprintf(offset, sizeof offset, "%#llx",
                static_cast<unsigned long long>(module.empty() ? code.address : code.offset));
  return module.empty() ? offset : module + "+" + offset;
}

class Writing {
 public:
  Writing(const Recording& recording, sqlite3* database, const ProgressOf& progress)
      : r_(recording), database_(database), progress_(progress) {
    all_ = r_.tasks.size() + r_.spans.size() + r_.waits.size() + r_.dependences.size() + r_.ranges.size() +
           r_.edges.size() + r_.chunks.size() + r_.task_bytes.size() + r_.decisions.size();
  }

  bool run(const std::vector<CodeName>& names, const std::vector<std::pair<std::string, std::string>>& meta) {
    return execute(
               "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA application_id=1213351235; BEGIN") &&
           execute(kSchema) && small(names, meta) && tasks() && others() &&
           execute(
               "CREATE INDEX task_key ON task(key); CREATE INDEX task_parent ON task(parent);"
               "CREATE INDEX span_task ON span(task); CREATE INDEX span_thread ON span(thread, begin_ns);"
               "CREATE INDEX wait_task ON wait(task); CREATE INDEX dependence_task ON dependence(task);"
               "CREATE INDEX footprint_task ON footprint(task); CREATE INDEX edge_task ON edge(task); "
               "CREATE INDEX task_bytes_task ON task_bytes(task); CREATE INDEX decision_task ON decision(task);"
               "CREATE INDEX home_allocation ON home(allocation); CREATE INDEX touch_allocation ON first_touch(allocation); "
               "COMMIT");
  }

 private:
  bool execute(const char* sql) {
    // An index of millions of rows takes seconds; exceptions must not pass through sqlite.
    constexpr int kSteps = 100'000;  // of sqlite's machine: some milliseconds
    sqlite3_progress_handler(
        database_, kSteps,
        [](void* self) {
          auto* const writing = static_cast<Writing*>(self);
          try {
            writing->progress_(std::min(writing->done_, writing->all_), writing->all_);
          } catch (const Interrupted&) {
            writing->interrupted_ = true;
          }
          return writing->interrupted_ ? 1 : 0;
        },
        this);
    const bool good = sqlite3_exec(database_, sql, nullptr, nullptr, nullptr) == SQLITE_OK;
    sqlite3_progress_handler(database_, 0, nullptr, nullptr);
    if (interrupted_) throw Interrupted();
    return good;
  }

  template <class List, class Row>
  bool each(const char* table, int columns, const List& list, Row row) {
    Insert insert(database_, table, columns);
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (!row(insert, list[i], i)) return false;
      if (++done_ % 16384 == 0) progress_(std::min(done_, all_), all_);
    }
    return true;
  }

  bool small(const std::vector<CodeName>& names,
             const std::vector<std::pair<std::string, std::string>>& meta) {
    return each("meta", 2, meta,
                [](Insert& to, const auto& m, std::size_t) { return to.row(m.first, m.second); }) &&
           each("problem", 2, r_.problems,
                [](Insert& to, const Problem& p, std::size_t) { return to.row(p.where, p.what); }) &&
           each("process", 10, r_.processes,
                [](Insert& to, const Process& p, std::size_t i) {
                  return to.row(i, p.text.pid, p.text.parent_pid, p.text.runtime, p.text.host, p.text.command,
                                p.text.ended, p.footprints, p.creations, p.forks);
                }) &&
           cpus() && machines() &&
           each("thread", 8, r_.threads,
                [](Insert& to, const Thread& t, std::size_t i) {
                  return to.row(i, t.process, t.number, t.kernel_id, thread_type(t.type), time(t.begin),
                                time(t.end), t.ended);
                }) &&
           each("code", 8, r_.codes,
                [&](Insert& to, const Code& c, std::size_t i) {
                  const CodeName& n = names[i];
                  return to.row(i, c.process, text(c.module), c.offset, text(n.function), text(n.file),
                                n.line == 0 ? Number() : Number(n.line), name_of(c, n));
                }) &&
           each("region", 12, r_.regions, [](Insert& to, const Region& g, std::size_t i) {
             return to.row(i, g.key, g.process, index(g.parent), anchor(g.anchor), step_name(g),
                           index(g.code), g.requested, g.team, (g.flags & kLeague) != 0, time(g.begin),
                           time(g.end));
           });
  }

  bool cpus() {
    Insert insert(database_, "cpu", 3);
    for (std::size_t process = 0; process < r_.processes.size(); ++process)
      for (const auto& [node, list] : r_.processes[process].text.nodes) {
        for_each_cpu(list, [&, node = node](unsigned cpu) { insert.row(process, cpu, node); });  // said twice: the first counts
      }
    return true;
  }

  // 10 at home, by the firmware's rule; the unit is that of the source.
  bool machines() {
    Insert machine(database_, "machine", 7);
    Insert location(database_, "location", 6);
    Insert distance(database_, "distance", 6);
    bool good = true;
    for (std::size_t process = 0; process < r_.processes.size() && good; ++process) {
      const MachineText& all = r_.processes[process].text.machine;
      good = machine.row(process, text(all.name), text(all.source), all.pretended, text(all.policy), text(all.kind),
                         text(all.distances));
      for (std::size_t i = 0; i < all.locations.size() && good; ++i) {
        const LocationText& one = all.locations[i];
        good = location.row(process, i, one.node, text(one.cpus), one.holds_memory,
                            one.bytes == 0 ? Number() : Number(static_cast<std::int64_t>(one.bytes)));
        for (std::size_t to = 0; to < one.distances.size() && to < all.locations.size() && good; ++to) {
          const bool timed = to < one.latencies.size() && one.latencies[to] != 0;
          good = distance.row(process, i, to, one.distances[to],
                              timed ? std::optional<double>(one.latencies[to] / 10.0) : std::optional<double>(),
                              text(all.distances));
        }
      }
    }
    return good;
  }

  bool tasks() {
    return each("task", 27, r_.tasks, [](Insert& to, const Task& t, std::size_t i) {
      const auto counter = [&](int which) { return t.counted ? Number(t.counters[which]) : Number(); };
      const bool flags = t.kind != Task::Kind::initial && t.kind != Task::Kind::implicit;
      return to.row(
          i, t.key, t.process, index(t.parent), index(t.region), anchor(t.anchor), step_name(t),
          task_kind(t.kind), index(t.code), flags && (t.flags & kUntied) != 0,
          flags && (t.flags & kUndeferred) != 0, flags && (t.flags & kFinal) != 0,
          t.status == 0 ? std::optional<std::string>() : std::optional<std::string>(outcome(t.status)),
          index(t.creator), time(t.created), time(t.creation), index(t.thread), cpu(t.cpu), time(t.begin),
          time(t.end), t.work, t.waited, t.creating, counter(0), counter(1), counter(2),
          place(t.location));
    });
  }

  bool others() {
    std::size_t nth = 0;
    Index last = kNone;
    const auto count = [&](Index task) {
      nth = task == last ? nth + 1 : 0;
      last = task;
      return nth;
    };
    return each("span", 6, r_.spans,
                [](Insert& to, const Span& s, std::size_t) {
                  return to.row(s.task, s.thread, cpu(s.cpu), s.begin, s.end, place(s.location));
                }) &&
           each("wait", 7, r_.waits,
                [](Insert& to, const Wait& w, std::size_t) {
                  return to.row(index(w.task), w.thread, wait_kind(w), index(w.code), w.begin, w.end, w.idle);
                }) &&
           each("loop", 9, r_.loops,
                [](Insert& to, const Loop& l, std::size_t i) {
                  return to.row(i, l.task, l.thread, work_kind(l.kind), l.construct, index(l.code),
                                l.iterations, l.begin, time(l.end));
                }) &&
           each("chunk", 7, r_.chunks,
                [](Insert& to, const Chunk& c, std::size_t) {
                  return to.row(index(c.loop), c.task, c.thread, c.first, c.iterations, c.begin, time(c.end));
                }) &&
           each("dependence", 4, r_.dependences,
                [&](Insert& to, const Dependence& d, std::size_t) {
                  return to.row(d.task, count(d.task), d.address, dependence_kind(d.type));
                }) &&
           (last = kNone, true) &&
           each("footprint", 10, r_.ranges,
                [&](Insert& to, const Range& f, std::size_t) {
                  return to.row(f.task, count(f.task), f.begin, f.length, f.rows, f.pitch,
                                name_in({"none", "read", "write", "read-write"}, 0, f.bits & 3),
                                (f.bits & kRangeInferred) != 0, (f.bits & kRangeStated) != 0,
                                (f.bits & kRangeDecides) != 0);
                }) &&
           each("edge", 2, r_.edges,
                [](Insert& to, const Edge& e, std::size_t) { return to.row(e.task, e.predecessor); }) &&
           memory() &&
           each("move", 8, r_.moves, [](Insert& to, const Move& m, std::size_t) {
             return to.row(m.process, m.thread, m.when, name_in({"threads", "pages"}, 1, m.what),
                           name_in({"call", "hint", "balance", "touch", "trap"}, 1, m.why), m.count, m.location, m.address);
           });
  }

  bool memory() {
    const auto word = [this](Index process, std::size_t number, const std::vector<std::string> ProcessText::*words) {
      const auto& all = r_.processes[process].text.*words;
      return number < all.size() ? text(all[number]) : std::optional<std::string>();
    };
    return each("allocation", 10, r_.allocations,
                [&](Insert& to, const Allocation& a, std::size_t i) {
                  return to.row(i, a.process, index(a.thread), a.address, a.bytes, index(a.code), time(a.when), time(a.freed),
                                name_in({"malloc", "hearth"}, 0, a.source),
                                a.distribution < 0 ? std::optional<std::string>()
                                                   : word(a.process, static_cast<std::size_t>(a.distribution),
                                                          &ProcessText::distributions));
                }) &&
           each("home", 4, r_.homes,
                [](Insert& to, const Home& h, std::size_t) {
                  return to.row(h.allocation, h.location, h.bytes, time(h.when));
                }) &&
           each("first_touch", 6, r_.touches,
                [](Insert& to, const Touch& t, std::size_t) {
                  return to.row(t.allocation, index(t.task), index(t.thread), place(t.location), t.faults, time(t.when));
                }) &&
           each("task_bytes", 5, r_.task_bytes,
                [](Insert& to, const TaskBytes& b, std::size_t) {
                  return to.row(b.task, b.memory, b.read, b.written, b.decided ? "policy" : "end");
                }) &&
           each("decision", 8, r_.decisions, [&](Insert& to, const Decision& d, std::size_t) {
             return to.row(d.task, d.thread, time(d.when), d.released, d.stated, place(d.location), place(d.chosen),
                           word(r_.tasks[d.task].process, d.why, &ProcessText::whys));
           });
  }

  const Recording& r_;
  sqlite3* database_;
  const ProgressOf& progress_;
  std::uint64_t done_ = 0, all_ = 0;
  bool interrupted_ = false;
};

/// A database beside where it is to be; gone with this object unless it was put in its place.
class NewFile {
 public:
  explicit NewFile(const std::string& path) : path_(path), beside_(path + ".part") {
    std::remove(beside_.c_str());
    result_ = sqlite3_open_v2(beside_.c_str(), &database_, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
  }
  ~NewFile() {
    sqlite3_close(database_);
    std::remove(beside_.c_str());
  }
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  bool is_open() const { return result_ == SQLITE_OK; }
  sqlite3* database() const { return database_; }
  /// Empty, or why not.
  std::string put_in_place() {
    sqlite3_close(database_);
    database_ = nullptr;
    return std::rename(beside_.c_str(), path_.c_str()) == 0 ? "" : std::strerror(errno);
  }

 private:
  std::string path_, beside_;
  sqlite3* database_ = nullptr;
  int result_ = SQLITE_ERROR;
};

}  // namespace

std::string write_database(const Recording& recording, const std::vector<CodeName>& names,
                           const std::vector<std::pair<std::string, std::string>>& meta, const std::string& path,
                           const ProgressOf& progress) {
  NewFile file(path);
  std::string wrong;
  if (!file.is_open() || !Writing(recording, file.database(), progress).run(names, meta))
    wrong = sqlite3_errmsg(file.database());
  return wrong.empty() ? file.put_in_place() : wrong;
}

}  // namespace hearth::record
