// Three of the benchmarks of bench/las: Matmul, Jacobi and SparseLU, on square matrices in square blocks. See generators_las.cpp.
#include <cstdlib>

#include <string>
#include <vector>

#include "sim/workload/generators_las.h"

namespace hearth::sim::las {
namespace {

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
    {"ops_per_cycle", "additions and multiplications, four for each word", {3, 3, 0.75}, 0.001, kMostOps, false},
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
  std::uint64_t at(std::uint64_t i, std::uint64_t j) const { return (i * squares_.blocks + j) * squares_.bytes; }

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
  SparseLu(const Settings& settings, Builder& builder) : settings_(settings), builder_(builder), squares_(settings) {}

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
  RegionIndex& at(std::int64_t i, std::int64_t j) { return matrix_[static_cast<std::size_t>(i * count() + j)]; }
  bool has(std::int64_t i, std::int64_t j) { return at(i, j) != kZero; }

  void new_block(std::int64_t i, std::int64_t j) {
    at(i, j) = builder_.region("block[" + std::to_string(i) + ',' + std::to_string(j) + ']', squares_.bytes);
  }
  static bool is_present(std::int64_t i, std::int64_t j) { return std::abs(i - j) <= 1 || (i * 7 + j * 5) % 4 == 0; }

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
  void divide(std::uint32_t kind, RegionIndex diagonal, RegionIndex block, double diagonal_passes, double passes) {
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

}  // namespace

constinit const Generator kMatmulGenerator{"matmul",
                                           "product of matrices in blocks, a task for each block of the result",
                                           kMatmul, matmul_accesses, make_matmul};
constinit const Generator kJacobiGenerator{"jacobi", "heat on a square in blocks, a task for each block and sweep",
                                           kJacobi, jacobi_accesses, make_jacobi};
constinit const Generator kSparseLuGenerator{"sparselu", "LU factors of a sparse matrix of blocks", kSparseLu,
                                             sparselu_accesses, make_sparselu};

}  // namespace hearth::sim::las
