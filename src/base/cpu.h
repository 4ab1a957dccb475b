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

}  // namespace hearth
