// `hearth export`: a recording for other programs to show: Chrome's trace JSON, which Perfetto opens, and
// Paraver's .prv with its .pcf and .row.
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <map>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "cli/json.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/record.h"
#include "replay/recording_file.h"

namespace hearth::cli {
namespace {

using replay::RecordingFile;
using replay::Row;

/// A text file that is complete or not there.
class Output {
 public:
  explicit Output(std::string path) : path_(std::move(path)), file_(std::fopen(path_.c_str(), "w")) {
    if (file_ == nullptr) error_ = errno;
  }
  ~Output() {
    if (file_ != nullptr) std::fclose(file_);
    if (error_ != 0) std::remove(path_.c_str());
  }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  template <typename... Args>
  void print(fmt::format_string<Args...> format, Args&&... args) {
    print_formatted(format, fmt::make_format_args(args...));
  }
  /// False, and said, when something could not be written.
  bool close() {
    if (file_ != nullptr && std::fclose(file_) != 0 && error_ == 0) error_ = errno;
    file_ = nullptr;
    if (error_ == 0) return true;
    say("{}: cannot be written: {}", path_, std::strerror(error_));
    std::remove(path_.c_str());
    return false;
  }

 private:
  void print_formatted(fmt::string_view format, fmt::format_args arguments) {
    if (error_ != 0) return;
    buffer_.clear();
    fmt::vformat_to(std::back_inserter(buffer_), format, arguments);
    if (std::fwrite(buffer_.data(), 1, buffer_.size(), file_) != buffer_.size()) error_ = errno;
  }

