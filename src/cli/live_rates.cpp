// See live_rates.h.
#include "cli/live_rates.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace hearth::cli {
namespace {

constexpr double kNsPerSecond = 1e9;

/// Counters only grow; one that does not is of another thread, or of a program that writes there itself.
double grown(std::uint64_t before, std::uint64_t now) { return now >= before ? static_cast<double>(now - before) : 0; }

ThreadRates rates_between(const LiveThread& before, const LiveThread& now, double seconds) {
  ThreadRates rates;
  const double per_second = seconds > 0 ? 1 / seconds : 0;
  rates.tasks = grown(before.tasks_run, now.tasks_run) * per_second;
  rates.stolen = grown(before.stolen, now.stolen) * per_second;
  rates.dealt = grown(before.dealt, now.dealt) * per_second;
  rates.regions = grown(before.regions, now.regions) * per_second;
  const double home = grown(before.tasks_home, now.tasks_home), away = grown(before.tasks_away, now.tasks_away);
  if (home + away > 0) rates.home = home / (home + away);
  return rates;
}

LiveThread sum_of(const LiveSnapshot& snapshot) {
  LiveThread sum{};
  for (const LiveRow& row : snapshot.rows) {
    sum.tasks_run += row.counts.tasks_run;
    sum.tasks_home += row.counts.tasks_home;
    sum.tasks_away += row.counts.tasks_away;
    sum.stolen += row.counts.stolen;
    sum.dealt += row.counts.dealt;
    sum.regions += row.counts.regions;
  }
  return sum;
}

/// Text of a program, on one line and without a terminal's commands.
std::string plain(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < ' ' || c == 127) c = '?';
  return text;
}

