// What `hearth topo --measure` writes, for recorded machines that no test can measure: it reads back, and
// says what the machine is.
#include "cli/measure.h"

#include <gtest/gtest.h>

#include "sim/parameters.h"
#include "support.h"
#include "topology/model.h"

namespace hearth::topology::test {
namespace {

// As a measurement leaves it: figures where there is a CPU and a memory, none elsewhere.
cli::measure::Measured figures(const Machine& machine) {
  const std::size_t size = machine.locations.size();
  cli::measure::Measured all;
  all.read_ns = Matrix<double>(size, 0);
  all.read_mbs = Matrix<double>(size, 0);
  all.loaded_ns.assign(size, 0);
  all.memory_gbs.assign(size, 0);
  for (std::size_t a = 0; a < size; ++a) {
    for (std::size_t b = 0; b < size; ++b) {
      if (machine.locations[a].cpus.empty() || !machine.locations[b].holds_memory) continue;
      all.read_ns.at(a, b) = 70 + 10 * static_cast<double>(machine.location_distance.at(a, b));
      all.read_mbs.at(a, b) = a == b ? 20'000 : 8'000;
      all.memory_gbs[b] = std::max(all.memory_gbs[b], all.read_mbs.at(a, b) / 1000);
    }
  }
  all.clock_ghz = 2.5;
  all.llc_ns = 15;
  all.stream_misses = 20;
  all.remarks = {"A remark with \"quotes\"."};
  return all;
}

TEST(MeasuredModel, ReadsBackAsTheMachineThatItIs) {
  for (const char* name : {"xeon-2-sockets", "epyc-nps4", "sub-numa-clustering", "cxl", "hmat-complete",
                           "memory-less", "holes", "hybrid", "big-little", "slurm-cpuset", "container-v2"}) {
    SCOPED_TRACE(name);
    const Machine real = machine_of_tree(name);
    const cli::measure::Measured measured = figures(real);
    const std::string text = cli::measure::model_text(real, measured, name, "a test");
    const LoadedMachine loaded = parse_model(text, "my.toml");
    ASSERT_TRUE(loaded.ok()) << loaded.error << "\n" << text;
    const Machine& model = loaded.machine;
    EXPECT_EQ(model.name, name);
    ASSERT_EQ(model.locations.size(), real.locations.size());
    std::size_t cores = 0;
    for (const Core& core : real.cores) cores += !core.usable.empty();
    EXPECT_EQ(model.cores.size(), cores);
    EXPECT_EQ(model.usable.count(), real.usable.count());
    for (std::size_t a = 0; a < real.locations.size(); ++a) {
      EXPECT_EQ(model.locations[a].cpus.count(), real.locations[a].cpus.count());
      EXPECT_EQ(model.locations[a].holds_memory, real.locations[a].holds_memory);
      EXPECT_EQ(model.nodes[a].os, real.nodes[static_cast<std::size_t>(real.locations[a].node)].os);
      for (std::size_t b = 0; b < real.locations.size(); ++b) {
        EXPECT_FLOAT_EQ(model.read_latency_ns.at(a, b), static_cast<float>(measured.read_ns.at(a, b)));
        if (real.distance_source == DistanceSource::slit) {
          EXPECT_EQ(model.location_distance.at(a, b), real.location_distance.at(a, b));
        }
      }
    }
    const sim::LoadedParameters parameters = sim::parse_parameters(text, "my.toml", model);
    ASSERT_TRUE(parameters.ok()) << parameters.error() << "\n" << text;
    EXPECT_EQ(parameters.parameters.clock_ghz.mark, 'H');
    EXPECT_EQ(parameters.parameters.create_ns.mark, 'A');
    EXPECT_FALSE(parameters.parameters.create_ns.known());
  }
}

}  // namespace
}  // namespace hearth::topology::test
