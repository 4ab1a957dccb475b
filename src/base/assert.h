// Assertions: what the library relies on, checked while it runs. The level of a build is HEARTH_ASSERT_LEVEL
// (cmake/HearthFlags.cmake):
//
//   0  none: what is installed
//   1  HEARTH_ASSERT             compares what the caller has at hand: the owner of a deque, a state
//   2  HEARTH_ASSERT_INVARIANT   may read shared words or lists of a few entries: debug, tsan, asan, stress
//   3  HEARTH_ASSERT_STRUCTURE   walks a whole structure: the unit tests of the rooms
//
// Each takes a condition and, as printf() does, a message with the values: without them a failure on another
// machine says nothing. Above the build's level nothing is evaluated, but everything is compiled.
//
// A failure is one line on stderr, then abort(). Any thread; no lock, no allocation.
#pragma once

#include <cstddef>

#include "base/cpu.h"

#ifndef HEARTH_ASSERT_LEVEL
#define HEARTH_ASSERT_LEVEL 0
#endif

namespace hearth {

[[noreturn, gnu::format(printf, 4, 5), gnu::cold, gnu::noinline]] void assertion_failed(
    const char* expression, const char* file, int line, const char* format, ...);

/// Who the calling thread is, beside its number in the kernel: writes at most `room` characters and returns
/// how many. The runtime sets it, once; null: nobody knows more.
using DescribeThread = std::size_t (*)(char* text, std::size_t room);
void describe_threads_with(DescribeThread describe);

}  // namespace hearth

#define HEARTH_ASSERT_AT(level, condition, ...)                                  \
  do {                                                                           \
    if constexpr ((level) <= HEARTH_ASSERT_LEVEL) {                              \
      if (HEARTH_UNLIKELY(!(condition)))                                         \
        ::hearth::assertion_failed(#condition, __FILE__, __LINE__, __VA_ARGS__); \
    }                                                                            \
  } while (0)

#define HEARTH_ASSERT(condition, ...) HEARTH_ASSERT_AT(1, condition, __VA_ARGS__)
#define HEARTH_ASSERT_INVARIANT(condition, ...) HEARTH_ASSERT_AT(2, condition, __VA_ARGS__)
#define HEARTH_ASSERT_STRUCTURE(condition, ...) HEARTH_ASSERT_AT(3, condition, __VA_ARGS__)
