// `hearth check`: run a program once, on one thread, and hold each task's footprint against the pages that
// the task touched.
//
// The library writes down both (runtime/tools/check.h has the format) into a folder that is gone afterwards; here
// they are compared and told by task function. Everything is in whole pages. A range whose length the
// compiler did not pass ends, in hindsight, where the next one of the same place in the clause begins.
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include <fmt/format.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/symbols.h"

namespace hearth::cli {
namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kRead = 1, kWrite = 2;

template <typename... Args>
void say(fmt::format_string<Args...> format, Args&&... args) {
  fmt::print(stderr, "hearth: {}\n", fmt::format(format, std::forward<Args>(args)...));
}

/// Pages [first, last).
struct Pages {
  std::uint64_t first = 0, last = 0;
};

/// A set of pages.
class PageSet {
 public:
  void add(std::uint64_t first, std::uint64_t last) {
    if (first >= last) return;
    auto at = parts_.upper_bound(first);
    if (at != parts_.begin() && std::prev(at)->second >= first) --at;
    while (at != parts_.end() && at->first <= last) {
      first = std::min(first, at->first);
      last = std::max(last, at->second);
      at = parts_.erase(at);
    }
    parts_[first] = last;
  }
  /// Calls visit(first, last, inside) for the parts of [first, last), in order.
  template <class Visit>
  void split(std::uint64_t first, std::uint64_t last, Visit visit) const {
    auto at = parts_.upper_bound(first);
    if (at != parts_.begin() && std::prev(at)->second > first) --at;
    for (; first < last && at != parts_.end() && at->first < last; ++at) {
      if (first < at->first) visit(first, at->first, false);
      const std::uint64_t begin = std::max(first, at->first), end = std::min(last, at->second);
      visit(begin, end, true);
      first = end;
    }
    if (first < last) visit(first, last, false);
  }
  template <class Visit>
  void for_each(Visit visit) const {
    for (const auto& [first, last] : parts_) visit(first, last);
  }

