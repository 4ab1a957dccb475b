// The reader of a model's table [simulator]. A problem ends the table that it is in; the others are read all the same, so that all
// of a file's faults are named as far as can be.
#include <deque>

#include "sim/cost/parameters.h"
#include "topology/model_toml.h"
#include "topology/system_root.h"

namespace hearth::sim {
namespace {

using topology::format;
using topology::kMarks;
using topology::LocationKind;
using topology::Machine;
using topology::Matrix;
using topology::ModelToml;

constexpr double kMaxNs = 1e9;
constexpr double kMaxGbs = 1e6;

struct Limits {
  double least;
  double most;
};

class SimulatorReader : ModelToml {
 public:
  SimulatorReader(const std::string& file, const Machine& machine) : ModelToml(file), machine_(machine) {}

  LoadedParameters read(std::string_view text) {
    LoadedParameters loaded;
    if (const toml::table* root = parse(text)) read_root(*root);
    if (good()) {
      parameters_.resolve_latencies();
      loaded.parameters = std::move(parameters_);
    }
    loaded.problems = problems();
    return loaded;
  }

 private:
  // ---- figures ----

  // A number in a table that has a mark, or { value = 5, mark = "P" }, or, where only a range is known,
  // { low = 4, value = 5, high = 6, mark = "A" }.
  bool figure(const toml::table& table, const toml::node& given, std::string_view key, Limits limits, Figure& out) {
    const std::string name(key);
    const toml::node* mark = table.contains("mark") ? table.get("mark") : outer_mark_;
    const toml::node* value = &given;
    const toml::node* low = nullptr;
    const toml::node* high = nullptr;
    if (const toml::table* own = given.as_table()) {
      if (!only(*own, name.c_str(), {"value", "low", "high", "mark", "note"})) return false;
      std::string note;
      if (!ModelToml::text(*own, "note", note)) return false;
      if (const toml::node* nearer = own->get("mark")) mark = nearer;
      value = own->get("value");
      low = own->get("low");
      high = own->get("high");
      if (value == nullptr) return fail(given, format("\"%s\" has no value", name.c_str()));
      if ((low == nullptr) != (high == nullptr))
        return fail(given, format("\"%s\" has half a range; legal: both low and high, or neither", name.c_str()));
    }
    if (mark == nullptr) {
      return fail(given, format("\"%s\" has no mark, and neither has its table; legal: %s", name.c_str(),
                                std::string(kMarks).c_str()));
    }
    Figure figure;
    if (!check_mark(*mark) || !number(*value, key, limits.least, limits.most, figure.value)) return false;
    figure.mark = (*mark->value<std::string_view>())[0];
    figure.low = figure.high = figure.value;
    if (low != nullptr && (!number(*low, "low", limits.least, limits.most, figure.low) ||
                           !number(*high, "high", limits.least, limits.most, figure.high)))
      return false;
    if (figure.low > figure.value || figure.value > figure.high)
      return fail(given, format("\"%s\" is not in order; legal: low <= value <= high", name.c_str()));
    out = figure;
    return true;
  }

  bool figure(const toml::table& table, std::string_view key, Limits limits, Figure& out) {
    const toml::node* node = table.get(key);
    return node == nullptr || figure(table, *node, key, limits, out);
  }

  bool needed(const toml::table& table, const char* name, std::string_view key, Limits limits, Figure& out) {
    if (const toml::node* node = table.get(key)) return figure(table, *node, key, limits, out);
    return fail(table, format("%s needs \"%s\"", name, std::string(key).c_str()));
  }

  // A size is known or it is not: the workload's footprints are laid out by it.
  template <class Whole>
  bool size(const toml::table& table, std::string_view key, double most, Whole& out) {
    const toml::node* node = table.get(key);
    if (node == nullptr) return true;
    Figure bytes;
    if (!figure(table, *node, key, {1, most}, bytes)) return false;
    if (!bytes.known() || bytes.value != static_cast<double>(static_cast<std::uint64_t>(bytes.value)))
      return fail(*node, format("\"%s\" is not legal; legal: a whole number of bytes, without a range",
                                std::string(key).c_str()));
    out = static_cast<Whole>(bytes.value);
    return true;
  }

