// Which threads can surely be joined until their creator goes on: only those may get their CPUs by a call behind their
// creation, which reads the thread's own record. A thread that detaches itself, or that another thread joins, may be gone.
#include <llvm/IR/Constants.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/Module.h>

#include "btlp/analysis/creators.h"
#include "btlp/analysis/library.h"
#include "btlp/analysis/walk.h"

namespace hearth::btlp {
namespace {

const llvm::Function* callee_of(const llvm::Instruction& instruction) {
  const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
  return call == nullptr ? nullptr : call->getCalledFunction();
}

/// Does the result of pthread_self() go anywhere but into a call that only looks at the thread?
bool hands_itself_on(const llvm::Instruction& self) {
  for (const llvm::User* user : self.users()) {
    const auto* instruction = llvm::dyn_cast<llvm::Instruction>(user);
    const llvm::Function* callee = instruction == nullptr ? nullptr : callee_of(*instruction);
    if (callee == nullptr) return true;
    const llvm::StringRef name = callee->getName();
    if (!name.starts_with("pthread_") && !name.starts_with("thrd_")) return true;
  }
  return false;
}

struct Found {
  bool detaching_attributes = false, handed_on = false;
};

Found look_at(llvm::Module& module) {
  Found found;
  for (llvm::Function& function : module)
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      const llvm::Function* callee = callee_of(instruction);
      if (callee == nullptr) continue;
      const llvm::StringRef name = callee->getName();
      if (name == "pthread_attr_setdetachstate") {
        const auto* state = llvm::dyn_cast<llvm::ConstantInt>(llvm::cast<llvm::CallBase>(instruction).getArgOperand(1));
        if (state == nullptr || !state->isZero()) found.detaching_attributes = true;
      }
      if (name == "pthread_self" || name == "thrd_current") found.handed_on |= hands_itself_on(instruction);
    }
  return found;
}

}  // namespace

/// Empty: nothing speaks against it.
std::string Walk::why_not_joinable(int number, bool detaching_attributes, bool handed_on) const {
  const Node& node = program_.nodes[static_cast<std::size_t>(number)];
  const Creation& creation = creations_[static_cast<std::size_t>(number)];
  if (!program_.whole) return "not all of the program is known, and it may be detached there";
  if (creation.creator->name != "pthread_create" && creation.creator->name != "thrd_create")
    return std::string(creation.creator->shown) + " keeps the thread's handle";
  if (node.detached) return "it is detached";
  if (detached_unknown_) return "a thread is detached of which the analysis does not know which one it is";
  if (handed_on) return "a thread tells others its handle by pthread_self()";
  if (creation.creator->attributes >= 0 && detaching_attributes &&
      !llvm::isa<llvm::ConstantPointerNull>(
          creation.call->getArgOperand(static_cast<unsigned>(creation.creator->attributes))))
    return "its attributes may say that it is detached";
  if (joined_unknown_) return "a thread is joined of which the analysis does not know which one it is";
  for (const Context* context : creation.join_contexts)
    if (context->thread != node.creator || program_.nodes[static_cast<std::size_t>(node.creator)].many)
      return "another thread than its creator may join it";
  return {};
}

void Walk::find_joinable() {
  const Found found = look_at(module_);
  for (Node& node : program_.nodes)
    if (node.number != 0)
      node.may_not_join = why_not_joinable(node.number, found.detaching_attributes, found.handed_on);
}

}  // namespace hearth::btlp