 private:
  std::map<std::uint64_t, std::uint64_t> parts_;
};

struct Range {
  std::uint64_t begin, length, rows, pitch, access;
  bool inferred;
};

struct Touched {
  Pages pages;
  bool written, crowded, runtime;
};

struct Execution {
  std::string function;  // a key: "module+offset"
  bool blind;
  std::vector<Range> ranges;
  std::vector<Touched> touched;
};

/// What one process did between its start and its end: one address space.
struct Process {
  std::vector<Execution> executions;
  std::uint64_t without = 0, unwatched = 0;
  bool ended = false, system_calls = true;
};

struct Function {
  std::string module;
  std::uint64_t offset = 0;
};

/// One kind of difference of one function.
struct Finding {
  std::uint64_t tasks = 0;
  std::uint64_t most_bytes = 0;  // of a task
  std::vector<Pages> examples;   // of the first task that has it
};

struct Verdict {
  std::uint64_t tasks = 0, blind = 0;
  Finding undeclared, unannounced_write, untouched;
  bool clean() const { return undeclared.tasks == 0 && unannounced_write.tasks == 0 && untouched.tasks == 0; }
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
    const auto item = nlohmann::json::parse(line, nullptr, false);
    if (!item.is_object()) continue;  // the last line of a process that was killed
    if (item.contains("without")) {
      process.without = item["without"];
      process.unwatched = item["unwatched"];
      process.system_calls = item["system_calls"] != 0;
      process.ended = true;
      all.processes.push_back(std::move(process));
      process = {};  // the same process may have become another program
      continue;
    }
    Execution execution;
    const Function function{item["module"], item["offset"]};
    execution.function = fmt::format("{}+{:#x}", function.module, function.offset);
    all.functions.emplace(execution.function, function);
    execution.blind = item["blind"] != 0;
    for (const auto& range : item["ranges"])
      execution.ranges.push_back({range[0], range[1], range[2], range[3], range[4], range[5] != 0});
    for (const auto& touched : item["touched"]) {
      const std::uint64_t first = touched[0], pages = touched[1], bits = touched[2];
      execution.touched.push_back(
          {{first, first + pages}, (bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0});
    }
    process.executions.push_back(std::move(execution));
  }
  if (!process.executions.empty()) all.processes.push_back(std::move(process));
}

/// The lengths that nobody passed, now that all addresses are known.
void complete_lengths(Process& process) {
  std::map<std::pair<std::string, std::size_t>, std::set<std::uint64_t>> bases;
  for (const Execution& execution : process.executions)
    for (std::size_t i = 0; i < execution.ranges.size(); ++i)
      if (execution.ranges[i].inferred) bases[{execution.function, i}].insert(execution.ranges[i].begin);
  for (Execution& execution : process.executions) {
    for (std::size_t i = 0; i < execution.ranges.size(); ++i) {
      Range& range = execution.ranges[i];
      if (!range.inferred) continue;
      const std::set<std::uint64_t>& all = bases[{execution.function, i}];
      std::uint64_t smallest = UINT64_MAX, before = 0;
      for (const std::uint64_t base : all) {
        if (before != 0) smallest = std::min(smallest, base - before);
        before = base;
      }
      const auto next = all.upper_bound(range.begin);
      if (next != all.end() && *next - range.begin <= 2 * smallest) {
        range.length = *next - range.begin;
      } else if (smallest != UINT64_MAX) {
        range.length = smallest;
      } else {
        // The only one: it reaches as far as the task went on from there.
        std::uint64_t end = range.begin / kPage;
        for (const Touched& touched : execution.touched)
          if (touched.pages.first <= end && touched.pages.last > end) end = touched.pages.last;
        range.length = std::max(end * kPage, range.begin + 1) - range.begin;
      }
    }
  }
}

// ---- judgement

template <class Visit>
void for_each_row(const Range& range, Visit visit) {
  for (std::uint64_t row = 0; row < range.rows && range.length != 0; ++row) {
    const std::uint64_t begin = range.begin + row * range.pitch;
    visit(begin, begin + range.length);
  }
}

void add_pages(const Range& range, PageSet& set) {
  for_each_row(
      range, [&](std::uint64_t begin, std::uint64_t end) { set.add(begin / kPage, (end - 1) / kPage + 1); });
}

/// What one task adds to a finding.
class Collected {
 public:
  void add(std::uint64_t first, std::uint64_t last) {
    if (!pages_.empty() && pages_.back().last == first)
      pages_.back().last = last;
    else
      pages_.push_back({first, last});
    bytes_ += (last - first) * kPage;
  }
  void enter(Finding& finding) const {
    if (bytes_ == 0) return;
    constexpr std::size_t kMostExamples = 3;
    if (finding.tasks++ == 0)
      finding.examples.assign(pages_.begin(), pages_.begin() + static_cast<std::ptrdiff_t>(
                                                                   std::min(pages_.size(), kMostExamples)));
    finding.most_bytes = std::max(finding.most_bytes, bytes_);
  }