  bool power_of_two(const toml::table& table, std::string_view key, double most, std::uint32_t& out) {
    if (!size(table, key, most, out)) return false;
    const toml::node* node = table.get(key);
    return node == nullptr || (out & (out - 1)) == 0 ||
           fail(*node, format("\"%s\" is not a power of two", std::string(key).c_str()));
  }

  // ---- the tables ----

  void read_root(const toml::table& root) {
    const toml::table* table = nullptr;
    if (!optional_table(root, "simulator", table)) return;
    if (table == nullptr) {
      fail(root, "no [simulator]: this model says nothing of how fast the machine is");
      return;
    }
    only(*table, "[simulator]",
         {"mark",        "clock_ghz",    "line_bytes",       "page_bytes",      "private_bytes", "llc_bytes",
          "llc_ways",    "llc_ns",       "remote_occupancy", "write_occupancy", "write_latency", "coherence_gbs",
          "off_chip_ns", "off_chip_gbs", "memory_gbs",       "patterns",        "links",         "latency",
          "scheduling",  "tasks",        "migration",        "energy"});
    const toml::table& all = *table;
    Parameters& out = parameters_;
    needed(all, "[simulator]", "clock_ghz", {0.01, 100}, out.clock_ghz);
    power_of_two(all, "line_bytes", 4096, out.line_bytes);
    power_of_two(all, "page_bytes", 1 << 30, out.page_bytes);
    if (!all.contains("private_bytes")) fail(all, "[simulator] needs \"private_bytes\"");
    size(all, "private_bytes", 1e12, out.private_bytes);
    needed(all, "[simulator]", "llc_ns", {0.01, kMaxNs}, out.llc_ns);
    needed(all, "[simulator]", "remote_occupancy", {0.1, 100}, out.remote_occupancy);
    needed(all, "[simulator]", "write_occupancy", {0.1, 100}, out.write_occupancy);
    figure(all, "coherence_gbs", {0, kMaxGbs}, out.coherence_gbs);
    read_llc(all);
    read_llc_ways(all);
    read_write_latency(all);
    read_off_chip(all);
    read_memory(all);
    read_patterns(all);
    read_scheduling(all);
    read_tasks(all);
    read_migration(all);
    read_energy(all);
    if (home_caches()) {
      for (const char* key : {"latency", "links"}) {
        if (const toml::node* node = all.get(key))
          fail(*node, format("\"%s\" is not for home caches, whose latencies are in [mesh]", key));
      }
    } else {
      if (read_links(all)) find_routes(all);
      read_latency(all);
    }
  }

  bool home_caches() const { return machine_.location_kind == LocationKind::home_cache; }

  void read_llc(const toml::table& all) {
    if (all.contains("llc_bytes")) {
      size(all, "llc_bytes", 1e12, parameters_.llc_bytes);
      return;
    }
    // The smallest location's caches, a cache that spans nodes counted in equal parts.
    std::uint64_t least = UINT64_MAX;
    for (const topology::Location& location : machine_.locations) {
      if (location.cpus.empty()) continue;
      std::uint64_t bytes = 0;
      for (const topology::CacheDomain& llc : machine_.llcs) {
        if (!llc.cpus.intersects(location.cpus)) continue;
        bytes += llc.bytes / std::max<std::size_t>(1, llc.nodes.size());
      }
      least = std::min(least, bytes);
    }
    if (least == 0 || least == UINT64_MAX) {
      fail(all, "[simulator] needs \"llc_bytes\", because [cache] does not say");
    } else {
      parameters_.llc_bytes = least;
    }
  }

