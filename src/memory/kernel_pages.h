// The system calls about pages: where they shall go, where they are. Raw calls, no libnuma.
//
// Any thread. Containers often refuse these calls; each refused call costs one line that names it and what is
// lost, and is not made again (`refused`), so that the program does not pay for it. What a call means under a
// pretended machine is the callers' business: nothing here looks at one.
#pragma once

#include <cstddef>
#include <cstdint>

#include "memory/homes.h"

namespace hearth::memory::kernel {

enum class Outcome : std::uint8_t {
  done,
  refused,  // not permitted or not there (seccomp, an old kernel); said once
  failed,   // this time: no memory for the bookkeeping, a node that is not allowed any more; said once
};

/// Pages of [begin, begin + bytes) that are touched from now on come from this node while it has room, else
/// from near it.
Outcome prefer(void* begin, std::size_t bytes, unsigned node);
/// ... come in turns, page by page (huge page by huge page) and counted from address 0, from these nodes in
/// rising order.
Outcome interleave(void* begin, std::size_t bytes, const std::uint16_t* nodes, std::int32_t count);

/// ... come from these nodes, and the kernel's automatic balancing may move them to who uses them. Nothing is said where
/// the kernel has no such policy.
Outcome balance(void* begin, std::size_t bytes, const std::uint16_t* nodes, std::int32_t count);

/// The calling thread's own policy, while it populates pieces that are too many for a policy each. populate()
/// touches every page; the thread's policy comes back with the destructor.
class ThreadPolicy {
 public:
  ThreadPolicy();
  ~ThreadPolicy();
  Outcome prefer(unsigned node);
  static void populate(void* begin, std::size_t bytes);

 private:
  int mode_ = 0;
  unsigned long mask_[kMostNodes / 64] = {};
  bool saved_ = false;
};

/// For each page the kernel number of its node, or a negative errno (-ENOENT, -EFAULT: nobody has touched
/// it).
inline constexpr std::size_t kMostPagesAtOnce = 512;
Outcome query(void* const* pages, std::size_t count, int* status);
/// Move pages to the nodes named; `status` as above, after the move.
Outcome move(void* const* pages, std::size_t count, const int* nodes, int* status);

/// Tests only: forget that calls were refused.
void forget_refusals();

}  // namespace hearth::memory::kernel
