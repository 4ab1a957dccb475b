// What the library says to a person: whole lines on stderr, each with the prefix "hearth: ".
//
// Callable from any thread, also between fork and exec and in a signal handler's vicinity: no lock, no
// allocation, no stdio buffer. A line is formatted into a buffer on the stack (longer ones are cut at
// kLogLine) and written with one write(2), so lines of several threads or processes do not mix. errno is
// kept.
#pragma once

#include <cstdarg>
#include <cstddef>

#include <atomic>

namespace hearth {

inline constexpr std::size_t kLogLine = 2048;

/// One line. The text needs no trailing newline.
[[gnu::format(printf, 1, 2), gnu::cold]] void warn(const char* format, ...);

/// One line, then abort(): for states from which running on would corrupt the program's results.
[[noreturn, gnu::format(printf, 1, 2), gnu::cold]] void fatal(const char* format, ...);

/// Text as it is, without a prefix or an added newline (displays such as OMP_DISPLAY_ENV).
[[gnu::cold]] void write_stderr(const char* text, std::size_t length);

/// Silences warn() (not fatal()): OpenMP's and KMP's "no warnings" switches, and tests.
void set_warnings(bool on);

}  // namespace hearth

/// warn(), at most once for this place in the source, however many threads pass it.
#define HEARTH_WARN_ONCE(...)                                       \
  do {                                                              \
    static constinit std::atomic<bool> hearth_warned{false};        \
    if (!hearth_warned.load(std::memory_order_relaxed) &&           \
        !hearth_warned.exchange(true, std::memory_order_relaxed)) { \
      ::hearth::warn(__VA_ARGS__);                                  \
    }                                                               \
  } while (0)
