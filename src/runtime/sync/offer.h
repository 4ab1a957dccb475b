// Offer: work that one thread has and others help with, one piece at a time; and the end of the offer, behind which nobody
// is at it any more, so that the piece may go.
//
// Helpers count themselves in before they look whether the offer stands, and its end waits for them: both sequentially
// consistent, so that one of the two sees the other. An Offer itself has to outlive its helpers.
#pragma once

#include <atomic>
#include <cstdint>

#include "runtime/sync/wait.h"

namespace hearth::rt {

template <class Work>
class Offer {
 public:
  /// What stands, as a hint; or exactly, for who keeps others from making and ending offers.
  Work* peek() const { return work_.load(std::memory_order_relaxed); }

  /// False: another piece is offered.
  bool make(Work& work) {
    Work* none = nullptr;
    // The release in it pairs with the load in help(): what the work consists of is seen.
    return work_.compare_exchange_strong(none, &work, std::memory_order_seq_cst, std::memory_order_relaxed);
  }

  /// Whoever has made the offer ends it, when its work needs nobody any more: the last helpers may still be on their way out.
  void end() {
    work_.store(nullptr, std::memory_order_seq_cst);  // pairs with the increment in help()
    Spinner spinner;
    while (helpers_.load(std::memory_order_seq_cst) != 0)  // pairs with the decrement there
      if (!spinner.turn()) yield_cpu();
  }

  /// What `act` says of the work that stands, meanwhile not ended; false where there is none.
  template <class Act>
  bool help(Act&& act) {
    helpers_.fetch_add(1, std::memory_order_seq_cst);  // pairs with the store in end()
    Work* const work = work_.load(std::memory_order_seq_cst);
    const bool result = work != nullptr && act(*work);
    helpers_.fetch_sub(1, std::memory_order_seq_cst);  // pairs with the load in end()
    return result;
  }

  /// In the child of a fork, where the others do not exist.
  void reset_after_fork() {
    work_.store(nullptr, std::memory_order_relaxed);  // alone
    helpers_.store(0, std::memory_order_relaxed);     // alone
  }

 private:
  std::atomic<Work*> work_{nullptr};
  std::atomic<std::int32_t> helpers_{0};
};

}  // namespace hearth::rt
