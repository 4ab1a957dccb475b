// The order of the measurements and their time. The kernels are in measure_kernels.cpp, the file that comes out in
// measure_text.cpp.
//
// One memory node after the other: an array on it, then a walk by every core, then streams by the cores of every node.
// Between two measurements the caller's Watch is asked whether to go on.
#include "survey/measure.h"

#include <cstdio>
#include <cstring>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <memory>
#include <stdexcept>

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "survey/measure_kernels.h"
#include "topology/sysfs.h"

namespace hearth::survey {
namespace {

using topology::CacheDomain;
using topology::Core;
using topology::CpuMask;
using topology::Location;
using topology::Machine;
using topology::Matrix;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kMiB = std::size_t{1} << 20;

struct Stopped {};

// How much CPU time others took while we measured.
class OtherLoad {
 public:
  explicit OtherLoad(const CpuMask& cpus) : cpus_(cpus), before_(others()) {}

  /// CPUs' worth.
  double busy() const {
    const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
    return seconds > 0 ? std::max(0.0, others() - before_) / seconds : 0;
  }

 private:
  double others() const {
    std::ifstream stat("/proc/stat");
    std::string line;
    double ticks = 0;
    while (std::getline(stat, line)) {
      unsigned cpu = 0;
      unsigned long long user = 0, nice = 0, system = 0, idle = 0, wait = 0, irq = 0, soft = 0, steal = 0;
      if (std::sscanf(line.c_str(), "cpu%u %llu %llu %llu %llu %llu %llu %llu %llu", &cpu, &user, &nice,
                      &system, &idle, &wait, &irq, &soft, &steal) == 9 &&
          cpus_.test(cpu))
        ticks += static_cast<double>(user + nice + system + irq + soft + steal);
    }
    rusage own{};
    getrusage(RUSAGE_SELF, &own);
    const auto seconds = [](const timeval& time) {
      return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
    };
    return ticks / static_cast<double>(sysconf(_SC_CLK_TCK)) - seconds(own.ru_utime) - seconds(own.ru_stime);
  }

  CpuMask cpus_;
  Clock::time_point start_ = Clock::now();
  double before_;
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

class Measurement {
 public:
  Measurement(const Machine& machine, bool quick, const Watch& watch)
      : machine_(machine), quick_(quick), watch_(watch) {
    const std::size_t size = machine.locations.size();
    all_.read_ns = Matrix<double>(size, 0);
    all_.read_mbs = Matrix<double>(size, 0);
    all_.loaded_ns.assign(size, 0);
    all_.memory_gbs.assign(size, 0);
    all_.page_bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    for (const Location& location : machine.locations) {
      // One CPU of each core, by core.
      std::vector<unsigned>& cpus = cpus_.emplace_back();
      for (const Core& core : machine.cores) {
        const CpuMask here = core.usable & location.cpus;
        if (!here.empty()) cpus.push_back(here.first());
      }
    }
    plan();
  }

  Measured run() {
    const OtherLoad load(machine_.usable);
    const std::size_t first = with_cpus().front();
    step("the clock", brief_);
    all_.clock_ghz = clock_ghz(cpus_[first].front(), brief_);
    read_private_bytes(cpus_[first].front());
    for (std::size_t memory = 0; memory < size(); ++memory) {
      if (machine_.locations[memory].holds_memory) measure_memory(memory);
    }
    all_nodes_at_once();
    move_a_thread();
    finish_latencies();
    remark_load(load.busy());
    return std::move(all_);
  }

 private:
  std::size_t size() const { return machine_.locations.size(); }
  unsigned number(std::size_t location) const {
    return machine_.nodes[static_cast<std::size_t>(machine_.locations[location].node)].os;
  }
  std::vector<std::size_t> with_cpus() const {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < size(); ++i) {
      if (!cpus_[i].empty()) found.push_back(i);
    }
    return found;
  }
  std::size_t nearest_with_cpus(std::size_t memory) const {
    const std::vector<std::size_t> candidates = with_cpus();
    return *std::min_element(candidates.begin(), candidates.end(), [&](std::size_t a, std::size_t b) {
      return machine_.location_distance.at(a, memory) < machine_.location_distance.at(b, memory);
    });
  }

