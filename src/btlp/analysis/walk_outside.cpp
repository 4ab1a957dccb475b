// See walk.h: calls of functions that are not here.
//
// Of libc and the C++ library it is known what they do (library.h). Other code is taken to touch what its arguments lead to,
// to put any of that into any of it, and to keep it: what it returns is new memory, one of its arguments, or anything that
// such code was ever given. What it reaches by its own variables alone it is taken not to touch: else no two threads that use
// one library would ever be apart.
#include <algorithm>

#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

#include "btlp/analysis/digest.h"
#include "btlp/analysis/library.h"
#include "btlp/analysis/walk.h"

namespace hearth::btlp {
namespace {

constexpr std::size_t kFew = 16;  // objects that are linked one with the other, behind the arguments, too
constexpr int kLinks = 3, kWord = 8;
constexpr const char* kOnceCall = "_ZSt11__once_call";

bool is_kept(const Pointer& pointer) { return pointer.object == Rest::kKept; }

/// A function that takes pointers in, or gives them out, in a buffer.
struct Passage {
  const char* name;
  unsigned argument;  // the buffer
  bool in;
  const char* place;
};
constexpr Passage kPassages[] = {{"epoll_ctl", 3, true, "epoll"},   {"epoll_wait", 1, false, "epoll"}, {"epoll_pwait", 1, false, "epoll"},
                                 {"write", 1, true, "descriptors"}, {"send", 1, true, "descriptors"},  {"read", 1, false, "descriptors"},
                                 {"recv", 1, false, "descriptors"}};

const Passage* passage_of(llvm::StringRef name) {
  const auto* found = std::find_if(std::begin(kPassages), std::end(kPassages), [&](const Passage& each) { return name == each.name; });
  return found == std::end(kPassages) ? nullptr : found;
}

bool is_strtok(llvm::StringRef name) { return name == "strtok" || name == "strtok_r" || name == "__strtok_r"; }

}  // namespace

void Walk::touch_argument(Context* context, llvm::CallBase& call, unsigned number, bool write, bool deep,
                          double frequency) {
  llvm::Value* argument = call.getArgOperand(number);
  if (!argument->getType()->isPointerTy() || !collecting_) return;
  Pointers pointers = value_of(context, argument);
  if (deep) pointers = memory_.reachable(pointers);
  // A library's own handle may be anything that it was given, by its type; what it leads to was linked to it (give_outside).
  const bool filtered = deep && std::any_of(pointers.begin(), pointers.end(), is_kept);
  Pointers others;
  for (const Pointer& pointer : pointers)
    if (filtered && !is_kept(pointer)) others.insert(pointer);
  if (filtered) pointers = others;
  const bool reads = !call.paramHasAttr(number, llvm::Attribute::WriteOnly);
  const bool writes = write && !call.onlyReadsMemory(number);
  if (reads) touch(context, call, pointers, kUnbounded / 2, false, frequency);
  if (writes) touch(context, call, pointers, kUnbounded / 2, true, frequency);
}

void Walk::call_outside(Context* context, llvm::CallBase& call, llvm::Function* callee, double frequency) {
  const llvm::StringRef name = callee->getName();
  if (call_memory(context, call, name, frequency) || call_known(context, call, name, frequency)) return;
  if (call_later(context, call, name)) return;
  call_back(context, call, frequency);
  if (links_at(name) >= 0) link_arguments(context, call, links_at(name));
  if (is_other_code(name) || keeps_within(name)) give_outside(context, call);
  if (is_silent(name) || call.doesNotAccessMemory()) return;
  const bool known = is_libc(name) || links_at(name) >= 0;
  if (known && call.returnDoesNotAlias()) return;  // malloc()
  for (unsigned number = 0; number < call.arg_size(); ++number) {
    touch_argument(context, call, number, !prints(name), !known, frequency);
    if (!known && !keeps_within(name)) give_away(value_of(context, call.getArgOperand(number)));
  }
  if (!whole_ && is_other_code(name)) note_unknown(context, "a call of " + name.str() + "(), which is in another file");
}

Pointers Walk::given_by(Context* context, llvm::CallBase& call) {
  Pointers given;
  for (llvm::Use& use : call.args())
    if (use->getType()->isPointerTy()) given.insert(value_of(context, use.get()));
  return given;
}

/// What these lead to; worked out once in a round, since the next round asks again.
const Pointers& Walk::behind_given(const Pointers& given) {
  auto& [round, found] = behind_given_[given.stamp()];
  if (round != round_) found = memory_.reachable(given);
  round = round_;
  return found;
}

/// What the call is given, but for functions: the same set where the same is given, as each of many functions gets it.
const Pointers& Walk::data_given(Context* context, llvm::CallBase& call) {
  std::vector<Pointers> given;
  Digest stamps;
  for (llvm::Use& use : call.args()) {
    if (!use->getType()->isPointerTy()) continue;
    given.push_back(value_of(context, use.get()));
    stamps.add(given.back().stamp());
  }
  const auto [place, is_new] = data_given_.try_emplace(stamps.value());
  if (is_new)
    for (const Pointers& each : given)
      for (const Pointer& pointer : each)
        if (memory_[pointer.object].kind != Kind::function) place->second.insert(pointer);
  return place->second;
}

/// Code that is not here gets these arguments: it may keep them, and put each where another one leads.
void Walk::give_outside(Context* context, llvm::CallBase& call) {
  const llvm::Function* callee = call.getCalledFunction();
  const bool other = callee == nullptr || is_other_code(callee->getName());
  if (other && !whole_) return;  // give_away() does
  const Pointers given = given_by(context, call);
  if (given.empty()) return;
  const Pointers& behind = behind_given(given);
  // Functions that libc is given it calls at once and forgets, but for those of an obstack.
  const bool forgets = !other && !callee->getName().contains("obstack");
  if (!is_new(context, &call, given.stamp(), behind.stamp())) return;
  Pointers all, data;
  for (const Pointer& pointer : behind)
    if (!forgets || memory_[pointer.object].kind != Kind::function) all.insert(pointer);
  Pointers linked = all;
  linked.insert(fresh(context, &call));
  const auto can_hold = [&](const Pointer& pointer) {
    const Object& object = memory_[pointer.object];
    return object.kind != Kind::function && object.kind != Kind::handle && object.kind != Kind::foreign && !object.constant &&
           pointer.object != memory_.unknown() && !is_kept(pointer) && !is_library_object(object.name);
  };
  for (const Pointer& pointer : all.size() <= kFew ? all : given)
    if (can_hold(pointer)) memory_.store(pointer.anywhere(), linked);
  if (call.getType()->isPointerTy())
    for (const Pointer& block : fresh(context, &call)) memory_.store(block.anywhere(), all);
  std::vector<llvm::Function*> functions;
  for (const Pointer& pointer : all) {
    const Object& object = memory_[pointer.object];
    if (object.kind == Kind::function)
      functions.push_back(llvm::cast<llvm::Function>(const_cast<llvm::Value*>(object.value)));
    else
      data.insert(pointer);
    if (!other || object.constant || object.kind == Kind::handle || pointer.object == memory_.unknown()) continue;
    if (pointer.object == Rest::kRest)
      for (const int lost : Rest::objects(Rest::kRest)) Rest::add(lost, Rest::kKept);
    else if (!is_library_object(object.name))
      Rest::add(pointer.object, Rest::kKept);
  }
  // What is given by itself is called right here (call_back), with what is given beside it.
  const auto by_itself = [&](const llvm::Function* function) {
    return std::any_of(given.begin(), given.end(), [&](const Pointer& each) { return memory_[each.object].value == function; });
  };
  if (!forgets && std::find(all.begin(), all.end(), Rest::pointer()) != all.end())
    llvm::append_range(functions, functions_of_rest(Rest::kRest));
  for (llvm::Function* function : functions)
    if (!function->isDeclaration() && !by_itself(function)) call_any_time(context->thread, function, data);
}

/// Nodes of a tree or a list, and its head.
void Walk::link_arguments(Context* context, llvm::CallBase& call, int from) {
  const Pointers given = given_by(context, call);
  for (const Pointer& pointer : given)
    for (int word = 0; word < kLinks; ++word) memory_.store(pointer.moved(from + word * kWord), given);
}

/// The nodes that these lead to, by links alone.
Pointers Walk::linked_to(const Pointers& nodes, int from) {
  Pointers all = nodes;
  for (bool grown = true; grown;) {
    grown = false;
    for (const Pointer& node : Pointers(all)) grown = all.insert(memory_.load(node.moved(from), kLinks * kWord)) || grown;
  }
  return all;
}

/// The thread calls this function with this data, nobody knows when and how often: a root of its own, so that it has no order.
void Walk::call_any_time(int thread, llvm::Function* function, const Pointers& data) {
  Context*& root = any_time_[{thread, function}];
  if (root == nullptr) {
    root = new_context(function, thread);
    root->in_loop = true;
    root->same_arguments = false;
    root->arguments.resize(function->arg_size());
    roots_[static_cast<std::size_t>(thread)].push_back(root);
    grown_ = true;
  }
  for (Pointers& argument : root->arguments) grown_ = argument.insert(data) || grown_;
}

/// What a call of a function that is not here returns, when that is a pointer.
Pointers Walk::returned_from_outside(Context* context, llvm::CallBase& call) {
  const llvm::Function* callee = call.getCalledFunction();
  const llvm::StringRef name = callee == nullptr ? "" : callee->getName();
  if (call.returnDoesNotAlias()) return fresh(context, &call);
  Pointers result;
  if (name.starts_with("mmap")) result = fresh(context, &call);
  if (callee == nullptr || is_other_code(name)) {
    if (!whole_) {
      result.insert(Pointer{.object = memory_.unknown(), .hi = kUnbounded});
      return result;
    }
    result = fresh(context, &call);
    result.insert(Rest::pointer(Rest::kKept));
    for (const Pointer& pointer : given_by(context, call)) result.insert(pointer.anywhere());
    return result;
  }
  const Pointers given = given_by(context, call);
  if (links_at(name) >= 0) return linked_to(given, links_at(name));
  if (keeps_within(name)) {
    result = fresh(context, &call);
    result.insert(behind_given(given));
    return result;
  }
  if (is_strtok(name)) {
    result.insert(memory_.load(library_place("strtok"), 8));
    for (const Pointer& place : call.arg_size() > 2 ? value_of(context, call.getArgOperand(2)) : Pointers())
      result.insert(memory_.load(place, 8));
    return result;
  }
  for (const Pointer& pointer : given) result.insert(is_libc(name) ? pointer : pointer.anywhere());  // strchr(), append()
  if (!is_libc(name)) result.insert(fresh(context, &call));
  if (result.empty()) result.insert(Pointer{.object = memory_.foreign(name.str())});
  return result;
}

/// Where libc or the kernel keeps what is given to it under this name.
Pointer Walk::library_place(const char* name) {
  return Pointer{.object = memory_.foreign(name), .hi = kUnbounded};
}

/// Functions of libc that keep a pointer, or hand on what others have kept.
void Walk::keep_data(Context* context, llvm::CallBase& call, llvm::StringRef name) {
  const bool number = name.contains("strto") && !is_strtok(name);
  const auto at = [&](unsigned argument) {
    return argument < call.arg_size() ? value_of(context, call.getArgOperand(argument)) : Pointers();
  };
  const auto put = [&](const Pointers& places, const Pointers& what) {
    for (const Pointer& place : places) memory_.store(place, what);
  };
  if (number || is_strtok(name)) {
    Pointers text;
    for (const Pointer& pointer : at(0)) text.insert(pointer.anywhere());
    if (name == "strtok") return memory_.store(library_place("strtok"), text);
    return put(at(number ? 1 : 2), text);
  }
  // A pointer can go to another thread through the kernel.
  const Passage* passage = passage_of(name);
  if (passage == nullptr) return;
  for (const Pointer& buffer : at(passage->argument)) {
    if (passage->in)
      memory_.store(library_place(passage->place), memory_.load(buffer.anywhere(), kUnbounded / 2));
    else
      memory_.store(buffer.anywhere(), memory_.load(library_place(passage->place), 8));
  }
}

/// Functions that libc calls later: handlers of signals, which the kernel gives to the first thread while it takes them, and
/// what runs at the end of the process. True: that is all that the call does.
bool Walk::call_later(Context* context, llvm::CallBase& call, llvm::StringRef name) {
  const bool by_structure = name == "sigaction";
  if (!by_structure && name != "signal" && name != "atexit" && name != "at_quick_exit" && name != "on_exit") return false;
  const Pointers given = given_by(context, call);
  Pointers functions = given, data;
  for (const Pointer& pointer : given) {
    if (by_structure) functions.insert(memory_.load(pointer.anywhere(), kUnbounded / 2));
    if (name == "on_exit" && memory_[pointer.object].kind != Kind::function) data.insert(pointer);
  }
  for (const Pointer& pointer : functions) {
    std::vector<llvm::Function*> found;
    if (memory_[pointer.object].kind == Kind::function)
      found.push_back(llvm::cast<llvm::Function>(const_cast<llvm::Value*>(memory_[pointer.object].value)));
    else if (memory_[pointer.object].kind == Kind::rest)
      found = functions_of_rest(pointer.object);
    for (llvm::Function* function : found)
      if (!function->isDeclaration()) call_any_time(0, function, data);
  }
  return !by_structure;
}

/// Function pointers that are given away are called, with what was given beside them.
void Walk::call_back(Context* context, llvm::CallBase& call, double frequency) {
  std::vector<llvm::Function*> functions;
  const llvm::Function* callee = call.getCalledFunction();
  const bool calls_rest = callee == nullptr || calls_back(callee->getName());
  const auto function_at = [&](const Pointer& pointer) {
    const Object& object = memory_[pointer.object];
    const bool is_function = object.kind == Kind::function;
    return is_function ? llvm::cast<llvm::Function>(const_cast<llvm::Value*>(object.value)) : nullptr;
  };
  for (llvm::Use& use : call.args())
    if (use->getType()->isPointerTy())
      for (const Pointer& pointer : value_of(context, use.get())) {
        if (llvm::Function* function = function_at(pointer)) functions.push_back(function);
        if (calls_rest && memory_[pointer.object].kind == Kind::rest)
          llvm::append_range(functions, functions_of_rest(pointer.object));
      }
  if (functions.empty()) return;
  const Pointers others = data_given(context, call);
  for (llvm::Function* function : functions) {
    if (function->isDeclaration()) {
      // std::call_once() and std::async() of libstdc++ leave the function in a variable of the thread.
      const llvm::GlobalVariable* once = module_.getNamedGlobal(kOnceCall);
      if (function->getName() != "__once_proxy" || once == nullptr) continue;
      for (const Pointer& each : memory_.load(Pointer{.object = memory_.object(once, context->thread)}, 8)) {
        auto* left = llvm::dyn_cast_or_null<llvm::Function>(const_cast<llvm::Value*>(memory_[each.object].value));
        if (left == nullptr || left->isDeclaration()) continue;
        Context* inner = enter(context, &call, left, frequency);
        inner->same_arguments = false;
        walk_context(inner);
      }
      continue;
    }
    Context* inner = enter(context, &call, function, frequency);
    inner->same_arguments = false;
    for (Pointers& argument : inner->arguments) grown_ = argument.insert(others) || grown_;
    walk_context(inner);
  }
}

}  // namespace hearth::btlp
