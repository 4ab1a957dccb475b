#include "cli/symbols.h"

#include <cstdio>
#include <cstdlib>
#include <vector>

#include <fmt/format.h>

namespace hearth::cli {
namespace {

std::string quoted(const std::string& path) {
  std::string text = "'";
  for (const char c : path) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

bool read_line(std::FILE* from, std::string& line) {
  char text[4096];
  line.clear();
  while (std::fgets(text, sizeof text, from) != nullptr) {
    line += text;
    if (line.back() != '\n') continue;
    line.pop_back();
    return true;
  }
  return false;
}

// A header of the compiler or a library, out of which the compiler has inlined something: no place that a user looks for.
bool is_of_system(const std::string& file) {
  return file.starts_with("/usr/include/") || file.starts_with("/usr/lib/") || file.starts_with("/usr/local/include/");
}

// What addr2line says of one function at an offset, unless it is less than what is known.
void take_frame(const std::string& function, std::string place, Symbol& symbol) {
  const std::size_t note = place.find(" (discriminator");
  if (note != std::string::npos) place.resize(note);
  const std::size_t colon = place.rfind(':');
  const bool known = place.find("??") == std::string::npos && colon != std::string::npos;
  const int line = known ? std::atoi(place.c_str() + colon + 1) : 0;
  if (!symbol.file.empty() && (line == 0 || is_of_system(place))) return;
  if (function.find("??") == std::string::npos) symbol.function = function;
  if (line == 0) return;
  symbol.line = line;
  symbol.file = place.substr(0, colon);
}

std::map<std::uint64_t, Symbol> find_symbols(const std::string& module, const std::set<std::uint64_t>& offsets) {
  constexpr std::size_t kAtOnce = 500;  // a command line has its limits
  std::map<std::uint64_t, Symbol> found;
  if (module.empty() || module[0] != '/') return found;
  const std::vector<std::uint64_t> all(offsets.begin(), offsets.end());
  for (std::size_t first = 0; first < all.size(); first += kAtOnce) {
    std::string command = fmt::format("addr2line -a -i -f -C -e {}", quoted(module));
    const std::size_t end = std::min(all.size(), first + kAtOnce);
    for (std::size_t i = first; i < end; ++i) command += fmt::format(" {:#x}", all[i]);
    std::FILE* pipe = popen((command + " 2>/dev/null").c_str(), "r");
    if (pipe == nullptr) break;
    // For each offset its number, and then two lines for each function: the innermost that was inlined there first.
    Symbol* symbol = nullptr;
    std::string line;
    std::string place;
    while (read_line(pipe, line)) {
      if (line.starts_with("0x")) {
        symbol = &found[std::strtoull(line.c_str(), nullptr, 16)];
        continue;
      }
      if (!read_line(pipe, place)) break;
      if (symbol != nullptr && (symbol->file.empty() || is_of_system(symbol->file))) take_frame(line, place, *symbol);
    }
    pclose(pipe);
  }
  return found;
}

}  // namespace

Symbols::Symbols(const CodeOffsets& wanted) {
  for (const auto& [module, offsets] : wanted) found_[module] = find_symbols(module, offsets);
}

const Symbol* Symbols::of(const std::string& module, std::uint64_t offset) const {
  const auto of_module = found_.find(module);
  if (of_module == found_.end()) return nullptr;
  const auto found = of_module->second.find(offset);
  return found == of_module->second.end() ? nullptr : &found->second;
}

}  // namespace hearth::cli
