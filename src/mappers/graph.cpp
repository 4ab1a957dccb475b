// See graph.h.
#include "mappers/graph.h"

#include <algorithm>

namespace hearth::mappers {
namespace {

/// Sorted, each pair once with the sum of its weights, in the order of a, then b.
void merge(std::vector<Edge>& edges) {
  // Stable: the order of a sum's terms, and so its last bit, is the file's.
  std::stable_sort(edges.begin(), edges.end(),
                   [](const Edge& x, const Edge& y) { return std::pair(x.a, x.b) < std::pair(y.a, y.b); });
  std::size_t kept = 0;
  for (const Edge& edge : edges) {
    if (kept != 0 && edges[kept - 1].a == edge.a && edges[kept - 1].b == edge.b)
      edges[kept - 1].weight += edge.weight;
    else
      edges[kept++] = edge;
  }
  edges.resize(kept);
}

}  // namespace

Thread GraphBuilder::add_thread(std::string name, double load) {
  graph_.load.push_back(load);
  graph_.name.push_back(std::move(name));
  graph_.kind.push_back(ThreadClass::unknown);
  graph_.creator.push_back(kNobody);
  return static_cast<Thread>(graph_.load.size() - 1);
}

void GraphBuilder::add_edge(Thread a, Thread b, double weight) {
  if (a != b && weight > 0) graph_.edges.push_back({std::min(a, b), std::max(a, b), weight});
}

void GraphBuilder::add_object(std::vector<Thread> threads, double weight) {
  std::sort(threads.begin(), threads.end());
  threads.erase(std::unique(threads.begin(), threads.end()), threads.end());
  if (threads.size() > 1 && weight > 0) graph_.objects.push_back({std::move(threads), weight});
}

Graph GraphBuilder::take() {
  merge(graph_.edges);
  if (graph_.objects.empty())
    for (const Edge& edge : graph_.edges) graph_.objects.push_back({{edge.a, edge.b}, edge.weight});
  return std::move(graph_);
}

Neighbours::Neighbours(std::size_t threads, const std::vector<Edge>& edges) : first_(threads + 1, 0) {
  for (const Edge& edge : edges) {
    ++first_[edge.a + 1];
    ++first_[edge.b + 1];
  }
  for (std::size_t t = 0; t < threads; ++t) first_[t + 1] += first_[t];
  all_.resize(2 * edges.size());
  std::vector<std::size_t> next(first_.begin(), first_.end() - 1);
  for (const Edge& edge : edges) {
    all_[next[edge.a]++] = {edge.b, edge.weight};
    all_[next[edge.b]++] = {edge.a, edge.weight};
  }
}

double Neighbours::total(Thread thread) const {
  double sum = 0;
  for (const Neighbour& neighbour : of(thread)) sum += neighbour.weight;
  return sum;
}

std::vector<Edge> quotient(const std::vector<Edge>& edges, const std::vector<std::uint32_t>& group_of) {
  std::vector<Edge> between;
  for (const Edge& edge : edges) {
    const std::uint32_t a = group_of[edge.a], b = group_of[edge.b];
    if (a != b) between.push_back({std::min(a, b), std::max(a, b), edge.weight});
  }
  merge(between);
  return between;
}

}  // namespace hearth::mappers
