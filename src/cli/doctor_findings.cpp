// What `hearth doctor` says of a program, a machine, a container and an environment. See doctor.h.
#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include <fmt/format.h>
#include <linux/mempolicy.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cli/doctor.h"
#include "cli/output.h"
#include "topology/allowance.h"
#include "topology/emulator.h"

namespace hearth::cli {
namespace {

using topology::LocationKind;
using topology::Machine;
using topology::SystemRoot;
using Weight = Finding::Weight;

constexpr const char* kRemedyForCalls =
    "allow them in the container's seccomp profile; with Docker or Podman --cap-add SYS_NICE is enough.";

std::size_t usable_llcs(const Machine& machine) {
  return static_cast<std::size_t>(std::count_if(machine.llcs.begin(), machine.llcs.end(),
                                                [](const topology::CacheDomain& llc) { return !llc.usable.empty(); }));
}

std::uint32_t farthest(const Machine& machine) {
  std::uint32_t most = 10;
  for (std::size_t a = 0; a < machine.location_distance.size(); ++a)
    for (std::size_t b = 0; b < machine.location_distance.size(); ++b)
      most = std::max(most, machine.location_distance.at(a, b));
  return most;
}

void judge_locations(const Machine& machine, Findings& out) {
  const bool caches = machine.location_kind != LocationKind::node;
  if (machine.locations.size() > 1) {
    out.push_back({.what = fmt::format(
                       "{} locations ({}) with {}; the farthest memory counts {:.1f} times as far as the nearest.",
                       machine.locations.size(), caches ? "caches" : "memory nodes",
                       counted(machine.usable.count(), "CPU"), farthest(machine) / 10.0)});
    if (!caches && machine.distance_source == topology::DistanceSource::flat)
      out.push_back({.weight = Weight::loses,
                     .what = "The firmware tells no distances, so all other nodes count as equally far.",
                     .remedy = "hearth topo --measure --keep measures them once, for all programs."});
    return;
  }
  const std::size_t llcs = usable_llcs(machine);
  out.push_back(
      {.weight = Weight::note,
       .what = fmt::format("One memory node with {}: no memory is far, so there is nothing to place. Tasks, loops and "
                           "regions are served all the same.",
                           counted(machine.usable.count(), "CPU")),
       .remedy = llcs > 1 && !caches
                     ? fmt::format("HEARTH_LOCATION=llc keeps tasks beside one of the {} last-level caches.", llcs)
                     : ""});
}

bool is_set(const OptionReader& given, OptionId id) { return given[id].given(); }

// "OMP_PLACES and KMP_AFFINITY": the variables that say where threads are to be.
std::vector<std::string> binding_variables(const OptionReader& given) {
  std::vector<std::string> names;
  const auto note = [&](OptionId id) {
    if (!is_set(given, id)) return;
    const std::string name(given[id].variable);
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  };
  if (is_set(given, OptionId::omp_places))
    note(OptionId::omp_places);
  else
    note(OptionId::omp_proc_bind);
  note(OptionId::gomp_cpu_affinity);
  note(OptionId::kmp_affinity);
  return names;
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i)
    text += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + names[i];
  return text;
}

void judge_threads(const OptionReader& given, const rt::Settings& settings, const Machine& machine, Findings& out) {
  const auto team = static_cast<int>(machine.default_team_size());
  const int asked = settings.num_threads_count > 0 ? settings.num_threads[0] : 0;
  if (asked > team)
    out.push_back(
        {.weight = Weight::loses,
         .what = fmt::format("{} asks for {} threads, and there is CPU time for {}: threads that wait take time from "
                             "threads that work.",
                             given[OptionId::omp_num_threads].variable, asked, team),
         .remedy = fmt::format("unset it, or set it to {}.", team)});
  if (asked == 1)
    out.push_back({.weight = Weight::note,
                   .what = fmt::format("{} asks for one thread: nothing runs in parallel.",
                                       given[OptionId::omp_num_threads].variable)});
  const bool spins = settings.wait_policy == rt::WaitPolicy::active;
  if (spins && (asked > team || machine.quota.limited()))
    out.push_back({.weight = Weight::loses,
                   .what = "OMP_WAIT_POLICY=active: threads that wait use up CPU time that others need here.",
                   .remedy = "unset it."});
}

// A call that was tried: 0, or its error.
int prefer_node(void* page, std::size_t bytes, unsigned node) {
  unsigned long mask[16] = {};
  constexpr unsigned kBits = 8 * sizeof mask;
  if (node >= kBits) return 0;
  mask[node / 64] = 1ul << node % 64;
  return syscall(SYS_mbind, page, bytes, MPOL_PREFERRED, mask, kBits + 1, 0) == 0 ? 0 : errno;
}

int ask_where(void* page) {
  void* pages[] = {page};
  int status = 0;
  return syscall(SYS_move_pages, 0, 1, pages, nullptr, &status, 0) == 0 ? 0 : errno;
}

int bind_as_before() {
  const topology::CpuMask mask = topology::current_affinity();
  return mask.empty() || topology::set_affinity(0, mask) ? 0 : errno;
}

}  // namespace

