// A process while its threads are read: tasks, regions and places in the code by their numbers. One thread uses it.
//
// Times in the Recording are the clock's ticks until times.h converts them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "record/cpu_lists.h"
#include "record/recording.h"

namespace hearth::record {

/// What a task's thread is doing in it, and where it stands in its region.
struct Scratch {
  Index open_wait = kNone;
  bool creating = false;
  std::uint32_t constructs = 0;  // worksharing constructs it has met
  Slot slot;
  Index open_loop = kNone;
  Index open_chunk = kNone;
  std::uint64_t single_began = 0;  // the number of the record
};

/// The indices of what the threads of a process have numbered.
class Numbers {
 public:
  /// `room`: more numbers than a file of that size can name are nonsense.
  void add_thread(std::uint32_t thread, std::uint64_t room) {
    if (thread >= of_thread_.size()) of_thread_.resize(thread + 1);
    of_thread_[thread].room = room;
  }
  /// Null for a number that cannot be.
  Index* find(std::uint64_t id) {
    const std::uint64_t thread = (id >> kNumberBits) - 1;
    const std::uint64_t number = id & ((std::uint64_t{1} << kNumberBits) - 1);
    if (thread >= of_thread_.size() || number > of_thread_[thread].room) return nullptr;
    auto& indices = of_thread_[thread].indices;
    if (number >= indices.size())
      indices.resize(std::max<std::size_t>(number + 1, indices.size() * 3 / 2), kNone);
    return &indices[number];
  }

 private:
  struct OfThread {
    std::uint64_t room = 0;
    std::vector<Index> indices;
  };
  std::vector<OfThread> of_thread_;
};

class ProcessAssembly {
 public:
  ProcessAssembly(Recording& out, Index process)
      : out_(out), process_(process), first_task_(out.tasks.size()) {
    codes_.reserve(64);
    const MachineText& machine = out.processes[process].text.machine;
    pretended_ = machine.pretended;
    for (std::size_t i = 0; i < machine.locations.size(); ++i)
      for_each_cpu(machine.locations[i].cpus, [&](unsigned cpu) {
        if (cpu >= location_of_cpu_.size()) location_of_cpu_.resize(cpu + 1, -1);
        location_of_cpu_[cpu] = static_cast<std::int32_t>(i);
      });
  }

  /// A block with its source and distribution.
  void block(const AllocationText& text, Index thread) {
    Allocation& one = out_.allocations.emplace_back();
    one.process = process_;
    one.thread = thread;
    one.code = code(text.code);
    one.address = text.address;
    one.bytes = text.bytes;
    one.when = static_cast<Nanoseconds>(text.ticks);
    one.source = static_cast<std::uint32_t>(text.facts & 0xff);
    one.distribution = static_cast<std::int32_t>(text.facts >> 8 & 0xff) - 1;
  }

  bool pretended() const { return pretended_; }
  /// -1: not known.
  std::int32_t location_of_cpu(std::uint32_t cpu) const {
    return cpu < location_of_cpu_.size() ? location_of_cpu_[cpu] : -1;
  }

  Numbers numbers;
  // Of blocks by address; matched to allocations when all threads are read (blocks.h).
  std::vector<std::pair<std::uint64_t, Home>> homes;
  std::vector<std::pair<std::uint64_t, Nanoseconds>> frees;
  std::vector<std::pair<std::uint64_t, Touch>> touches;
  void freed(std::uint64_t address, Nanoseconds when) { frees.emplace_back(address, when); }

  // ---- tasks and regions by number

  Index task(std::uint64_t id) {
    Index* index = id == 0 ? nullptr : numbers.find(id);
    if (index == nullptr) {
      if (id != 0) ++strange_;
      return kNone;
    }
    if (*index == kNone) {
      *index = static_cast<Index>(out_.tasks.size());
      out_.tasks.emplace_back();
      out_.tasks.back().process = process_;
      scratch_.emplace_back();
    }
    return *index;
  }

  Index region(std::uint64_t id) {
    Index* index = id == 0 ? nullptr : numbers.find(id);
    if (index == nullptr) return kNone;
    if (*index == kNone) {
      *index = static_cast<Index>(out_.regions.size());
      out_.regions.emplace_back();
      out_.regions.back().process = process_;
    }
    return *index < out_.regions.size() ? *index : kNone;
  }

  Index code(std::uint64_t address) {
    if (address == 0) return kNone;
    for (const auto& [known, index] : codes_)  // few, and mostly the last ones
      if (known == address) return index;
    Code code;
    code.process = process_;
    code.address = address;
    for (const Module& module : out_.processes[process_].text.modules)
      if (address >= module.begin && address < module.end) {
        code.module = module.path;
        code.offset = address - module.base;
      }
    const auto index = static_cast<Index>(out_.codes.size());
    out_.codes.push_back(std::move(code));
    codes_.emplace_back(address, index);
    return index;
  }

  /// The same, but nothing for code of an OpenMP runtime: a compiler that jumps to a call at a function's end leaves the
  /// runtime as the caller.
  Index code_of_program(std::uint64_t address) {
    const Index index = code(address);
    if (index == kNone) return index;
    const std::string& module = out_.codes[index].module;
    const std::string name = module.substr(module.rfind('/') + 1);
    for (const char* const runtime : {"libhearth", "libomp", "libgomp", "libiomp5"})
      if (name.starts_with(runtime)) return kNone;
    return index;
  }

  Scratch& scratch(Index task) { return scratch_[task - first_task_]; }
  Task& at(Index task) { return out_.tasks[task]; }
  bool is_task(Index index) const {
    return index != kNone && index >= first_task_ && index < out_.tasks.size();
  }

  Recording& out() { return out_; }
  Index process() const { return process_; }
  std::uint64_t strange() const { return strange_; }
  void is_strange() { ++strange_; }
  std::size_t first_task() const { return first_task_; }

 private:
  Recording& out_;
  Index process_;
  std::size_t first_task_;
  std::vector<Scratch> scratch_;
  bool pretended_ = false;
  std::vector<std::int32_t> location_of_cpu_;
  std::vector<std::pair<std::uint64_t, Index>> codes_;
  std::uint64_t strange_ = 0;
};

}  // namespace hearth::record
