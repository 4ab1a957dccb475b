// The model file of a measured machine. What was read or measured has the mark H; what cannot be measured
// from a program has the ranges of today's machines (models/epyc-9654x2-nps4.toml) and the mark A.
#include <algorithm>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "survey/measure.h"

namespace hearth::survey {
namespace {

using topology::CacheDomain;
using topology::Core;
using topology::Location;
using topology::Machine;

const topology::Node& node_of(const Machine& machine, const Location& location) {
  return machine.nodes[static_cast<std::size_t>(location.node)];
}

// Model files are ASCII, and these texts stand in quotes.
std::string plain(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c >= ' ' && c <= '~' && c != '"' && c != '\\') out += c;
  }
  return out;
}

std::string measured(double value) { return fmt::format("{{ value = {:.4g}, mark = \"H\" }}", value); }

std::string measured_or(double value, const char* assumed) {
  return value > 0 ? measured(value) : std::string(assumed);
}

template <class Cell>
std::string square(std::size_t size, const Cell& cell) {
  std::string text = "[\n";
  for (std::size_t row = 0; row < size; ++row) {
    text += "  [";
    for (std::size_t column = 0; column < size; ++column)
      text += fmt::format("{}{}", column == 0 ? "" : ", ", cell(row, column));
    text += "],\n";
  }
  return text + "]\n";
}

// Cores that are alike, in the order of the machine's kinds.
std::string cores_of(const Machine& machine, const Location& location) {
  std::string text;
  std::set<std::tuple<int, std::size_t>> seen;
  for (const Core& core : machine.cores) {
    if (!core.cpus.intersects(location.cpus)) continue;
    const std::size_t threads = (core.cpus & location.cpus).count();
    if (!seen.insert({core.kind, threads}).second) continue;
    std::size_t count = 0;
    std::set<int> llcs;
    for (const Core& other : machine.cores) {
      if (other.kind != core.kind || (other.cpus & location.cpus).count() != threads) continue;
      ++count;
      llcs.insert(other.llc);
    }
    const topology::CoreKind& kind = machine.kinds[static_cast<std::size_t>(core.kind)];
    text += fmt::format("{}{{ count = {}, threads = {}, llcs = {}", text.empty() ? "" : ", ", count,
                        std::min<std::size_t>(threads, 8), llcs.size());
    if (machine.kinds.size() > 1 && kind.capacity > 0)
      text += fmt::format(", kind = \"{}\", capacity = {}", plain(kind.name), kind.capacity);
    text += " }";
  }
  return text;
}

std::string nodes_text(const Machine& machine) {
  std::string text;
  for (const Location& location : machine.locations) {
    const topology::Node& node = node_of(machine, location);
    text += fmt::format("\n[[node]]\nmark = \"H\"\nnumber = {}\n", node.os);
    // A node that spans packages counts as the first one's.
    if (!location.cpus.empty()) text += fmt::format("package = {}\n", std::max(0, node.package));
    if (!location.holds_memory) {
      text += "memory = false\n";
    } else if (node.memory_bytes > 0) {
      text += fmt::format("memory_bytes = {}\n", node.memory_bytes);
    }
    if (!location.cpus.empty()) text += fmt::format("cores = [{}]\n", cores_of(machine, location));
  }
  return text;
}

std::string cache_text(const Machine& machine) {
  const CacheDomain* largest = nullptr;
  for (const CacheDomain& llc : machine.llcs) {
    if (llc.level > 0 && llc.bytes > 0 && (largest == nullptr || llc.bytes > largest->bytes)) largest = &llc;
  }
  if (largest == nullptr) return {};
  std::string text = fmt::format("\n[cache]\nmark = \"H\"\nllc_level = {}\nllc_bytes = {}\n", largest->level,
                                 largest->bytes);
  if (largest->line_bytes > 0) text += fmt::format("line_bytes = {}\n", largest->line_bytes);
  return text;
}