  void read_llc_ways(const toml::table& all) {
    std::int64_t ways = 0;
    if (!count(all, "llc_ways", 1, 1024, ways) || ways == 0) return;
    if (home_caches())
      fail(*all.get("llc_ways"), "\"llc_ways\" is not for home caches");
    else
      parameters_.llc_ways = static_cast<std::uint32_t>(ways);
  }

  void read_write_latency(const toml::table& all) {
    if (machine_.write_latency_ns.empty()) {
      needed(all, "[simulator]", "write_latency", {0.1, 100}, parameters_.write_latency);
    } else if (const toml::node* node = all.get("write_latency")) {
      fail(*node, "\"write_latency\" is not for a model whose [latency] has write_ns");
    }
  }

  void read_off_chip(const toml::table& all) {
    if (home_caches()) {
      needed(all, "[simulator]", "off_chip_ns", {0, kMaxNs}, parameters_.off_chip_ns);
      needed(all, "[simulator]", "off_chip_gbs", {0, kMaxGbs}, parameters_.off_chip_gbs);
      return;
    }
    for (const char* key : {"off_chip_ns", "off_chip_gbs"}) {
      if (const toml::node* node = all.get(key)) fail(*node, format("\"%s\" is for home caches only", key));
    }
  }

  void read_memory(const toml::table& all) {
    const std::size_t locations = machine_.locations.size();
    const toml::node* node = all.get("memory_gbs");
    if (node == nullptr) {
      fail(all, "[simulator] needs \"memory_gbs\"");
      return;
    }
    const Limits limits{1e-3, kMaxGbs};
    const toml::array* list = node->as_array();
    if (list == nullptr) {
      Figure each;
      if (!figure(all, *node, "memory_gbs", limits, each)) return;
      parameters_.memory_gbs.assign(locations, each);
      parameters_.memory_alike = true;
      return;
    }
    if (list->size() != locations) {
      fail(*node, format("\"memory_gbs\" has %zu figures for %zu locations", list->size(), locations));
      return;
    }
    for (const toml::node& element : *list) {
      if (!figure(all, element, "memory_gbs", limits, parameters_.memory_gbs.emplace_back())) return;
    }
  }

  // A table within [simulator]; false without it.
  bool below(const toml::table& parent, const char* name, const char* key, const toml::table*& out) {
    if (!optional_table(parent, key, out)) return false;
    return out != nullptr || fail(parent, format("[%s] needs [%s.%s]", name, name, key));
  }

  void read_patterns(const toml::table& all) {
    const toml::table* patterns = nullptr;
    if (!below(all, "simulator", "patterns", patterns)) return;
    only(*patterns, "[simulator.patterns]", {"mark", "stream", "strided", "random", "chase"});
    outer_mark_ = patterns->get("mark");
    for (std::size_t p = 0; p < kPatterns; ++p) {
      const std::string name = format("[simulator.patterns.%s]", kPatternNames[p]);
      const toml::table* one = nullptr;
      if (!below(*patterns, "simulator.patterns", kPatternNames[p], one)) continue;
      if (!only(*one, name.c_str(), {"mark", "misses_in_flight", "overlap"})) continue;
      needed(*one, name.c_str(), "misses_in_flight", {0.01, 1e4}, parameters_.patterns[p].misses_in_flight);
      needed(*one, name.c_str(), "overlap", {0, 1}, parameters_.patterns[p].overlap);
    }
    outer_mark_ = nullptr;
  }

