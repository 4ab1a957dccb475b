// See kernel_pages.h. State: a flag per call that was refused.
#include "memory/kernel_pages.h"

#include <cerrno>
#include <cstring>

#include <atomic>

#include <linux/mempolicy.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/log.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23  // Linux 5.14
#endif

namespace hearth::memory::kernel {
namespace {

constinit std::atomic<bool> mbind_refused{false};
constinit std::atomic<bool> set_mempolicy_refused{false};
constinit std::atomic<bool> move_pages_refused{false};

// The kernel takes one off the number of bits it is told.
constexpr unsigned long kBitsTold = kMostNodes + 1;

bool is_refusal(int error) { return error == EPERM || error == ENOSYS || error == EACCES; }

Outcome judge(std::atomic<bool>& refused, int error) {
  if (!is_refusal(error)) return Outcome::failed;
  refused.store(true, std::memory_order_relaxed);
  return Outcome::refused;
}

Outcome bind(void* begin, std::size_t bytes, int mode, const unsigned long* mask) {
  if (mbind_refused.load(std::memory_order_relaxed)) return Outcome::refused;
  const int saved = errno;
  if (syscall(SYS_mbind, begin, bytes, mode, mask, kBitsTold, 0) == 0) return Outcome::done;
  const int error = errno;
  errno = saved;
  const Outcome outcome = judge(mbind_refused, error);
  if (outcome == Outcome::refused)
    HEARTH_WARN_ONCE(
        "mbind is refused here (%s): omp_malloc, OMP_DATA_DISTRIBUTION and the partition trait have no effect. "
        "The operating system places this memory.",
        std::strerror(error));
  else if (error != EFAULT)  // memory that the program has unmapped is no loss
    HEARTH_WARN_ONCE("mbind failed for %zu bytes (%s): the operating system places this memory.%s", bytes,
                     std::strerror(error),
                     error == ENOMEM ? " The process has too many memory mappings (vm.max_map_count)." : "");
  return outcome;
}

void set(unsigned long* mask, unsigned node) { mask[node / 64] |= 1ul << (node % 64); }

}  // namespace

Outcome prefer(void* begin, std::size_t bytes, unsigned node) {
  unsigned long mask[kMostNodes / 64] = {};
  if (node >= kMostNodes) return Outcome::failed;
  set(mask, node);
  // Preferred, not bound: a node that has run full costs time, never the program.
  return bind(begin, bytes, MPOL_PREFERRED, mask);
}

Outcome interleave(void* begin, std::size_t bytes, const std::uint16_t* nodes, std::int32_t count) {
  unsigned long mask[kMostNodes / 64] = {};
  for (std::int32_t i = 0; i < count; ++i)
    if (nodes[i] < kMostNodes) set(mask, nodes[i]);
  return bind(begin, bytes, MPOL_INTERLEAVE, mask);
}

Outcome balance(void* begin, std::size_t bytes, const std::uint16_t* nodes, std::int32_t count) {
  constexpr int kBalancing = 1 << 13;  // MPOL_F_NUMA_BALANCING, Linux 5.12
  unsigned long mask[kMostNodes / 64] = {};
  for (std::int32_t i = 0; i < count; ++i)
    if (nodes[i] < kMostNodes) set(mask, nodes[i]);
  const int saved = errno;
  const bool done = syscall(SYS_mbind, begin, bytes, MPOL_BIND | kBalancing, mask, kBitsTold, 0) == 0;
  errno = saved;
  return done ? Outcome::done : Outcome::failed;
}

ThreadPolicy::ThreadPolicy() {
  if (set_mempolicy_refused.load(std::memory_order_relaxed)) return;
  saved_ = syscall(SYS_get_mempolicy, &mode_, mask_, kBitsTold, nullptr, 0) == 0;
}

ThreadPolicy::~ThreadPolicy() {
  if (saved_) syscall(SYS_set_mempolicy, mode_, mask_, kBitsTold);
}

Outcome ThreadPolicy::prefer(unsigned node) {
  if (!saved_ || node >= kMostNodes) return Outcome::refused;  // what cannot be restored is not changed
  unsigned long mask[kMostNodes / 64] = {};
  set(mask, node);
  const int saved = errno;
  if (syscall(SYS_set_mempolicy, MPOL_PREFERRED, mask, kBitsTold) == 0) return Outcome::done;
  const int error = errno;
  errno = saved;
  const Outcome outcome = judge(set_mempolicy_refused, error);
  HEARTH_WARN_ONCE(
      "set_mempolicy failed (%s): a distribution in many pieces has no effect. "
      "The operating system places this memory.",
      std::strerror(error));
  return outcome;
}

void ThreadPolicy::populate(void* begin, std::size_t bytes) {
  const int saved = errno;
  if (madvise(begin, bytes, MADV_POPULATE_WRITE) != 0) {
    // Before Linux 5.14. The memory is new and nobody else's yet, so writing a zero changes nothing.
    for (std::size_t at = 0; at < bytes; at += kPage) *(static_cast<volatile char*>(begin) + at) = 0;
  }
  errno = saved;
}

namespace {

Outcome move_or_query(void* const* pages, std::size_t count, const int* nodes, int* status) {
  if (move_pages_refused.load(std::memory_order_relaxed)) return Outcome::refused;
  const int saved = errno;
  for (std::size_t done = 0; done < count; done += kMostPagesAtOnce) {
    const std::size_t batch = count - done < kMostPagesAtOnce ? count - done : kMostPagesAtOnce;
    // A positive result counts pages that could not be moved; their status says why.
    if (syscall(SYS_move_pages, 0, batch, pages + done, nodes == nullptr ? nullptr : nodes + done, status + done,
                nodes == nullptr ? 0 : MPOL_MF_MOVE) >= 0)
      continue;
    const int error = errno;
    errno = saved;
    const Outcome outcome = judge(move_pages_refused, error);
    if (outcome == Outcome::refused)
      HEARTH_WARN_ONCE(
          "move_pages is refused here (%s): Hearth sees only where memory is that it has distributed itself. "
          "Tasks follow the data of omp_malloc and of earlier tasks; nothing is migrated.",
          std::strerror(error));
    return outcome;
  }
  errno = saved;
  return Outcome::done;
}

}  // namespace

Outcome query(void* const* pages, std::size_t count, int* status) {
  return move_or_query(pages, count, nullptr, status);
}

Outcome move(void* const* pages, std::size_t count, const int* nodes, int* status) {
  return move_or_query(pages, count, nodes, status);
}

void forget_refusals() {
  mbind_refused.store(false, std::memory_order_relaxed);
  set_mempolicy_refused.store(false, std::memory_order_relaxed);
  move_pages_refused.store(false, std::memory_order_relaxed);
}

}  // namespace hearth::memory::kernel
