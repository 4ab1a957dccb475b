// From records to a Recording. Each thread's file is read once, from its beginning (thread_assembly.h). Then tasks are put
// into the order of their paths, and dependences into edges (order.h).
//
// While a process is read, times are the clock's ticks; times.h makes nanoseconds of them.
#include <algorithm>
#include <fstream>
#include <tuple>

#include "record/blocks.h"
#include "record/order.h"
#include "record/recording.h"
#include "record/thread_assembly.h"
#include "record/times.h"

namespace hearth::record {
namespace {

class FolderAssembly {
 public:
  FolderAssembly(const std::filesystem::path& folder, const ProgressOf& progress)
      : progress_(progress), files_(find_processes(folder, out_.problems)) {}

  Recording run() {
    for (const ProcessFiles& files : files_)
      for (const ThreadFiles& thread : files.threads) all_ += size_of(thread.spill);
    struct Opened {
      const ProcessFiles* files;
      Process process;
    };
    std::vector<Opened> opened;
    for (const ProcessFiles& files : files_) {
      Opened one{&files, {}};
      one.process.name =
          files.text.empty() ? files.threads.front().any().filename().string() : files.text.stem().string();
      if (files.text.empty()) {
        problem(
            one.process.name,
            "the process's text file is missing: code has no names, and the clock's rate is this machine's");
      } else {
        std::ifstream in(files.text);
        if (!in) problem(files.text.string(), "cannot be opened");
        one.process.text = read_process(in, files.text.filename().string(), out_.problems);
      }
      const auto told = [&](const char* what) {
        const auto& untold = one.process.text.untold;
        return !files.text.empty() && std::find(untold.begin(), untold.end(), what) == untold.end();
      };
      one.process.footprints = told("footprint");
      one.process.creations = told("task_created");
      opened.push_back(std::move(one));
    }
    // In the order of their starts, which is more or less the same in each run; numbers of processes are not.
    std::stable_sort(opened.begin(), opened.end(), [](const Opened& a, const Opened& b) {
      const auto start = [](const Opened& o) {
        return o.process.text.clock.empty() ? 0 : o.process.text.clock.front().nanoseconds;
      };
      return start(a) < start(b);
    });
    for (Opened& one : opened) {
      out_.processes.push_back(std::move(one.process));
      read(*one.files);
    }
    start_at_zero();
    order(out_);
    return std::move(out_);
  }

 private:
  static std::uint64_t size_of(const std::filesystem::path& path) {
    std::error_code error;
    const auto size = std::filesystem::file_size(path, error);
    return error ? 0 : size;
  }

  void problem(const std::string& where, const std::string& what) { out_.problems.push_back({where, what}); }

  void read(const ProcessFiles& files) {
    const auto process = static_cast<Index>(out_.processes.size() - 1);
    ProcessAssembly assembly(out_, process);
    for (const ThreadFiles& of : files.threads)
      if (of.thread < kMostThreads)
        assembly.numbers.add_thread(of.thread, (size_of(of.spill) + size_of(of.open)) / sizeof(std::uint64_t));
    const Marks from = mark(out_);
    std::vector<ClockPair> clock = out_.processes[process].text.clock;
    for (const ThreadFiles& of : files.threads) {
      if (of.thread >= kMostThreads)
        problem(of.any().filename().string(), "no process has so many threads; it is left out");
      else
        read(assembly, of, clock);
    }
    for (const AllocationText& one : out_.processes[process].text.allocations)
      out_.allocations.push_back({.process = process,
                                  .code = assembly.code(one.code),
                                  .address = one.address,
                                  .bytes = one.bytes,
                                  .when = static_cast<Nanoseconds>(one.ticks)});
    for (const AllocationText& one : out_.processes[process].text.blocks) assembly.block(one, kNone);
    for (const auto& [address, when] : out_.processes[process].text.frees)
      assembly.freed(address, static_cast<Nanoseconds>(when));
    match_blocks(assembly, from);
    check_threads(files);
    if (assembly.strange() != 0)
      problem(out_.processes[process].name,
              std::to_string(assembly.strange()) + " records contradict others or name tasks that cannot be");
    const Clock rate = calibrate(clock, out_.processes[process].name, out_.problems);
    if (process == 0) out_.ticks_per_ns = 1 / rate.rate;
    convert_times(out_, from, rate);
    cut_at_regions_end(out_, from);
  }

