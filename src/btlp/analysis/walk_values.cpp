// See walk.h: which objects a value can point to.
#include <algorithm>
#include <numeric>

#include <llvm/ADT/STLExtras.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/IR/GlobalAlias.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Operator.h>

#include "btlp/analysis/creators.h"
#include "btlp/analysis/digest.h"
#include "btlp/analysis/library.h"
#include "btlp/analysis/walk.h"

namespace hearth::btlp {
namespace {

constexpr std::size_t kMostResults = 1 << 20;  // that are remembered

/// The bytes that an index into an array type cannot pass; kUnbounded: the type does not say.
std::int64_t bound_by_type(llvm::GEPOperator* address, const llvm::DataLayout& layout) {
  std::int64_t bound = 0;
  llvm::Type* inside = address->getSourceElementType();
  for (auto index = address->idx_begin(); index != address->idx_end(); ++index) {
    const bool first = index == address->idx_begin();
    const auto* array = first ? nullptr : llvm::dyn_cast<llvm::ArrayType>(inside);
    if (!llvm::isa<llvm::ConstantInt>(index->get())) {
      if (array == nullptr) return kUnbounded;
      const std::int64_t stride = static_cast<std::int64_t>(
          layout.getTypeAllocSize(array->getElementType()).getFixedValue());
      bound += (static_cast<std::int64_t>(array->getNumElements()) - 1) * stride;
    }
    if (!first) inside = llvm::GetElementPtrInst::getTypeAtIndex(inside, index->get());
    if (inside == nullptr) return kUnbounded;
  }
  return bound;
}

/// The innermost loop that has all uses of a variable: what one iteration leaves in it is for that iteration.
const llvm::Loop* loop_of_uses(llvm::Instruction& variable, llvm::LoopInfo& loops) {
  const llvm::Loop* loop = nullptr;
  for (llvm::User* user : variable.users()) {
    auto* instruction = llvm::dyn_cast<llvm::Instruction>(user);
    if (instruction == nullptr) return nullptr;
    const llvm::Loop* here = loops.getLoopFor(instruction->getParent());
    if (loop == nullptr) loop = here;
    while (loop != nullptr && !loop->contains(instruction)) loop = loop->getParentLoop();
    if (loop == nullptr) return nullptr;
  }
  return loop;
}

/// Where the instruction reads memory; null: it does not.
llvm::Value* read_by(llvm::Instruction* instruction) {
  if (auto* load = llvm::dyn_cast<llvm::LoadInst>(instruction)) return load->getPointerOperand();
  if (auto* update = llvm::dyn_cast<llvm::AtomicRMWInst>(instruction)) return update->getPointerOperand();
  if (auto* exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(instruction)) return exchange->getPointerOperand();
  return nullptr;
}

}  // namespace

Pointers Walk::value_of(Context* context, llvm::Value* value) {
  if (auto* argument = llvm::dyn_cast<llvm::Argument>(value)) {
    if (argument->getParent() != context->function) return {};
    return argument->getArgNo() < context->arguments.size() ? context->arguments[argument->getArgNo()] : Pointers();
  }
  auto* instruction = llvm::dyn_cast<llvm::Instruction>(value);
  if (instruction == nullptr) return constant(value, context->thread);
  Context::Known& known = context->values[value];
  if (known.round == round_) return known.pointers;  // in a circle: what earlier rounds know; the next one knows more
  known.round = round_;
  const std::uint64_t inputs = inputs_of(context, instruction);
  if (inputs != 0 && known.inputs == inputs) return known.pointers;
  const Pointers result = result_of(context, instruction, inputs);
  known.inputs = inputs;
  learn(context, instruction, result);
  return known.pointers;
}

void Walk::learn(Context* context, llvm::Value* value, const Pointers& pointers) {
  if (context->values[value].pointers.insert(pointers)) grown_ = context->changed = true;
}

/// A number for all that the instruction's value depends on: the sets of its operands, and memory's contents there. 0: it
/// depends on more than that. Contexts in which it is the same have the same value.
std::uint64_t Walk::inputs_of(Context* context, llvm::Instruction* instruction) {
  if (llvm::isa<llvm::CallBase>(instruction) || llvm::isa<llvm::AllocaInst>(instruction)) return 0;
  Digest inputs;
  inputs.add(reinterpret_cast<std::uintptr_t>(instruction));
  for (llvm::Use& operand : instruction->operands()) {
    const llvm::Type* type = operand->getType();
    if (type->isPtrOrPtrVectorTy() || type->getScalarType()->isIntegerTy(64) || type->isAggregateType())
      inputs.add(value_of(context, operand.get()).stamp());
  }
  if (llvm::Value* from = read_by(instruction)) inputs.add(memory_.version_of(value_of(context, from)));
  const bool steps = llvm::isa<llvm::GetElementPtrInst>(instruction) || llvm::isa<llvm::PHINode>(instruction);
  if (steps && instruction->getType()->isPointerTy())
    if (const Steps& way = steps_of(instruction); way.base != nullptr) inputs.add(value_of(context, way.base).stamp());
  return inputs.value() | 1U;
}

Pointers Walk::result_of(Context* context, llvm::Instruction* instruction, std::uint64_t inputs) {
  if (inputs == 0) return compute(context, instruction);
  if (const auto known = results_.find(inputs); known != results_.end()) return known->second;
  if (results_.size() >= kMostResults) results_.clear();
  const Pointers result = compute(context, instruction);
  results_.emplace(inputs, result);
  return result;
}

Pointers Walk::constant(const llvm::Value* value, int thread) {
  if (llvm::isa<llvm::ConstantData>(value)) return {};
  const auto known = constants_.find({value, thread});
  if (known != constants_.end()) return known->second;
  const Pointers result = new_constant(value, thread);
  constants_[{value, thread}] = result;
  return result;
}

Pointers Walk::new_constant(const llvm::Value* value, int thread) {
  Pointers result;
  if (auto* alias = llvm::dyn_cast<llvm::GlobalAlias>(value)) return constant(alias->getAliasee(), thread);
  if (llvm::isa<llvm::GlobalVariable>(value) || llvm::isa<llvm::Function>(value)) {
    result.insert(Pointer{.object = memory_.object(value, thread)});
    return result;
  }
  if (auto* aggregate = llvm::dyn_cast<llvm::ConstantAggregate>(value))  // a pointer to a member function
    for (const llvm::Use& operand : aggregate->operands()) result.insert(constant(operand.get(), thread));
  auto* expression = llvm::dyn_cast<llvm::ConstantExpr>(value);
  if (expression == nullptr) return result;
  if (llvm::isa<llvm::GEPOperator>(expression)) {
    llvm::APInt bytes(64, 0);
    const llvm::Value* base = expression->stripAndAccumulateConstantOffsets(module_.getDataLayout(), bytes, true);
    if (base == expression) return result;
    for (const Pointer& pointer : constant(base, thread)) result.insert(pointer.moved(bytes.getSExtValue()));
    return result;
  }
  for (const llvm::Use& operand : expression->operands()) result.insert(constant(operand.get(), thread));
  return result;
}

Pointers Walk::fresh(Context* context, llvm::Instruction* allocation) {
  Pointers& made = context->made[allocation];
  if (made.empty()) made.insert(new_fresh(context, allocation));
  return made;
}

Pointer Walk::new_fresh(Context* context, llvm::Instruction* allocation) {
  Pointer pointer;
  pointer.object = memory_.object(allocation, context->thread);
  // One object for each iteration of the innermost loop around it, here or around the call.
  for (Context* at = context; at != nullptr; at = at->parent) {
    const llvm::Instruction* place = at == context ? allocation : nullptr;
    for (Context* below = context; place == nullptr && below != nullptr; below = below->parent)
      if (below->parent == at) place = below->call;
    if (place == nullptr) break;
    auto& loops = functions_->getResult<llvm::LoopAnalysis>(*at->function);
    const bool variable = llvm::isa<llvm::AllocaInst>(allocation) && at == context;
    const llvm::Loop* loop = variable ? loop_of_uses(*allocation, loops) : loops.getLoopFor(place->getParent());
    if (loop == nullptr) continue;
    pointer.loop = loop->getHeader();
    pointer.fresh = true;
    break;
  }
  return pointer;
}

/// The second word of a pointer to a member function: how far the object that it is called for lies behind its own start.
bool Walk::is_shift_of_this(const llvm::ExtractValueInst& extract, const Pointers& whole) const {
  const auto* pair = llvm::dyn_cast<llvm::StructType>(extract.getAggregateOperand()->getType());
  if (pair == nullptr || pair->getNumElements() != 2 || !pair->getElementType(1)->isIntegerTy(64)) return false;
  if (extract.getNumIndices() != 1 || extract.getIndices()[0] != 1 || whole.empty()) return false;
  return std::all_of(whole.begin(), whole.end(),
                     [&](const Pointer& each) { return memory_[each.object].kind == Kind::function; });
}

Pointers Walk::loaded(const Pointers& from, llvm::Type* type) {
  Pointers result;
  if (!type->isPtrOrPtrVectorTy() && !type->getScalarType()->isIntegerTy(64) && !type->isAggregateType()) return result;
  const auto bytes = static_cast<std::int64_t>(module_.getDataLayout().getTypeStoreSize(type).getKnownMinValue());
  for (const Pointer& pointer : from) result.insert(memory_.load(pointer, bytes));
  return result;
}

Pointers Walk::returned_by(Context* context, llvm::CallBase* call) {
  Pointers result;
  // visit_call() leaves its results here; a use that is looked at first sees those of the round before.
  if (const auto here = context->callees.find(call); here != context->callees.end())
    for (const auto& [function, callee] : here->second) result.insert(callee->returned);
  llvm::Function* callee = call->getCalledFunction();
  const bool outside = callee == nullptr || callee->isDeclaration();
  // Numbers and structures: only of code that nothing is known of.
  const bool other = call->getType()->isAggregateType() && (callee == nullptr || is_other_code(callee->getName()));
  if (!result.empty() || !outside || (!call->getType()->isPointerTy() && !other)) return result;
  if (callee != nullptr && (callee->getName() == "pthread_getspecific" || callee->getName() == "tss_get"))
    result.insert(under_key(context, *call));
  if (!result.empty()) return result;
  if (callee != nullptr && callee->isIntrinsic()) {
    for (llvm::Use& operand : call->args()) result.insert(value_of(context, operand.get()));
    return result;
  }
  if (callee != nullptr && creator_called(*call) != nullptr) return result;  // start_thread() has left the handle
  return returned_from_outside(context, *call);
}

Pointers Walk::compute(Context* context, llvm::Instruction* instruction) {
  Pointers result;
  if (llvm::isa<llvm::AllocaInst>(instruction)) return fresh(context, instruction);
  if (llvm::isa<llvm::GetElementPtrInst>(instruction)) return element(context, instruction);
  if (llvm::Value* from = read_by(instruction)) return loaded(value_of(context, from), instruction->getType());
  if (auto* phi = llvm::dyn_cast<llvm::PHINode>(instruction)) {
    Pointers merged;
    if (each_iteration(context, phi, merged)) return merged;
    const llvm::Loop* loop = functions_->getResult<llvm::LoopAnalysis>(*context->function).getLoopFor(phi->getParent());
    const bool header = loop != nullptr && loop->getHeader() == phi->getParent();
    for (llvm::Value* incoming : phi->incoming_values())
      for (const Pointer& pointer : value_of(context, incoming)) {
        if (!header)
          result.insert(pointer);
        else if (phi->getType()->isPointerTy() && llvm::isa<llvm::GetElementPtrInst>(incoming))
          result.insert(pointer.anywhere().without_loop());  // p = p + n
        else
          result.insert(pointer.without_loop());
      }
    return result;
  }
  if (auto* call = llvm::dyn_cast<llvm::CallBase>(instruction)) return returned_by(context, call);
  const bool lanes = llvm::isa<llvm::ExtractElementInst>(instruction) || llvm::isa<llvm::InsertElementInst>(instruction) ||
                     llvm::isa<llvm::ShuffleVectorInst>(instruction);
  if (lanes || llvm::isa<llvm::SelectInst>(instruction)) {  // a vector's lanes are one set
    for (llvm::Use& operand : instruction->operands()) result.insert(value_of(context, operand.get()));
    return result;
  }
  if (auto* extract = llvm::dyn_cast<llvm::ExtractValueInst>(instruction)) {
    const Pointers whole = value_of(context, extract->getAggregateOperand());
    return is_shift_of_this(*extract, whole) ? Pointers() : whole;
  }
  if (auto* insert = llvm::dyn_cast<llvm::InsertValueInst>(instruction)) {
    result.insert(value_of(context, insert->getAggregateOperand()));
    result.insert(value_of(context, insert->getInsertedValueOperand()));
    return result;
  }
  if (llvm::isa<llvm::CastInst>(instruction) || llvm::isa<llvm::FreezeInst>(instruction)) {
    llvm::Value* from = instruction->getOperand(0);
    if (llvm::isa<llvm::TruncInst>(instruction) || from->getType()->isFPOrFPVectorTy()) return result;
    return value_of(context, from);
  }
  if (instruction->isBinaryOp() && instruction->getType()->isIntegerTy(64)) {
    for (llvm::Use& operand : instruction->operands())
      for (const Pointer& pointer : value_of(context, operand.get())) result.insert(pointer.anywhere());
  }
  return result;
}

const Steps& Walk::steps_of(llvm::Instruction* address) {
  const auto [place, is_new] = steps_.try_emplace(address);
  Steps& result = place->second;
  if (!is_new) return result;
  auto& evolution = functions_->getResult<llvm::ScalarEvolutionAnalysis>(*address->getFunction());
  const auto* steps = llvm::dyn_cast<llvm::SCEVAddRecExpr>(evolution.getSCEV(address));
  if (steps == nullptr || !steps->isAffine()) return result;
  const auto* step = llvm::dyn_cast<llvm::SCEVConstant>(steps->getStepRecurrence(evolution));
  const auto* base = llvm::dyn_cast<llvm::SCEVUnknown>(evolution.getPointerBase(steps));
  if (step == nullptr || base == nullptr || step->getValue()->isZero()) return result;
  result.base = base->getValue();
  result.stride = std::abs(step->getAPInt().getSExtValue());
  result.rising = step->getAPInt().isStrictlyPositive();
  result.header = steps->getLoop()->getHeader();
  if (const auto* first = llvm::dyn_cast<llvm::SCEVConstant>(evolution.getMinusSCEV(steps->getStart(), base))) {
    result.has_first = true;
    result.first = first->getAPInt().getSExtValue();
  }
  // How often it steps, when that is a number: a loop that is tested first does not reach the step behind its last one.
  if (const auto* taken = llvm::dyn_cast<llvm::SCEVConstant>(evolution.getBackedgeTakenCount(steps->getLoop()))) {
    const bool tested_first = steps->getLoop()->isLoopExiting(result.header) && address->getParent() != result.header;
    const auto count = static_cast<std::int64_t>(taken->getAPInt().getLimitedValue(1U << 30U));
    if (count < 1 << 30) result.times = std::max<std::int64_t>(0, tested_first ? count - 1 : count);
  }
  return result;
}

bool Walk::each_iteration(Context* context, llvm::Instruction* address, Pointers& result) {
  if (!address->getType()->isPointerTy()) return false;
  const Steps& steps = steps_of(address);
  if (steps.base == nullptr) return false;
  const Pointers from = value_of(context, steps.base);
  for (const Pointer& pointer : from) {
    Pointer each = steps.has_first ? pointer.moved(steps.first) : pointer.anywhere().without_loop();
    each.hi = kUnbounded;
    if (steps.has_first && pointer.exact() && steps.times != kUnbounded && steps.rising)
      each.hi = each.lo + steps.stride * steps.times;
    // From a place that is not known, every place may be met.
    each.stride = !steps.has_first       ? 0
                  : pointer.stride == 0 ? steps.stride
                                        : std::gcd(steps.stride, pointer.stride);
    each.loop = pointer.exact() && pointer.loop == nullptr && steps.has_first ? steps.header : nullptr;
    each.fresh = false;
    // Places in what belongs to one iteration already stay that iteration's, when the object is all its own.
    if (pointer.fresh) {
      each.loop = pointer.loop;
      each.fresh = true;
    }
    result.insert(each);
  }
  return !from.empty();
}

Pointers Walk::element(Context* context, llvm::Instruction* instruction) {
  auto* address = llvm::cast<llvm::GEPOperator>(instruction);
  const llvm::DataLayout& layout = module_.getDataLayout();
  const Pointers bases = value_of(context, address->getPointerOperand());
  Pointers result;
  llvm::APInt constant(64, 0);
  llvm::MapVector<llvm::Value*, llvm::APInt> variable;
  if (!address->collectOffset(layout, 64, variable, constant)) {
    for (const Pointer& pointer : bases) result.insert(pointer.anywhere());
    return result;
  }
  const std::int64_t fixed = constant.getSExtValue();
  // The way that a pointer to a virtual member function takes, for one that is not virtual.
  for (const auto& [index, scale] : variable) {
    const Pointers number = value_of(context, index);
    if (!number.empty() && std::all_of(number.begin(), number.end(), [&](const Pointer& each) {
          return memory_[each.object].kind == Kind::function;
        }))
      return result;
  }
  if (variable.size() == 1 && fixed == 0)
    if (auto* shift = llvm::dyn_cast<llvm::ExtractValueInst>(variable.begin()->first);
        shift != nullptr && is_shift_of_this(*shift, value_of(context, shift->getAggregateOperand()))) {
      // The shifted object is a part of the same element, so what belongs to one iteration still does.
      for (const Pointer& pointer : bases)
        result.insert(pointer.loop != nullptr ? pointer : pointer.anywhere());
      return result;
    }
  if (variable.empty()) {
    for (const Pointer& pointer : bases) result.insert(pointer.moved(fixed));
    return result;
  }
  std::int64_t stride = 0;
  for (const auto& [index, scale] : variable) stride = std::gcd(stride, scale.getSExtValue());
  const std::int64_t bound = bound_by_type(address, layout);
  Pointers own;
  if (each_iteration(context, instruction, own)) {
    for (Pointer pointer : own) {
      if (bound != kUnbounded && pointer.lo >= 0 && pointer.stride != 0)
        pointer.hi = std::min(pointer.hi, std::max(pointer.lo, fixed + bound));
      result.insert(pointer);
    }
    return result;
  }
  for (const Pointer& pointer : bases) {
    Pointer each = pointer.moved(fixed);
    if (bound == kUnbounded || each.hi == kUnbounded)
      each.hi = kUnbounded;
    else
      each.hi += bound;
    // Within what is one iteration's own: only where the type keeps the index inside.
    const bool inside = pointer.fresh || (pointer.loop != nullptr && bound != kUnbounded &&
                                          fixed + bound + std::abs(stride) <= pointer.stride);
    if (pointer.loop != nullptr && inside && !pointer.fresh) {
      result.insert(pointer);  // somewhere in this iteration's element
      continue;
    }
    each.stride = pointer.exact() || pointer.stride == 0 ? std::abs(stride)
                                                         : std::gcd(std::abs(stride), pointer.stride);
    if (!inside) {
      each.loop = nullptr;
      each.fresh = false;
    }
    result.insert(each);
  }
  return result;
}

/// The functions among the objects of a stand-in, until the next call.
const std::vector<llvm::Function*>& Walk::functions_of_rest(int stand_in) {
  auto& [looked_at, found] = rest_functions_[stand_in - 1];
  for (const std::vector<int>& all = Rest::objects(stand_in); looked_at < all.size(); ++looked_at)
    if (const Object& object = memory_[all[looked_at]]; object.kind == Kind::function)
      found.push_back(llvm::cast<llvm::Function>(const_cast<llvm::Value*>(object.value)));
  return found;
}

std::vector<llvm::Function*> Walk::functions_of(Context* context, llvm::Value* value, llvm::CallBase* call,
                                                bool& complete) {
  std::vector<llvm::Function*> found;
  complete = true;
  const Pointers pointers = value_of(context, value);
  for (const Pointer& pointer : pointers) {
    const Object& object = memory_[pointer.object];
    if (object.kind == Kind::function)
      found.push_back(llvm::cast<llvm::Function>(const_cast<llvm::Value*>(object.value)));
    else if (object.kind == Kind::rest)
      llvm::append_range(found, functions_of_rest(pointer.object));
    else
      complete = false;
  }
  if (llvm::Function* callable = creations_[context->thread].callable;
      callable != nullptr && creations_[context->thread].hands_over && std::find(found.begin(), found.end(), callable) != found.end())
    found = {callable};
  if (found.empty()) complete = false;
  // Of many functions, those that the call can be meant for.
  if (found.size() > 1)
    std::erase_if(found,
                  [&](const llvm::Function* each) { return each->getFunctionType() != call->getFunctionType(); });
  return found;
}

}  // namespace hearth::btlp
