// See simulated_recording.h.
#include "replay/simulated_recording.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "policy/machine_tables.h"
#include "policy/policies.h"
#include "policy/why.h"
#include "record/database.h"
#include "record/spill.h"

namespace hearth::replay {
namespace {

using record::Index;

// As OMPT numbers them.
constexpr std::uint32_t kInitialThread = 1, kWorker = 2, kTaskwait = 5, kTaskgroup = 6, kRegionEnd = 9;
constexpr std::uint32_t kComplete = 1, kUndeferred = 0x08000000;
constexpr std::uint64_t kFirstAddress = std::uint64_t{1} << 32, kApart = std::uint64_t{2} << 20;

record::Nanoseconds ns(sim::Time time) {
  return time == sim::kNever ? record::kNever : static_cast<std::int64_t>(time / 1000);
}

/// Task 0 of the recording is the initial one, which only meets the region; then come the implicit tasks of the workers,
/// the first of which is the workload's task 0, and the workload's others.
class Conversion {
 public:
  Conversion(const SimulatedRun& run, const sim::History& history, record::Recording& out)
      : run_(run),
        workload_(run.workload),
        history_(history),
        out_(out),
        workers_(static_cast<Index>(history.cpus.size())),
        count_(static_cast<Index>(run.workload.tasks.size())) {}

  void convert(sim::Time makespan) {
    names();
    process();
    end_ = ns(makespan);
    for (Index worker = 0; worker < workers_; ++worker)
      out_.threads.push_back({0, worker, worker + 1, worker == 0 ? kInitialThread : kWorker, 0, end_, true});
    record::Region region;
    region.process = region.parent = region.anchor = 0;
    region.requested = region.team = workers_;
    region.begin = 0;
    region.end = end_;
    out_.regions.push_back(region);
    tasks();
    times();
    memory();
  }

  Index task_of(sim::TaskIndex task) const {
    if (task == 0) return 1;
    return task < count_ ? workers_ + task : task - count_ + 2;
  }

 private:
  void names() {
    for (std::size_t i = 0; i < workload_.kinds.size() + workload_.regions.size(); ++i)
      out_.codes.push_back({0, i + 1, "", i + 1});
  }

  void process() {
    record::Process process;
    record::ProcessText& text = process.text;
    text.pid = 1;
    text.runtime = "Hearth, simulated";
    text.host = run_.machine.name;
    text.command = run_.command;
    text.ended = true;
    text.distributions = {run_.distribution};
    for (int why = 0; policy::why_name(why) != nullptr; ++why) text.whys.emplace_back(policy::why_name(why));
    process.footprints = process.creations = true;
    const auto tables = std::make_unique<policy::MachineTables>();
    const std::int32_t locations = static_cast<std::int32_t>(
        std::min<std::size_t>(run_.machine.locations.size(), placement::kMaxLocations));
    tables->fill(run_.machine, locations, {run_.options.significance, run_.options.threshold, run_.options.vicinity});
    text.machine.told = text.machine.pretended = true;
    text.machine.name = run_.machine.name;
    text.machine.source = "model";
    text.machine.policy = run_.options.policy == nullptr ? policy::work_stealing.name() : run_.options.policy->name();
    text.machine.distances = "model";
    for (std::int32_t from = 0; from < locations; ++from) {
      const topology::Location& location = run_.machine.locations[static_cast<std::size_t>(from)];
      text.machine.kind = location.kind == topology::LocationKind::node ? "node" : "cache";
      record::LocationText place{
          location.node, location.holds_memory, location.memory_bytes, location.cpus.list(), {}, {}};
      for (std::int32_t to = 0; to < locations; ++to)
        place.distances.push_back(tables->view.distance_between(from, to));
      text.nodes.emplace_back(location.node, place.cpus);
      text.machine.locations.push_back(std::move(place));
    }
    out_.processes.push_back(std::move(process));
  }

