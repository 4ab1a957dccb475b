// The six benchmarks of bench/las: the same tasks in the same order, the same depend clauses, allocations in
// the same order, all of them filled by the initial thread. What they allocate besides, a few kilobytes of
// lists and edges, is left out.
//
// Operations per cycle for `small` and `paper` were measured: gcc 12 -O3 for plain x86-64, blocks in the
// second cache, an AMD EPYC of today. Those for `manycore` are assumed: two or three instructions a cycle, no
// vectors.
//
// Passes follow from the kernels' loops: an array that a loop nest walks through once for each row of another
// has as many passes as that has rows; a row that the innermost loops come back to stays in the first cache.
#include <cmath>
#include <cstdlib>

#include <string>
#include <utility>
#include <vector>

#include "sim/workload/generators.h"

namespace hearth::sim {
namespace {

using Mode = placement::Access;

constexpr std::uint64_t kWord = 4;    // float, or int where the paper has integers
constexpr std::uint64_t kPoint = 12;  // of space: three words
constexpr double kMostOps = 64;

std::string numbered(const char* list, std::uint64_t at) { return list + ('[' + std::to_string(at) + ']'); }

/// Contiguous bytes, walked through from end to end.
Access piece(RegionIndex region, std::uint64_t offset, std::uint64_t length, Mode mode, double passes = 1) {
  Access access;
  access.region = region;
  access.offset = offset;
  access.length = length;
  access.pitch = length;
  access.mode = mode;
  access.passes = static_cast<float>(passes);
  return access;
}

Access undeclared(Access access) {
  access.declared = false;
  return access;
}

/// One access that a depend clause names.
void use(Builder& builder, const Access& access) {
  builder.depend(access.region, access.offset, access.mode);
  builder.access(access);
}

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

Lists allocate_vectors(Builder& builder, std::uint64_t structure, std::uint64_t vectors,
                       std::uint64_t bytes) {
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
      case in_place:
        task({piece(vector.b[i], 0, bytes, Mode::read), piece(left, 0, bytes, Mode::read_write)});
        break;
      case shared:
        task({piece(vector.b[0], 0, bytes, Mode::read), piece(left, 0, bytes, Mode::read_write)});
        break;
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

// ---- square matrices in square blocks

struct Squares {
  std::uint64_t side;    // of a block
  std::uint64_t blocks;  // in a row
  std::uint64_t bytes;   // of a block

  explicit Squares(const Settings& settings)
      : side(settings.whole("block")), blocks(settings.whole("size") / side), bytes(side * side * kWord) {}
  double words() const { return static_cast<double>(bytes / kWord); }
};

bool divides(const Settings& settings, std::string& why) {
  if (settings.whole("size") % settings.whole("block") == 0) return true;
  why = "size, block: the size must be a multiple of the block";
  return false;
}

// ---- Matmul

constexpr GeneratorParameter kMatmul[] = {
    {"size", "rows of a matrix", {512, 4096, 512}, 2, 1 << 16},
    {"block", "rows of a block", {64, 128, 32}, 1, 4096},
    {"ops_per_cycle", "multiplications and additions", {6, 6, 0.5}, 0.001, kMostOps, false},
};

double matmul_accesses(const Settings& settings, std::string& why) {
  if (!divides(settings, why)) return 0;
  const auto blocks = static_cast<double>(Squares(settings).blocks);
  return 3 * blocks * blocks * blocks;
}

// A work for each product of two blocks.
void make_matmul(const Settings& settings, Builder& builder) {
  const Squares squares(settings);
  const std::uint64_t blocks = squares.blocks, bytes = squares.bytes;
  std::vector<RegionIndex> matrix[3];
  constexpr const char* kNames[] = {"a", "b", "c"};
  for (int which = 0; which < 3; ++which) {
    for (std::uint64_t at = 0; at < blocks * blocks; ++at)
      matrix[which].push_back(builder.region(numbered(kNames[which], at), bytes));
  }
  const auto multiply = builder.kind("multiply");
  const auto side = static_cast<double>(squares.side);
  for (std::uint64_t i = 0; i < blocks; ++i) {
    for (std::uint64_t j = 0; j < blocks; ++j) {
      builder.begin_task(multiply);
      const Access sum = piece(matrix[2][i * blocks + j], 0, bytes, Mode::read_write);
      for (std::uint64_t k = 0; k < blocks; ++k) {
        builder.work(settings.cycles(2 * side * side * side));
        if (k == 0)
          use(builder, sum);
        else
          builder.access(undeclared(sum));
        use(builder, piece(matrix[0][i * blocks + k], 0, bytes, Mode::read));
        use(builder, piece(matrix[1][k * blocks + j], 0, bytes, Mode::read, side));
      }
      builder.end_task();
    }
  }
  builder.wait_all();
}

// ---- Jacobi

constexpr GeneratorParameter kJacobi[] = {
    {"size", "rows of a grid", {1024, 16384, 768}, 2, 1 << 17},
    {"block", "rows of a block", {64, 512, 32}, 2, 1 << 14},
    {"sweeps", "over the grid", {4, 10, 10}, 1, 1000},
    {"exact", "1: calls tell which rows of the upper and lower neighbour are meant", {0, 0, 0}, 0, 1},
    {"ops_per_cycle",
     "additions and multiplications, four for each word",
     {3, 3, 0.75},
     0.001,
     kMostOps,
     false},
};

double jacobi_accesses(const Settings& settings, std::string& why) {
  if (!divides(settings, why)) return 0;
  const auto blocks = static_cast<double>(Squares(settings).blocks);
  return 10 * blocks * blocks * settings.number("sweeps");
}

/// One task of Jacobi.
class Sweep {
 public:
  Sweep(Builder& builder, const Squares& squares, RegionIndex from, RegionIndex to, bool exact)
      : builder_(builder), squares_(squares), from_(from), to_(to), exact_(exact) {}

  void block(std::uint64_t i, std::uint64_t j) {
    const std::uint64_t here = at(i, j), bytes = squares_.bytes, row = squares_.side * kWord;
    use(builder_, named(piece(to_, here, bytes, Mode::write)));
    use(builder_, named(piece(from_, here, bytes, Mode::read)));
    // On the boundary a block stands in for the neighbour that is not there.
    edge_rows(i > 0, i > 0 ? at(i - 1, j) : here, bytes - row, row);
    edge_rows(i + 1 < squares_.blocks, i + 1 < squares_.blocks ? at(i + 1, j) : here, 0, row);
    edge_column(j > 0, j > 0 ? at(i, j - 1) : here, row - kWord, row);
    edge_column(j + 1 < squares_.blocks, j + 1 < squares_.blocks ? at(i, j + 1) : here, 0, row);
  }

 private:
  std::uint64_t at(std::uint64_t i, std::uint64_t j) const {
    return (i * squares_.blocks + j) * squares_.bytes;
  }

  Access named(Access access) const {
    access.stated = exact_;
    return access;
  }
  /// The clause names the whole block. Where calls count instead, `call` says whether one names the block.
  void name_block(std::uint64_t block, bool call) {
    builder_.depend(from_, block, Mode::read);
    if (!exact_ || call) builder_.access(named(piece(from_, block, squares_.bytes, Mode::read, 0)));
  }
  void edge_rows(bool is_there, std::uint64_t block, std::uint64_t offset, std::uint64_t row) {
    name_block(block, false);
    Access edge = piece(from_, block + offset, row, Mode::read);
    edge.declared = exact_;
    if (is_there) builder_.access(named(edge));
  }
  /// A word of each row.
  void edge_column(bool is_there, std::uint64_t block, std::uint64_t offset, std::uint64_t row) {
    name_block(block, is_there);
    Access edge = undeclared(piece(from_, block + offset, kWord, Mode::read));
    edge.pitch = row;
    edge.rows = static_cast<std::uint32_t>(squares_.side);
    edge.pattern = Pattern::strided;
    if (is_there) builder_.access(edge);
  }

  Builder& builder_;
  const Squares& squares_;
  RegionIndex from_, to_;
  bool exact_;
};

void make_jacobi(const Settings& settings, Builder& builder) {
  const Squares squares(settings);
  const std::uint64_t all = squares.blocks * squares.blocks * squares.bytes;
  const RegionIndex first = builder.region("grid[0]", all);
  const RegionIndex second = builder.region("grid[1]", all);
  const auto smooth = builder.kind("smooth");
  const std::uint64_t sweeps = settings.whole("sweeps");
  for (std::uint64_t sweep = 0; sweep < sweeps; ++sweep) {
    const bool even = sweep % 2 == 0;
    Sweep task(builder, squares, even ? first : second, even ? second : first, settings.whole("exact") != 0);
    for (std::uint64_t i = 0; i < squares.blocks; ++i) {
      for (std::uint64_t j = 0; j < squares.blocks; ++j) {
        builder.begin_task(smooth);
        builder.work(settings.cycles(4 * squares.words()));
        task.block(i, j);
        builder.end_task();
      }
    }
  }
  builder.wait_all();
}

// ---- SparseLU

constexpr GeneratorParameter kSparseLu[] = {
    {"size", "rows of the matrix", {768, 8192, 1152}, 2, 1 << 16},
    {"block", "rows of a block", {64, 256, 36}, 1, 4096},
    {"hint", "1: bmod's tasks say that the block they change is what counts", {0, 0, 1}, 0, 1},
    {"ops_per_cycle",
     "multiplications and subtractions of bmod, the fastest kernel",
     {6, 6, 0.5},
     0.001,
     kMostOps,
     false},
};

double sparselu_accesses(const Settings& settings, std::string& why) {
  if (!divides(settings, why)) return 0;
  const auto blocks = static_cast<double>(Squares(settings).blocks);
  return blocks * blocks * blocks;  // bmod's third, three accesses each, is the most there can be
}

class SparseLu {
 public:
  SparseLu(const Settings& settings, Builder& builder)
      : settings_(settings), builder_(builder), squares_(settings) {}

  void make() {
    allocate();
    lu0_ = builder_.kind("lu0");
    fwd_ = builder_.kind("fwd");
    bdiv_ = builder_.kind("bdiv");
    bmod_ = builder_.kind("bmod");
    const std::int64_t blocks = count();
    for (std::int64_t k = 0; k < blocks; ++k) {
      factor(k);
      for (std::int64_t j = k + 1; j < blocks; ++j) {
        if (has(k, j)) divide(fwd_, at(k, k), at(k, j), 1, side() / 2);
      }
      for (std::int64_t i = k + 1; i < blocks; ++i) {
        if (has(i, k)) divide(bdiv_, at(k, k), at(i, k), side() / 2, 1);
      }
      for (std::int64_t i = k + 1; i < blocks; ++i) {
        for (std::int64_t j = k + 1; j < blocks && has(i, k); ++j) {
          if (has(k, j)) subtract(i, j, k);
        }
      }
    }
    builder_.wait_all();
  }

 private:
  static constexpr RegionIndex kZero = UINT32_MAX;

  std::int64_t count() const { return static_cast<std::int64_t>(squares_.blocks); }
  double side() const { return static_cast<double>(squares_.side); }
  double cube() const { return side() * side() * side(); }
  RegionIndex& at(std::int64_t i, std::int64_t j) {
    return matrix_[static_cast<std::size_t>(i * count() + j)];
  }
  bool has(std::int64_t i, std::int64_t j) { return at(i, j) != kZero; }

  void new_block(std::int64_t i, std::int64_t j) {
    at(i, j) = builder_.region("block[" + std::to_string(i) + ',' + std::to_string(j) + ']', squares_.bytes);
  }
  static bool is_present(std::int64_t i, std::int64_t j) {
    return std::abs(i - j) <= 1 || (i * 7 + j * 5) % 4 == 0;
  }

  /// Those of the input, and then those that fill in.
  void allocate() {
    const std::int64_t blocks = count();
    matrix_.assign(squares_.blocks * squares_.blocks, kZero);
    for (std::int64_t i = 0; i < blocks; ++i) {
      for (std::int64_t j = 0; j < blocks; ++j) {
        if (is_present(i, j)) new_block(i, j);
      }
    }
    for (std::int64_t k = 0; k < blocks; ++k) {
      for (std::int64_t i = k + 1; i < blocks; ++i) {
        for (std::int64_t j = k + 1; j < blocks && has(i, k); ++j) {
          if (has(k, j) && !has(i, j)) new_block(i, j);
        }
      }
    }
  }

  // What the other kernels' operations take, by bmod's: they divide, and their loops are short.
  static constexpr double kSlowLu0 = 3, kSlowFwd = 1.5, kSlowBdiv = 3;

  void factor(std::int64_t k) {
    builder_.begin_task(lu0_);
    builder_.work(settings_.cycles(kSlowLu0 * cube() * 2 / 3));
    use(builder_, piece(at(k, k), 0, squares_.bytes, Mode::read_write, side() / 3));
    builder_.end_task();
  }
  void divide(std::uint32_t kind, RegionIndex diagonal, RegionIndex block, double diagonal_passes,
              double passes) {
    builder_.begin_task(kind);
    builder_.work(settings_.cycles((kind == fwd_ ? kSlowFwd : kSlowBdiv) * cube()));
    use(builder_, piece(diagonal, 0, squares_.bytes, Mode::read, diagonal_passes));
    use(builder_, piece(block, 0, squares_.bytes, Mode::read_write, passes));
    builder_.end_task();
  }
  void subtract(std::int64_t i, std::int64_t j, std::int64_t k) {
    builder_.begin_task(bmod_);
    builder_.work(settings_.cycles(2 * cube()));
    use(builder_, piece(at(k, j), 0, squares_.bytes, Mode::read, side()));
    use(builder_, piece(at(i, k), 0, squares_.bytes, Mode::read));
    Access inner = piece(at(i, j), 0, squares_.bytes, Mode::read_write);
    inner.intense = inner.stated = settings_.whole("hint") != 0;
    use(builder_, inner);
    builder_.end_task();
  }

  const Settings& settings_;
  Builder& builder_;
  Squares squares_;
  std::vector<RegionIndex> matrix_;
  std::uint32_t lu0_ = 0, fwd_ = 0, bdiv_ = 0, bmod_ = 0;
};

void make_sparselu(const Settings& settings, Builder& builder) { SparseLu(settings, builder).make(); }

constexpr Generator kGenerators[] = {
    {"map", "scales vectors, a task for each", kMap, map_accesses, make_map},
    {"reduction", "merges sorted runs, level by level", kReduction, reduction_accesses, make_reduction},
    {"vecmul", "cross products of vectors, a task for each", kVecmul, vecmul_accesses, make_vecmul},
    {"matmul", "product of matrices in blocks, a task for each block of the result", kMatmul, matmul_accesses,
     make_matmul},
    {"jacobi", "heat on a square in blocks, a task for each block and sweep", kJacobi, jacobi_accesses,
     make_jacobi},
    {"sparselu", "LU factors of a sparse matrix of blocks", kSparseLu, sparselu_accesses, make_sparselu},
};

}  // namespace

std::span<const Generator> las_generators() { return kGenerators; }

}  // namespace hearth::sim
