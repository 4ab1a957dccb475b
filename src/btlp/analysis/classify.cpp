// See classify.h: all edges first, then the classes (Gap::order; the other order is in classify_one_by_one.cpp).
#include "btlp/analysis/classify.h"

#include <algorithm>
#include <optional>

#include "btlp/analysis/classify_steps.h"
#include "btlp/support/plan.h"

namespace hearth::btlp {
namespace {

constexpr const char* kClasses[] = {"autonomous", "side-by-side", "postponed", "unknown"};

std::optional<std::string> not_known(const Program& program, const Node& node) {
  if (!node.unknown_reason.empty()) return node.unknown_reason;
  if (program.whole) return std::nullopt;
  if (node.loop_open) return "other files may call " + node.function + "(), and in a loop";
  if (node.open) return "other files may touch the variables that it uses";
  return std::nullopt;
}

/// By node, whether its data binds it to another thread: the first reading of Gap::globals needs to know it of writers.
std::vector<bool> marked_by_parameters(const Program& program) {
  std::vector<bool> marked(program.nodes.size(), false);
  const bool weak = !program.decided(Gap::weak_sharing);
  for (const Edge& edge : program.edges)
    if (edge.parameter && (weak || edge.strong))
      marked[static_cast<std::size_t>(edge.from)] = marked[static_cast<std::size_t>(edge.to)] = true;
  for (bool grown = true; grown;) {
    grown = false;
    for (const Edge& edge : program.edges) {
      const auto from = static_cast<std::size_t>(edge.from), to = static_cast<std::size_t>(edge.to);
      if (edge.parameter || (!weak && !edge.strong)) continue;
      const bool more = (edge.forward && marked[from] && !marked[to]) || (edge.backward && marked[to] && !marked[from]);
      if (edge.forward && marked[from]) marked[to] = true;
      if (edge.backward && marked[to]) marked[from] = true;
      grown = grown || more;
    }
  }
  return marked;
}

/// With whom its data puts this thread on one place; itself for its instances.
std::set<int> binding_of(const Program& program, const Node& node) {
  const int self = node.number;
  const bool weak = !program.decided(Gap::weak_sharing), both = program.decided(Gap::globals);
  const std::vector<bool> marked = both ? std::vector<bool>() : marked_by_parameters(program);
  std::set<int> found;
  for (const Edge& edge : program.edges) {
    if ((edge.from != self && edge.to != self) || (!weak && !edge.strong)) continue;
    const int other = edge.from == self ? edge.to : edge.from;
    const bool reads = edge.from == self ? edge.backward : edge.forward;
    if (edge.parameter || both || (reads && marked[static_cast<std::size_t>(other)])) found.insert(other);
  }
  if (!program.decided(Gap::parameter))
    for (const Receipt& receipt : program.receipts) {
      if (receipt.writer == self) found.insert(receipt.receiver);
      if (receipt.receiver == self) found.insert(receipt.writer);
    }
  return found;
}

void type_shared_or_not(const Program& program, Node& node, bool with_creator, bool marked, bool others,
                        const std::optional<std::string>& unknown) {
  const bool overrides = !program.decided(Gap::last_branch);
  if (marked && !overrides) {
    node.type = Class::side_by_side;
  } else if (unknown && !marked) {
    node.type = Class::unknown;
    node.parent = node.creator;
    node.reasons.push_back(*unknown);
  } else if (program.decided(Gap::loop_threads) && looped(program, node)) {
    node.type = Class::autonomous;
    node.reasons.push_back("created in a loop; its instances work on data of their own");
  } else if (with_creator && !others && program.decided(Gap::result)) {
    node.type = Class::postponed;
    node.reasons.push_back("shares data with its creator alone");
  } else {
    node.type = node.creator == 0 ? Class::autonomous : Class::postponed;
    node.reasons.push_back(
        std::string(marked ? "shares data, which the last branch overrides" : "shares no data that is written") +
        (node.creator == 0 ? ", and the main thread creates it" : ", and another thread than main creates it"));
  }
}

void one_of_all(Program& program, Node& node) {
  const std::set<int> all = partners_of(program, node.number, false);
  std::set<int> binding = binding_of(program, node);
  const bool with_creator = all.count(node.creator) != 0;
  binding.erase(node.creator);
  auto unknown = not_known(program, node);
  if (unknown && node.seen > 0) {
    node.as_recorded = true;
    node.reasons.push_back("as recorded; the analysis alone does not know it: " + *unknown);
    unknown.reset();
  }
  if (node.more_places > 0)
    node.reasons.push_back("created at " + std::to_string(node.more_places) + " more places, which are taken as one");
  for (int partner : all) explain_sharing(program, node, partner);
  explain_receipts(program, node);
  const bool nameless = node.routine.empty() && !node.as_recorded;
  if (nameless && !program.decided(Gap::unknown_routine)) {
    unknown.reset();
    node.reasons.push_back("its routine is not known, and it is typed as if it shared nothing");
  } else if (nameless || (unknown && node.routine_symbol.empty())) {
    node.type = Class::unknown;
    node.parent = node.creator;
    node.reasons.push_back(unknown.value_or("its routine is not known"));
    return;
  }
  node.parent = parent_of(program, node);
  if (looped(program, node) && !program.decided(Gap::loop_threads)) {
    put_into_loop(program, node);
    return;
  }
  const bool nested = node.creates && program.decided(Gap::nested);
  if (nested) node.reasons.push_back("creates threads itself");
  const bool by_result = with_creator && !program.decided(Gap::result);
  if (by_result) node.reasons.push_back("its creator reads what it writes");
  const bool others = nested || !binding.empty();
  type_shared_or_not(program, node, with_creator, others || by_result, others, unknown);
}

/// Gap::parent, first answer: each thread in its turn takes those that read its data.
void adopt_in_order(Program& program) {
  const auto count = static_cast<int>(program.nodes.size());
  for (Node& node : program.nodes) node.parent = std::max(node.creator, 0);
  for (int writer = 1; writer < count; ++writer)
    for (int reader = 1; reader < count; ++reader)
      if (reader != writer && program.nodes[static_cast<std::size_t>(reader)].type == Class::side_by_side &&
          (writes_for(program, writer, reader, true) || writes_for(program, writer, reader, false)))
        make_child(program, reader, writer);
}

void tell_the_rest(const Program& program, Node& node) {
  for (const std::string& routine : node.more_routines)
    node.reasons.push_back("the same call creates " + routine + "(), too, which counts as the same thread");
  if (program.insertion == Insertion::after && node.number != 0)
    node.reasons.push_back(node.may_not_join.empty() ? "gets its CPUs behind its creation"
                                                     : "gets its CPUs before its routine: " + node.may_not_join);
}

}  // namespace

const char* mode_name(Mode mode) { return kModeNames[static_cast<int>(mode)]; }
const char* class_name(Class type) { return kClasses[static_cast<int>(type)]; }

bool parse_mode(const std::string& text, Mode& mode) {
  for (int n = 0; n < 3; ++n)
    if (text == kModeNames[n]) {
      mode = static_cast<Mode>(n);
      return true;
    }
  return false;
}

Insertion insertion_of(const Program& program, const Node& node) {
  return program.insertion == Insertion::after && node.may_not_join.empty() ? Insertion::after : Insertion::before;
}

unsigned running_rules(const Program& program) {
  unsigned rules = 0;
  if (!program.decided(Gap::seat)) rules |= HEARTH_BTLP_SEAT_IS_THREAD;
  if (!program.decided(Gap::turn)) rules |= HEARTH_BTLP_TURN_BY_CORE;
  if (!program.decided(Gap::ties)) rules |= HEARTH_BTLP_TIES_TO_FIRST;
  return rules;
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
  if (!program.decided(Gap::order)) {
    classify_one_by_one(program);
  } else {
    for (std::size_t number = 1; number < program.nodes.size(); ++number) one_of_all(program, program.nodes[number]);
    if (!program.decided(Gap::parent)) adopt_in_order(program);
  }
  for (Node& node : program.nodes) tell_the_rest(program, node);
}

}  // namespace hearth::btlp
