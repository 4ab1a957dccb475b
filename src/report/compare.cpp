// See compare.h.
#include "report/compare.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "report/json_text.h"
#include "report/words.h"

namespace hearth::report {
namespace {

using Name = std::pair<std::string, std::string>;  // and kind

Name name_of(const Run& run, std::int32_t construct) {
  const ConstructName& name = run.constructs[static_cast<std::size_t>(construct)];
  return {name.name, name.kind};
}

std::int64_t difference(const ComparedConstruct& c) { return std::abs(c.work[1] - c.work[0]); }

/// "0.62 of the first's"; nothing where there is nothing to divide by.
std::string ratio_text(std::int64_t first, std::int64_t second) {
  return first > 0 ? fmt::format("{} times", decimal(static_cast<double>(second) / static_cast<double>(first))) : "–";
}

struct Line {
  std::string what, first, second;
};

std::vector<Line> whole_runs(const Subject& a, const Subject& b) {
  const auto shares = [](const char* what, const Subject& x, const Subject& y, std::int64_t TimeShares::* part) {
    return Line{what, share_text(x.figures.share(x.figures.time.*part)),
                share_text(y.figures.share(y.figures.time.*part))};
  };
  const auto remote = [](const Subject& s) {
    return s.locality.known ? share_text(s.locality.remote_share()) : std::string("not known");
  };
  return {
      {"Length", time_text(a.figures.length()), time_text(b.figures.length())},
      {"Threads", count_text(static_cast<std::int64_t>(a.figures.threads.size())),
       count_text(static_cast<std::int64_t>(b.figures.threads.size()))},
      {"At work on the average", decimal(a.figures.average_parallelism()), decimal(b.figures.average_parallelism())},
      {"Work, in all", time_text(a.figures.time.work), time_text(b.figures.time.work)},
      shares("Work, of thread time", a, b, &TimeShares::work),
      shares("Creating tasks", a, b, &TimeShares::creating),
      shares("Waiting", a, b, &TimeShares::waiting),
      shares("Outside of regions", a, b, &TimeShares::outside),
      {"Remote memory", remote(a), remote(b)}};
}

std::string verdict(const Subject& first, const Subject& second) {
  return fmt::format("The second run took {} as long as the first; its tasks worked {} as long in all.",
                     ratio_text(first.figures.length(), second.figures.length()),
                     ratio_text(first.figures.time.work, second.figures.time.work));
}

}  // namespace

Comparison compare(const Subject& first, const Subject& second) {
  std::map<Name, ComparedConstruct> by_name;
  const Subject* const runs[] = {&first, &second};
  for (std::size_t i = 0; i < 2; ++i) {
    for (const ConstructFigures& figures : runs[i]->figures.constructs) {
      const Name name = name_of(runs[i]->run, figures.construct);
      ComparedConstruct& to = by_name[name];
      to.name = name.first;
      to.kind = name.second;
      to.tasks[i] = figures.tasks;
      to.work[i] = figures.work;
    }
  }
  std::unordered_map<std::int64_t, std::size_t> by_key;
  for (std::size_t id = 0; id < first.run.tasks.size(); ++id)
    if (first.run.tasks[id].end >= 0) by_key.emplace(first.run.tasks[id].key, id);
  for (const Task& task : second.run.tasks) {
    const auto same = task.end >= 0 ? by_key.find(task.key) : by_key.end();
    if (same == by_key.end()) continue;
    const Task& other = first.run.tasks[same->second];
    const Name name = name_of(second.run, task.construct);
    if (name_of(first.run, other.construct) != name) continue;
    ComparedConstruct& to = by_name[name];
    ++to.same_tasks;
    to.same_work[0] += other.work;
    to.same_work[1] += task.work;
  }
  Comparison out;
  for (auto& [name, construct] : by_name) out.constructs.push_back(std::move(construct));
  std::stable_sort(
      out.constructs.begin(), out.constructs.end(),
      [](const ComparedConstruct& a, const ComparedConstruct& b) { return difference(a) > difference(b); });
  return out;
}

std::string comparison_text(const Subject& first, const Subject& second, const Comparison& comparison) {
  constexpr std::size_t kMost = 10;
  std::string text = fmt::format("First:  {}\nSecond: {}\n\n{}\n\n{:<28}{:>14}{:>14}\n", harmless(first.run.file),
                                 harmless(second.run.file), verdict(first, second), "", "first", "second");
  for (const Line& line : whole_runs(first, second))
    text += fmt::format("{:<28}{:>14}{:>14}\n", line.what, line.first, line.second);
  text += fmt::format("\nConstructs whose work differs most\n{:<28}{:>14}{:>14}{:>22}\n", "", "first", "second",
                      "same tasks took");
  for (std::size_t i = 0; i < std::min(kMost, comparison.constructs.size()); ++i) {
    const ComparedConstruct& c = comparison.constructs[i];
    text += fmt::format("{:<28}{:>14}{:>14}{:>22}\n", harmless(c.name), time_text(c.work[0]), time_text(c.work[1]),
                        c.same_tasks == 0 ? "none is in both" : ratio_text(c.same_work[0], c.same_work[1]));
  }
  return text;
}

void put_comparison(JsonText& to, const Subject& first, const Subject& second, const Comparison& comparison) {
  to.key("comparison").open_object().member("first", first.run.file).member("second", second.run.file);
  to.member("second_facts", second.screen.facts).member("verdict", verdict(first, second));
  to.member("first_length_ns", first.figures.length())
      .member("second_length_ns", second.figures.length())
      .key("runs")
      .open_array();
  for (const Line& line : whole_runs(first, second))
    to.open_object().member("what", line.what).member("first", line.first).member("second", line.second).close_object();
  to.close_array().key("constructs").open_array();
  for (const ComparedConstruct& c : comparison.constructs) {
    to.open_object()
        .member("name", c.name)
        .member("kind", c.kind)
        .member("first_tasks", c.tasks[0])
        .member("second_tasks", c.tasks[1]);
    to.member("first_work_ns", c.work[0]).member("second_work_ns", c.work[1]).member("same_tasks", c.same_tasks);
    to.member("first_same_work_ns", c.same_work[0]).member("second_same_work_ns", c.same_work[1]).close_object();
  }
  to.close_array().close_object();
}

}  // namespace hearth::report