Findings judge_program(const Program& program) {
  Findings out;
  if (program.path != program.asked && !program.path.empty() && program.can_start())
    out.push_back({.weight = Weight::note, .what = fmt::format("{}: what runs is {}.", program.asked, program.path)});
  if (const std::string reason = explain(program); !reason.empty()) {
    out.push_back({.weight = Weight::stops, .what = reason});
    return out;
  }
  out.push_back({.what = fmt::format("{} is linked dynamically and has no OpenMP runtime of its own.", program.path)});
  if (!program.sanitizer.empty())
    out.push_back(
        {.weight = Weight::note,
         .what = fmt::format("It is built with a sanitizer ({}), so hearth run --distribute leaves its malloc alone.",
                             program.sanitizer),
         .remedy = "build it without -fsanitize to distribute its memory."});
  if (!program.own_allocator.empty())
    out.push_back(
        {.weight = Weight::note,
         .what = fmt::format("It contains its own allocator ({}), whose memory hearth run --distribute leaves alone.",
                             program.own_allocator)});
  return out;
}

Findings judge_machine(const Machine& machine, const SystemRoot& root) {
  Findings out;
  if (machine.pretended && root.is_real())
    out.push_back(
        {.weight = Weight::note,
         .what = fmt::format(
             "HEARTH_MACHINE pretends another machine ({}): tasks go where they would go there, and no thread "
             "is bound, no page moved.",
             machine.origin),
         .remedy = "unset it to use this machine."});
  if (root.is_real() && topology::is_emulated())
    out.push_back(
        {.weight = Weight::note,
         .what = "The processor is emulated (QEMU without KVM): no memory is far in truth, and all takes longer."});
  judge_locations(machine, out);
  std::int64_t balancing = 0;
  if (machine.locations.size() > 1 && root.read_number("/proc/sys/kernel/numa_balancing", balancing) && balancing != 0)
    out.push_back(
        {.weight = Weight::note,
         .what =
             "The kernel moves pages to the threads that use them (kernel.numa_balancing), but for those that Hearth "
             "distributes. What it moves costs page faults, and a task may find its data gone.",
         .remedy = "compare with sysctl kernel.numa_balancing=0."});
  return out;
}

