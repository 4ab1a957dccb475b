// What glibc 2.28 lacks or names otherwise, for the command and the programs of hearth bench (option HEARTH_PORTABLE).
// The static libraries in it (libstdc++, SQLite) were compiled against a newer glibc and ask for its names; each is
// defined here, inside the program, so that the linker never looks for it in the newer libc.
//
// Three kinds: functions that only got a new version number (a jump to the old one), functions that are new (written
// with older ones), and the start of the program, which glibc 2.34 took over. tools/check-portable fails when a name is
// missing here. One thread or many: nothing has state.
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>

#pragma GCC visibility push(hidden)

// ---- the same function under an older version

#define OLD(name, version)                                       \
  __asm__(".symver hearth_old_" #name "," #name "@" version "\n" \
          ".pushsection .text\n"                                 \
          ".globl " #name "\n"                                   \
          ".hidden " #name "\n"                                  \
          ".type " #name ",@function\n" #name ":\n"              \
          "  jmp *hearth_old_" #name "@GOTPCREL(%rip)\n"         \
          ".size " #name ",.-" #name "\n"                        \
          ".popsection\n");

OLD(__pthread_key_create, "GLIBC_2.2.5")
OLD(dladdr, "GLIBC_2.2.5")
OLD(dlclose, "GLIBC_2.2.5")
OLD(dlerror, "GLIBC_2.2.5")
OLD(dlopen, "GLIBC_2.2.5")
OLD(dlsym, "GLIBC_2.2.5")
OLD(exp, "GLIBC_2.2.5")
OLD(log, "GLIBC_2.2.5")
OLD(log2, "GLIBC_2.2.5")
OLD(pow, "GLIBC_2.2.5")
OLD(pthread_create, "GLIBC_2.2.5")
OLD(pthread_detach, "GLIBC_2.2.5")
OLD(pthread_getaffinity_np, "GLIBC_2.3.4")
OLD(pthread_getattr_np, "GLIBC_2.2.5")
OLD(pthread_getspecific, "GLIBC_2.2.5")
OLD(pthread_join, "GLIBC_2.2.5")
OLD(pthread_key_create, "GLIBC_2.2.5")
OLD(pthread_key_delete, "GLIBC_2.2.5")
OLD(pthread_kill, "GLIBC_2.2.5")
OLD(pthread_mutex_trylock, "GLIBC_2.2.5")
OLD(pthread_mutexattr_destroy, "GLIBC_2.2.5")
OLD(pthread_mutexattr_init, "GLIBC_2.2.5")
OLD(pthread_mutexattr_settype, "GLIBC_2.2.5")
OLD(pthread_once, "GLIBC_2.2.5")
OLD(pthread_rwlock_rdlock, "GLIBC_2.2.5")
OLD(pthread_rwlock_unlock, "GLIBC_2.2.5")
OLD(pthread_rwlock_wrlock, "GLIBC_2.2.5")
OLD(pthread_setaffinity_np, "GLIBC_2.3.4")
OLD(pthread_setname_np, "GLIBC_2.12")
OLD(pthread_setspecific, "GLIBC_2.2.5")
OLD(pthread_sigmask, "GLIBC_2.2.5")

// ---- functions and data that are newer

// libstdc++ counts without atomic operations where this is not 0.
char __libc_single_threaded = 0;

int __xstat(int version, const char* path, struct stat* to) __attribute__((visibility("default")));
int __lxstat(int version, const char* path, struct stat* to) __attribute__((visibility("default")));
int __fxstat(int version, int file, struct stat* to) __attribute__((visibility("default")));
enum { kStatVersion = 1 };  // of x86-64; struct stat and struct stat64 are one there

