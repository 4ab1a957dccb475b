// Fuzzes the readers of graph files. HEARTH_FUZZ_FORMAT (mtx, graph, dot, json) says which; without it the first byte does.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "mappers/graph_file.h"
#include "../require.h"

namespace {

using namespace hearth::mappers;

std::string file_name(std::string_view& text) {
  constexpr const char* kFormats[] = {"mtx", "graph", "dot", "json"};
  static const char* const given = std::getenv("HEARTH_FUZZ_FORMAT");
  if (given != nullptr) return std::string("fuzz.") + given;
  if (text.empty()) return "fuzz.dot";
  const auto which = static_cast<unsigned char>(text.front()) % 4;
  text.remove_prefix(1);
  return std::string("fuzz.") + kFormats[which];
}

void check(const Graph& graph) {
  const std::size_t threads = graph.size();
  REQUIRE(threads >= 1 && threads <= kMostThreads);
  REQUIRE(graph.name.size() == threads && graph.kind.size() == threads && graph.creator.size() == threads);
  for (const double load : graph.load) REQUIRE(load >= 0 && load <= 2048 * kLargestNumber);
  for (std::size_t i = 0; i < graph.edges.size(); ++i) {
    const Edge& edge = graph.edges[i];
    REQUIRE(edge.a < edge.b && edge.b < threads && edge.weight > 0);
    if (i > 0) REQUIRE(graph.edges[i - 1].a < edge.a || graph.edges[i - 1].b < edge.b);
  }
  for (const SharedObject& object : graph.objects)
    REQUIRE(object.threads.size() >= 2 && object.threads.back() < threads);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::string file = file_name(text);
  const LoadedGraph loaded = parse_graph(text, file);
  if (loaded.ok()) {
    check(loaded.graph);
    return 0;
  }
  REQUIRE(loaded.error.starts_with(file + ":"));
  REQUIRE(std::atoi(loaded.error.c_str() + file.size() + 1) >= 1);
  REQUIRE(loaded.error.find('\n') == std::string::npos);
  return 0;
}
