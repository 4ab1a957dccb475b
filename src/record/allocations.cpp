// See allocations.h.
//
// State: where the next malloc is, found by the first call of all, made while there is one thread (pthread_create
// allocates); a table of what was allocated before the recording began; and the sink.
#include "record/allocations.h"

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdlib>

#include <dlfcn.h>
#include <link.h>
#include <malloc.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/cpu.h"
#include "record/live_blocks.h"

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace hearth::record {
namespace {

struct Early {
  AllocationNote note;
  std::atomic<bool> complete;
};
constexpr std::size_t kMostEarly = 16384;
Early early[kMostEarly];
std::atomic<std::size_t> so_many_early{0};
std::atomic<void (*)(const AllocationNote&)> receiver{nullptr};
std::atomic<void (*)(std::uint64_t, std::uint64_t)> free_receiver{nullptr};

}  // namespace

constinit LiveBlocks live_blocks;

void deliver_frees(void (*sink)(std::uint64_t, std::uint64_t)) {
  // Release pairs with the acquire in note_free(): what `sink` needs is there.
  free_receiver.store(sink, std::memory_order_release);
}

void deliver_allocations(void (*sink)(const AllocationNote&)) {
  // Release: with acquire in note_block(), what `sink` needs is there. A block that another thread notes at this moment
  // may get into the table too late to be seen; then its memory is one that nobody knows.
  void (*none)(const AllocationNote&) = nullptr;
  if (!receiver.compare_exchange_strong(none, sink, std::memory_order_release, std::memory_order_relaxed)) return;
  const std::size_t count = so_many_early.load(std::memory_order_relaxed);
  for (std::size_t i = 0; i < count && i < kMostEarly; ++i)
    // Acquire pairs with the release in note_block(): the note is whole.
    if (early[i].complete.load(std::memory_order_acquire)) sink(early[i].note);
}

namespace {

[[gnu::cold, gnu::noinline]] void note_block(const void* block, std::size_t bytes, const void* code) {
  if (block == nullptr) return;
  const int before = errno;
  const AllocationNote note{ticks(), reinterpret_cast<std::uintptr_t>(block), bytes,
                            reinterpret_cast<std::uintptr_t>(code)};
  live_blocks.add(note.address, bytes);
  // Acquire pairs with the release in deliver_allocations(): what `sink` needs is there.
  if (auto* const sink = receiver.load(std::memory_order_acquire)) {
    sink(note);
  } else {
    const std::size_t mine = so_many_early.fetch_add(1, std::memory_order_relaxed);
    if (mine < kMostEarly) {
      early[mine].note = note;
      // Release pairs with the acquire in deliver_allocations(), which reads the note.
      early[mine].complete.store(true, std::memory_order_release);
    }
  }
  errno = before;
}

[[gnu::cold, gnu::noinline]] void note_free(std::uint64_t address, std::uint64_t bytes) {
  const int before = errno;
  // Acquire pairs with the release in deliver_frees().
  if (auto* const sink = free_receiver.load(std::memory_order_acquire)) sink(address, bytes);
  errno = before;
}

/// The block is about to be freed, or moved.
inline void going(const void* block) {
  const auto address = reinterpret_cast<std::uintptr_t>(block);
  if (const std::uint64_t bytes = live_blocks.remove(address); HEARTH_UNLIKELY(bytes != 0)) note_free(address, bytes);
}

}  // namespace
}  // namespace hearth::record

#ifndef HEARTH_SANITIZED  // a sanitizer has a malloc of its own

// glibc's under names that nobody stands in front of, for what dlsym() allocates while it looks for the next ones.
extern "C" {
__attribute__((weak)) void* __libc_malloc(std::size_t size);
__attribute__((weak)) void* __libc_calloc(std::size_t count, std::size_t size);
__attribute__((weak)) void* __libc_realloc(void* block, std::size_t size);
__attribute__((weak)) void __libc_free(void* block);
}

EXPORT void* _Znwm(std::size_t bytes);
EXPORT void* _Znam(std::size_t bytes);

