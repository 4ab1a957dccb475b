// libhearth-malloc.so, which `hearth run --distribute` preloads: malloc and its kin, in front of the C
// library's. Large blocks become managed memory, which libhearth.so distributes over the NUMA nodes; all
// others are passed on untouched. Large anonymous mappings of the program stay its own; libhearth.so gives their pages a
// policy. Freeing is one comparison of addresses, since managed memory is one range.
//
// It is inherited by every process below, so in those without libhearth.so it only passes on. libhearth.so
// finds it (not the other way round, memory/takeover.h), so nothing has to be looked up here while somebody
// allocates.
//
// State: where the next malloc is, found by the first call of all, made while there is one thread
// (pthread_create allocates); and what libhearth.so hands over, once, perhaps by dlopen() beside running
// threads: the range is written before `least`, so whoever is given a managed block knows the range, and so
// does everybody to whom it goes.
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "memory/takeover.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23  // Linux 5.14
#endif

#define EXPORT __attribute__((visibility("default")))
#define RARE(condition) __builtin_expect(!!(condition), 0)
#define LOAD(place, order) __atomic_load_n(&(place), order)

// glibc's malloc under names that nobody stands in front of, for what dlsym() allocates while it looks for
// the next one.
__attribute__((weak)) void* __libc_malloc(size_t size);
__attribute__((weak)) void* __libc_calloc(size_t count, size_t size);
__attribute__((weak)) void* __libc_realloc(void* block, size_t size);
__attribute__((weak)) void __libc_free(void* block);

static void* first_malloc(size_t size);
static void* first_calloc(size_t count, size_t size);
static void* first_realloc(void* block, size_t size);
static void first_free(void* block);
static void* first_aligned_alloc(size_t alignment, size_t size);
static void* first_memalign(size_t alignment, size_t size);
static int first_posix_memalign(void** result, size_t alignment, size_t size);
static size_t first_malloc_usable_size(void* block);
static void* first_mmap(void* address, size_t length, int protection, int flags, int file, off_t offset);
static int first_munmap(void* address, size_t length);

// All that a call looks at; what the most frequent ones look at is on one line.
static struct {
  size_t least;
  uintptr_t begin, bytes;
  void* (*malloc)(size_t);
  void* (*calloc)(size_t, size_t);
  void* (*realloc)(void*, size_t);
  void (*free)(void*);
  void* (*aligned_alloc)(size_t, size_t);
  void* (*memalign)(size_t, size_t);
  int (*posix_memalign)(void**, size_t, size_t);
  size_t (*malloc_usable_size)(void*);
  void* (*mmap)(void*, size_t, int, int, int, off_t);
  int (*munmap)(void*, size_t);
} all __attribute__((aligned(64))) = {
    .least = SIZE_MAX,
    // No block lies there, so a thread that sees `begin` and `bytes` come one by one mistakes none.
    .begin = UINTPTR_MAX / 2 + 1,
    .malloc = first_malloc,
    .calloc = first_calloc,
    .realloc = first_realloc,
    .free = first_free,
    .aligned_alloc = first_aligned_alloc,
    .memalign = first_memalign,
    .posix_memalign = first_posix_memalign,
    .malloc_usable_size = first_malloc_usable_size,
    .mmap = first_mmap,
    .munmap = first_munmap};

static struct HearthTakeover hearth;

// ---- the next malloc

static void find_next(void) {
  all.malloc = __libc_malloc;
  all.calloc = __libc_calloc;
  all.realloc = __libc_realloc;
  all.free = __libc_free;
#define NEXT(name) __typeof__(all.name) const name##_found = (__typeof__(all.name))dlsym(RTLD_NEXT, #name)
#define TAKE(name) all.name = name##_found
  // All of them before any is used: a block goes back to where it came from.
  NEXT(malloc);
  NEXT(calloc);
  NEXT(realloc);
  NEXT(free);
  NEXT(aligned_alloc);
  NEXT(memalign);
  NEXT(posix_memalign);
  NEXT(malloc_usable_size);
  NEXT(mmap);
  NEXT(munmap);
  TAKE(malloc);
  TAKE(calloc);
  TAKE(realloc);
  TAKE(free);
  TAKE(aligned_alloc);
  TAKE(memalign);
  TAKE(posix_memalign);
  TAKE(malloc_usable_size);
  TAKE(mmap);
  TAKE(munmap);
#undef NEXT
#undef TAKE
}