int stat(const char* restrict path, struct stat* restrict to) { return __xstat(kStatVersion, path, to); }
int lstat(const char* restrict path, struct stat* restrict to) { return __lxstat(kStatVersion, path, to); }
int fstat(int file, struct stat* to) { return __fxstat(kStatVersion, file, to); }
int stat64(const char* restrict path, struct stat64* restrict to) {
  return __xstat(kStatVersion, path, (struct stat*)to);
}
int lstat64(const char* restrict path, struct stat64* restrict to) {
  return __lxstat(kStatVersion, path, (struct stat*)to);
}
int fstat64(int file, struct stat64* to) { return __fxstat(kStatVersion, file, (struct stat*)to); }

uint32_t arc4random(void) {
  uint32_t value;
  ssize_t got;
  do got = getrandom(&value, sizeof(value), 0);
  while (got < 0 && errno == EINTR);
  if (got != sizeof(value)) abort();
  return value;
}

// Waits by the clock that every version knows. A jump of the wall clock makes the wait longer or shorter; those who
// wait look again at what they wait for.
int pthread_cond_clockwait(pthread_cond_t* restrict condition, pthread_mutex_t* restrict mutex, clockid_t clock,
                           const struct timespec* restrict until) {
  struct timespec now, wall;
  if (clock_gettime(clock, &now) != 0 || clock_gettime(CLOCK_REALTIME, &wall) != 0) return EINVAL;
  const long long kSecond = 1000000000;
  long long left = (until->tv_sec - now.tv_sec) * kSecond + (until->tv_nsec - now.tv_nsec);
  if (left < 0) left = 0;
  const long long end = wall.tv_nsec + left;
  wall.tv_sec += (time_t)(end / kSecond);
  wall.tv_nsec = (long)(end % kSecond);
  return pthread_cond_timedwait(condition, mutex, &wall);
}

// The unwinder's question: whose code is this, and where are its tables?
struct Question {
  uintptr_t address;
  struct dl_find_object* answer;
};

static int look(struct dl_phdr_info* object, size_t size, void* data) {
  (void)size;
  const struct Question* question = data;
  uintptr_t tables = 0, first = UINTPTR_MAX, end = 0;
  int here = 0;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)* part = &object->dlpi_phdr[i];
    const uintptr_t at = object->dlpi_addr + part->p_vaddr;
    if (part->p_type == PT_GNU_EH_FRAME) tables = at;
    if (part->p_type != PT_LOAD) continue;
    if (at < first) first = at;
    if (at + part->p_memsz > end) end = at + part->p_memsz;
    here |= question->address >= at && question->address < at + part->p_memsz;
  }
  if (!here || tables == 0) return 0;
  *question->answer = (struct dl_find_object){
      .dlfo_map_start = (void*)first, .dlfo_map_end = (void*)end, .dlfo_eh_frame = (void*)tables};
  return 1;
}

int _dl_find_object(void* address, struct dl_find_object* answer) {
  struct Question question = {(uintptr_t)address, answer};
  return dl_iterate_phdr(look, &question) == 1 ? 0 : -1;
}

// ---- the start

typedef void Function(int, char**, char**);
extern Function* __preinit_array_start[];
extern Function* __preinit_array_end[];
extern Function* __init_array_start[];
extern Function* __init_array_end[];

// Before 2.34 the program itself ran its constructors, by a function that it handed to libc; crt1.o of a newer glibc
// hands none. Every version calls one that it is given.
static void construct(int argc, char** argv, char** envp) {
  for (Function** each = __preinit_array_start; each < __preinit_array_end; ++each) (*each)(argc, argv, envp);
  for (Function** each = __init_array_start; each < __init_array_end; ++each) (*each)(argc, argv, envp);
}

typedef int Main(int, char**, char**);
__asm__(".symver hearth_old_start,__libc_start_main@GLIBC_2.2.5");
int hearth_old_start(Main*, int, char**, Function*, void (*)(void), void (*)(void), void*)
    __attribute__((visibility("default")));
int __libc_start_main(Main* main, int argc, char** argv, Function* init, void (*fini)(void), void (*at_exit)(void),
                      void* stack_end) {
  (void)init;
  return hearth_old_start(main, argc, argv, construct, fini, at_exit, stack_end);
}

#pragma GCC visibility pop
