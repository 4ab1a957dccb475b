#include "btlp/analysis/symbolic.h"

#include <algorithm>

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Operator.h>
#include <llvm/Support/Casting.h>

namespace hearth::btlp {
namespace {

constexpr int kDeepest = 40;
constexpr std::size_t kMostTerms = 24;
constexpr unsigned kPicks = 4;
constexpr std::int64_t kHuge = std::int64_t{1} << 40;
constexpr const char* kInstance = "k";

std::string product(const std::string& a, const std::string& b) {
  std::vector<std::string> factors;
  for (const std::string* side : {&a, &b})
    for (std::size_t from = 0; from < side->size();) {
      const std::size_t to = std::min(side->find('*', from), side->size());
      factors.push_back(side->substr(from, to - from));
      from = to + 1;
    }
  std::sort(factors.begin(), factors.end());
  std::string text;
  for (const std::string& factor : factors) text += (text.empty() ? "" : "*") + factor;
  return text;
}

Polynomial number(std::int64_t value) {
  Polynomial result;
  if (value != 0) result.terms[""] = value;
  return result;
}

Polynomial symbol(const std::string& name) {
  Polynomial result;
  result.terms[name] = 1;
  return result;
}

std::string name_of_value(const llvm::Value* value) {
  char text[32];
  std::snprintf(text, sizeof(text), "v%p", static_cast<const void*>(value));
  return text;
}

}  // namespace

bool Polynomial::constant(std::int64_t& value) const {
  value = 0;
  for (const auto& [factors, count] : terms) {
    if (!factors.empty()) return false;
    value = count;
  }
  return true;
}

std::string Polynomial::text() const {
  std::string result;
  for (const auto& [factors, count] : terms) result += "+" + std::to_string(count) + "." + factors;
  std::replace(result.begin(), result.end(), '*', '^');  // one factor, when it becomes a name itself
  return result;
}

Polynomial Polynomial::plus(const Polynomial& other, std::int64_t factor) const {
  Polynomial result = *this;
  for (const auto& [factors, count] : other.terms) {
    const std::int64_t sum = result.terms[factors] + factor * count;
    if (sum == 0)
      result.terms.erase(factors);
    else
      result.terms[factors] = sum;
  }
  return result;
}

std::optional<Polynomial> Polynomial::times(const Polynomial& other) const {
  if (terms.size() * other.terms.size() > kMostTerms) return std::nullopt;
  Polynomial result;
  for (const auto& [mine, count] : terms)
    for (const auto& [theirs, number] : other.terms) {
      Polynomial one;
      if (std::abs(count) > kHuge || std::abs(number) > kHuge) return std::nullopt;
      one.terms[product(mine, theirs)] = count * number;
      result = result.plus(one);
    }
  return result;
}

Symbolic::Symbolic(Walk& walk, int node) : walk_(walk), creation_(walk.creations()[node]), node_(node) {}

llvm::ScalarEvolution& Symbolic::evolution(Context* context) {
  return walk_.analyses().getResult<llvm::ScalarEvolutionAnalysis>(*context->function);
}

bool Symbolic::disjoint(const Access& a, const Access& b) {
  if (creation_.loop == nullptr || creation_.root == nullptr || a.several || b.several) return false;
  for (pick_ = 0; pick_ < kPicks; ++pick_)
    if ((ordered(a, b) && ordered(b, a)) || interleaved(a, b)) return true;
  return false;
}

Symbolic::Maybe Symbolic::address(const Access& access, bool upper, int instance) {
  const auto key = std::make_tuple(&access, upper, instance, pick_);
  const auto known = addresses_.find(key);
  if (known != addresses_.end()) return known->second;
  return addresses_.emplace(key, new_address(access, upper, instance)).first->second;
}

Symbolic::Maybe Symbolic::new_address(const Access& access, bool upper, int instance) {
  llvm::Value* pointer = llvm::getLoadStorePointerOperand(access.instruction);
  if (auto* update = llvm::dyn_cast<llvm::AtomicRMWInst>(access.instruction)) pointer = update->getPointerOperand();
  std::int64_t length = 0;
  if (auto* set = llvm::dyn_cast<llvm::MemIntrinsic>(access.instruction); set != nullptr && access.write) {
    pointer = set->getDest();
    if (!llvm::isa<llvm::ConstantInt>(set->getLength())) return std::nullopt;
    length = 0;
  }
  if (pointer == nullptr) return std::nullopt;
  iterations_ = {creation_.loop};
  instance_ = instance;
  depth_ = 0;
  block_ = access.instruction->getParent();
  Maybe result = of(evolution(access.context).getSCEV(pointer), access.context, upper);
  if (result && upper) result = result->plus(number(access.bytes + length));
  return result;
}

bool Symbolic::ordered(const Access& a, const Access& b) {
  const Maybe end = address(a, true, 0), begin = address(b, false, 1);
  if (!end || !begin) return false;
  std::int64_t gap = 0;
  return begin->plus(*end, -1).constant(gap) && gap >= 0;
}

/// Instance k touches k, k + n, k + 2n, …, where n is how many instances there are.
bool Symbolic::interleaved(const Access& a, const Access& b) {
  llvm::Value* pointer = llvm::getLoadStorePointerOperand(a.instruction);
  llvm::Value* other = llvm::getLoadStorePointerOperand(b.instruction);
  if (pointer == nullptr || other == nullptr || a.bytes != b.bytes) return false;
  const auto* steps = llvm::dyn_cast<llvm::SCEVAddRecExpr>(evolution(a.context).getSCEV(pointer));
  const auto* steps_of_other = llvm::dyn_cast<llvm::SCEVAddRecExpr>(evolution(b.context).getSCEV(other));
  if (steps == nullptr || steps_of_other == nullptr || !steps->isAffine() || !steps_of_other->isAffine()) return false;
  const Maybe now = address(a, false, 0), next = address(a, false, 1), other_now = address(b, false, 0);
  if (!now || !next || !other_now || now->text() != other_now->text()) return false;
  std::int64_t apart = 0;
  if (!next->plus(*now, -1).constant(apart) || apart < a.bytes) return false;
  iterations_ = {creation_.loop};
  instance_ = depth_ = 0;
  const Maybe step = of(steps->getStepRecurrence(evolution(a.context)), a.context, false);
  const Maybe other_step = of(steps_of_other->getStepRecurrence(evolution(b.context)), b.context, false);
  if (!step || !other_step || step->text() != other_step->text()) return false;
  Context* creator = creation_.context;
  const auto& loops = walk_.analyses().getResult<llvm::LoopAnalysis>(*creator->function);
  const llvm::Loop* loop = loops.getLoopFor(creation_.call->getParent());
  while (loop != nullptr && loop->getHeader() != creation_.loop) loop = loop->getParentLoop();
  if (loop == nullptr) return false;
  const llvm::SCEV* taken = evolution(creator).getBackedgeTakenCount(loop);
  if (llvm::isa<llvm::SCEVCouldNotCompute>(taken)) return false;
  start_ = Polynomial();
  const Maybe count = of(taken, creator, true);
  if (!count) return false;
  const Maybe whole = count->times(number(apart));
  std::int64_t spare = 0;
  return whole && step->plus(*whole, -1).constant(spare) && spare >= 0;
}

Symbolic::Maybe Symbolic::of_most(const llvm::SCEV* choice, Context* context, bool upper, bool most) {
  const auto* operands = llvm::cast<llvm::SCEVNAryExpr>(choice);
  std::vector<Polynomial> arms;
  for (const llvm::SCEV* operand : operands->operands()) {
    const Maybe arm = of(operand, context, upper);
    if (!arm) return std::nullopt;
    // The larger of a loop's start and its end is its end, or else the loop does not run.
    if (most && arm->text() == start_.text()) continue;
    arms.push_back(*arm);
  }
  if (arms.empty()) return std::nullopt;
  return arms[pick_ % arms.size()];
}

Symbolic::Maybe Symbolic::of_steps(const llvm::SCEV* expression, Context* context, bool upper) {
  const auto* steps = llvm::cast<llvm::SCEVAddRecExpr>(expression);
  if (!steps->isAffine()) return std::nullopt;
  llvm::ScalarEvolution& scalar = evolution(context);
  const Maybe start = of(steps->getStart(), context, upper);
  if (!start) return std::nullopt;
  const llvm::Loop* loop = steps->getLoop();
  const bool is_instance = iterations_.count(loop->getHeader()) != 0;
  if (!is_instance && !upper) return start;
  const Maybe step = of(steps->getStepRecurrence(scalar), context, upper);
  if (!step) return std::nullopt;
  if (is_instance) {
    const Maybe moved = step->times(symbol(kInstance).plus(number(instance_)));
    return moved ? Maybe(start->plus(*moved)) : std::nullopt;
  }
  const llvm::SCEV* taken = scalar.getBackedgeTakenCount(loop);
  const bool tested_first = loop->isLoopExiting(loop->getHeader()) && block_ != loop->getHeader();
  if (llvm::isa<llvm::SCEVCouldNotCompute>(taken)) {
    const Maybe count = times_by_test(*loop, context);
    if (!count) return std::nullopt;
    const Maybe way = step->times(tested_first ? count->plus(number(-1)) : *count);
    return way ? Maybe(start->plus(*way)) : std::nullopt;
  }
  const Polynomial before = std::exchange(start_, Polynomial());
  // The count of a pointer's steps speaks of the index's start.
  if (const auto* largest = llvm::dyn_cast<llvm::SCEVAddExpr>(taken))
    for (const llvm::SCEV* operand : largest->operands())
      if (const Maybe part = of(operand, context, upper); part && !llvm::isa<llvm::SCEVMinMaxExpr>(operand)) {
        std::int64_t ignored = 0;
        if (!part->constant(ignored)) start_ = start_.plus(*part, -1);
      }
  const Maybe count = of(taken, context, true);
  start_ = before;
  if (!count) return std::nullopt;
  const Maybe way = step->times(tested_first ? count->plus(number(-1)) : *count);
  return way ? Maybe(start->plus(*way)) : std::nullopt;
}

/// `i < p->end`, where the end is read again each time: the loop is taken to run until the value that was stored.
Symbolic::Maybe Symbolic::times_by_test(const llvm::Loop& loop, Context* context) {
  llvm::ScalarEvolution& scalar = evolution(context);
  const auto* branch = llvm::dyn_cast<llvm::BranchInst>(loop.getHeader()->getTerminator());
  if (branch == nullptr || !branch->isConditional() || loop.contains(branch->getSuccessor(1))) return std::nullopt;
  auto* compare = llvm::dyn_cast<llvm::ICmpInst>(branch->getCondition());
  if (compare == nullptr) return std::nullopt;
  const auto predicate = compare->getPredicate();
  if (predicate != llvm::ICmpInst::ICMP_SLT && predicate != llvm::ICmpInst::ICMP_ULT &&
      predicate != llvm::ICmpInst::ICMP_NE)
    return std::nullopt;
  llvm::Value* index = compare->getOperand(0);
  if (auto* cast = llvm::dyn_cast<llvm::CastInst>(index)) index = cast->getOperand(0);
  if (!scalar.isSCEVable(index->getType())) return std::nullopt;
  const auto* steps = llvm::dyn_cast<llvm::SCEVAddRecExpr>(scalar.getSCEV(index));
  if (steps == nullptr || steps->getLoop() != &loop || !steps->getStepRecurrence(scalar)->isOne()) return std::nullopt;
  const Maybe begin = of(steps->getStart(), context, false), end = of_value(compare->getOperand(1), context, true);
  return begin && end ? Maybe(end->plus(*begin, -1)) : std::nullopt;
}

Symbolic::Maybe Symbolic::of(const llvm::SCEV* expression, Context* context, bool upper) {
  if (++depth_ > kDeepest * 20) return std::nullopt;
  switch (expression->getSCEVType()) {
    case llvm::scConstant: {
      const llvm::APInt& value = llvm::cast<llvm::SCEVConstant>(expression)->getAPInt();
      return value.getSignificantBits() > 62 ? std::nullopt : Maybe(number(value.getSExtValue()));
    }
    case llvm::scTruncate:
    case llvm::scZeroExtend:
    case llvm::scSignExtend:
    case llvm::scPtrToInt: return of(llvm::cast<llvm::SCEVCastExpr>(expression)->getOperand(), context, upper);
    case llvm::scAddExpr: {
      Polynomial sum;
      for (const llvm::SCEV* operand : llvm::cast<llvm::SCEVAddExpr>(expression)->operands()) {
        const Maybe part = of(operand, context, upper);
        if (!part) return std::nullopt;
        sum = sum.plus(*part);
      }
      return sum;
    }
    case llvm::scMulExpr: {
      const auto* factors = llvm::cast<llvm::SCEVMulExpr>(expression);
      const auto* first = llvm::dyn_cast<llvm::SCEVConstant>(factors->getOperand(0));
      const bool turned = first != nullptr && first->getAPInt().isNegative();
      Maybe result = number(1);
      for (const llvm::SCEV* operand : factors->operands()) {
        const Maybe part = of(operand, context, turned ? !upper : upper);
        if (!part || !result) return std::nullopt;
        result = result->times(*part);
      }
      return result;
    }
    case llvm::scUDivExpr: {
      const auto* division = llvm::cast<llvm::SCEVUDivExpr>(expression);
      const Maybe above = of(division->getLHS(), context, upper), below = of(division->getRHS(), context, upper);
      if (!above || !below) return std::nullopt;
      return symbol("(" + above->text() + "/" + below->text() + ")");
    }
    case llvm::scAddRecExpr: return of_steps(expression, context, upper);
    case llvm::scSMaxExpr:
    case llvm::scUMaxExpr: return of_most(expression, context, upper, true);
    case llvm::scSMinExpr:
    case llvm::scUMinExpr:
    case llvm::scSequentialUMinExpr: return of_most(expression, context, upper, false);
    case llvm::scUnknown: return of_value(llvm::cast<llvm::SCEVUnknown>(expression)->getValue(), context, upper);
    default: return std::nullopt;
  }
}

/// One value for all instances: not made in the loop that makes them, nor by an instance.
bool Symbolic::same_for_all(llvm::Value* value, Context* context) const {
  const auto* instruction = llvm::dyn_cast<llvm::Instruction>(value);
  if (context->thread == node_) return instruction == nullptr;
  if (instruction == nullptr) return true;
  const auto& loops = walk_.analyses().getResult<llvm::LoopAnalysis>(*context->function);
  for (const llvm::Loop* loop = loops.getLoopFor(instruction->getParent()); loop != nullptr;
       loop = loop->getParentLoop())
    if (iterations_.count(loop->getHeader()) != 0) return false;
  return true;
}

Symbolic::Maybe Symbolic::of_value(llvm::Value* value, Context* context, bool upper) {
  if (++depth_ > kDeepest * 20) return std::nullopt;
  if (auto* global = llvm::dyn_cast<llvm::GlobalValue>(value)) return symbol(name_of_value(global));
  if (llvm::isa<llvm::ConstantPointerNull>(value)) return number(0);
  if (auto* constant = llvm::dyn_cast<llvm::ConstantInt>(value)) return number(constant->getSExtValue());
  const auto again = [&](llvm::Value* other, Context* there) -> Maybe {
    if (!evolution(there).isSCEVable(other->getType())) return std::nullopt;
    return of(evolution(there).getSCEV(other), there, upper);
  };
  if (auto* argument = llvm::dyn_cast<llvm::Argument>(value)) {
    if (context == creation_.root)
      return creation_.argument == nullptr ? std::nullopt : again(creation_.argument, creation_.context);
    if (context->parent == nullptr || context->call == nullptr || context->call->arg_size() <= argument->getArgNo())
      return context->thread == node_ ? std::nullopt : Maybe(symbol(name_of_value(value)));
    if (!context->same_arguments) return std::nullopt;
    return again(context->call->getArgOperand(argument->getArgNo()), context->parent);
  }
  auto* instruction = llvm::dyn_cast<llvm::Instruction>(value);
  if (instruction == nullptr) return std::nullopt;
  if (auto* load = llvm::dyn_cast<llvm::LoadInst>(instruction))
    return of_load(load, load->getPointerOperand(), context, upper);
  if (llvm::isa<llvm::CastInst>(instruction) && !instruction->getOperand(0)->getType()->isFPOrFPVectorTy())
    return again(instruction->getOperand(0), context);
  if (instruction->getOpcode() == llvm::Instruction::SDiv || instruction->getOpcode() == llvm::Instruction::UDiv) {
    const Maybe above = again(instruction->getOperand(0), context), below = again(instruction->getOperand(1), context);
    if (!above || !below) return std::nullopt;
    return symbol("(" + above->text() + "/" + below->text() + ")");
  }
  if (auto* select = llvm::dyn_cast<llvm::SelectInst>(instruction))
    return again(select->getOperand(1 + pick_ % 2), context);
  if (auto* phi = llvm::dyn_cast<llvm::PHINode>(instruction); phi != nullptr && phi->getNumIncomingValues() == 2) {
    const auto& loops = walk_.analyses().getResult<llvm::LoopAnalysis>(*context->function);
    const llvm::Loop* loop = loops.getLoopFor(phi->getParent());
    if (loop == nullptr || loop->getHeader() != phi->getParent())
      return again(phi->getIncomingValue(pick_ % 2), context);
    return std::nullopt;
  }
  return same_for_all(value, context) ? Maybe(symbol(name_of_value(value))) : std::nullopt;
}

/// What was stored there, when there is one store; a variable that all instances share is a number like any other.
Symbolic::Maybe Symbolic::of_load(llvm::Instruction* load, llvm::Value* from, Context* context, bool upper) {
  const auto known = context->values.find(from);
  Pointers places;
  if (known != context->values.end()) places = known->second.pointers;
  if (auto* argument = llvm::dyn_cast<llvm::Argument>(from)) places = context->arguments[argument->getArgNo()];
  if (llvm::isa<llvm::Constant>(from)) {
    if (context->thread == node_ || same_for_all(load, context)) return symbol("*" + name_of_value(from));
    return std::nullopt;
  }
  if (places.size() != 1) return std::nullopt;
  const Pointer place = *places.begin();
  const bool own = place.loop == creation_.loop && place.loop != nullptr;
  if (!own && place.exact() && walk_.memory()[place.object].thread != node_)
    return symbol("o" + std::to_string(place.object) + "+" + std::to_string(place.lo));
  const auto bits = static_cast<std::int64_t>(load->getType()->getPrimitiveSizeInBits().getFixedValue());
  const std::int64_t bytes = load->getType()->isPointerTy() ? 8 : std::max<std::int64_t>(bits / 8, 1);
  const Access* only = nullptr;
  for (std::size_t node = 0; node < walk_.creations().size(); ++node) {
    const Walk::ByObject& all = walk_.accesses(static_cast<int>(node));
    const auto touched = all.find(place.object);
    if (touched == all.end()) continue;
    for (const Access& access : touched->second) {
      if (!access.write || !overlap(access.where, access.bytes, place, bytes)) continue;
      if (access.several) return std::nullopt;
      auto* store = llvm::dyn_cast<llvm::StoreInst>(access.instruction);
      if (store == nullptr) {
        if (llvm::isa<llvm::MemSetInst>(access.instruction) || !llvm::isa<llvm::MemTransferInst>(access.instruction))
          continue;
        return std::nullopt;
      }
      if (only != nullptr && only->instruction != access.instruction) return std::nullopt;
      only = &access;
    }
  }
  if (only == nullptr || only->context->thread == node_) return std::nullopt;
  const bool by_iteration = only->where.loop != nullptr && only->where.fresh == place.fresh &&
                            (place.fresh ? only->where.loop == place.loop : only->where.stride == place.stride);
  if (own && !by_iteration) return std::nullopt;
  if (by_iteration) iterations_.insert(only->where.loop);
  llvm::Value* stored = llvm::cast<llvm::StoreInst>(only->instruction)->getValueOperand();
  if (!evolution(only->context).isSCEVable(stored->getType())) return std::nullopt;
  return of(evolution(only->context).getSCEV(stored), only->context, upper);
}

}  // namespace hearth::btlp
