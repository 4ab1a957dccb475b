// What a program may do with malloc and its kin while its large blocks are managed memory; C and C++ alike.
// The program knows nothing of Hearth but hearth_owner(), by which it sees whether an untouched block was
// taken over: on a pretended machine only managed memory has an owner. Prints "right" at the end.
//
//   allocations KIND        everything, where blocks of 128 KiB and more are distributed as KIND
//   allocations many        more large blocks than the kernel has mappings for
//   allocations owner SIZE  prints the owner of a block of SIZE bytes
//   allocations owners SIZE prints how many pages of a block of SIZE bytes each location owns
//   allocations room SIZE   prints how much more can be used of it; none if it was taken over
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <omp.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __cplusplus
#include <new>
#include <vector>
#endif

#define CHECK(condition)                                                                        \
  do {                                                                                          \
    if (!(condition)) {                                                                         \
      fprintf(stderr, "%s:%d: failed: %s (errno %d)\n", __FILE__, __LINE__, #condition, errno); \
      abort();                                                                                  \
    }                                                                                           \
  } while (0)

enum { kPage = 4096, kLeast = 128 << 10, kThreads = 4 };
static int (*owner_of)(const void*);

/// The compiler may know what malloc promises, and leave it out.
static void* hidden(void* block) {
  __asm__ volatile("" : "+r"(block) : : "memory");
  return block;
}
static size_t hidden_size(size_t size) {
  __asm__ volatile("" : "+r"(size));
  return size;
}
static char* get(size_t size) { return (char*)hidden(malloc(hidden_size(size))); }

static int managed(const void* block) { return owner_of(block) >= 0; }

static void fill(char* block, size_t size, unsigned seed) {
  for (size_t i = 0; i < size; i += 61) block[i] = (char)(seed + i / 61);
}
static void expect(const char* block, size_t size, unsigned seed) {
  for (size_t i = 0; i < size; i += 61) CHECK(block[i] == (char)(seed + i / 61));
}

static void only_large_blocks_are_taken(void) {
  const size_t sizes[] = {1, 1000, kLeast - 1, kLeast, kLeast + 1, 1 << 20, (1 << 20) + 1, (5 << 20) + 17};
  for (unsigned i = 0; i < sizeof sizes / sizeof sizes[0]; ++i) {
    char* block = get(sizes[i]);
    CHECK(block != NULL && managed(block) == (sizes[i] >= kLeast));
    CHECK((uintptr_t)block % 16 == 0);
    size_t usable = malloc_usable_size(block);
    CHECK(usable >= sizes[i]);
    fill(block, usable, i);
    expect(block, usable, i);
    free(block);
    // Taken again it may be the same memory, and is zero all the same.
    block = (char*)hidden(calloc(sizes[i], 1));
    CHECK(managed(block) == (sizes[i] >= kLeast));
    for (size_t k = 0; k < sizes[i]; ++k) CHECK(block[k] == 0);
    free(block);
  }
  CHECK(malloc_usable_size(NULL) == 0);
  free(NULL);
}

static void no_size_and_too_much(void) {
  free(get(0));
  free(hidden(calloc(0, 8)));
  const size_t sizes[] = {SIZE_MAX, SIZE_MAX - kPage, PTRDIFF_MAX, (size_t)1 << 60, (size_t)1 << 50};
  for (unsigned i = 0; i < sizeof sizes / sizeof sizes[0]; ++i) {
    void* block = NULL;
    errno = 0;
    CHECK(get(sizes[i]) == NULL && errno == ENOMEM);
    CHECK(hidden(calloc(hidden_size(sizes[i]), 1)) == NULL);
    CHECK(hidden(valloc(hidden_size(sizes[i]))) == NULL && hidden(pvalloc(hidden_size(sizes[i]))) == NULL);
    CHECK(posix_memalign(&block, 64, hidden_size(sizes[i])) == ENOMEM);
    char* kept = get(kLeast);
    fill(kept, kLeast, 3);
    CHECK(hidden(realloc(kept, hidden_size(sizes[i]))) == NULL);
    expect(kept, kLeast, 3);
    free(kept);
  }
  errno = 0;
  CHECK(hidden(calloc(hidden_size(SIZE_MAX / 2), 3)) == NULL && errno == ENOMEM);
  char* kept = get(2 * kLeast);
  CHECK(hidden(reallocarray(kept, hidden_size(SIZE_MAX / 2), 3)) == NULL);
  free(kept);
}

static void realloc_crosses_the_threshold_both_ways(void) {
  const size_t steps[] = {100,      kLeast - 1,    kLeast * 2, kLeast * 3, 7 << 20, (7 << 20) + 1,
                          16 << 20, kLeast + 1000, 5000,       0,          20,      1 << 20,
                          10};
  char* block = NULL;
  size_t before = 0;
  for (unsigned i = 0; i < sizeof steps / sizeof steps[0]; ++i) {
    size_t kept = before < steps[i] ? before : steps[i];
    block = (char*)hidden(i % 2 ? realloc(block, steps[i]) : reallocarray(block, 1, steps[i]));
    if (steps[i] == 0) {
      CHECK(block == NULL);
    } else {
      expect(block, kept, 7);
      fill(block, steps[i], 7);
      CHECK(managed(block) == (steps[i] >= kLeast));
    }
    before = steps[i];
  }
  free(block);
  block = (char*)hidden(realloc(get(kLeast), 0));
  CHECK(block == NULL);
}

static void aligned_blocks_are_aligned(void) {
  for (size_t alignment = sizeof(void*); alignment <= (size_t)4 << 20; alignment *= 4) {
    const size_t sizes[] = {3, kLeast, (3 << 20) + 5};
    for (int i = 0; i < 3; ++i) {
      void* blocks[3];
      CHECK(posix_memalign(&blocks[0], alignment, sizes[i]) == 0);
      blocks[1] = hidden(aligned_alloc(alignment, sizes[i]));
      blocks[2] = hidden(memalign(alignment, sizes[i]));
      for (int k = 0; k < 3; ++k) {
        CHECK(blocks[k] != NULL && (uintptr_t)blocks[k] % alignment == 0);
        CHECK(managed(blocks[k]) == (sizes[i] >= kLeast));
        memset(blocks[k], k, sizes[i]);
      }
      size_t room = malloc_usable_size(blocks[0]);
      blocks[0] = hidden(realloc(blocks[0], sizes[i] + kLeast));
      CHECK(managed(blocks[0]) || room >= sizes[i] + kLeast);  // the C library's stays where it fits
      for (int k = 0; k < 3; ++k) free(blocks[k]);
    }
  }
  void* page = hidden(valloc(kLeast));
  void* pages = hidden(pvalloc(kLeast - 1));  // rounded up
  CHECK((uintptr_t)page % kPage == 0 && (uintptr_t)pages % kPage == 0 && managed(page) && managed(pages));
  free(page);
  free(pages);
  void* none = &none;
  CHECK(posix_memalign(&none, 24, kLeast) == EINVAL && posix_memalign(&none, 2, kLeast) == EINVAL &&
        none == &none);
}

static void errno_stays_as_it_is(void) {
  errno = 12345;
  char* block = get(3 << 20);
  free(block);
  free(get(kLeast));
  CHECK(errno == 12345);
}

static void the_c_library_s_own_blocks(void) {
  char* text = NULL;
  size_t size = 0;
  FILE* stream = open_memstream(&text, &size);
  for (int i = 0; i < 100000; ++i) fputs("0123456789", stream);
  fclose(stream);
  CHECK(size == 1000000 && strlen(text) == size);
  char* copy = strdup(text);
  CHECK(strcmp(copy, text) == 0);
  free(copy);
  free(text);
}

static void blocks_lie_as_asked(const char* kind) {
  const int locations = ((int (*)(void))dlsym(RTLD_DEFAULT, "hearth_num_memory_locations"))();
  const size_t size = 64 * kPage * (size_t)locations;
  char* block = get(size);
  char* other = get(size);
  int first = owner_of(block);
  for (size_t p = 0; p < size / kPage; ++p) {
    int here = owner_of(block + p * kPage);
    if (strcmp(kind, "fine") == 0) CHECK(here == (first + (int)p) % locations);
    if (strcmp(kind, "coarse") == 0) CHECK(here == first);
    if (strcmp(kind, "blocked") == 0) CHECK(here == (int)(p / 64));
  }
  if (strcmp(kind, "coarse") == 0) CHECK(owner_of(other) == (first + 1) % locations);
  free(block);
  free(other);
}

// ---- several threads
// -----------------------------------------------------------------------------------------------------

enum { kSlots = 64 };
struct Slot {
  char* block;
  size_t size;
  unsigned seed;
};
static struct Slot slots[kSlots];
static pthread_mutex_t slot_locks[kSlots];

/// Blocks wander: whoever comes to a slot checks, resizes or frees what another thread has left there.
static void trade(unsigned seed, int rounds) {
  for (int i = 0; i < rounds; ++i) {
    seed = seed * 1664525 + 1013904223;
    unsigned at = (seed >> 8) % kSlots;
    size_t size = (seed >> 4) % 8 ? (seed >> 12) % 4000 + 1 : (seed >> 12) % (3 * kLeast) + 1;
    CHECK(pthread_mutex_lock(&slot_locks[at]) == 0);
    struct Slot* slot = &slots[at];
    if (slot->block != NULL) {
      expect(slot->block, slot->size, slot->seed);
      if (seed >> 31) {
        slot->block = (char*)hidden(realloc(slot->block, size));
        expect(slot->block, size < slot->size ? size : slot->size, slot->seed);
      } else {
        free(slot->block);
        slot->block = NULL;
      }
    }
    if (slot->block == NULL) slot->block = (char*)hidden(i % 3 ? malloc(size) : calloc(1, size));
    CHECK(slot->block != NULL && managed(slot->block) >= (size >= kLeast));
    slot->size = size;
    slot->seed = seed;
    fill(slot->block, size, seed);
    CHECK(pthread_mutex_unlock(&slot_locks[at]) == 0);
  }
}

static void threads_trade_blocks(void) {
  for (int i = 0; i < kSlots; ++i) pthread_mutex_init(&slot_locks[i], NULL);
#pragma omp parallel num_threads(kThreads)
  trade(17u * (unsigned)omp_get_thread_num() + 1, 2000);
  for (int i = 0; i < kSlots; ++i) {
    free(slots[i].block);
    slots[i].block = NULL;
  }
}

static int stop;
static void* keep_busy(void* seed) {
  while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
    char* block = get(kLeast + (uintptr_t)seed * kPage);
    fill(block, 100, 1);
    free(block);
  }
  return NULL;
}