Findings judge_container(const Machine& machine, const SystemRoot& root) {
  Findings out;
  if (const std::size_t online = machine.online.count(); machine.usable.count() < online)
    out.push_back({.weight = Weight::note,
                   .what = fmt::format("{} of {} CPUs may be used ({}): an affinity mask or a cpuset.",
                                       machine.usable.count(), online, machine.usable.list())});
  if (machine.quota.limited()) {
    const bool tight = machine.quota.cpus() < static_cast<double>(machine.usable.count());
    out.push_back(
        {.weight = tight ? Weight::loses : Weight::note,
         .what = fmt::format(
             "A cgroup limits CPU time to that of {:.2g} CPUs ({}); a team has {} unless the program asks for more.",
             machine.quota.cpus(), machine.quota.file, counted(machine.default_team_size(), "thread")),
         .remedy =
             tight
                 ? "raise the limit, or give whole CPUs (a cpuset) instead: all threads stop when the time is used up."
                 : ""});
  }
  std::size_t with_memory = 0, allowed = 0;
  for (const topology::Node& node : machine.nodes) {
    with_memory += node.has_memory;
    allowed += node.memory_allowed;
  }
  if (allowed < with_memory)
    out.push_back(
        {.weight = Weight::note,
         .what = fmt::format("Memory of {} of {} nodes may be used (a cpuset, numactl --membind, or a batch system).",
                             allowed, with_memory)});
  std::int64_t paranoid = 0;
  if (root.is_real() && geteuid() != 0 && root.read_number("/proc/sys/kernel/perf_event_paranoid", paranoid) &&
      paranoid > 2)
    out.push_back(
        {.weight = Weight::note,
         .what = fmt::format(
             "Hardware counters are closed to you (kernel.perf_event_paranoid is {}): hearth record --counters "
             "reads none.",
             paranoid),
         .remedy = "sysctl kernel.perf_event_paranoid=2."});
  if (out.empty()) out.push_back({.what = "All CPUs and all memory may be used, and no cgroup limits CPU time."});
  return out;
}

Findings judge_environment(const OptionReader& given, const rt::Settings& settings, const Machine& machine) {
  Findings out;
  if (!settings.enabled)
    out.push_back({.weight = Weight::stops,
                   .what = "HEARTH=off: hearth run starts programs on the runtime they came with.",
                   .remedy = "unset it."});
  if (const std::vector<std::string> names = binding_variables(given); names.size() > 1) {
    const std::string_view winner = rt::setting_source(given, settings, OptionId::omp_places);
    out.push_back({.weight = Weight::loses,
                   .what = fmt::format("{} say where threads are to be{}.", joined(names),
                                       winner.empty() ? std::string() : fmt::format("; {} counts", winner)),
                   .remedy = "keep one of them."});
  }
  judge_threads(given, settings, machine, out);
  if (settings.policy == rt::Policy::work_stealing || settings.policy == rt::Policy::central)
    out.push_back({.weight = Weight::loses,
                   .what = fmt::format("{} asks for a policy that sends no task to its data.",
                                       given[OptionId::hearth_policy].variable),
                   .remedy = "unset it; the default is adaptive."});
  if (out.empty())
    out.push_back({.what = "No variable stands in the way; hearth env --changed lists those that are set."});
  return out;
}

Findings judge_calls(const Machine& machine) {
  Findings out;
  const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* const page = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return out;
  const bool several = machine.locations.size() > 1;
  const auto tell = [&](const char* call, int error, const char* lost) {
    if (error != EPERM && error != ENOSYS && error != EACCES) return;
    out.push_back({.weight = several ? Weight::loses : Weight::note,
                   .what = fmt::format("{} is refused ({}): {}.", call, std::strerror(error), lost),
                   .remedy = error == ENOSYS ? "a kernel with CONFIG_NUMA." : kRemedyForCalls});
  };
  const topology::NodeMask& nodes = machine.memory_nodes;
  tell("mbind", prefer_node(page, bytes, machine.pretended || nodes.empty() ? 0 : nodes.first()),
       "memory cannot be distributed, and lies where it is touched first");
  std::memset(page, 1, 1);
  tell("move_pages", ask_where(page), "where memory lies cannot be asked, nor can it be moved");
  tell("sched_setaffinity", bind_as_before(), "threads cannot be bound");
  munmap(page, bytes);
  return out;
}

}  // namespace hearth::cli
