// Graphs in files of numbers: Matrix Market's coordinate format, and METIS's.
//
// In Matrix Market the entry (i, j) is what threads i and j exchange; of a `general` matrix (i, j) and (j, i) add up.
// The diagonal is the threads' loads, if there is one. METIS's first line is "threads edges [format [constraints]]";
// a line for each thread follows, with its load where the format says so, then its neighbours, each with its weight
// likewise.
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/parse.h"
#include "mappers/graph_file.h"
#include "mappers/graph_text.h"

namespace hearth::mappers {
namespace {

constexpr std::size_t kMostEdges = 50'000'000;

class MatrixMarket {
 public:
  MatrixMarket(std::string_view text, const std::string& file) : lines_(text, file) {}

  LoadedGraph read() {
    std::string problem = head();
    if (problem.empty()) problem = size();
    while (problem.empty() && entries_ < promised_) {
      if (!lines_.next_line()) {
        problem = fmt::format("ends after {} of {} entries", entries_, promised_);
      } else if (!is_empty(lines_.line())) {
        problem = entry();
      }
    }
    while (problem.empty() && lines_.next_line())
      if (!is_empty(lines_.line())) problem = fmt::format("more than the {} entries that the file promises", promised_);
    if (!problem.empty()) return LoadedGraph::failure(lines_.wrong(problem));
    LoadedGraph loaded;
    loaded.graph = builder_.take();
    return loaded;
  }

 private:
  static bool is_empty(std::string_view line) { return trim(line).empty() || trim(line).front() == '%'; }

  std::string head() {
    constexpr const char* kLegal = "legal: %%MatrixMarket matrix coordinate real|integer|pattern general|symmetric";
    if (!lines_.next_line() || !same_word(lines_.next_word(), "%%MatrixMarket"))
      return fmt::format("is no Matrix Market file: its first line does not say so; {}", kLegal);
    if (const auto word = lines_.next_word(); !same_word(word, "matrix"))
      return fmt::format("{} is not read; {}", quoted(word), kLegal);
    if (const auto word = lines_.next_word(); !same_word(word, "coordinate"))
      return fmt::format("{} is not read; {}", quoted(word), kLegal);
    const std::string_view field = lines_.next_word();
    has_values_ = same_word(field, "real") || same_word(field, "integer");
    if (!has_values_ && !same_word(field, "pattern")) return fmt::format("{} is not read; {}", quoted(field), kLegal);
    const std::string_view symmetry = lines_.next_word();
    symmetric_ = same_word(symmetry, "symmetric");
    if (!symmetric_ && !same_word(symmetry, "general"))
      return fmt::format("{} is not read; {}", quoted(symmetry), kLegal);
    return {};
  }

  std::string size() {
    do {
      if (!lines_.next_line()) return "the line with the matrix's size is missing; legal: ROWS COLUMNS ENTRIES";
    } while (is_empty(lines_.line()));
    std::uint64_t rows = 0, columns = 0;
    if (std::string problem = read_count(lines_.next_word(), "the number of rows", 1, kMostThreads, rows);
        !problem.empty())
      return problem;
    if (std::string problem = read_count(lines_.next_word(), "the number of columns", 1, kMostThreads, columns);
        !problem.empty())
      return problem;
    if (std::string problem = read_count(lines_.next_word(), "the number of entries", 0, kMostEdges, promised_);
        !problem.empty())
      return problem;
    if (!lines_.next_word().empty()) return "more than three numbers; legal: ROWS COLUMNS ENTRIES";
    if (rows != columns)
      return fmt::format("{} rows and {} columns; legal: as many of both, one for each thread", rows, columns);
    threads_ = rows;
    for (std::uint64_t i = 0; i < threads_; ++i) builder_.add_thread(std::to_string(i + 1));
    return {};
  }

