// The analysis' picture of memory: objects, and which pointers lie where in them. Contents only grow, so that repeated
// walks end; what is asked again and again is remembered.
#pragma once

#include <cstdint>

#include <deque>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "btlp/analysis/pointers.h"

namespace llvm {
class DataLayout;
class Constant;
class Function;
class Value;
}  // namespace llvm

namespace hearth::btlp {

enum class Kind : std::uint8_t { unknown, global, stack, heap, function, handle, foreign, rest };

struct Object {
  Kind kind = Kind::unknown;
  const llvm::Value* value = nullptr;
  int thread = -1;  // the node whose walk made it; -1: a global, or a function
  int node = -1;    // a handle: of this thread
  std::string name;
  bool constant = false;  // nobody writes it
  bool open = false;      // other modules can reach it
  std::uint64_t version = 0;  // how often its contents have grown
};

class Memory {
 public:
  explicit Memory(const llvm::DataLayout& layout);

  int unknown() const { return 0; }
  /// Can this pointer be one into the object?
  static bool may_be(const Pointer& pointer, int object) {
    return pointer.object == object || (Rest::stands(pointer.object) && Rest::has(object, pointer.object));
  }
  /// The object of this global or function, or of this allocation by this thread.
  int object(const llvm::Value* value, int thread);
  int handle_of(int node);
  int foreign(const std::string& name);
  int size() const { return static_cast<int>(objects_.size()); }
  const Object& operator[](int object) const { return objects_[object]; }
  Object& at(int object) { return objects_[object]; }

  void store(const Pointer& where, const Pointers& what);
  Pointers load(const Pointer& where, std::int64_t bytes) const;
  /// memcpy(), from each of some places to each of others. Of many, nobody asks which lies where.
  void copy(const Pointers& to, const Pointers& from);
  /// Everything that can be reached from here, over any number of pointers.
  Pointers reachable(const Pointers& from) const;
  /// The same without bounds, by objects; those it starts from are not counted.
  std::set<int> behind(const std::vector<int>& from) const;
  /// Rises whenever what these point to grows.
  std::uint64_t version_of(const Pointers& pointers) const;
  /// Has anything been added since the last call?
  bool grown();
  /// What the objects of a stand-in point to can be reached through it as well. True: there is more of it than at the last
  /// call.
  bool close_rest();
  /// Rises whenever anything is added.
  std::uint64_t version() const { return version_ + rest_; }

 private:
  struct Cell {
    Pointer where;
    Pointers what;
  };
  /// An answer, and the version for which it holds.
  struct Answer {
    std::uint64_t version = 0;
    Pointers pointers;
  };
  struct Contents {
    std::vector<Cell> cells;
    std::unordered_map<Pointer, std::size_t, PointerHash> cell_of;
    mutable std::unordered_map<Pointer, std::vector<std::pair<std::int64_t, Answer>>, PointerHash> loaded;  // by bytes
    mutable std::vector<int> next;  // what its cells point to, in their order, each object once
    mutable std::uint64_t next_version = 0;
  };
  void fill(int object, const llvm::Constant* initial, Pointer where);
  std::uint64_t version_of(int object) const;
  int add(Object object);
  void add_cell(const Pointer& where, const Pointers& what);
  void copy(const Pointer& to, const Pointer& from);
  Pointers look(const Pointer& where, std::int64_t bytes) const;
  const std::vector<int>& next(int object) const;
  template <class Function>
  void for_each_next(int object, Function&& function) const;

  const llvm::DataLayout& layout_;
  std::deque<Object> objects_;
  std::vector<Contents> contents_;
  std::map<std::pair<const llvm::Value*, int>, int> of_value_;
  std::map<std::string, int> of_name_;
  std::map<int, int> of_node_;
  std::unordered_map<Pointer, std::unordered_map<Pointer, std::uint64_t, PointerHash>, PointerHash>
      copied_;  // from, to: the source's version + 1
  std::uint64_t version_ = 0;  // of all contents
  mutable std::vector<std::uint64_t> marks_;  // by object: the last look at cells that met it
  mutable std::uint64_t mark_ = 0;
  mutable std::unordered_map<std::uint64_t, Answer> reachable_;  // by the stamp of what it starts from
  bool grown_ = false;
  std::size_t rest_ = 0;  // objects that stand-ins have, at the last look
};

}  // namespace hearth::btlp