  void read_scheduling(const toml::table& all) {
    const toml::table* table = nullptr;
    if (!below(all, "simulator", "scheduling", table)) return;
    const char* const name = "[simulator.scheduling]";
    only(*table, name,
         {"mark", "create_ns", "item_ns", "deal_ns", "take_ns", "steal_ns", "steal_hop_ns", "backoff_min_ns",
          "backoff_max_ns", "wake_ns", "turn_us"});
    Parameters& out = parameters_;
    needed(*table, name, "create_ns", {0, kMaxNs}, out.create_ns);
    figure(*table, "item_ns", {0, kMaxNs}, out.item_ns);
    needed(*table, name, "deal_ns", {0, kMaxNs}, out.deal_ns);
    needed(*table, name, "take_ns", {0, kMaxNs}, out.take_ns);
    needed(*table, name, "steal_ns", {0, kMaxNs}, out.steal_ns);
    needed(*table, name, "steal_hop_ns", {0, kMaxNs}, out.steal_hop_ns);
    const bool both = needed(*table, name, "backoff_min_ns", {1, kMaxNs}, out.backoff_min_ns) &&
                      needed(*table, name, "backoff_max_ns", {1, kMaxNs}, out.backoff_max_ns);
    if (both && out.backoff_min_ns.high > out.backoff_max_ns.low)
      fail(*table->get("backoff_max_ns"), "\"backoff_max_ns\" can be less than \"backoff_min_ns\"");
    needed(*table, name, "wake_ns", {0, kMaxNs}, out.wake_ns);
    figure(*table, "turn_us", {0, 1e6}, out.turn_us);
  }

  void read_tasks(const toml::table& all) {
    const toml::table* table = nullptr;
    if (!optional_table(all, "tasks", table) || table == nullptr) return;
    only(*table, "[simulator.tasks]", {"mark", "create_bytes", "run_bytes", "deal_create_bytes", "deal_run_bytes"});
    Parameters::TaskData& out = parameters_.task_data;
    figure(*table, "create_bytes", {0, 1e6}, out.create_bytes);
    figure(*table, "run_bytes", {0, 1e6}, out.run_bytes);
    figure(*table, "deal_create_bytes", {0, 1e6}, out.deal_create_bytes);
    figure(*table, "deal_run_bytes", {0, 1e6}, out.deal_run_bytes);
  }

  void read_migration(const toml::table& all) {
    const toml::table* table = nullptr;
    if (!below(all, "simulator", "migration", table)) return;
    const char* const name = "[simulator.migration]";
    only(*table, name, {"mark", "move_pages_base_us", "move_pages_us", "move_thread_us", "fault_us"});
    Parameters& out = parameters_;
    needed(*table, name, "move_pages_base_us", {0, 1e6}, out.move_pages_base_us);
    needed(*table, name, "move_pages_us", {0, 1e6}, out.move_pages_us);
    needed(*table, name, "move_thread_us", {0, 1e6}, out.move_thread_us);
    needed(*table, name, "fault_us", {0, 1e6}, out.fault_us);
  }

  void read_energy(const toml::table& all) {
    const toml::table* table = nullptr;
    if (!optional_table(all, "energy", table) || table == nullptr) return;
    const char* const name = "[simulator.energy]";
    only(*table, name,
         {"mark", "uncore_w", "idle_w", "active_w", "cache_nj", "memory_nj", "remote_nj", "switch_uj"});
    Parameters::Energy& out = parameters_.energy;
    out.given = true;
    needed(*table, name, "uncore_w", {0, 1e5}, out.uncore_w);
    needed(*table, name, "idle_w", {0, 1e4}, out.idle_w);
    needed(*table, name, "active_w", {0, 1e4}, out.active_w);
    needed(*table, name, "cache_nj", {0, 1e6}, out.cache_nj);
    needed(*table, name, "memory_nj", {0, 1e6}, out.memory_nj);
    needed(*table, name, "remote_nj", {0, 1e6}, out.remote_nj);
    needed(*table, name, "switch_uj", {0, 1e6}, out.switch_uj);
  }

  // ---- between nodes ----

