// See walk.h: data under keys of a thread (pthread_setspecific, tss_set), and the keys' destructors.
//
// Keys are not told apart: what a thread has under one it has under all, and each destructor gets all of it. A destructor
// is one more root of every thread that has something under a key, so nothing is known of its order: it comes at the
// thread's end, which may be after anything that the thread does.
#include <algorithm>

#include <llvm/IR/Constants.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/Instructions.h>

#include "btlp/analysis/library.h"
#include "btlp/analysis/walk.h"

namespace hearth::btlp {
namespace {

bool makes_key(llvm::StringRef name) { return name == "pthread_key_create" || name == "tss_create"; }

/// Is this key a variable of this file alone, of which only the calls for keys learn?
bool is_private(const llvm::Value* key) {
  if (const auto* cast = llvm::dyn_cast<llvm::CastInst>(key)) key = cast->getOperand(0);
  const auto* load = llvm::dyn_cast<llvm::LoadInst>(key);
  const auto* variable =
      load == nullptr ? nullptr : llvm::dyn_cast<llvm::GlobalVariable>(load->getPointerOperand()->stripPointerCasts());
  if (variable == nullptr || !variable->hasLocalLinkage()) return false;
  return std::all_of(variable->user_begin(), variable->user_end(), [](const llvm::User* user) {
    if (llvm::isa<llvm::LoadInst>(user)) return true;
    const auto* call = llvm::dyn_cast<llvm::CallBase>(user);
    const llvm::Function* callee = call == nullptr ? nullptr : call->getCalledFunction();
    return callee != nullptr && makes_key(callee->getName());
  });
}

}  // namespace

/// Where the thread has what it has under its keys.
Pointer Walk::specific(int thread) {
  const int object = memory_.foreign("data under keys of thread " + std::to_string(thread));
  under_keys_.insert(object);
  return Pointer{.object = object, .hi = kUnbounded};
}

bool Walk::call_keys(Context* context, llvm::CallBase& call, llvm::StringRef name) {
  if (call.arg_size() != 2) return false;
  if (name == "pthread_setspecific" || name == "tss_set") {
    const Pointers what = value_of(context, call.getArgOperand(1));
    memory_.store(specific(context->thread), what);
    // Another file may ask for it, or have made the key with a destructor of its own.
    if (!is_private(call.getArgOperand(0))) give_away(what);
    return true;
  }
  if (!makes_key(name)) return false;
  add_destructors(context, call);
  return true;
}

Pointers Walk::under_key(Context* context, llvm::CallBase& call) {
  Pointers found = memory_.load(specific(context->thread), 8);
  if (!whole_ && !is_private(call.getArgOperand(0))) found.insert(Pointer{.object = memory_.unknown(), .hi = kUnbounded});
  return found;
}

void Walk::add_destructors(Context* context, llvm::CallBase& call) {
  llvm::Value* named = call.getArgOperand(1);
  if (llvm::isa<llvm::ConstantData>(named)) return;  // none
  key_made_ = &call;
  const auto add = [&](llvm::Function* function) {
    if (std::find(destructors_.begin(), destructors_.end(), function) != destructors_.end()) return;
    destructors_.push_back(function);
    grown_ = true;
  };
  const Pointers functions = value_of(context, named);
  bool known = !functions.empty() || !collecting_;  // early rounds do not know all of it
  for (const Pointer& pointer : functions) {
    const Object& object = memory_[pointer.object];
    if (object.kind == Kind::function)
      add(llvm::cast<llvm::Function>(const_cast<llvm::Value*>(object.value)));
    else if (object.kind == Kind::rest)
      for (llvm::Function* function : functions_of_rest(pointer.object)) add(function);
    else
      known = false;
  }
  destructor_unknown_ = destructor_unknown_ || !known;
}

/// Calls function(thread, data) for each thread that has something under a key. main() ends the process instead of its thread,
/// unless it exits as one.
template <class Function>
void Walk::for_each_end(Function&& function) {
  for (std::size_t node = 0; node < roots_.size(); ++node) {
    const int thread = static_cast<int>(node);
    if (thread == 0 && ended_by_exit_.count(0) == 0) continue;
    const Pointers data = memory_.load(specific(thread), 8);
    if (!data.empty()) function(thread, data);
  }
}

/// Gives each thread's data to the destructors that are here.
void Walk::follow_destructors() {
  for_each_end([&](int thread, const Pointers& data) {
    // For each key, and again while destructors set keys.
    for (llvm::Function* destructor : destructors_)
      if (!destructor->isDeclaration()) call_any_time(thread, destructor, data);
  });
}

/// What destructors without bitcode do to the data: free() nothing that matters, others whatever they may.
void Walk::touch_by_destructors() {
  for_each_end([&](int thread, const Pointers& data) {
    const auto touch_all = [&](llvm::Function* function, const Pointers& what) {
      Context*& root = any_time_[{thread, function}];
      if (root == nullptr) root = new_context(function == nullptr ? key_made_->getFunction() : function, thread);
      touch(root, *key_made_, what, kUnbounded / 2, false, 1);
      touch(root, *key_made_, what, kUnbounded / 2, true, 1);
    };
    for (llvm::Function* destructor : destructors_)
      if (destructor->isDeclaration() && !is_silent(destructor->getName()))
        touch_all(destructor, is_libc(destructor->getName()) ? data : memory_.reachable(data));
    if (!destructor_unknown_) return;
    touch_all(nullptr, memory_.reachable(data));
    note_unknown(any_time_[{thread, nullptr}], "a key has a destructor that is not known");
  });
}

}  // namespace hearth::btlp
