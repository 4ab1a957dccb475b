// Reading a recording folder: spill files record by record, and the processes' text files.
//
// Files may come from a program that was killed, a disk that was full or a copy that was cut: what is whole
// is delivered, and what is not is named. Nothing in a file is trusted. Single-threaded.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <istream>
#include <string>
#include <vector>

#include "record/spill.h"

namespace hearth::record {

struct Problem {
  std::string where;  // a file, and where in it
  std::string what;
};

/// A record whose length fits its kind; the words after the first.
struct Record {
  Kind kind = Kind::none;
  std::uint64_t ticks = 0;
  const std::uint64_t* words = nullptr;
  std::size_t items = 0;  // of its list
};

struct ClockPair {
  std::uint64_t ticks = 0;
  std::uint64_t nanoseconds = 0;  // CLOCK_MONOTONIC
};

/// What a spill file held.
struct SpillSummary {
  std::uint64_t blocks = 0;
  std::uint64_t records = 0;
  std::uint64_t damaged_blocks = 0;
  bool cut = false;              // the file ends within a block
  bool ended = false;            // the thread's end is there
  bool stopped = false;          // recording was given up
  std::vector<ClockPair> clock;  // the first and the last
};

/// Calls `visit` for each record of the file, in order, and then of the thread's open block, if there is one.
SpillSummary read_spill(std::istream& in, const std::string& name, const std::function<void(const Record&)>& visit,
                        std::vector<Problem>& problems, std::istream* open = nullptr);

struct Module {
  std::uint64_t base = 0, begin = 0, end = 0;
  std::string path;
};

/// A block that a thread outside of OpenMP got from the allocator.
struct AllocationText {
  std::uint64_t ticks = 0, address = 0, bytes = 0, code = 0;
  std::uint64_t facts = 0;  // source | (distribution + 1) << 8
};

/// A location of the machine, as the runtime has it; of runtimes that do not tell, a node.
struct LocationText {
  int node = -1;
  bool holds_memory = false;
  std::uint64_t bytes = 0;  // 0: not known
  std::string cpus;         // as the kernel lists them
  std::vector<std::uint32_t> distances;
  std::vector<std::uint32_t> latencies;  // in 1/10 ns, 0: not known; may be empty
};
struct MachineText {
  bool told = false;  // by the runtime
  bool pretended = false;
  std::string name, source, policy, kind, distances;
  std::vector<LocationText> locations;
};

/// A process's text file.
struct ProcessText {
  std::int64_t pid = 0, parent_pid = 0;
  std::string runtime, host, command;
  std::vector<ClockPair> clock;
  std::uint64_t realtime = 0;                      // at the first of them
  std::vector<std::pair<int, std::string>> nodes;  // and their processors, as the kernel lists them
  std::vector<Module> modules;
  std::vector<std::string> untold;                               // what the runtime does not tell tools
  std::vector<std::pair<std::uint32_t, std::uint64_t>> threads;  // that ended, and their blocks
  std::vector<AllocationText> allocations, blocks;               // by malloc alone; and with facts
  std::vector<std::pair<std::uint64_t, std::uint64_t>> frees;    // address, ticks
  MachineText machine;
  std::vector<std::pair<int, std::vector<std::uint32_t>>> slit;  // by node
  std::vector<std::string> whys, distributions;                  // words for numbers in records
  std::string counters_refused, faults_refused, stopped;
  std::uint64_t lost_faults = 0;  // samples
  bool ended = false;
};
ProcessText read_process(std::istream& in, const std::string& name, std::vector<Problem>& problems);

/// The files of a thread; either of them may be missing.
struct ThreadFiles {
  std::uint32_t thread = 0;
  std::filesystem::path spill, open;
  const std::filesystem::path& any() const { return spill.empty() ? open : spill; }
};

/// The files of a process.
struct ProcessFiles {
  std::filesystem::path text;
  std::vector<ThreadFiles> threads;  // in their order
};
/// Of all processes in the folder, by name.
std::vector<ProcessFiles> find_processes(const std::filesystem::path& folder, std::vector<Problem>& problems);

}  // namespace hearth::record
