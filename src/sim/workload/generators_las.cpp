// The six benchmarks of bench/las: the same tasks in the same order, the same depend clauses, allocations in the same order, all
// of them filled by the initial thread. What they allocate besides, a few kilobytes of lists and edges, is left out. Here are
// those on vectors; generators_las_blocks.cpp has those on matrices.
//
// Operations per cycle for `small` and `paper` were measured: gcc 12 -O3 for plain x86-64, blocks in the second cache, an AMD
// EPYC of today. Those for `manycore` are assumed: two or three instructions a cycle, no vectors.
#include <cmath>

#include <string>
#include <utility>
#include <vector>

#include "sim/workload/generators_las.h"

namespace hearth::sim {
namespace {

using namespace las;

// ---- Map

constexpr GeneratorParameter kMap[] = {
    {"vectors", "how many, one task and one allocation each", {48, 48, 63}, 1, 1 << 16},
    {"kib", "KiB of a vector", {256, 1024, 32}, 1, 1 << 20},
    {"passes", "how often a task walks through its vector", {1, 1, 1}, 1, 1000},
    {"ops_per_cycle", "multiplications, one for each word and pass", {2, 2, 0.5}, 0.001, kMostOps, false},
};

double map_accesses(const Settings& settings, std::string&) { return settings.number("vectors"); }

void make_map(const Settings& settings, Builder& builder) {
  const std::uint64_t vectors = settings.whole("vectors");
  const std::uint64_t bytes = settings.whole("kib") * 1024;
  const double passes = settings.number("passes");
  for (std::uint64_t i = 0; i < vectors; ++i) builder.region(numbered("vector", i), bytes);
  const auto scale = builder.kind("scale");
  for (std::uint64_t i = 0; i < vectors; ++i) {
    builder.begin_task(scale);
    builder.work(settings.cycles(static_cast<double>(bytes / kWord) * passes));
    use(builder, piece(static_cast<RegionIndex>(i), 0, bytes, Mode::read_write, passes));
    builder.end_task();
  }
  builder.wait_all();
}

// ---- Reduction

constexpr GeneratorParameter kReduction[] = {
    {"kib", "KiB of the array; its double stands behind it", {4096, 256 * 1024, 700}, 1, 1 << 22},
    {"depth", "levels: 2^depth sorted runs are merged", {6, 10, 6}, 1, 16},
    {"ops_per_cycle", "merged words", {0.06, 0.06, 0.15}, 0.001, kMostOps, false},
};

std::uint64_t reduction_part(const Settings& settings) {
  return settings.whole("kib") * 1024 / kWord >> settings.whole("depth");
}

double reduction_accesses(const Settings& settings, std::string& why) {
  if (reduction_part(settings) == 0) why = "kib, depth: there must be a word for each of the 2^depth runs";
  return std::ldexp(1, static_cast<int>(settings.whole("depth")) + 1);
}

void make_reduction(const Settings& settings, Builder& builder) {
  const std::uint64_t depth = settings.whole("depth");
  const std::uint64_t part = reduction_part(settings) * kWord;  // bytes of the shortest runs
  const std::uint64_t half = part << depth;
  const RegionIndex array = builder.region("array", 2 * half);
  for (std::uint64_t level = 0; level < depth; ++level) {
    const auto merge = builder.kind("merge " + std::to_string(level));
    const std::uint64_t bytes = 2 * part << level;
    const std::uint64_t from = level % 2 * half, to = half - from;
    for (std::uint64_t i = 0; i < half / bytes; ++i) {
      builder.begin_task(merge);
      for (std::uint64_t at = i * bytes; at < (i + 1) * bytes; at += part) {
        builder.depend(array, from + at, Mode::read);
        builder.depend(array, to + at, Mode::write);
      }
      builder.work(settings.cycles(static_cast<double>(bytes / kWord)));
      builder.access(piece(array, from + i * bytes, bytes, Mode::read));
      builder.access(piece(array, to + i * bytes, bytes, Mode::write));
      builder.end_task();
    }
  }
  builder.wait_all();
}

// ---- Vecmul

// The paper names the vectors and says neither how the work is cut nor in which order they are allocated.
constexpr const char* kStructures[] = {
    "triples",     // c[i] = a[i] x b[i], allocated a[0], b[0], c[0], a[1], ...: the C program
    "lists",       // the same, allocated list after list
    "in-place",    // a[i] = a[i] x b[i], the two lists in turn
    "shared",      // a[i] = a[i] x b, one b for all
    "neighbours",  // c[i] = a[i] x a[i + 1], the last with the first
    "pieces",      // triples, each product cut into four tasks
    "all-pairs",   // a task for each two of the vectors, which it reads; the product is summed up
};
enum Structure : std::uint8_t { triples, lists, in_place, shared, neighbours, pieces, all_pairs };

constexpr GeneratorParameter kVecmul[] = {
    {"vectors", "how many products; of all-pairs: how many vectors", {128, 128, 128}, 1, 1 << 16},
    {"kib", "KiB of a vector", {28, 1024, 28}, 1, 1 << 20},
    {"structure",
     "which vectors there are and what a task multiplies",
     {triples, triples, triples},
     0,
     0,
     true,
     kStructures},
    {"ops_per_cycle",
     "multiplications and subtractions, nine for each point of three words",
     {2, 2, 0.5},
     0.001,
     kMostOps,
     false},
};
constexpr double kPointOps = 9;
constexpr std::uint64_t kPieces = 4;

double vecmul_accesses(const Settings& settings, std::string& why) {
  const double vectors = settings.number("vectors");
  switch (settings.whole("structure")) {
    case all_pairs:
      if (vectors < 2) why = "vectors, structure: all-pairs takes at least 2 vectors";
      return vectors * (vectors - 1);
    case pieces: return vectors * 3 * static_cast<double>(kPieces);
    default: return vectors * 3;
  }
}

/// The regions of the vectors' lists, by index.
struct Lists {
  std::vector<RegionIndex> a, b, c;
};

Lists allocate_vectors(Builder& builder, std::uint64_t structure, std::uint64_t vectors, std::uint64_t bytes) {
  Lists made;
  const auto add = [&](std::vector<RegionIndex>& list, const char* name) {
    list.push_back(builder.region(numbered(name, list.size()), bytes));
  };
  const bool has_b = structure == triples || structure == pieces || structure == in_place;
  const bool has_c = structure == triples || structure == pieces || structure == neighbours;
  for (std::uint64_t i = 0; i < vectors; ++i) {
    add(made.a, "a");
    if (has_b) add(made.b, "b");
    if (has_c) add(made.c, "c");
  }
  if (structure == shared) add(made.b, "b");
  for (std::uint64_t i = 0; i < vectors && structure == lists; ++i) add(made.b, "b");
  for (std::uint64_t i = 0; i < vectors && structure == lists; ++i) add(made.c, "c");
  return made;
}

void make_vecmul(const Settings& settings, Builder& builder) {
  const std::uint64_t vectors = settings.whole("vectors");
  const std::uint64_t structure = settings.whole("structure");
  const std::uint64_t points = settings.whole("kib") * 1024 / kPoint;
  const std::uint64_t bytes = points * kPoint;
  const Lists vector = allocate_vectors(builder, structure, vectors, bytes);
  const auto multiply = builder.kind("multiply");
  const auto task = [&](std::initializer_list<Access> accesses) {
    builder.begin_task(multiply);
    builder.work(settings.cycles(kPointOps * static_cast<double>(accesses.begin()->length / kPoint)));
    for (const Access& access : accesses) use(builder, access);
    builder.end_task();
  };
  for (std::uint64_t i = 0; i < vectors; ++i) {
    const RegionIndex left = vector.a[i];
    switch (structure) {
      case in_place: task({piece(vector.b[i], 0, bytes, Mode::read), piece(left, 0, bytes, Mode::read_write)}); break;
      case shared: task({piece(vector.b[0], 0, bytes, Mode::read), piece(left, 0, bytes, Mode::read_write)}); break;
      case neighbours:
        task({piece(left, 0, bytes, Mode::read), piece(vector.a[(i + 1) % vectors], 0, bytes, Mode::read),
              piece(vector.c[i], 0, bytes, Mode::write)});
        break;
      case all_pairs:
        for (std::uint64_t j = i + 1; j < vectors; ++j)
          task({piece(left, 0, bytes, Mode::read), piece(vector.a[j], 0, bytes, Mode::read)});
        break;
      default: {
        const std::uint64_t cuts = structure == pieces ? kPieces : 1;
        for (std::uint64_t cut = 0; cut < cuts; ++cut) {
          const std::uint64_t from = cut * points / cuts * kPoint, to = (cut + 1) * points / cuts * kPoint;
          if (from == to) continue;
          task({piece(left, from, to - from, Mode::read), piece(vector.b[i], from, to - from, Mode::read),
                piece(vector.c[i], from, to - from, Mode::write)});
        }
      }
    }
  }
  builder.wait_all();
}

}  // namespace

std::span<const Generator> las_generators() {
  static const Generator kGenerators[] = {
      {"map", "scales vectors, a task for each", kMap, map_accesses, make_map},
      {"reduction", "merges sorted runs, level by level", kReduction, reduction_accesses, make_reduction},
      {"vecmul", "cross products of vectors, a task for each", kVecmul, vecmul_accesses, make_vecmul},
      kMatmulGenerator,
      kJacobiGenerator,
      kSparseLuGenerator,
  };
  return kGenerators;
}

}  // namespace hearth::sim
