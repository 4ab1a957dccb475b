// Graph: what a mapper knows of a program: its threads, how much each computes, and what they exchange.
//
// Made by a GraphBuilder (from a file, a recording, or the compiler's explanation), never changed afterwards; plain
// values, so any thread may read one.
#pragma once

#include <cstddef>
#include <cstdint>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hearth::mappers {

using Thread = std::uint32_t;
inline constexpr Thread kNobody = UINT32_MAX;

/// More threads are refused: some mappers take a time that is quadratic in them.
inline constexpr std::size_t kMostThreads = 10'000;
/// Loads and weights above this are refused, so that sums stay exact enough to be compared.
inline constexpr double kLargestNumber = 1e15;

/// As the compiler pass types threads (Stirb 2018, section 3.2); `unknown` where nobody says.
enum class ThreadClass : std::uint8_t { unknown, autonomous, side_by_side, postponed };
inline constexpr std::string_view kThreadClassNames[] = {"unknown", "autonomous", "side-by-side", "postponed"};

struct Edge {
  Thread a = 0, b = 0;  // a < b
  double weight = 0;    // above 0: bytes, where the graph is measured
  friend bool operator==(const Edge&, const Edge&) = default;
};

/// An object and the threads that touch it: one edge of the hypergraph.
struct SharedObject {
  std::vector<Thread> threads;  // rising, at least two
  double weight = 0;            // above 0
};

struct Graph {
  std::vector<double> load;           // of each thread, 0 or more
  std::vector<std::string> name;      // of each thread
  std::vector<ThreadClass> kind;      // of each thread
  std::vector<Thread> creator;        // of each thread; kNobody: it is nobody's
  std::vector<Edge> edges;            // each pair once, by a, then b
  std::vector<SharedObject> objects;  // where they are not told: one for each edge
  bool has_loads = false;             // somebody said what they are; else each is 1
  bool measured = false;              // loads are microseconds and weights are bytes

  std::size_t size() const { return load.size(); }
};

/// Collects threads and edges in any order. Add all threads before the first edge.
class GraphBuilder {
 public:
  Thread add_thread(std::string name, double load = 1);
  Graph& graph() { return graph_; }
  /// Both directions and repeated edges add up; a thread's edge to itself counts for nothing.
  void add_edge(Thread a, Thread b, double weight);
  void add_object(std::vector<Thread> threads, double weight);
  Graph take();

 private:
  Graph graph_;
};

/// Who exchanges how much with whom, by thread.
class Neighbours {
 public:
  struct Neighbour {
    Thread thread;
    double weight;
  };
  explicit Neighbours(std::size_t threads, const std::vector<Edge>& edges);
  explicit Neighbours(const Graph& graph) : Neighbours(graph.size(), graph.edges) {}

  struct Range {
    const Neighbour *first, *last;
    const Neighbour* begin() const { return first; }
    const Neighbour* end() const { return last; }
  };
  Range of(Thread thread) const { return {all_.data() + first_[thread], all_.data() + first_[thread + 1]}; }
  /// With all others.
  double total(Thread thread) const;

 private:
  std::vector<std::size_t> first_;
  std::vector<Neighbour> all_;
};

/// The graph whose vertices are `groups` of vertices: what two groups exchange is what their members do.
std::vector<Edge> quotient(const std::vector<Edge>& edges, const std::vector<std::uint32_t>& group_of);

}  // namespace hearth::mappers
