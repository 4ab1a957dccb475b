// See text.h.
#include "trial/text.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace hearth::trial {
namespace {

std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

// The first columns to the left, figures to the right.
std::string aligned(const std::vector<std::vector<std::string>>& lines, std::size_t left) {
  std::vector<std::size_t> widths;
  for (const auto& line : lines) {
    widths.resize(std::max(widths.size(), line.size()));
    for (std::size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], width_of(line[i]));
  }
  std::string out;
  for (const auto& line : lines) {
    std::string text;
    for (std::size_t i = 0; i < line.size(); ++i) {
      const std::string gap(widths[i] - width_of(line[i]), ' ');
      text += i == 0 ? "  " : "  ";
      text += i < left ? line[i] : gap;
      text += i < left ? gap : line[i];
    }
    text.erase(text.find_last_not_of(' ') + 1);
    out += text;
    out += '\n';
  }
  return out;
}

// Three digits.
std::string ratio_number(double ratio) {
  return fmt::format("{:.{}f}", ratio, ratio < 0.1 ? 4 : ratio < 1 ? 3 : ratio < 10 ? 2 : ratio < 100 ? 1 : 0);
}

std::string cell_text(const Row* row) {
  if (row == nullptr) return "–";
  return row->state == State::measured ? spread_text(spread_of(row->ns)) : state_word(row->state);
}

std::string heading_of(const Column& column) {
  return column.data == "none" ? column.runtime : column.runtime + ", " + column.data;
}

std::string set_table(const Table& table) {
  std::vector<std::vector<std::string>> lines = {{"", ""}};
  for (const Column& column : table.columns) lines[0].push_back(heading_of(column));
  for (const Table::Line& line : table.lines) {
    lines.push_back({line.name, line.compiler});
    for (const Row* row : line.cells) lines.back().push_back(cell_text(row));
  }
  return aligned(lines, 2);
}

// The set las has a column for each policy and distribution, too many for a terminal: one line each there.
std::string las_lines(const Table& table) {
  std::vector<std::vector<std::string>> lines;
  for (const Table::Line& line : table.lines) {
    for (std::size_t i = 0; i < line.cells.size(); ++i) {
      if (line.cells[i] == nullptr) continue;
      lines.push_back(
          {line.name, line.compiler, table.columns[i].runtime, table.columns[i].data, cell_text(line.cells[i])});
    }
  }
  return aligned(lines, 4);
}

// ---- two results

const Row* counterpart(const Result& in, const Row& row) {
  const auto found = std::find_if(in.rows.begin(), in.rows.end(), [&](const Row& other) {
    return other.same_program(row) && other.data == row.data && other.runtime == row.runtime;
  });
  return found == in.rows.end() ? nullptr : &*found;
}

std::string build_of(const Result& result, const std::string& runtime) {
  for (const RuntimeFacts& one : result.runtimes) {
    if (one.name == runtime) return one.build;
  }
  return "not there";
}

void differ(std::string& out, const char* what, const std::string& a, const std::string& b) {
  if (a != b) out += fmt::format("  {}: {} | {}\n", what, a, b);
}

std::string machines_text(const Result& a, const Result& b) {
  std::string out;
  differ(out, "processor", a.machine.processor, b.machine.processor);
  differ(out, "CPUs", std::to_string(a.machine.cpus), std::to_string(b.machine.cpus));
  differ(out, "NUMA nodes", std::to_string(a.machine.nodes.size()), std::to_string(b.machine.nodes.size()));
  differ(out, "memory", fmt::format("{} MiB", a.machine.memory_bytes >> 20),
         fmt::format("{} MiB", b.machine.memory_bytes >> 20));
  differ(out, "last-level caches", fmt::format("{}", fmt::join(a.machine.cache_bytes, " ")),
         fmt::format("{}", fmt::join(b.machine.cache_bytes, " ")));
  return out;
}

