// See walk.h: calls, of functions that are here and of those that are not, and the creation and joining of threads.
#include <algorithm>

#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/raw_ostream.h>

#include "btlp/analysis/creators.h"
#include "btlp/analysis/library.h"
#include "btlp/analysis/prepare.h"
#include "btlp/analysis/walk.h"

namespace hearth::btlp {
namespace {

constexpr std::size_t kMostApart = 16;  // threads, before one node stands for all that one place starts for one routine
constexpr std::int64_t kRunOffset = 16;  // of _M_run in the table that a std::thread::_State's first word points to
constexpr const char* kProxy = "__thread_proxy";  // libc++'s routine of all its threads
constexpr std::int64_t kWord = 8, kLastPlace = 96;  // of what std::thread hands over

std::int64_t bytes_of(llvm::Value* length) {
  const auto* number = llvm::dyn_cast<llvm::ConstantInt>(length);
  return number == nullptr ? kUnbounded / 2 : static_cast<std::int64_t>(number->getLimitedValue(kUnbounded / 2));
}

}  // namespace

void Walk::visit_call(Context* context, llvm::CallBase& call, double frequency) {
  if (const Creator* creator = creator_called(call)) return start_thread(context, call, *creator);
  llvm::Value* called = call.getCalledOperand()->stripPointerCastsAndAliases();
  if (auto* callee = llvm::dyn_cast<llvm::Function>(called)) {
    if (callee->isDeclaration()) return call_outside(context, call, callee, frequency);
    return call_function(context, call, callee, frequency);
  }
  if (llvm::isa<llvm::InlineAsm>(called)) return;
  bool complete = false;
  for (llvm::Function* callee : functions_of(context, called, &call, complete)) {
    if (callee->isDeclaration())
      call_outside(context, call, callee, frequency);
    else
      call_function(context, call, callee, frequency);
  }
  if (!complete) give_outside(context, call);
  if (complete || !collecting_) return;
  bool library = false;
  for (const Pointer& pointer : value_of(context, called)) {
    const Object& object = memory_[pointer.object];
    library = library || object.kind == Kind::foreign || object.kind == Kind::heap;
  }
  for (unsigned number = 0; number < call.arg_size(); ++number)
    touch_argument(context, call, number, true, true, frequency);
  if (!whole_ || !library) note_unknown(context, "a call through a pointer whose functions are not known");
}

void Walk::call_function(Context* context, llvm::CallBase& call, llvm::Function* callee, double frequency) {
  Context* inner = enter(context, &call, callee, frequency);
  const std::size_t count = std::min<std::size_t>(inner->arguments.size(), call.arg_size());
  for (std::size_t number = 0; number < count; ++number)
    grown_ = inner->arguments[number].insert(value_of(context, call.getArgOperand(number))) || grown_;
  for (std::size_t number = count; number < call.arg_size() && callee->isVarArg(); ++number)
    grown_ = inner->more_arguments.insert(value_of(context, call.getArgOperand(number))) || grown_;
  walk_context(inner);
}

bool Walk::call_memory(Context* context, llvm::CallBase& call, llvm::StringRef name, double frequency) {
  auto* intrinsic = llvm::dyn_cast<llvm::MemIntrinsic>(&call);
  const bool copies = llvm::isa<llvm::MemTransferInst>(call) || name == "memcpy" || name == "memmove";
  if (intrinsic == nullptr && !copies && name != "memset") {
    if (name == "realloc" && call.arg_size() == 2) {
      const Pointers to = value_of(context, &call);
      memory_.copy(to, value_of(context, call.getArgOperand(0)));
      return true;
    }
    keep_data(context, call, name);
    if (const int given = block_given_at(name); given >= 0 && static_cast<int>(call.arg_size()) > given) {
      const Pointers block = fresh(context, &call);
      for (const Pointer& where : value_of(context, call.getArgOperand(given))) memory_.store(where, block);
      if (name == "posix_memalign") return true;
    }
    if (llvm::isa<llvm::VAStartInst>(call)) {  // the list has a pointer to where they lie, in whichever order
      const Pointers area = fresh(context, &call);
      for (const Pointer& place : area) memory_.store(place.anywhere(), context->more_arguments);
      for (const Pointer& list : value_of(context, call.getArgOperand(0))) memory_.store(list.anywhere(), area);
    } else if (llvm::isa<llvm::VACopyInst>(call)) {
      memory_.copy(value_of(context, call.getArgOperand(0)), value_of(context, call.getArgOperand(1)));
    }
    return llvm::isa<llvm::IntrinsicInst>(call);
  }
  const std::int64_t bytes = bytes_of(call.getArgOperand(2));
  const Pointers to = value_of(context, call.getArgOperand(0));
  touch(context, call, to, bytes, true, frequency);
  if (!copies) return true;
  const Pointers from = value_of(context, call.getArgOperand(1));
  touch(context, call, from, bytes, false, frequency);
  memory_.copy(to, from);
  return true;
}

bool Walk::call_known(Context* context, llvm::CallBase& call, llvm::StringRef name, double frequency) {
  int result = -1;
  if (is_join(name, result)) {
    join(context, call, name);
    return true;
  }
  if (is_detach(name) && call.arg_size() > 0) {
    detach(context, call);
    return true;
  }
  if (call_keys(context, call, name)) return true;
  if (name == "thrd_exit") ended_by_exit_.insert(context->thread);
  if (name == "pthread_exit" && call.arg_size() == 1) {
    ended_by_exit_.insert(context->thread);
    Context* root = context;
    while (root->parent != nullptr) root = root->parent;
    give_back(root, value_of(context, call.getArgOperand(0)));
    if (!llvm::isa<llvm::ConstantPointerNull>(call.getArgOperand(0))) root->returns_number = true;
    return true;
  }
  (void)frequency;
  return false;
}

void Walk::detach(Context* context, llvm::CallBase& call) {
  llvm::Value* which = call.getArgOperand(0);
  const auto* self = llvm::dyn_cast<llvm::CallBase>(which);
  const llvm::Function* asked = self == nullptr ? nullptr : self->getCalledFunction();
  if (asked != nullptr && (asked->getName() == "pthread_self" || asked->getName() == "thrd_current")) {
    program_.nodes[context->thread].detached = true;
    return;
  }
  Pointers handles = value_of(context, which);
  if (which->getType()->isPointerTy())
    for (const Pointer& pointer : value_of(context, which)) handles.insert(memory_.load(pointer, 8));
  bool known = false;
  for (const Pointer& handle : handles) {
    if (memory_[handle.object].kind != Kind::handle) continue;
    program_.nodes[memory_[handle.object].node].detached = known = true;
  }
  if (!known && collecting_) detached_unknown_ = true;
}

void Walk::join(Context* context, llvm::CallBase& call, llvm::StringRef name) {
  if (call.arg_size() == 0) return;
  Pointers handles = value_of(context, call.getArgOperand(0));
  if (name.starts_with("_ZN")) {
    Pointers objects = handles;
    for (const Pointer& pointer : objects) handles.insert(memory_.load(pointer, 8));
  }
  bool known = false;
  for (const Pointer& pointer : handles) {
    if (memory_[pointer.object].kind == Kind::rest)  // for some thread, nobody knows which: it may be any one's result
      for (const int object : Rest::objects(pointer.object))
        if (memory_[object].kind == Kind::handle) take_result(context, call, name, creations_[memory_[object].node]);
    if (memory_[pointer.object].kind != Kind::handle) continue;
    known = true;
    Creation& creation = creations_[memory_[pointer.object].node];
    if (std::find(creation.joins.begin(), creation.joins.end(), &call) == creation.joins.end()) {
      creation.joins.push_back(&call);
      creation.join_contexts.push_back(context);
    }
    take_result(context, call, name, creation);
  }
  if (!known && collecting_) joined_unknown_ = true;
}

/// What the thread's routine returned goes where this join puts it.
void Walk::take_result(Context* context, llvm::CallBase& call, llvm::StringRef name, Creation& creation) {
  if (creation.root == nullptr) return;
  int result = -1;
  is_join(name, result);
  const bool by_value = name == "g_thread_join" || name == "SDL_WaitThread";
  if (by_value) {
    creation.result_read = creation.result_read || !call.use_empty();
    learn(context, &call, creation.root->returned);
  } else if (result >= 0 && static_cast<int>(call.arg_size()) > result &&
             !llvm::isa<llvm::ConstantPointerNull>(call.getArgOperand(result))) {
    creation.result_read = true;
    for (const Pointer& where : value_of(context, call.getArgOperand(result)))
      memory_.store(where, creation.root->returned);
  }
}

Pointers Walk::routines_of_state(const Pointers& state) {
  Pointers found;
  for (const Pointer& pointer : state)
    for (const Pointer& table : memory_.load(pointer, 8)) found.insert(memory_.load(table.moved(kRunOffset), 8));
  return found;
}

void Walk::start_thread(Context* context, llvm::CallBase& call, const Creator& creator) {
  Pointers argument, routines;
  if (creator.shape == Shape::state) {
    for (const Pointer& holder : value_of(context, call.getArgOperand(creator.routine)))
      argument.insert(memory_.load(holder, 8));
    routines = routines_of_state(argument);
  } else {
    argument = value_of(context, call.getArgOperand(creator.argument));
    routines = value_of(context, call.getArgOperand(creator.routine));
  }
  bool known = false;
  for (const Pointer& pointer : routines) {
    const Object& object = memory_[pointer.object];
    if (object.kind == Kind::function) {
      known = true;
      auto* routine = llvm::cast<llvm::Function>(const_cast<llvm::Value*>(object.value));
      const std::vector<llvm::Function*> callables = callables_of(creator, routine, argument);
      for (llvm::Function* callable : callables) start_routine(context, call, creator, routine, argument, callable);
      if (callables.empty()) start_routine(context, call, creator, routine, argument, nullptr);
    } else if (object.kind == Kind::rest) {
      for (llvm::Function* routine : functions_of_rest(pointer.object))
        if (routine->arg_size() == 1 && routine->getArg(0)->getType()->isPointerTy())
          start_routine(context, call, creator, routine, argument, nullptr);
      known = true;
    } else if (object.kind == Kind::unknown || object.kind == Kind::foreign) {
      start_routine(context, call, creator, nullptr, argument, nullptr);
      known = true;
    }
  }
  if (!known && collecting_) start_routine(context, call, creator, nullptr, argument, nullptr);
}

/// The functions that this is, one of each; none: it can be something else, too.
std::vector<llvm::Function*> Walk::functions_in(const Pointers& argument) const {
  std::vector<llvm::Function*> found;
  for (const Pointer& pointer : argument) {
    if (memory_[pointer.object].kind != Kind::function) return {};
    found.push_back(llvm::cast<llvm::Function>(const_cast<llvm::Value*>(memory_[pointer.object].value)));
  }
  return found;
}

/// What a C++ thread calls, when its creation hands over one of several functions (`std::thread(table[i])`): each is a
/// thread of its own. One function, or a callable that is no pointer, is told by the routine already: nothing.
std::vector<llvm::Function*> Walk::callables_of(const Creator& creator, llvm::Function* routine,
                                                const Pointers& argument) {
  const bool state = creator.shape == Shape::state;
  if (!state && !routine->getName().contains(kProxy)) return functions_in(argument);
  std::map<std::int64_t, std::vector<llvm::Function*>> found;  // by their place in the tuple
  for (const Pointer& tuple : argument)
    for (std::int64_t at = kWord; at <= kLastPlace; at += kWord)
      for (const Pointer& pointer : memory_.load(tuple.moved(at), kWord)) {
        const Object& object = memory_[pointer.object];
        if (object.kind != Kind::function) continue;
        auto* function = llvm::cast<llvm::Function>(const_cast<llvm::Value*>(object.value));
        auto& here = found[at];
        if (std::find(here.begin(), here.end(), function) == here.end()) here.push_back(function);
      }
  if (found.empty()) return {};
  // libstdc++ lays the callable behind its arguments, libc++ before them.
  const auto& callables = state ? found.rbegin()->second : found.begin()->second;
  return callables.size() > 1 ? callables : std::vector<llvm::Function*>();
}

void Walk::start_routine(Context* context, llvm::CallBase& call, const Creator& creator, llvm::Function* routine,
                         const Pointers& argument, llvm::Function* callable) {
  const int number = node_for(context, call, creator, routine, callable);
  Creation& creation = creations_[number];
  Pointers handle;
  handle.insert(Pointer{.object = memory_.handle_of(number)});
  if (creator.handle >= 0)
    for (const Pointer& where : value_of(context, call.getArgOperand(creator.handle))) memory_.store(where, handle);
  else
    learn(context, &call, handle);
  if (routine == nullptr || routine->isDeclaration()) {
    program_.nodes[number].unknown_reason = routine == nullptr ? "its routine is not known"
                                                               : "its routine " + routine->getName().str() +
                                                                     "() is in an object without bitcode";
    return;
  }
  if (creation.root == nullptr) {
    creation.root = new_context(routine, number);
    creation.root->arguments.resize(routine->arg_size());
    roots_[number].push_back(creation.root);
    grown_ = true;
  }
  if (creation.root->arguments.empty()) return;
  for (Pointer pointer : argument) {
    // Another function than the one that it is given: that is another thread.
    if (callable != nullptr && !creation.hands_over && memory_[pointer.object].kind == Kind::function &&
        memory_[pointer.object].value != callable)
      continue;
    // A variable of the creator is one object, whichever iteration filled it.
    if (pointer.loop != creation.loop || (memory_[pointer.object].kind == Kind::stack && pointer.fresh))
      pointer = pointer.without_loop();
    grown_ = creation.root->arguments[0].insert(pointer) || grown_;
  }
}

/// This thread is created at one more place, or by one more generation, and by that thread: nothing is known any more of
/// what comes before it.
void Walk::add_place(int number, int creator) {
  program_.nodes[creator].creates = true;
  Node& node = program_.nodes[number];
  node.in_loop = node.many = true;
  ++node.more_places;
  creations_[number].loop = nullptr;
  grown_ = true;
}

int Walk::node_for(Context* context, llvm::CallBase& call, const Creator& creator, llvm::Function* routine,
                   llvm::Function* callable) {
  const std::string tag = creation_tag(call);
  const std::string name = routine == nullptr ? "?" : routine->getName().str();
  Node node;
  describe(node, context, call, creator, routine);
  // The C++ libraries run callables of one type by one routine, so only the place tells them apart.
  const bool by_routine = creator.shape != Shape::state && name.find(kProxy) == std::string::npos;
  std::string kind = tag + "|" + name + "|" + (by_routine ? "" : node.place);
  if (callable != nullptr) kind += "|" + callable->getName().str();
  std::string key = std::to_string(context->thread) + "|" + tag + "|" + name + "|" + node.place;
  if (callable != nullptr) {
    const auto alone = node_of_key_.find(key);
    key += "|" + callable->getName().str();
    if (alone != node_of_key_.end()) {  // an earlier round knew of one function only
      const int first = alone->second;
      node_of_key_.erase(alone);
      creations_[first].callable = callable;
      node_of_key_[key] = first;
    }
  }
  // A thread that creates its own kind: one node stands for all generations.
  for (int above = context->thread; above > 0 && node_of_key_.count(key) == 0; above = program_.nodes[above].creator)
    if (program_.nodes[above].site == tag && creations_[above].routine == routine &&
        ((by_routine && program_.nodes.size() >= kMostApart) || program_.nodes[above].place == node.place) &&
        creations_[above].callable == callable && routine != nullptr) {
      add_place(above, context->thread);
      node_of_key_[key] = above;
    }
  if (const auto first = first_of_kind_.find(kind); first != first_of_kind_.end() && node_of_key_.count(key) == 0 &&
                                                    program_.nodes.size() >= kMostApart) {
    add_place(first->second, context->thread);
    node_of_key_[key] = first->second;
  }
  const llvm::BasicBlock* loop = nullptr;
  const bool looped = in_loop(context, call, loop);
  const auto known = node_of_key_.find(key);
  if (known != node_of_key_.end()) {
    Node& there = program_.nodes[known->second];
    there.in_loop = there.in_loop || looped;
    there.in_body = there.in_body || stands_in_loop(call, looped);
    there.many = there.many || looped;
    return known->second;
  }
  node.number = static_cast<int>(program_.nodes.size());
  node.creator = context->thread;
  node.site = tag;
  node.in_loop = looped;
  node.in_body = stands_in_loop(call, looped);
  node.many = looped || program_.nodes[context->thread].many;
  node_of_key_[key] = node.number;
  first_of_kind_.emplace(kind, node.number);
  program_.nodes.push_back(node);
  Creation creation;
  creation.call = &call;
  creation.creator = &creator;
  creation.context = context;
  creation.loop = loop;
  creation.routine = routine;
  creation.callable = callable;
  creation.hands_over = creator.shape == Shape::state || name.find(kProxy) != std::string::npos;
  if (creator.shape == Shape::function) creation.argument = call.getArgOperand(creator.argument);
  creations_.push_back(creation);
  roots_.emplace_back();
  contexts_of_thread_.push_back(0);
  merged_.emplace_back();
  grown_ = true;
  return node.number;
}

}  // namespace hearth::btlp
