// See walk.h: rounds, contexts, and what an instruction other than a call does.
#include "btlp/analysis/walk.h"

#include <algorithm>
#include <utility>

#include <llvm/Analysis/BlockFrequencyInfo.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/Passes/PassBuilder.h>

#include "btlp/analysis/creators.h"
#include "btlp/analysis/digest.h"
#include "btlp/analysis/library.h"

namespace hearth::btlp {
namespace {

constexpr int kMostRounds = 100;
constexpr std::uint64_t kMostSteps = 40'000'000;  // instructions, before the walk gives up: about a minute
constexpr int kMostContexts = 400;  // of one thread, before functions are walked once for all their callers
constexpr int kDeepest = 24;
constexpr std::ptrdiff_t kMostPerObject = 200;  // accesses of one thread that are kept one by one
constexpr std::ptrdiff_t kMostSpread = 24;      // accesses to many objects that are kept one by one in each

/// Can the instruction put a pointer where others find it, or call somebody? All else only reads, or computes values, and
/// those are worked out when somebody asks for them.
bool carries(const llvm::Instruction& instruction) {
  if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) {
    const llvm::Type* type = store->getValueOperand()->getType();
    const bool number = type->isFloatingPointTy() || (type->isIntegerTy() && !type->isIntegerTy(64));
    return !number && !llvm::isa<llvm::ConstantData>(store->getValueOperand());
  }
  if (llvm::isa<llvm::IntrinsicInst>(instruction)) return llvm::isa<llvm::MemTransferInst>(instruction);
  return llvm::isa<llvm::CallBase>(instruction) || llvm::isa<llvm::ReturnInst>(instruction) ||
         llvm::isa<llvm::AtomicRMWInst>(instruction) || llvm::isa<llvm::AtomicCmpXchgInst>(instruction);
}

}  // namespace

struct Walk::Managers {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder;

  Managers() {
    builder.registerModuleAnalyses(modules);
    builder.registerCGSCCAnalyses(components);
    builder.registerFunctionAnalyses(functions);
    builder.registerLoopAnalyses(loops);
    builder.crossRegisterProxies(loops, functions, components, modules);
  }
};

Walk::Walk(llvm::Module& module, bool whole, Program& program, Progress& progress)
    : module_(module),
      whole_(whole),
      program_(program),
      progress_(progress),
      memory_(module.getDataLayout()),
      managers_(std::make_unique<Managers>()),
      functions_(&managers_->functions) {
  Node main;
  main.routine = main.routine_symbol = main.function = "main";
  program_.nodes.push_back(main);
  creations_.emplace_back();
  roots_.emplace_back();
  contexts_of_thread_.push_back(0);
  merged_.emplace_back();
}

Walk::~Walk() = default;

void Walk::run() {
  add_roots();
  bool ended = false;
  // What an access reaches is asked for while they are collected, and everything is walked once more: what is new then was
  // not followed.
  do {
    ended = follow();
    collect();
  } while ((memory_.close_rest() || memory_.grown() || grown_) && ended);
  for (ByObject& accesses : accesses_)
    for (const int stand_in : Rest::kBoth) spread_rest(accesses, stand_in);
  program_.contexts = contexts_.size();
  if (!ended) give_up();
}

/// Rounds until nothing is new: first over what can carry a pointer on alone, and what comes out is held against everything
/// before it counts as the end. False: it did not come to that.
bool Walk::follow() {
  collecting_ = false;
  all_anew_ = true;
  for (int n = 0; n < kMostRounds; ++n, ++round_) {
    grown_ = false;
    memory_.grown();
    // By index: threads are found on the way.
    for (std::size_t node = 0; node < roots_.size(); ++node)
      for (std::size_t root = 0; root < roots_[node].size(); ++root) walk_thread(roots_[node][root]);
    follow_destructors();
    const bool more_rest = memory_.close_rest();
    all_anew_ = false;
    if (memory_.grown() || grown_ || more_rest) continue;
    if (every_instruction_) return program_.steps <= kMostSteps;
    every_instruction_ = all_anew_ = true;
  }
  return false;
}

