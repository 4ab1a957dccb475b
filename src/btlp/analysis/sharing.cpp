#include "btlp/analysis/sharing.h"

#include <algorithm>
#include <map>
#include <set>

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/PostDominators.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Instructions.h>

#include "btlp/analysis/creators.h"
#include "btlp/analysis/library.h"
#include "btlp/analysis/symbolic.h"

namespace hearth::btlp {
namespace {

// An estimate of how often, of all that a thread does, it touches what it shares: from here on sharing decides
// where it runs.
constexpr double kStrongShare = 1.0 / 64;
constexpr std::size_t kMostPerObject = 400;

struct Place {
  llvm::Instruction* instruction = nullptr;
  Context* context = nullptr;
};

/// The instructions of one context that lead to the two places: their calls, or themselves. False: no common context.
bool common(Context* a, llvm::Instruction* at, Context* b, llvm::Instruction* bt, Context*& where,
            llvm::Instruction*& first, llvm::Instruction*& second) {
  std::map<Context*, llvm::Instruction*> way;
  for (llvm::Instruction* step = at; a != nullptr; step = a->call, a = a->parent) way[a] = step;
  for (llvm::Instruction* step = bt; b != nullptr; step = b->call, b = b->parent) {
    const auto found = way.find(b);
    if (found == way.end()) continue;
    where = b;
    first = found->second;
    second = step;
    return true;
  }
  return false;
}

class Sharing {
 public:
  Sharing(Walk& walk, Program& program) : walk_(walk), program_(program) {}
  void run();

 private:
  using ByObject = std::map<int, std::vector<const Access*>>;
  void pair(int a, int b);
  void instances(int node);
  void results();
  void mark_open();
  void receipts();
  bool ignored(int object) const;
  bool handed_over(const Creation& creation, int object) const;
  bool counts(int older, int younger, const Access& theirs, const Access& ours) const;
  bool reaches(const llvm::Instruction* from, const llvm::Instruction* to, const llvm::BasicBlock* cut) const;
  bool may_follow(const Creation& creation, const Access& access, const Access& ours) const;
  bool surely_joins(const Creation& creation, std::size_t join, const Context* where) const;
  bool after_join(const Creation& creation, const Access& access) const;
  bool joined_before(int first, int second) const;
  bool creates(int above, int below) const;
  const Creation& step_from(int above, int below) const;
  void note(int from, int to, int object, const Access& writing, bool from_writes, const Access& other, double shared);
  double work(int node) const;
  bool escapes(int object, int node);
  bool leaks(int object, int node);
  bool own(int node, const Access& access);
  bool by_execution(int a, int b, const Access& one, const Access& two);

