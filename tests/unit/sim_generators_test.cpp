// Generators make what they say: those of the six benchmarks are held against the C programs, which a frame
// that prints instead of running (las_spy.c) asks for their allocations, clauses and touches.
#include "sim/workload/generators.h"

#include <bitset>
#include <cstdio>
#include <map>
#include <memory>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

namespace hearth::sim {
namespace {

using Mode = placement::Access;
using Words = std::vector<std::string>;

Workload made(const char* name, const Words& settings = {}) {
  const Generator* generator = find_generator(name);
  if (generator == nullptr) {
    ADD_FAILURE() << "no generator " << name;
    return {};
  }
  Generated result = generate(*generator, settings);
  EXPECT_EQ(result.error, "");
  EXPECT_EQ(result.workload.inconsistency(), "");
  return std::move(result.workload);
}

std::string error_of(const char* name, const Words& settings) {
  return generate(*find_generator(name), settings).error;
}

std::uint64_t allocated_bytes(const Workload& workload) {
  std::uint64_t sum = 0;
  for (const Region& region : workload.regions) sum += region.bytes;
  return sum;
}

std::uint64_t touched_bytes(const Workload& workload) {
  std::uint64_t sum = 0;
  for (const Access& access : workload.accesses) sum += access.passes > 0 ? access.rows * access.length : 0;
  return sum;
}

/// A task's accesses, of all its works.
std::vector<Access> accesses_of(const Workload& workload, TaskIndex index) {
  std::vector<Access> found;
  const Task& task = workload.tasks[index];
  for (std::uint32_t s = task.first_step; s < task.first_step + task.steps; ++s) {
    if (workload.steps[s].kind != Step::Kind::work) continue;
    const Work& work = workload.works[workload.steps[s].index];
    found.insert(found.end(), workload.accesses.begin() + work.first_access,
                 workload.accesses.begin() + work.first_access + work.accesses);
  }
  return found;
}

// ---- what the C programs do

struct Range {
  RegionIndex region = 0;
  std::uint64_t offset = 0, bytes = 0;
  std::uint64_t lines_or_mode = 0;
};
struct SpiedTask {
  int kind = 0, step = 0;
  std::vector<Range> in, out, touched, stated;
};
struct Spied {
  std::vector<std::uint64_t> allocations;
  std::vector<SpiedTask> tasks;
};

Spied spy(const std::string& name, const Words& settings) {
  std::string command = HEARTH_LAS_SPIES "/las_spy_" + name;
  for (const std::string& setting : settings) command += ' ' + setting;
  Spied found;
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  char buffer[256];
  SpiedTask next;  // calls that state a footprint stand before the clause, and all behind its "task"
  while (pipe != nullptr && std::fgets(buffer, sizeof buffer, pipe.get()) != nullptr) {
    std::istringstream line(buffer);
    std::string what;
    Range range;
    line >> what;
    if (what == "allocate") {
      found.allocations.emplace_back();
      line >> found.allocations.back();
    } else if (what == "task") {
      found.tasks.emplace_back();
      line >> found.tasks.back().kind >> found.tasks.back().step;
    } else {
      line >> range.region >> range.offset >> range.bytes >> range.lines_or_mode;
      SpiedTask& task = found.tasks.back();
      (what == "in"      ? task.in
       : what == "out"   ? task.out
       : what == "touch" ? task.touched
                         : task.stated)
          .push_back(range);
    }
  }
  EXPECT_FALSE(found.tasks.empty()) << command;
  return found;
}

bool writes(const Access& access) { return access.mode != Mode::read; }
bool contains(const Access& access, const Range& place) {
  return access.region == place.region && access.offset <= place.offset &&
         place.offset < access.offset + access.length;
}

/// The clause's addresses lie in declared accesses of the same direction, which begin at such addresses.
void compare_clause(const SpiedTask& spied, const std::vector<Access>& accesses) {
  for (const bool out : {false, true}) {
    for (const Range& item : out ? spied.out : spied.in) {
      bool found = false;
      for (const Access& access : accesses)
        found =
            found || (access.declared && (out ? writes(access) : !writes(access)) && contains(access, item));
      EXPECT_TRUE(found) << (out ? "out " : "in ") << item.region << ' ' << item.offset;
    }
  }
  for (const Access& access : accesses) {
    if (!access.declared) continue;
    bool found = false;
    for (const Range& item : writes(access) ? spied.out : spied.in)
      found = found || (item.region == access.region && item.offset == access.offset);
    EXPECT_TRUE(found) << "declared " << access.region << ' ' << access.offset;
  }
}

/// Where calls state the footprint, that is what is declared.
void compare_stated(const SpiedTask& spied, const std::vector<Access>& accesses) {
  using Key = std::tuple<RegionIndex, std::uint64_t, std::uint64_t, std::uint64_t>;
  std::multiset<Key> stated, declared;
  for (const Range& range : spied.stated)
    stated.emplace(range.region, range.offset, range.bytes, range.lines_or_mode);
  for (const Access& access : accesses) {
    if (access.declared)
      declared.emplace(access.region, access.offset, access.length, static_cast<std::uint64_t>(access.mode));
  }
  EXPECT_EQ(stated, declared);
}

/// Each range that the program says it touches is an access, and the other way round.
void compare_touches(const SpiedTask& spied, const std::vector<Access>& accesses) {
  std::set<std::pair<RegionIndex, std::uint64_t>> touched;
  for (const Access& access : accesses) {
    if (access.passes > 0) touched.emplace(access.region, access.offset);
  }
  EXPECT_EQ(touched.size(), spied.touched.size());
  for (const Range& range : spied.touched) {
    bool found = false;
    for (const Access& access : accesses) {
      if (access.passes == 0 || access.region != range.region) continue;
      if (range.lines_or_mode == 0)
        found = found || (access.offset == range.offset && access.rows == 1 && access.length == range.bytes);
      else  // a line of each row
        found = found || (access.offset >= range.offset && access.rows * access.pitch == range.bytes &&
                          (access.rows == range.lines_or_mode || access.pitch < 64));
    }
    EXPECT_TRUE(found) << "touch " << range.region << ' ' << range.offset << ' ' << range.bytes;
  }
}

constexpr std::size_t kMostTasks = 2048;
using TaskSet = std::bitset<kMostTasks>;

/// All that must have ended before each task, of the spied ones: those created before it that name an item of
/// its own, unless both only read it; and what must have ended before these.
std::vector<TaskSet> ordered_by_clauses(const Spied& spied) {
  std::vector<TaskSet> before(spied.tasks.size());
  using Item = std::pair<RegionIndex, std::uint64_t>;
  std::map<Item, std::vector<std::size_t>> readers, writers;
  for (std::size_t t = 0; t < spied.tasks.size(); ++t) {
    const SpiedTask& task = spied.tasks[t];
    const auto wait_for = [&](const std::vector<std::size_t>& others) {
      for (const std::size_t other : others) before[t] |= before[other] | TaskSet().set(other);
    };
    for (const Range& item : task.in) wait_for(writers[{item.region, item.offset}]);
    for (const Range& item : task.out) {
      wait_for(writers[{item.region, item.offset}]);
      wait_for(readers[{item.region, item.offset}]);
    }
    for (const Range& item : task.in) readers[{item.region, item.offset}].push_back(t);
    for (const Range& item : task.out) writers[{item.region, item.offset}].push_back(t);
  }
  return before;
}

std::vector<TaskSet> ordered_by_predecessors(const Workload& workload) {
  std::vector<TaskSet> before(workload.tasks.size() - 1);
  for (std::size_t t = 1; t < workload.tasks.size(); ++t) {
    const Task& task = workload.tasks[t];
    for (std::uint32_t p = task.first_predecessor; p < task.first_predecessor + task.predecessors; ++p) {
      const std::size_t other = workload.predecessors[p] - 1;
      before[t - 1] |= before[other] | TaskSet().set(other);
    }
  }
  return before;
}

struct Case {
  const char* name;
  Words settings;
};
class LasGenerators : public testing::TestWithParam<Case> {};

TEST_P(LasGenerators, MakeWhatTheProgramMakes) {
  if (std::string(HEARTH_LAS_SPIES).empty())
    GTEST_SKIP() << "the frame that prints speaks gcc's interface only";
  const auto& [name, settings] = GetParam();
  const Spied spied = spy(name, settings);
  const Workload workload = made(name, settings);
  ASSERT_EQ(workload.regions.size(), spied.allocations.size());
  for (std::size_t i = 0; i < spied.allocations.size(); ++i)
    EXPECT_EQ(workload.regions[i].bytes, spied.allocations[i]);
  ASSERT_EQ(workload.tasks.size() - 1, spied.tasks.size());
  ASSERT_LE(spied.tasks.size(), kMostTasks);
  std::map<int, std::uint32_t> kinds;
  for (TaskIndex t = 1; t < workload.tasks.size() && !HasFailure(); ++t) {
    SCOPED_TRACE("task " + std::to_string(t));
    const SpiedTask& task = spied.tasks[t - 1];
    EXPECT_EQ(kinds.emplace(task.kind, workload.tasks[t].kind).first->second, workload.tasks[t].kind);
    const std::vector<Access> accesses = accesses_of(workload, t);
    if (task.stated.empty())
      compare_clause(task, accesses);
    else
      compare_stated(task, accesses);
    compare_touches(task, accesses);
  }
  EXPECT_EQ(ordered_by_predecessors(workload), ordered_by_clauses(spied));
}

INSTANTIATE_TEST_SUITE_P(, LasGenerators,
                         testing::Values(Case{"map", {}}, Case{"map", {"vectors=7", "kib=1"}},
                                         Case{"reduction", {}}, Case{"reduction", {"kib=700", "depth=6"}},
                                         Case{"reduction", {"depth=1"}}, Case{"vecmul", {}},
                                         Case{"vecmul", {"vectors=3", "kib=5"}}, Case{"matmul", {"size=256"}},
                                         Case{"matmul", {"size=96", "block=16"}}, Case{"jacobi", {}},
                                         Case{"jacobi", {"size=48", "block=8", "sweeps=3"}},
                                         Case{"jacobi", {"size=128", "block=32", "exact=1"}},
                                         Case{"jacobi", {"size=16", "block=16", "sweeps=2"}},
                                         Case{"sparselu", {}}, Case{"sparselu", {"size=1152", "block=72"}}),
                         [](const auto& instance) {
                           return std::string(instance.param.name) + std::to_string(instance.index);
                         });

// ---- what they add up to

constexpr std::uint64_t kKib = 1024, kMib = 1024 * kKib;

TEST(Generators, SizesOfThePaper) {
  const Workload map = made("map", {"inputs=paper"});
  EXPECT_EQ(map.tasks.size(), 1 + 48u);
  EXPECT_EQ(allocated_bytes(map), 48 * kMib);
  EXPECT_EQ(touched_bytes(map), 48 * kMib);

  const Workload reduction = made("reduction", {"inputs=paper"});
  EXPECT_EQ(reduction.tasks.size(), 1 + 1023u);
  EXPECT_EQ(allocated_bytes(reduction), 512 * kMib);
  EXPECT_EQ(touched_bytes(reduction), 10 * 512 * kMib);

  const Workload matmul = made("matmul", {"inputs=paper"});
  EXPECT_EQ(matmul.tasks.size(), 1 + 1024u);
  EXPECT_EQ(allocated_bytes(matmul), 3 * 64 * kMib);
  EXPECT_EQ(touched_bytes(matmul), 1024u * 32 * 3 * 64 * kKib);

  const Workload jacobi = made("jacobi", {"inputs=paper", "sweeps=2"});
  EXPECT_EQ(jacobi.tasks.size(), 1 + 2 * 1024u);
  EXPECT_EQ(allocated_bytes(jacobi), 2048 * kMib);
  // Two blocks, and the edges of all but the boundary: a row or a column of 512 words.
  EXPECT_EQ(touched_bytes(jacobi), 2 * (1024u * 2 * kMib + 4u * 32 * 31 * 2 * kKib));

  const Workload tiles = made("map", {"inputs=manycore"});
  EXPECT_EQ(tiles.tasks.size(), 1 + 63u);
  EXPECT_EQ(allocated_bytes(tiles), 63 * 32 * kKib);
}

TEST(Generators, SparseLuOfThePaperByCounting) {
  const Workload workload = made("sparselu", {"inputs=paper"});
  constexpr int kBlocks = 32;
  bool there[kBlocks][kBlocks];
  std::size_t present = 0, tasks = 0;
  double cubes = 0;  // of side: work in bmod's operations
  for (int i = 0; i < kBlocks; ++i) {
    for (int j = 0; j < kBlocks; ++j) there[i][j] = std::abs(i - j) <= 1 || (i * 7 + j * 5) % 4 == 0;
  }
  for (int k = 0; k < kBlocks; ++k) {
    tasks += 1, cubes += 3 * 2. / 3;
    for (int i = k + 1; i < kBlocks; ++i) {
      if (there[k][i]) tasks += 1, cubes += 1.5;
      if (there[i][k]) tasks += 1, cubes += 3;
      for (int j = k + 1; j < kBlocks; ++j) {
        if (there[i][k] && there[k][j]) there[i][j] = true, tasks += 1, cubes += 2;
      }
    }
  }
  for (const auto& row : there) {
    for (const bool block : row) present += block ? 1 : 0;
  }
  EXPECT_EQ(workload.regions.size(), present);
  EXPECT_EQ(workload.tasks.size(), 1 + tasks);
  double cycles = 0;
  for (const Work& work : workload.works) cycles += static_cast<double>(work.cycles);
  const double side = 256;
  const Generator& generator = *find_generator("sparselu");
  const double ops = generator.parameters.back().defaults[1];
  EXPECT_NEAR(cycles * ops / (cubes * side * side * side), 1, 1e-6);
}

TEST(Generators, VecmulHasTheStructureThatIsAskedFor) {
  const auto shape = [](const char* structure) {
    const Workload workload = made("vecmul", {std::string("structure=") + structure, "vectors=6", "kib=12"});
    return std::pair(workload.regions.size(), workload.tasks.size() - 1);
  };
  using Shape = std::pair<std::size_t, std::size_t>;
  EXPECT_EQ(shape("triples"), Shape(18, 6));
  EXPECT_EQ(shape("lists"), Shape(18, 6));
  EXPECT_EQ(shape("in-place"), Shape(12, 6));
  EXPECT_EQ(shape("shared"), Shape(7, 6));
  EXPECT_EQ(shape("neighbours"), Shape(12, 6));
  EXPECT_EQ(shape("pieces"), Shape(18, 24));
  EXPECT_EQ(shape("all-pairs"), Shape(6, 15));
  EXPECT_EQ(made("vecmul", {"structure=lists"}).regions[128].name, "b[0]");
  EXPECT_EQ(made("vecmul", {"structure=triples"}).regions[127 * 3 + 1].name, "b[127]");
}

TEST(Generators, ComputingFollowsFromOperationsPerCycle) {
  EXPECT_EQ(made("map", {"vectors=1", "kib=1", "ops_per_cycle=0.5", "passes=3"}).works[0].cycles,
            256u * 3 * 2);
  EXPECT_EQ(made("jacobi", {"size=16", "block=16", "ops_per_cycle=2"}).works[0].cycles, 16u * 16 * 2);
}

TEST(Generators, OnlyBmodHasTheHint) {
  const Workload plain = made("sparselu");
  const Workload hinted = made("sparselu", {"hint=1"});
  std::size_t intense = 0, bmods = 0;
  for (const Access& access : plain.accesses) EXPECT_FALSE(access.intense);
  for (TaskIndex t = 1; t < hinted.tasks.size(); ++t) {
    bmods += hinted.kinds[hinted.tasks[t].kind] == "bmod" ? 1 : 0;
    for (const Access& access : accesses_of(hinted, t)) {
      if (!access.intense) continue;
      ++intense;
      EXPECT_EQ(hinted.kinds[hinted.tasks[t].kind], "bmod");
      EXPECT_EQ(access.mode, Mode::read_write);
    }
  }
  EXPECT_EQ(intense, bmods);
  EXPECT_GT(bmods, 100u);
}

// ---- random programs

bool same(const Workload& a, const Workload& b) {
  const auto bytes_equal = [](const auto& x, const auto& y, auto equal) {
    return x.size() == y.size() && std::equal(x.begin(), x.end(), y.begin(), equal);
  };
  return bytes_equal(a.works, b.works, [](const Work& x, const Work& y) { return x.cycles == y.cycles; }) &&
         bytes_equal(a.regions, b.regions,
                     [](const Region& x, const Region& y) { return x.bytes == y.bytes; }) &&
         bytes_equal(a.accesses, b.accesses,
                     [](const Access& x, const Access& y) {
                       return x.region == y.region && x.offset == y.offset && x.length == y.length;
                     }) &&
         a.predecessors == b.predecessors && a.tasks.size() == b.tasks.size();
}

TEST(RandomPrograms, AreSoundAndComeFromTheirSeedAlone) {
  std::set<std::string> shapes;
  Workload last;
  for (int seed = 0; seed < 200 && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    const std::string setting = "seed=" + std::to_string(seed);
    const Workload workload = made("random", {setting});
    EXPECT_GE(workload.tasks.size(), 16u);
    EXPECT_TRUE(same(workload, made("random", {setting})));
    EXPECT_FALSE(same(workload, last));
    shapes.insert(workload.kinds[1]);
    last = workload;
  }
  EXPECT_EQ(shapes, (std::set<std::string>{"rounds", "stencil", "layers", "pipelines", "tree"}));
}

TEST(RandomPrograms, WhatIsSetIsNotDrawn) {
  for (const char* shape : {"rounds", "stencil", "layers", "pipelines"}) {
    const Workload workload =
        made("random", {std::string("shape=") + shape, "blocks=20", "repeats=5", "kib=3"});
    EXPECT_EQ(workload.tasks.size() - 1, 100u) << shape;
    EXPECT_EQ(workload.accesses[0].length, 3 * kKib);
  }
  const Workload tree =
      made("random", {"shape=tree", "blocks=20", "first_touch=by-writer", "allocations=each"});
  EXPECT_EQ(tree.tasks.size() - 1, 2u * 19);
  EXPECT_EQ(tree.regions.size(), 20u);
  EXPECT_EQ(tree.regions[0].first_touch, FirstTouch::by_writer);
}

// ---- settings

TEST(GeneratorSettings, WhatIsWrongIsNamedWithWhatIsLegal) {
  EXPECT_EQ(error_of("map", {"vectors"}), "\"vectors\": a setting is name=value");
  EXPECT_EQ(error_of("map", {"vektors=3"}),
            "\"vektors\": map has no such setting; legal: inputs, vectors, kib, passes, ops_per_cycle");
  EXPECT_EQ(error_of("map", {"vectors=0"}), "vectors=\"0\": legal: whole numbers from 1 to 65536");
  for (const char* bad :
       {"vectors=1.5", "vectors=-3", "vectors=", "vectors=3x", "vectors=nan", "vectors=1e99"})
    EXPECT_NE(error_of("map", {bad}), "") << bad;
  EXPECT_EQ(error_of("map", {"ops_per_cycle=0"}), "ops_per_cycle=\"0\": legal: numbers from 0.001 to 64");
  EXPECT_EQ(error_of("map", {"inputs=huge"}), "inputs=\"huge\": legal: small, paper, manycore");
  EXPECT_EQ(error_of("vecmul", {"structure=lines"}),
            "structure=\"lines\": legal: triples, lists, in-place, shared, neighbours, pieces, all-pairs");
}

TEST(GeneratorSettings, ThatDoNotGoTogetherAreRefused) {
  EXPECT_EQ(error_of("matmul", {"size=100", "block=64"}),
            "size, block: the size must be a multiple of the block");
  EXPECT_EQ(error_of("reduction", {"kib=1", "depth=12"}),
            "kib, depth: there must be a word for each of the 2^depth runs");
  EXPECT_EQ(error_of("vecmul", {"structure=all-pairs", "vectors=1"}),
            "vectors, structure: all-pairs takes at least 2 vectors");
}

TEST(GeneratorSettings, WhatNoMemoryHoldsIsRefused) {
  for (const char* name : {"matmul", "jacobi", "sparselu"})
    EXPECT_NE(error_of(name, {"size=65536", "block=2"}).find("choose fewer or larger parts"),
              std::string::npos)
        << name;
  EXPECT_NE(error_of("random", {"shape=rounds", "blocks=1048576", "repeats=1000"}), "");
}

TEST(GeneratorSettings, InputsYieldToWhatIsSet) {
  EXPECT_EQ(made("map", {"vectors=3", "inputs=paper"}).regions.size(), 3u);
  EXPECT_EQ(made("map", {"vectors=3", "inputs=paper"}).regions[0].bytes, kMib);
  EXPECT_EQ(made("map", {"vectors=3", "vectors=4"}).regions.size(), 4u);
}

}  // namespace
}  // namespace hearth::sim
