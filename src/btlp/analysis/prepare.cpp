#include "btlp/analysis/prepare.h"

#include <llvm/ADT/SCCIterator.h>
#include <llvm/Analysis/CallGraph.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Transforms/IPO/GlobalDCE.h>
#include <llvm/Transforms/IPO/InferFunctionAttrs.h>
#include <llvm/Transforms/IPO/Inliner.h>
#include <llvm/Transforms/IPO/Internalize.h>
#include <llvm/Transforms/IPO/ModuleInliner.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/InstSimplifyPass.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Utils/Local.h>
#include <llvm/Transforms/Utils/LoopSimplify.h>

#include <optional>
#include <set>

#include "btlp/analysis/creators.h"
#include "btlp/analysis/frames.h"

namespace hearth::btlp {
namespace {

constexpr const char* kTag = "hearth.site";
constexpr const char* kLoop = "hearth.loop";
// Inlining is bounded by what the analysis can afford, not by what would run well.
constexpr int kThreshold = 400;
constexpr unsigned kLargeModule = 60000;  // instructions; from here on the compiler's own threshold
constexpr unsigned kMostCallers = 48;
constexpr unsigned kMostInstructions = 1500;
constexpr const char* kEnds[] = {"_ZSt9terminatev", "_ZSt11__terminatev", "abort", "__assert_fail", "llvm.trap",
                                   "_ZNSt3__120__throw_system_errorEiPKc"};  // libc++: no thread could be created

bool calls_itself(llvm::Function* function, const std::set<llvm::Function*>& recursive) {
  return recursive.count(function) != 0;
}

std::set<llvm::Function*> recursive_functions(llvm::Module& module) {
  std::set<llvm::Function*> found;
  llvm::CallGraph graph(module);
  for (auto scc = llvm::scc_begin(&graph); !scc.isAtEnd(); ++scc) {
    if (!scc.hasCycle()) continue;
    for (llvm::CallGraphNode* node : *scc)
      if (node->getFunction() != nullptr) found.insert(node->getFunction());
  }
  return found;
}

/// Functions that reach a creation by direct calls.
std::set<llvm::Function*> functions_that_create(llvm::Module& module) {
  std::set<llvm::Function*> found;
  std::vector<llvm::Function*> todo;
  for (llvm::Function& function : module)
    for (llvm::Instruction& instruction : llvm::instructions(function))
      if (auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
          call != nullptr && creator_called(*call) != nullptr)
        if (found.insert(&function).second) todo.push_back(&function);
  while (!todo.empty()) {
    llvm::Function* function = todo.back();
    todo.pop_back();
    for (llvm::User* user : function->users()) {
      auto* call = llvm::dyn_cast<llvm::CallBase>(user);
      if (call != nullptr && call->getCalledFunction() == function && found.insert(call->getFunction()).second)
        todo.push_back(call->getFunction());
    }
  }
  return found;
}

/// Wrappers of creation disappear into their callers, so that each call path is a creation of its own.
void inline_wrappers(llvm::Module& module) {
  const std::set<llvm::Function*> recursive = recursive_functions(module);
  for (llvm::Function* function : functions_that_create(module)) {
    if (function->getName() == "main" || function->isVarArg() || calls_itself(function, recursive)) continue;
    if (function->getNumUses() > kMostCallers || function->getInstructionCount() > kMostInstructions) continue;
    function->addFnAttr(llvm::Attribute::AlwaysInline);
  }
}

void allow_everything(llvm::Module& module) {
  for (llvm::Function& function : module) {
    function.removeFnAttr(llvm::Attribute::OptimizeNone);
    function.removeFnAttr(llvm::Attribute::NoInline);
    for (llvm::Instruction& instruction : llvm::instructions(function))
      if (auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction)) call->removeFnAttr(llvm::Attribute::NoInline);
  }
}

/// Is this where an exception only runs destructors, or ends the program?
bool handles_nothing(const llvm::LandingPadInst& pad) {
  return pad.getNumClauses() == 0 || llvm::isa<llvm::UnreachableInst>(pad.getParent()->getTerminator());
}

/// Calls that may throw get no second way out unless there is a handler: destructors on the way of an exception touch
/// nothing that matters, and would tie loops to what is behind them.
void forget_unwinding(llvm::Module& module) {
  std::vector<llvm::InvokeInst*> invokes;
  for (llvm::Function& function : module)
    for (llvm::Instruction& instruction : llvm::instructions(function))
      if (auto* invoke = llvm::dyn_cast<llvm::InvokeInst>(&instruction);
          invoke != nullptr && handles_nothing(*invoke->getLandingPadInst()))
        invokes.push_back(invoke);
  for (llvm::InvokeInst* invoke : invokes) llvm::changeToCall(invoke);
  for (llvm::Function& function : module)
    if (!function.isDeclaration()) llvm::removeUnreachableBlocks(function);
}

/// Does this block do nothing but end the program?
bool only_ends(const llvm::BasicBlock& block) {
  if (!llvm::isa<llvm::UnreachableInst>(block.getTerminator())) return false;
  for (const llvm::Instruction& instruction : block) {
    if (instruction.isTerminator() || instruction.isDebugOrPseudoInst()) continue;
    const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
    if (load != nullptr && load->isUnordered()) continue;
    const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
    const llvm::Function* callee = call == nullptr ? nullptr : call->getCalledFunction();
    if (callee == nullptr) return false;
    bool ends = false;
    for (const char* name : kEnds) ends = ends || callee->getName() == name;
    if (!ends) return false;
  }
  return true;
}

/// Branches to std::terminate() and abort() are not taken: nothing happens behind them, and a loop with one more way out
/// has a number of rounds that nobody can tell (`threads[i] = std::thread(…)` asks each time whether one is running).
void forget_ends(llvm::Module& module) {
  for (llvm::Function& function : module) {
    bool changed = false;
    for (llvm::BasicBlock& block : function) {
      auto* branch = llvm::dyn_cast<llvm::BranchInst>(block.getTerminator());
      if (branch == nullptr || !branch->isConditional() || branch->getSuccessor(0) == branch->getSuccessor(1)) continue;
      for (unsigned side = 0; side < 2 && branch != nullptr; ++side) {
        if (!only_ends(*branch->getSuccessor(side))) continue;
        branch->getSuccessor(side)->removePredecessor(&block);
        llvm::BranchInst::Create(branch->getSuccessor(1 - side), branch->getIterator());
        branch->eraseFromParent();
        branch = nullptr;
        changed = true;
      }
    }
    if (changed) llvm::removeUnreachableBlocks(function);
  }
}

struct Loops {
  explicit Loops(llvm::Function& function) : dominators(function), info(dominators) {}
  llvm::DominatorTree dominators;
  llvm::LoopInfo info;
};

llvm::FunctionPassManager scalar_passes() {
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  passes.addPass(llvm::EarlyCSEPass(true));
  passes.addPass(llvm::InstSimplifyPass());
  passes.addPass(llvm::SimplifyCFGPass());
  return passes;
}

}  // namespace

