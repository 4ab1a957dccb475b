// Which pages does a thread touch? For `hearth check` (check.h), and nothing else.
//
// While a window is open, the mappings that hold covered bytes are closed to everybody (PROT_NONE); the first
// access to a page faults, the handler notes it and opens the page, for reading first. The program must not
// notice: faults of other threads open pages without being noted, faults that are not ours go to the handler
// that the program had, and system calls of the window's thread, which would fail with EFAULT on closed
// pages, come to us first (syscall user dispatch, Linux 5.11): the mappings are open while one is under way.
// Where a call means more than we can see (it forks, or changes mappings that are watched) the window goes
// blind: everything is open until it ends, and blind() says so.
//
// Not seen: the thread's own stack and thread-local storage, which handlers need; the runtime's data; what
// system calls of other kinds than read and write touch; memory that is mapped in the window.
//
// One window at a time; open() and close() by its thread, everything else by the same thread between windows.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hearth::rt::watch {

/// One touched page.
struct Touch {
  std::uint64_t page : 52;  // its number
  std::uint64_t written : 1;
  std::uint64_t
      crowded : 1;  // of the heap, or of a program's or library's variables: others' objects may share it
  std::uint64_t
      runtime : 1;  // the runtime's code has touched it, and hidden what the task may have done with it
};

/// Once, before the first window. False: no memory.
bool start();
/// System calls cannot be seen (an old kernel): those on closed pages fail.
bool misses_system_calls();

/// From the next window on the mappings that hold these bytes are watched.
void cover(std::uint64_t begin, std::uint64_t end);
/// The runtime's own memory: never watched.
void leave_out(std::uint64_t begin, std::uint64_t end);

void open();
void close();
/// The last window did not see everything.
bool blind();

/// What windows have noted since the last forget(), in their order; pages may come twice.
std::size_t count();
Touch* touches();
/// Keeps the first `count`.
void forget_from(std::size_t count);

}  // namespace hearth::rt::watch