  /// Before a measurement of `seconds`.
  void step(const std::string& what, double seconds) {
    if (!watch_({what, done_, expected_})) throw Stopped();
    done_ += seconds;
  }
  void remark(std::string text) {
    if (std::find(all_.remarks.begin(), all_.remarks.end(), text) == all_.remarks.end())
      all_.remarks.push_back(std::move(text));
  }

  // Sizes and times. Arrays are many times the caches; half of one is for the walk. Cores share some three
  // minutes.
  void plan() {
    std::uint64_t cache = 0;
    for (const Location& location : machine_.locations) {
      std::uint64_t here = 0;
      for (const CacheDomain& llc : machine_.llcs) {
        if (llc.cpus.intersects(location.cpus)) here += llc.bytes;
      }
      cache = std::max(cache, here);
    }
    std::size_t memories = 0;
    std::size_t cores = 0;
    for (std::size_t i = 0; i < size(); ++i) {
      memories += machine_.locations[i].holds_memory;
      cores += cpus_[i].size();
    }
    struct sysinfo info{};
    sysinfo(&info);
    const std::size_t free = static_cast<std::size_t>(info.freeram) * info.mem_unit;
    const std::size_t wanted = quick_ ? std::clamp<std::size_t>(4 * cache, 64 * kMiB, 256 * kMiB)
                                      : std::clamp<std::size_t>(8 * cache, 256 * kMiB, 4096 * kMiB);
    // All nodes have one at the end, at the same time.
    bytes_ = std::max(4 * kMiB, std::min(wanted, free / 2 / std::max<std::size_t>(1, memories)));
    if (bytes_ < 4 * cache) {
      remark(fmt::format(
          "Arrays of {} MiB beside caches of {} MiB: latencies and bandwidths are partly the caches'.",
          bytes_ / kMiB, cache / kMiB));
    }
    if (quick_) remark("Quick: one core for each node, short times.");
    const std::size_t nodes = with_cpus().size();
    const std::size_t walks = memories * (quick_ ? nodes : cores);
    walk_ = quick_ ? 0.02 : std::clamp(180.0 / static_cast<double>(walks), 0.03, 0.3);
    brief_ = quick_ ? 0.02 : 0.3;
    prepare_ = static_cast<double>(bytes_) / static_cast<double>(kMiB) * 0.006;
    const auto count = [](std::size_t n) { return static_cast<double>(n); };
    expected_ = brief_ * 2 + prepare_ * count(memories) * 2 + walk_ * count(walks) +
                brief_ * count(memories) * (count(nodes) + 6) + brief_;
  }

  std::unique_ptr<Array> array_on(std::size_t memory) {
    const std::size_t near = nearest_with_cpus(memory);
    auto array = std::make_unique<Array>(bytes_, number(memory), machine_.nodes.size() == 1,
                                         cpus_[near].front(), near == memory);
    if (array->bind_error() != 0) {
      remark(fmt::format("mbind was refused ({}): memory is on the node of the core that touched it first.",
                         std::strerror(array->bind_error())));
    }
    if (!array->usable()) {
      remark(fmt::format("Node {}: not measured, {}.", number(memory),
                         array->binding() == Binding::missed ? "the kernel put its memory elsewhere"
                                                             : "no memory could be had there"));
      return nullptr;
    }
    if (array->binding() == Binding::first_touch && array->bind_error() == 0)
      remark("The kernel does not say where pages are: that memory is on its node was not checked.");
    if (!array->huge()) remark("Without huge pages: latencies hold misses of the TLB as well.");
    return array;
  }

  static std::vector<Streamer> streamers(const std::vector<unsigned>& cpus, char* begin, std::size_t bytes) {
    std::vector<Streamer> parts;
    const std::size_t each = bytes / std::max<std::size_t>(1, cpus.size()) / 4096 * 4096;
    for (std::size_t i = 0; i < cpus.size(); ++i) parts.push_back({cpus[i], begin + i * each, each});
    return parts;
  }

