// Do two instances of a thread, made by iterations k and k + 1 of a loop, touch different bytes?
//
// An address becomes a polynomial in k and in numbers that are the same for all instances (a variable's value, a
// quotient).
// The instance's argument is followed back into the creating loop, so `out[id]`, slices from `lo` to `hi`, and
// strides of the
// number of threads are seen. An answer "no" means: not proven.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>

#include "btlp/analysis/walk.h"

namespace hearth::btlp {

/// Sums of products; the key is the product's sorted factors, "" the constant.
struct Polynomial {
  std::map<std::string, std::int64_t> terms;
  bool constant(std::int64_t& value) const;
  std::string text() const;
  Polynomial plus(const Polynomial& other, std::int64_t factor = 1) const;
  std::optional<Polynomial> times(const Polynomial& other) const;
};

class Symbolic {
 public:
  Symbolic(Walk& walk, int node);
  /// True: proven for the bytes that these two accesses touch.
  bool disjoint(const Access& a, const Access& b);

 private:
  using Maybe = std::optional<Polynomial>;
  Maybe of(const llvm::SCEV* expression, Context* context, bool upper);
  Maybe of_value(llvm::Value* value, Context* context, bool upper);
  Maybe of_load(llvm::Instruction* load, llvm::Value* from, Context* context, bool upper);
  Maybe of_steps(const llvm::SCEV* steps, Context* context, bool upper);
  Maybe times_by_test(const llvm::Loop& loop, Context* context);
  Maybe of_most(const llvm::SCEV* choice, Context* context, bool upper, bool most);
  Maybe address(const Access& access, bool upper, int instance);
  Maybe new_address(const Access& access, bool upper, int instance);
  bool ordered(const Access& a, const Access& b);
  bool interleaved(const Access& a, const Access& b);
  bool same_for_all(llvm::Value* value, Context* context) const;
  llvm::ScalarEvolution& evolution(Context* context);

  Walk& walk_;
  const Creation& creation_;
  int node_;
  std::map<std::tuple<const Access*, bool, int, unsigned>, Maybe> addresses_;  // that were worked out
  int instance_ = 0;   // 0: iteration k, 1: k + 1
  unsigned pick_ = 0;  // which arm of a choice is tried
  int depth_ = 0;
  Polynomial start_;                              // of the steps whose end is being worked out
  const llvm::BasicBlock* block_ = nullptr;       // where the access is
  std::set<const llvm::BasicBlock*> iterations_;  // headers of the loops whose iterations are the instances
};

}  // namespace hearth::btlp
