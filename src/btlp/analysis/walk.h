// Follows every thread of a program through its functions, and notes which bytes of which objects it touches.
//
// A thread is a tree of contexts: a function, called from a place in another context. Functions are walked again for each
// call path, so a helper that two threads call with different objects does not make them share; beyond a bound per thread,
// one context serves all calls of a function. The walk is repeated until memory's contents do not grow any more (a
// fixpoint): first over the instructions that can carry a pointer on, then over all. The last round collects accesses.
// Threads that are found on the way are walked as well.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/MapVector.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/IR/PassManager.h>

#include "btlp/analysis/memory.h"
#include "btlp/analysis/model.h"
#include "btlp/analysis/progress.h"

namespace llvm {
class CallBase;
class ExtractValueInst;
class Function;
class Instruction;
class Loop;
class Module;
class ScalarEvolution;
class SCEV;
class Type;
class Value;
}  // namespace llvm

namespace hearth::btlp {

struct Creator;

struct Context {
  llvm::Function* function = nullptr;
  Context* parent = nullptr;       // null: where a thread begins
  llvm::CallBase* call = nullptr;  // in the parent
  int thread = 0;
  bool in_loop = false;  // a call on the way here is in a loop
  bool same_arguments = true;  // those of `call`, one by one: no callback, no second caller
  double frequency = 1;  // per run of the thread's routine
  int depth = 0;
  std::vector<Pointers> arguments;
  Pointers more_arguments;  // behind those that the function names
  Pointers returned;
  bool returns_number = false;  // something else than a pointer that we know, or null
  // In the order in which they were met: that of their addresses differs from run to run, and full sets with it.
  using Callees = llvm::SmallMapVector<llvm::Function*, Context*, 4>;
  llvm::MapVector<llvm::CallBase*, Callees> callees;
  struct Known {
    Pointers pointers;
    int round = -1;  // in which it was looked at last
    std::uint64_t inputs = 0;  // of what it was worked out last; 0: not yet
  };
  std::unordered_map<llvm::Value*, Known> values;  // they only grow
  llvm::DenseMap<llvm::Instruction*, Pointers> made;  // by allocation: what Walk::fresh() says
  int round = -1;
  std::uint64_t state = 0;  // of what its last walk depended on
  bool changed = true;      // a value of its own, in its last walk
};

struct Access {
  Pointer where;
  std::int64_t bytes = 0;
  bool write = false;
  double frequency = 0;
  llvm::Instruction* instruction = nullptr;
  Context* context = nullptr;
  bool several = false;  // stands for more than this instruction, at any place of the object: nothing is known of order
};

/// A creation as the walk met it; makes the node's number from the moment it is met.
struct Creation {
  llvm::CallBase* call = nullptr;
  const Creator* creator = nullptr;
  Context* context = nullptr;              // of the creator
  const llvm::BasicBlock* loop = nullptr;  // the header of the innermost loop around it, on the whole call path
  llvm::Function* routine = nullptr;       // null: not known
  Context* root = nullptr;                 // of the created thread
  llvm::Value* argument = nullptr;         // as the creator passes it
  std::vector<llvm::CallBase*> joins;      // where somebody waits for it
  std::vector<Context*> join_contexts;
  bool hands_over = false;   // the argument is the thread's alone from here on: the C++ libraries' own objects
  llvm::Function* callable = nullptr;  // a C++ thread's, where one creation starts several; null: it starts one
  bool result_read = false;  // a join asks for what the routine returned
};

/// An address that moves by the same number of bytes in each iteration of a loop.
struct Steps {
  llvm::Value* base = nullptr;  // null: it does not
  bool has_first = false;       // `first` is known: where the first iteration is, from the base
  std::int64_t first = 0, stride = 0;
  bool rising = false;
  std::int64_t times = kUnbounded;  // how often it steps
  const llvm::BasicBlock* header = nullptr;
};

class Walk {
 public:
  Walk(llvm::Module& module, bool whole, Program& program, Progress& progress);
  ~Walk();
  void run();

