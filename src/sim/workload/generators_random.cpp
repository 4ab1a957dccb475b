// Random programs, to tune policies on some and to try them on others: the seed draws all that is not set.
//
// The data is a number of equal blocks, in one allocation or in one each, and the shape says which tasks work
// on them. Only whole numbers and exactly rounded arithmetic are used, so that a seed gives the same program
// on every machine.
#include <algorithm>
#include <string>
#include <vector>

#include "sim/workload/random_program.h"

namespace hearth::sim {
namespace {

constexpr const char* kShapes[] = {
    "drawn",
    "rounds",     // a task rewrites each block, and again when all have ended
    "stencil",    // the same from two neighbours in another grid, ordered by dependences
    "layers",     // each layer's blocks from some of the layer before, ordered by dependences
    "pipelines",  // blocks go through stages that have a state each
    "tree",       // halves of halves; what is above joins what is below
    "solver",     // a square of blocks with edges on four sides, a sum over all, and again
    "graph",      // each block looks up things in others, few of which are much asked for
    "sort",       // halves of halves; what is above goes through all that is below
    "carried",    // each task works on what its parent has made, and makes something for its children
    "uneven",     // pipelines of stages that compute more or less
    "phases",     // rounds by blocks, and rounds across all blocks, in turn
    "groups",     // tasks that create tasks, each on blocks of their own
    "loops",      // loops that touch all blocks by parts and say nothing of it, between rounds of tasks
};
constexpr const char* kSets[] = {"first", "all"};
constexpr const char* kTouches[] = {"drawn", "initial-thread", "by-parts", "by-writer"};
constexpr const char* kAllocations[] = {"drawn", "one", "each"};

constexpr GeneratorParameter kRandom[] = {
    {"seed", "what is drawn from", {1, 1, 1}, 0, 9007199254740991},
    {"shape", "which tasks there are", {0, 0, 0}, 0, 0, true, kShapes},
    {"shapes", "of which one is drawn: the first five, or all", {0, 0, 0}, 0, 0, true, kSets},
    {"blocks", "how many the data is cut into; 0: drawn", {0, 0, 0}, 0, 1 << 20},
    {"repeats", "rounds, sweeps, layers or stages; 0: drawn", {0, 0, 0}, 0, 1000},
    {"kib", "KiB of a block; 0: drawn", {0, 0, 0}, 0, 1 << 20},
    {"cycles_per_line", "computing for 64 bytes; 0: drawn", {0, 0, 0}, 0, 100'000, false},
    {"skew", "the largest task by the smallest, less one; 0: drawn", {0, 0, 0}, 0, 1000, false},
    {"allocations", "for all blocks, or for each", {0, 0, 0}, 0, 0, true, kAllocations},
    {"first_touch", "who touches the blocks first", {0, 0, 0}, 0, 0, true, kTouches},
    {"shared_kib", "KiB of a table that all tasks look up things in; 0: drawn", {0, 0, 0}, 0, 1 << 20},
};

double random_accesses(const Settings& settings, std::string&) {
  Draw draw(settings.whole("seed"));
  return RandomSettings(settings, draw).accesses();
}

void make_random(const Settings& settings, Builder& builder) {
  Draw draw(settings.whole("seed"));
  const RandomSettings program(settings, draw);
  RandomProgram(program, draw, builder).make();
}

constexpr Generator kGenerators[] = {
    {"random", "a program that is drawn from a seed", kRandom, random_accesses, make_random},
};

}  // namespace

void RandomProgram::make() {
  allocate();
  kind_ = builder_.kind(kShapes[static_cast<std::size_t>(program_.shape)]);
  switch (program_.shape) {
    case rounds: make_rounds(); break;
    case stencil: make_sweeps(&RandomProgram::read_neighbours); break;
    case layers: make_sweeps(&RandomProgram::read_some); break;
    case pipelines:
    case uneven: make_pipelines(); break;
    case solver: make_solver(); break;
    case graph: make_graph(); break;
    case sort: make_sort(0, program_.blocks); break;
    case carried: make_carried(program_.blocks, 0); break;
    case phases: make_phases(); break;
    case groups: make_groups(); break;
    case loops: make_loops(); break;
    default: make_tree(0, program_.blocks);
  }
  builder_.wait_all();
}


void RandomProgram::allocate() {
  const std::uint64_t grids = program_.has_two_grids() ? 2 : 1;
  const std::uint64_t regions = program_.one_allocation ? 1 : program_.blocks;
  for (std::uint64_t grid = 0; grid < grids; ++grid) {
    for (std::uint64_t i = 0; i < regions; ++i)
      builder_.region("data[" + std::to_string(grid) + ',' + std::to_string(i) + ']',
                      program_.bytes * program_.blocks / regions, program_.first_touch);
  }
  for (std::uint64_t stage = 0; stage < program_.repeats && program_.has_stages(); ++stage)
    builder_.region("stage[" + std::to_string(stage) + ']', program_.bytes, program_.first_touch);
  if (program_.shared_bytes != 0)
    shared_ = builder_.region("shared", program_.shared_bytes, FirstTouch::initial_thread);
}


void RandomProgram::rewrite_in_a_task(std::uint64_t i) {
  begin_task();
  work(1);
  builder_.access(block(0, i, Mode::read_write));
  look_up();
  builder_.end_task();
}

void RandomProgram::make_rounds() {
  const std::vector<std::uint64_t> order = drawn_order();
  for (std::uint64_t round = 0; round < program_.repeats; ++round) {
    for (const std::uint64_t i : order) rewrite_in_a_task(i);
    builder_.task_wait();
  }
}

void RandomProgram::read_neighbours(std::uint64_t grid, std::uint64_t i) {
  use(block(grid, i, Mode::read));
  for (const bool before : {true, false}) {
    if (before ? i == 0 : i + 1 == program_.blocks) continue;
    Access edge = block(grid, before ? i - 1 : i + 1, Mode::read);
    edge.passes = 0.125;
    use(edge);
  }
}
void RandomProgram::read_some(std::uint64_t grid, std::uint64_t) {
  std::uint64_t last = draw_.below(program_.blocks);
  for (std::uint64_t n = 0; n < program_.reads && last < program_.blocks; ++n) {
    use(block(grid, last, Mode::read));
    last += draw_.from_to(1, 8);
  }
}
void RandomProgram::make_sweeps(void (RandomProgram::*read)(std::uint64_t, std::uint64_t)) {
  for (std::uint64_t sweep = 0; sweep < program_.repeats; ++sweep) {
    for (std::uint64_t i = 0; i < program_.blocks; ++i) {
      begin_task();
      work(1);
      use(block(1 - sweep % 2, i, Mode::write));
      (this->*read)(sweep % 2, i);
      look_up();
      builder_.end_task();
    }
  }
}

void RandomProgram::make_pipelines() {
  const std::uint64_t regions = program_.one_allocation ? 1 : program_.blocks;
  for (std::uint64_t i = 0; i < program_.blocks; ++i) {
    for (std::uint64_t stage = 0; stage < program_.repeats; ++stage) {
      begin_task();
      // 1, 1/4, 1, 1/16…: the first of each two feeds a cheap one.
      work(program_.shape == pipelines || stage % 2 == 0 ? 1 : stage % 4 == 1 ? 0.25 : 0.0625);
      use(block(0, i, Mode::read_write));
      look_up();
      Access state = block(0, 0, Mode::read_write);
      state.region = static_cast<RegionIndex>(regions + stage);
      state.offset = 0;
      use(state);
      builder_.end_task();
    }
  }
}

// By the task that is open: each half is a task, unless it is one block.
void RandomProgram::make_tree(std::uint64_t begin, std::uint64_t end) {
  const std::uint64_t middle = begin + (end - begin) / 2;
  if (end - begin > 1) {
    for (const bool left : {true, false}) {
      begin_task();
      make_tree(left ? begin : middle, left ? middle : end);
      builder_.end_task();
    }
    builder_.task_wait();
    work(0.25);
    Access joint = block(0, middle, Mode::read_write);
    joint.passes = 0.25;
    builder_.access(joint);
    return;
  }
  work(1);
  builder_.access(block(0, begin, Mode::read_write));
  look_up();
}

std::span<const Generator> random_generators() { return kGenerators; }

}  // namespace hearth::sim