namespace hearth::record {
namespace {

struct Next {
  void* (*malloc)(std::size_t);
  void* (*calloc)(std::size_t, std::size_t);
  void* (*realloc)(void*, std::size_t);
  void (*free)(void*);
  void* (*aligned_alloc)(std::size_t, std::size_t);
  void* (*memalign)(std::size_t, std::size_t);
  int (*posix_memalign)(void**, std::size_t, std::size_t);
  void* (*new_one)(std::size_t);
  void* (*new_array)(std::size_t);
};
constinit Next next_one{};

template <class Function>
void find(Function& function, const char* name) {
  function = reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

[[gnu::cold, gnu::noinline]] void find_next() {
  next_one.malloc = __libc_malloc;
  next_one.calloc = __libc_calloc;
  next_one.realloc = __libc_realloc;
  next_one.free = __libc_free;
  Next found{};
  // All of them before any is used: a block goes back to where it came from.
  find(found.malloc, "malloc");
  find(found.calloc, "calloc");
  find(found.realloc, "realloc");
  find(found.free, "free");
  find(found.aligned_alloc, "aligned_alloc");
  find(found.memalign, "memalign");
  find(found.posix_memalign, "posix_memalign");
  next_one = found;
}

inline const Next& next() {
  if (HEARTH_UNLIKELY(next_one.malloc == nullptr)) find_next();
  return next_one;
}

// Where operator new was called that calls malloc.
thread_local constinit const void* called_from = nullptr;

inline void* noted(void* block, std::size_t bytes, const void* code) {
  if (HEARTH_UNLIKELY(bytes >= kNotedAllocation)) {
    note_block(block, bytes, called_from != nullptr ? called_from : code);
    called_from = nullptr;
  }
  return block;
}

/// A block with another size: the old one goes, even if the new one begins where it did, unless there is no new one.
inline void* moved(void* block, std::size_t bytes, const void* code) {
  const auto address = reinterpret_cast<std::uintptr_t>(block);
  const std::uint64_t had = block == nullptr ? 0 : live_blocks.remove(address);
  if (HEARTH_UNLIKELY(had != 0)) note_free(address, had);
  void* const other = next().realloc(block, bytes);
  if (other == nullptr && had != 0 && bytes != 0) note_block(block, had, code);
  return noted(other, bytes, code);
}

/// What stands behind our operators new. A program of C that opens a library of C++ keeps the C++ library to that one
/// (RTLD_LOCAL; Python's modules do so): then they are found among what the caller needs, which stays loaded. Both at
/// once, since the array's jumps to the other one, and that then seems to be called from here.
[[gnu::cold, gnu::noinline]] void find_new(const void* code) {
  find(next_one.new_one, "_Znwm");
  find(next_one.new_array, "_Znam");
  Dl_info info;
  link_map* caller = nullptr;
  if (next_one.new_one != nullptr && next_one.new_array != nullptr) return;
  if (dladdr1(code, &info, reinterpret_cast<void**>(&caller), RTLD_DL_LINKMAP) == 0) return;
  void* const handle = dlopen(caller->l_name, RTLD_NOLOAD | RTLD_LAZY);
  if (handle == nullptr) return;
  Next found{};
  found.new_one = reinterpret_cast<void* (*)(std::size_t)>(dlsym(handle, "_Znwm"));
  found.new_array = reinterpret_cast<void* (*)(std::size_t)>(dlsym(handle, "_Znam"));
  if (found.new_one == _Znwm || found.new_array == _Znam) return;  // the caller sees what the whole program sees: us
  next_one.new_one = found.new_one;
  next_one.new_array = found.new_array;
}

/// Looked up when it is called: in a C program it does not exist, and dlsym()'s message takes locks that the caller of
/// malloc may hold.
void* call_new(void* (*&function)(std::size_t), std::size_t bytes, const void* code) {
  next();
  if (HEARTH_UNLIKELY(function == nullptr)) find_new(code);
  // The array's operator calls the other one: the first of them is what the program called.
  const bool outermost = bytes >= kNotedAllocation && called_from == nullptr;
  if (outermost) called_from = code;
  // Code that no library holds, where no C++ library can be seen: then malloc, which is what all of them end in.
  void* const block = (function != nullptr ? function : next().malloc)(bytes);
  if (outermost) called_from = nullptr;
  return block;
}

}  // namespace
}  // namespace hearth::record

using hearth::record::call_new;
using hearth::record::going;
using hearth::record::moved;
using hearth::record::next;
using hearth::record::next_one;
using hearth::record::noted;

#define CALLER __builtin_return_address(0)

EXPORT void* malloc(std::size_t bytes) noexcept { return noted(next().malloc(bytes), bytes, CALLER); }

EXPORT void* calloc(std::size_t count, std::size_t size) noexcept {
  void* const block = next().calloc(count, size);
  return block == nullptr ? nullptr : noted(block, count * size, CALLER);
}

EXPORT void free(void* block) noexcept {
  going(block);
  next().free(block);
}

EXPORT void* realloc(void* block, std::size_t bytes) noexcept { return moved(block, bytes, CALLER); }

EXPORT void* reallocarray(void* block, std::size_t count, std::size_t size) noexcept {
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes)) {
    errno = ENOMEM;
    return nullptr;
  }
  return moved(block, bytes, CALLER);
}

EXPORT void* aligned_alloc(std::size_t alignment, std::size_t bytes) noexcept {
  return noted(next().aligned_alloc(alignment, bytes), bytes, CALLER);
}

EXPORT void* memalign(std::size_t alignment, std::size_t bytes) noexcept {
  return noted(next().memalign(alignment, bytes), bytes, CALLER);
}

EXPORT int posix_memalign(void** result, std::size_t alignment, std::size_t bytes) noexcept {
  const int failed = next().posix_memalign(result, alignment, bytes);
  if (failed == 0) noted(*result, bytes, CALLER);
  return failed;
}

EXPORT void* valloc(std::size_t bytes) noexcept {
  return noted(next().memalign(static_cast<std::size_t>(getpagesize()), bytes), bytes, CALLER);
}

// operator new(size_t) and operator new[](size_t): what calls malloc in them is not where the program is.
EXPORT void* _Znwm(std::size_t bytes) { return call_new(next_one.new_one, bytes, CALLER); }
EXPORT void* _Znam(std::size_t bytes) { return call_new(next_one.new_array, bytes, CALLER); }

#endif