std::string pairs_text(const Machine& machine, const Measured& all) {
  const std::size_t size = machine.locations.size();
  std::string text;
  if (machine.distance_source == topology::DistanceSource::slit) {
    text += "\n[distance]\nmark = \"H\"\nslit = ";
    text += square(size, [&](std::size_t a, std::size_t b) { return machine.location_distance.at(a, b); });
  }
  text += "\n[latency]\nmark = \"H\"\nread_ns = ";
  text +=
      square(size, [&](std::size_t a, std::size_t b) { return fmt::format("{:.1f}", all.read_ns.at(a, b)); });
  // Nodes of one core have none.
  if (std::any_of(all.loaded_ns.begin(), all.loaded_ns.end(), [](double ns) { return ns > 0; })) {
    text +=
        "# Local memory, while the node's other cores read all they can. For people; nothing is reckoned "
        "with it.\n";
    text += "loaded_ns = ";
    text += square(size, [&](std::size_t a, std::size_t b) {
      return fmt::format("{:.1f}", a == b ? all.loaded_ns[a] : 0);
    });
  }
  text += "\n[bandwidth]\n# All cores of a node read. 0: not measured.\nmark = \"H\"\nmbs = ";
  text += square(size,
                 [&](std::size_t a, std::size_t b) { return fmt::format("{:.0f}", all.read_mbs.at(a, b)); });
  return text;
}

std::string links_text(const Machine& machine, const Measured& all) {
  const std::size_t size = machine.locations.size();
  std::string text;
  for (std::size_t a = 0; a < size; ++a) {
    for (std::size_t b = a + 1; b < size; ++b) {
      const double mbs = std::max(all.read_mbs.at(a, b), all.read_mbs.at(b, a));
      const unsigned from = node_of(machine, machine.locations[a]).os;
      const unsigned to = node_of(machine, machine.locations[b]).os;
      if (mbs <= 0) continue;
      if (text.empty()) {
        text =
            "\n# Ways between nodes cannot be seen from here: each pair has a link of its own, as wide as "
            "what was "
            "measured over it.\n";
      } else {
        text += '\n';
      }
      text += fmt::format("[[simulator.links]]\nname = \"{0}-{1}\"\npairs = [[{0}, {1}]]\ngbs = {2}\n", from,
                          to, measured(std::max(0.001, mbs / 1000)));
    }
  }
  return text;
}

std::string memory_text(const Measured& all) {
  std::string text;
  for (const double gbs : all.memory_gbs) {
    text += text.empty() ? "" : ", ";
    // A location without memory serves nobody; the reader wants a figure for each all the same.
    text += gbs > 0 ? measured(gbs) : "{ value = 0.001, mark = \"A\" }";
  }
  return "[" + text + "]";
}

constexpr const char* kAssumedCosts = R"(
[simulator.scheduling]
mark = "A"
create_ns = { low = 50, value = 120, high = 300 }
deal_ns = { low = 50, value = 120, high = 300 }
take_ns = { low = 15, value = 30, high = 80 }
steal_ns = { low = 60, value = 150, high = 400 }
steal_hop_ns = { low = 50, value = 100, high = 300 }
backoff_min_ns = { low = 100, value = 300, high = 1000 }
backoff_max_ns = { low = 5000, value = 10000, high = 20000 }
wake_ns = { low = 2000, value = 5000, high = 50000 }
)";