static void* first_malloc(size_t size) {
  find_next();
  return all.malloc(size);
}
static void* first_calloc(size_t count, size_t size) {
  find_next();
  return all.calloc(count, size);
}
static void* first_realloc(void* block, size_t size) {
  find_next();
  return all.realloc(block, size);
}
static void first_free(void* block) {
  find_next();
  all.free(block);
}
static void* first_aligned_alloc(size_t alignment, size_t size) {
  find_next();
  return all.aligned_alloc(alignment, size);
}
static void* first_memalign(size_t alignment, size_t size) {
  find_next();
  return all.memalign(alignment, size);
}
static int first_posix_memalign(void** result, size_t alignment, size_t size) {
  find_next();
  return all.posix_memalign(result, alignment, size);
}
static size_t first_malloc_usable_size(void* block) {
  find_next();
  return all.malloc_usable_size(block);
}

static void* first_mmap(void* address, size_t length, int protection, int flags, int file, off_t offset) {
  find_next();
  return all.mmap(address, length, protection, flags, file, offset);
}
static int first_munmap(void* address, size_t length) {
  find_next();
  return all.munmap(address, length);
}

// ---- large blocks

// Acquire pairs with the release stores of `least`: what libhearth.so has handed over is there before it is used.
static inline int is_large(size_t size) { return RARE(size >= LOAD(all.least, __ATOMIC_ACQUIRE)); }

static inline int is_managed(const void* block) {
  return RARE((uintptr_t)block - LOAD(all.begin, __ATOMIC_RELAXED) < LOAD(all.bytes, __ATOMIC_RELAXED));
}

static inline int is_power_of_two(size_t n) { return n != 0 && (n & (n - 1)) == 0; }

/// A block that was to be managed and came from the C library.
static void* missed(void* block, size_t size) {
  if (block != NULL) hearth.missed(size);
  return block;
}

#define CALLER __builtin_return_address(0)

/// Null: not to be had. `caller`: who has called malloc or one of its kin.
static void* managed(size_t alignment, size_t size, int zeroed, const void* caller) {
  __atomic_thread_fence(
      __ATOMIC_ACQUIRE);  // pairs with the release of `least` in hearth_take_over_malloc_3()
  const int before = errno;
  void* const block = hearth.allocate(alignment, size, zeroed, caller);
  errno = before;
  return block;
}

static void __attribute__((noinline)) release(void* block) {
  const int before = errno;
  hearth.release(block);
  errno = before;
}

static void* __attribute__((noinline)) large_malloc(size_t size, const void* caller) {
  void* const block = managed(1, size, 0, caller);
  return block != NULL ? block : missed(all.malloc(size), size);
}

static void* __attribute__((noinline)) large_calloc(size_t size, const void* caller) {
  void* const block = managed(1, size, 1, caller);
  return block != NULL ? block : missed(all.calloc(1, size), size);
}

static void* __attribute__((noinline)) large_aligned(void* (*otherwise)(size_t, size_t), size_t alignment,
                                                     size_t size, const void* caller) {
  void* const block = is_power_of_two(alignment) ? managed(alignment, size, 0, caller) : NULL;
  return block != NULL ? block : missed(otherwise(alignment, size), size);
}

static int __attribute__((noinline)) large_posix_memalign(void** result, size_t alignment, size_t size,
                                                         const void* caller) {
  const int legal = is_power_of_two(alignment) && alignment % sizeof(void*) == 0;
  void* const block = legal ? managed(alignment, size, 0, caller) : NULL;
  if (block != NULL) {
    *result = block;
    return 0;
  }
  const int failed = all.posix_memalign(result, alignment, size);
  if (!failed) hearth.missed(size);
  return failed;
}

/// From managed memory to wherever the new size belongs.
static void* __attribute__((noinline)) resize_managed(void* block, size_t size) {
  if (size == 0) {
    release(block);
    return NULL;
  }
  const int before = errno;
  const size_t had = hearth.size_of(block);
  void* other = is_large(size) ? hearth.resize(block, size) : NULL;
  errno = before;
  if (other != NULL) return other;
  other = all.malloc(size);
  if (other == NULL) return NULL;
  if (is_large(size)) hearth.missed(size);
  memcpy(other, block, had < size ? had : size);
  release(block);
  return other;
}

