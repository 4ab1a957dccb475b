// What `hearth topo --measure` writes, for recorded machines that no test can measure: it reads back, and
// says what the machine is.
#include "survey/measure.h"
#include "survey/measure_kernels.h"

#include <gtest/gtest.h>

#include "sim/cost/parameters.h"
#include "support.h"
#include "topology/current.h"
#include "topology/model.h"

namespace hearth::topology::test {
namespace {

// As a measurement leaves it: figures where there is a CPU and a memory, none elsewhere.
survey::Measured figures(const Machine& machine) {
  const std::size_t size = machine.locations.size();
  survey::Measured all;
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

TEST(MeasuredModel, LatenciesUnderLoadAreThereIfAnyWasMeasured) {
  const Machine real = machine_of_tree("xeon-2-sockets");
  survey::Measured measured = figures(real);
  EXPECT_EQ(survey::model_text(real, measured, "two", "a test").find("loaded_ns"), std::string::npos);
  measured.loaded_ns[1] = 210;
  const std::string text = survey::model_text(real, measured, "two", "a test");
  EXPECT_NE(text.find("loaded_ns"), std::string::npos);
  EXPECT_TRUE(parse_model(text, "my.toml").ok());
}

TEST(MeasuredModel, ReadsBackAsTheMachineThatItIs) {
  for (const char* name : {"xeon-2-sockets", "epyc-nps4", "sub-numa-clustering", "cxl", "hmat-complete",
                           "memory-less", "holes", "hybrid", "big-little", "slurm-cpuset", "container-v2"}) {
    SCOPED_TRACE(name);
    const Machine real = machine_of_tree(name);
    const survey::Measured measured = figures(real);
    const std::string text = survey::model_text(real, measured, name, "a test");
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

// With the binding that several nodes need, on however few there are here.
TEST(MeasuredArray, IsOnTheNodeThatWasAskedForOrSaysWhyNot) {
  using survey::Array;
  using survey::Binding;
  constexpr std::size_t kBytes = std::size_t{4} << 20;
  const Machine here = read_sysfs(SystemRoot(), allowance());
  const Location& location = here.locations.front();
  const unsigned node = here.nodes[static_cast<std::size_t>(location.node)].os;
  const unsigned cpu = here.usable.first();

  const Array good(kBytes, node, false, cpu, true);
  ASSERT_TRUE(good.usable());
  EXPECT_EQ(good.binding(), good.bind_error() == 0 ? Binding::bound : Binding::first_touch);
  lay_cycle(good, kBytes, 64);
  EXPECT_GT(chase_ns(good, cpu, 0, false), 0);

  constexpr unsigned kNowhere = 900;
  if (here.node_index(kNowhere) >= 0) GTEST_SKIP() << "a machine with a node 900";
  const Array far(kBytes, kNowhere, false, cpu, false);
  EXPECT_FALSE(far.usable());
  EXPECT_NE(far.bind_error(), 0);
  const survey::MoveCost cost = move_cost(good, 2, kNowhere, node);
  EXPECT_LT(cost.one, 0);
}

TEST(MeasuredArray, ACycleVisitsEveryLineOnce) {
  constexpr std::size_t kBytes = std::size_t{2} << 20;
  constexpr std::size_t kLine = 64;
  const survey::Array array(kBytes, 0, true, allowance().cpus.first(), true);
  ASSERT_TRUE(array.usable());
  lay_cycle(array, kBytes, kLine);
  std::vector<bool> seen(kBytes / kLine, false);
  const char* at = array.data();
  for (std::size_t i = 0; i < seen.size(); ++i) {
    const auto line = static_cast<std::size_t>(at - array.data()) / kLine;
    ASSERT_LT(line, seen.size());
    ASSERT_FALSE(seen[line]) << "after " << i << " steps";
    seen[line] = true;
    at = reinterpret_cast<const char*>(*reinterpret_cast<const std::uint64_t*>(at));
  }
  EXPECT_EQ(at, array.data());
}

}  // namespace
}  // namespace hearth::topology::test