/// "1.23 M"; five letters say enough of a rate.
std::string rate_text(double rate) {
  if (rate >= 1e9) return fmt::format("{:.3g} G", rate / 1e9);
  if (rate >= 999'500) return fmt::format("{:.3g} M", rate / 1e6);
  if (rate >= 10'000) return fmt::format("{:.0f} k", rate / 1e3);
  return rate == 0 ? "0" : rate < 10 ? fmt::format("{:.1f}", rate) : fmt::format("{:.0f}", rate);
}
std::string part_text(double part) { return part < 0 ? "-" : fmt::format("{:.0f} %", 100 * part); }

std::string time_text(double seconds) {
  if (seconds < 100) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<long>(seconds);
  return whole < 3600 ? fmt::format("{} min {} s", whole / 60, whole % 60)
                      : fmt::format("{} h {} min", whole / 3600, whole / 60 % 60);
}

std::string many(std::uint64_t count, const char* what) { return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s"); }

std::string head_of(const LiveRates& r) {
  std::string text = fmt::format("{} (process {}), Hearth {}, policy {}, {}, up {}\n", r.name, r.pid, r.version, r.policy,
                                 many(r.locations, "location"), time_text(r.up_seconds));
  text += fmt::format("{} tasks and {} regions a second on {}; {} stolen, {} dealt", rate_text(r.all.tasks),
                      rate_text(r.all.regions), many(r.threads.size(), "thread"), rate_text(r.all.stolen),
                      rate_text(r.all.dealt));
  if (r.all.home >= 0) text += fmt::format("; {} ran where their data is", part_text(r.all.home));
  text += '\n';
  text += fmt::format("Since its start: {} and {} moved", many(r.threads_moved, "thread"), many(r.pages_moved, "page"));
  if (r.threads_beyond > 0) text += fmt::format("; {} more are not counted", many(r.threads_beyond, "thread"));
  return text + "\n";
}

std::string cut(const std::string& text, std::size_t columns) {
  std::string out;
  std::size_t column = 0;
  for (const char c : text) {
    column = c == '\n' ? 0 : column + 1;
    if (columns == 0 || column <= columns) out += c;
  }
  return out;
}

}  // namespace

LiveRates rates_of(const LiveProgram& program, const LiveSnapshot& before, const LiveSnapshot& now) {
  LiveRates out;
  out.name = plain(program.name);
  out.pid = program.pid;
  out.version = now.header.version;
  out.policy = now.header.policy;
  out.locations = now.header.locations;
  out.threads_beyond = now.header.threads_beyond;
  out.threads_moved = now.header.threads_moved;
  out.pages_moved = now.header.pages_moved;
  out.up_seconds = grown(now.header.since, now.when_ns) / kNsPerSecond;
  out.seconds = grown(before.when_ns, now.when_ns) / kNsPerSecond;
  const LiveRow none{};
  for (std::size_t i = 0; i < now.rows.size(); ++i) {
    const LiveRow& row = now.rows[i];
    if (row.counts.kernel_id <= 0) continue;
    const LiveRow& first = i < before.rows.size() ? before.rows[i] : none;
    ThreadRates rates = rates_between(first.counts, row.counts, out.seconds);
    rates.number = row.number;
    rates.kernel_id = row.counts.kernel_id;
    rates.location = row.counts.location;
    rates.team = row.counts.regions_open > 0 ? row.counts.team_size : 0;
    const bool same = first.counts.kernel_id == row.counts.kernel_id;
    if (same && row.cpu_seconds >= 0 && first.cpu_seconds >= 0 && out.seconds > 0)
      rates.cpu = std::max(row.cpu_seconds - first.cpu_seconds, 0.0) / out.seconds;
    out.threads.push_back(rates);
  }
  out.all = rates_between(sum_of(before), sum_of(now), out.seconds);
  for (const ThreadRates& rates : out.threads)
    if (rates.cpu >= 0) out.all.cpu = std::max(out.all.cpu, 0.0) + rates.cpu;
  std::stable_sort(out.threads.begin(), out.threads.end(),
                   [](const ThreadRates& a, const ThreadRates& b) { return std::pair(a.tasks, a.cpu) > std::pair(b.tasks, b.cpu); });
  return out;
}

std::string table_of(const LiveRates& rates, std::size_t rows, std::size_t columns) {
  constexpr std::size_t kHead = 5, kLast = 1;
  std::string text = head_of(rates);
  text += fmt::format("\n{:>6} {:>9} {:>8} {:>6} {:>9} {:>9} {:>9} {:>7} {:>9} {:>5}\n", "thread", "tid", "location", "cpu",
                      "tasks/s", "stolen/s", "dealt/s", "at home", "regions/s", "team");
  const std::size_t room = rows == 0 ? rates.threads.size() : rows > kHead + kLast ? rows - kHead - kLast : 1;
  for (std::size_t i = 0; i < rates.threads.size() && i < room; ++i) {
    const ThreadRates& t = rates.threads[i];
    text += fmt::format("{:>6} {:>9} {:>8} {:>6} {:>9} {:>9} {:>9} {:>7} {:>9} {:>5}\n", t.number, t.kernel_id,
                        t.location < 0 ? std::string("-") : std::to_string(t.location), part_text(t.cpu), rate_text(t.tasks),
                        rate_text(t.stolen), rate_text(t.dealt), part_text(t.home), rate_text(t.regions),
                        t.team == 0 ? std::string("-") : std::to_string(t.team));
  }
  if (rates.threads.size() > room) text += fmt::format("and {} more\n", rates.threads.size() - room);
  return cut(text, columns);
}

std::string json_of(const LiveRates& r) {
  using Json = nlohmann::ordered_json;
  const auto known = [](double value) { return value < 0 ? Json() : Json(value); };
  const auto rates = [&](const ThreadRates& t) {
    return Json{{"cpu", known(t.cpu)},       {"tasks_per_s", t.tasks},     {"stolen_per_s", t.stolen},
                {"dealt_per_s", t.dealt},    {"regions_per_s", t.regions}, {"home_share", known(t.home)}};
  };
  Json out{{"schema", 1},
           {"pid", r.pid},
           {"name", r.name},
           {"hearth", r.version},
           {"policy", r.policy},
           {"locations", r.locations},
           {"up_s", r.up_seconds},
           {"seconds", r.seconds},
           {"threads_moved", r.threads_moved},
           {"pages_moved", r.pages_moved},
           {"threads_not_counted", r.threads_beyond},
           {"all", rates(r.all)},
           {"threads", Json::array()}};
  for (const ThreadRates& t : r.threads) {
    Json one{{"thread", t.number},
             {"tid", t.kernel_id},
             {"location", t.location < 0 ? Json() : Json(t.location)},
             {"team", t.team == 0 ? Json() : Json(t.team)}};
    one.update(rates(t));
    out["threads"].push_back(std::move(one));
  }
  return out.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace hearth::cli
