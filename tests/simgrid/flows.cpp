// Random flows over random links, in Fluid and in SimGrid: every flow ends at the same time in both.
//
// SimGrid's model CM02 without latencies shares links max-min fair among flows; that is what Fluid does when
// every byte takes one unit of each resource. A flow's own limit is a link of its own there. A SimGrid second
// stands for a nanosecond. All scenarios run in one SimGrid platform, on links of their own.
#include <simgrid/s4u.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include "sim/cost/fluid.h"

namespace {

namespace sg4 = simgrid::s4u;
using hearth::sim::Fluid;
using hearth::sim::Time;

struct Flow {
  double start_ns = 0;
  double bytes = 0;
  double limit = 0;  // bytes per ns
  std::vector<std::uint32_t> links;
  double end_ns = 0;      // by Fluid
  double simgrid_ns = 0;  // by SimGrid
};

struct Scenario {
  std::vector<double> capacity;  // bytes per ns
  std::vector<Flow> flows;
};

Scenario scenario_of(unsigned seed) {
  std::mt19937 random(seed);
  const auto number = [&random](int least, int most) {
    return std::uniform_int_distribution<int>(least, most)(random);
  };
  Scenario s;
  const int links = number(1, 10);
  for (int i = 0; i < links; ++i) s.capacity.push_back(number(2, 40));
  const int flows = number(2, 60);
  for (int i = 0; i < flows; ++i) {
    Flow& flow = s.flows.emplace_back();
    flow.start_ns = number(0, 20'000);
    flow.bytes = number(1'000, 200'000);
    flow.limit = number(1, 30) / 2.0;
    for (std::uint32_t link = 0; link < s.capacity.size(); ++link)
      if (number(0, 2) == 0) flow.links.push_back(link);
    if (flow.links.empty()) flow.links.push_back(static_cast<std::uint32_t>(number(0, links - 1)));
  }
  std::stable_sort(s.flows.begin(), s.flows.end(),
                   [](const Flow& a, const Flow& b) { return a.start_ns < b.start_ns; });
  return s;
}

void run_in_fluid(Scenario& s) {
  Fluid fluid;
  for (const double capacity : s.capacity) fluid.add_resource(capacity);
  std::vector<std::size_t> flow_of;
  std::size_t next = 0;
  while (next < s.flows.size() || fluid.active() != 0) {
    const Time start =
        next < s.flows.size() ? static_cast<Time>(s.flows[next].start_ns * 1000) : hearth::sim::kNever;
    if (const Time end = fluid.next_end(start); end < start) {
      s.flows[flow_of[fluid.end_next()]].end_ns = static_cast<double>(end) / 1000;
      continue;
    }
    const Flow& flow = s.flows[next];
    std::vector<Fluid::Use> uses;
    for (const std::uint32_t link : flow.links) uses.push_back({link, 1});
    const auto alone = static_cast<Time>(std::ceil(flow.bytes / flow.limit * 1000));
    const auto activity = fluid.start(start, alone, flow.bytes, uses);
    if (activity >= flow_of.size()) flow_of.resize(activity + 1);
    flow_of[activity] = next++;
  }
}

void enter_into_simgrid(sg4::NetZone* zone, Scenario& s, std::size_t number) {
  const std::string prefix = std::to_string(number) + "-";
  std::vector<sg4::Link*> links;
  for (std::size_t i = 0; i < s.capacity.size(); ++i)
    links.push_back(zone->create_link(prefix + "link" + std::to_string(i), s.capacity[i])->seal());
  for (std::size_t i = 0; i < s.flows.size(); ++i) {
    Flow& flow = s.flows[i];
    sg4::Host* from = zone->create_host(prefix + "from" + std::to_string(i), 1e9);
    sg4::Host* to = zone->create_host(prefix + "to" + std::to_string(i), 1e9);
    std::vector<sg4::LinkInRoute> route;
    // Nobody else's: what the flow can take at most.
    route.emplace_back(zone->create_link(prefix + "limit" + std::to_string(i), flow.limit)->seal());
    for (const std::uint32_t link : flow.links) route.emplace_back(links[link]);
    zone->add_route(from->get_netpoint(), to->get_netpoint(), nullptr, nullptr, route, false);
    sg4::Actor::create(prefix + std::to_string(i), from, [&flow, from, to] {
      sg4::this_actor::sleep_until(flow.start_ns);
      sg4::Comm::sendto_init(from, to)->set_payload_size(static_cast<std::uint64_t>(flow.bytes))->wait();
      flow.simgrid_ns = sg4::Engine::get_clock();
    });
  }
}

}  // namespace

int main(int argc, char** argv) {
  sg4::Engine engine(&argc, argv);
  for (const char* setting : {"network/model:CM02", "network/TCP-gamma:0", "network/crosstraffic:0",
                              "network/weight-S:0", "network/bandwidth-factor:1", "network/latency-factor:1"})
    sg4::Engine::set_config(setting);
  constexpr unsigned kScenarios = 60;
  std::vector<Scenario> scenarios;
  for (unsigned seed = 1; seed <= kScenarios; ++seed) scenarios.push_back(scenario_of(seed));
  sg4::NetZone* zone = sg4::create_full_zone("flows");
  for (std::size_t i = 0; i < scenarios.size(); ++i) enter_into_simgrid(zone, scenarios[i], i);
  zone->seal();
  engine.run();
  std::size_t flows = 0, shared = 0;
  double worst = 0;
  for (Scenario& s : scenarios) {
    run_in_fluid(s);
    for (const Flow& flow : s.flows) {
      const double difference = std::fabs(flow.end_ns - flow.simgrid_ns) / flow.simgrid_ns;
      worst = std::max(worst, difference);
      shared += flow.end_ns > 1.01 * (flow.start_ns + flow.bytes / flow.limit);
      ++flows;
    }
  }
  std::printf("%zu flows, %zu of them slowed down by others; largest difference in when one ends: %g\n",
              flows, shared, worst);
  // SimGrid ends a flow when less than 1e-5 of a byte is left, and counts seconds in a double.
  return worst < 1e-5 && shared > flows / 4 ? 0 : 1;
}