  void measure_memory(std::size_t memory) {
    const std::string name = fmt::format("memory of node {}", number(memory));
    step(name + ": making arrays", prepare_);
    const std::unique_ptr<Array> array = array_on(memory);
    if (array == nullptr) return;
    const std::size_t half = array->bytes() / 2;
    lay_cycle(*array, half, kLine);
    const std::size_t near = nearest_with_cpus(memory);

    for (const std::size_t node : with_cpus()) {
      std::vector<double> cores;
      for (const unsigned cpu : cpus_[node]) {
        step(fmt::format("{}: latency from CPU {}", name, cpu), walk_);
        cores.push_back(chase_ns(*array, cpu, walk_, false));
        if (quick_) break;
      }
      all_.read_ns.at(node, memory) = median(std::move(cores));
    }
    const unsigned core = cpus_[near].front();
    if (near == memory) {
      if (cpus_[near].size() > 1) {
        step(name + ": latency under load", brief_);
        const std::vector<unsigned> others(cpus_[near].begin() + 1, cpus_[near].end());
        all_.loaded_ns[memory] =
            loaded_ns(*array, core, streamers(others, array->data() + half, half), brief_);
      } else {
        remark(fmt::format("Node {} has one core: no latency under load.", number(memory)));
      }
    }
    const bool first = all_.write_latency == 0;
    if (first) {
      step(name + ": written lines", brief_);
      all_.write_latency = chase_ns(*array, core, brief_, true) / all_.read_ns.at(near, memory);
    }
    for (const std::size_t node : with_cpus()) {
      step(fmt::format("{}: bandwidth to node {}", name, number(node)), brief_);
      const double gbs =
          stream_gbs(streamers(cpus_[node], array->data(), array->bytes()), Walk::read, brief_);
      all_.read_mbs.at(node, memory) = gbs * 1000;
      all_.memory_gbs[memory] = std::max(all_.memory_gbs[memory], gbs);
    }
    if (first) measure_core(*array, memory, near, core);
    if (all_.move_pages_us == 0 && size() > 1) measure_moves(*array, memory);
  }

  // What one core can, and what is the same for all memory.
  void measure_core(Array& array, std::size_t memory, std::size_t near, unsigned core) {
    const double latency = all_.read_ns.at(near, memory);
    const std::vector<Streamer> one = {{core, array.data(), array.bytes()}};
    const auto misses = [&](const char* what, Walk walk) {
      step(fmt::format("one core, {}", what), brief_);
      // Little's law.
      return stream_gbs(one, walk, brief_) * latency / static_cast<double>(kLine);
    };
    all_.stream_misses = misses("streaming", Walk::read);
    all_.strided_misses = misses("short rows", Walk::strided);
    all_.random_misses = misses("at random", Walk::random);
    step("all cores, writing", brief_);
    const double written =
        stream_gbs(streamers(cpus_[near], array.data(), array.bytes()), Walk::write, brief_);
    if (written > 0) all_.write_occupancy = all_.read_mbs.at(near, memory) / 1000 / written;
    for (const CacheDomain& llc : machine_.llcs) {
      if (!llc.cpus.test(core) || llc.bytes == 0) continue;
      // Beyond the private cache, within the shared one.
      const std::size_t bytes = std::max<std::size_t>(all_.private_bytes * 2, llc.bytes / 4);
      if (bytes >= llc.bytes || bytes > array.bytes()) break;
      step("the last-level cache", brief_);
      lay_cycle(array, bytes, kLine);
      chase_ns(array, core, brief_, false);
      all_.llc_ns = chase_ns(array, core, brief_, false);
    }
    if (all_.llc_ns == 0) remark("The last-level cache is not described: its latency is assumed.");
  }

  void measure_moves(const Array& array, std::size_t memory) {
    for (std::size_t to = 0; to < size(); ++to) {
      if (to == memory || !machine_.locations[to].holds_memory) continue;
      step("moving pages", brief_);
      constexpr std::size_t kPages = 512;
      const MoveCost cost = move_cost(array, kPages, number(to), number(memory));
      if (cost.one <= 0 || cost.many <= cost.one) {
        remark("move_pages was refused or moved nothing: its costs are assumed.");
      } else {
        all_.move_pages_us = (cost.many - cost.one) / (kPages - 1);
        all_.move_pages_base_us = std::max(0.01, cost.one - all_.move_pages_us);
      }
      return;
    }
  }

  void all_nodes_at_once() {
    const std::vector<std::size_t> nodes = with_cpus();
    if (nodes.size() < 2) return;
    std::vector<std::unique_ptr<Array>> arrays;
    std::vector<Streamer> parts;
    for (const std::size_t node : nodes) {
      if (!machine_.locations[node].holds_memory) continue;
      step("all nodes at once: making arrays", prepare_);
      arrays.push_back(array_on(node));
      if (arrays.back() == nullptr) return;
      for (const Streamer& part : streamers(cpus_[node], arrays.back()->data(), arrays.back()->bytes()))
        parts.push_back(part);
    }
    step("all nodes at once", brief_);
    all_.all_local_gbs = stream_gbs(parts, Walk::read, brief_);
  }

