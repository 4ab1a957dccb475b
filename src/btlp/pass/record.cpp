// Accesses are gathered up to the next call or ordered atomic operation, or the end of their block, and recorded there
// behind one test of a thread's own switch: while it is off, that test is all that a block costs. An access is thus
// recorded after it happened, and before anything that could let another thread, or free(), come next.
#include "btlp/pass/record.h"

#include <map>
#include <string>
#include <vector>

#include <llvm/Analysis/CaptureTracking.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>

#include "btlp/analysis/frames.h"
#include "btlp/recorder/abi.h"

namespace hearth::btlp {
namespace {

constexpr const char* kAllocators[] = {"malloc",
                                       "calloc",
                                       "realloc",
                                       "reallocarray",
                                       "aligned_alloc",
                                       "memalign",
                                       "valloc",
                                       "strdup",
                                       "strndup",
                                       "_Znwm",
                                       "_Znam",
                                       "_ZnwmRKSt9nothrow_t",
                                       "_ZnamRKSt9nothrow_t",
                                       "_ZnwmSt11align_val_t",
                                       "_ZnamSt11align_val_t"};

struct Touch {
  llvm::Value* address = nullptr;
  llvm::Value* bytes = nullptr;  // null: `constant_bytes`
  std::uint64_t constant_bytes = 0;
  unsigned how = 0;
};

struct Group {
  llvm::Instruction* before = nullptr;
  std::vector<Touch> touches;
};

/// A library function that touches memory through its arguments: up to a length, or up to a string's end (-1), or as
/// many bytes as it returns (-2).
struct Outside {
  const char* name;
  int reads, reads_length, writes, writes_length;
};
constexpr int kString = -1, kResult = -2, kNone = -3;
constexpr Outside kOutside[] = {{"memcpy", 1, 2, 0, 2},
                                {"memmove", 1, 2, 0, 2},
                                {"memset", kNone, 0, 0, 2},
                                {"memcmp", 0, 2, kNone, 0},
                                {"bcmp", 0, 2, kNone, 0},
                                {"memchr", 0, 2, kNone, 0},
                                {"strlen", 0, kString, kNone, 0},
                                {"strcpy", 1, kString, 0, kString},
                                {"strcat", 1, kString, 0, kString},
                                {"strcmp", 0, kString, kNone, 0},
                                {"snprintf", kNone, 0, 0, kString},
                                {"sprintf", kNone, 0, 0, kString},
                                {"puts", 0, kString, kNone, 0},
                                {"read", kNone, 0, 1, kResult},
                                {"write", 1, kResult, kNone, 0},
                                {"recv", kNone, 0, 1, kResult},
                                {"send", 1, kResult, kNone, 0},
                                {"pread", kNone, 0, 1, kResult},
                                {"pwrite", 1, kResult, kNone, 0}};

class Recorder {
 public:
  Recorder(llvm::Module& module, bool exact) : module_(module), context_(module.getContext()), exact_(exact) {}

  void run() {
    std::vector<llvm::Function*> functions;
    for (llvm::Function& function : module_)
      if (!function.isDeclaration() && !function.getName().starts_with("hearth.") &&
          !function.hasAvailableExternallyLinkage() && !function.hasFnAttribute(llvm::Attribute::Naked) &&
          !function.isPresplitCoroutine())
        functions.push_back(&function);
    tell_module(functions);
    for (llvm::Function* function : functions) one(*function);
  }

 private:
  void one(llvm::Function& function) {
    captured_.clear();
    std::vector<llvm::AllocaInst*> variables;
    std::vector<llvm::CallBase*> allocations, library;
    bool creates = false;
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      if (auto* variable = llvm::dyn_cast<llvm::AllocaInst>(&instruction); variable != nullptr && escapes(variable))
        variables.push_back(variable);
      auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
      if (call == nullptr || call->getCalledFunction() == nullptr) continue;
      const llvm::StringRef name = call->getCalledFunction()->getName();
      creates = creates || name.contains("hearth_btlp_");
      for (const char* allocator : kAllocators)
        if (name == allocator && call->getType()->isPointerTy()) allocations.push_back(call);
      for (const Outside& known : kOutside)
        if (name == known.name && llvm::isa<llvm::CallInst>(call)) library.push_back(call);
    }
    std::vector<Group> groups = gather(function);
    for (llvm::CallBase* call : library) outside(*call, groups);
    for (llvm::CallBase* call : allocations) allocated(*call);
    for (llvm::AllocaInst* variable : variables) lives(*variable, creates);
    for (const Group& group : groups) emit(group);
    // It touches the recorder's memory now, whatever it did before.
    function.removeFnAttr(llvm::Attribute::Memory);
    function.removeFnAttr(llvm::Attribute::NoSync);
    function.removeFnAttr(llvm::Attribute::Speculatable);
  }

