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

/// Of addresses in an object file, as it is linked. Without addr2line, or without the file, none.
std::map<std::uint64_t, Symbol> find_symbols(const std::string& module,
                                             const std::set<std::uint64_t>& offsets);

}  // namespace hearth::cli