  void move_a_thread() {
    const std::vector<std::size_t> nodes = with_cpus();
    if (nodes.size() < 2) {
      remark(machine_.nodes.size() > 1 ? "One node may be used: nothing between nodes was measured."
                                       : "One node: there is nothing between nodes to measure.");
      return;
    }
    step("moving a thread", brief_);
    const double cost = move_thread_us(cpus_[nodes[0]].front(), cpus_[nodes[1]].front(), brief_);
    if (cost > 0) all_.move_thread_us = cost;
  }

  // A model has a latency for each pair of which one has CPUs and the other memory. What could not be
  // measured takes the longest that was, and is named.
  void finish_latencies() {
    double longest = 0;
    for (std::size_t a = 0; a < size(); ++a) {
      for (std::size_t b = 0; b < size(); ++b) longest = std::max(longest, all_.read_ns.at(a, b));
    }
    if (longest == 0) throw std::runtime_error("nothing could be measured: no node's memory could be had");
    for (std::size_t a = 0; a < size(); ++a) {
      for (std::size_t b = 0; b < size(); ++b) {
        if (all_.read_ns.at(a, b) > 0 || cpus_[a].empty() || !machine_.locations[b].holds_memory) continue;
        all_.read_ns.at(a, b) = longest;
        remark(fmt::format("From node {} to node {}: not measured; read_ns has the longest that was.",
                           number(a), number(b)));
      }
    }
  }

  void remark_load(double busy) {
    const auto cpus = static_cast<double>(machine_.usable.count());
    if (busy > 0.05 * cpus) {
      remark(fmt::format(
          "The machine was not idle: others kept {:.1f} of {:.0f} CPUs busy, so latencies are too long "
          "and bandwidths too low.",
          busy, cpus));
    }
    remark(
        "Assumed, because a program cannot see it: overlap, remote_occupancy, what scheduling costs, "
        "fault_us.");
  }

  // The largest cache below the last level that the core has for itself.
  void read_private_bytes(unsigned cpu) {
    const topology::SystemRoot root;
    const std::string folder = fmt::format("/sys/devices/system/cpu/cpu{}/cache", cpu);
    const int core = machine_.cpus[static_cast<std::size_t>(machine_.cpu_index(cpu))].core;
    root.numbered_entries(folder.c_str(), "index").for_each([&](unsigned index) {
      const std::string cache = fmt::format("{}/index{}", folder, index);
      std::string type;
      std::string size;
      CpuMask shared;
      if (!root.read_line((cache + "/type").c_str(), type) || type == "Instruction" ||
          !root.read_list((cache + "/shared_cpu_list").c_str(), shared) ||
          !root.read_line((cache + "/size").c_str(), size))
        return;
      if (!machine_.cores[static_cast<std::size_t>(core)].cpus.contains(shared)) return;
      char unit = 'B';
      unsigned long long bytes = 0;
      if (std::sscanf(size.c_str(), "%llu%c", &bytes, &unit) < 1) return;
      bytes <<= unit == 'K' ? 10 : unit == 'M' ? 20 : 0;
      all_.private_bytes = std::max(all_.private_bytes, static_cast<std::size_t>(bytes));
    });
  }

  static constexpr std::size_t kLine = 64;

  const Machine& machine_;
  const bool quick_;
  const Watch& watch_;
  std::vector<std::vector<unsigned>> cpus_;  // by location: one for each core
  std::size_t bytes_ = 0;
  double walk_ = 0;
  double brief_ = 0;
  double prepare_ = 0;
  double expected_ = 0;
  double done_ = 0;
  Measured all_;
};

}  // namespace

std::optional<Measured> measure(const Machine& machine, bool quick, const Watch& watch) {
  if (std::none_of(machine.locations.begin(), machine.locations.end(),
                   [](const Location& one) { return one.holds_memory; }))
    throw std::runtime_error("nothing can be measured: no node has memory that may be used");
  try {
    return Measurement(machine, quick, watch).run();
  } catch (const Stopped&) {
    return std::nullopt;
  }
}

}  // namespace hearth::survey
