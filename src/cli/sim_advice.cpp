// See sim_advice.h.
#include "cli/sim_advice.h"

#include <algorithm>

#include <fmt/format.h>

#include "report/advice.h"

namespace hearth::cli {
namespace {

using placement::Kind;

std::string size_text(std::uint64_t bytes) {
  const auto number = static_cast<double>(bytes);
  if (bytes < 1 << 20) return fmt::format("{:.4g} KiB", number / (1 << 10));
  return bytes < 1 << 30 ? fmt::format("{:.4g} MiB", number / (1 << 20))
                         : fmt::format("{:.4g} GiB", number / (1 << 30));
}

std::string use_text(const sim::RegionGroup& group) {
  if (group.touched == 0) return "no task touches it";
  std::string text = group.use.part > 0.995 ? "each task all of it"
                                            : fmt::format("each task {:.2g} % of it", 100 * group.use.part);
  text += group.written ? ", written" : ", read";
  if (group.use.followed < 0.995)
    text += group.use.followed == 0 ? ", and none says so"
                                    : fmt::format(", {:.0f} % said", 100 * group.use.followed);
  return text;
}

std::string names(const sim::Workload& workload, const sim::RegionGroup& group) {
  const std::string& first = workload.regions[group.regions.front()].name;
  return group.regions.size() == 1 ? first : fmt::format("{} and {} more", first, group.regions.size() - 1);
}

std::vector<Kind> kinds_in_use(const sim::Searched& searched) {
  std::vector<Kind> kinds;
  for (const sim::RegionGroup& group : searched.groups) {
    const Kind kind = searched.by_region[group.regions.front()];
    if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) kinds.push_back(kind);
  }
  return kinds;
}

/// `hearth run` gives malloc's blocks one of these.
bool is_for_all_blocks(Kind kind) {
  return kind == Kind::standard || kind == Kind::fine || kind == Kind::coarse || kind == Kind::blocked;
}

std::string in_force(const sim::Searched& searched) {
  const std::vector<Kind> kinds = kinds_in_use(searched);
  const std::string run = fmt::format("hearth run --policy={}", searched.policy->name());
  if (kinds.empty() || (kinds.size() == 1 && kinds[0] == Kind::standard))
    return fmt::format("To put it in force: {} -- PROGRAM\n", run);
  if (kinds.size() == 1 && is_for_all_blocks(kinds[0])) {
    return fmt::format("To put it in force: {} --distribute={} -- PROGRAM\nor in the program: {}\n", run,
                       placement::kind_name(kinds[0]), report::distribution_call(kinds[0]));
  }
  std::string text = fmt::format("To put it in force: {} -- PROGRAM, and in the program\n", run);
  for (const Kind kind : kinds) text += fmt::format("  {}: {}\n", placement::kind_name(kind), report::distribution_call(kind));
  return text;
}

}  // namespace

const char* toucher(sim::FirstTouch first_touch) {
  switch (first_touch) {
    case sim::FirstTouch::initial_thread: return "initial thread";
    case sim::FirstTouch::by_parts: return "all, in parts";
    case sim::FirstTouch::by_writer: return "the tasks";
  }
  __builtin_unreachable();
}

std::string aligned(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths(rows[0].size(), 0);
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) line += fmt::format("{:<{}}  ", row[i], widths[i]);
    text += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
  }
  return text;
}

std::string advice_text(const sim::Workload& workload, const sim::Searched& searched, bool allocations_known) {
  if (searched.groups.empty())
    return "\nNo allocation of 128 KiB or more is known that tasks touch.\n" + in_force(searched);
  std::vector<std::vector<std::string>> rows = {
      {allocations_known ? "allocation" : "memory", "size", "first touched by", "used", "advised", "by the rules"}};
  for (const sim::RegionGroup& group : searched.groups) {
    const sim::RegionIndex first = group.regions.front();
    rows.push_back({names(workload, group), size_text(group.bytes),
                    toucher(workload.regions[first].first_touch), use_text(group),
                    placement::kind_name(searched.by_region[first]),
                    placement::kind_name(searched.by_rules[first])});
  }
  return '\n' + aligned(rows) + '\n' +
         (allocations_known ? in_force(searched)
                            : "This recording does not tell allocations apart (it is of schema 1), so what is advised cannot "
                              "be put in force: record the program anew.\n");
}

}  // namespace hearth::cli
