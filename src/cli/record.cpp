// `hearth record`: run a program with the recorder in its OpenMP runtime, and make one file of what that
// wrote.
//
// While the program runs, its threads write into spill files in a folder beside the file that is to be made
// (record/spill.h). If the program, or this one, is killed, the folder stays and --recover reads it.
#include "cli/record.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <new>

#include <fmt/format.h>
#include <sys/stat.h>

#include "cli/commands.h"
#include "cli/installation.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/rank.h"
#include "cli/report.h"
#include "cli/symbols.h"
#include "replay/recording_file.h"
#include "record/database.h"

namespace hearth::cli {
namespace {

constexpr std::size_t kMostProblemsSaid = 8;

/// A file that is no recording is not written over.
bool may_write(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return true;
  if (replay::is_recording(path)) return true;
  say("{}: exists and is no recording; it is left alone. Choose another file with -o.", path);
  return false;
}

std::vector<record::CodeName> names_of(const record::Recording& recording) {
  // The address is that behind the call: one before it is in the construct's line.
  CodeOffsets wanted;
  for (const record::Code& code : recording.codes)
    if (!code.module.empty() && code.offset != 0) wanted[code.module].insert(code.offset - 1);
  const Symbols symbols(wanted);
  std::vector<record::CodeName> names(recording.codes.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    const record::Code& code = recording.codes[i];
    if (const Symbol* const symbol = symbols.of(code.module, code.offset - 1))
      names[i] = {symbol->function, symbol->file, symbol->line};
  }
  return names;
}

/// What the recording cannot have, in words.
std::string lacks(const record::Recording& recording) {
  std::string text;
  for (const record::Process& process : recording.processes) {
    if (process.footprints) continue;
    text = fmt::format(
        "{} does not tell tools how long the data is that tasks name: there are dependences, but no "
        "footprints.",
        process.text.runtime.empty() ? "The runtime" : process.text.runtime);
    if (!process.creations)
      text += " Nor does it tell when the making of a task is over: that time counts as its creator's work.";
  }
  return text;
}

/// Whether it is known who has touched memory first.
std::string first_touch(const record::Recording& recording) {
  std::uint64_t lost = 0;
  for (const record::Process& process : recording.processes) {
    lost += process.text.lost_faults;
    if (!process.text.faults_refused.empty())
      return fmt::format("not recorded: perf_event_open: {}", process.text.faults_refused);
  }
  return lost == 0 ? "sampled" : fmt::format("sampled; {} samples were lost", lost);
}

/// For reading and writing: shows how far it is, and stops it when somebody wants us to end.
record::ProgressOf watched(Progress& progress) {
  return [&progress](std::uint64_t done, std::uint64_t all) {
    progress.update(done, all);
    if (interrupted() != 0) throw record::Interrupted();
  };
}

/// "16 threads (hint) and 1536 pages (1024 touch, 512 call)"; empty: nothing was moved.
std::string moved(const record::Recording& recording) {
  constexpr const char* kCauses[] = {"call", "hint", "balance", "touch", "trap"};
  std::string text;
  for (const std::uint32_t what : {1u, 2u}) {
    std::uint64_t sum = 0, by_cause[std::size(kCauses)] = {};
    for (const record::Move& move : recording.moves) {
      if (move.what != what || move.why < 1 || move.why > std::size(kCauses)) continue;
      sum += move.count;
      by_cause[move.why - 1] += move.count;
    }
    if (sum == 0) continue;
    std::string causes;
    for (std::size_t i = 0; i < std::size(kCauses); ++i) {
      if (by_cause[i] == 0) continue;
      causes += causes.empty() ? "" : ", ";
      causes += by_cause[i] == sum ? kCauses[i] : fmt::format("{} {}", by_cause[i], kCauses[i]);
    }
    text += fmt::format("{}{} ({})", text.empty() ? "" : " and ", counted(sum, what == 1 ? "thread" : "page"), causes);
  }
  return text;
}

/// What a recording told the user of itself.
void tell(const record::Recording& recording, const std::string& file) {
  const auto explicit_tasks = std::count_if(recording.tasks.begin(), recording.tasks.end(), [](const record::Task& task) {
    return task.kind != record::Task::Kind::initial && task.kind != record::Task::Kind::implicit;
  });
  say("{}: {} and {} on {} in {}.", file, counted(static_cast<std::size_t>(explicit_tasks), "task"),
      counted(recording.regions.size(), "region"), counted(recording.threads.size(), "thread"),
      counted(recording.processes.size(), "process", "processes"));
  if (const std::string text = moved(recording); !text.empty()) say("Moved to each other: {}.", text);
  if (!lacks(recording).empty()) say("{}", lacks(recording));
  for (std::size_t i = 0; i < recording.problems.size() && i < kMostProblemsSaid; ++i)
    say("{}{}{}.", recording.problems[i].where, recording.problems[i].where.empty() ? "" : ": ",
        recording.problems[i].what);
  if (recording.problems.size() > kMostProblemsSaid)
    say("and {} more, in the file's table \"problem\".", recording.problems.size() - kMostProblemsSaid);
}

std::vector<std::pair<std::string, std::string>> facts_of(const record::Recording& recording) {
  std::string command;
  for (const record::Process& process : recording.processes)
    if (command.empty()) command = process.text.command;
  return {
      {"schema", record::kSchemaNumber},
      {"hearth", HEARTH_VERSION},
      {"command", command},
      {"runtime", recording.processes.front().text.runtime},
      {"recorded", fmt::format("{}", recording.realtime)},
      {"ticks_per_ns", fmt::format("{:.6f}", recording.ticks_per_ns)},
      {"lacks", lacks(recording)},
      {"first_touch", first_touch(recording)},
  };
}

bool read_and_write(const std::string& folder, const std::string& file) {
  record::Recording recording;
  {
    Progress progress("reading");
    recording = record::assemble(folder, watched(progress));
  }
  if (recording.processes.empty()) {
    say("{}: nothing was recorded. Either no process loaded an OpenMP runtime that has OMPT (Hearth, LLVM's and Intel's "
        "do, GNU's does not), or none reached a parallel region.",
        folder);
    return false;
  }
  std::string wrong;
  {
    Progress progress("writing");
    wrong = record::write_database(recording, names_of(recording), facts_of(recording), file, watched(progress));
  }
  if (!wrong.empty()) {
    say("{}: cannot be written: {}. What was recorded stays in {}: hearth record --recover {}", file, wrong, folder,
        folder);
    return false;
  }
  tell(recording, file);
  return true;
}

/// Makes one file of a folder. False, and said, when that failed; the folder is left as it is.
bool convert(const std::string& folder, const std::string& file) {
  const InterruptWatch watch;
  try {
    return read_and_write(folder, file);
  } catch (const record::Interrupted&) {
    say("interrupted; {} is not written. What was recorded stays in {}: hearth record --recover {}", file, folder,
        folder);
  } catch (const std::bad_alloc&) {
    say("{}: there is not enough memory to read the recording (about 450 bytes a task). It stays in {}: on a machine "
        "with more memory, or without a limit, hearth record --recover {}",
        file, folder, folder);
  }
  return false;
}

void prepend(const char* variable, const std::string& entry) {
  const char* before = std::getenv(variable);
  const std::string value = before == nullptr || *before == '\0' ? entry : entry + ":" + before;
  setenv(variable, value.c_str(), 1);
}

std::string default_file(const std::string& program) {
  return std::filesystem::path(program).filename().string() + ".db";
}

int recover(const RecordRequest& request) {
  std::error_code error;
  if (!std::filesystem::is_directory(request.recover, error)) {
    say("{}: is no folder.", request.recover);
    return kExitUsage;
  }
  std::filesystem::path folder(request.recover);
  if (!folder.has_filename()) folder = folder.parent_path();
  const std::string file = !request.file.empty()            ? request.file
                           : folder.extension() == ".spill" ? (folder.parent_path() / folder.stem()).string()
                                                            : folder.string() + ".db";
  if (!may_write(file)) return kExitUsage;
  const bool good = convert(folder.string(), file);
  if (interrupted() != 0) end_interrupted();
  return good ? 0 : kExitDiffers;
}

}  // namespace

int record_main(const RecordRequest& request) {
  if (!request.recover.empty()) return recover(request);
  const std::string file =
      file_of_this_rank(request.file.empty() ? default_file(request.run.command.front()) : request.file);
  if (!may_write(file) || !may_write_page(file_of_this_rank(request.page))) return kExitUsage;
  Installation installation = find_installation();
  if (installation.record.empty()) {
    say("libhearth-record.so is missing from this installation (looked {}).", searched_folders());
    return kExitNotExecutable;
  }
  ListedNames names;
  if (std::string problem; !names.give(installation, problem)) {
    say("{}", problem);
    return kExitNotExecutable;
  }
  std::error_code error;
  const std::string folder = std::filesystem::absolute(file + ".spill", error).string();
  if (mkdir(folder.c_str(), 0777) != 0) {
    if (errno == EEXIST)
      say("{}: is there already, from a recording that was not ended or that still runs. Read it with hearth record "
          "--recover {}, or remove it.",
          folder, folder);
    else
      say("{}: {}", folder, std::strerror(errno));
    return kExitUsage;
  }
  setenv("HEARTH_RECORD", folder.c_str(), 1);
  setenv("HEARTH_RECORD_COUNTERS", request.counters ? "1" : "0", 1);
  setenv("OMP_TOOL", "enabled", 1);
  prepend("OMP_TOOL_LIBRARIES", installation.record);
  prepend("LD_PRELOAD", installation.record);  // to note allocations
  // AddressSanitizer insists on being the first library, which is of no use to it here.
  prepend("ASAN_OPTIONS", "verify_asan_link_order=0");
  if (request.stock) setenv("HEARTH", "off", 1);
  bool good = false;
  bool ran = false;
  const int status = run_main(request.run, [&] {
    ran = true;
    names.remove();
    good = convert(folder, file);
    // The end of the program may be the end of this process.
    if (good || std::filesystem::is_empty(folder, error)) std::filesystem::remove_all(folder, error);
    if (good && !request.page.empty()) good = report_main({.file = file, .output = file_of_this_rank(request.page)}) == 0;
    std::fflush(stdout);
    if (interrupted() != 0) end_interrupted();
  });
  if (!ran) std::filesystem::remove(folder, error);
  return status != 0 || !ran ? status : good ? 0 : kExitDiffers;
}

}  // namespace hearth::cli