std::string settings_text(const Result& a, const Result& b) {
  std::string out;
  differ(out, "version of hearth", a.hearth_version, b.hearth_version);
  differ(out, "threads", std::to_string(a.threads), std::to_string(b.threads));
  differ(out, "data of las", fmt::format("{} KiB", a.data_bytes >> 10), fmt::format("{} KiB", b.data_bytes >> 10));
  differ(out, "quick", a.quick ? "yes" : "no", b.quick ? "yes" : "no");
  differ(out, "rounds", std::to_string(a.rounds), std::to_string(b.rounds));
  differ(out, "quiet", a.conditions.quiet ? "yes" : "no", b.conditions.quiet ? "yes" : "no");
  differ(out, "frequency governor", a.conditions.governor, b.conditions.governor);
  differ(out, "AutoNUMA", a.conditions.numa_balancing, b.conditions.numa_balancing);
  differ(out, "transparent huge pages", a.conditions.transparent_huge_pages, b.conditions.transparent_huge_pages);
  std::vector<std::string> names;
  for (const Result* one : {&a, &b}) {
    for (const RuntimeFacts& runtime : one->runtimes) {
      if (std::find(names.begin(), names.end(), runtime.name) == names.end()) names.push_back(runtime.name);
    }
  }
  for (const std::string& name : names) differ(out, (name + ", build").c_str(), build_of(a, name), build_of(b, name));
  return out;
}

struct Compared {
  std::vector<std::vector<std::string>> lines;
  int open = 0, few = 0, alone = 0;
};

Compared compare_rows(const Result& a, const Result& b) {
  Compared out;
  for (const Row& row : a.rows) {
    const Row* other = counterpart(b, row);
    if (other == nullptr) {
      ++out.alone;
      continue;
    }
    const Spread left = spread_of(row.ns), right = spread_of(other->ns);
    const bool both = row.state == State::measured && other->state == State::measured;
    const Claim claim = both ? claim_of(left, right) : Claim::none;
    if (both && claim == Claim::none) {
      ++(left.count < kFewest || right.count < kFewest ? out.few : out.open);
      continue;
    }
    if (!both && row.state == other->state) continue;
    const std::string data = row.data == "none" ? "" : row.data;
    out.lines.push_back({row.set, row.name, row.compiler, row.runtime, data, cell_text(&row), cell_text(other),
                         !both                  ? ""
                         : claim == Claim::less ? "A takes less time"
                                                : "B takes less time"});
  }
  for (const Row& row : b.rows) out.alone += counterpart(a, row) == nullptr ? 1 : 0;
  return out;
}

bool same_pair(const Ratio& a, const Ratio& b) {
  return a.set == b.set && a.name == b.name && a.compiler == b.compiler && a.ours == b.ours && a.data == b.data &&
         a.theirs == b.theirs;
}

std::vector<std::vector<std::string>> compare_ratios(const Result& a, const Result& b) {
  std::vector<std::vector<std::string>> lines;
  const std::vector<Ratio> others = ratios_of(b);
  for (const Ratio& ratio : ratios_of(a)) {
    const auto other = std::find_if(others.begin(), others.end(),
                                    [&](const Ratio& one) { return same_pair(one, ratio); });
    if (other == others.end() || claim_of(ratio.spread, other->spread) == Claim::none) continue;
    lines.push_back({ratio.set, ratio.name, ratio.compiler, ratio.ours, ratio.data == "none" ? "" : ratio.data,
                     ratio.theirs, ratio_text(ratio.spread), ratio_text(other->spread)});
  }
  return lines;
}

}  // namespace

std::string time_text(double ns) {
  const char* units[] = {"ns", "µs", "ms", "s"};
  std::size_t unit = 0;
  while (unit + 1 < std::size(units) && ns >= 999.5) {
    ns /= 1000;
    ++unit;
  }
  return fmt::format("{:.{}f} {}", ns, ns < 9.995 ? 2 : ns < 99.95 ? 1 : 0, units[unit]);
}

std::string spread_text(const Spread& spread) {
  if (spread.count == 0) return "–";
  if (spread.count == 1 || spread.median <= 0) return time_text(spread.median);
  return fmt::format("{} ±{:.0f}%", time_text(spread.median), 50 * (spread.high - spread.low) / spread.median);
}

std::string ratio_text(const Spread& spread) {
  if (spread.count == 0) return "–";
  return fmt::format("{} ({} to {})", ratio_number(spread.median), ratio_number(spread.low), ratio_number(spread.high));
}

