// SystemRoot: where /proc and /sys are found. The real machine's is the empty prefix; a test or `hearth topo
// --replay` gives a folder that holds a recorded tree. Everything in this room that probes the system reads
// through it.
//
// Immutable, so any thread may use one. Reads are plain open/read/close: no stdio, no allocation beyond the
// result.
#pragma once

#include <cstdint>

#include <string>
#include <string_view>

#include "topology/cpu_mask.h"

namespace hearth::topology {

class SystemRoot {
 public:
  SystemRoot() = default;
  explicit SystemRoot(std::string prefix);

  const std::string& prefix() const { return prefix_; }
  bool is_real() const { return prefix_.empty(); }

  /// Whole file, at most 16 MiB (a mountinfo of a busy container host is the largest read here). False when
  /// it cannot be opened or read; `out` is then empty.
  bool read(const char* path, std::string& out) const;
  /// First line without blank space around it. False when the file is missing.
  bool read_line(const char* path, std::string& out) const;
  /// A decimal number at the start of the file.
  bool read_number(const char* path, std::int64_t& out) const;
  /// A list of numbers ("0-3,8"); false when it is missing or malformed.
  bool read_list(const char* path, CpuMask& out) const;
  bool exists(const char* path) const;
  /// The numbers N for which <folder>/<stem>N exists. For what no list file names.
  CpuMask numbered_entries(const char* folder, std::string_view stem) const;

 private:
  int open(const char* path, int flags) const;

  std::string prefix_;
};

}  // namespace hearth::topology