  void tasks() {
    out_.tasks.resize(1 + workers_ + count_ - 1);
    for (Index i = 0; i < out_.tasks.size(); ++i) {
      record::Task& task = out_.tasks[i];
      task.process = 0;
      task.key = i + 1;
      task.status = kComplete;
      task.region = i == 0 ? record::kNone : 0;
    }
    record::Task& initial = out_.tasks[0];
    initial.kind = record::Task::Kind::initial;
    initial.thread = initial.begin = 0;
    initial.end = end_;
    for (Index worker = 0; worker < workers_; ++worker) {
      record::Task& task = out_.tasks[1 + worker];
      task.kind = record::Task::Kind::implicit;
      task.parent = 0;
      task.anchor = record::kRegionBit;
      task.nth = worker;
      task.code = kind_of(0);
    }
    for (sim::TaskIndex t = 0; t < count_; ++t) {
      std::uint32_t nth = 0;
      for (std::uint32_t s = 0; s < workload_.tasks[t].steps; ++s) {
        const sim::Step step = workload_.steps[workload_.tasks[t].first_step + s];
        if (step.kind != sim::Step::Kind::create && step.kind != sim::Step::Kind::run) continue;
        record::Task& task = out_.tasks[task_of(step.index)];
        task.parent = task.anchor = task_of(t);
        task.nth = nth++;
        task.flags = step.kind == sim::Step::Kind::run ? kUndeferred : 0;
        task.code = kind_of(step.index);
      }
      const sim::Task& successor = workload_.tasks[t];
      for (std::uint32_t i = 0; i < successor.predecessors; ++i)
        out_.edges.push_back({task_of(t), task_of(workload_.predecessors[successor.first_predecessor + i])});
    }
  }

  Index kind_of(sim::TaskIndex task) const { return workload_.tasks[task].kind; }

  void times() {
    for (sim::TaskIndex t = 0; t < history_.tasks.size(); ++t) {
      const sim::History::TaskTimes& from = history_.tasks[t];
      record::Task& task = out_.tasks[task_of(t)];
      if (from.begin == sim::kNever) {
        task.status = 0;  // it was cut short
        continue;
      }
      if (from.created != sim::kNever) task.creator = from.creator;
      task.created = ns(from.created);
      task.creation = from.created == sim::kNever ? record::kNever : ns(from.creation);
      task.thread = from.worker;
      task.cpu = history_.cpus[from.worker];
      task.location = from.location;
      task.begin = ns(from.begin);
      task.end = ns(from.end);
      task.waited = ns(from.waited);
      task.creating = ns(from.creating);
      task.work = std::max<std::int64_t>(ns(from.ran) - task.waited - task.creating, 0);
    }
    for (const sim::History::Span& span : history_.spans)
      out_.spans.push_back(
          {task_of(span.task), span.worker, history_.cpus[span.worker], ns(span.begin), ns(span.end), span.location});
    for (const sim::History::Waited& from : history_.waits) {
      record::Wait wait;
      wait.task = task_of(from.task);
      wait.thread = from.worker;
      wait.code = kind_of(from.task < count_ ? from.task : 0);
      wait.kind = wait.task <= workers_                          ? kRegionEnd
                  : from.what == sim::History::Wait::descendants ? kTaskgroup
                                                                 : kTaskwait;
      wait.begin = ns(from.begin);
      wait.end = ns(from.end);
      wait.idle = ns(from.idle);
      out_.waits.push_back(wait);
    }
    std::stable_sort(out_.spans.begin(), out_.spans.end(),
                     [](const auto& a, const auto& b) { return a.begin < b.begin; });
  }

  void memory() {
    std::vector<std::uint64_t> address(workload_.regions.size());
    std::uint64_t next = kFirstAddress;
    for (std::size_t i = 0; i < workload_.regions.size(); ++i) {
      const sim::Region& region = workload_.regions[i];
      address[i] = next;
      next += (region.bytes / kApart + 1) * kApart;
      record::Allocation allocation;
      allocation.process = allocation.thread = 0;
      allocation.code = static_cast<Index>(workload_.kinds.size() + i);
      allocation.address = address[i];
      allocation.bytes = region.bytes;
      allocation.when = 0;
      const bool distributed = run_.options.everything ||
                               (region.distributed && run_.options.distribution.kind != placement::Kind::standard);
      allocation.distribution = distributed ? 0 : -1;
      out_.allocations.push_back(allocation);
      const placement::Shares& homes = history_.homes[i];
      for (placement::Location home = 0; home < homes.locations; ++home)
        if (homes.at[home] != 0) out_.homes.push_back({static_cast<Index>(i), home, homes.at[home], end_});
      if (homes.unknown != 0) out_.homes.push_back({static_cast<Index>(i), -1, homes.unknown, end_});
    }
    for (sim::TaskIndex t = 0; t < count_; ++t) declared(t, address);
    for (const sim::History::Bytes& bytes : history_.bytes)
      out_.task_bytes.push_back({task_of(bytes.task), bytes.home, bytes.read, bytes.written, false});
    std::stable_sort(out_.task_bytes.begin(), out_.task_bytes.end(),
                     [](const auto& a, const auto& b) { return a.task < b.task; });
  }

