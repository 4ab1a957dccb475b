// Whether a workload holds together. See workload.h.
#include "sim/workload/workload.h"

#include <cmath>

namespace hearth::sim {
namespace {

std::string text(const char* what, std::size_t index) { return what + (' ' + std::to_string(index)); }

/// [first, first + count) lies in [0, size).
bool fits(std::uint64_t first, std::uint64_t count, std::size_t size) { return first + count <= size; }

std::string wrong_access(const Workload& workload, const Access& access) {
  if (access.region >= workload.regions.size()) return "there is no such region";
  if (access.rows == 0) return "it has no rows";
  if (!(access.passes >= 0) || std::isinf(access.passes)) return "its passes are no number";
  const std::uint64_t bytes = workload.regions[access.region].bytes;
  if (access.offset > bytes || access.length > bytes - access.offset ||
      (access.pitch != 0 && access.rows - 1 > (bytes - access.offset - access.length) / access.pitch))
    return "it reaches beyond its region";
  return {};
}

/// Who created each task, and when among its siblings.
struct Creation {
  static constexpr std::uint32_t kNobody = UINT32_MAX;
  std::vector<TaskIndex> parent;
  std::vector<std::uint32_t> step;
};

std::string find_creations(const Workload& workload, Creation& creation) {
  creation.parent.assign(workload.tasks.size(), Creation::kNobody);
  creation.step.assign(workload.tasks.size(), 0);
  for (std::size_t t = 0; t < workload.tasks.size(); ++t) {
    const Task& task = workload.tasks[t];
    if (!fits(task.first_step, task.steps, workload.steps.size()))
      return text("task", t) + ": its steps are not there";
    for (std::uint32_t s = task.first_step; s < task.first_step + task.steps; ++s) {
      const Step step = workload.steps[s];
      if (step.kind == Step::Kind::work && step.index >= workload.works.size())
        return text("step", s) + ": there is no such work";
      if (step.kind == Step::Kind::migrate && step.index >= workload.migrations.size())
        return text("step", s) + ": there is no such migration";
      if (step.kind != Step::Kind::create && step.kind != Step::Kind::run) continue;
      if (step.index == 0 || step.index >= workload.tasks.size())
        return text("step", s) + ": there is no such task";
      if (creation.parent[step.index] != Creation::kNobody)
        return text("task", step.index) + ": created twice";
      creation.parent[step.index] = static_cast<TaskIndex>(t);
      creation.step[step.index] = s;
    }
  }
  return {};
}

/// That each task descends from the initial one: tasks that create each other would not.
std::string find_lost(const Workload& workload, const Creation& creation) {
  std::vector<bool> reached(workload.tasks.size(), false);
  std::vector<TaskIndex> path;
  reached[0] = true;
  for (std::size_t t = 1; t < workload.tasks.size(); ++t) {
    auto at = static_cast<TaskIndex>(t);
    path.clear();
    while (!reached[at]) {
      reached[at] = true;
      path.push_back(at);
      at = creation.parent[at];
      if (at == Creation::kNobody) return text("task", path.back()) + ": nobody creates it";
    }
    // What was reached before descends from [0], unless it was just now.
    for (const TaskIndex one : path) {
      if (one == at) return text("task", at) + ": it descends from itself";
    }
  }
  return {};
}

}  // namespace

const char* name_of(Pattern pattern) {
  switch (pattern) {
    case Pattern::stream: return "stream";
    case Pattern::strided: return "strided";
    case Pattern::random: return "random";
    case Pattern::chase: return "chase";
  }
  return "unknown";
}

std::string Workload::inconsistency() const {
  if (tasks.empty()) return "there is no initial task";
  if (tasks.size() > kMaxIndex || works.size() > kMaxIndex) return "there are too many tasks or works";
  Creation creation;
  if (std::string wrong = find_creations(*this, creation); !wrong.empty()) return wrong;
  if (std::string wrong = find_lost(*this, creation); !wrong.empty()) return wrong;
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    const Task& task = tasks[t];
    if (task.kind >= kinds.size()) return text("task", t) + ": there is no such kind";
    if (!fits(task.first_predecessor, task.predecessors, predecessors.size()))
      return text("task", t) + ": its predecessors are not there";
    for (std::uint32_t p = task.first_predecessor; p < task.first_predecessor + task.predecessors; ++p) {
      const TaskIndex before = predecessors[p];
      if (before >= tasks.size() || before == 0 || creation.parent[before] != creation.parent[t] ||
          creation.step[before] >= creation.step[t])
        return text("task", t) + ": predecessor " + std::to_string(before) + " is no sibling created earlier";
    }
  }
  for (std::size_t w = 0; w < works.size(); ++w) {
    if (!fits(works[w].first_access, works[w].accesses, accesses.size()))
      return text("work", w) + ": its accesses are not there";
  }
  for (std::size_t m = 0; m < migrations.size(); ++m) {
    const Migration& one = migrations[m];
    if (one.kind == Migration::Kind::thread) continue;
    if (one.region >= regions.size()) return text("migration", m) + ": there is no such region";
    const std::uint64_t bytes = regions[one.region].bytes;
    if (one.offset > bytes || one.length > bytes - one.offset)
      return text("migration", m) + ": it reaches beyond its region";
  }
  for (std::size_t a = 0; a < accesses.size(); ++a) {
    if (const std::string wrong = wrong_access(*this, accesses[a]); !wrong.empty())
      return text("access", a) + ": " + wrong;
  }
  return {};
}

}  // namespace hearth::sim