/// From the C library's memory to a size that is managed.
static void* __attribute__((noinline)) grow_over_the_threshold(void* block, size_t size, const void* caller) {
  const size_t had = all.malloc_usable_size(block);
  if (had >= size) return all.realloc(block, size);
  void* const other = managed(1, size, 0, caller);
  if (other == NULL) return missed(all.realloc(block, size), size);
  memcpy(other, block, had);
  all.free(block);
  return other;
}

// ---- malloc and its kin

EXPORT void* malloc(size_t size) { return is_large(size) ? large_malloc(size, CALLER) : all.malloc(size); }

EXPORT void* calloc(size_t count, size_t size) {
  size_t bytes = 0;
  if (RARE(__builtin_mul_overflow(count, size, &bytes))) {
    errno = ENOMEM;
    return NULL;
  }
  return is_large(bytes) ? large_calloc(bytes, CALLER) : all.calloc(count, size);
}

EXPORT void free(void* block) {
  if (is_managed(block))
    release(block);
  else
    all.free(block);
}

static inline void* resized(void* block, size_t size, const void* caller) {
  if (is_managed(block)) return resize_managed(block, size);
  if (is_large(size)) return block == NULL ? large_malloc(size, caller) : grow_over_the_threshold(block, size, caller);
  return all.realloc(block, size);
}

EXPORT void* realloc(void* block, size_t size) { return resized(block, size, CALLER); }

EXPORT void* reallocarray(void* block, size_t count, size_t size) {
  size_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes)) {
    errno = ENOMEM;
    return NULL;
  }
  return resized(block, bytes, CALLER);
}

EXPORT void* aligned_alloc(size_t alignment, size_t size) {
  return is_large(size) ? large_aligned(all.aligned_alloc, alignment, size, CALLER)
                        : all.aligned_alloc(alignment, size);
}

static inline void* aligned(size_t alignment, size_t size, const void* caller) {
  return is_large(size) ? large_aligned(all.memalign, alignment, size, caller) : all.memalign(alignment, size);
}

EXPORT void* memalign(size_t alignment, size_t size) { return aligned(alignment, size, CALLER); }

EXPORT int posix_memalign(void** result, size_t alignment, size_t size) {
  return is_large(size) ? large_posix_memalign(result, alignment, size, CALLER)
                        : all.posix_memalign(result, alignment, size);
}

EXPORT void* valloc(size_t size) { return aligned((size_t)getpagesize(), size, CALLER); }

EXPORT void* pvalloc(size_t size) {
  const size_t page = (size_t)getpagesize();
  if (size > SIZE_MAX - page) {
    errno = ENOMEM;
    return NULL;
  }
  return aligned(page, (size + page - 1) / page * page, CALLER);
}

EXPORT size_t malloc_usable_size(void* block) {
  return is_managed(block) ? hearth.size_of(block) : all.malloc_usable_size(block);
}

// free() by its other names: an old one, and those of C23.
EXPORT void cfree(void* block) { free(block); }
EXPORT void free_sized(void* block, size_t size) {
  (void)size;
  free(block);
}
EXPORT void free_aligned_sized(void* block, size_t alignment, size_t size) {
  (void)alignment;
  (void)size;
  free(block);
}

// ---- anonymous memory that the program maps itself

/// For data: not a reservation that is filled in later, not a stack or code, not a part of something that is there already,
/// and with pages of the usual size that come when they are touched.
static inline int is_for_data(int protection, int flags) {
  const int wanted = MAP_PRIVATE | MAP_ANONYMOUS;
  const int other = MAP_FIXED | MAP_FIXED_NOREPLACE | MAP_STACK | MAP_GROWSDOWN | MAP_HUGETLB | MAP_NORESERVE | MAP_LOCKED;
  return (flags & (wanted | other)) == wanted && protection == (PROT_READ | PROT_WRITE);
}

/// MAP_POPULATE, which is no promise, is put off until the pages have their policy.
static void* __attribute__((noinline)) large_mmap(void* address, size_t length, int flags, const void* caller) {
  void* const memory = all.mmap(address, length, PROT_READ | PROT_WRITE, flags & ~MAP_POPULATE, -1, 0);
  if (memory == MAP_FAILED) return memory;
  const int before = errno;
  hearth.mapped(memory, length, caller);
  if ((flags & MAP_POPULATE) != 0) madvise(memory, length, MADV_POPULATE_WRITE);
  errno = before;
  return memory;
}

