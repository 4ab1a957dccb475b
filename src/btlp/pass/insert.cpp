// Every reference to the support library is weak and goes through a helper inside the module: an object that is linked
// without the library creates its threads as if nothing had been inserted.
#include "btlp/pass/insert.h"

#include <vector>

#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>

#include "btlp/analysis/classify.h"
#include "btlp/analysis/creators.h"
#include "btlp/analysis/prepare.h"

namespace hearth::btlp {
namespace {

constexpr const char* kPlan = "hearth_btlp_plan";

llvm::GlobalVariable* text(llvm::Module& module, const std::string& words) {
  llvm::Constant* value = llvm::ConstantDataArray::getString(module.getContext(), words);
  auto* variable = new llvm::GlobalVariable(module, value->getType(), true, llvm::GlobalValue::PrivateLinkage, value,
                                            "hearth.key");
  variable->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
  return variable;
}

llvm::GlobalVariable* plan_of(llvm::Module& module) {
  if (llvm::GlobalVariable* known = module.getNamedGlobal(kPlan)) return known;
  auto* plan = new llvm::GlobalVariable(module, llvm::Type::getInt8Ty(module.getContext()), true,
                                        llvm::GlobalValue::ExternalWeakLinkage, nullptr, kPlan);
  plan->setVisibility(llvm::GlobalValue::HiddenVisibility);
  return plan;
}

/// struct hearth_btlp_site
llvm::GlobalVariable* site_of(llvm::Module& module, const std::string& key, const Program& program) {
  llvm::LLVMContext& context = module.getContext();
  Class type = Class::unknown;
  bool many = false;
  for (const Node& node : program.nodes)
    if (node.number > 0 && node.site == key) {
      type = node.type;
      many = node.many;
    }
  const auto byte = [&](int value) {
    return llvm::ConstantInt::get(llvm::Type::getInt8Ty(context), static_cast<unsigned>(value));
  };
  llvm::Constant* fields[] = {text(module, key),
                              plan_of(module),
                              llvm::ConstantInt::get(llvm::Type::getInt32Ty(context), 0),
                              byte(static_cast<int>(type)),
                              byte(many),
                              byte(static_cast<int>(program.mode)),
                              byte(static_cast<int>(running_rules(program)))};
  llvm::Constant* value = llvm::ConstantStruct::getAnon(context, fields);
  return new llvm::GlobalVariable(module, value->getType(), false, llvm::GlobalValue::PrivateLinkage, value,
                                  "hearth.site");
}

llvm::Function* outside(llvm::Module& module, const char* name, llvm::FunctionType* type) {
  if (llvm::Function* known = module.getFunction(name)) return known;
  return llvm::Function::Create(type, llvm::GlobalValue::ExternalWeakLinkage, name, module);
}

/// A function with the arguments of the creator and the site: asks the library if there is one, else creates the
/// thread.
llvm::Function* helper(llvm::Module& module, llvm::Function& creator, const char* name) {
  const std::string own = std::string("hearth.") + name;
  if (llvm::Function* known = module.getFunction(own)) return known;
  llvm::LLVMContext& context = module.getContext();
  std::vector<llvm::Type*> types(creator.getFunctionType()->params());
  types.push_back(llvm::PointerType::getUnqual(context));
  auto* type = llvm::FunctionType::get(creator.getReturnType(), types, false);
  llvm::Function* function = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, own, module);
  llvm::Function* library = outside(module, name, type);
  auto* entry = llvm::BasicBlock::Create(context, "", function);
  auto* with = llvm::BasicBlock::Create(context, "", function);
  auto* without = llvm::BasicBlock::Create(context, "", function);
  llvm::IRBuilder<> builder(entry);
  builder.CreateCondBr(builder.CreateIsNotNull(library), with, without);
  std::vector<llvm::Value*> all, first;
  for (llvm::Argument& argument : function->args()) all.push_back(&argument);
  first.assign(all.begin(), all.end() - 1);
  builder.SetInsertPoint(with);
  builder.CreateRet(builder.CreateCall(library, all));
  builder.SetInsertPoint(without);
  builder.CreateRet(builder.CreateCall(&creator, first));
  return function;
}

/// pthread_create() and thrd_create(): the helper instead.
void replace(llvm::Module& module, llvm::CallBase& call, const char* name, llvm::Value* site) {
  llvm::Function* function = helper(module, *call.getCalledFunction(), name);
  std::vector<llvm::Value*> arguments(call.arg_begin(), call.arg_end());
  arguments.push_back(site);
  llvm::IRBuilder<> builder(&call);
  llvm::CallBase* now = nullptr;
  if (auto* invoke = llvm::dyn_cast<llvm::InvokeInst>(&call))
    now = builder.CreateInvoke(function, invoke->getNormalDest(), invoke->getUnwindDest(), arguments);
  else
    now = builder.CreateCall(function, arguments);
  now->setDebugLoc(call.getDebugLoc());
  now->takeName(&call);
  call.replaceAllUsesWith(now);
  call.eraseFromParent();
}

/// Before the call: `if (library) library(…)`.
void ask_before(llvm::Module& module, llvm::CallBase& call, const char* name,
                const std::vector<llvm::Value*>& arguments) {
  llvm::LLVMContext& context = module.getContext();
  const std::string own = std::string("hearth.") + name;
  llvm::Function* function = module.getFunction(own);
  if (function == nullptr) {
    std::vector<llvm::Type*> types;
    for (llvm::Value* argument : arguments) types.push_back(argument->getType());
    auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(context), types, false);
    function = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, own, module);
    function->setDoesNotThrow();
    llvm::Function* library = outside(module, name, type);
    auto* entry = llvm::BasicBlock::Create(context, "", function);
    auto* with = llvm::BasicBlock::Create(context, "", function);
    auto* end = llvm::BasicBlock::Create(context, "", function);
    llvm::IRBuilder<> builder(entry);
    builder.CreateCondBr(builder.CreateIsNotNull(library), with, end);
    builder.SetInsertPoint(with);
    std::vector<llvm::Value*> all;
    for (llvm::Argument& argument : function->args()) all.push_back(&argument);
    builder.CreateCall(library, all);
    builder.CreateBr(end);
    builder.SetInsertPoint(end);
    builder.CreateRetVoid();
  }
  llvm::IRBuilder<> builder(&call);
  llvm::CallInst* asked = builder.CreateCall(function, arguments);
  asked->setDebugLoc(call.getDebugLoc());
}