  bool read_links(const toml::table& all) {
    const toml::node* node = all.get("links");
    if (node == nullptr) return true;
    const toml::array* groups = node->as_array();
    if (groups == nullptr || !groups->is_array_of_tables())
      return fail(*node, "\"links\" is not legal; legal: [[simulator.links]] tables");
    bool good = true;
    for (const toml::node& group : *groups) good &= read_link_group(*group.as_table());
    return good;
  }

  bool read_link_group(const toml::table& group) {
    const char* const table = "[[simulator.links]]";
    std::string name;
    if (!only(group, table, {"mark", "name", "pairs", "gbs"}) || !text(group, "name", name)) return false;
    if (name.empty()) return fail(group, format("%s needs \"name\"", table));
    std::vector<std::string>& names = parameters_.link_groups;
    if (std::find(names.begin(), names.end(), name) != names.end())
      return fail(group, format("two groups of links with the name \"%s\"", name.c_str()));
    Figure gbs;
    if (!needed(group, table, "gbs", {1e-3, kMaxGbs}, gbs)) return false;
    const toml::array* pairs = group.get_as<toml::array>("pairs");
    if (pairs == nullptr || pairs->empty())
      return fail(group, format("%s needs \"pairs\": [[0, 1], ...], by the numbers of nodes", table));
    for (const toml::node& pair : *pairs) {
      const toml::array* ends = pair.as_array();
      if (ends == nullptr || ends->size() != 2 || !ends->is_homogeneous(toml::node_type::integer))
        return fail(pair, "not a link; legal: [0, 1], two numbers of nodes");
      int end[2];
      for (std::size_t i = 0; i < 2; ++i) {
        const std::int64_t number = ends->get(i)->value<std::int64_t>().value_or(-1);
        end[i] = number < 0 || number > UINT16_MAX ? -1 : machine_.node_index(static_cast<unsigned>(number));
        if (end[i] < 0)
          return fail(pair, format("a link to node %lld, which does not exist", static_cast<long long>(number)));
      }
      if (end[0] == end[1]) return fail(pair, "a link from a node to itself");
      if (linked(end[0], end[1])) return fail(pair, "a second link between the same nodes");
      for (int way = 0; way < 2; ++way) {
        parameters_.links.push_back({static_cast<std::uint32_t>(end[way]), static_cast<std::uint32_t>(end[1 - way]),
                                     gbs, static_cast<std::uint32_t>(names.size())});
        leaving_[static_cast<std::size_t>(end[way])].push_back(
            static_cast<std::uint32_t>(parameters_.links.size() - 1));
      }
    }
    names.push_back(std::move(name));
    return true;
  }

  bool linked(int from, int to) {
    leaving_.resize(machine_.nodes.size());
    for (const std::uint32_t link : leaving_[static_cast<std::size_t>(from)]) {
      if (parameters_.links[link].to == static_cast<std::uint32_t>(to)) return true;
    }
    return false;
  }

  // Breadth first from each node with memory: shortest ways, and of equals the one whose links come first.
  void find_routes(const toml::table& all) {
    const std::size_t nodes = machine_.nodes.size();
    leaving_.resize(nodes);
    parameters_.routes.assign(nodes * nodes, {});
    for (std::size_t from = 0; from < nodes; ++from) {
      if (!machine_.nodes[from].has_memory) continue;
      constexpr std::uint32_t kNone = UINT32_MAX;
      std::vector<std::uint32_t> by(nodes, kNone);  // the link by which it was reached
      std::deque<std::size_t> next{from};
      while (!next.empty()) {
        const std::size_t at = next.front();
        next.pop_front();
        for (const std::uint32_t link : leaving_[at]) {
          const std::size_t to = parameters_.links[link].to;
          if (to == from || by[to] != kNone) continue;
          by[to] = link;
          next.push_back(to);
        }
      }
      for (std::size_t to = 0; to < nodes; ++to) {
        if (to == from) continue;
        if (by[to] == kNone) {
          if (machine_.nodes[to].cpus.empty()) continue;
          const toml::node* links = all.get("links");
          fail(links == nullptr ? static_cast<const toml::node&>(all) : *links,
               format("no way over [[simulator.links]] from the memory of node %u to node %u", machine_.nodes[from].os,
                      machine_.nodes[to].os));
          return;
        }
        std::vector<std::uint32_t>& route = parameters_.routes[from * nodes + to];
        for (std::size_t at = to; at != from; at = parameters_.links[by[at]].from) route.push_back(by[at]);
        std::reverse(route.begin(), route.end());
      }
    }
  }