std::vector<Table> tables_of(const Result& result) {
  std::vector<Table> out;
  for (const Row& row : result.rows) {
    auto table = std::find_if(out.begin(), out.end(), [&](const Table& one) { return one.set == row.set; });
    if (table == out.end()) table = out.insert(out.end(), Table{row.set, {}, {}});
    auto& columns = table->columns;
    const bool known = std::any_of(columns.begin(), columns.end(), [&](const Column& one) {
      return one.runtime == row.runtime && one.data == row.data;
    });
    if (!known) columns.push_back({row.runtime, row.data});
  }
  for (Table& table : out) {
    for (const Row& row : result.rows) {
      if (row.set != table.set) continue;
      auto line = std::find_if(table.lines.begin(), table.lines.end(), [&](const Table::Line& one) {
        return one.name == row.name && one.compiler == row.compiler;
      });
      if (line == table.lines.end())
        line = table.lines.insert(table.lines.end(),
                                  {row.name, row.compiler, std::vector<const Row*>(table.columns.size(), nullptr)});
      for (std::size_t i = 0; i < table.columns.size(); ++i) {
        if (table.columns[i].runtime == row.runtime && table.columns[i].data == row.data) line->cells[i] = &row;
      }
    }
  }
  return out;
}

std::vector<Tally> tallies_of(const Result& result) {
  std::vector<Tally> out;
  for (const Ratio& ratio : ratios_of(result)) {
    auto tally = std::find_if(out.begin(), out.end(), [&](const Tally& one) {
      return one.set == ratio.set && one.ours == ratio.ours && one.data == ratio.data && one.theirs == ratio.theirs;
    });
    if (tally == out.end()) tally = out.insert(out.end(), Tally{ratio.set, ratio.ours, ratio.data, ratio.theirs});
    const Claim claim = claim_of(ratio.spread);
    ++(claim == Claim::less ? tally->faster : claim == Claim::more ? tally->slower : tally->open);
  }
  return out;
}

std::string summary_text(const Result& result) {
  std::string out;
  for (const Table& table : tables_of(result)) {
    out += fmt::format("{}, median of {} rounds ± half its interval:\n", table.set, result.rounds);
    out += table.set == "las" ? las_lines(table) : set_table(table);
    out += '\n';
  }
  std::vector<std::vector<std::string>> lines;
  for (const Tally& one : tallies_of(result))
    lines.push_back({one.set, one.ours + (one.data == "none" ? "" : ", " + one.data), "beside " + one.theirs,
                     fmt::format("{} faster", one.faster), fmt::format("{} slower", one.slower),
                     fmt::format("{} without a difference shown", one.open)});
  if (!lines.empty() && result.rounds >= static_cast<int>(kFewest)) {
    out += "Hearth beside each rival, in rows whose interval does not contain 1:\n";
    out += aligned(lines, 3);
    out += '\n';
  }
  if (!result.conditions.quiet) out += fmt::format("Not quiet: {}.\n", fmt::join(result.conditions.reasons, "; "));
  for (const std::string& one : result.left_out) out += fmt::format("Left out or reduced: {}\n", one);
  return out;
}

std::string contents_text(const Result& result) {
  return fmt::format(
      "Nothing was sent. The file holds: the processor's name ({}), CPUs, caches, NUMA nodes, memory and distances; what the kernel is set to "
      "(governor, AutoNUMA, huge pages, quota) and the load; names and build ids of {} runtimes; {} rows of times. It holds no names of hosts or "
      "users, no paths, no addresses, no serial numbers and no date.\n",
      result.machine.processor, result.runtimes.size(), result.rows.size());
}

std::string compare_text(const Result& a, const Result& b) {
  std::string out;
  const std::string machines = machines_text(a, b), settings = settings_text(a, b);
  out += machines.empty() ? "Machines of one description.\n"
                          : "Different machines: their times compare machines, not runtimes.\n" + machines;
  if (!settings.empty()) out += "Settings and conditions, A | B:\n" + settings;
  const Compared rows = compare_rows(a, b);
  out += '\n';
  if (!rows.lines.empty()) {
    std::vector<std::vector<std::string>> lines = {{"set", "row", "by", "runtime", "data", "A", "B", ""}};
    lines.insert(lines.end(), rows.lines.begin(), rows.lines.end());
    out += "Rows whose intervals do not overlap, or that one of them lacks:\n" + aligned(lines, 5);
  }
  out += fmt::format(
      "{} rows: no difference shown (intervals overlap). {} rows: fewer than {} rounds, which show nothing. {} rows are in one file only.\n",
      rows.open, rows.few, kFewest, rows.alone);
  std::vector<std::vector<std::string>> ratios = {{"set", "row", "by", "Hearth", "data", "rival", "A", "B"}};
  const auto found = compare_ratios(a, b);
  if (found.empty()) return out + "No ratio of Hearth to a rival differs between the two.\n";
  ratios.insert(ratios.end(), found.begin(), found.end());
  return out + "\nRatios of Hearth to a rival whose intervals do not overlap:\n" + aligned(ratios, 6);
}

}  // namespace hearth::trial
