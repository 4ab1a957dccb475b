// See walk.h: where a creation stands in the source, and whether it is in a loop that counts.
#include <set>

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

#include "btlp/analysis/creators.h"
#include "btlp/analysis/frames.h"
#include "btlp/analysis/walk.h"

namespace hearth::btlp {
namespace {

std::string shown_name(const llvm::DISubprogram* program) {
  if (program->getName() == "operator()" || program->getName() == "__invoke")
    return "lambda:" + std::to_string(program->getLine());
  return program->getName().str();
}

/// Does the loop end once the creation has succeeded (`while (pthread_create(…) == EAGAIN)`)?
bool retries(const llvm::Loop& loop, llvm::CallBase& call) {
  llvm::SmallVector<llvm::BasicBlock*, 4> exiting;
  loop.getExitingBlocks(exiting);
  for (llvm::BasicBlock* block : exiting) {
    auto* branch = llvm::dyn_cast<llvm::BranchInst>(block->getTerminator());
    auto* compare = branch == nullptr || !branch->isConditional()
                        ? nullptr
                        : llvm::dyn_cast<llvm::ICmpInst>(branch->getCondition());
    if (compare == nullptr) {
      auto* choice = llvm::dyn_cast<llvm::SwitchInst>(block->getTerminator());
      if (choice == nullptr || choice->getCondition() != &call) continue;
      const auto zero = choice->findCaseValue(llvm::ConstantInt::get(llvm::cast<llvm::IntegerType>(call.getType()), 0));
      if (!loop.contains(zero->getCaseSuccessor())) return true;
      continue;
    }
    const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(compare->getOperand(1));
    if (compare->getOperand(0) != &call || constant == nullptr) continue;
    const bool holds = llvm::ICmpInst::compare(llvm::APInt(constant->getBitWidth(), 0), constant->getValue(),
                                               compare->getPredicate());
    if (!loop.contains(branch->getSuccessor(holds ? 0 : 1))) return true;
  }
  return false;
}

/// Does the body run once at most?
bool runs_once(const llvm::Loop& loop, const llvm::BasicBlock* place, llvm::ScalarEvolution& evolution) {
  const auto* back = llvm::dyn_cast<llvm::SCEVConstant>(evolution.getConstantMaxBackedgeTakenCount(&loop));
  if (back == nullptr) return false;
  const std::uint64_t taken = back->getAPInt().getLimitedValue(100);
  const bool tested_first = loop.isLoopExiting(loop.getHeader()) && place != loop.getHeader();
  return tested_first ? taken <= 1 : taken == 0;
}

}  // namespace

bool Walk::in_loop(Context* context, llvm::CallBase& call, const llvm::BasicBlock*& header) {
  header = nullptr;
  llvm::Instruction* place = &call;
  for (Context* at = context; at != nullptr; place = at->call, at = at->parent) {
    auto& loops = functions_->getResult<llvm::LoopAnalysis>(*at->function);
    auto& evolution = functions_->getResult<llvm::ScalarEvolutionAnalysis>(*at->function);
    for (const llvm::Loop* loop = loops.getLoopFor(place->getParent()); loop != nullptr; loop = loop->getParentLoop()) {
      if (runs_once(*loop, place->getParent(), evolution) || retries(*loop, *llvm::cast<llvm::CallBase>(place)))
        continue;
      header = loop->getHeader();
      return true;
    }
  }
  return context->in_loop;
}

void Walk::describe(Node& node, Context* context, llvm::CallBase& call, const Creator& creator,
                    llvm::Function* routine) {
  node.api = std::string(creator.shown);
  std::vector<Frame> frames = frames_of(call);
  for (Context* at = context; at->parent != nullptr; at = at->parent)
    for (const Frame& frame : frames_of(*at->call)) frames.push_back(frame);
  if (frames.empty()) frames.push_back({call.getFunction()->getName().str(), "", 0, 0});
  node.function = frames.front().function;
  node.file = frames.front().file;
  node.line = frames.front().line;
  for (const Frame& frame : frames) node.place += std::to_string(frame.line) + ":" + std::to_string(frame.column) + "|";
  for (std::size_t n = frames.size(); n-- > 1;)
    node.path.push_back(frames[n].function + ":" + std::to_string(frames[n].line));
  if (routine == nullptr) return;
  node.routine_symbol = routine->getName().str();
  const llvm::DISubprogram* program = routine->getSubprogram();
  node.routine = program == nullptr ? node.routine_symbol : shown_name(program);
}

void Walk::name_routines() {
  for (std::size_t number = 1; number < creations_.size(); ++number) {
    const Creation& creation = creations_[number];
    if (creation.root == nullptr) continue;
    const llvm::DISubprogram* program = creation.routine->getSubprogram();
    if (creation.creator->shape == Shape::function && (program == nullptr || !is_system(program))) continue;
    // The first function of the program's own on the way from the library's wrapper: called, or inlined into it.
    std::vector<Context*> todo{creation.root};
    std::set<Context*> seen;
    std::string found;
    for (std::size_t n = 0; n < todo.size() && found.empty(); ++n) {
      Context* context = todo[n];
      if (!seen.insert(context).second) continue;
      if (const auto* own = context->function->getSubprogram(); own != nullptr && !is_system(own))
        found = shown_name(own);
      for (llvm::BasicBlock& block : *context->function)
        for (llvm::Instruction& instruction : block) {
          const llvm::DISubprogram* outermost = nullptr;
          for (const llvm::DILocation* at = instruction.getDebugLoc().get(); at != nullptr; at = at->getInlinedAt())
            if (const auto* scope = at->getScope()->getSubprogram(); scope != nullptr && !is_system(scope))
              outermost = scope;
          if (found.empty() && outermost != nullptr) found = shown_name(outermost);
        }
      for (const auto& [call, callees] : context->callees)
        for (const auto& [function, callee] : callees) todo.push_back(callee);
    }
    if (!found.empty()) program_.nodes[number].routine = found;
  }
}

int Walk::line_of(const llvm::Instruction& instruction) const {
  const std::vector<Frame> frames = frames_of(instruction);
  return frames.empty() ? 0 : frames.front().line;
}

std::string Walk::name_of(int object) const {
  const Object& it = memory_[object];
  if (it.kind == Kind::global || it.kind == Kind::foreign || it.kind == Kind::unknown) return llvm::demangle(it.name);
  const auto* instruction = llvm::dyn_cast_or_null<llvm::Instruction>(it.value);
  if (instruction == nullptr) return it.name;
  if (it.kind == Kind::stack && !it.name.empty()) {
    const std::size_t end = it.name.find(".");
    return it.name.substr(0, end);
  }
  return allocation_name(*instruction);
}

}  // namespace hearth::btlp
