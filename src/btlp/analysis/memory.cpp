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

constexpr std::size_t kMostPlaces = 12;    // in one object, before they become "anywhere"
constexpr std::size_t kMostPointers = 96;  // of one value
constexpr unsigned kMostInitial = 4096;    // elements of an initialiser that are looked at
constexpr std::size_t kMostCells = 100;    // of one object that the program fills itself
constexpr std::int64_t kPointerBytes = 8;

/// In which grid the places lie: 0 a single one, 1 anywhere, else every so many bytes.
std::int64_t grid(const Pointer& pointer) {
  if (pointer.stride != 0) return pointer.stride;
  return pointer.lo == pointer.hi ? 0 : 1;
}

Memory::Key key_of(const Pointer& pointer) {
  return {pointer.object, pointer.lo, pointer.hi, pointer.stride, pointer.loop, pointer.fresh};
}

}  // namespace

Pointer Pointer::moved(std::int64_t bytes) const {
  Pointer result = *this;
  result.lo += bytes;
  if (hi != kUnbounded) result.hi += bytes;
  // Without an end only the place in the grid matters, or steps through memory would make ever new pointers.
  if (hi == kUnbounded && loop == nullptr) result.lo = stride == 0 ? 0 : (result.lo % stride + stride) % stride;
  return result;
}

Pointer Pointer::anywhere() const {
  Pointer result;
  result.object = object;
  result.hi = kUnbounded;
  if (fresh) result.loop = loop;
  result.fresh = fresh;
  return result;
}

Pointer Pointer::without_loop() const {
  Pointer result = *this;
  result.loop = nullptr;
  result.fresh = false;
  if (loop != nullptr && !fresh && stride != 0 && result.hi == result.lo) result.hi = kUnbounded;
  return result;
}

bool overlap(const Pointer& a, std::int64_t bytes_of_a, const Pointer& b, std::int64_t bytes_of_b) {
  if (a.object != b.object) return false;
  if (a.hi != kUnbounded && b.lo >= a.hi + bytes_of_a && b.stride == 0 && a.stride == 0) return false;
  if (b.hi != kUnbounded && a.lo >= b.hi + bytes_of_b && b.stride == 0 && a.stride == 0) return false;
  if (a.hi != kUnbounded && b.hi != kUnbounded && (b.lo >= a.hi + bytes_of_a || a.lo >= b.hi + bytes_of_b))
    return false;
  const std::int64_t common = std::gcd(grid(a), grid(b));
  if (common <= 1) return true;
  const std::int64_t apart = ((b.lo - a.lo) % common + common) % common;
  return apart < bytes_of_a || common - apart < bytes_of_b;
}

bool same_iteration(const Pointer& a, const Pointer& b) {
  return a.loop != nullptr && a.loop == b.loop && a.fresh == b.fresh && (a.fresh || a.stride == b.stride);
}

bool Pointers::insert(const Pointer& pointer) {
  std::size_t in_object = 0;
  for (const Pointer& item : items_) {
    if (item == pointer) return false;
    if (item.object != pointer.object) continue;
    if (item == item.anywhere() && (item.fresh == pointer.fresh)) return false;
    ++in_object;
  }
  if (in_object >= kMostPlaces) {
    const Pointer wide = pointer.anywhere();
    std::erase_if(items_, [&](const Pointer& item) { return item.object == pointer.object; });
    items_.push_back(wide.without_loop());
    return true;
  }
  if (items_.size() >= kMostPointers) {
    Pointer unknown;
    unknown.hi = kUnbounded;
    if (std::find(items_.begin(), items_.end(), unknown) != items_.end()) return false;
    items_.push_back(unknown);
    return true;
  }
  items_.push_back(pointer);
  return true;
}

bool Pointers::insert(const Pointers& others) {
  bool added = false;
  for (const Pointer& other : others) added = insert(other) || added;
  return added;
}

Memory::Memory(const llvm::DataLayout& layout) : layout_(layout) {
  objects_.emplace_back();
  objects_.back().name = "unknown memory";
  objects_.back().open = true;
  cells_.emplace_back();
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
  objects_.push_back(object);
  cells_.emplace_back();
  if (global != nullptr && global->hasInitializer()) fill(number, global->getInitializer(), 0, 0);
  return number;
}

int Memory::handle_of(int node) {
  const auto found = of_node_.find(node);
  if (found != of_node_.end()) return found->second;
  Object object;
  object.kind = Kind::handle;
  object.node = node;
  objects_.push_back(object);
  cells_.emplace_back();
  return of_node_[node] = static_cast<int>(objects_.size()) - 1;
}