static void a_fork_child_can_allocate(void) {
  pthread_t threads[kThreads];
  for (uintptr_t i = 0; i < kThreads; ++i)
    CHECK(pthread_create(&threads[i], NULL, keep_busy, (void*)(i * 300)) == 0);
  for (unsigned i = 0; i < 20; ++i) {
    char* block = get(2 * kLeast);
    fill(block, 2 * kLeast, i);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
      alarm(30);  // a lock that somebody held would hold for ever
      expect(block, 2 * kLeast, i);
      char* more = (char*)hidden(realloc(block, 9 * kLeast));
      char* own = get(3 << 20);
      expect(more, 2 * kLeast, i);
      fill(own, 3 << 20, 5);
      CHECK(managed(more) && managed(own));
      free(more);
      free(own);
      _exit(0);
    }
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    expect(block, 2 * kLeast, i);
    free(block);
  }
  __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
  for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
}

// ---- C++
// -----------------------------------------------------------------------------------------------------------------

#ifdef __cplusplus
struct alignas(256) Wide {
  char bytes[256];
};

static void new_and_delete() {
  double* array = new double[100000];
  char* small = new char[10];
  Wide* wide = new Wide[2000];
  CHECK(managed(hidden(array)) && !managed(hidden(small)) && managed(hidden(wide)));
  CHECK(reinterpret_cast<uintptr_t>(wide) % 256 == 0);
  delete[] array;
  delete[] small;
  delete[] wide;
  std::vector<int> numbers;
  for (int i = 0; i < 1000000; ++i) numbers.push_back(i);
  for (int i = 0; i < 1000000; ++i) CHECK(numbers[static_cast<size_t>(i)] == i);
  CHECK(managed(numbers.data()));
  CHECK(hidden(::operator new(hidden_size(PTRDIFF_MAX), std::nothrow)) == nullptr);
  bool thrown = false;
  try {
    hidden(::operator new(hidden_size(PTRDIFF_MAX)));
  } catch (const std::bad_alloc&) {
    thrown = true;
  }
  CHECK(thrown);
}
#endif

