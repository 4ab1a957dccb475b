// Fuzzes the reader of [simulator]: any text behind a good machine either gives parameters that a simulation
// can use, in every draw, or problems that name the file. The first byte, which is part of the text, chooses
// the machine.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "../require.h"
#include "sim/cost/parameters.h"
#include "topology/model.h"

namespace {

using namespace hearth;

struct Known {
  std::string head;
  topology::Machine machine;
};

Known known(std::string head) {
  topology::LoadedMachine loaded = topology::parse_model(head, "head.toml");
  if (!loaded.ok()) std::fprintf(stderr, "%s\n", loaded.error.c_str());
  REQUIRE(loaded.ok());
  return {std::move(head), std::move(loaded.machine)};
}

const Known& machine(unsigned which) {
  static const Known machines[] = {
      known("schema = 1\nname = \"m\"\n[mesh]\nmark = \"A\"\nwidth = 2\nheight = 2\nclock_mhz = "
            "700\nlocal_cycles = "
            "10\nremote_cycles = 38\ncycles_per_hop = 2\n"),
      known("schema = 1\nname = \"m\"\n[structure]\nmark = \"A\"\npackages = 2\n[cache]\nmark = "
            "\"A\"\nllc_bytes = "
            "9999\n[distance]\nmark = \"A\"\nslit = [[10, 20], [20, 10]]\n"),
      known("schema = 1\nname = \"m\"\n[[node]]\nmark = \"A\"\npackage = 0\ncores = [{count = "
            "2}]\n[[node]]\nmark = "
            "\"A\"\nnumber = "
            "4\n[[node]]\nmark = \"A\"\nnumber = 7\nmemory = false\npackage = 1\ncores = [{count = "
            "1}]\n[latency]\nmark = "
            "\"A\"\nread_ns = [[70, 150, 0], [0, 0, 0], [90, 160, 0]]\n"),
  };
  return machines[which % std::size(machines)];
}

void usable(const sim::Parameters& all, const topology::Machine& on) {
  const std::size_t nodes = on.nodes.size();
  REQUIRE(all.memory_gbs.size() == on.locations.size());
  for (const sim::Figure& figure : all.memory_gbs) REQUIRE(figure.value > 0 && std::isfinite(figure.value));
  REQUIRE(all.clock_ghz.value > 0 && all.llc_bytes > 0 && all.private_bytes > 0);
  REQUIRE(all.line_bytes > 0 && all.page_bytes > 0);
  if (on.location_kind == topology::LocationKind::home_cache) {
    REQUIRE(all.routes.empty() && all.read_ns.empty());
    return;
  }
  REQUIRE(all.routes.size() == nodes * nodes && all.read_ns.size() == nodes);
  for (std::size_t from = 0; from < nodes; ++from) {
    for (std::size_t to = 0; to < nodes; ++to) {
      if (on.nodes[to].cpus.empty() || !on.nodes[from].has_memory) continue;
      REQUIRE(all.read_ns.at(to, from) > 0);
      std::uint32_t at = static_cast<std::uint32_t>(from);
      for (const std::uint32_t link : all.routes[from * nodes + to]) {
        REQUIRE(link < all.links.size() && all.links[link].from == at && all.links[link].gbs.value > 0);
        at = all.links[link].to;
      }
      REQUIRE(at == to);
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const Known& on = machine(data[0]);
  const std::string_view tail(reinterpret_cast<const char*>(data), size);
  // With the machine's own part in front; and, so that whole shipped models are seeds, without.
  for (const std::string& text : {on.head + std::string(tail), std::string(tail)}) {
    const sim::LoadedParameters loaded = sim::parse_parameters(text, "fuzz.toml", on.machine);
    for (const std::string& problem : loaded.problems) REQUIRE(problem.rfind("fuzz.toml:", 0) == 0);
    if (!loaded.ok()) continue;
    usable(loaded.parameters, on.machine);
    const std::size_t ranges = loaded.parameters.ranges().size();
    for (const double unit : {0.0, 0.999}) {
      const sim::Parameters drawn = loaded.parameters.drawn(std::vector<double>(ranges, unit));
      REQUIRE(drawn.ranges().empty());
      usable(drawn, on.machine);
    }
  }
  return 0;
}
