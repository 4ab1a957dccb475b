#include "btlp/analysis/classify_steps.h"

#include <algorithm>

#include "btlp/analysis/classify.h"

namespace hearth::btlp {
namespace {

std::string named(const Program& program, int node) {
  const Node& it = program.nodes[static_cast<std::size_t>(node)];
  return node == 0 ? "main" : it.routine.empty() ? "thread " + std::to_string(node) : it.routine;
}

}  // namespace

bool looped(const Program& program, const Node& node) {
  return program.decided(Gap::loop) ? node.in_loop : node.in_body;
}

void put_into_loop(const Program& program, Node& node) {
  node.type = Class::side_by_side;
  node.in_tree = program.decided(Gap::loop_tree);
  node.reasons.push_back("created in a loop");
}

int parent_of(const Program& program, const Node& node) {
  for (int partner : partners_of(program, node.number, false))
    if (partner != 0 && partner != node.creator && partner < node.number) return partner;
  return node.creator;
}

void make_child(Program& program, int child, int parent) {
  if (child == 0) return;
  for (int above = parent; above > 0; above = program.nodes[static_cast<std::size_t>(above)].parent)
    if (above == child) return;
  program.nodes[static_cast<std::size_t>(child)].parent = parent;
}

bool writes_for(const Program& program, int writer, int reader, bool parameter) {
  return std::any_of(program.edges.begin(), program.edges.end(), [&](const Edge& edge) {
    return edge.parameter == parameter && (program.decided(Gap::weak_sharing) ? edge.strong : true) &&
           ((edge.from == writer && edge.to == reader && edge.forward) ||
            (edge.to == writer && edge.from == reader && edge.backward));
  });
}

/// "shares total with main (written at line 12)".
void explain_sharing(const Program& program, Node& node, int with) {
  for (const Edge& edge : program.edges) {
    const bool mine = (edge.from == node.number && edge.to == with) || (edge.to == node.number && edge.from == with);
    if (!mine) continue;
    std::string text = with == node.number ? "its instances share " : "shares ";
    text += edge.object;
    if (with != node.number) text += " with " + named(program, with);
    if (edge.line != 0) text += " (written at line " + std::to_string(edge.line) + ")";
    if (!edge.strong) text += ", outside of its innermost work";
    if (edge.recorded) text += " (recorded)";
    node.reasons.push_back(text);
  }
}

void explain_receipts(const Program& program, Node& node) {
  if (program.decided(Gap::parameter)) return;
  for (const Receipt& receipt : program.receipts) {
    if (receipt.writer == node.number)
      node.reasons.push_back("writes " + receipt.object + ", which " + named(program, receipt.receiver) + " receives");
    if (receipt.receiver == node.number)
      node.reasons.push_back("receives " + receipt.object + ", which " + named(program, receipt.writer) + " writes");
  }
}

}  // namespace hearth::btlp