  bool escapes(llvm::AllocaInst* variable) {
    const auto known = captured_.find(variable);
    if (known != captured_.end()) return known->second;
    return captured_[variable] = llvm::PointerMayBeCaptured(variable, false, true);
  }

  /// Can another thread come by these bytes, and can anybody write them?
  bool matters(llvm::Value* address) {
    if (!address->getType()->isPointerTy() || address->getType()->getPointerAddressSpace() != 0) return false;
    llvm::Value* object = llvm::getUnderlyingObject(address, 12);
    if (auto* variable = llvm::dyn_cast<llvm::AllocaInst>(object)) return escapes(variable);
    if (auto* global = llvm::dyn_cast<llvm::GlobalVariable>(object))
      return !global->isConstant() && (exact_ || !global->isThreadLocal());
    if (auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(object);
        call != nullptr && call->getIntrinsicID() == llvm::Intrinsic::threadlocal_address)
      return exact_;
    return !llvm::isa<llvm::Constant>(object) || llvm::isa<llvm::GlobalValue>(object);
  }

  static bool orders(llvm::Instruction& instruction) {
    if (llvm::isa<llvm::FenceInst>(instruction)) return true;
    return instruction.isAtomic();
  }

  void touch_of(llvm::Instruction& instruction, std::vector<Touch>& touches) {
    const llvm::DataLayout& layout = module_.getDataLayout();
    Touch touch;
    llvm::Type* type = nullptr;
    if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) {
      touch.address = load->getPointerOperand();
      type = load->getType();
      touch.how = HEARTH_RECORD_READ;
    } else if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) {
      touch.address = store->getPointerOperand();
      type = store->getValueOperand()->getType();
      touch.how = HEARTH_RECORD_WRITE;
    } else if (auto* update = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction)) {
      touch.address = update->getPointerOperand();
      type = update->getType();
      touch.how = HEARTH_RECORD_READ | HEARTH_RECORD_WRITE;
    } else if (auto* exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction)) {
      touch.address = exchange->getPointerOperand();
      type = exchange->getNewValOperand()->getType();
      touch.how = HEARTH_RECORD_READ | HEARTH_RECORD_WRITE;
    } else if (auto* memory = llvm::dyn_cast<llvm::MemIntrinsic>(&instruction)) {
      touch.bytes = memory->getLength();
      touch.address = memory->getRawDest();
      touch.how = HEARTH_RECORD_WRITE;
      if (matters(touch.address)) touches.push_back(touch);
      auto* copy = llvm::dyn_cast<llvm::MemTransferInst>(memory);
      if (copy == nullptr) return;
      touch.address = copy->getRawSource();
      touch.how = HEARTH_RECORD_READ;
      if (matters(touch.address)) touches.push_back(touch);
      return;
    }
    if (type == nullptr || !matters(touch.address)) return;
    const llvm::TypeSize size = layout.getTypeStoreSize(type);
    if (size.isScalable()) return;
    touch.constant_bytes = size.getFixedValue();
    for (Touch& known : touches)
      if (known.address == touch.address && known.bytes == nullptr && known.constant_bytes == touch.constant_bytes) {
        known.how |= touch.how;
        return;
      }
    touches.push_back(touch);
  }

  std::vector<Group> gather(llvm::Function& function) {
    std::vector<Group> groups;
    for (llvm::BasicBlock& block : function) {
      Group group;
      const auto close = [&](llvm::Instruction& before) {
        if (group.touches.empty()) return;
        group.before = &before;
        groups.push_back(group);
        group.touches.clear();
      };
      for (llvm::Instruction& instruction : block) {
        const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
        const bool calls = call != nullptr && !llvm::isa<llvm::IntrinsicInst>(call);
        if (calls || orders(instruction) || instruction.isTerminator()) close(instruction);
        touch_of(instruction, group.touches);
      }
    }
    return groups;
  }

  /// The place behind a call: where it returns to.
  static llvm::Instruction* behind(llvm::CallBase& call) {
    if (auto* invoke = llvm::dyn_cast<llvm::InvokeInst>(&call)) {
      llvm::BasicBlock* next = invoke->getNormalDest();
      if (next->getSinglePredecessor() == nullptr) next = llvm::SplitEdge(invoke->getParent(), next);
      return &*next->getFirstInsertionPt();
    }
    return call.getNextNode();
  }

  void outside(llvm::CallBase& call, std::vector<Group>& groups) {
    for (const Outside& known : kOutside) {
      if (call.getCalledFunction()->getName() != known.name) continue;
      Group group;
      group.before = behind(call);
      llvm::IRBuilder<> builder(group.before);
      llvm::Type* word = builder.getInt64Ty();
      const auto add = [&](int argument, int length, unsigned how) {
        if (argument < 0 || static_cast<int>(call.arg_size()) <= argument) return;
        llvm::Value* address = call.getArgOperand(static_cast<unsigned>(argument));
        if (!matters(address)) return;
        Touch touch;
        touch.address = address;
        touch.how = how;
        if (length >= 0) touch.bytes = call.getArgOperand(static_cast<unsigned>(length));
        if (length == kResult) {
          llvm::Value* got = builder.CreateSExtOrTrunc(&call, word);
          touch.bytes = builder.CreateSelect(builder.CreateICmpSGT(got, builder.getInt64(0)), got, builder.getInt64(0));
        }
        group.touches.push_back(touch);  // a string: no bytes at all, and the recorder measures it
      };
      add(known.reads, known.reads_length, HEARTH_RECORD_READ);
      add(known.writes, known.writes_length, HEARTH_RECORD_WRITE);
      if ((call.getCalledFunction()->getName() == "memcmp" || call.getCalledFunction()->getName() == "strcmp"))
        add(1, known.reads_length, HEARTH_RECORD_READ);
      if (!group.touches.empty()) groups.push_back(group);
      return;
    }
  }

  llvm::GlobalVariable* name(const std::string& text, unsigned kind) {
    llvm::Constant* words = string(text);
    auto* number = llvm::Type::getInt32Ty(context_);
    llvm::Constant* value = llvm::ConstantStruct::getAnon(
        context_, {words, llvm::ConstantInt::get(number, kind), llvm::ConstantInt::get(number, 0)});
    return new llvm::GlobalVariable(module_, value->getType(), false, llvm::GlobalValue::PrivateLinkage, value,
                                    "hearth.name");
  }

  llvm::Constant* string(const std::string& text) {
    llvm::Constant*& known = strings_[text];
    if (known != nullptr) return known;
    llvm::Constant* value = llvm::ConstantDataArray::getString(context_, text);
    auto* variable = new llvm::GlobalVariable(module_, value->getType(), true, llvm::GlobalValue::PrivateLinkage, value,
                                              "hearth.text");
    variable->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
    return known = variable;
  }

  void allocated(llvm::CallBase& call) {
    llvm::IRBuilder<> builder(behind(call));
    builder.SetCurrentDebugLocation(call.getDebugLoc());
    auto type = llvm::FunctionType::get(builder.getVoidTy(), {builder.getPtrTy(), builder.getPtrTy()}, false);
    builder.CreateCall(module_.getOrInsertFunction("hearth_record_allocated", type),
                       {&call, name(allocation_name(call), HEARTH_RECORD_HEAP)});
  }

  void live_at(llvm::AllocaInst& variable, llvm::Instruction* before, llvm::GlobalVariable* named, bool always) {
    if (!always) before = guarded(before);
    llvm::IRBuilder<> builder(before);
    builder.SetCurrentDebugLocation(llvm::DebugLoc());
    if (llvm::DISubprogram* program = variable.getFunction()->getSubprogram())
      builder.SetCurrentDebugLocation(llvm::DILocation::get(context_, program->getLine(), 0, program));
    auto type = llvm::FunctionType::get(builder.getVoidTy(),
                                        {builder.getPtrTy(), builder.getInt64Ty(), builder.getPtrTy()}, false);
    llvm::Value* bytes = builder.getInt64(
        module_.getDataLayout().getTypeAllocSize(variable.getAllocatedType()).getKnownMinValue());
    bytes = builder.CreateMul(bytes, builder.CreateZExtOrTrunc(variable.getArraySize(), builder.getInt64Ty()));
    builder.CreateCall(module_.getOrInsertFunction("hearth_record_variable", type), {&variable, bytes, named});
  }

  void lives(llvm::AllocaInst& variable, bool creates) {
    llvm::GlobalVariable* named = name(variable.getName().split('.').first.str(), HEARTH_RECORD_STACK);
    std::vector<llvm::Instruction*> starts;
    for (llvm::User* user : variable.users())
      if (auto* start = llvm::dyn_cast<llvm::IntrinsicInst>(user);
          start != nullptr && start->getIntrinsicID() == llvm::Intrinsic::lifetime_start)
        starts.push_back(start->getNextNode());
    if (starts.empty() && !variable.isStaticAlloca()) starts.push_back(variable.getNextNode());
    if (starts.empty()) {
      llvm::BasicBlock::iterator place = variable.getParent()->begin();
      while (llvm::isa<llvm::AllocaInst>(place)) ++place;
      starts.push_back(&*place);
    }
    for (llvm::Instruction* start : starts) live_at(variable, start, named, exact_ || creates);
  }

  /// A place that is reached only while the thread's switch is on.
  llvm::Instruction* guarded(llvm::Instruction* before) {
    llvm::IRBuilder<> builder(before);
    auto* on = llvm::cast<llvm::GlobalVariable>(module_.getOrInsertGlobal("hearth_record_on", builder.getInt32Ty()));
    on->setThreadLocalMode(llvm::GlobalValue::InitialExecTLSModel);
    llvm::Value* value = builder.CreateLoad(builder.getInt32Ty(), builder.CreateThreadLocalAddress(on), true);
    llvm::Value* wanted = builder.CreateICmpNE(value, builder.getInt32(0));
    return llvm::SplitBlockAndInsertIfThen(wanted, before, false,
                                           llvm::MDBuilder(context_).createBranchWeights(1, 100000));
  }

  void emit(const Group& group) {
    llvm::IRBuilder<> builder(guarded(group.before));
    builder.SetCurrentDebugLocation(group.before->getDebugLoc());
    llvm::Type *pointer = builder.getPtrTy(), *half = builder.getInt32Ty(), *word = builder.getInt64Ty();
    auto* access = llvm::FunctionType::get(builder.getVoidTy(), {pointer, half}, false);
    auto* range = llvm::FunctionType::get(builder.getVoidTy(), {pointer, word, half}, false);
    auto* text = llvm::FunctionType::get(builder.getVoidTy(), {pointer, half}, false);
    for (const Touch& touch : group.touches) {
      if (touch.bytes != nullptr)
        builder.CreateCall(module_.getOrInsertFunction("hearth_record_range", range),
                           {touch.address, builder.CreateZExtOrTrunc(touch.bytes, word), builder.getInt32(touch.how)});
      else if (touch.constant_bytes == 0)
        builder.CreateCall(module_.getOrInsertFunction("hearth_record_text", text),
                           {touch.address, builder.getInt32(touch.how)});
      else
        builder.CreateCall(
            module_.getOrInsertFunction("hearth_record_access", access),
            {touch.address, builder.getInt32(static_cast<unsigned>(touch.constant_bytes << 2U) | touch.how)});
    }
  }

  /// A table of the module's variables and routines, and a constructor that hands it over.
  void tell_module(const std::vector<llvm::Function*>& functions) {
    auto* word = llvm::Type::getInt64Ty(context_);
    auto* pointer = llvm::PointerType::getUnqual(context_);
    std::vector<llvm::Constant*> entries;
    const auto add = [&](llvm::Constant* address, std::uint64_t bytes, const std::string& text) {
      entries.push_back(
          llvm::ConstantStruct::getAnon(context_, {address, llvm::ConstantInt::get(word, bytes), string(text)}));
    };
    for (llvm::GlobalVariable& global : module_.globals()) {
      if (global.isDeclaration() || global.isConstant() || global.isThreadLocal() ||
          global.getName().starts_with("llvm.") || global.getName().starts_with("hearth.") ||
          !global.getValueType()->isSized())
        continue;
      add(&global, module_.getDataLayout().getTypeAllocSize(global.getValueType()).getFixedValue(),
          llvm::demangle(global.getName().str()));
    }
    for (llvm::Function* function : functions)
      if (function->hasAddressTaken()) add(function, 0, function->getName().str());
    auto* constructor = llvm::Function::Create(llvm::FunctionType::get(llvm::Type::getVoidTy(context_), false),
                                               llvm::GlobalValue::InternalLinkage, "hearth.tell", module_);
    llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context_, "", constructor));
    llvm::Value* list = llvm::ConstantPointerNull::get(pointer);
    if (!entries.empty()) {
      auto* array = llvm::ArrayType::get(entries.front()->getType(), entries.size());
      // Not constant: it has addresses that the loader fills in.
      list = new llvm::GlobalVariable(module_, array, false, llvm::GlobalValue::PrivateLinkage,
                                      llvm::ConstantArray::get(array, entries), "hearth.module");
    }
    auto* type = llvm::FunctionType::get(builder.getVoidTy(), {pointer, builder.getInt32Ty(), builder.getInt32Ty()},
                                         false);
    builder.CreateCall(module_.getOrInsertFunction("hearth_record_module", type),
                       {list, builder.getInt32(static_cast<unsigned>(entries.size())), builder.getInt32(exact_)});
    builder.CreateRetVoid();
    llvm::appendToGlobalCtors(module_, constructor, 0);
  }

  llvm::Module& module_;
  llvm::LLVMContext& context_;
  const bool exact_;
  std::map<llvm::AllocaInst*, bool> captured_;
  std::map<std::string, llvm::Constant*> strings_;
};

}  // namespace

void insert_recording(llvm::Module& module, bool exact) { Recorder(module, exact).run(); }

}  // namespace hearth::btlp