int tag_creations(llvm::Module& module) {
  int count = 0;
  for (llvm::Function& function : module) {
    int position = 0;
    std::optional<Loops> loops;
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
      if (call == nullptr || creator_called(*call) == nullptr) continue;
      std::string key = function.getName().str() + "#" + std::to_string(position++);
      if (function.hasLocalLinkage()) key = module.getSourceFileName() + ":" + key;
      // An attribute, since inlining into a place with a handler makes a new call, which keeps no metadata.
      if (!call->hasFnAttr(kTag)) {
        if (!loops) loops.emplace(function);
        if (loops->info.getLoopFor(call->getParent()) != nullptr)
          call->addFnAttr(llvm::Attribute::get(module.getContext(), kLoop));
        call->addFnAttr(llvm::Attribute::get(module.getContext(), kTag, key));
      }
      call->addFnAttr(llvm::Attribute::NoMerge);
      ++count;
    }
  }
  return count;
}

std::string creation_tag(const llvm::CallBase& call) {
  return call.getFnAttr(kTag).getValueAsString().str();
}

bool stands_in_loop(const llvm::CallBase& call, bool looped) {
  const llvm::DILocation* place = call.getDebugLoc().get();
  if (place != nullptr && is_system(place->getScope()->getSubprogram())) return looped;
  return call.hasFnAttr(kLoop);
}

void prepare(llvm::Module& module, bool whole) {
  tag_creations(module);
  allow_everything(module);
  forget_unwinding(module);
  forget_ends(module);
  if (whole) llvm::internalizeModule(module, [](const llvm::GlobalValue& value) { return value.getName() == "main"; });
  inline_wrappers(module);

  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);

  llvm::ModulePassManager passes;
  passes.addPass(llvm::InferFunctionAttrsPass());
  passes.addPass(llvm::createModuleToFunctionPassAdaptor(scalar_passes()));
  const bool large = module.getInstructionCount() > kLargeModule;
  llvm::ModuleInlinerWrapperPass inliner(large ? llvm::getInlineParams() : llvm::getInlineParams(kThreshold));
  inliner.getPM().addPass(llvm::createCGSCCToFunctionPassAdaptor(scalar_passes()));
  passes.addPass(std::move(inliner));
  if (whole) passes.addPass(llvm::GlobalDCEPass());
  llvm::FunctionPassManager last = scalar_passes();
  last.addPass(llvm::LoopSimplifyPass());
  passes.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(last)));
  passes.run(module, modules);
}

}  // namespace hearth::btlp