  std::string path_;
  std::FILE* file_;
  int error_ = 0;
  fmt::memory_buffer buffer_;
};

struct ThreadRow {
  std::int64_t id = 0, process = 0, number = 0;
  std::string type;
};

/// A piece of a thread's time.
struct Piece {
  std::int64_t begin = 0, end = 0, thread = 0, cpu = -1, task = -1, construct = 0;
  enum class What { work, wait } what = What::work;
};

/// Threads or pages that were moved to each other at a moment.
struct MoveRow {
  std::int64_t when = 0, thread = 0, count = 0, location = -1;
  std::string what;      // "threads" or "pages"
  std::size_t cause = 0;
};

/// What both exports show.
struct Timeline {
  std::vector<ThreadRow> threads;                               // their ids are their indices
  std::vector<std::pair<std::int64_t, std::string>> processes;  // pid, command
  std::vector<std::string> constructs;                          // of Piece::construct
  std::vector<std::string> waits;                               // names of kinds
  std::vector<Piece> pieces;                                    // by begin
  std::vector<std::string> causes;                              // of MoveRow::cause
  std::vector<MoveRow> moves;                                   // by time
  std::int64_t end = 0;
};

struct WaitRow {
  std::int64_t task, thread, begin, end;
  std::size_t kind;
};

// After the threads.
bool load_moves(RecordingFile& file, Timeline& out) {
  constexpr int kFirstWithMoves = 3;
  if (file.schema() < kFirstWithMoves) return true;
  std::map<std::string, std::size_t> causes;
  const auto threads = static_cast<std::int64_t>(out.threads.size());
  return file.query("SELECT moved_ns, thread, count, location, what, why FROM move ORDER BY moved_ns", [&](const Row& row) {
    const auto [cause, fresh] = causes.try_emplace(row.text(5), out.causes.size());
    if (fresh) out.causes.push_back(cause->first);
    MoveRow move{row.integer(0), row.integer_or(1, -1), row.integer(2), row.integer_or(3, -1), row.text(4), cause->second};
    if (move.thread < 0 || move.thread >= threads || move.when < 0) return;
    out.end = std::max(out.end, move.when);
    out.moves.push_back(std::move(move));
  });
}

bool load(RecordingFile& file, Timeline& out, Progress& progress) {
  file.query("SELECT pid, command FROM process ORDER BY id",
             [&](const Row& row) { out.processes.emplace_back(row.integer(0), row.text(1)); });
  file.query("SELECT id, process, number, type FROM thread ORDER BY id", [&](const Row& row) {
    out.threads.push_back({row.integer(0), row.integer(1), row.integer(2), row.text(3)});
  });
  std::map<std::string, std::int64_t> constructs;
  const auto number_of = [&](const std::string& name) {
    const auto [found, fresh] =
        constructs.try_emplace(name, static_cast<std::int64_t>(out.constructs.size()));
    if (fresh) out.constructs.push_back(name);
    return found->second;
  };
  std::vector<WaitRow> waits;
  std::map<std::string, std::size_t> kinds;
  file.query(
      "SELECT task, thread, begin_ns, end_ns, kind FROM wait WHERE task IS NOT NULL ORDER BY task, begin_ns",
      [&](const Row& row) {
        const auto [kind, fresh] = kinds.try_emplace(row.text(4), out.waits.size());
        if (fresh) out.waits.push_back(kind->first);
        waits.push_back({row.integer(0), row.integer(1), row.integer(2), row.integer(3), kind->second});
      });
  const auto threads = static_cast<std::int64_t>(out.threads.size());
  const auto all = static_cast<std::uint64_t>(file.number("SELECT count(*) FROM span"));
  std::uint64_t done = 0;
  std::string last_name;
  const bool good = file.query(
      "SELECT s.task, s.thread, s.cpu, s.begin_ns, s.end_ns, coalesce(c.name, t.kind) FROM span s JOIN task "
      "t ON t.id = "
      "s.task LEFT JOIN code c ON c.id = t.code",
      [&](const Row& row) {
        progress.update(++done, all);
        Piece piece;
        piece.task = row.integer(0);
        piece.thread = row.integer(1);
        piece.cpu = row.integer_or(2, -1);
        piece.begin = row.integer(3);
        piece.construct = number_of(row.text(5));
        const std::int64_t end = row.integer(4);
        if (piece.thread < 0 || piece.thread >= threads || end < piece.begin || piece.begin < 0) return;
        out.end = std::max(out.end, end);
        const auto add = [&](std::int64_t to, Piece::What what, std::int64_t construct) {
          if (to <= piece.begin) return;
          Piece part = piece;
          part.end = to;
          part.what = what;
          part.construct = construct;
          out.pieces.push_back(part);
          piece.begin = to;
        };
        // What of it its task waited: it ran nothing else then, since that would be a span of its own.
        auto wait = std::lower_bound(waits.begin(), waits.end(), piece.task,
                                     [](const WaitRow& w, std::int64_t task) { return w.task < task; });
        wait = std::partition_point(wait, waits.end(), [&](const WaitRow& w) {
          return w.task == piece.task && w.end <= piece.begin;
        });
        for (; wait != waits.end() && wait->task == piece.task && wait->begin < end; ++wait) {
          add(std::min(wait->begin, end), Piece::What::work, piece.construct);
          add(std::min(wait->end, end), Piece::What::wait, static_cast<std::int64_t>(wait->kind));
        }
        add(end, Piece::What::work, piece.construct);
      });
  std::sort(out.pieces.begin(), out.pieces.end(), [](const Piece& a, const Piece& b) {
    return std::tie(a.begin, a.thread, a.end, a.task) < std::tie(b.begin, b.thread, b.end, b.task);
  });
  return good && load_moves(file, out) && file.wrong().empty();
}

std::string micro(std::int64_t ns) { return fmt::format("{}.{:03}", ns / 1000, ns % 1000); }

bool write_perfetto(RecordingFile& file, const Timeline& all, const std::string& path, Progress& progress) {
  Output out(path);
  out.print("{{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n");
  for (std::size_t i = 0; i < all.processes.size(); ++i)
    out.print("{{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":{},\"args\":{{\"name\":{}}}}},\n", i + 1,
              json_quoted(fmt::format("{} ({})", all.processes[i].second, all.processes[i].first)));
  for (const ThreadRow& thread : all.threads)
    out.print(
        "{{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":{},\"tid\":{},\"args\":{{\"name\":\"{} {}\"}}}},\n",
        thread.process + 1, thread.number, thread.type, thread.number);
  std::vector<std::string> constructs;
  for (const std::string& name : all.constructs) constructs.push_back(json_quoted(name));
  std::vector<std::string> waits;
  for (const std::string& name : all.waits) waits.push_back(json_quoted(name));
  std::uint64_t done = 0;
  for (const Piece& piece : all.pieces) {
    progress.update(++done, all.pieces.size());
    const ThreadRow& thread = all.threads[static_cast<std::size_t>(piece.thread)];
    const bool work = piece.what == Piece::What::work;
    out.print(
        "{{\"ph\":\"X\",\"cat\":\"{}\",\"name\":{},\"pid\":{},\"tid\":{},\"ts\":{},\"dur\":{},\"args\":{{"
        "\"task\":{},\"cpu\":{}}}}},\n",
        work ? "task" : "wait", (work ? constructs : waits)[static_cast<std::size_t>(piece.construct)],
        thread.process + 1, thread.number, micro(piece.begin), micro(piece.end - piece.begin), piece.task,
        piece.cpu);
  }
  for (const MoveRow& move : all.moves) {
    const ThreadRow& thread = all.threads[static_cast<std::size_t>(move.thread)];
    const std::string to = move.location < 0 ? "several locations" : fmt::format("location {}", move.location);
    const std::string name = move.what == "pages" ? fmt::format("{} pages to {}", move.count, to)
                                                  : fmt::format("{} {} moved", move.count, move.what);
    out.print("{{\"ph\":\"i\",\"s\":\"t\",\"cat\":\"move\",\"name\":{},\"pid\":{},\"tid\":{},\"ts\":{},\"args\":{{\"count\":{},\"why\":{}}}}},\n",
              json_quoted(name), thread.process + 1, thread.number, micro(move.when), move.count, json_quoted(all.causes[move.cause]));
  }
  // Arrows from the end of what a task waited for to its begin.
  std::int64_t arrow = 0;
  const bool good = file.query(
      "SELECT p.thread, p.end_ns, t.thread, t.begin_ns FROM edge e JOIN task p ON p.id = e.predecessor JOIN "
      "task t ON "
      "t.id = e.task WHERE p.end_ns <= t.begin_ns",
      [&](const Row& row) {
        const auto threads = static_cast<std::int64_t>(all.threads.size());
        if (row.integer(0) < 0 || row.integer(0) >= threads || row.integer(2) < 0 ||
            row.integer(2) >= threads)
          return;
        const ThreadRow& from = all.threads[static_cast<std::size_t>(row.integer(0))];
        const ThreadRow& to = all.threads[static_cast<std::size_t>(row.integer(2))];
        ++arrow;
        // Within the task: the end itself is not in it any more.
        out.print(
            "{{\"ph\":\"s\",\"cat\":\"dependence\",\"name\":\"dependence\",\"id\":{},\"pid\":{},\"tid\":{},"
            "\"ts\":{}}},\n",
            arrow, from.process + 1, from.number, micro(std::max<std::int64_t>(row.integer(1) - 1, 0)));
        out.print(
            "{{\"ph\":\"f\",\"bp\":\"e\",\"cat\":\"dependence\",\"name\":\"dependence\",\"id\":{},\"pid\":{},"
            "\"tid\":{},\"ts\":{}}},\n",
            arrow, to.process + 1, to.number, micro(row.integer(3)));
      });
  out.print("{{\"ph\":\"M\",\"name\":\"trace_end\",\"pid\":1,\"args\":{{}}}}\n]}}\n");
  return out.close() && good;
}

// ---- Paraver

constexpr int kTypeConstruct = 70000001, kTypeTask = 70000002, kTypeWait = 70000003,
              kTypeMovedPages = 70000004, kTypeMovedThreads = 70000005, kTypeCause = 70000006;
constexpr int kStateIdle = 0, kStateRunning = 1, kStateSynchronization = 5;

/// As Paraver has it: "22/11/2026 at 07:00", by the clock of this machine's time zone.
std::string recorded_at(RecordingFile& file) {
  const std::string nanoseconds = file.text("SELECT value FROM meta WHERE key = 'recorded'");
  const auto seconds = static_cast<std::time_t>(std::strtoull(nanoseconds.c_str(), nullptr, 10) / 1'000'000'000);
  std::tm when{};
  char text[32] = "";
  if (localtime_r(&seconds, &when) != nullptr) std::strftime(text, sizeof text, "%d/%m/%Y at %H:%M", &when);
  return text;
}

bool write_paraver(RecordingFile& file, const Timeline& all, const std::string& prefix, Progress& progress) {
  // Processors in the order of their nodes.
  std::vector<std::pair<std::int64_t, std::int64_t>> cpus;  // node, cpu
  file.query("SELECT DISTINCT node, cpu FROM cpu WHERE process = 0 ORDER BY node, cpu",
             [&](const Row& row) { cpus.emplace_back(row.integer(0), row.integer(1)); });
  if (cpus.empty()) cpus.emplace_back(0, 0);
  std::map<std::int64_t, std::size_t> place_of_cpu;
  std::vector<std::size_t> node_sizes;
  for (std::size_t i = 0; i < cpus.size(); ++i) {
    place_of_cpu[cpus[i].second] = i + 1;
    if (i == 0 || cpus[i].first != cpus[i - 1].first) node_sizes.push_back(0);
    ++node_sizes.back();
  }
  std::vector<std::size_t> threads_of(std::max<std::size_t>(all.processes.size(), 1), 0);
  std::vector<std::string> object_of;  // "1:process:thread", from 1
  std::vector<std::string> labels;
  for (const ThreadRow& thread : all.threads) {
    const auto process = static_cast<std::size_t>(thread.process);
    if (process >= threads_of.size()) return say("thread {} belongs to no process", thread.id), false;
    object_of.push_back(fmt::format("1:{}:{}", process + 1, ++threads_of[process]));
    labels.push_back(fmt::format("{}.{} {}", process + 1, threads_of[process], thread.type));
  }

  std::string processes;
  for (const std::size_t count : threads_of)
    processes += fmt::format("{}{}:1", processes.empty() ? "" : ",", std::max<std::size_t>(count, 1));
  Output prv(prefix + ".prv");
  prv.print("#Paraver ({}):{}_ns:{}({}):1:{}({})\n", recorded_at(file), all.end, node_sizes.size(),
            fmt::join(node_sizes, ","), threads_of.size(), processes);
  auto move = all.moves.begin();
  const auto print_moves_until = [&](std::int64_t time) {
    for (; move != all.moves.end() && move->when <= time; ++move)
      prv.print("2:0:{}:{}:{}:{}:{}:{}\n", object_of[static_cast<std::size_t>(move->thread)], move->when,
                move->what == "pages" ? kTypeMovedPages : kTypeMovedThreads, move->count, kTypeCause, move->cause + 1);
  };
  std::uint64_t done = 0;
  for (const Piece& piece : all.pieces) {
    progress.update(++done, all.pieces.size());
    print_moves_until(piece.begin);
    const auto thread = static_cast<std::size_t>(piece.thread);
    const auto cpu = place_of_cpu.find(piece.cpu);
    const std::size_t place = cpu == place_of_cpu.end() ? 0 : cpu->second;
    const std::string& object = object_of[thread];
    const bool work = piece.what == Piece::What::work;
    prv.print("1:{}:{}:{}:{}:{}\n", place, object, piece.begin, piece.end,
              work ? kStateRunning : kStateSynchronization);
    prv.print("2:{}:{}:{}:{}:{}:{}:{}:{}:{}\n", place, object, piece.begin, kTypeConstruct,
              work ? piece.construct + 1 : 0, kTypeTask, work ? piece.task + 1 : 0, kTypeWait,
              work ? 0 : piece.construct + 1);
  }
  print_moves_until(all.end);
  Output pcf(prefix + ".pcf");
  pcf.print(
      "DEFAULT_OPTIONS\n\nLEVEL               THREAD\nUNITS               NANOSEC\n\nSTATES\n{}    Idle\n{}  "
      "  Running\n{}    "
      "Synchronization\n\nSTATES_COLOR\n{}    {{117,195,255}}\n{}    {{0,0,255}}\n{}    {{235,0,0}}\n",
      kStateIdle, kStateRunning, kStateSynchronization, kStateIdle, kStateRunning, kStateSynchronization);
  const auto type = [&](int number, const char* label, const std::vector<std::string>& values) {
    pcf.print("\nEVENT_TYPE\n0    {}    {}\n", number, label);
    if (values.empty()) return;
    pcf.print("VALUES\n0    End\n");
    for (std::size_t i = 0; i < values.size(); ++i) pcf.print("{}    {}\n", i + 1, values[i]);
  };
  type(kTypeConstruct, "Construct", all.constructs);
  type(kTypeTask, "Task (its id, and 1)", {});
  type(kTypeWait, "Waiting", all.waits);
  type(kTypeMovedPages, "Pages moved", {});
  type(kTypeMovedThreads, "Threads moved", {});
  type(kTypeCause, "Why they were moved", all.causes);
  Output row(prefix + ".row");
  row.print("LEVEL CPU SIZE {}\n", cpus.size());
  for (const auto& [node, cpu] : cpus) row.print("{}.{}\n", node, cpu);
  row.print("\nLEVEL NODE SIZE {}\n", node_sizes.size());
  for (std::size_t i = 0; i < node_sizes.size(); ++i) row.print("node {}\n", i);
  row.print("\nLEVEL THREAD SIZE {}\n", labels.size());
  for (const std::string& label : labels) row.print("{}\n", label);
  return prv.close() && pcf.close() && row.close();
}

}  // namespace

int export_main(const ExportRequest& request) {
  const std::string prefix = request.paraver.ends_with(".prv") ? request.paraver.substr(0, request.paraver.size() - 4)
                                                               : request.paraver;
  bool clash = would_destroy(request.perfetto, request.file);
  for (const char* ending : {".prv", ".pcf", ".row"})
    clash = clash || (!prefix.empty() && would_destroy(prefix + ending, request.file));
  if (clash) return kExitUsage;
  RecordingFile file;
  const std::string wrong = file.open(request.file);
  if (!wrong.empty()) {
    say("{}.", wrong);
    return kExitUsage;
  }
  Timeline timeline;
  bool good;
  {
    Progress progress("reading");
    good = load(file, timeline, progress);
  }
  if (good && !request.perfetto.empty()) {
    Progress progress("writing");
    good = write_perfetto(file, timeline, request.perfetto, progress);
  }
  if (good && !request.paraver.empty()) {
    Progress progress("writing");
    good = write_paraver(file, timeline, prefix, progress);
  }
  if (!file.wrong().empty()) say("{}.", file.wrong());
  return good ? 0 : kExitDiffers;
}

}  // namespace hearth::cli