  Walk& walk_;
  Program& program_;
  std::vector<ByObject> accesses_;
  mutable std::map<std::pair<const llvm::BasicBlock*, const llvm::BasicBlock*>, std::set<const llvm::BasicBlock*>>
      behind_;                            // the blocks that one leads to, but for those behind the other
  std::map<int, std::set<int>> escaped_;  // by node: its own objects that others reach
  std::map<std::tuple<int, int, int>, std::size_t> edge_of_;
};

double Sharing::work(int node) const {
  const Cost& cost = program_.nodes[node].cost;
  double total = cost.flops + cost.integer_operations;
  for (const Access& access : walk_.accesses(node)) total += access.frequency;
  return std::max(total, 1.0);
}

bool Sharing::ignored(int object) const {
  const Object& it = walk_.memory()[object];
  if (it.kind == Kind::foreign || it.kind == Kind::unknown || it.constant) return true;
  if (it.kind != Kind::global) return false;
  const auto* global = llvm::cast<llvm::GlobalValue>(it.value);
  return global->isDeclaration() && (walk_.whole() || is_library_object(it.name));
}

bool Sharing::creates(int above, int below) const {
  for (int node = program_.nodes[below].creator; node >= 0; node = program_.nodes[node].creator)
    if (node == above) return true;
  return false;
}

/// The creation by `above` that leads to `below`.
const Creation& Sharing::step_from(int above, int below) const {
  int node = below;
  while (program_.nodes[node].creator != above) node = program_.nodes[node].creator;
  return walk_.creations()[node];
}

/// Is there a way from the one to the other that does not pass `cut`? LLVM's own search gives up after 32 blocks.
bool Sharing::reaches(const llvm::Instruction* from, const llvm::Instruction* to, const llvm::BasicBlock* cut) const {
  if (from->getParent() == to->getParent() && from->comesBefore(to)) return true;
  const auto [place, is_new] = behind_.try_emplace({from->getParent(), cut});
  std::set<const llvm::BasicBlock*>& behind = place->second;
  if (is_new) {
    std::vector<const llvm::BasicBlock*> todo{from->getParent()};
    while (!todo.empty()) {
      const llvm::BasicBlock* block = todo.back();
      todo.pop_back();
      for (const llvm::BasicBlock* next : llvm::successors(block))
        if (next != cut && behind.insert(next).second) todo.push_back(next);
    }
  }
  return behind.count(to->getParent()) != 0;
}

/// Can this access of the creating thread come after the creation?
bool Sharing::may_follow(const Creation& creation, const Access& access, const Access& ours) const {
  Context* where = nullptr;
  llvm::Instruction *touching = nullptr, *creating = nullptr;
  if (!common(access.context, access.instruction, creation.context, creation.call, where, touching, creating))
    return true;
  if (touching == creating) return where->in_loop;
  auto& loops = walk_.analyses().getResult<llvm::LoopAnalysis>(*where->function);
  // What belongs to one iteration is prepared, used and read in that iteration: the way back to the next does
  // not count.
  if (same_iteration(access.where, ours.where)) {
    for (const llvm::Loop* loop = loops.getLoopFor(creating->getParent()); loop != nullptr;
         loop = loop->getParentLoop()) {
      if (loop->getHeader() != access.where.loop || !loop->contains(touching)) continue;
      if (touching->getParent() == creating->getParent()) return creating->comesBefore(touching);
      if (creating->getParent() == loop->getHeader()) return touching->getParent() != loop->getHeader();
      return reaches(creating, touching, loop->getHeader());
    }
  }
  return reaches(creating, touching, nullptr);
}

/// Does a call in `where` that leads to this join wait for the thread in any case? std::jthread's destructor joins if there
/// is a thread, and a handle that was moved away leaves one behind that waits for nobody.
bool Sharing::surely_joins(const Creation& creation, std::size_t join, const Context* where) const {
  const llvm::Instruction* step = creation.joins[join];
  for (const Context* at = creation.join_contexts[join]; at != where; step = at->call, at = at->parent) {
    const auto& after = walk_.analyses().getResult<llvm::PostDominatorTreeAnalysis>(*at->function);
    const auto& loops = walk_.analyses().getResult<llvm::LoopAnalysis>(*at->function);
    const llvm::BasicBlock* block = step->getParent();
    // A loop that joins every thread is entered, however many there are.
    if (const llvm::Loop* loop = loops.getLoopFor(block)) block = loop->getOutermostLoop()->getHeader();
    if (!after.dominates(block, &at->function->getEntryBlock())) return false;
  }
  return true;
}

bool Sharing::after_join(const Creation& creation, const Access& access) const {
  for (std::size_t n = 0; n < creation.joins.size(); ++n) {
    Context* where = nullptr;
    llvm::Instruction *touching = nullptr, *joining = nullptr;
    if (!common(access.context, access.instruction, creation.join_contexts[n], creation.joins[n], where, touching,
                joining))
      continue;
    if (touching == joining || !surely_joins(creation, n, where)) continue;
    auto& dominators = walk_.analyses().getResult<llvm::DominatorTreeAnalysis>(*where->function);
    auto& loops = walk_.analyses().getResult<llvm::LoopAnalysis>(*where->function);
    const llvm::Loop* loop = loops.getLoopFor(joining->getParent());
    // A loop that joins every thread: what comes behind it comes after the joins.
    while (loop != nullptr && loop->getParentLoop() != nullptr && !loop->getParentLoop()->contains(touching))
      loop = loop->getParentLoop();
    if (loop != nullptr && !loop->contains(touching)) {
      if (dominators.dominates(loop->getHeader(), touching->getParent())) return true;
    } else if (dominators.dominates(joining, touching)) {
      return true;
    }
  }
  return false;
}

/// Has `first` been joined before `second` is created?
bool Sharing::joined_before(int first, int second) const {
  int node = second;
  while (node > 0 && program_.nodes[node].creator != program_.nodes[first].creator) node = program_.nodes[node].creator;
  if (node <= 0) return false;
  const Creation &earlier = walk_.creations()[first], &later = walk_.creations()[node];
  if (earlier.call->getFunction() == later.call->getFunction()) {
    const auto& loops = walk_.analyses().getResult<llvm::LoopAnalysis>(*later.call->getFunction());
    const llvm::Loop* loop = loops.getLoopFor(later.call->getParent());
    for (; loop != nullptr; loop = loop->getParentLoop())
      if (loop->contains(earlier.call)) return false;  // the next round creates the first one again
  }
  Access creating;
  creating.instruction = later.call;
  creating.context = later.context;
  return after_join(earlier, creating);
}

void Sharing::note(int from, int to, int object, const Access& one, bool from_writes, const Access& other,
                   double shared) {
  const auto key = std::make_tuple(from, to, object);
  auto found = edge_of_.find(key);
  if (found == edge_of_.end()) {
    Edge edge;
    edge.from = from;
    edge.to = to;
    edge.object = walk_.name_of(object);
    edge.parameter = walk_.memory()[object].kind != Kind::global;
    found = edge_of_.emplace(key, program_.edges.size()).first;
    program_.edges.push_back(edge);
  }
  Edge& edge = program_.edges[found->second];
  const Access& writing = from_writes ? one : other;
  if (edge.line == 0) edge.line = walk_.line_of(*writing.instruction);
  (from_writes ? edge.forward : edge.backward) = true;
  const double bytes = std::min<double>(static_cast<double>(std::min(one.bytes, other.bytes)), 4096);
  edge.bytes = std::max(edge.bytes, bytes * std::min(one.frequency, other.frequency));
  edge.strong = edge.strong || shared >= kStrongShare;
}

/// The object in which std::thread carries the callable and its arguments, and for libc++ what that object owns.
bool Sharing::handed_over(const Creation& creation, int object) const {
  if (creation.root == nullptr || creation.root->arguments.empty()) return false;
  for (const Pointer& pointer : creation.root->arguments[0]) {
    if (pointer.object == object) return true;
    if (creation.creator->shape == Shape::state) continue;
    for (const Pointer& owned : walk_.memory().load(pointer, 1))
      if (owned.object == object) return true;
  }
  return false;
}

/// `older` is the younger one's creator, or its creator's: does their access matter to the younger one?
bool Sharing::counts(int older, int younger, const Access& theirs, const Access& ours) const {
  const Creation& creation = step_from(older, younger);
  if (creation.hands_over && handed_over(creation, ours.where.object)) return false;
  if (!may_follow(creation, theirs, ours)) return false;
  if (!after_join(creation, theirs)) return true;
  return ours.write && !theirs.write;  // afterwards only results flow
}

void Sharing::pair(int a, int b) {
  const bool ancestor = creates(a, b);
  const bool first_over = !ancestor && joined_before(a, b);
  const bool second_over = !ancestor && joined_before(b, a);
  std::map<int, std::pair<double, double>> shared;
  struct Found {
    int object;
    const Access* one;
    const Access* two;
  };
  std::vector<Found> found;
  for (const auto& [object, mine] : accesses_[a]) {
    const auto theirs = accesses_[b].find(object);
    if (theirs == accesses_[b].end() || ignored(object)) continue;
    std::set<const Access*> met_a, met_b;
    for (const Access* one : mine)
      for (const Access* two : theirs->second) {
        if (!one->write && !two->write) continue;
        if (!overlap(one->where, one->bytes, two->where, two->bytes)) continue;
        if (by_execution(a, b, *one, *two)) continue;
        if (ancestor && !counts(a, b, *one, *two)) continue;
        if (first_over && !(one->write && !two->write)) continue;
        if (second_over && !(two->write && !one->write)) continue;
        met_a.insert(one);
        met_b.insert(two);
        found.push_back({object, one, two});
      }
    for (const Access* one : met_a) shared[object].first += one->frequency;
    for (const Access* two : met_b) shared[object].second += two->frequency;
  }
  const double work_a = work(a), work_b = work(b);
  for (const Found& each : found) {
    const auto& [of_a, of_b] = shared[each.object];
    const double share = std::max(a == 0 ? 0 : of_a / work_a, of_b / work_b);
    if (each.one->write) note(a, b, each.object, *each.one, true, *each.two, share);
    if (each.two->write) note(a, b, each.object, *each.one, false, *each.two, share);
  }
}

/// Can others reach an object that this thread has made itself?
bool Sharing::escapes(int object, int node) {
  auto found = escaped_.find(node);
  if (found == escaped_.end()) {
    Pointers outside;
    for (const ByObject& touched : accesses_)
      for (const auto& [each, list] : touched)
        if (walk_.memory()[each].thread != node && walk_.memory()[each].kind != Kind::foreign)
          outside.insert(Pointer{.object = each, .hi = kUnbounded});
    found = escaped_.emplace(node, std::set<int>()).first;
    for (const Pointer& pointer : outside)
      for (const Pointer& inside : walk_.memory().load(pointer, kUnbounded / 2)) {
        Pointers one;
        one.insert(inside);
        for (const Pointer& reached : walk_.memory().reachable(one)) found->second.insert(reached.object);
      }
  }
  return found->second.count(object) != 0;
}

/// Can others than this thread and the one that made the object find it in something that lasts?
bool Sharing::leaks(int object, int node) {
  const int maker = walk_.memory()[object].thread;
  for (std::size_t thread = 0; thread < accesses_.size(); ++thread)
    for (const auto& [each, list] : accesses_[thread]) {
      const Object& holder = walk_.memory()[each];
      if (each == object || holder.kind == Kind::foreign || holder.thread == maker || holder.thread == node) continue;
      for (const Pointer& inside : walk_.memory().load(Pointer{.object = each, .hi = kUnbounded}, kUnbounded / 2))
        if (inside.object == object) return true;
    }
  return false;
}

/// Two routines that one call creates: what it hands over, or makes anew each time, each of them has for itself.
bool Sharing::by_execution(int a, int b, const Access& one, const Access& two) {
  if (a == 0) return false;
  const Creation &first = walk_.creations()[a], &second = walk_.creations()[b];
  if (first.call != second.call || first.context != second.context) return false;
  const int object = one.where.object;
  if (first.hands_over && handed_over(first, object) && handed_over(second, object)) return !leaks(object, a);
  return first.loop != nullptr && one.where.loop == first.loop && two.where.loop == first.loop && one.where.fresh &&
         two.where.fresh;
}

/// Does every instance have these bytes for itself?
bool Sharing::own(int node, const Access& access) {
  const Object& object = walk_.memory()[access.where.object];
  const Creation& creation = walk_.creations()[node];
  if (object.thread == node && !escapes(access.where.object, node)) return true;
  if (creation.hands_over && handed_over(creation, access.where.object) && !leaks(access.where.object, node))
    return true;
  if (object.thread == node) return false;
  if (creation.loop != nullptr && access.where.loop == creation.loop)
    return access.where.fresh || access.bytes <= access.where.stride;
  const int creator = program_.nodes[node].creator;
  return !program_.nodes[node].in_loop && object.thread == creator && !escapes(access.where.object, creator);
}

void Sharing::instances(int node) {
  Symbolic symbolic(walk_, node);
  for (const auto& [object, list] : accesses_[node]) {
    if (ignored(object)) continue;
    std::vector<const Access*> common;
    bool written = false;
    for (const Access* access : list)
      if (!own(node, *access)) {
        common.push_back(access);
        written = written || access->write;
      }
    if (!written) continue;
    std::set<const Access*> met;
    std::vector<std::pair<const Access*, const Access*>> found;
    std::map<std::pair<llvm::Instruction*, llvm::Instruction*>, bool> known;
    for (std::size_t i = 0; i < common.size(); ++i)
      for (std::size_t j = i; j < common.size(); ++j) {
        const Access &one = *common[i], &two = *common[j];
        if (!one.write && !two.write) continue;
        if (!overlap(one.where.without_loop(), one.bytes, two.where.without_loop(), two.bytes)) continue;
        const auto key = std::make_pair(one.instruction, two.instruction);
        auto answer = known.find(key);
        if (answer == known.end()) answer = known.emplace(key, symbolic.disjoint(one, two)).first;
        if (answer->second) continue;
        met.insert(&one);
        met.insert(&two);
        found.emplace_back(&one, &two);
      }
    double shared = 0;
    for (const Access* access : met) shared += access->frequency;
    shared /= work(node);
    for (const auto& [one, two] : found) note(node, node, object, *one, one->write, *two, shared);
  }
}

void Sharing::results() {
  for (std::size_t node = 1; node < program_.nodes.size(); ++node) {
    const Creation& creation = walk_.creations()[node];
    if (!creation.result_read || creation.root == nullptr || !creation.root->returns_number) continue;
    Edge edge;
    edge.from = creation.join_contexts.front()->thread;
    edge.to = static_cast<int>(node);
    edge.object = "return value";
    edge.backward = edge.parameter = true;
    edge.bytes = 8;
    program_.edges.push_back(edge);
  }
}

/// What one thread writes and another one can reach from its argument, read or not.
void Sharing::receipts() {
  for (std::size_t receiver = 1; receiver < program_.nodes.size(); ++receiver) {
    const Creation& creation = walk_.creations()[receiver];
    if (creation.root == nullptr || creation.root->arguments.empty()) continue;
    std::set<int> reached;
    for (const Pointer& pointer : walk_.memory().reachable(creation.root->arguments[0])) reached.insert(pointer.object);
    for (std::size_t writer = 1; writer < program_.nodes.size(); ++writer)
      for (const auto& [object, list] : accesses_[writer])
        if (writer != receiver && reached.count(object) != 0 && !ignored(object) &&
            std::any_of(list.begin(), list.end(), [](const Access* access) { return access->write; }))
          program_.receipts.push_back({static_cast<int>(writer), static_cast<int>(receiver), walk_.name_of(object)});
  }
}

/// Threads whose data other files, which were not seen, may touch as well.
void Sharing::mark_open() {
  for (std::size_t node = 1; node < program_.nodes.size(); ++node) {
    for (const auto& [object, list] : accesses_[node]) {
      const Object& it = walk_.memory()[object];
      const bool writable = it.kind == Kind::global && !it.constant && it.open && !is_library_object(it.name);
      if (!walk_.whole() && writable) program_.nodes[node].open = true;
    }
    if (walk_.whole()) continue;
    for (Context* at = walk_.creations()[node].context; at != nullptr; at = at->parent)
      if (at->parent == nullptr && at->thread == 0 && at->function->getName() != "main")
        program_.nodes[node].loop_open = program_.nodes[node].open = true;
  }
}

void Sharing::run() {
  const int count = static_cast<int>(program_.nodes.size());
  accesses_.resize(count);
  for (int node = 0; node < count; ++node) {
    std::map<std::tuple<int, std::int64_t, std::int64_t, std::int64_t, const void*, bool, const void*, const void*>,
             bool>
        seen;
    for (const Access& access : walk_.accesses(node)) {
      auto& list = accesses_[node][access.where.object];
      const auto key = std::make_tuple(access.where.object, access.where.lo, access.where.hi, access.bytes,
                                       static_cast<const void*>(access.where.loop), access.write,
                                       static_cast<const void*>(access.instruction),
                                       static_cast<const void*>(access.context));
      if (list.size() < kMostPerObject && seen.emplace(key, true).second) list.push_back(&access);
    }
  }
  for (int a = 0; a < count; ++a)
    for (int b = a + 1; b < count; ++b) pair(a, b);
  for (int node = 1; node < count; ++node)
    if (program_.nodes[node].many) instances(node);
  results();
  mark_open();
  if (!program_.decided(Gap::parameter)) receipts();
}

}  // namespace

void find_sharing(Walk& walk, Program& program) { Sharing(walk, program).run(); }

}  // namespace hearth::btlp