  void read_latency(const toml::table& all) {
    const std::size_t nodes = machine_.nodes.size();
    const toml::node* node = all.get("latency");
    if (node == nullptr) {
      if (machine_.read_latency_ns.empty()) {
        fail(all, "[simulator] needs [[simulator.latency]], because there is no read_ns in [latency]");
        return;
      }
      parameters_.read_ns = Matrix<double>(nodes, 0);
      for (std::size_t from = 0; from < nodes; ++from) {
        for (std::size_t to = 0; to < nodes; ++to)
          parameters_.read_ns.at(from, to) = static_cast<double>(machine_.read_latency_ns.at(from, to));
      }
      return;
    }
    const toml::array* steps = node->as_array();
    if (steps == nullptr || steps->empty() || !steps->is_array_of_tables()) {
      fail(*node, "\"latency\" is not legal; legal: [[simulator.latency]] tables");
      return;
    }
    const char* const name = "[[simulator.latency]]";
    std::vector<LatencyStep>& out = parameters_.latency_steps;
    for (const toml::node& element : *steps) {
      const toml::table& step = *element.as_table();
      const std::string_view key = out.empty() ? "read_ns" : "more_ns";
      const std::int64_t least = out.empty() ? 1 : std::int64_t{out.back().distance} + 1;
      std::int64_t distance = 0;
      LatencyStep& added = out.emplace_back();
      if (!only(step, name, {"mark", "distance", key}) || !count(step, "distance", least, INT32_MAX, distance)) return;
      if (distance == 0) {
        fail(step, format("%s needs \"distance\"", name));
        return;
      }
      added.distance = static_cast<std::uint32_t>(distance);
      if (!needed(step, name, key, {out.size() == 1 ? 0.1 : 0, kMaxNs}, added.more_ns)) return;
    }
    parameters_.latency_step_of = Matrix<std::uint32_t>(nodes, 0);
    for (std::size_t from = 0; from < nodes; ++from) {
      for (std::size_t to = 0; to < nodes; ++to) {
        const std::uint32_t distance = machine_.node_distance.at(from, to);
        const auto found = std::find_if(out.begin(), out.end(),
                                        [&](const LatencyStep& step) { return step.distance == distance; });
        if (found == out.end()) {
          fail(*node, format("no %s for the distance %u, which is that of nodes %u and %u", name, distance,
                             machine_.nodes[from].os, machine_.nodes[to].os));
          return;
        }
        parameters_.latency_step_of.at(from, to) = static_cast<std::uint32_t>(found - out.begin());
      }
    }
  }

  const Machine& machine_;
  Parameters parameters_;
  const toml::node* outer_mark_ = nullptr;           // of the table around the one being read
  std::vector<std::vector<std::uint32_t>> leaving_;  // by node: links, in the order of the file
};

}  // namespace

LoadedParameters parse_parameters(std::string_view text, const std::string& file, const Machine& machine) {
  return SimulatorReader(file, machine).read(text);
}

LoadedParameters load_parameters(const std::string& path, const Machine& machine) {
  std::string text;
  if (!topology::SystemRoot().read(path.c_str(), text)) {
    LoadedParameters loaded;
    loaded.problems = {format("%s: cannot be read; legal: a model file (.toml)", path.c_str())};
    return loaded;
  }
  return parse_parameters(text, path, machine);
}

}  // namespace hearth::sim