  std::string entry() {
    ++entries_;
    std::uint64_t row = 0, column = 0;
    if (std::string problem = read_count(lines_.next_word(), "the row", 1, threads_, row); !problem.empty())
      return problem;
    if (std::string problem = read_count(lines_.next_word(), "the column", 1, threads_, column); !problem.empty())
      return problem;
    double value = 1;
    if (has_values_)
      if (std::string problem = read_amount(lines_.next_word(), "the weight", value); !problem.empty()) return problem;
    if (const auto more = lines_.next_word(); !more.empty())
      return fmt::format("{} is too much; legal: {}", quoted(more), has_values_ ? "ROW COLUMN WEIGHT" : "ROW COLUMN");
    if (symmetric_ && column > row)
      return fmt::format("({}, {}) is above the diagonal; legal in a symmetric matrix: entries on and below it", row,
                         column);
    const auto a = static_cast<Thread>(row - 1), b = static_cast<Thread>(column - 1);
    if (a != b) {
      builder_.add_edge(a, b, value);
    } else {
      Graph& graph = builder_.graph();
      if (!graph.has_loads) graph.load.assign(threads_, 0);
      graph.has_loads = true;
      graph.load[a] += value;
    }
    return {};
  }

  TextReader lines_;
  GraphBuilder builder_;
  bool has_values_ = false, symmetric_ = false;
  std::uint64_t threads_ = 0, promised_ = 0, entries_ = 0;
};

class MetisFile {
 public:
  MetisFile(std::string_view text, const std::string& file) : lines_(text, file) {}

  LoadedGraph read() {
    std::string problem = head();
    for (thread_ = 0; problem.empty() && thread_ < threads_; ++thread_) {
      if (!next()) problem = fmt::format("ends after {} of {} threads", thread_, threads_);
      if (problem.empty()) problem = vertex();
    }
    if (problem.empty()) problem = end();
    if (!problem.empty()) return LoadedGraph::failure(lines_.wrong(problem));
    LoadedGraph loaded;
    loaded.graph = builder_.take();
    return loaded;
  }

 private:
  /// Lines that begin with % are comments; empty ones count: a thread that exchanges nothing.
  bool next() {
    while (lines_.next_line())
      if (!trim(lines_.line()).starts_with('%')) return true;
    return false;
  }

  std::string head() {
    constexpr const char* kLegal = "legal: THREADS EDGES [FORMAT [CONSTRAINTS]]";
    do {
      if (!next()) return fmt::format("is empty; {}", kLegal);
    } while (trim(lines_.line()).empty());
    if (std::string problem = read_count(lines_.next_word(), "the number of threads", 1, kMostThreads, threads_);
        !problem.empty())
      return problem;
    if (std::string problem = read_count(lines_.next_word(), "the number of edges", 0, kMostEdges, promised_);
        !problem.empty())
      return problem;
    const std::string_view format = lines_.next_word();
    if (format.size() > 3 || format.find_first_not_of("01") != std::string_view::npos)
      return fmt::format("the format {} is not read; legal: 0, 1, 10, 11, 100, 101, 110, 111", quoted(format));
    const auto digit = [&](std::size_t from_right) {
      return format.size() > from_right && format[format.size() - 1 - from_right] == '1';
    };
    edge_weights_ = digit(0);
    loads_ = digit(1);
    sizes_ = digit(2);
    std::uint64_t constraints = 1;
    if (const auto word = lines_.next_word(); !word.empty())
      if (std::string problem = read_count(word, "the number of constraints", 1, 1, constraints); !problem.empty())
        return problem + ": one load for each thread";
    if (const auto more = lines_.next_word(); !more.empty())
      return fmt::format("{} is too much; {}", quoted(more), kLegal);
    for (std::uint64_t i = 0; i < threads_; ++i) builder_.add_thread(std::to_string(i + 1));
    builder_.graph().has_loads = loads_;
    return {};
  }

