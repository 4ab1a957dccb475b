#include "btlp/analysis/matrices.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace hearth::btlp {
namespace {

constexpr std::size_t kWidest = 16;  // threads; a larger matrix is for programs to read (JSON)

using Pair = std::pair<int, int>;

Pair pair_of(const Edge& edge) { return {std::min(edge.from, edge.to), std::max(edge.from, edge.to)}; }

std::string name_of(const Program& program, int number) {
  const Node& node = program.nodes[static_cast<std::size_t>(number)];
  return number == 0 ? "main" : (node.routine.empty() ? "?" : node.routine) + " (" + std::to_string(number) + ")";
}

std::string padded(const std::string& text, std::size_t width) {
  return text.size() >= width ? text : std::string(width - text.size(), ' ') + text;
}

struct Matrices {
  std::set<Pair> found;                    // by the analysis
  std::map<Pair, std::uint64_t> recorded;  // reads of what the other one had written
};

Matrices matrices_of(const Program& program) {
  Matrices both;
  for (const Edge& edge : program.edges) {
    if (!edge.recorded) both.found.insert(pair_of(edge));
    if (edge.seen) both.recorded[pair_of(edge)] += edge.reads;
  }
  return both;
}

std::string edge_text(const Program& program, const Edge& edge) {
  if (edge.from == edge.to) return "instances of " + name_of(program, edge.from) + ": " + edge.object;
  return name_of(program, edge.from) + " and " + name_of(program, edge.to) + ": " + edge.object;
}

/// Did both threads run while it was recorded? Else nothing can be said of them.
bool could_be_seen(const Program& program, const Edge& edge) {
  const Node &from = program.nodes[static_cast<std::size_t>(edge.from)],
             &to = program.nodes[static_cast<std::size_t>(edge.to)];
  return edge.object != "return value" && from.seen > (edge.from == edge.to ? 1 : 0) && to.seen > 0;
}

}  // namespace

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char letter : text) {
    if (letter == '"' || letter == '\\') {
      result += '\\';
      result += letter;
    } else if (static_cast<unsigned char>(letter) < 0x20) {
      constexpr const char* digits = "0123456789abcdef";
      result += std::string("\\u00") + digits[letter >> 4] + digits[letter & 15];
    } else {
      result += letter;
    }
  }
  return result + "\"";
}

std::vector<Edge> missed_pairs(const Program& program) {
  const Matrices both = matrices_of(program);
  std::vector<Edge> missed;
  for (const Edge& edge : program.edges)
    if (edge.recorded && both.found.count(pair_of(edge)) == 0) missed.push_back(edge);
  return missed;
}

std::string recording_text(const Program& program) {
  if (program.recording.empty()) return {};
  const Matrices both = matrices_of(program);
  std::string text = "communication, as the analysis has it and as recorded in " + program.recording +
                     (program.recording_is_exact ? " (exact)" : " (sampled)") + ":\n";
  const std::size_t count = std::min(program.nodes.size(), kWidest);
  for (std::size_t row = 0; row <= count; ++row) {
    std::string left, right;
    for (std::size_t column = 0; column < count; ++column) {
      const Pair pair{static_cast<int>(std::min(row - 1, column)), static_cast<int>(std::max(row - 1, column))};
      const auto seen = both.recorded.find(pair);
      left += row == 0 ? padded(std::to_string(column), 4) : padded(both.found.count(pair) != 0 ? "x" : ".", 4);
      right += row == 0 ? padded(std::to_string(column), 8)
                        : padded(seen == both.recorded.end() ? "." : std::to_string(seen->second), 8);
    }
    const std::string head = padded(row == 0 ? "" : std::to_string(row - 1), 4);
    text += head + left + "    |" + head + right + (row == 0 ? "" : "  " + name_of(program, static_cast<int>(row) - 1));
    text += "\n";
  }
  if (count < program.nodes.size()) text += "    (the first " + std::to_string(count) + " threads; JSON has all)\n";
  for (const Edge& edge : program.edges)
    if (edge.recorded)
      text += std::string(both.found.count(pair_of(edge)) != 0 ? "recorded, under another name: "
                                                               : "missed by the analysis: ") +
              edge_text(program, edge) + "\n";
  for (const Edge& edge : program.edges)
    if (!edge.seen && could_be_seen(program, edge))
      text += "not seen in the recording: " + edge_text(program, edge) + "\n";
  return text;
}

std::string recording_json(const Program& program) {
  if (program.recording.empty()) return {};
  const Matrices both = matrices_of(program);
  std::string rows[2];
  for (std::size_t row = 0; row < program.nodes.size(); ++row) {
    for (std::string& matrix : rows) matrix += row == 0 ? "[" : ", [";
    for (std::size_t column = 0; column < program.nodes.size(); ++column) {
      const Pair pair{static_cast<int>(std::min(row, column)), static_cast<int>(std::max(row, column))};
      const auto seen = both.recorded.find(pair);
      rows[0] += std::string(column == 0 ? "" : ", ") + (both.found.count(pair) != 0 ? "1" : "0");
      rows[1] += std::string(column == 0 ? "" : ", ") +
                 (seen == both.recorded.end() ? "null" : std::to_string(seen->second));
    }
    for (std::string& matrix : rows) matrix += "]";
  }
  const auto list = [&](const auto& wanted) {
    std::string text = "[";
    for (const Edge& edge : program.edges)
      if (wanted(edge))
        text += std::string(text.size() > 1 ? ", " : "") + "{\"from\": " + std::to_string(edge.from) +
                ", \"to\": " + std::to_string(edge.to) + ", \"object\": " + quoted(edge.object) + "}";
    return text + "]";
  };
  std::string text = "  \"recording\": {\"file\": " + quoted(program.recording) +
                     ", \"how\": " + (program.recording_is_exact ? "\"exact\"" : "\"sampled\"");
  text += ",\n    \"analysis_matrix\": [" + rows[0] + "],\n    \"recorded_matrix\": [" + rows[1] + "]";
  text += ",\n    \"missed_by_analysis\": " +
          list([&](const Edge& edge) { return edge.recorded && both.found.count(pair_of(edge)) == 0; });
  text += ",\n    \"under_another_name\": " +
          list([&](const Edge& edge) { return edge.recorded && both.found.count(pair_of(edge)) != 0; });
  text += ",\n    \"not_seen\": " + list([&](const Edge& edge) { return !edge.seen && could_be_seen(program, edge); });
  return text + "},\n";
}

}  // namespace hearth::btlp