int Memory::foreign(const std::string& name) {
  const auto found = of_name_.find(name);
  if (found != of_name_.end()) return found->second;
  Object object;
  object.kind = Kind::foreign;
  object.name = name;
  objects_.push_back(object);
  cells_.emplace_back();
  return of_name_[name] = static_cast<int>(objects_.size()) - 1;
}

void Memory::fill(int object, const llvm::Constant* initial, std::int64_t offset, int depth) {
  if (depth > 6 || initial->isNullValue() || llvm::isa<llvm::UndefValue>(initial)) return;
  if (llvm::isa<llvm::ConstantAggregate>(initial)) {
    const unsigned count = std::min(initial->getNumOperands(), kMostInitial);
    for (unsigned n = 0; n < count; ++n) {
      std::int64_t at = offset;
      if (auto* type = llvm::dyn_cast<llvm::StructType>(initial->getType()))
        at += static_cast<std::int64_t>(layout_.getStructLayout(type)->getElementOffset(n).getFixedValue());
      else
        at += static_cast<std::int64_t>(n *
                                        layout_.getTypeAllocSize(initial->getOperand(n)->getType()).getFixedValue());
      fill(object, llvm::cast<llvm::Constant>(initial->getOperand(n)), at, depth + 1);
    }
    return;
  }
  if (const auto* number = llvm::dyn_cast<llvm::ConstantExpr>(initial);
      number != nullptr && number->getOpcode() == llvm::Instruction::PtrToInt)
    return fill(object, number->getOperand(0), offset, depth + 1);
  if (!initial->getType()->isPointerTy()) return;
  llvm::APInt bytes(layout_.getIndexTypeSizeInBits(initial->getType()), 0);
  const llvm::Value* base = initial->stripAndAccumulateConstantOffsets(layout_, bytes, true);
  if (const auto* alias = llvm::dyn_cast<llvm::GlobalAlias>(base)) base = alias->getAliasee()->stripPointerCasts();
  if (!llvm::isa<llvm::GlobalVariable>(base) && !llvm::isa<llvm::Function>(base)) return;
  Pointer what;
  what.object = this->object(base, -1);
  what.lo = what.hi = bytes.getSExtValue();
  Pointer where;
  where.object = object;
  where.lo = where.hi = offset;
  Pointers one;
  one.insert(what);
  cells_[object].push_back({where, one});
  grown_ = true;
}

void Memory::store(const Pointer& where, const Pointers& what) {
  if (what.empty() || where.object == unknown() || objects_[where.object].kind == Kind::function) return;
  for (Cell& cell : cells_[where.object]) {
    if (!(cell.where == where)) continue;
    if (cell.what.insert(what)) {
      ++objects_[where.object].version;
      grown_ = true;
    }
    return;
  }
  if (cells_[where.object].size() >= kMostCells && !(where == where.anywhere())) return store(where.anywhere(), what);
  cells_[where.object].push_back({where, what});
  ++objects_[where.object].version;
  grown_ = true;
}

Pointers Memory::load(const Pointer& where, std::int64_t bytes) const {
  Pointers result;
  if (where.object == unknown()) result.insert(where.anywhere());
  for (const Cell& cell : cells_[where.object]) {
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
  return result;
}

void Memory::copy(const Pointer& to, const Pointer& from) {
  // Contents only grow, so what has been copied is there: again only when the source has more.
  const std::uint64_t version = objects_[from.object].version + 1;
  std::uint64_t& copied = copied_[{key_of(to), key_of(from)}];
  if (copied == version) return;
  copied = version;
  const std::vector<Cell> cells = cells_[from.object];  // `to` may be the same object
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

Pointers Memory::reachable(const Pointers& from) const {
  Pointers result;
  std::vector<int> todo;
  std::vector<bool> seen(objects_.size(), false);
  const auto visit = [&](const Pointers& pointers, bool first) {
    for (const Pointer& pointer : pointers) {
      result.insert(first ? pointer.anywhere() : pointer.anywhere().without_loop());
      if (seen[pointer.object]) continue;
      seen[pointer.object] = true;
      todo.push_back(pointer.object);
    }
  };
  visit(from, true);
  while (!todo.empty()) {
    const int object = todo.back();
    todo.pop_back();
    for (const Cell& cell : cells_[object]) visit(cell.what, false);
  }
  return result;
}

bool Memory::grown() { return std::exchange(grown_, false); }

}  // namespace hearth::btlp
