// See foreign.h.
#include "mappers/foreign.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>

#include <dlfcn.h>
#include <fmt/format.h>

namespace hearth::mappers {

ForeignLibrary::ForeignLibrary(std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (handle_ == nullptr) handle_ = dlopen(name, RTLD_NOW | RTLD_GLOBAL);
}

void* ForeignLibrary::look_up(const char* name) const { return handle_ == nullptr ? nullptr : dlsym(handle_, name); }

std::string not_built_in(const char* mapper, const char* package) {
  return fmt::format("{} is not built in: this hearth was built without the package {} (Debian; tools/setup mappers)",
                     mapper, package);
}

std::string not_installed(const char* library, const char* package) {
  return fmt::format("{} is not installed; the Debian package {} has it", library, package);
}

std::vector<int> whole_numbers(const std::vector<double>& values) {
  constexpr double kMost = 1 << 30;
  double sum = 0;
  bool whole = true;
  for (const double value : values) {
    sum += value;
    whole = whole && value == std::floor(value);
  }
  const double scale = whole && sum <= kMost ? 1 : kMost / 2 / sum;
  std::vector<int> numbers;
  for (const double value : values)
    numbers.push_back(value > 0 ? std::max(1, static_cast<int>(std::lround(value * scale))) : 0);
  return numbers;
}

CompressedGraph compressed(const Graph& graph) {
  std::vector<double> weights;
  for (const Edge& edge : graph.edges) weights.push_back(edge.weight);
  const std::vector<int> whole = whole_numbers(weights);
  std::vector<Edge> edges = graph.edges;
  for (std::size_t i = 0; i < edges.size(); ++i) edges[i].weight = whole[i];
  CompressedGraph made;
  made.load = whole_numbers(graph.load);
  for (int& load : made.load) load = std::max(load, 1);
  const Neighbours neighbours(graph.size(), edges);
  made.first.push_back(0);
  for (Thread t = 0; t < graph.size(); ++t) {
    for (const auto& [other, weight] : neighbours.of(t)) {
      made.neighbour.push_back(static_cast<int>(other));
      made.edge_weight.push_back(static_cast<int>(weight));
    }
    made.first.push_back(static_cast<int>(made.neighbour.size()));
  }
  return made;
}

}  // namespace hearth::mappers
