// Plain cost rules of streams, on a machine of two nodes with round figures.
#include "stream.h"

#include <gtest/gtest.h>

#include "sim_machines.h"

namespace hearth::sim {
namespace {

// Lines of 100 bytes, one in flight: 100 ns here, 200 ns there, so that a core reads 1 and 0.5 GB/s.
struct TwoNodes {
  topology::Machine machine;
  Parameters parameters;

  TwoNodes() {
    machine.nodes.resize(2);
    parameters.read_ns = {2, 100};
    parameters.read_ns.at(0, 1) = parameters.read_ns.at(1, 0) = 200;
    parameters.line_bytes = 100;
    parameters.patterns[static_cast<std::size_t>(Pattern::stream)].misses_in_flight = known(1);
    parameters.memory_gbs = {known(2), known(2)};
    parameters.links = {{0, 1, known(10)}, {1, 0, known(10)}};
    parameters.routes = {{}, {0}, {1}, {}};
    parameters.remote_occupancy = known(1.5);
    parameters.write_occupancy = known(2);
    parameters.write_latency = known(1);
    parameters.coherence_gbs = known(0);
    parameters.move_pages_base_us = known(100);
    parameters.move_pages_us = known(10);
    parameters.fault_us = known(12);
    parameters.move_thread_us = known(3);
  }
  static Stream reader(std::uint32_t core, std::uint32_t memory, bool written = false) {
    Stretch stretch{1000, {0, 0}, written};
    stretch.on[memory] = 1;
    return {core, {stretch}};
  }
};

TEST(Stream, AloneItIsBoundByTheLatency) {
  const TwoNodes two;
  const StreamMachine streams(two.machine, two.parameters);
  EXPECT_DOUBLE_EQ(streams.ns({TwoNodes::reader(0, 0)}), 1000);
  EXPECT_DOUBLE_EQ(streams.ns({TwoNodes::reader(0, 1)}), 2000);
}

TEST(Stream, ManyAreBoundByTheNodeThatServesThem) {
  const TwoNodes two;
  const StreamMachine streams(two.machine, two.parameters);
  // 4000 bytes at 2 GB/s; at 1.5 times the cost if the node serves another's cores; twice if they are
  // written.
  const Stream here = TwoNodes::reader(0, 0);
  EXPECT_NEAR(streams.ns({here, here, here, here}), 2000, 1);
  const Stream there = TwoNodes::reader(0, 1);
  EXPECT_NEAR(streams.ns({there, there, there, there}), 3000, 1);
  const Stream written = TwoNodes::reader(0, 0, true);
  EXPECT_NEAR(streams.ns({written, written, written, written}), 4000, 1);
}

TEST(Stream, TheWholeMachineMayBeTheLimit) {
  TwoNodes two;
  two.parameters.coherence_gbs = known(1);
  const StreamMachine streams(two.machine, two.parameters);
  EXPECT_NEAR(streams.ns({TwoNodes::reader(0, 0), TwoNodes::reader(1, 1)}), 2000, 1);
}

TEST(Stream, LinksAreSharedByWhatCrossesThem) {
  TwoNodes two;
  two.parameters.links[1].gbs = known(0.25);
  const StreamMachine streams(two.machine, two.parameters);
  EXPECT_NEAR(streams.ns({TwoNodes::reader(0, 1)}), 4000, 1);
}

TEST(Stream, MovingPagesCostsACallAndEachPage) {
  const TwoNodes two;
  const StreamMachine streams(two.machine, two.parameters);
  EXPECT_NEAR(streams.move_memory_ns({{8 * 4096, 0, 1}}), 180e3, 1);
  EXPECT_NEAR(streams.move_memory_ns({{8 * 4096, 0, 1}, {8 * 4096, 1, 0}}), 180e3, 1);
  EXPECT_NEAR(streams.next_touch_ns({{8 * 4096, 0, 1}}), 96e3, 1);
  EXPECT_EQ(streams.move_memory_ns({{8 * 4096, 1, 1}}), 0);
  EXPECT_DOUBLE_EQ(streams.move_threads_ns(2), 6e3);
}

}  // namespace
}  // namespace hearth::sim
