// What the code says to the processor and to the compiler's branch layout. No state.
#pragma once

#define HEARTH_LIKELY(x) __builtin_expect(!!(x), 1)
#define HEARTH_UNLIKELY(x) __builtin_expect(!!(x), 0)

namespace hearth {

/// One turn of a spin loop: tells the core that the loop waits, which frees its sibling and saves the
/// memory-order flush when the awaited line changes. Not a memory barrier.
inline void cpu_relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ __volatile__(
      "isb" ::
          : "memory");  // 'yield' is a no-op on most cores; isb gives a pause of useful length
#else
  __asm__ __volatile__("" ::: "memory");
#endif
}

/// Asks for the line at `address` to be made ours for writing, ahead of the write.
inline void prefetch_to_write(const void* address) {
#if defined(__x86_64__)
  // __builtin_prefetch() takes the instruction only for newer targets; older processors run it as a NOP.
  __asm__ __volatile__("prefetchw %0" ::"m"(*static_cast<const char*>(address)));
#else
  __builtin_prefetch(address, 1);
#endif
}

}  // namespace hearth
