// See idle_ready.h.
#include "report/idle_ready.h"

#include <algorithm>
#include <string_view>

#include "report/pieces.h"

namespace hearth::report {
namespace {

/// One more or one less is ready or idle.
struct Step {
  std::int64_t when;
  std::int32_t task;  // kNone: it is about idle threads
  std::int32_t more;  // 1 or -1
};

bool holds_the_thread(std::string_view kind) {
  return kind == "critical" || kind == "atomic" || kind == "ordered" || kind.find("lock") != std::string_view::npos;
}

std::vector<Step> steps_of(const Run& run) {
  std::vector<Step> steps;
  for (std::size_t id = 0; id < run.tasks.size(); ++id) {
    const Task& task = run.tasks[id];
    if (task.parent == kNone || run.ready[id] < 0 || task.begin <= run.ready[id]) continue;
    const auto number = static_cast<std::int32_t>(id);
    steps.push_back({run.ready[id], number, 1});
    steps.push_back({task.begin, number, -1});
  }
  if (steps.empty()) return steps;
  for (std::size_t thread = 0; thread < run.threads.size(); ++thread)
    for_each_piece(run, static_cast<std::int32_t>(thread), [&](const Piece& piece) {
      if (piece.waits == kNone || holds_the_thread(run.wait_places[static_cast<std::size_t>(piece.waits)].kind)) return;
      steps.push_back({piece.begin, kNone, 1});
      steps.push_back({piece.end, kNone, -1});
    });
  std::sort(steps.begin(), steps.end(), [](const Step& a, const Step& b) { return a.when < b.when; });
  return steps;
}

}  // namespace

IdleReady idle_ready_of(const Run& run) {
  IdleReady out;
  out.constructs.resize(run.constructs.size());
  std::int64_t idle = 0, ready = 0, last = 0;
  // Up to now, of a task that is ready all the time: what it could have used, and how long it was passed over.
  struct SoFar {
    double used = 0, passed_over = 0;
  } so_far;
  std::vector<SoFar> before(run.tasks.size());
  for (const Step& step : steps_of(run)) {
    if (idle > 0 && ready > 0) {
      const auto passed = static_cast<double>(step.when - last);
      const double usable = static_cast<double>(std::min(idle, ready)) * passed;
      out.time += usable;
      so_far.used += usable / static_cast<double>(ready);
      so_far.passed_over += passed;
    }
    last = step.when;
    if (step.task == kNone) {
      idle += step.more;
      continue;
    }
    ready += step.more;
    const auto id = static_cast<std::size_t>(step.task);
    if (step.more > 0) {
      before[id] = so_far;
      continue;
    }
    const double used = so_far.used - before[id].used;
    if (used <= 0) continue;
    IdleReady::OfConstruct& construct = out.constructs[static_cast<std::size_t>(run.tasks[id].construct)];
    construct.time += used;
    ++construct.tasks;
    construct.passed_over += so_far.passed_over - before[id].passed_over;
    if (run.places.decisions.empty()) continue;
    const Decision& decision = run.places.decisions[id];
    if (decision.made && decision.chosen >= 0 && decision.chosen != decision.from) construct.dealt += used;
  }
  return out;
}

}  // namespace hearth::report
