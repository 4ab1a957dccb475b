// The calls of libc by which the stock runtimes learn how many cores there are and bind threads, on the pretended
// machine.
//
// Rules: a thread that is bound is on the first of its cores. One that is not bound goes, when it is made, to a core
// with the fewest threads on the node with the fewest; of nodes alike to its maker's, of cores alike to one by chance;
// and it stays there. That is what Linux does with new threads as long as there are idle cores, without its balancing.
//
// The program is searched before libc, so the runtimes find these functions. Masks have 64 cores at most. Counts and
// masks are under one lock; a thread's own record is its own.
#include "kernel.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "hearth/hearth.h"
#include "model.h"

#pragma weak hearth_location

enum { kMostCores = 64, kMostAttributes = 64 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int threads_on[kMostCores];
static uint64_t chance = 88172645463325252;
static struct {
  const pthread_attr_t* attributes;
  uint64_t mask;
} wanted[kMostAttributes];  // by pthread_attr_setaffinity_np

static _Thread_local struct {
  bool known;
  int cpu;
  uint64_t mask;
} self;

static void open_model(void);
static bool pretending(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, open_model);
  return !hearth_location;
}
static int cores(void) { return model.nodes * model.cores; }
static uint64_t all(void) { return cores() == kMostCores ? UINT64_MAX : (UINT64_C(1) << cores()) - 1; }

// The runtimes ask before main() begins.
static void open_model(void) {
  model_read(getenv("PRETEND_MODEL"));
  const char* seed = getenv("PRETEND_SEED");
  for (uint64_t i = seed != NULL ? strtoull(seed, NULL, 10) : 0; i > 0; --i)
    chance = chance * 6364136223846793005 + 1442695040888963407;
}

static unsigned draw(unsigned below) {
  chance = chance * 6364136223846793005 + 1442695040888963407;
  return (unsigned)(chance >> 33) % below;
}

// Under the lock.
static int choose(uint64_t mask, int maker) {
  int best_node = -1, fewest = 0;
  for (int i = 0; i < model.nodes; ++i) {
    const int node = (maker / model.cores + i) % model.nodes;  // the maker's first
    const uint64_t here = (mask >> (node * model.cores)) & ((UINT64_C(1) << model.cores) - 1);
    int count = 0;
    for (int core = 0; core < model.cores; ++core) count += threads_on[node * model.cores + core];
    if (here != 0 && (best_node < 0 || count < fewest)) best_node = node, fewest = count;
  }
  int best = -1, alike = 0;
  for (int cpu = best_node * model.cores; cpu < (best_node + 1) * model.cores; ++cpu) {
    if ((mask >> cpu & 1) == 0) continue;
    if (best < 0 || threads_on[cpu] < threads_on[best])
      best = cpu, alike = 1;
    else if (threads_on[cpu] == threads_on[best] && draw((unsigned)++alike) == 0)
      best = cpu;
  }
  return best;
}

static void settle(uint64_t mask, int maker, bool chosen, int cpu) {
  self.known = true;
  self.mask = mask;
  self.cpu = chosen ? cpu : choose(mask, maker);
  if (!chosen) threads_on[self.cpu] += 1;
}

// The initial thread, which nobody made.
static void know_self(void) {
  if (self.known) return;
  pthread_mutex_lock(&lock);
  settle(all(), 0, false, 0);
  pthread_mutex_unlock(&lock);
}

int kernel_cpu(void) {
  pretending();
  know_self();
  return self.cpu;
}

// A bound thread leaves its core only if it has to.
static int bind_self(uint64_t mask) {
  mask &= all();
  if (mask == 0) return EINVAL;
  know_self();
  pthread_mutex_lock(&lock);
  if ((mask >> self.cpu & 1) == 0) {
    threads_on[self.cpu] -= 1;
    self.cpu = choose(mask, self.cpu);
    threads_on[self.cpu] += 1;
  }
  self.mask = mask;
  pthread_mutex_unlock(&lock);
  return 0;
}

static uint64_t from_set(size_t size, const void* set) {
  uint64_t mask = 0;
  memcpy(&mask, set, size < sizeof mask ? size : sizeof mask);
  return mask;
}

static void to_set(uint64_t mask, size_t size, void* set) {
  memset(set, 0, size);
  memcpy(set, &mask, size < sizeof mask ? size : sizeof mask);
}

static void* real(const char* name) {
  void* found = dlsym(RTLD_NEXT, name);
  if (found == NULL) abort();
  return found;
}

struct birth {
  void* (*run)(void*);
  void* argument;
  uint64_t mask;
  int cpu;
};