 private:
  std::vector<Pages> pages_;
  std::uint64_t bytes_ = 0;
};

/// Pages of data: somebody's footprint has them. Of the pages that only lengths that nobody passed put there,
/// those that most tasks touch are not: they hold small objects of everybody's, between one task's data and
/// the next.
PageSet data_pages(const Process& process) {
  PageSet all, exact, data;
  std::map<std::uint64_t, std::int64_t>
      change;  // in the number of tasks that touch a page, from page to page
  for (const Execution& execution : process.executions) {
    for (const Range& range : execution.ranges) {
      add_pages(range, all);
      if (!range.inferred) add_pages(range, exact);
    }
    for (const Touched& part : execution.touched) {
      if (!part.crowded) continue;
      ++change[part.pages.first];
      --change[part.pages.last];
    }
  }
  PageSet common;
  std::int64_t tasks = 0;
  for (auto at = change.begin(); at != change.end(); ++at) {
    tasks += at->second;
    if (2 * tasks > static_cast<std::int64_t>(process.executions.size()))
      common.add(at->first, std::next(at)->first);
  }
  all.for_each([&](std::uint64_t first, std::uint64_t last) {
    common.split(first, last, [&](std::uint64_t begin, std::uint64_t end, bool is_common) {
      if (!is_common) return data.add(begin, end);
      exact.split(begin, end, [&](std::uint64_t from, std::uint64_t to, bool is_exact) {
        if (is_exact) data.add(from, to);
      });
    });
  });
  return data;
}

void judge(const Execution& execution, const PageSet& data, Verdict& verdict) {
  ++verdict.tasks;
  verdict.blind += execution.blind;
  PageSet declared, to_be_written, touched;
  for (const Range& range : execution.ranges) {
    add_pages(range, declared);
    if ((range.access & kWrite) != 0) add_pages(range, to_be_written);
  }
  Collected undeclared, unannounced_write, untouched;
  const auto hold = [&](std::uint64_t first, std::uint64_t last, bool written) {
    declared.split(first, last, [&](std::uint64_t begin, std::uint64_t end, bool inside) {
      if (!inside) return undeclared.add(begin, end);
      if (!written) return;
      to_be_written.split(begin, end, [&](std::uint64_t from, std::uint64_t to, bool right) {
        if (!right) unannounced_write.add(from, to);
      });
    });
  };
  for (const Touched& part : execution.touched) {
    touched.add(part.pages.first, part.pages.last);
    if (part.runtime) continue;
    if (!part.crowded) {
      hold(part.pages.first, part.pages.last, part.written);
      continue;
    }
    data.split(part.pages.first, part.pages.last, [&](std::uint64_t first, std::uint64_t last, bool inside) {
      if (inside) hold(first, last, part.written);
    });
  }
  if (!execution.blind)
    for (const Range& range : execution.ranges)
      if (!range.inferred)
        // Whole pages only: of the others something else may lie in them.
        for_each_row(range, [&](std::uint64_t begin, std::uint64_t end) {
          touched.split((begin + kPage - 1) / kPage, std::max((begin + kPage - 1) / kPage, end / kPage),
                        [&](std::uint64_t first, std::uint64_t last, bool inside) {
                          if (!inside) untouched.add(first, last);
                        });
        });
  undeclared.enter(verdict.undeclared);
  unannounced_write.enter(verdict.unannounced_write);
  untouched.enter(verdict.untouched);
}

// ---- names

struct Name {
  std::string function, source;  // empty: nobody knows
};

Name name_of(const Function& function) {
  const auto found = find_symbols(function.module, {function.offset});
  const auto symbol = found.find(function.offset);
  if (symbol == found.end()) return {};
  const Symbol& it = symbol->second;
  return {it.function, it.file.empty() ? "" : fmt::format("{}:{}", it.file, it.line)};
}

// ---- report

std::string bytes_text(std::uint64_t bytes) {
  if (bytes >= 10 << 20) return fmt::format("{} MiB", bytes >> 20);
  return fmt::format("{} KiB", bytes >> 10);
}

nlohmann::ordered_json as_json(const Finding& finding) {
  nlohmann::ordered_json out;
  out["tasks"] = finding.tasks;
  out["most_bytes"] = finding.most_bytes;
  out["examples"] = nlohmann::ordered_json::array();
  for (const Pages& pages : finding.examples)
    out["examples"].push_back({{"address", fmt::format("{:#x}", pages.first * kPage)},
                               {"bytes", (pages.last - pages.first) * kPage}});
  return out;
}

void print_finding(const char* what, const Finding& finding) {
  if (finding.tasks == 0) return;
  std::string examples;
  for (const Pages& pages : finding.examples)
    examples += fmt::format("{}{:#x} + {}", examples.empty() ? "" : ", ", pages.first * kPage,
                            bytes_text((pages.last - pages.first) * kPage));
  fmt::print(stderr, "  {:<29} {} task{}, up to {}: {}\n", what, finding.tasks, finding.tasks == 1 ? "" : "s",
             bytes_text(finding.most_bytes), examples);
}

struct Totals {
  std::uint64_t tasks = 0, without = 0, unwatched = 0, differing = 0, blind = 0;
  bool system_calls = true;
};

void print_text(const std::map<std::string, Verdict>& verdicts, const std::map<std::string, Name>& names,
                const Totals& totals) {
  for (const auto& [function, verdict] : verdicts) {
    const Name& name = names.at(function);
    if (verdict.clean()) continue;
    fmt::print(stderr, "{}{}{}: {} task{}\n", name.function.empty() ? function : name.function,
               name.source.empty() ? "" : " at ", name.source, verdict.tasks, verdict.tasks == 1 ? "" : "s");
    print_finding("touched, not declared:", verdict.undeclared);
    print_finding("written, declared as read:", verdict.unannounced_write);
    print_finding("declared, not touched:", verdict.untouched);
  }
  say("{} task{} with a footprint, {} without; {} of {} task function{} touch{} something else than "
      "declared.",
      totals.tasks, totals.tasks == 1 ? "" : "s", totals.without, totals.differing, verdicts.size(),
      verdicts.size() == 1 ? "" : "s", totals.differing == 1 ? "es" : "");
  if (totals.unwatched != 0) say("{} tasks were not watched: another thread's was.", totals.unwatched);
  if (totals.blind != 0)
    say("{} task{} could not be watched to the end: a system call in it changes what is mapped, or starts a "
        "process.",
        totals.blind, totals.blind == 1 ? "" : "s");
  if (!totals.system_calls)
    say("this kernel has no syscall user dispatch (Linux 5.11): system calls that tasks make on their data "
        "may have failed.");
}

/// False when it cannot be written.
bool print_json(const std::map<std::string, Verdict>& verdicts, const std::map<std::string, Name>& names,
                const Recorded& all, const Totals& totals, const std::string& path) {
  nlohmann::ordered_json out;
  out["functions"] = nlohmann::ordered_json::array();
  for (const auto& [key, verdict] : verdicts) {
    nlohmann::ordered_json one;
    const Name& name = names.at(key);
    one["function"] = name.function;
    one["source"] = name.source;
    one["module"] = all.functions.at(key).module;
    one["offset"] = all.functions.at(key).offset;
    one["tasks"] = verdict.tasks;
    one["blind"] = verdict.blind;
    one["undeclared"] = as_json(verdict.undeclared);
    one["written_as_read"] = as_json(verdict.unannounced_write);
    one["untouched"] = as_json(verdict.untouched);
    one["ok"] = verdict.clean();
    out["functions"].push_back(one);
  }
  out["tasks"] = totals.tasks;
  out["without"] = totals.without;
  out["unwatched"] = totals.unwatched;
  out["system_calls"] = totals.system_calls;
  out["ok"] = totals.differing == 0;
  if (path.empty()) {
    fmt::print("{}\n", out.dump(2));
    return true;
  }
  std::ofstream file(path);
  file << out.dump(2) << "\n";
  file.close();
  if (file) return true;
  say("{}: cannot be written: {}", path, std::strerror(errno));
  return false;
}

/// A folder in TMPDIR that goes away with this object.
class TemporaryFolder {
 public:
  bool create() {
    const char* folder = std::getenv("TMPDIR");
    path_ = fmt::format("{}/hearth-check-XXXXXX", folder != nullptr && *folder != '\0' ? folder : "/tmp");
    if (mkdtemp(path_.data()) != nullptr) return true;
    say("{}: {}", path_, std::strerror(errno));
    path_.clear();
    return false;
  }
  ~TemporaryFolder() { remove(); }
  void remove() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

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
  }
  if (json) return print_json(verdicts, names, all, totals, json_file) && totals.differing == 0;
  print_text(verdicts, names, totals);
  return totals.differing == 0;
}

}  // namespace

int check_main(const RunRequest& request, bool json, const std::string& json_file) {
  TemporaryFolder folder;
  if (!folder.create()) return kExitNotExecutable;
  setenv("HEARTH_CHECK", folder.path().c_str(), 1);
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
    same = report(all, json, json_file);
    std::fflush(stdout);
  });
  return status != 0 ? status : same ? 0 : kExitDiffers;
}

}  // namespace hearth::cli
