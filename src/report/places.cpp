// See places.h.
#include "report/places.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

namespace hearth::report {
namespace {

using replay::RecordingFile;
using replay::Row;

constexpr std::int64_t kMostLocations = 4096;
constexpr std::int64_t kMostBytes = std::int64_t{1} << 46;  // of one task at one location: more cannot be true

class Reading {
 public:
  Reading(RecordingFile& file, std::int64_t count, Places& out) : file_(file), count_(count), out_(out) {}

  void run() {
    out_.told = tables("'task_bytes', 'decision', 'distance', 'location', 'machine', 'home'") == 6;
    if (!out_.told) return;
    machine();
    distances();
    file_.query("SELECT id, location FROM task WHERE location >= 0", [&](const Row& row) {
      const std::int64_t task = row.integer(0), location = row.integer(1);
      if (!is_task(task) || !is_location(location)) return;
      if (out_.ran_on.empty()) out_.ran_on.assign(static_cast<std::size_t>(count_), -1);
      out_.ran_on[static_cast<std::size_t>(task)] = static_cast<std::int32_t>(location);
    });
    bytes();
    decisions();
    places("SELECT allocation, location, sum(bytes) FROM home GROUP BY 1, 2 ORDER BY 1, 2", out_.homes);
    if (tables("'first_touch'") == 0) return;  // samples of page faults, which not every recorder takes
    places(
        "SELECT allocation, location, sum(pages) FROM first_touch WHERE allocation IS NOT NULL GROUP BY 1, 2 ORDER BY 1, 2",
        out_.first_touches);
  }

 private:
  /// How many of these tables there are.
  std::int64_t tables(const char* names) {
    return file_.number(
        fmt::format("SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name IN ({})", names).c_str());
  }
  bool is_task(std::int64_t id) const { return id >= 0 && id < count_; }
  bool is_location(std::int64_t id) const { return id >= 0 && id < out_.locations; }
  std::size_t cell(std::int64_t location, std::int64_t memory) const {
    return static_cast<std::size_t>(location * out_.locations + memory);
  }

  void machine() {
    file_.query("SELECT name, policy, distances, pretended FROM machine WHERE process = 0", [&](const Row& row) {
      out_.machine = row.text(0);
      out_.policy = row.text(1);
      out_.distances_from = row.text(2);
      out_.pretended = row.integer(3) != 0;
    });
    const std::int64_t most = file_.number("SELECT coalesce(max(id) + 1, 0) FROM location WHERE process = 0");
    out_.locations = most < 0 || most > kMostLocations ? 0 : static_cast<std::int32_t>(most);
  }

  void distances() {
    const auto all = static_cast<std::size_t>(out_.locations) * static_cast<std::size_t>(out_.locations);
    out_.distance.assign(all, 0);
    out_.matrix.assign(all, 0);
    file_.query("SELECT location, memory, distance FROM distance WHERE process = 0", [&](const Row& row) {
      if (is_location(row.integer(0)) && is_location(row.integer(1)))
        out_.distance[cell(row.integer(0), row.integer(1))] = static_cast<double>(
            std::max<std::int64_t>(row.integer(2), 0));
    });
  }

  void bytes() {
    file_.query("SELECT task, memory, read, written FROM task_bytes", [&](const Row& row) {
      const std::int64_t task = row.integer(0), memory = row.integer_or(1, -1), read = row.integer(2),
                         written = row.integer(3);
      if (!is_task(task) || read < 0 || written < 0 || read > kMostBytes || written > kMostBytes) return;
      if (out_.bytes.empty()) out_.bytes.resize(static_cast<std::size_t>(count_));
      TaskBytes& sum = out_.bytes[static_cast<std::size_t>(task)];
      const std::int64_t moved = read + written;
      const std::int32_t on = out_.ran_on.empty() ? -1 : out_.ran_on[static_cast<std::size_t>(task)];
      sum.all += moved;
      if (on < 0 || !is_location(memory)) {
        sum.unknown += moved;
        return;
      }
      sum.remote += on == memory ? 0 : moved;
      sum.weighted += static_cast<double>(moved) * out_.distance[cell(on, memory)];
      out_.matrix[cell(on, memory)] += static_cast<double>(moved);
    });
  }

  void decisions() {
    std::map<std::string, std::int32_t> words;
    file_.query("SELECT task, decided_ns, location, chosen, why FROM decision ORDER BY decided_ns",
                [&](const Row& row) {
                  const std::int64_t task = row.integer(0);
                  if (!is_task(task)) return;
                  if (out_.decisions.empty()) out_.decisions.resize(static_cast<std::size_t>(count_));
                  const std::string why = row.text(4);
                  const auto [word, fresh] = words.try_emplace(why, static_cast<std::int32_t>(out_.whys.size()));
                  if (fresh) out_.whys.push_back(why);
                  out_.decisions[static_cast<std::size_t>(task)] = {
                      row.integer(1), static_cast<std::int32_t>(row.integer_or(2, -1)),
                      static_cast<std::int32_t>(row.integer_or(3, -1)), word->second, true};
                });
  }

  void places(const char* sql, std::vector<AllocationPlace>& to) {
    file_.query(sql, [&](const Row& row) {
      to.push_back({row.integer(0), row.integer(2), static_cast<std::int32_t>(row.integer_or(1, -1))});
    });
  }

  RecordingFile& file_;
  std::int64_t count_;
  Places& out_;
};

}  // namespace

void read_places(RecordingFile& file, std::int64_t count, Places& out) { Reading(file, count, out).run(); }

}  // namespace hearth::report
