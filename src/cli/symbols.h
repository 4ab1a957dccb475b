// Names of places in programs' code, from their debugging information, by binutils' addr2line.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

namespace hearth::cli {

/// Empty fields: nobody knows.
struct Symbol {
  std::string function, file;
  int line = 0;
};

/// Addresses in object files, as they are linked.
using CodeOffsets = std::map<std::string, std::set<std::uint64_t>>;

/// addr2line runs once for each object file. Without it, or without the file, nothing is known.
class Symbols {
 public:
  explicit Symbols(const CodeOffsets& wanted);
  /// Null: nobody knows.
  const Symbol* of(const std::string& module, std::uint64_t offset) const;

 private:
  std::map<std::string, std::map<std::uint64_t, Symbol>> found_;
};

}  // namespace hearth::cli
