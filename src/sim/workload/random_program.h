// A program that is drawn from a seed: what it does, and the making of its tasks. generators_random.cpp has its settings and the
// first shapes, random_shapes.cpp those that came later.
#pragma once

#include <algorithm>
#include <vector>

#include "sim/workload/draw.h"
#include "sim/workload/generators.h"

namespace hearth::sim {

enum class Shape : std::uint8_t {
  drawn,
  rounds,
  stencil,
  layers,
  pipelines,
  tree,
  solver,
  graph,
  sort,
  carried,
  uneven,
  phases,
  groups,
  loops,
};
// Of which a seed draws; what came later leaves the programs of a seed as they were.
inline constexpr Shape kLastOf[] = {Shape::tree, Shape::loops};

using Mode = placement::Access;

inline constexpr std::uint64_t kMostEdges = 6;  // other blocks that a task of a graph asks
inline constexpr std::uint64_t kAcross = 8;     // pieces of other blocks that a task of a phase across them touches
inline constexpr std::uint64_t kLoopParts = 16;

/// What is drawn or set before there are tasks. The order of the draws is the same whatever is set.
struct RandomSettings {
  using enum Shape;
  Shape shape;
  std::uint64_t blocks, repeats, bytes, reads, shared_bytes;
  double cycles_per_line, skew;
  double declared;  // the part of the tasks that say what they touch
  bool one_allocation, shuffled;
  FirstTouch first_touch;
  Pattern pattern;

  RandomSettings(const Settings& settings, Draw& draw) {
    const auto or_drawn = [&](const char* name, std::uint64_t value) {
      return settings.whole(name) != 0 ? settings.whole(name) : value;
    };
    const auto last = static_cast<std::uint64_t>(kLastOf[settings.whole("shapes")]);
    shape = static_cast<Shape>(or_drawn("shape", draw.from_to(static_cast<std::uint64_t>(rounds), last)));
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
  bool is_tree() const { return shape == tree || shape == sort || shape == carried; }
  bool has_stages() const { return shape == pipelines || shape == uneven; }
  double accesses() const {
    const double tasks = static_cast<double>(blocks) * (is_tree() ? 1 : static_cast<double>(repeats));
    return of_blocks() + (shared_bytes != 0 ? tasks : 0);
  }
  /// The side of a square of the blocks: as many as fit.
  std::uint64_t side() const {
    std::uint64_t n = 1;
    while ((n + 1) * (n + 1) <= blocks) ++n;
    return n;
  }

 private:
  double of_blocks() const {
    const auto all = static_cast<double>(blocks), again = static_cast<double>(repeats);
    switch (shape) {
      case rounds: return all * again;
      case stencil: return all * again * 4;
      case layers: return all * again * static_cast<double>(reads + 1);
      case pipelines:
      case uneven: return all * again * 2;
      case solver: return all * again * 6;
      case graph: return all * again * static_cast<double>(2 + kMostEdges);
      case sort: return all * 6;
      case phases: return all * again * (1 + static_cast<double>(kAcross));
      case groups: return all * again;
      case loops: return all * again * 2;
      default: return all * 2;
    }
  }
};

class RandomProgram {
 public:
  using enum Shape;

  RandomProgram(const RandomSettings& program, Draw& draw, Builder& builder)
      : program_(program), draw_(draw), builder_(builder) {}

  void make();

 private:
  void allocate();
  void rewrite_in_a_task(std::uint64_t i);
  void make_rounds();
  void read_neighbours(std::uint64_t grid, std::uint64_t i);
  void read_some(std::uint64_t grid, std::uint64_t i);
  void make_sweeps(void (RandomProgram::*read)(std::uint64_t, std::uint64_t));
  void make_pipelines();
  void make_tree(std::uint64_t begin, std::uint64_t end);
  // random_shapes.cpp
  void make_solver();
  void make_graph();
  void make_sort(std::uint64_t begin, std::uint64_t end);
  void make_carried(std::uint64_t blocks, std::uint64_t own);
  void make_phases();
  void make_groups();
  void make_loops();

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

  void begin_task() { begin_task(kind_); }
  void begin_task(std::uint32_t kind) {
    builder_.begin_task(kind);
    declares_ = program_.declared == 1 || draw_.unit() < program_.declared;
  }

  std::vector<std::uint64_t> drawn_order() {
    std::vector<std::uint64_t> order(program_.blocks);
    for (std::uint64_t i = 0; i < program_.blocks; ++i) {
      const std::uint64_t other = program_.shuffled ? draw_.below(i + 1) : i;
      order[i] = order[other];
      order[other] = i;
    }
    return order;
  }
  // A part of a block, which no clause names apart from the block.
  Access part_of(std::uint64_t at, std::uint64_t number, std::uint64_t parts, Mode mode) const {
    Access part = block(0, at, mode);
    part.length = std::max<std::uint64_t>(part.length / parts / 64 * 64, 64);
    part.pitch = part.length;
    part.offset += number * part.length % std::max<std::uint64_t>(program_.bytes - part.length + 1, 1);
    return part;
  }

  const RandomSettings& program_;
  Draw& draw_;
  Builder& builder_;
  std::uint32_t kind_ = 0;
  RegionIndex shared_ = 0;
  bool declares_ = true;  // the open task, what it touches
};

}  // namespace hearth::sim