  void read(ProcessAssembly& assembly, const ThreadFiles& of, std::vector<ClockPair>& clock) {
    const std::string name = of.any().filename().string();
    const auto index = static_cast<Index>(out_.threads.size());
    Thread& it = out_.threads.emplace_back();
    it.process = assembly.process();
    it.number = of.thread;
    std::ifstream in(of.spill, std::ios::binary), open(of.open, std::ios::binary);
    if ((!in && !of.spill.empty()) || (!open && !of.open.empty())) return problem(name, "cannot be opened");
    std::uint64_t since = 0;
    SpillSummary summary;
    assemble_thread(assembly, index, [&](const std::function<void(const Record&)>& take) {
      const auto visit = [&](const Record& record) {
        take(record);
        if (++since % 65536 == 0)
          progress_(done_ + static_cast<std::uint64_t>(std::max<std::streamoff>(in.tellg(), 0)), all_);
      };
      summary = read_spill(in, name, visit, out_.problems, of.open.empty() ? nullptr : &open);
    });
    done_ += size_of(of.spill);
    progress_(done_, all_);
    clock.insert(clock.end(), summary.clock.begin(), summary.clock.end());
    for (const auto& [ended, blocks] : out_.processes[assembly.process()].text.threads)
      if (ended == of.thread && blocks > summary.blocks + summary.damaged_blocks)
        problem(name, "of " + std::to_string(blocks) + " blocks " +
                          std::to_string(blocks - summary.blocks - summary.damaged_blocks) +
                          " are missing at the end");
    if (summary.stopped) problem(name, "recording was stopped within the run");
    if (!summary.ended && !summary.stopped && !summary.cut)
      problem(name, "the thread's end is missing: the program was killed, or ended without its runtime");
  }

  void check_threads(const ProcessFiles& files) {
    const Process& process = out_.processes.back();
    for (const auto& ended : process.text.threads) {
      const bool there = std::any_of(files.threads.begin(), files.threads.end(),
                                     [&](const ThreadFiles& of) { return of.thread == ended.first; });
      if (!there) problem(process.name, "the file of thread " + std::to_string(ended.first) + " is missing");
    }
    if (!process.text.stopped.empty()) problem(process.name, "recording stopped: " + process.text.stopped);
    if (!process.text.counters_refused.empty())
      problem(process.name, "no hardware counters: " + process.text.counters_refused);
    if (process.forks != 0)
      problem(process.name, std::to_string(process.forks) + " children by fork() are not recorded");
    if (!process.text.ended && !files.text.empty() && process.text.stopped.empty())
      problem(process.name, "the process's end is missing: it was killed, or has not ended yet");
  }

  void start_at_zero() {
    Nanoseconds start = INT64_MAX;
    for (const Process& process : out_.processes)
      if (!process.text.clock.empty()) {
        const auto first = static_cast<Nanoseconds>(process.text.clock.front().nanoseconds);
        if (first >= start) continue;
        start = first;
        out_.realtime = process.text.realtime;
      }
    if (start == INT64_MAX)
      for (const Thread& thread : out_.threads)
        if (thread.begin != kNever) start = std::min(start, thread.begin);
    const auto shift = [start](Nanoseconds& t) {
      if (t != kNever) t -= start;
    };
    const auto both = [&](auto& all) {
      for (auto& one : all) {
        shift(one.begin);
        shift(one.end);
      }
    };
    both(out_.threads);
    both(out_.tasks);
    both(out_.regions);
    both(out_.spans);
    both(out_.waits);
    both(out_.loops);
    both(out_.chunks);
    for (Task& task : out_.tasks) shift(task.created);
    for (Allocation& one : out_.allocations) {
      shift(one.when);
      shift(one.freed);
    }
    const auto when = [&](auto& all) {
      for (auto& one : all) shift(one.when);
    };
    when(out_.moves);
    when(out_.homes);
    when(out_.decisions);
    const auto earlier = [](const auto& a, const auto& b) {
      return std::tie(a.process, a.when) < std::tie(b.process, b.when);
    };
    std::stable_sort(out_.moves.begin(), out_.moves.end(), earlier);
  }

  Recording out_;
  const ProgressOf& progress_;
  std::vector<ProcessFiles> files_;
  std::uint64_t done_ = 0, all_ = 0;
};

}  // namespace

Recording assemble(const std::filesystem::path& folder, const ProgressOf& progress) {
  return FolderAssembly(folder, progress).run();
}

}  // namespace hearth::record
