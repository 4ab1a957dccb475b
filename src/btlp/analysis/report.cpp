#include "btlp/analysis/report.h"

#include <algorithm>
#include <cstdio>

#include "btlp/analysis/classify.h"
#include "btlp/analysis/matrices.h"

namespace hearth::btlp {
namespace {

constexpr const char* kColours[] = {"#7fb069", "#e6aa68", "#8fb8de", "#c0c0c0"};  // by class

std::string escaped(const std::string& text) {
  std::string result;
  for (const char letter : text) {
    if (letter == '<')
      result += "&lt;";
    else if (letter == '>')
      result += "&gt;";
    else if (letter == '&')
      result += "&amp;";
    else
      result += letter;
  }
  return result;
}

std::string rounded(double value) {
  char text[48];
  std::snprintf(text, sizeof(text), "%.0f", value);
  return text;
}

std::string name_of(const Node& node) {
  if (node.number == 0) return "main";
  return node.routine.empty() ? "?" : node.routine;
}

template <typename List>
std::string strings(const List& list) {
  std::string text = "[";
  for (const auto& each : list) text += (text.size() > 1 ? ", " : "") + quoted(each);
  return text + "]";
}

std::string place_of(const Node& node) {
  std::string text = node.function + "()";
  if (node.line != 0) text += ":" + std::to_string(node.line);
  return text;
}

const char* truth(bool value) { return value ? "true" : "false"; }

std::string tree_json(const Program& program, int number) {
  const Node& node = program.nodes[number];
  std::string text = "{\"id\": " + std::to_string(number) + ", \"thread\": " + quoted(name_of(node));
  if (number != 0) text += ", \"class\": " + quoted(class_name(node.type));
  text += ", \"children\": [";
  bool first = true;
  for (const Node& child : program.nodes) {
    if (child.number == 0 || child.parent != number || !child.in_tree) continue;
    text += (first ? "" : ", ") + tree_json(program, child.number);
    first = false;
  }
  return text + "]}";
}

std::string thread_json(const Program& program, const Node& node) {
  std::vector<std::string> partners;
  std::string ids;
  for (int partner : partners_of(program, node.number, false)) {
    partners.push_back(name_of(program.nodes[partner]));
    ids += (ids.empty() ? "" : ", ") + std::to_string(partner);
  }
  std::string text = "    {\"id\": " + std::to_string(node.number) + ", \"function\": " + quoted(node.function);
  text += ", \"file\": " + quoted(node.file) + ", \"line\": " + std::to_string(node.line);
  text += ", \"routine\": " + (node.routine.empty() ? std::string("null") : quoted(node.routine));
  text += ", \"class\": " + quoted(class_name(node.type));
  if (!program.recording.empty())
    text += ", \"class_from\": " + quoted(node.as_recorded ? "recording" : "analysis") +
            ", \"recorded\": " + std::to_string(node.seen);
  text += ", \"in_loop\": " + std::string(truth(node.in_loop)) + ", \"many\": " + truth(node.many);
  text += ",\n     \"partners\": " + strings(partners) + ", \"partner_ids\": [" + ids + "]";
  text += ", \"shares\": " + strings(shared_by(program, node.number));
  text += ",\n     \"created_by\": " + std::to_string(node.creator) + ", \"creator\": " + quoted(node.api);
  text += ", \"path\": " + strings(node.path) + ", \"detached\": " + truth(node.detached);
  text += ", \"insertion\": " + quoted(insertion_of(program, node) == Insertion::after ? "after" : "before");
  text += ", \"parent\": " + (node.in_tree ? std::to_string(node.parent) : std::string("null"));
  text += ",\n     \"estimated_cost\": {\"flops\": " + rounded(node.cost.flops);
  text += ", \"integer_operations\": " + rounded(node.cost.integer_operations);
  text += ", \"bytes\": " + rounded(node.cost.bytes) + "}";
  return text + ",\n     \"why\": " + strings(node.reasons) + "}";
}

std::string gaps_json(const Program& program) {
  std::string text = "{";
  for (std::size_t n = 0; n < kGaps; ++n) {
    const GapText& gap = text_of(static_cast<Gap>(n));
    const char* answer = gap.answers[program.decided(static_cast<Gap>(n)) ? 1 : 0];
    text += std::string(n == 0 ? "" : ", ") + quoted(gap.name) + ": " + quoted(answer);
  }
  return text + "}";
}

void tree_text(const Program& program, int number, const std::string& indent, std::string& text) {
  const Node& node = program.nodes[number];
  text += indent + name_of(node);
  if (number != 0) {
    text += ": " + std::string(class_name(node.type)) + (node.many ? ", several" : "") + ", created in " +
            place_of(node);
    text += "; estimated work " + rounded(node.cost.flops) + " flops, " + rounded(node.cost.integer_operations) +
            " integer operations, " + rounded(node.cost.bytes) + " bytes";
  }
  text += "\n";
  for (const std::string& reason : node.reasons) text += indent + "    - " + reason + "\n";
  for (const Node& child : program.nodes)
    if (child.number != 0 && child.in_tree && child.parent == number)
      tree_text(program, child.number, indent + "  ", text);
}

struct Layout {
  std::string shapes;
  int row = 0, deepest = 0;
};

void draw(const Program& program, int number, int depth, int parent_row, Layout& layout) {
  const Node& node = program.nodes[number];
  const int row = layout.row++, x = 20 + depth * 190, y = 20 + row * 56;
  layout.deepest = std::max(layout.deepest, depth);
  if (depth > 0) {
    const int from_x = x - 190 + 20, from_y = 20 + parent_row * 56 + 40;
    layout.shapes += "<path d=\"M" + std::to_string(from_x) + " " + std::to_string(from_y) + " V" +
                     std::to_string(y + 20) + " H" + std::to_string(x) + "\" fill=\"none\" stroke=\"#555\"/>\n";
  }
  const char* colour = number == 0 ? "#ffffff" : kColours[static_cast<int>(node.type)];
  layout.shapes += "<rect x=\"" + std::to_string(x) + "\" y=\"" + std::to_string(y) +
                   "\" width=\"170\" height=\"40\" rx=\"6\" fill=\"" + colour + "\" stroke=\"#555\"/>\n";
  layout.shapes += "<text x=\"" + std::to_string(x + 8) + "\" y=\"" + std::to_string(y + 17) + "\">" +
                   escaped(name_of(node)) + (node.many ? " ×n" : "") + "</text>\n";
  if (number != 0)
    layout.shapes += "<text x=\"" + std::to_string(x + 8) + "\" y=\"" + std::to_string(y + 33) + "\" fill=\"#333\">" +
                     class_name(node.type) + ", line " + std::to_string(node.line) + "</text>\n";
  for (const Node& child : program.nodes)
    if (child.number != 0 && child.in_tree && child.parent == number)
      draw(program, child.number, depth + 1, row, layout);
}

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

}  // namespace

std::string as_text(const Program& program) {
  std::string text = program.name + ", mode " + mode_name(program.mode) +
                     (program.whole ? ", whole program\n" : ", one file alone\n");
  if (const std::string gaps = program.gaps.asked_for(); !gaps.empty()) text += "gaps: " + gaps + "\n";
  for (const std::string& note : program.notes) text += "note: " + note + "\n";
  tree_text(program, 0, "", text);
  for (const Node& node : program.nodes)
    if (!node.in_tree) {
      text += "outside of the tree: ";
      tree_text(program, node.number, "", text);
    }
  return text + recording_text(program);
}

std::string as_json(const Program& program) {
  std::string text = "{\n  \"program\": " + quoted(program.name) + ",\n  \"mode\": " + quoted(mode_name(program.mode));
  text += ",\n  \"gaps\": " + gaps_json(program);
  text += ",\n  \"whole_program\": " + std::string(truth(program.whole)) + ",\n  \"notes\": " + strings(program.notes);
  text += ",\n  \"effort\": {\"contexts\": " + std::to_string(program.contexts) + ", \"steps\": " +
          std::to_string(program.steps) + "}";
  text += ",\n  \"threads\": [\n";
  for (std::size_t number = 1; number < program.nodes.size(); ++number)
    text += thread_json(program, program.nodes[number]) + (number + 1 < program.nodes.size() ? ",\n" : "\n");
  text += "  ],\n  \"edges\": [\n";
  for (std::size_t number = 0; number < program.edges.size(); ++number) {
    const Edge& edge = program.edges[number];
    text += "    {\"from\": " + std::to_string(edge.from) + ", \"to\": " + std::to_string(edge.to);
    text += ", \"object\": " + quoted(edge.object) + ", \"line\": " + std::to_string(edge.line);
    text += ", \"writes\": " + std::string(edge.forward && edge.backward ? "\"both\""
                                           : edge.forward                ? "\"from\""
                                                                         : "\"to\"");
    if (!program.recording.empty())
      text += ", \"found_by\": " + quoted(edge.recorded ? "recording" : edge.seen ? "both" : "analysis");
    text += ", \"estimated_bytes\": " + rounded(edge.bytes) + ", \"strong\": " + truth(edge.strong) + "}";
    text += number + 1 < program.edges.size() ? ",\n" : "\n";
  }
  text += "  ],\n" + recording_json(program);
  return text + "  \"tree\": " + tree_json(program, 0) + "\n}\n";
}

std::string as_dot(const Program& program) {
  std::string text = "graph threads {\n  node [shape=box, style=\"rounded,filled\", fontname=\"sans-serif\"];\n";
  for (const Node& node : program.nodes) {
    const char* colour = node.number == 0 ? "white" : kColours[static_cast<int>(node.type)];
    std::string label = name_of(node);
    if (node.number != 0) label += "\\n" + std::string(class_name(node.type)) + "\\n" + place_of(node);
    text += "  t" + std::to_string(node.number) + " [label=\"" + label + "\", fillcolor=\"" + colour + "\"];\n";
  }
  for (const Node& node : program.nodes)
    if (node.number != 0 && node.in_tree)
      text += "  t" + std::to_string(node.parent) + " -- t" + std::to_string(node.number) + ";\n";
  for (const Edge& edge : program.edges)
    text += "  t" + std::to_string(edge.from) + " -- t" + std::to_string(edge.to) +
            " [style=" + (edge.strong ? "dashed" : "dotted") + ", constraint=false, label=" + quoted(edge.object) +
            ", weight=" + rounded(edge.bytes) + "];\n";
  return text + "}\n";
}

std::string as_svg(const Program& program) {
  Layout layout;
  draw(program, 0, 0, 0, layout);
  for (const Node& node : program.nodes)
    if (!node.in_tree) draw(program, node.number, 0, 0, layout);
  const std::string width = std::to_string(40 + (layout.deepest + 1) * 190),
                    height = std::to_string(30 + layout.row * 56);
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + width + "\" height=\"" + height +
         "\" font-family=\"sans-serif\" font-size=\"12\">\n<title>" + escaped(program.name) +
         ": communication tree, mode " + mode_name(program.mode) + "</title>\n" + layout.shapes + "</svg>\n";
}

std::string as_file(const Program& program, const std::string& path) {
  if (ends_with(path, ".txt")) return as_text(program);
  if (ends_with(path, ".dot")) return as_dot(program);
  if (ends_with(path, ".svg")) return as_svg(program);
  return as_json(program);
}

}  // namespace hearth::btlp
