#include "btlp/analysis/memory.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include <llvm/IR/Constants.h>
#include <llvm/IR/DataLayout.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/GlobalAlias.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Operator.h>

namespace hearth::btlp {
namespace {

constexpr unsigned kMostInitial = 4096;  // elements of an initialiser that are looked at
constexpr std::size_t kMostCells = 100;  // of one object that the program fills itself
constexpr std::size_t kMostCopies = 16;  // of one memcpy(), place by place
constexpr std::int64_t kPointerBytes = 8;

}  // namespace

Memory::Memory(const llvm::DataLayout& layout) : layout_(layout) {
  Object unknown;
  unknown.name = "unknown memory";
  unknown.open = true;
  add(unknown);
  Object rest;
  rest.kind = Kind::rest;
  rest.name = "one of many objects";
  add(rest);
  rest.name = "what a library was given";
  add(rest);
  Rest::begin();
}

int Memory::add(Object object) {
  objects_.push_back(std::move(object));
  contents_.emplace_back();
  return static_cast<int>(objects_.size()) - 1;
}

int Memory::object(const llvm::Value* value, int thread) {
  const auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(value);
  const bool shared = llvm::isa<llvm::GlobalValue>(value) && !(variable != nullptr && variable->isThreadLocal());
  const auto key = std::make_pair(value, shared ? -1 : thread);
  const auto found = of_value_.find(key);
  if (found != of_value_.end()) return found->second;
  const int number = static_cast<int>(objects_.size());
  of_value_.emplace(key, number);
  Object object;
  object.value = value;
  object.thread = key.second;
  object.name = value->getName().str();
  object.kind = llvm::isa<llvm::AllocaInst>(value) ? Kind::stack : Kind::heap;
  if (llvm::isa<llvm::Function>(value)) object.kind = Kind::function;
  const llvm::GlobalVariable* global = variable;
  if (global != nullptr) {
    object.kind = Kind::global;
    object.constant = global->isConstant();
    object.open = !global->hasLocalLinkage();
  }
  add(object);
  if (global != nullptr && global->hasInitializer()) fill(number, global->getInitializer(), Pointer{.object = number});
  return number;
}

int Memory::handle_of(int node) {
  const auto found = of_node_.find(node);
  if (found != of_node_.end()) return found->second;
  Object object;
  object.kind = Kind::handle;
  object.node = node;
  return of_node_[node] = add(object);
}

int Memory::foreign(const std::string& name) {
  const auto found = of_name_.find(name);
  if (found != of_name_.end()) return found->second;
  Object object;
  object.kind = Kind::foreign;
  object.name = name;
  return of_name_[name] = add(object);
}

void Memory::fill(int object, const llvm::Constant* initial, Pointer where) {
  if (initial->isNullValue() || llvm::isa<llvm::UndefValue>(initial)) return;
  if (llvm::isa<llvm::ConstantAggregate>(initial)) {
    auto* type = llvm::dyn_cast<llvm::StructType>(initial->getType());
    for (unsigned n = 0; n < initial->getNumOperands(); ++n) {
      const auto* element = llvm::cast<llvm::Constant>(initial->getOperand(n));
      const std::uint64_t at = type != nullptr ? layout_.getStructLayout(type)->getElementOffset(n).getFixedValue()
                                               : n * layout_.getTypeAllocSize(element->getType()).getFixedValue();
      // Of a large table nobody asks what lies where.
      fill(object, element, n < kMostInitial ? where.moved(static_cast<std::int64_t>(at)) : where.anywhere());
    }
    return;
  }
  if (const auto* number = llvm::dyn_cast<llvm::ConstantExpr>(initial);
      number != nullptr && number->getOpcode() == llvm::Instruction::PtrToInt)
    return fill(object, number->getOperand(0), where);
  if (!initial->getType()->isPointerTy()) return;
  llvm::APInt bytes(layout_.getIndexTypeSizeInBits(initial->getType()), 0);
  const llvm::Value* base = initial->stripAndAccumulateConstantOffsets(layout_, bytes, true);
  if (const auto* alias = llvm::dyn_cast<llvm::GlobalAlias>(base)) base = alias->getAliasee()->stripPointerCasts();
  if (!llvm::isa<llvm::GlobalVariable>(base) && !llvm::isa<llvm::Function>(base)) return;
  Pointer what;
  what.object = this->object(base, -1);
  what.lo = what.hi = bytes.getSExtValue();
  Pointers one;
  one.insert(what);
  add_cell(where, one);
}

void Memory::add_cell(const Pointer& where, const Pointers& what) {
  Contents& contents = contents_[where.object];
  const auto [place, is_new] = contents.cell_of.emplace(where, contents.cells.size());
  if (is_new)
    contents.cells.push_back({where, what});
  else if (!contents.cells[place->second].what.insert(what))
    return;
  ++objects_[where.object].version;
  ++version_;
  grown_ = true;
}

void Memory::store(const Pointer& where, const Pointers& what) {
  if (what.empty() || objects_[where.object].kind == Kind::function) return;
  if (where.object == unknown() || Rest::stands(where.object)) return add_cell(where.anywhere(), what);
  const Contents& contents = contents_[where.object];
  const bool full = contents.cells.size() >= kMostCells && contents.cell_of.count(where) == 0;
  add_cell(full ? where.anywhere() : where, what);
}

Pointers Memory::look(const Pointer& where, std::int64_t bytes) const {
  Pointers result;
  for (const Cell& cell : contents_[where.object].cells) {
    if (!overlap(where, bytes, cell.where, kPointerBytes)) continue;
    // An element that iteration k of one loop filled and iteration k of another reads: what was a place of its
    // own for the
    // first is one for the second.
    const bool own = where.loop != nullptr && cell.where.loop != nullptr && where.fresh == cell.where.fresh &&
                     (where.fresh ? where.loop == cell.where.loop : where.stride == cell.where.stride);
    for (const Pointer& pointer : cell.what) {
      Pointer read = pointer;
      if (own && pointer.loop == cell.where.loop)
        read.loop = where.loop;
      else
        read = pointer.without_loop();
      result.insert(read);
    }
  }
  for (const int stand_in : Rest::kBoth)
    if (Rest::has(where.object, stand_in))
      for (const Cell& cell : contents_[stand_in].cells) result.insert(cell.what);
  return result;
}

Pointers Memory::load(const Pointer& where, std::int64_t bytes) const {
  if (where.object == unknown() || Rest::stands(where.object)) {
    Pointers result;
    result.insert(where.anywhere());
    return result;
  }
  const Contents& contents = contents_[where.object];
  if (contents.cells.empty() && !Rest::has(where.object)) return {};
  auto& answers = contents.loaded[where];
  auto answer = std::find_if(answers.begin(), answers.end(), [&](const auto& each) { return each.first == bytes; });
  if (answer == answers.end()) answer = answers.insert(answers.end(), {bytes, Answer()});
  Answer& known = answer->second;
  const std::uint64_t version = version_of(where.object);
  if (known.version != version) {
    known.pointers.insert(look(where, bytes));
    known.version = version;
  }
  return known.pointers;
}

void Memory::copy(const Pointers& to, const Pointers& from) {
  if (to.size() * from.size() <= kMostCopies) {
    for (const Pointer& source : from)
      for (const Pointer& target : to) copy(target, source);
    return;
  }
  Pointers all;
  for (const Pointer& source : from) all.insert(load(source.anywhere().without_loop(), kUnbounded / 2));
  for (const Pointer& target : to) store(target.anywhere(), all);
}

void Memory::copy(const Pointer& to, const Pointer& from) {
  // Contents only grow, so what has been copied is there: again only when the source has more.
  const std::uint64_t version = version_of(from.object) + 1;
  std::uint64_t& copied = copied_[from][to];
  if (copied == version) return;
  copied = version;
  if (Rest::stands(from.object) || Rest::has(from.object)) store(to.anywhere(), load(from.anywhere(), 1));
  const std::vector<Cell> cells = contents_[from.object].cells;  // `to` may be the same object
  for (const Cell& cell : cells) {
    Pointer where = to;
    if (from.exact() && cell.where.exact() && cell.where.lo >= from.lo)
      where = to.moved(cell.where.lo - from.lo);
    else if (!(from.stride != 0 && from.stride == cell.where.stride && cell.where.lo >= from.lo))
      where = to.anywhere();
    else
      where = to.moved((cell.where.lo - from.lo) % from.stride);
    // Cells that overlap are copied one by one: whoever reads the copy meets them all.
    Pointers what;
    for (const Pointer& pointer : cell.what)
      what.insert(cell.where.loop != nullptr && pointer.loop == cell.where.loop ? pointer : pointer.without_loop());
    store(where, what);
  }
}

const std::vector<int>& Memory::next(int object) const {
  const Contents& contents = contents_[object];
  if (contents.next_version == objects_[object].version) return contents.next;
  contents.next_version = objects_[object].version;
  contents.next.clear();
  marks_.resize(objects_.size(), 0);
  ++mark_;
  for (const Cell& cell : contents.cells)
    for (const Pointer& pointer : cell.what)
      if (std::exchange(marks_[pointer.object], mark_) != mark_) contents.next.push_back(pointer.object);
  return contents.next;
}

/// Calls function(object) for what this one points to, or one of its stand-ins.
template <class Function>
void Memory::for_each_next(int object, Function&& function) const {
  for (const int one : next(object)) function(one);
  for (const int stand_in : Rest::kBoth)
    if (Rest::has(object, stand_in))
      for (const int one : next(stand_in)) function(one);
}

Pointers Memory::reachable(const Pointers& from) const {
  Answer& known = reachable_[from.stamp()];
  const std::uint64_t version = version_ + 1 + rest_;
  if (known.version == version) return known.pointers;
  Pointers result;
  std::vector<int> todo;
  std::vector<bool> seen(objects_.size(), false);
  bool full = false;  // the result has the stand-in for the rest
  const auto visit = [&](const Pointer& pointer, bool first) {
    if (full && Rest::has(pointer.object, Rest::kRest)) return;  // and so is all behind it
    const bool again = seen[pointer.object];
    seen[pointer.object] = true;
    if (!again) todo.push_back(pointer.object);
    if ((first || !again) && result.insert(pointer)) full = full || result.has(Rest::pointer());
  };
  for (const Pointer& pointer : from) visit(pointer.anywhere(), true);
  while (!todo.empty()) {
    const int object = todo.back();
    todo.pop_back();
    for_each_next(object, [&](int one) { visit(Pointer{.object = one, .hi = kUnbounded}, false); });
  }
  known = {version, result};
  return result;
}

std::set<int> Memory::behind(const std::vector<int>& from) const {
  std::vector<bool> found(objects_.size(), false);
  std::vector<int> todo = from;
  const auto reach = [&](int next) {
    if (!found[next]) todo.push_back(next);
    found[next] = true;
  };
  while (!todo.empty()) {
    const int object = todo.back();
    todo.pop_back();
    for_each_next(object, reach);
    if (Rest::stands(object))
      for (const int other : Rest::objects(object)) reach(other);
  }
  std::set<int> all;
  for (std::size_t object = 0; object < found.size(); ++object)
    if (found[object]) all.insert(all.end(), static_cast<int>(object));
  return all;
}

std::uint64_t Memory::version_of(const Pointers& pointers) const {
  std::uint64_t sum = 0;
  for (const Pointer& pointer : pointers) sum += version_of(pointer.object);
  return sum;
}

std::uint64_t Memory::version_of(int object) const {
  std::uint64_t version = objects_[object].version;
  for (const int stand_in : Rest::kBoth)
    if (Rest::has(object, stand_in)) version += objects_[stand_in].version + 1;
  return version;
}

bool Memory::close_rest() {
  const auto all = [] { return Rest::objects(Rest::kRest).size() + Rest::objects(Rest::kKept).size(); };
  for (std::size_t before = 0; std::exchange(before, all()) != all();)
    for (const int stand_in : Rest::kBoth) {
      // Where one stand-in is among the other's objects, so are its own.
      bool has_other = false;
      const auto take = [&](int object) {
        if (Rest::stands(object) && object != stand_in && !std::exchange(has_other, true))
          for (const int one : Rest::objects(object)) Rest::add(one, stand_in);
        Rest::add(object, stand_in);
      };
      const std::vector<int>& rest = Rest::objects(stand_in);
      for (std::size_t n = 0; n < rest.size(); ++n)  // more come on the way
        for (const int one : next(rest[n])) take(one);
      if (!rest.empty())
        for (const int one : next(stand_in)) take(one);
    }
  return std::exchange(rest_, all()) != all();
}

bool Memory::grown() { return std::exchange(grown_, false); }

}  // namespace hearth::btlp
