// Algorithm 1 of Stirb 2018 in its own order: a thread is typed, then the next one, and what one does to the type or the
// place in the tree of another may be undone later. The other gaps are switches here as well.
#include <algorithm>
#include <set>

#include "btlp/analysis/classify_steps.h"

namespace hearth::btlp {
namespace {

class OneByOne {
 public:
  explicit OneByOne(Program& program) : program_(program) {}

  void run() {
    for (std::size_t number = 1; number < program_.nodes.size(); ++number) {
      Node& node = program_.nodes[number];
      if (node.routine.empty() && !node.unknown_reason.empty() && program_.decided(Gap::unknown_routine)) {
        node.reasons.push_back(node.unknown_reason);
        continue;
      }
      one(node);
    }
    if (!program_.decided(Gap::parent)) return;
    for (Node& node : program_.nodes)
      if (node.number != 0 && node.in_tree) node.parent = parent_of(program_, node);
  }

 private:
  bool below(int node, int above) const {
    for (; node >= 0; node = program_.nodes[static_cast<std::size_t>(node)].creator)
      if (node == above) return true;
    return false;
  }

  bool receives(int writer, int receiver) const {
    return std::any_of(program_.receipts.begin(), program_.receipts.end(), [&](const Receipt& receipt) {
      return receipt.writer == writer && receipt.receiver == receiver;
    });
  }

  void mark(int thread) {
    marked_.insert(thread);
    if (thread != 0) program_.nodes[static_cast<std::size_t>(thread)].type = Class::side_by_side;
  }

  void one(Node& node) {
    if (looped(program_, node) && !program_.decided(Gap::loop_threads)) {
      put_into_loop(program_, node);
      return;
    }
    const int a = node.number;
    bool with_creator = false, with_others = false;
    if (node.creates && program_.decided(Gap::nested)) {
      with_others = true;
      mark(a);
      node.reasons.push_back("creates threads itself");
    }
    for (const Node& other : program_.nodes) {
      const int i = other.number;
      if (i == a || !below(i, node.creator)) continue;
      const bool received = !program_.decided(Gap::parameter) && receives(a, i);
      const bool parameter = received || writes_for(program_, a, i, true), global = writes_for(program_, a, i, false);
      if (!parameter && !global) continue;
      (i == node.creator ? with_creator : with_others) = true;
      if (parameter || (global && program_.decided(Gap::globals))) mark(a);
      if (marked_.count(a) != 0) mark(i);
      make_child(program_, i, a);
      explain_sharing(program_, node, i);
    }
    explain_receipts(program_, node);
    settle(node, with_creator, with_others);
  }

  void settle(Node& node, bool with_creator, bool with_others) {
    const bool marked = marked_.count(node.number) != 0;
    if (marked && with_creator && !with_others && program_.decided(Gap::result)) {
      node.type = Class::postponed;
      node.parent = node.creator;
      node.reasons.push_back("depends on its creator alone");
    } else if (marked && program_.decided(Gap::last_branch)) {
      node.type = Class::side_by_side;
    } else if (node.creator == 0) {
      node.type = Class::autonomous;
      node.parent = 0;
      node.reasons.push_back(marked ? "a child of the main thread (this overrides side-by-side, as printed)"
                                    : "a child of the main thread");
    } else {
      node.type = Class::postponed;
      node.parent = node.creator;
      node.reasons.push_back("not a child of the main thread");
    }
  }

  Program& program_;
  std::set<int> marked_;  // side-by-side so far
};

}  // namespace

void classify_one_by_one(Program& program) { OneByOne(program).run(); }

}  // namespace hearth::btlp