  Memory& memory() { return memory_; }
  llvm::FunctionAnalysisManager& analyses() { return *functions_; }
  /// By object, each list bounded; what is beyond stands in it as `several`.
  using ByObject = std::map<int, std::vector<Access>>;
  const ByObject& accesses(int node) const { return accesses_[node]; }
  /// How many accesses one instance makes, by the estimate.
  double touches(int node) const { return touches_[node]; }
  /// Of nodes 1, 2, …; [0] is empty.
  const std::vector<Creation>& creations() const { return creations_; }
  bool whole() const { return whole_; }
  /// The objects that code which was not seen may reach.
  std::set<int> open_objects() const;
  /// Fills Node::may_not_join (joinable.cpp).
  void find_joinable();
  /// The name of what the program itself runs, behind what the C++ library puts around it.
  void name_routines();
  std::string name_of(int object) const;
  int line_of(const llvm::Instruction& instruction) const;

 private:
  // walk.cpp
  void add_roots();
  void add_handlers();
  bool follow();
  void collect();
  void spread_rest(ByObject& accesses, int stand_in);
  void walk_thread(Context* root);
  void walk_context(Context* context);
  /// A function's instructions, each with how often it runs for one run of the function.
  struct Body {
    std::vector<std::pair<llvm::Instruction*, double>> all, carriers;
  };
  const Body& body_of(llvm::Function& function);
  void visit(Context* context, llvm::Instruction& instruction, double frequency);
  static bool is_new(Context* context, llvm::Instruction* instruction, std::uint64_t where, std::uint64_t what);
  Context* new_context(llvm::Function* function, int thread);
  Context* enter(Context* from, llvm::CallBase* call, llvm::Function* callee, double frequency);
  void touch(Context* context, llvm::Instruction& instruction, const Pointers& pointers, std::int64_t bytes, bool write,
             double frequency);
  void count_cost(Context* context, llvm::Instruction& instruction, double frequency);
  void give_up();
  std::uint64_t state_of(const Context& context) const;
  void give_back(Context* context, const Pointers& value);
  void give_away(const Pointers& value);
  void note_unknown(Context* context, const std::string& reason);

  // walk_values.cpp
  Pointers value_of(Context* context, llvm::Value* value);
  void learn(Context* context, llvm::Value* value, const Pointers& pointers);
  std::uint64_t inputs_of(Context* context, llvm::Instruction* instruction);
  Pointers result_of(Context* context, llvm::Instruction* instruction, std::uint64_t inputs);
  Pointers compute(Context* context, llvm::Instruction* instruction);
  Pointers loaded(const Pointers& from, llvm::Type* type);
  Pointers returned_by(Context* context, llvm::CallBase* call);
  const Steps& steps_of(llvm::Instruction* address);
  Pointers element(Context* context, llvm::Instruction* address);
  bool each_iteration(Context* context, llvm::Instruction* address, Pointers& result);
  Pointers fresh(Context* context, llvm::Instruction* allocation);
  Pointer new_fresh(Context* context, llvm::Instruction* allocation);
  Pointers constant(const llvm::Value* value, int thread);
  Pointers new_constant(const llvm::Value* value, int thread);
  const std::vector<llvm::Function*>& functions_of_rest(int stand_in);
  std::vector<llvm::Function*> functions_of(Context* context, llvm::Value* value, llvm::CallBase* call, bool& complete);

  // walk_calls.cpp
  void visit_call(Context* context, llvm::CallBase& call, double frequency);
  void call_function(Context* context, llvm::CallBase& call, llvm::Function* callee, double frequency);
  bool call_known(Context* context, llvm::CallBase& call, llvm::StringRef name, double frequency);
  bool call_memory(Context* context, llvm::CallBase& call, llvm::StringRef name, double frequency);
  void join(Context* context, llvm::CallBase& call, llvm::StringRef name);
  void take_result(Context* context, llvm::CallBase& call, llvm::StringRef name, Creation& creation);
  void start_thread(Context* context, llvm::CallBase& call, const Creator& creator);
  std::vector<llvm::Function*> functions_in(const Pointers& argument) const;
  std::vector<llvm::Function*> callables_of(const Creator& creator, llvm::Function* routine, const Pointers& argument);
  void start_routine(Context* context, llvm::CallBase& call, const Creator& creator, llvm::Function* routine,
                     const Pointers& argument, llvm::Function* callable);
  bool is_shift_of_this(const llvm::ExtractValueInst& extract, const Pointers& whole) const;
  Pointers routines_of_state(const Pointers& state);
  void add_place(int number, int creator);
  int node_for(Context* context, llvm::CallBase& call, const Creator& creator, llvm::Function* routine,
               llvm::Function* callable);