void Walk::collect() {
  collecting_ = all_anew_ = true;
  grown_ = false;
  ++round_;
  for (Node& node : program_.nodes) node.cost = {};
  accesses_.assign(roots_.size(), {});
  touches_.assign(roots_.size(), 0);
  // By index: a creation whose routine is not known is found only here.
  for (std::size_t node = 0; node < roots_.size(); ++node) {
    accesses_.resize(roots_.size());
    touches_.resize(roots_.size());
    for (std::size_t root = 0; root < roots_[node].size(); ++root) walk_thread(roots_[node][root]);
  }
  touch_by_destructors();
  ++round_;
}

/// What is touched through a stand-in for many objects is touched in each of them.
void Walk::spread_rest(ByObject& accesses, int stand_in) {
  const auto found = accesses.find(stand_in);
  if (found == accesses.end()) return;
  std::vector<Access> list = std::move(found->second);
  accesses.erase(found);
  if (std::ssize(list) > kMostSpread) {
    std::vector<Access> both;
    for (const Access& access : list) {
      const auto same = std::find_if(both.begin(), both.end(), [&](const Access& one) { return one.write == access.write; });
      if (same == both.end()) {
        both.push_back(access);
        both.back().several = true;
      } else {
        same->frequency += access.frequency;
      }
    }
    list = both;
  }
  for (const int object : Rest::objects(stand_in)) {
    const Object& it = memory_[object];
    if (it.kind == Kind::function || it.kind == Kind::handle || it.constant || object == memory_.unknown()) continue;
    for (Access access : list) {
      access.where = Pointer{.object = object, .hi = kUnbounded};
      access.bytes = kUnbounded / 2;
      accesses[object].push_back(access);
    }
  }
}

/// What has been found by now may not be all.
void Walk::give_up() {
  program_.notes.push_back("the analysis has followed " + std::to_string(program_.steps) + " instructions on " +
                           std::to_string(contexts_.size()) +
                           " call paths and has not come to an end; its threads are unknown and are left to the system");
  for (Node& node : program_.nodes) node.unknown_reason = "the program is too large for the analysis";
}

void Walk::add_roots() {
  const auto add = [&](llvm::Function& function) {
    Context* context = new_context(&function, 0);
    for (llvm::Argument& argument : function.args()) {
      Pointers value;
      if (argument.getType()->isPointerTy() && !(function.getName() == "main" && whole_))
        value.insert(Pointer{.object = memory_.unknown(), .hi = kUnbounded});
      context->arguments.push_back(value);
    }
    roots_[0].push_back(context);
  };
  if (llvm::Function* main = module_.getFunction("main"); main != nullptr && !main->isDeclaration()) add(*main);
  add_handlers();
  if (whole_) return;
  for (llvm::Function& function : module_)
    if (!function.isDeclaration() && !function.hasLocalLinkage() && function.getName() != "main" &&
        !function.hasAvailableExternallyLinkage())
      add(function);
}

void Walk::add_handlers() {
  const llvm::GlobalVariable* variable = module_.getNamedGlobal("llvm.global_ctors");
  if (variable == nullptr || !variable->hasInitializer()) return;
  const auto* entries = llvm::dyn_cast<llvm::ConstantArray>(variable->getInitializer());
  if (entries == nullptr) return;
  for (const llvm::Use& entry : entries->operands()) {
    const auto* fields = llvm::dyn_cast<llvm::ConstantStruct>(entry.get());
    auto* function = fields == nullptr ? nullptr : llvm::dyn_cast<llvm::Function>(fields->getOperand(1));
    if (function == nullptr || function->isDeclaration()) continue;
    Context* context = new_context(function, 0);
    context->arguments.resize(function->arg_size());
    roots_[0].push_back(context);
  }
}

void Walk::walk_thread(Context* root) { walk_context(root); }

void Walk::walk_context(Context* context) {
  if (context->round == round_) return;
  context->round = round_;
  if (program_.steps > kMostSteps && !collecting_) return;
  progress_.update("following its threads, step", program_.steps);
  const std::uint64_t state = state_of(*context);
  if (!all_anew_ && !context->changed && context->state == state) {
    for (const auto& [call, callees] : context->callees)
      for (const auto& [function, callee] : callees) walk_context(callee);
    return;
  }
  context->state = state;
  context->changed = false;
  const Body& body = body_of(*context->function);
  for (const auto& [instruction, share] : every_instruction_ ? body.all : body.carriers) {
    ++program_.steps;
    visit(context, *instruction, context->frequency * share);
    if (collecting_) count_cost(context, *instruction, context->frequency * share);
  }
}