  std::string vertex() {
    double ignored = 0;
    if (sizes_)
      if (std::string problem = read_amount(lines_.next_word(), "the thread's size", ignored); !problem.empty())
        return problem;
    if (loads_)
      if (std::string problem = read_amount(lines_.next_word(), "the thread's load", builder_.graph().load[thread_]);
          !problem.empty())
        return problem;
    for (std::string_view word = lines_.next_word(); !word.empty(); word = lines_.next_word()) {
      std::uint64_t other = 0;
      if (std::string problem = read_count(word, "the neighbour", 1, threads_, other); !problem.empty()) return problem;
      if (other == thread_ + 1) return fmt::format("thread {} is its own neighbour; legal: others", other);
      double weight = 1;
      if (edge_weights_)
        if (std::string problem = read_amount(lines_.next_word(), "the weight", weight); !problem.empty())
          return problem;
      const auto a = static_cast<Thread>(thread_), b = static_cast<Thread>(other - 1);
      if (std::string problem = pair_up(a, b, weight); !problem.empty()) return problem;
    }
    return {};
  }

  /// Each edge stands in the file twice, with the same weight: once for each end.
  std::string pair_up(Thread a, Thread b, double weight) {
    const auto [at, fresh] = seen_.try_emplace({std::min(a, b), std::max(a, b)}, Once{a, weight, lines_.number()});
    if (fresh) return {};
    if (at->second.from == a) return fmt::format("thread {} has the neighbour {} twice", a + 1, b + 1);
    if (at->second.from == kNobody) return fmt::format("threads {} and {} are joined a third time", a + 1, b + 1);
    if (at->second.weight != weight)
      return fmt::format("threads {} and {} exchange {:g} here and {:g} in line {}; legal: the same", a + 1, b + 1,
                         weight, at->second.weight, at->second.line);
    at->second.from = kNobody;
    ++edges_;
    builder_.add_edge(a, b, weight);
    return {};
  }

  std::string end() {
    for (const auto& [pair, once] : seen_)
      if (once.from != kNobody)
        return fmt::format("line {} joins thread {} with {}, but the other one's line does not", once.line,
                           once.from + 1, (once.from == pair.first ? pair.second : pair.first) + 1);
    if (edges_ != promised_) return fmt::format("has {} edges and promises {} (each counts once)", edges_, promised_);
    while (next())
      if (!trim(lines_.line()).empty())
        return fmt::format("more lines than the {} threads that the file promises", threads_);
    return {};
  }

  struct Once {
    Thread from;
    double weight;
    std::size_t line;
  };

  TextReader lines_;
  GraphBuilder builder_;
  bool edge_weights_ = false, loads_ = false, sizes_ = false;
  std::uint64_t threads_ = 0, promised_ = 0, edges_ = 0, thread_ = 0;
  std::map<std::pair<Thread, Thread>, Once> seen_;
};

}  // namespace

LoadedGraph parse_matrix_market(std::string_view text, const std::string& file) {
  return MatrixMarket(text, file).read();
}
LoadedGraph parse_metis(std::string_view text, const std::string& file) { return MetisFile(text, file).read(); }

LoadedGraph parse_graph(std::string_view text, const std::string& file) {
  switch (format_of(file, text)) {
    case GraphFormat::matrix_market: return parse_matrix_market(text, file);
    case GraphFormat::dot: return parse_dot(text, file);
    case GraphFormat::metis: return parse_metis(text, file);
    case GraphFormat::json: return parse_explained(text, file);
    case GraphFormat::unknown: break;
  }
  return LoadedGraph::failure(fmt::format("{}:1: is no graph of a known kind; legal: {}", file, kGraphFormats));
}

GraphFormat format_of(const std::string& file, std::string_view text) {
  const auto ends = [&](std::string_view end) {
    return file.size() >= end.size() && same_word(std::string_view(file).substr(file.size() - end.size()), end);
  };
  if (ends(".mtx")) return GraphFormat::matrix_market;
  if (ends(".dot") || ends(".gv")) return GraphFormat::dot;
  if (ends(".graph") || ends(".metis")) return GraphFormat::metis;
  if (ends(".json")) return GraphFormat::json;
  const std::string_view start = trim(text.substr(0, 256));
  if (start.starts_with("%%MatrixMarket")) return GraphFormat::matrix_market;
  if (start.starts_with('{')) return GraphFormat::json;
  if (start.starts_with("graph") || start.starts_with("digraph") || start.starts_with("strict"))
    return GraphFormat::dot;
  return GraphFormat::unknown;
}

}  // namespace hearth::mappers
