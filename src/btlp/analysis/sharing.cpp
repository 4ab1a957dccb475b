#include "btlp/analysis/sharing.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/PostDominators.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Instructions.h>

#include "btlp/analysis/creators.h"
#include "btlp/analysis/groups.h"
#include "btlp/analysis/library.h"
#include "btlp/analysis/symbolic.h"

namespace hearth::btlp {
namespace {

// An estimate of how often, of all that a thread does, it touches what it shares: from here on sharing decides
// where it runs.
constexpr double kStrongShare = 1.0 / 64;
constexpr std::size_t kMostQuestions = 20000;  // about the places of two instances; without an answer they meet

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
  Sharing(Walk& walk, Program& program, Progress& progress) : walk_(walk), program_(program), progress_(progress) {}
  void run();

 private:
  struct Met {
    int object;
    const Group *one, *two;
    unsigned conflicts;
  };
  void group(int node);
  void pair(int a, int b);
  double meetings(int object, const std::vector<Group>& mine, const std::vector<Group>& theirs, int a, int b,
                  unsigned in_time, std::vector<Met>& found);
  void instances(int node);
  void results();
  void mark_open();
  void receipts();
  bool ignored(int object) const;
  bool handed_over(const Creation& creation, int object) const;
  unsigned counts(int older, int younger, const Group& theirs, const Group& ours) const;
  unsigned allowed(int a, int b, const Group& one, const Group& two) const;
  bool reaches(const llvm::Instruction* from, const llvm::Instruction* to, const llvm::BasicBlock* cut) const;
  bool may_follow(const Creation& creation, const Access& access, const Pointer& ours) const;
  bool surely_joins(const Creation& creation, std::size_t join, const Context* where) const;
  bool after_join(const Creation& creation, const Access& access) const;
  bool joined_before(int first, int second) const;
  bool creates(int above, int below) const;
  bool scattered(int above, int below) const;
  const Creation& step_from(int above, int below) const;
  void note(int from, int to, int object, const Access& writing, bool from_writes, double bytes, double shared);
  double work(int node) const;
  bool escapes(int object, int node);
  bool leaks(int object, int node);
  bool own(int node, const Access& access);
  bool by_execution(int a, int b, const Pointer& one, const Pointer& two);