/// All blocks are given, and there are mappings left for others.
static void many_blocks(void) {
  enum { kMany = 40000 };
  static char* blocks[kMany];
  int taken = 0;
  for (int i = 0; i < kMany; ++i) {
    blocks[i] = get((1 << 20) + 100000);
    CHECK(blocks[i] != NULL);
    taken += managed(blocks[i]);
  }
  CHECK(taken > 1000 && taken < kMany);
  stop = 1;
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, keep_busy, NULL) == 0 && pthread_join(thread, NULL) == 0);
  for (int i = 0; i < kMany; ++i) free(blocks[i]);
  char* again = get(2 << 20);
  CHECK(managed(again));
  free(again);
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
#pragma omp parallel num_threads(2)
  CHECK(omp_get_num_threads() <= 2);
  owner_of = (int (*)(const void*))dlsym(RTLD_DEFAULT, "hearth_owner");
  CHECK(owner_of != NULL);
  if (strcmp(what, "owner") == 0) {
    char* block = get(strtoul(argv[2], NULL, 10));
    printf("%d\n", owner_of(block));
    free(block);
    return 0;
  }
  if (strcmp(what, "owners") == 0) {  // the pages of each location
    size_t size = strtoul(argv[2], NULL, 10);
    char* block = get(size);
    int count[64] = {0};
    for (size_t p = 0; p < size / kPage; ++p) ++count[owner_of(block + p * kPage)];
    for (int i = 0; i < 64; ++i)
      if (count[i] != 0) printf("%d: %d\n", i, count[i]);
    free(block);
    return 0;
  }
  if (strcmp(what, "room") == 0) {
    size_t size = strtoul(argv[2], NULL, 10);
    printf("%zu\n", malloc_usable_size(get(size)) - size);
    return 0;
  }
  if (strcmp(what, "many") == 0) {
    many_blocks();
  } else {
    only_large_blocks_are_taken();
    no_size_and_too_much();
    realloc_crosses_the_threshold_both_ways();
    aligned_blocks_are_aligned();
    errno_stays_as_it_is();
    the_c_library_s_own_blocks();
    blocks_lie_as_asked(what);
    threads_trade_blocks();
    a_fork_child_can_allocate();
#ifdef __cplusplus
    new_and_delete();
#endif
  }
  puts("right");
  return 0;
}
