// A place in an object, or several, and sets of them: what the analysis knows of a pointer.
//
// A pointer is a set of places {lo, lo + stride, …, hi} in one object. Where `loop` is set, it is one place for each
// iteration of that loop: `fresh` objects are one object per iteration, else iteration k has the place lo + k * stride.
// Threads that the loop creates then have places of their own.
#pragma once

#include <cstdint>

#include <memory>
#include <vector>

namespace llvm {
class BasicBlock;
}

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

/// Many objects for which one stands: a pointer to the stand-in is one to any place in any of them, so what is touched,
/// stored and read through it is so for them all. There are two: kRest has the objects that full sets had no room for,
/// kKept those that functions of unseen code were given and may keep. Whatever its objects point to belongs to it, too.
/// One analysis at a time.
class Rest {
 public:
  static constexpr int kRest = 1, kKept = 2;  // bits of of_, too
  static constexpr int kBoth[] = {kRest, kKept};
  static bool stands(int object) { return object == kRest || object == kKept; }
  static Pointer pointer(int stand_in = kRest);
  static void begin();                                   // of an analysis: there are none
  static bool add(int object, int stand_in = kRest);     // true: it is new
  static bool has(int object, int stand_in = kRest | kKept) {
    const auto index = static_cast<std::size_t>(object);
    return index < of_.size() && (of_[index] & stand_in) != 0;
  }
  static const std::vector<int>& objects(int stand_in) { return objects_[stand_in - 1]; }  // in the order in which they came

 private:
  static inline std::vector<std::uint8_t> of_;  // by object: the stand-ins that have it
  static inline std::vector<int> objects_[2];
};

struct PointerHash {
  std::size_t operator()(const Pointer& pointer) const {
    // Products that do not wait for each other.
    const auto object = static_cast<std::uint64_t>(pointer.object) * 2 + (pointer.fresh ? 1 : 0);
    const auto loop = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(pointer.loop));
    std::uint64_t hash = (object ^ loop) * 0x9e3779b97f4a7c15U + static_cast<std::uint64_t>(pointer.lo) * 0xc2b2ae3d27d4eb4fU +
                         static_cast<std::uint64_t>(pointer.hi) * 0x165667b19e3779f9U +
                         static_cast<std::uint64_t>(pointer.stride) * 0xd6e8feb86659fd93U;
    hash ^= hash >> 32U;
    return hash * 0x9e3779b97f4a7c15U >> 32U;
  }
};

/// Can the two touch a common byte, were they used by the same iteration or without regard to iterations?
bool overlap(const Pointer& a, std::int64_t bytes_of_a, const Pointer& b, std::int64_t bytes_of_b);
/// Is each a place of its own for every iteration of the same loop, so that different iterations never meet?
bool same_iteration(const Pointer& a, const Pointer& b);

/// A bounded set that only grows, in the order in which its pointers came. Copies share their items until one of them grows, and
/// adding what is there already costs nothing: the walk asks for the same sets again and again.
class Pointers {
 public:
  bool insert(const Pointer& pointer);  // true: it is new
  bool insert(const Pointers& others);
  bool has(const Pointer& pointer) const;
  bool empty() const { return items_ == nullptr; }
  const Pointer* begin() const { return items_ == nullptr ? nullptr : items_->list.data(); }
  const Pointer* end() const { return items_ == nullptr ? nullptr : items_->list.data() + items_->list.size(); }
  std::size_t size() const { return items_ == nullptr ? 0 : items_->list.size(); }
  /// Of this content alone: no other set has ever had the number. 0: empty.
  std::uint64_t stamp() const { return items_ == nullptr ? 0 : items_->stamp; }

 private:
  struct Items {
    std::vector<Pointer> list;
    std::vector<std::uint16_t> slots;  // a hash table of numbers in the list, plus 1; none while it is short
    std::uint64_t stamp = 0;
  };
  struct Sum;
  static Sum& remembered(std::uint64_t set, std::uint64_t part);
  void own();
  void add(const Pointer& pointer);
  void widen(const Pointer& pointer);

  std::shared_ptr<Items> items_;
};

}  // namespace hearth::btlp
