// Graphs from files: Matrix Market, DOT, METIS's format, and the JSON of `hearth cc --explain`.
//
// Whatever the file holds, the answer is a graph or one line "FILE:LINE: what is wrong; legal: ...". Pure.
#pragma once

#include <string>
#include <string_view>

#include "mappers/graph.h"

namespace hearth::mappers {

struct LoadedGraph {
  Graph graph;
  std::string error;   // empty: the graph is good
  std::string remark;  // what was read in a way that has to be said

  bool ok() const { return error.empty(); }
  static LoadedGraph failure(std::string why) { return {{}, std::move(why), {}}; }
};

/// Of a file's end or, where that says nothing, its beginning.
enum class GraphFormat : std::uint8_t { matrix_market, dot, metis, json, unknown };
GraphFormat format_of(const std::string& file, std::string_view text);
inline constexpr std::string_view kGraphFormats =
    "Matrix Market (.mtx), DOT (.dot, .gv), METIS (.graph, .metis), JSON of hearth cc --explain (.json), "
    "a recording of hearth record";

/// `file` is only named in messages.
LoadedGraph parse_matrix_market(std::string_view text, const std::string& file);
LoadedGraph parse_dot(std::string_view text, const std::string& file);
LoadedGraph parse_metis(std::string_view text, const std::string& file);
LoadedGraph parse_explained(std::string_view text, const std::string& file);
/// By format_of(); a file of no format that is known fails.
LoadedGraph parse_graph(std::string_view text, const std::string& file);

}  // namespace hearth::mappers