const Walk::Body& Walk::body_of(llvm::Function& function) {
  const auto [place, is_new] = bodies_.try_emplace(&function);
  Body& body = place->second;
  if (!is_new) return body;
  auto& frequencies = functions_->getResult<llvm::BlockFrequencyAnalysis>(function);
  const double entry = std::max<double>(1, static_cast<double>(frequencies.getEntryFreq().getFrequency()));
  for (llvm::BasicBlock& block : function) {
    const double share = static_cast<double>(frequencies.getBlockFreq(&block).getFrequency()) / entry;
    for (llvm::Instruction& instruction : block) {
      body.all.emplace_back(&instruction, share);
      if (carries(instruction)) body.carriers.emplace_back(&instruction, share);
    }
  }
  return body;
}

/// A number for all that a walk of this function depends on, but for values that its last walk has changed.
std::uint64_t Walk::state_of(const Context& context) const {
  Digest state;
  state.add(memory_.version() + program_.nodes.size() + thread_results_);  // none of them ever falls
  for (const Pointers& argument : context.arguments) state.add(argument.stamp());
  state.add(context.more_arguments.stamp());
  for (const auto& [call, callees] : context.callees)
    for (const auto& [function, callee] : callees) state.add(callee->returned.stamp());
  return state.value();
}

void Walk::visit(Context* context, llvm::Instruction& instruction, double frequency) {
  const llvm::DataLayout& layout = module_.getDataLayout();
  const auto bytes_of = [&](llvm::Type* type) {
    return static_cast<std::int64_t>(layout.getTypeStoreSize(type).getKnownMinValue());
  };
  if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) {
    touch(context, instruction, value_of(context, load->getPointerOperand()), bytes_of(load->getType()), false,
          frequency);
  } else if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) {
    const Pointers where = value_of(context, store->getPointerOperand());
    touch(context, instruction, where, bytes_of(store->getValueOperand()->getType()), true, frequency);
    const Pointers what = value_of(context, store->getValueOperand());
    if (is_new(context, store, where.stamp(), what.stamp()))
      for (const Pointer& pointer : where) memory_.store(pointer, what);
  } else if (auto* add = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction)) {
    const Pointers where = value_of(context, add->getPointerOperand());
    touch(context, instruction, where, bytes_of(add->getType()), false, frequency);
    touch(context, instruction, where, bytes_of(add->getType()), true, frequency);
    Pointers what = value_of(context, add->getValOperand());
    if (add->getOperation() != llvm::AtomicRMWInst::Xchg)  // what was there, moved
      for (const Pointer& pointer : value_of(context, add)) what.insert(pointer.anywhere());
    for (const Pointer& pointer : where) memory_.store(pointer, what);
  } else if (auto* exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction)) {
    const Pointers where = value_of(context, exchange->getPointerOperand());
    const std::int64_t bytes = bytes_of(exchange->getNewValOperand()->getType());
    touch(context, instruction, where, bytes, false, frequency);
    touch(context, instruction, where, bytes, true, frequency);
    for (const Pointer& pointer : where) memory_.store(pointer, value_of(context, exchange->getNewValOperand()));
  } else if (auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction)) {
    visit_call(context, *call, frequency);
  } else if (auto* back = llvm::dyn_cast<llvm::ReturnInst>(&instruction); back != nullptr && back->getReturnValue()) {
    give_back(context, value_of(context, back->getReturnValue()));
    if (!llvm::isa<llvm::ConstantPointerNull>(back->getReturnValue())) context->returns_number = true;
  }
}

void Walk::give_back(Context* context, const Pointers& value) {
  if (!context->returned.insert(value)) return;
  grown_ = true;
  if (context->parent == nullptr) ++thread_results_;
  if (context->parent == nullptr && context->thread == 0) give_away(value);
}

/// To code that was not seen. Of a whole program that is code which keeps none of the program's data.
void Walk::give_away(const Pointers& value) {
  if (!whole_) memory_.store(Pointer{.object = memory_.unknown()}, value);
}

