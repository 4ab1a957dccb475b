// See explain_report.h.
#include "cli/explain_report.h"

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <vector>

#include <fmt/format.h>
#include <sys/wait.h>

#include "cli/output.h"
#include "cli/symbols.h"

namespace hearth::cli {
namespace {

constexpr std::string_view kTaskAt = "task at ";  // begins the lines of a construct
constexpr std::string_view kOffset = "+0x";

struct CodePlace {
  std::string module;
  std::uint64_t offset = 0;
};

/// Of a construct's first line. False: it is another line, or in no file.
bool place_in(const std::string& line, CodePlace& place) {
  if (!line.starts_with(kTaskAt)) return false;
  const std::size_t plus = line.rfind(kOffset);
  if (plus == std::string::npos) return false;
  place.module = line.substr(kTaskAt.size(), plus - kTaskAt.size());
  place.offset = std::strtoull(line.c_str() + plus + kOffset.size(), nullptr, 16);
  return true;
}

/// The program's function: compilers put a construct's body into one of their own. Empty: nobody knows.
std::string function_name(const std::string& symbol) {
  for (const std::string_view mark : {"._omp_fn.", "._omp_cpyfn.", ".omp_outlined"})
    if (const std::size_t at = symbol.find(mark); at != std::string::npos) return symbol.substr(0, at);
  return symbol.starts_with(".omp_task_entry.") ? std::string() : symbol;
}

Symbols symbols_of(const std::vector<std::string>& lines) {
  CodeOffsets wanted;
  CodePlace place;
  for (const std::string& line : lines)
    if (place_in(line, place)) wanted[place.module].insert(place.offset);
  return Symbols(wanted);
}

std::string named(const std::string& line, const Symbols& symbols) {
  CodePlace place;
  if (!place_in(line, place)) return line;
  const Symbol* const symbol = symbols.of(place.module, place.offset);
  if (symbol == nullptr) return line;
  const std::string function = function_name(symbol->function);
  const std::string source =
      symbol->file.empty() ? line.substr(kTaskAt.size()) : fmt::format("{}:{}", symbol->file, symbol->line);
  return function.empty() ? fmt::format("task at {}", source) : fmt::format("task in {} at {}", function, source);
}

}  // namespace

bool ExplainReport::begin() {
  if (!folder_.create("explain")) return false;
  setenv("HEARTH_EXPLAIN", (folder_.path() + "/%p").c_str(), 1);
  return true;
}

bool ExplainReport::tell(const std::string& file, int status, bool off) const {
  std::set<std::filesystem::path> texts;  // in an order that two runs share
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) texts.insert(entry.path());
  std::vector<std::string> lines;
  std::size_t lost = 0;
  for (const std::filesystem::path& path : texts) {
    std::ifstream text(path);
    const std::size_t before = lines.size();
    for (std::string line; std::getline(text, line);) lines.push_back(line);
    lost += lines.size() == before;
  }
  if (off)
    say("HEARTH=off: the program kept the runtime it came with; there is nothing to explain.");
  else if (texts.empty())
    say("no process made a task on Hearth; there is nothing to explain.");
  if (lost != 0)
    say("{} with tasks ended without exit(){}; what became of those tasks is not known.",
        counted(lost, "process", "processes"),
        WIFSIGNALED(status) ? fmt::format(", the program by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)))
                            : "");
  const Symbols symbols = symbols_of(lines);
  std::string text;
  for (const std::string& line : lines) text += named(line, symbols) + "\n";
  if (!file.empty()) return write_file(file, text);
  put_text(stderr, text);
  return true;
}

}  // namespace hearth::cli
