// The analysis' picture of memory: objects, pointers to their parts, and which pointers lie where.
//
// A pointer is a set of places {lo, lo + stride, …, hi} in one object. Where `loop` is set, it is one place for each
// iteration of that loop: `fresh` objects are one object per iteration, else iteration k has the place lo + k * stride.
// Threads that the loop creates then have places of their own. Contents only grow, so that repeated walks end.
#pragma once

#include <cstdint>

#include <deque>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace llvm {
class BasicBlock;
class DataLayout;
class Constant;
class Function;
class Value;
}  // namespace llvm

namespace hearth::btlp {

inline constexpr std::int64_t kUnbounded = INT64_MAX;

struct Pointer {
  int object = 0;
  std::int64_t lo = 0;
  std::int64_t hi = 0;      // kUnbounded: not known
  std::int64_t stride = 0;  // 0: exact if lo == hi, else any byte between
  const llvm::BasicBlock* loop = nullptr;
  bool fresh = false;

  bool exact() const { return lo == hi && stride == 0; }
  Pointer moved(std::int64_t bytes) const;
  Pointer anywhere() const;  // the same object, at any place
  Pointer without_loop() const;
  friend bool operator==(const Pointer&, const Pointer&) = default;
};

/// Can the two touch a common byte, were they used by the same iteration or without regard to iterations?
bool overlap(const Pointer& a, std::int64_t bytes_of_a, const Pointer& b, std::int64_t bytes_of_b);
/// Is each a place of its own for every iteration of the same loop, so that different iterations never meet?
bool same_iteration(const Pointer& a, const Pointer& b);

class Pointers {
 public:
  bool insert(const Pointer& pointer);  // true: it is new
  bool insert(const Pointers& others);
  bool empty() const { return items_.empty(); }
  auto begin() const { return items_.begin(); }
  auto end() const { return items_.end(); }
  std::size_t size() const { return items_.size(); }

 private:
  std::vector<Pointer> items_;
};

enum class Kind : std::uint8_t { unknown, global, stack, heap, function, handle, foreign };

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
  /// The object of this global or function, or of this allocation by this thread.
  int object(const llvm::Value* value, int thread);
  int handle_of(int node);
  int foreign(const std::string& name);
  const Object& operator[](int object) const { return objects_[object]; }
  Object& at(int object) { return objects_[object]; }

  void store(const Pointer& where, const Pointers& what);
  Pointers load(const Pointer& where, std::int64_t bytes) const;
  /// memcpy().
  void copy(const Pointer& to, const Pointer& from);
  /// Everything that can be reached from here, over any number of pointers.
  Pointers reachable(const Pointers& from) const;
  /// Has anything been added since the last call?
  bool grown();
  using Key = std::tuple<int, std::int64_t, std::int64_t, std::int64_t, const llvm::BasicBlock*, bool>;  // a Pointer

 private:
  struct Cell {
    Pointer where;
    Pointers what;
  };
  void fill(int object, const llvm::Constant* initial, std::int64_t offset, int depth);

  const llvm::DataLayout& layout_;
  std::deque<Object> objects_;
  std::vector<std::vector<Cell>> cells_;
  std::map<std::pair<const llvm::Value*, int>, int> of_value_;
  std::map<std::string, int> of_name_;
  std::map<int, int> of_node_;
  std::map<std::pair<Key, Key>, std::uint64_t> copied_;  // by copy(): the source's version + 1
  bool grown_ = false;
};

}  // namespace hearth::btlp