std::set<int> Walk::open_objects() const {
  if (whole_) return {};
  std::vector<int> from{memory_.unknown()};
  for (int object = 0; object < memory_.size(); ++object) {
    const Object& it = memory_[object];
    if ((it.kind == Kind::foreign && under_keys_.count(object) == 0) ||
        (it.kind == Kind::global && it.open && !is_library_object(it.name)))
      from.push_back(object);
  }
  std::set<int> found = memory_.behind(from);
  found.insert(from.begin(), from.end());
  return found;
}

/// Has this instruction not done the same before? Contents only grow, so what has been stored is there.
bool Walk::is_new(Context* context, llvm::Instruction* instruction, std::uint64_t where, std::uint64_t what) {
  const std::uint64_t both = where << 32U | what;  // there are fewer stamps than that
  return std::exchange(context->values[instruction].inputs, both) != both;
}

Context* Walk::new_context(llvm::Function* function, int thread) {
  contexts_.push_back(std::make_unique<Context>());
  Context* made = contexts_.back().get();
  made->function = function;
  made->thread = thread;
  return made;
}

Context* Walk::enter(Context* from, llvm::CallBase* call, llvm::Function* callee, double frequency) {
  if (Context* known = from->callees[call].lookup(callee); known != nullptr) return known;
  Context* found = nullptr;
  for (Context* above = from; above != nullptr && found == nullptr; above = above->parent)
    if (above->function == callee) found = above;  // recursion
  auto& merged = merged_[from->thread];
  const bool crowded = contexts_of_thread_[from->thread] > kMostContexts || from->depth > kDeepest;
  if (found == nullptr && crowded)
    if (const auto known = merged.find(callee); known != merged.end()) found = known->second;
  if (found == nullptr) {
    found = new_context(callee, from->thread);
    found->parent = from;
    found->call = call;
    found->depth = from->depth + 1;
    const llvm::BasicBlock* ignored = nullptr;
    found->in_loop = in_loop(from, *call, ignored);
    found->frequency = frequency;
    found->arguments.resize(callee->arg_size());
    ++contexts_of_thread_[from->thread];
    if (crowded) merged.emplace(callee, found);
  } else {
    found->same_arguments = false;
    if (found->parent != from) found->in_loop = true;  // recursion, or many callers in one
  }
  from->callees[call].insert({callee, found});
  return found;
}

void Walk::touch(Context* context, llvm::Instruction& instruction, const Pointers& pointers, std::int64_t bytes,
                 bool write, double frequency) {
  if (!collecting_) return;
  for (const Pointer& pointer : pointers) {
    const Object& object = memory_[pointer.object];
    if (object.kind == Kind::function || object.kind == Kind::handle || object.constant) continue;
    // What a thread's own functions keep on their stacks is shared only if another thread can reach it; that
    // shows there.
    touches_[context->thread] += frequency;
    if (Memory::may_be(pointer, memory_.unknown())) note_unknown(context, "memory that this file alone does not tell");
    std::vector<Access>& list = accesses_[context->thread][pointer.object];
    Access access{pointer, bytes, write, frequency, &instruction, context};
    if (std::ssize(list) >= kMostPerObject) {
      const auto same = std::find_if(list.begin() + kMostPerObject, list.end(),
                                     [&](const Access& each) { return each.write == write; });
      if (same != list.end()) {
        same->frequency += frequency;
        continue;
      }
      access.where = pointer.anywhere().without_loop();
      access.bytes = kUnbounded / 2;
      access.several = true;
    }
    list.push_back(access);
  }
}

void Walk::note_unknown(Context* context, const std::string& reason) {
  Node& node = program_.nodes[context->thread];
  if (collecting_ && node.unknown_reason.empty()) node.unknown_reason = reason;
}

void Walk::count_cost(Context* context, llvm::Instruction& instruction, double frequency) {
  Cost& cost = program_.nodes[context->thread].cost;
  if (instruction.isBinaryOp() || llvm::isa<llvm::CmpInst>(instruction)) {
    (instruction.getOperand(0)->getType()->isFPOrFPVectorTy() ? cost.flops : cost.integer_operations) += frequency;
  } else if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) {
    cost.bytes += frequency *
                  static_cast<double>(module_.getDataLayout().getTypeStoreSize(load->getType()).getKnownMinValue());
  } else if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) {
    cost.bytes += frequency *
                  static_cast<double>(
                      module_.getDataLayout().getTypeStoreSize(store->getValueOperand()->getType()).getKnownMinValue());
  }
}

}  // namespace hearth::btlp
