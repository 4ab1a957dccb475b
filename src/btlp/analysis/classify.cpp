#include "btlp/analysis/classify.h"

#include <algorithm>
#include <optional>

namespace hearth::btlp {
namespace {

constexpr const char* kModes[] = {"literal", "paper", "balanced"};
constexpr const char* kClasses[] = {"autonomous", "side-by-side", "postponed", "unknown"};

std::string named(const Program& program, int node) {
  const Node& it = program.nodes[node];
  return node == 0 ? "main" : it.routine.empty() ? "thread " + std::to_string(node) : it.routine;
}

/// "worker and main share total (line 12)".
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

/// Algorithm 1 as it is printed, oddities and all: the last `else if` overrides side-by-side; a global marks only its
/// reader; threads of a loop stay outside of the tree.
class Literal {
 public:
  explicit Literal(Program& program) : program_(program) {}

  void run() {
    for (std::size_t number = 1; number < program_.nodes.size(); ++number) {
      Node& node = program_.nodes[number];
      if (!node.unknown_reason.empty() && node.routine.empty()) continue;
      one(node);
    }
  }

 private:
  bool below(int node, int above) const {
    for (; node >= 0; node = program_.nodes[node].creator)
      if (node == above) return true;
    return false;
  }

  bool writes_for(int writer, int reader, bool parameter) const {
    return std::any_of(program_.edges.begin(), program_.edges.end(), [&](const Edge& edge) {
      return edge.parameter == parameter && ((edge.from == writer && edge.to == reader && edge.forward) ||
                                             (edge.to == writer && edge.from == reader && edge.backward));
    });
  }

  void make_child(int child, int parent) {
    if (child == 0) return;
    for (int above = parent; above > 0; above = program_.nodes[above].parent)
      if (above == child) return;  // a tree has no circles
    program_.nodes[child].parent = parent;
  }

  void one(Node& node) {
    if (node.in_loop) {
      node.type = Class::side_by_side;
      node.in_tree = false;
      node.reasons.push_back("created in a loop");
      return;
    }
    const int a = node.number, creator = node.creator;
    bool with_creator = false, with_others = false, marked = set_.count(a) != 0;
    for (const Node& other : program_.nodes) {
      const int i = other.number;
      if (i == a || !below(i, creator)) continue;
      const bool parameter = writes_for(a, i, true), global = writes_for(a, i, false);
      if (parameter || global) (i == creator ? with_creator : with_others) = true;
      if (parameter) {
        marked = true;
        set_.insert(i);
        if (i != 0) program_.nodes[i].type = Class::side_by_side;
        make_child(i, a);
      }
      if (global) {
        if (marked) {
          set_.insert(i);
          if (i != 0) program_.nodes[i].type = Class::side_by_side;
        }
        make_child(i, a);
      }
      if (parameter || global) explain_sharing(program_, node, i);
    }
    if (marked) set_.insert(a);
    if (marked && with_creator && !with_others) {
      node.type = Class::postponed;
      node.parent = creator;
      node.reasons.push_back("depends on its creator alone");
    } else if (creator == 0) {
      node.type = Class::autonomous;
      node.parent = 0;
      node.reasons.push_back("a child of the main thread (this overrides side-by-side, as printed)");
    } else {
      node.type = Class::postponed;
      node.parent = creator;
      node.reasons.push_back("not a child of the main thread");
    }
  }

  Program& program_;
  std::set<int> set_;  // side-by-side so far
};

/// The earliest thread before this one whose data it uses, else who created it.
int parent_of(const Node& node, const std::set<int>& partners) {
  for (int partner : partners)
    if (partner != 0 && partner != node.creator && partner < node.number) return partner;
  return node.creator;
}

std::optional<std::string> not_known(const Program& program, const Node& node) {
  if (!node.unknown_reason.empty()) return node.unknown_reason;
  if (program.whole) return std::nullopt;
  if (node.loop_open) return "other files may call " + node.function + "(), and in a loop";
  if (node.open) return "other files may touch the variables that it uses";
  return std::nullopt;
}

/// `paper` and `balanced`: all edges first, then the classes.
void repaired(Program& program, Node& node, bool balanced) {
  const std::set<int> all = partners_of(program, node.number, false);
  const std::set<int> strong = partners_of(program, node.number, true);
  std::set<int> binding = balanced ? strong : all;
  binding.erase(node.creator);
  const bool instances = binding.erase(node.number) != 0;
  auto unknown = not_known(program, node);
  if (unknown && node.seen > 0) {
    node.as_recorded = true;
    node.reasons.push_back("as recorded; the analysis alone does not know it: " + *unknown);
    unknown.reset();
  }
  for (int partner : all) explain_sharing(program, node, partner);
  if ((node.routine.empty() && !node.as_recorded) || (unknown && node.routine_symbol.empty())) {
    node.type = Class::unknown;
    node.parent = node.creator;
    node.reasons.push_back(unknown.value_or("its routine is not known"));
    return;
  }
  node.parent = parent_of(node, all);
  if (!balanced && node.in_loop) {
    node.type = Class::side_by_side;
    node.reasons.push_back("created in a loop");
  } else if (node.creates) {
    node.type = Class::side_by_side;
    node.reasons.push_back("creates threads itself");
  } else if (!binding.empty() || instances) {
    node.type = Class::side_by_side;
  } else if (unknown) {
    node.type = Class::unknown;
    node.parent = node.creator;
    node.reasons.push_back(*unknown);
  } else if (balanced && node.in_loop) {
    node.type = Class::autonomous;
    node.reasons.push_back("created in a loop; its instances work on data of their own");
  } else if (all.count(node.creator) != 0) {
    node.type = Class::postponed;
    node.reasons.push_back("shares data with its creator alone");
  } else if (node.creator == 0) {
    node.type = Class::autonomous;
    node.reasons.push_back("shares no data that is written, and the main thread creates it");
  } else {
    node.type = Class::postponed;
    node.reasons.push_back("shares no data that is written, and another thread than main creates it");
  }
}

}  // namespace

const char* mode_name(Mode mode) { return kModes[static_cast<int>(mode)]; }
const char* class_name(Class type) { return kClasses[static_cast<int>(type)]; }

bool parse_mode(const std::string& text, Mode& mode) {
  for (int n = 0; n < 3; ++n)
    if (text == kModes[n]) {
      mode = static_cast<Mode>(n);
      return true;
    }
  return false;
}

std::set<int> partners_of(const Program& program, int node, bool strong) {
  std::set<int> found;
  for (const Edge& edge : program.edges) {
    if (strong && !edge.strong) continue;
    if (edge.from == node) found.insert(edge.to);
    if (edge.to == node) found.insert(edge.from);
  }
  return found;
}

std::vector<std::string> shared_by(const Program& program, int node) {
  std::vector<std::string> found;
  for (const Edge& edge : program.edges)
    if ((edge.from == node || edge.to == node) && std::find(found.begin(), found.end(), edge.object) == found.end())
      found.push_back(edge.object);
  return found;
}

void classify(Program& program) {
  for (Node& node : program.nodes) {
    node.type = Class::unknown;
    node.parent = std::max(node.creator, 0);
    node.in_tree = true;
    node.as_recorded = false;
    node.reasons.clear();
    if (node.creator >= 0) program.nodes[node.creator].creates = true;
  }
  if (program.mode == Mode::literal) {
    Literal(program).run();
    return;
  }
  for (std::size_t number = 1; number < program.nodes.size(); ++number)
    repaired(program, program.nodes[number], program.mode == Mode::balanced);
}

}  // namespace hearth::btlp