  void declared(sim::TaskIndex t, const std::vector<std::uint64_t>& address) {
    const sim::Task& task = workload_.tasks[t];
    for (std::uint32_t s = 0; s < task.steps; ++s) {
      const sim::Step step = workload_.steps[task.first_step + s];
      if (step.kind != sim::Step::Kind::work) continue;
      const sim::Work& work = workload_.works[step.index];
      for (std::uint32_t a = 0; a < work.accesses; ++a) {
        const sim::Access& access = workload_.accesses[work.first_access + a];
        if (!access.declared) continue;
        const std::uint64_t bits = static_cast<std::uint64_t>(access.mode) |
                                   (access.stated ? record::kRangeStated : 0) |
                                   (access.intense ? record::kRangeDecides : 0);
        out_.ranges.push_back({task_of(t), static_cast<std::uint32_t>(bits), address[access.region] + access.offset,
                               access.length, access.rows, access.pitch});
      }
    }
  }

  const SimulatedRun& run_;
  const sim::Workload& workload_;
  const sim::History& history_;
  record::Recording& out_;
  const Index workers_, count_;
  record::Nanoseconds end_ = 0;
};

std::vector<record::CodeName> names_of(const sim::Workload& workload) {
  std::vector<record::CodeName> names;
  for (const std::string& kind : workload.kinds) names.push_back({kind, "", 0});
  for (const sim::Region& region : workload.regions) names.push_back({region.name, "", 0});
  return names;
}

}  // namespace

std::string record_simulation(const SimulatedRun& run, const std::string& path, const record::ProgressOf& progress) {
  sim::RunOptions options = run.options;
  const policy::TaskPolicy& policy = options.policy == nullptr ? policy::work_stealing : *options.policy;
  const auto tables = std::make_unique<policy::MachineTables>();
  tables->fill(run.machine,
               static_cast<std::int32_t>(std::min<std::size_t>(run.machine.locations.size(), placement::kMaxLocations)),
               {options.significance, options.threshold, options.vicinity});
  sim::History history;
  record::Recording recording;
  options.history = &history;
  std::vector<record::Decision> decisions;
  options.log = [&](const sim::Decision& decision) {
    const policy::Why why = policy.why(decision.stated ? tables->stated : tables->view, decision.need, decision.creator,
                                       decision.load);
    decisions.push_back({decision.task, decision.worker, ns(decision.when), decision.released, decision.stated,
                         decision.creator, decision.chosen, static_cast<std::uint32_t>(why)});
  };
  bool stopped = false;
  options.progress = [&](std::uint64_t done) {  // the engine is built without exceptions
    try {
      progress(done, run.workload.tasks.size());
    } catch (const record::Interrupted&) {
      stopped = true;
    }
    return !stopped;
  };
  const sim::Result result = simulate(run.workload, run.machine, run.parameters, options);
  if (stopped) throw record::Interrupted();
  Conversion conversion(run, history, recording);
  conversion.convert(result.makespan);
  for (record::Decision& decision : decisions) decision.task = conversion.task_of(decision.task);
  std::stable_sort(decisions.begin(), decisions.end(), [](const auto& a, const auto& b) { return a.task < b.task; });
  recording.decisions = std::move(decisions);
  const std::vector<std::pair<std::string, std::string>> meta = {
      {"schema", record::kSchemaNumber},
      {"hearth", HEARTH_VERSION},
      {"command", run.command},
      {"runtime", "Hearth, simulated"},
      {"recorded", "0"},
      {"lacks", ""},
      {"first_touch", "not recorded: this run was simulated"},
  };
  return record::write_database(recording, names_of(run.workload), meta, path, progress);
}

}  // namespace hearth::replay