  Walk& walk_;
  Program& program_;
  Progress& progress_;
  std::vector<std::map<int, std::vector<Group>>> groups_;  // by node and object
  mutable std::map<std::pair<const llvm::BasicBlock*, const llvm::BasicBlock*>, std::set<const llvm::BasicBlock*>>
      behind_;                            // the blocks that one leads to, but for those behind the other
  std::map<int, std::set<int>> escaped_;  // by node: its own objects that others reach
  std::map<std::tuple<int, int, int>, std::size_t> edge_of_;
};

double Sharing::work(int node) const {
  const Cost& cost = program_.nodes[node].cost;
  const double total = cost.flops + cost.integer_operations;
  return std::max(total + walk_.touches(node), 1.0);
}

bool Sharing::ignored(int object) const {
  const Object& it = walk_.memory()[object];
  if (it.kind == Kind::foreign || it.kind == Kind::unknown || it.constant) return true;
  if (it.kind != Kind::global) return false;
  const auto* global = llvm::cast<llvm::GlobalValue>(it.value);
  return global->isDeclaration() && (walk_.whole() || is_library_object(it.name));
}

/// Is a thread on the way from the one to the other created at several places? The walk has kept the first one alone.
bool Sharing::scattered(int above, int below) const {
  for (int node = below; node > above; node = program_.nodes[node].creator)
    if (program_.nodes[node].more_places > 0) return true;
  return false;
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
bool Sharing::may_follow(const Creation& creation, const Access& access, const Pointer& ours) const {
  if (access.several) return true;
  Context* where = nullptr;
  llvm::Instruction *touching = nullptr, *creating = nullptr;
  if (!common(access.context, access.instruction, creation.context, creation.call, where, touching, creating))
    return true;
  if (touching == creating) return where->in_loop;
  auto& loops = walk_.analyses().getResult<llvm::LoopAnalysis>(*where->function);
  // What belongs to one iteration is prepared, used and read in that iteration: the way back to the next does
  // not count.
  if (same_iteration(access.where, ours)) {
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
  if (access.several) return false;
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
  if (program_.nodes[first].more_places > 0 || scattered(0, second)) return false;
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

void Sharing::note(int from, int to, int object, const Access& writing, bool from_writes, double bytes,
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
  if (edge.line == 0) edge.line = walk_.line_of(*writing.instruction);
  (from_writes ? edge.forward : edge.backward) = true;
  edge.bytes = std::max(edge.bytes, bytes);
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
unsigned Sharing::counts(int older, int younger, const Group& theirs, const Group& ours) const {
  const Creation& creation = step_from(older, younger);
  if (creation.hands_over && handed_over(creation, ours.where.object)) return 0;
  if (scattered(older, younger)) return kAny;
  const Access& access = theirs.write == nullptr ? *theirs.read : *theirs.write;
  if (!may_follow(creation, access, ours.where)) return 0;
  return after_join(creation, access) ? kSecond : kAny;  // afterwards only results flow
}

/// Which conflicts can there be between these two, if they touch the same bytes?
unsigned Sharing::allowed(int a, int b, const Group& one, const Group& two) const {
  unsigned which = 0;
  if (one.write != nullptr && two.read != nullptr) which |= kFirst;
  if (one.read != nullptr && two.write != nullptr) which |= kSecond;
  if (one.write != nullptr && two.write != nullptr) which |= kBoth;
  if (which == 0 || !overlap(one.where, one.bytes, two.where, two.bytes)) return 0;
  return creates(a, b) ? which & counts(a, b, one, two) : which;
}

/// The accesses of a node, those that touch the same bytes in one.
void Sharing::group(int node) {
  for (const auto& [object, list] : walk_.accesses(node)) {
    std::unordered_map<Pointer, std::vector<std::size_t>, PointerHash> known;
    std::vector<Group>& groups = groups_[node][object];
    for (const Access& access : list) {
      std::vector<std::size_t>& same = known[access.where];
      auto place = std::find_if(same.begin(), same.end(), [&](std::size_t n) { return groups[n].bytes == access.bytes; });
      if (place == same.end()) {
        place = same.insert(same.end(), groups.size());
        groups.emplace_back();
      }
      groups[*place].add(access);
    }
  }
}

/// Adds what meets in this object; how much of either thread's work that is, the larger share.
double Sharing::meetings(int object, const std::vector<Group>& mine, const std::vector<Group>& theirs, int a, int b,
                         unsigned in_time, std::vector<Met>& found) {
  std::map<const Group*, unsigned> met_a, met_b;
  for (const Group& one : mine)
    for (const Group& two : theirs) {
      const unsigned conflicts = in_time & allowed(a, b, one, two);
      if (conflicts == 0 || by_execution(a, b, one.where, two.where)) continue;
      met_a[&one] |= conflicts;
      met_b[&two] |= conflicts;
      found.push_back({object, &one, &two, conflicts});
    }
  double of_a = 0, of_b = 0;
  for (const auto& [one, conflicts] : met_a)
    of_a += ((conflicts & (kFirst | kBoth)) != 0 ? one->writes : 0) + ((conflicts & kSecond) != 0 ? one->reads : 0);
  for (const auto& [two, conflicts] : met_b)
    of_b += ((conflicts & (kSecond | kBoth)) != 0 ? two->writes : 0) + ((conflicts & kFirst) != 0 ? two->reads : 0);
  return std::max(a == 0 ? 0 : of_a / work(a), of_b / work(b));
}

void Sharing::pair(int a, int b) {
  const bool related = creates(a, b), in_order = related && !scattered(a, b);
  const unsigned in_time = (related || !joined_before(a, b) ? kAny : kFirst) &
                           (related || !joined_before(b, a) ? kAny : kSecond);
  for (const auto& [object, mine] : groups_[a]) {
    const auto theirs = groups_[b].find(object);
    if (theirs == groups_[b].end() || ignored(object)) continue;
    // What comes before a creation and what after it is a matter of each access.
    std::vector<Group> singles;
    if (in_order)
      for (const Access& access : walk_.accesses(a).at(object)) singles.emplace_back().add(access);
    std::vector<Met> found;
    const double share = meetings(object, in_order ? singles : mine, theirs->second, a, b, in_time, found);
    for (const Met& each : found) {
      const double bytes = std::min<double>(static_cast<double>(std::min(each.one->bytes, each.two->bytes)), 4096) *
                           std::min(each.one->most, each.two->most);
      if ((each.conflicts & (kFirst | kBoth)) != 0) note(a, b, object, *each.one->write, true, bytes, share);
      if ((each.conflicts & (kSecond | kBoth)) != 0) note(a, b, object, *each.two->write, false, bytes, share);
    }
  }
}

/// Can others reach an object that this thread has made itself?
bool Sharing::escapes(int object, int node) {
  auto found = escaped_.find(node);
  if (found == escaped_.end()) {
    std::vector<int> outside;
    for (const auto& touched : groups_)
      for (const auto& [each, list] : touched)
        if (walk_.memory()[each].thread != node && walk_.memory()[each].kind != Kind::foreign) outside.push_back(each);
    found = escaped_.emplace(node, walk_.memory().behind(outside)).first;
  }
  return found->second.count(object) != 0;
}

/// Can others than this thread and the one that made the object find it in something that lasts?
bool Sharing::leaks(int object, int node) {
  const int maker = walk_.memory()[object].thread;
  for (std::size_t thread = 0; thread < groups_.size(); ++thread)
    for (const auto& [each, list] : groups_[thread]) {
      const Object& holder = walk_.memory()[each];
      if (each == object || holder.kind == Kind::foreign || holder.thread == maker || holder.thread == node) continue;
      for (const Pointer& inside : walk_.memory().load(Pointer{.object = each, .hi = kUnbounded}, kUnbounded / 2))
        if (Memory::may_be(inside, object)) return true;
    }
  return false;
}

/// Two routines that one call creates: what it hands over, or makes anew each time, each of them has for itself.
bool Sharing::by_execution(int a, int b, const Pointer& one, const Pointer& two) {
  if (a == 0) return false;
  const Creation &first = walk_.creations()[a], &second = walk_.creations()[b];
  if (first.call != second.call || first.context != second.context || scattered(0, a) || scattered(0, b)) return false;
  const int object = one.object;
  if (first.hands_over && handed_over(first, object) && handed_over(second, object)) return !leaks(object, a);
  return first.loop != nullptr && one.loop == first.loop && two.loop == first.loop && one.fresh && two.fresh;
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
  std::size_t questions = 0;
  for (const auto& [object, list] : walk_.accesses(node)) {
    if (ignored(object)) continue;
    std::vector<const Access*> common;
    bool written = false;
    for (const Access& access : list)
      if (!own(node, access)) {
        common.push_back(&access);
        written = written || access.write;
      }
    if (!written) continue;
    std::set<const Access*> met;
    std::vector<std::pair<const Access*, const Access*>> found;
    for (std::size_t i = 0; i < common.size(); ++i)
      for (std::size_t j = i; j < common.size(); ++j) {
        const Access &one = *common[i], &two = *common[j];
        if (!one.write && !two.write) continue;
        if (!overlap(one.where.without_loop(), one.bytes, two.where.without_loop(), two.bytes)) continue;
        if (questions < kMostQuestions && ++questions != 0 && symbolic.disjoint(one, two)) continue;
        met.insert(&one);
        met.insert(&two);
        found.emplace_back(&one, &two);
      }
    double shared = 0;
    for (const Access* access : met) shared += access->frequency;
    shared /= work(node);
    for (const auto& [one, two] : found) {
      const double bytes = std::min<double>(static_cast<double>(std::min(one->bytes, two->bytes)), 4096) *
                           std::min(one->frequency, two->frequency);
      note(node, node, object, one->write ? *one : *two, one->write, bytes, shared);
    }
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
    std::vector<int> given;
    for (const Pointer& pointer : creation.root->arguments[0]) given.push_back(pointer.object);
    std::set<int> reached = walk_.memory().behind(given);
    reached.insert(given.begin(), given.end());
    for (std::size_t writer = 1; writer < program_.nodes.size(); ++writer)
      for (const auto& [object, list] : groups_[writer])
        if (writer != receiver && reached.count(object) != 0 && !ignored(object) &&
            std::any_of(list.begin(), list.end(), [](const Group& group) { return group.write != nullptr; }))
          program_.receipts.push_back({static_cast<int>(writer), static_cast<int>(receiver), walk_.name_of(object)});
  }
}

/// Threads whose data other files, which were not seen, may touch as well.
void Sharing::mark_open() {
  if (walk_.whole()) return;
  const std::set<int> open = walk_.open_objects();
  for (std::size_t node = 1; node < program_.nodes.size(); ++node) {
    for (const auto& [object, list] : groups_[node])
      if (open.count(object) != 0 && !ignored(object)) program_.nodes[node].open = true;
    for (Context* at = walk_.creations()[node].context; at != nullptr; at = at->parent)
      if (at->parent == nullptr && at->thread == 0 && at->function->getName() != "main")
        program_.nodes[node].loop_open = program_.nodes[node].open = true;
  }
}

void Sharing::run() {
  const int count = static_cast<int>(program_.nodes.size());
  groups_.resize(count);
  for (int node = 0; node < count; ++node) group(node);
  std::uint64_t pairs = 0;
  for (int a = 0; a < count; ++a)
    for (int b = a + 1; b < count; ++b) {
      progress_.update("comparing what its threads touch, pair", ++pairs);
      pair(a, b);
    }
  for (int node = 1; node < count; ++node)
    if (program_.nodes[node].many) instances(node);
  results();
  mark_open();
  if (!program_.decided(Gap::parameter)) receipts();
}

}  // namespace

void find_sharing(Walk& walk, Program& program, Progress& progress) { Sharing(walk, program, progress).run(); }

}  // namespace hearth::btlp