static inline void* mapped(void* address, size_t length, int protection, int flags, int file, off_t offset,
                           const void* caller) {
  return is_large(length) && is_for_data(protection, flags) ? large_mmap(address, length, flags, caller)
                                                            : all.mmap(address, length, protection, flags, file, offset);
}

EXPORT void* mmap(void* address, size_t length, int protection, int flags, int file, off_t offset) {
  return mapped(address, length, protection, flags, file, offset, CALLER);
}
EXPORT void* mmap64(void* address, size_t length, int protection, int flags, int file, off64_t offset) {
  return mapped(address, length, protection, flags, file, offset, CALLER);
}

EXPORT int munmap(void* address, size_t length) {
  const int failed = all.munmap(address, length);
  if (!failed && is_large(length)) hearth.unmapped(length);
  return failed;
}

// ---- the takeover

static const char* object_of(void* address) {
  Dl_info info;
  return address != NULL && dladdr(address, &info) != 0 && info.dli_fname != NULL ? info.dli_fname : "";
}

static int reached;
static void* note(size_t alignment, size_t size, int zeroed, const void* caller) {
  (void)alignment, (void)size, (void)zeroed, (void)caller;
  __atomic_store_n(&reached, 1, __ATOMIC_RELAXED);
  return NULL;
}
static void say_nothing(size_t size) { (void)size; }
static void let_be(void* begin, size_t bytes, const void* caller) { (void)begin, (void)bytes, (void)caller; }

/// Do the program's calls of malloc get here? Tried, since addresses do not tell: `malloc` is whatever comes
/// first for all of us.
static int is_in_front(size_t large) {
  void* (*const volatile used_malloc)(size_t) = (void* (*)(size_t))dlsym(RTLD_DEFAULT, "malloc");
  void (*const volatile used_free)(void*) = (void (*)(void*))dlsym(RTLD_DEFAULT, "free");
  hearth.allocate = note;
  hearth.missed = hearth.unmapped = say_nothing;
  hearth.mapped = let_be;
  // Pairs with is_large(); so does the store when all is handed over.
  __atomic_store_n(&all.least, large, __ATOMIC_RELEASE);
  void* const block = used_malloc(large);
  __atomic_store_n(&all.least, SIZE_MAX, __ATOMIC_RELAXED);
  used_free(block);
  return __atomic_load_n(&reached, __ATOMIC_RELAXED);
}

/// An object with an allocator under another name, by what well-known ones export.
static const char* other_allocator(void) {
  static const char* const kNames[] = {"mallctl",   "je_mallctl",      "tc_malloc",
                                       "mi_malloc", "scalable_malloc", "rpmalloc"};
  const char* found = NULL;
  for (unsigned i = 0; i < sizeof(kNames) / sizeof(kNames[0]) && found == NULL; ++i) {
    void* const there = dlsym(RTLD_DEFAULT, kNames[i]);
    if (there != NULL) found = object_of(there);
  }
  dlerror();  // the program shall not find the message of a look in vain
  return found;
}

EXPORT int hearth_take_over_malloc_3(const struct HearthTakeover* how, const char** other) {
  // Behind ours there may be the malloc of another library, whose further calls (mallocx, operator new) share
  // its blocks: it would be given some that are not its own.
  void* const next_one = dlsym(RTLD_NEXT, "malloc");
  if (strcmp(object_of(next_one), object_of(dlsym(RTLD_NEXT, "gnu_get_libc_version"))) != 0) {
    *other = object_of(next_one);
    return 0;
  }
  if (!is_in_front(how->least)) {
    *other = object_of(dlsym(RTLD_DEFAULT, "malloc"));
    return 0;
  }
  *other = other_allocator();
  hearth = *how;
  __atomic_store_n(&all.begin, how->begin, __ATOMIC_RELAXED);
  __atomic_store_n(&all.bytes, how->bytes, __ATOMIC_RELAXED);
  __atomic_store_n(&all.least, how->least, __ATOMIC_RELEASE);  // pairs with is_large()
  return 1;
}
