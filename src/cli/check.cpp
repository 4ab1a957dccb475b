// `hearth check`: run a program once, on one thread, and hold each task's footprint against the pages that
// the task touched.
//
// The library writes down both (runtime/tools/check.h has the format) into a folder that is gone afterwards; judge.h
// compares them, and here it is told by task function.
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>

#include <fmt/format.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/json.h"
#include "cli/judge.h"
#include "cli/output.h"
#include "cli/rank.h"
#include "cli/symbols.h"
#include "cli/temporary_folder.h"

namespace hearth::cli {
namespace {

struct Function {
  std::string module;
  std::uint64_t offset = 0;
};

struct Recorded {
  std::map<std::string, Function> functions;
  std::vector<Process> processes;
};

// ---- what the library has written

void read_file(const std::filesystem::path& path, Recorded& all) {
  std::ifstream lines(path);
  std::string line;
  Process process;
  while (std::getline(lines, line)) {
    const Json item = Json::parse(line);
    if (!item.is_object()) continue;  // the last line of a process that was killed
    if (item.contains("without")) {
      process.without = item.get("without").natural();
      process.unwatched = item.get("unwatched").natural();
      process.system_calls = item.get("system_calls").natural() != 0;
      process.ended = true;
      all.processes.push_back(std::move(process));
      process = {};  // the same process may have become another program
      continue;
    }
    Execution execution;
    const Function function{item.get("module").text(), item.get("offset").natural()};
    execution.function = fmt::format("{}+{:#x}", function.module, function.offset);
    all.functions.emplace(execution.function, function);
    execution.blind = item.get("blind").natural() != 0;
    for (const Json& range : item.get("ranges").elements()) {
      const auto figure = [&](std::size_t i) { return range.at(i).natural(); };
      execution.ranges.push_back({figure(0), figure(1), figure(2), figure(3), figure(4), figure(5) != 0});
    }
    for (const Json& touched : item.get("touched").elements()) {
      const std::uint64_t first = touched.at(0).natural(), pages = touched.at(1).natural(),
                          bits = touched.at(2).natural();
      execution.touched.push_back(
          {{first, first + pages}, (bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0});
    }
    process.executions.push_back(std::move(execution));
  }
  if (!process.executions.empty()) all.processes.push_back(std::move(process));
}

// ---- names

struct Name {
  std::string function, source;  // empty: nobody knows
};

Name name_of(const Function& function) {
  const Symbols symbols(CodeOffsets{{function.module, {function.offset}}});
  const Symbol* const symbol = symbols.of(function.module, function.offset);
  if (symbol == nullptr) return {};
  return {symbol->function, symbol->file.empty() ? "" : fmt::format("{}:{}", symbol->file, symbol->line)};
}

// ---- report

std::string bytes_text(std::uint64_t bytes) {
  if (bytes >= 10 << 20) return fmt::format("{} MiB", bytes >> 20);
  return fmt::format("{} KiB", bytes >> 10);
}

Json as_json(const Finding& finding) {
  Json out;
  out["tasks"] = finding.tasks;
  out["most_bytes"] = finding.most_bytes;
  out["examples"] = Json::array();
  for (const Pages& pages : finding.examples)
    out["examples"].push_back({{"address", fmt::format("{:#x}", pages.first * kCheckedPage)},
                               {"bytes", (pages.last - pages.first) * kCheckedPage}});
  return out;
}

void print_finding(const char* what, const Finding& finding) {
  if (finding.tasks == 0) return;
  std::string examples;
  for (const Pages& pages : finding.examples)
    examples += fmt::format("{}{:#x} + {}", examples.empty() ? "" : ", ", pages.first * kCheckedPage,
                            bytes_text((pages.last - pages.first) * kCheckedPage));
  put(stderr, "  {:<29} {}, up to {}: {}\n", what, counted(finding.tasks, "task"), bytes_text(finding.most_bytes),
      examples);
}

struct Totals {
  std::uint64_t tasks = 0, without = 0, unwatched = 0, differing = 0, blind = 0, guessed = 0;
  bool system_calls = true;
};

void print_text(const std::map<std::string, Verdict>& verdicts, const std::map<std::string, Name>& names,
                const Totals& totals) {
  for (const auto& [function, verdict] : verdicts) {
    const Name& name = names.at(function);
    if (verdict.clean()) continue;
    put(stderr, "{}{}{}: {} task{}\n", name.function.empty() ? function : name.function,
               name.source.empty() ? "" : " at ", name.source, verdict.tasks, verdict.tasks == 1 ? "" : "s");
    print_finding("touched, not declared:", verdict.undeclared);
    print_finding("written, declared as read:", verdict.unannounced_write);
    print_finding("declared, not touched:", verdict.untouched);
  }
  say("{} with a footprint, {} without; {} of {} touch{} something else than declared.", counted(totals.tasks, "task"),
      totals.without, totals.differing, counted(verdicts.size(), "task function"), totals.differing == 1 ? "es" : "");
  if (totals.guessed != 0)
    say("for {} the lengths were guessed (gcc passes none): a wrong length is not found; clang passes them.",
        counted(totals.guessed, "task"));
  if (totals.unwatched != 0) say("{} not watched: another task was, at the same time.", counted(totals.unwatched, "task"));
  if (totals.blind != 0)
    say("{} could not be watched to the end: a system call in it changes what is mapped, or starts a process.",
        counted(totals.blind, "task"));
  if (!totals.system_calls)
    say("this kernel has no syscall user dispatch (Linux 5.11): system calls of tasks on their data may have failed.");
}

/// False when it cannot be written.
bool print_json(const std::map<std::string, Verdict>& verdicts, const std::map<std::string, Name>& names,
                const Recorded& all, const Totals& totals, const std::string& path) {
  Json out;
  out["functions"] = Json::array();
  for (const auto& [key, verdict] : verdicts) {
    Json one;
    const Name& name = names.at(key);
    one["function"] = name.function;
    one["source"] = name.source;
    one["module"] = all.functions.at(key).module;
    one["offset"] = all.functions.at(key).offset;
    one["tasks"] = verdict.tasks;
    one["blind"] = verdict.blind;
    one["guessed"] = verdict.guessed;
    one["undeclared"] = as_json(verdict.undeclared);
    one["written_as_read"] = as_json(verdict.unannounced_write);
    one["untouched"] = as_json(verdict.untouched);
    one["ok"] = verdict.clean();
    out["functions"].push_back(one);
  }
  out["tasks"] = totals.tasks;
  out["without"] = totals.without;
  out["unwatched"] = totals.unwatched;
  out["guessed"] = totals.guessed;
  out["system_calls"] = totals.system_calls;
  out["ok"] = totals.differing == 0;
  return write_file(path.empty() ? "-" : path, out.dump(2) + "\n");
}

/// True when nothing differs.
bool report(const Recorded& all, bool json, const std::string& json_file) {
  std::map<std::string, Verdict> verdicts;
  Totals totals;
  for (const Process& process : all.processes) {
    const PageSet data = data_pages(process);
    for (const Execution& execution : process.executions)
      judge(execution, data, verdicts[execution.function]);
    totals.tasks += process.executions.size();
    totals.without += process.without;
    totals.unwatched += process.unwatched;
    totals.system_calls = totals.system_calls && process.system_calls;
    if (!process.ended) say("a process ended without exit(): what its last tasks touched is missing.");
  }
  std::map<std::string, Name> names;
  for (const auto& [function, verdict] : verdicts) {
    names[function] = name_of(all.functions.at(function));
    totals.differing += !verdict.clean();
    totals.blind += verdict.blind;
    totals.guessed += verdict.guessed;
  }
  if (json) return print_json(verdicts, names, all, totals, json_file) && totals.differing == 0;
  print_text(verdicts, names, totals);
  return totals.differing == 0;
}

}  // namespace

int check_main(const RunRequest& request, bool json, const std::string& json_file) {
  TemporaryFolder folder;
  if (!folder.create("check")) return kExitNotExecutable;
  setenv("HEARTH_CHECK", folder.path().c_str(), 1);
  // A function that is bound by its first call makes the loader, and whoever audits it, touch their own memory in that task.
  setenv("LD_BIND_NOW", "1", 1);
  bool same = true;
  const int status = run_main(request, [&] {
    Recorded all;
    for (const auto& file : std::filesystem::directory_iterator(folder.path())) read_file(file.path(), all);
    folder.remove();  // the end of the program may be the end of this process
    if (all.processes.empty()) {
      say("no process of the program ran on Hearth: nothing was checked.");
      same = false;
      return;
    }
    for (Process& process : all.processes) complete_lengths(process);
    same = report(all, json, file_of_this_rank(json_file));
    std::fflush(stdout);
  });
  return status != 0 ? status : same ? 0 : kExitDiffers;
}

}  // namespace hearth::cli