std::string simulator_text(const Machine& machine, const Measured& all) {
  const bool llc_known =
      std::all_of(machine.locations.begin(), machine.locations.end(), [&](const Location& one) {
        return one.cpus.empty() ||
               std::any_of(machine.llcs.begin(), machine.llcs.end(), [&](const CacheDomain& llc) {
                 return llc.bytes > 0 && llc.cpus.intersects(one.cpus);
               });
      });
  std::string text = "\n[simulator]\n";
  text += fmt::format("clock_ghz = {}\n", measured(std::clamp(all.clock_ghz, 0.01, 100.0)));
  text += "line_bytes = { value = 64, mark = \"A\" }\n";
  text += fmt::format("page_bytes = {{ value = {}, mark = \"H\" }}\n", all.page_bytes);
  text += all.private_bytes > 0
              ? fmt::format("private_bytes = {{ value = {}, mark = \"H\" }}\n", all.private_bytes)
              : std::string("private_bytes = { value = 1048576, mark = \"A\" }\n");
  if (!llc_known) text += "llc_bytes = { value = 33554432, mark = \"A\" }\n";
  text += fmt::format("llc_ns = {}\n",
                      measured_or(all.llc_ns, R"({ low = 10, value = 20, high = 50, mark = "A" })"));
  text += fmt::format("memory_gbs = {}\n", memory_text(all));
  text += "remote_occupancy = { low = 1, value = 1.25, high = 1.5, mark = \"A\" }\n";
  text += fmt::format("write_occupancy = {}\n",
                      measured_or(all.write_occupancy > 0 ? std::clamp(all.write_occupancy, 0.1, 100.0) : 0,
                                  R"({ low = 1, value = 2, high = 2, mark = "A" })"));
  text += fmt::format("write_latency = {}\n",
                      measured_or(all.write_latency > 0 ? std::clamp(all.write_latency, 0.1, 100.0) : 0,
                                  R"({ low = 1, value = 1.25, high = 1.8, mark = "A" })"));
  double sum = 0;
  for (const double gbs : all.memory_gbs) sum += gbs;
  if (all.memory_gbs.size() > 1 && all.all_local_gbs > 0 && all.all_local_gbs < 0.9 * sum) {
    text += "# All nodes at once get less than each of them alone.\n";
    text += fmt::format("coherence_gbs = {}\n", measured(all.all_local_gbs));
  }
  const auto pattern = [&](const char* name, double misses, const char* assumed, const char* overlap) {
    text += fmt::format("{} = {{ misses_in_flight = {}, overlap = {} }}\n", name,
                        measured_or(misses > 0 ? std::clamp(misses, 0.01, 1e4) : 0, assumed), overlap);
  };
  text += "\n[simulator.patterns]\nmark = \"A\"\n";
  pattern("stream", all.stream_misses, "{ low = 12, value = 24, high = 48 }",
          "{ low = 0.6, value = 0.9, high = 1 }");
  pattern("strided", all.strided_misses, "{ low = 4, value = 8, high = 16 }",
          "{ low = 0.2, value = 0.5, high = 0.8 }");
  pattern("random", all.random_misses, "{ low = 4, value = 8, high = 16 }",
          "{ low = 0.2, value = 0.5, high = 0.8 }");
  pattern("chase", 0, "1", "{ low = 0, value = 0.1, high = 0.3 }");
  text += links_text(machine, all);
  text += kAssumedCosts;
  text += "\n[simulator.migration]\n";
  const auto cost = [&](const char* key, double value, const char* assumed) {
    text += fmt::format("{} = {}\n", key, measured_or(value, assumed));
  };
  cost("move_pages_base_us", all.move_pages_base_us, R"({ low = 2, value = 10, high = 40, mark = "A" })");
  cost("move_pages_us", all.move_pages_us, R"({ low = 0.4, value = 1, high = 3, mark = "A" })");
  cost("move_thread_us", all.move_thread_us, R"({ low = 1, value = 3, high = 6, mark = "A" })");
  text += "fault_us = { low = 1, value = 2, high = 6, mark = \"A\" }\n";
  return text;
}

}  // namespace

std::string model_text(const Machine& machine, const Measured& measured_here, const std::string& name,
                       const std::string& title) {
  std::string text = "# Made by `hearth topo --measure` on the machine itself.\n";
  text +=
      "# Marks: H measured on it, or told by its kernel; A assumed, with a range: what a program cannot "
      "measure.\n";
  for (const std::string& remark : measured_here.remarks) text += "# " + plain(remark) + "\n";
  text += fmt::format("schema = 1\nname = \"{}\"\ntitle = \"{}\"\n", plain(name), plain(title));
  return text + nodes_text(machine) + cache_text(machine) + pairs_text(machine, measured_here) +
         simulator_text(machine, measured_here);
}

}  // namespace hearth::survey