static void* begin(void* argument) {
  const struct birth birth = *(struct birth*)argument;
  free(argument);
  settle(birth.mask, 0, true, birth.cpu);
  void* result = birth.run(birth.argument);
  pthread_mutex_lock(&lock);
  threads_on[self.cpu] -= 1;
  pthread_mutex_unlock(&lock);
  return result;
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*), void* argument) {
  static int (*next)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  if (next == NULL) *(void**)&next = real("pthread_create");
  if (!pretending()) return next(thread, attributes, run, argument);
  know_self();
  struct birth* birth = malloc(sizeof *birth);
  if (birth == NULL) return EAGAIN;
  pthread_mutex_lock(&lock);
  uint64_t mask = self.mask;
  for (int i = 0; attributes != NULL && i < kMostAttributes; ++i)
    if (wanted[i].attributes == attributes) mask = wanted[i].mask;
  *birth = (struct birth){run, argument, mask, choose(mask, self.cpu)};
  threads_on[birth->cpu] += 1;
  pthread_mutex_unlock(&lock);
  const int failed = next(thread, attributes, begin, birth);
  if (failed) free(birth);
  return failed;
}

int pthread_attr_setaffinity_np(pthread_attr_t* attributes, size_t size, const cpu_set_t* set) {
  static int (*next)(pthread_attr_t*, size_t, const cpu_set_t*);
  if (next == NULL) *(void**)&next = real("pthread_attr_setaffinity_np");
  if (!pretending()) return next(attributes, size, set);
  int failed = ENOMEM;
  pthread_mutex_lock(&lock);
  for (int pass = 0; pass < 2 && failed; ++pass) {
    for (int i = 0; i < kMostAttributes && failed; ++i) {
      if (wanted[i].attributes != (pass == 0 ? attributes : NULL)) continue;
      wanted[i].attributes = attributes;
      wanted[i].mask = from_set(size, set) & all();
      failed = 0;
    }
  }
  pthread_mutex_unlock(&lock);
  return failed;
}

int pthread_attr_destroy(pthread_attr_t* attributes) {
  static int (*next)(pthread_attr_t*);
  if (next == NULL) *(void**)&next = real("pthread_attr_destroy");
  pthread_mutex_lock(&lock);
  for (int i = 0; i < kMostAttributes; ++i)
    if (wanted[i].attributes == attributes) wanted[i].attributes = NULL;
  pthread_mutex_unlock(&lock);
  return next(attributes);
}

static long plain(long number, long a, long b, long c, long d, long e, long f) {
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  register long r9 __asm__("r9") = f;
  long result;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  if (result >= 0 || result < -4095) return result;
  errno = (int)-result;
  return -1;
}

// Other threads' masks are not kept: the runtimes ask for their own.
long syscall(long number, ...) {
  va_list arguments;
  va_start(arguments, number);
  long a[6];
  for (int i = 0; i < 6; ++i) a[i] = va_arg(arguments, long);
  va_end(arguments);
  if (pretending() && number == SYS_sched_getaffinity) {
    if (a[1] < (long)sizeof(uint64_t) || (void*)a[2] == NULL) {
      errno = a[1] < (long)sizeof(uint64_t) ? EINVAL : EFAULT;
      return -1;
    }
    know_self();
    to_set(self.mask, sizeof self.mask, (void*)a[2]);
    return sizeof self.mask;
  }
  if (pretending() && number == SYS_sched_setaffinity) {
    if ((void*)a[2] == NULL) {
      errno = EFAULT;
      return -1;
    }
    const int failed = bind_self(from_set((size_t)a[1], (void*)a[2]));
    if (failed) errno = failed;
    return failed ? -1 : 0;
  }
  return plain(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

int sched_getaffinity(pid_t thread, size_t size, cpu_set_t* set) {
  if (!pretending()) {
    memset(set, 0, size);  // the kernel writes its own length only
    return plain(SYS_sched_getaffinity, thread, (long)size, (long)set, 0, 0, 0) < 0 ? -1 : 0;
  }
  know_self();
  to_set(self.mask, size, set);
  return 0;
}

int sched_setaffinity(pid_t thread, size_t size, const cpu_set_t* set) {
  if (!pretending()) return (int)plain(SYS_sched_setaffinity, thread, (long)size, (long)set, 0, 0, 0);
  const int failed = bind_self(from_set(size, set));
  if (failed) errno = failed;
  return failed ? -1 : 0;
}

int pthread_getaffinity_np(pthread_t thread, size_t size, cpu_set_t* set) {
  static int (*next)(pthread_t, size_t, cpu_set_t*);
  if (next == NULL) *(void**)&next = real("pthread_getaffinity_np");
  return pretending() ? sched_getaffinity(0, size, set) : next(thread, size, set);
}

int pthread_setaffinity_np(pthread_t thread, size_t size, const cpu_set_t* set) {
  static int (*next)(pthread_t, size_t, const cpu_set_t*);
  if (next == NULL) *(void**)&next = real("pthread_setaffinity_np");
  return pretending() ? bind_self(from_set(size, set)) : next(thread, size, set);
}

int sched_getcpu(void) {
  static int (*next)(void);
  if (next == NULL) *(void**)&next = real("sched_getcpu");
  return pretending() ? kernel_cpu() : next();
}

long sysconf(int name) {
  static long (*next)(int);
  if (next == NULL) *(void**)&next = real("sysconf");
  return pretending() && (name == _SC_NPROCESSORS_ONLN || name == _SC_NPROCESSORS_CONF) ? cores() : next(name);
}