  void detach(Context* context, llvm::CallBase& call);

  // walk_outside.cpp
  void call_outside(Context* context, llvm::CallBase& call, llvm::Function* callee, double frequency);
  void call_back(Context* context, llvm::CallBase& call, double frequency);
  void touch_argument(Context* context, llvm::CallBase& call, unsigned number, bool write, bool deep, double frequency);
  void give_outside(Context* context, llvm::CallBase& call);
  void link_arguments(Context* context, llvm::CallBase& call, int from);
  Pointers linked_to(const Pointers& nodes, int from);
  Pointers given_by(Context* context, llvm::CallBase& call);
  const Pointers& behind_given(const Pointers& given);
  const Pointers& data_given(Context* context, llvm::CallBase& call);
  void call_any_time(int thread, llvm::Function* function, const Pointers& data);
  Pointers returned_from_outside(Context* context, llvm::CallBase& call);
  Pointer library_place(const char* name);
  void keep_data(Context* context, llvm::CallBase& call, llvm::StringRef name);
  bool call_later(Context* context, llvm::CallBase& call, llvm::StringRef name);

  // walk_keys.cpp
  Pointer specific(int thread);
  bool call_keys(Context* context, llvm::CallBase& call, llvm::StringRef name);
  Pointers under_key(Context* context, llvm::CallBase& call);
  void add_destructors(Context* context, llvm::CallBase& call);
  template <class Function>
  void for_each_end(Function&& function);
  void follow_destructors();
  void touch_by_destructors();

  // joinable.cpp
  std::string why_not_joinable(int number, bool detaching_attributes, bool handed_on) const;

  // sites.cpp
  bool in_loop(Context* context, llvm::CallBase& call, const llvm::BasicBlock*& header);
  void describe(Node& node, Context* context, llvm::CallBase& call, const Creator& creator, llvm::Function* routine);

  llvm::Module& module_;
  const bool whole_;
  Program& program_;
  Progress& progress_;
  Memory memory_;
  struct Managers;
  std::unique_ptr<Managers> managers_;
  llvm::FunctionAnalysisManager* functions_ = nullptr;
  std::vector<std::unique_ptr<Context>> contexts_;
  std::vector<std::vector<Context*>> roots_;  // by node; main() has constructors and the like beside it
  std::vector<int> contexts_of_thread_;
  std::vector<std::map<llvm::Function*, Context*>> merged_;  // by node, once it has too many contexts
  std::vector<ByObject> accesses_;
  std::vector<double> touches_;
  std::vector<Creation> creations_;
  std::unordered_map<llvm::Instruction*, Steps> steps_;
  llvm::DenseMap<std::pair<const llvm::Value*, int>, Pointers> constants_;  // by thread
  struct RestFunctions {
    std::size_t looked_at = 0;
    std::vector<llvm::Function*> found;
  };
  RestFunctions rest_functions_[2];  // by stand-in
  std::unordered_map<std::uint64_t, Pointers> results_;  // by the instruction and its inputs, in whichever context
  std::map<std::string, int> node_of_key_;
  std::map<std::string, int> first_of_kind_;  // by creation and routine
  std::unordered_map<llvm::Function*, Body> bodies_;
  bool every_instruction_ = false;  // else the carriers
  bool collecting_ = false;
  std::set<int> under_keys_;                  // the objects that stand for what threads have under their keys
  std::vector<llvm::Function*> destructors_;  // of keys
  llvm::CallBase* key_made_ = nullptr;        // where one of them was named
  bool destructor_unknown_ = false;           // nobody knows which functions there are
  std::map<std::pair<int, llvm::Function*>, Context*> any_time_;  // by node: what it calls, nobody knows when
  std::unordered_map<std::uint64_t, std::pair<int, Pointers>> behind_given_;  // by the stamp: the round, and what was found
  std::unordered_map<std::uint64_t, Pointers> data_given_;  // by the stamps of what is given
  std::set<int> ended_by_exit_;  // nodes that call pthread_exit()
  bool detached_unknown_ = false, joined_unknown_ = false;  // a call whose thread is not known
  bool grown_ = false;
  bool all_anew_ = true;  // else functions for which nothing is new are left out of a round
  std::uint64_t thread_results_ = 0;  // how often what threads return has grown
  int round_ = 0;
};

}  // namespace hearth::btlp
