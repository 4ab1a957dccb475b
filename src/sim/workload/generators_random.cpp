// Random programs, to tune policies on some and to try them on others: the seed draws all that is not set.
//
// The data is a number of equal blocks, in one allocation or in one each, and the shape says which tasks work
// on them. Only whole numbers and exactly rounded arithmetic are used, so that a seed gives the same program
// on every machine.
#include <algorithm>
#include <string>
#include <vector>

#include "sim/workload/draw.h"
#include "sim/workload/generators.h"

namespace hearth::sim {
namespace {

using Mode = placement::Access;

constexpr const char* kShapes[] = {
    "drawn",
    "rounds",     // a task rewrites each block, and again when all have ended
    "stencil",    // the same from two neighbours in another grid, ordered by dependences
    "layers",     // each layer's blocks from some of the layer before, ordered by dependences
    "pipelines",  // blocks go through stages that have a state each
    "tree",       // halves of halves; what is above joins what is below
};
enum Shape : std::uint8_t { drawn, rounds, stencil, layers, pipelines, tree };
constexpr const char* kTouches[] = {"drawn", "initial-thread", "by-parts", "by-writer"};
constexpr const char* kAllocations[] = {"drawn", "one", "each"};

constexpr GeneratorParameter kRandom[] = {
    {"seed", "what is drawn from", {1, 1, 1}, 0, 9007199254740991},
    {"shape", "which tasks there are", {0, 0, 0}, 0, 0, true, kShapes},
    {"blocks", "how many the data is cut into; 0: drawn", {0, 0, 0}, 0, 1 << 20},
    {"repeats", "rounds, sweeps, layers or stages; 0: drawn", {0, 0, 0}, 0, 1000},
    {"kib", "KiB of a block; 0: drawn", {0, 0, 0}, 0, 1 << 20},
    {"cycles_per_line", "computing for 64 bytes; 0: drawn", {0, 0, 0}, 0, 100'000, false},
    {"skew", "the largest task by the smallest, less one; 0: drawn", {0, 0, 0}, 0, 1000, false},
    {"allocations", "for all blocks, or for each", {0, 0, 0}, 0, 0, true, kAllocations},
    {"first_touch", "who touches the blocks first", {0, 0, 0}, 0, 0, true, kTouches},
    {"shared_kib", "KiB of a table that all tasks look up things in; 0: drawn", {0, 0, 0}, 0, 1 << 20},
};

/// What is drawn or set before there are tasks. The order of the draws is the same whatever is set.
struct Program {
  std::uint64_t shape, blocks, repeats, bytes, reads, shared_bytes;
  double cycles_per_line, skew;
  double declared;  // the part of the tasks that say what they touch
  bool one_allocation, shuffled;
  FirstTouch first_touch;
  Pattern pattern;

  Program(const Settings& settings, Draw& draw) {
    const auto or_drawn = [&](const char* name, std::uint64_t value) {
      return settings.whole(name) != 0 ? settings.whole(name) : value;
    };
    shape = or_drawn("shape", draw.from_to(rounds, tree));
    blocks = or_drawn("blocks", static_cast<std::uint64_t>(draw.scale(4, 10)));
    repeats = or_drawn("repeats", static_cast<std::uint64_t>(draw.scale(0, 4)));
    bytes = 1024 * or_drawn("kib", static_cast<std::uint64_t>(draw.scale(2, 10)));
    const double cycles = draw.scale(-1, 9), most_skew = draw.unit() < 0.5 ? 0.1 : draw.scale(0, 4);
    cycles_per_line = settings.number("cycles_per_line") != 0 ? settings.number("cycles_per_line") : cycles;
    skew = settings.number("skew") != 0 ? settings.number("skew") : most_skew;
    one_allocation = or_drawn("allocations", draw.from_to(1, 2)) == 1;
    first_touch = static_cast<FirstTouch>(or_drawn("first_touch", draw.from_to(1, 3)) - 1);
    reads = draw.from_to(1, 4);
    pattern = draw.unit() < 0.75 ? Pattern::stream : draw.unit() < 0.5 ? Pattern::strided : Pattern::random;
    declared = draw.unit() < 0.9 ? 1 : 0;
    if (draw.unit() < 0.15) declared /= 2;
    const bool shares = draw.unit() < 0.3;
    const auto table = static_cast<std::uint64_t>(draw.scale(4, 14));
    shared_bytes = 1024 * (settings.whole("shared_kib") != 0 || shares ? or_drawn("shared_kib", table) : 0);
    shuffled = draw.unit() < 0.3;
  }

  /// Two copies of the data, in turn.
  bool has_two_grids() const { return shape == stencil || shape == layers; }
  double accesses() const {
    const double tasks = static_cast<double>(blocks) * (shape == tree ? 1 : static_cast<double>(repeats));
    return of_blocks() + (shared_bytes != 0 ? tasks : 0);
  }

 private:
  double of_blocks() const {
    const auto all = static_cast<double>(blocks), again = static_cast<double>(repeats);
    switch (shape) {
      case rounds: return all * again;
      case stencil: return all * again * 4;
      case layers: return all * again * static_cast<double>(reads + 1);
      case pipelines: return all * again * 2;
      default: return all * 2;
    }
  }
};

class RandomProgram {
 public:
  RandomProgram(const Program& program, Draw& draw, Builder& builder)
      : program_(program), draw_(draw), builder_(builder) {}

  void make() {
    allocate();
    kind_ = builder_.kind(kShapes[program_.shape]);
    switch (program_.shape) {
      case rounds: make_rounds(); break;
      case stencil: make_sweeps(&RandomProgram::read_neighbours); break;
      case layers: make_sweeps(&RandomProgram::read_some); break;
      case pipelines: make_pipelines(); break;
      default: make_tree(0, program_.blocks);
    }
    builder_.wait_all();
  }

 private:
  void allocate() {
    const std::uint64_t grids = program_.has_two_grids() ? 2 : 1;
    const std::uint64_t regions = program_.one_allocation ? 1 : program_.blocks;
    for (std::uint64_t grid = 0; grid < grids; ++grid) {
      for (std::uint64_t i = 0; i < regions; ++i)
        builder_.region("data[" + std::to_string(grid) + ',' + std::to_string(i) + ']',
                        program_.bytes * program_.blocks / regions, program_.first_touch);
    }
    for (std::uint64_t stage = 0; stage < program_.repeats && program_.shape == pipelines; ++stage)
      builder_.region("stage[" + std::to_string(stage) + ']', program_.bytes, program_.first_touch);
    if (program_.shared_bytes != 0)
      shared_ = builder_.region("shared", program_.shared_bytes, FirstTouch::initial_thread);
  }

  Access block(std::uint64_t grid, std::uint64_t at, Mode mode) const {
    Access access;
    const std::uint64_t regions = program_.one_allocation ? 1 : program_.blocks;
    access.region = static_cast<RegionIndex>(grid * regions + (program_.one_allocation ? 0 : at));
    access.offset = program_.one_allocation ? at * program_.bytes : 0;
    access.length = access.pitch = program_.bytes;
    access.mode = mode;
    access.pattern = program_.pattern;
    access.declared = declares_;
    return access;
  }
  // Of the table as many bytes as of a block, here and there. No clause names what nobody writes.
  void look_up() {
    if (program_.shared_bytes == 0) return;
    Access access;
    access.region = shared_;
    access.length = access.pitch = program_.shared_bytes;
    access.passes = static_cast<float>(
        std::min(1.0, static_cast<double>(program_.bytes) / static_cast<double>(program_.shared_bytes)));
    access.pattern = Pattern::random;
    access.declared = false;
    builder_.access(access);
  }

  /// Computes for `blocks` of data. Few tasks are much larger than most.
  void work(double blocks) {
    const double u = draw_.unit(), square = u * u;
    const double lines = blocks * static_cast<double>(program_.bytes) / 64;
    builder_.work(
        static_cast<std::uint64_t>(lines * program_.cycles_per_line * (1 + program_.skew * square * square)));
  }
  void use(const Access& access) {
    builder_.depend(access.region, access.offset, access.mode);
    builder_.access(access);
  }

  void begin_task() {
    builder_.begin_task(kind_);
    declares_ = program_.declared == 1 || draw_.unit() < program_.declared;
  }

  void make_rounds() {
    std::vector<std::uint64_t> order(program_.blocks);
    for (std::uint64_t i = 0; i < program_.blocks; ++i) {
      const std::uint64_t other = program_.shuffled ? draw_.below(i + 1) : i;
      order[i] = order[other];
      order[other] = i;
    }
    for (std::uint64_t round = 0; round < program_.repeats; ++round) {
      for (const std::uint64_t i : order) {
        begin_task();
        work(1);
        builder_.access(block(0, i, Mode::read_write));
        look_up();
        builder_.end_task();
      }
      builder_.task_wait();
    }
  }

  void read_neighbours(std::uint64_t grid, std::uint64_t i) {
    use(block(grid, i, Mode::read));
    for (const bool before : {true, false}) {
      if (before ? i == 0 : i + 1 == program_.blocks) continue;
      Access edge = block(grid, before ? i - 1 : i + 1, Mode::read);
      edge.passes = 0.125;
      use(edge);
    }
  }
  void read_some(std::uint64_t grid, std::uint64_t) {
    std::uint64_t last = draw_.below(program_.blocks);
    for (std::uint64_t n = 0; n < program_.reads && last < program_.blocks; ++n) {
      use(block(grid, last, Mode::read));
      last += draw_.from_to(1, 8);
    }
  }
  void make_sweeps(void (RandomProgram::*read)(std::uint64_t, std::uint64_t)) {
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

  void make_pipelines() {
    const std::uint64_t regions = program_.one_allocation ? 1 : program_.blocks;
    for (std::uint64_t i = 0; i < program_.blocks; ++i) {
      for (std::uint64_t stage = 0; stage < program_.repeats; ++stage) {
        begin_task();
        work(1);
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
  void make_tree(std::uint64_t begin, std::uint64_t end) {
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

  const Program& program_;
  Draw& draw_;
  Builder& builder_;
  std::uint32_t kind_ = 0;
  RegionIndex shared_ = 0;
  bool declares_ = true;  // the open task, what it touches
};

double random_accesses(const Settings& settings, std::string&) {
  Draw draw(settings.whole("seed"));
  return Program(settings, draw).accesses();
}

void make_random(const Settings& settings, Builder& builder) {
  Draw draw(settings.whole("seed"));
  const Program program(settings, draw);
  RandomProgram(program, draw, builder).make();
}

constexpr Generator kGenerators[] = {
    {"random", "a program that is drawn from a seed", kRandom, random_accesses, make_random},
};

}  // namespace

std::span<const Generator> random_generators() { return kGenerators; }

}  // namespace hearth::sim