/// Any other creator: routine and argument are exchanged for a trampoline and what it needs.
void wrap(llvm::Module& module, llvm::CallBase& call, const Creator& creator, llvm::Value* site) {
  llvm::IRBuilder<> first(&*call.getFunction()->getEntryBlock().getFirstInsertionPt());
  llvm::Type* pointer = first.getPtrTy();
  llvm::Value* routine = first.CreateAlloca(pointer);
  llvm::Value* argument = first.CreateAlloca(pointer);
  llvm::IRBuilder<> builder(&call);
  builder.CreateStore(call.getArgOperand(creator.routine), routine);
  builder.CreateStore(call.getArgOperand(creator.argument), argument);
  ask_before(module, call, "hearth_btlp_wrap", {routine, argument, builder.getInt32(creator.returns_int), site});
  call.setArgOperand(creator.routine, builder.CreateLoad(pointer, routine));
  call.setArgOperand(creator.argument, builder.CreateLoad(pointer, argument));
}

}  // namespace

int insert_placing(llvm::Module& module, const Program& program) {
  std::vector<llvm::CallBase*> calls;
  for (llvm::Function& function : module)
    for (llvm::Instruction& instruction : llvm::instructions(function))
      if (auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
          call != nullptr && creator_called(*call) != nullptr)
        calls.push_back(call);
  for (llvm::CallBase* call : calls) {
    const Creator& creator = *creator_called(*call);
    llvm::Value* site = site_of(module, creation_tag(*call), program);
    if (creator.name == "pthread_create")
      replace(module, *call, "hearth_btlp_pthread_create", site);
    else if (creator.name == "thrd_create")
      replace(module, *call, "hearth_btlp_thrd_create", site);
    else if (creator.shape == Shape::state)
      ask_before(module, *call, "hearth_btlp_state", {call->getArgOperand(creator.routine), site});
    else
      wrap(module, *call, creator, site);
  }
  return static_cast<int>(calls.size());
}

}  // namespace hearth::btlp
