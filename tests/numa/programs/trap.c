// Next touch by a trap on real nodes: whoever touches a unit has its pages, all of them; threads at once; the program's own
// handler before and after; a fork with marks; memory that is freed, mapped anew or moved under a mark; very many marks.
//
// numa-test link=hearth topologies=8x1,4x4,holes compilers=gcc,clang seconds=300
// numa-test name=huge-pages link=hearth topologies=8x1,4x4,holes huge-pages=always seconds=300
// numa-test name=refused link=hearth topologies=8x1,4x4,holes refuse=mbind,move_pages args=refused
// numa-test name=by-environment link=hearth topologies=8x1,4x4,holes HEARTH_NEXT_TOUCH=trap args=environment
// numa-test name=many link=hearth topologies=8x1,4x4,holes args=many seconds=600
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <sys/wait.h>

#include "homes.h"

enum { kUnit = 2 << 20, kSmallUnit = 64 << 10, kUnitPages = kUnit / kPage };

static char content(size_t page) { return (char)(page * 5 + 1); }
static void fill(char* begin, size_t pages) {
  for (size_t p = 0; p < pages; ++p) begin[p * kPage + 77] = content(p);
}
static void check_content(const char* begin, size_t pages) {
  for (size_t p = 0; p < pages; ++p) CHECK(begin[p * kPage + 77] == content(p));
}

// Aligned to units; the rest of the mapping is not used.
static char* map_units(size_t units, size_t unit) {
  char* room = (char*)mmap(NULL, units * unit + kUnit, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(room != MAP_FAILED);
  char* begin = (char*)(((uintptr_t)room + kUnit - 1) / kUnit * kUnit);
  fill(begin, units * unit / kPage);
  return begin;
}

static int is_closed(const char* at) {
  int ends[2];
  CHECK(pipe(ends) == 0);
  const int closed = write(ends[1], at, 1) == -1 && errno == EFAULT;
  close(ends[0]);
  close(ends[1]);
  return closed;
}

static int home_of_cpu(int cpu) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  if (sched_setaffinity(0, sizeof one, &one) != 0) return -1;
  const int node = hearth_location_node(hearth_location());
  for (int i = 0; i < count; ++i)
    if (nodes[i] == node) return node;
  return -1;  // a node without memory
}

static void check_touches(size_t units, size_t unit) {
  char* memory = map_units(units, unit);
  const size_t pages = unit / kPage;
  const int last = (int)sysconf(_SC_NPROCESSORS_CONF) - 1;
  for (int cpu = 0; cpu <= last; cpu += last) {
    CHECK(hearth_mem_next_touch(memory, units * unit, HEARTH_TOUCH_TRAP) == 0);
    const int node = home_of_cpu(cpu);
    for (size_t u = 0; u < units; u += 2) {
      CHECK(is_closed(memory + u * unit) && is_closed(memory + (u + 1) * unit));
      char* const touched = memory + u * unit + pages / 2 * kPage + 77;
      if (u % 4 == 0)
        CHECK(*touched == content(u * pages + pages / 2));
      else
        *touched = content(u * pages + pages / 2);
      CHECK(!is_closed(memory + u * unit));
      for (size_t p = 0; p < pages && node >= 0; ++p) CHECK(node_of(memory + u * unit + p * kPage) == node);
      CHECK(node < 0 || hearth_location_node(hearth_owner(memory + u * unit)) == node);
      CHECK(is_closed(memory + (u + 1) * unit));
    }
    check_content(memory, units * pages);
    for (size_t u = 0; u < units && node >= 0; ++u) CHECK(node_of(memory + u * unit) == node);
  }
  CHECK(hearth_mem_unregister(memory) == 0);
}

static void check_team(void) {
  char* memory = map_units(8, kUnit);
  for (int round = 0; round < 3; ++round) {
    CHECK(hearth_mem_next_touch(memory, 8 * kUnit, HEARTH_TOUCH_TRAP) == 0);
#pragma omp parallel num_threads(4)
    check_content(memory, 8 * kUnitPages);
  }
  // With the region's end the rest is open, if nobody has touched it.
  CHECK(hearth_mem_next_touch(memory, 8 * kUnit, HEARTH_TOUCH_TRAP) == 0 && is_closed(memory));
#pragma omp parallel num_threads(2)
  {
#pragma omp parallel num_threads(2)
    CHECK(memory[77] == content(0));
    CHECK(is_closed(memory + 7 * kUnit));
#pragma omp barrier
  }
  CHECK(!is_closed(memory + 7 * kUnit));
  CHECK(hearth_mem_unregister(memory) == 0);
}

static sigjmp_buf back;
static volatile int handled;
static struct sigaction covered;

static void jump_back(int signal, siginfo_t* info, void* context) {
  (void)signal, (void)info, (void)context;
  ++handled;
  siglongjmp(back, 1);
}
static void stand_in_front(int signal, siginfo_t* info, void* context) {
  ++handled;
  covered.sa_sigaction(signal, info, context);
}
static void install(void (*handler)(int, siginfo_t*, void*)) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO;
  CHECK(sigaction(SIGSEGV, &action, NULL) == 0);
}

static void check_handlers(void) {
  install(jump_back);
  char* memory = map_units(2, kUnit);
  char* guard = (char*)mmap(NULL, kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(hearth_mem_next_touch(memory, 2 * kUnit, HEARTH_TOUCH_TRAP) == 0 && is_closed(memory));
  for (int i = 1; i <= 3; ++i) {
    if (sigsetjmp(back, 1) == 0) *(volatile char*)guard = 1;
    CHECK(handled == i);
  }
  check_content(memory, kUnitPages);
  CHECK(handled == 3);
  // A handler that comes later, and hands on what is not its own.
  CHECK(sigaction(SIGSEGV, NULL, &covered) == 0);
  install(stand_in_front);
  check_content(memory, 2 * kUnitPages);
  CHECK(handled > 3);
  CHECK(hearth_mem_next_touch(memory, 2 * kUnit, HEARTH_TOUCH_TRAP) == 0 && !is_closed(memory));
  CHECK(sigaction(SIGSEGV, &covered, NULL) == 0);
  CHECK(hearth_mem_next_touch(memory, 2 * kUnit, HEARTH_TOUCH_TRAP) == 0 && is_closed(memory));
  check_content(memory, 2 * kUnitPages);
  CHECK(hearth_mem_unregister(memory) == 0);
}

static void check_fork(void) {
  char* memory = map_units(4, kUnit);
  CHECK(hearth_mem_next_touch(memory, 4 * kUnit, HEARTH_TOUCH_TRAP) == 0 && is_closed(memory));
  const pid_t child = fork();
  if (child == 0) {
    CHECK(!is_closed(memory));
    check_content(memory, 4 * kUnitPages);
    CHECK(hearth_mem_next_touch(memory, 4 * kUnit, HEARTH_TOUCH_TRAP) == 0 && is_closed(memory));
    check_content(memory, 4 * kUnitPages);
    _exit(0);
  }
  CHECK(!is_closed(memory));
  check_content(memory, 4 * kUnitPages);
  int status = -1;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  CHECK(hearth_mem_unregister(memory) == 0);
}

static void check_gone(void) {
  char* memory = map_units(4, kUnit);
  CHECK(hearth_mem_next_touch(memory, 4 * kUnit, HEARTH_TOUCH_TRAP) == 0);
  CHECK(munmap(memory + kPage, 9 * kPage) == 0);  // a hole
  CHECK(memory[20 * kPage + 77] == content(20) && memory[77] == content(0));
  char* anew = memory + kUnit;
  CHECK(mmap(anew, kUnit, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == anew);
  CHECK(anew[5] == 0 && hearth_mem_migrate(memory + 2 * kUnit, kUnit, homes[0]) != 77);  // opens what it moves
  char* moved = (char*)mmap(NULL, kUnit, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(mremap(memory + 3 * kUnit, kUnit, kUnit, MREMAP_MAYMOVE | MREMAP_FIXED, moved) == moved);
  for (size_t p = 0; p < kUnitPages; ++p) CHECK(moved[p * kPage + 77] == content(3 * kUnitPages + p));
  CHECK(hearth_mem_unregister(memory) == 0);
  char* block = (char*)hearth_mem_alloc(2 * kUnit, HEARTH_MEM_AT, homes[0]);
  fill(block, 2 * kUnitPages);
  CHECK(hearth_mem_next_touch(block, 0, HEARTH_TOUCH_TRAP) == 0 && is_closed(block));
  hearth_mem_free(block);
  block = (char*)hearth_mem_alloc(2 * kUnit, HEARTH_MEM_AT, homes[count - 1]);
  CHECK(!is_closed(block) && block[0] == 0);
  hearth_mem_free(block);
}

static void check_many(void) {
  enum { kMany = 100000 };
  char* memory = (char*)map_pages((size_t)kMany * 2 * kPage);
  for (size_t i = 0; i < kMany; i += 97) memory[i * 2 * kPage] = 1;
  for (size_t i = 0; i < kMany; ++i) CHECK(hearth_mem_next_touch(memory + i * 2 * kPage, kPage, HEARTH_TOUCH_TRAP) == 0);
  for (size_t i = 0; i < kMany; i += 97) CHECK(memory[i * 2 * kPage] == 1);
  char* more = (char*)map_pages(kPage);  // there are mappings left
  CHECK(mprotect(more, kPage, PROT_READ) == 0);
  for (size_t i = 0; i < kMany; ++i) CHECK(hearth_mem_unregister(memory + i * 2 * kPage) == 0);
  for (size_t i = 0; i < kMany; ++i) memory[i * 2 * kPage] = 2;
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  list_nodes();
  if (strcmp(what, "refused") == 0) {
    char* memory = map_units(2, kUnit);
    CHECK(hearth_mem_next_touch(memory, 2 * kUnit, HEARTH_TOUCH_TRAP) == 0);
    check_content(memory, 2 * kUnitPages);
  } else if (strcmp(what, "environment") == 0) {
    char* memory = map_units(2, kUnit);
    CHECK(hearth_mem_next_touch(memory, 2 * kUnit, HEARTH_TOUCH_ANNOUNCED) == 0 && is_closed(memory));
    check_content(memory, 2 * kUnitPages);
    CHECK(!is_closed(memory));
  } else if (strcmp(what, "many") == 0) {
    check_many();
  } else {
    check_handlers();  // the first handler has to come before the first mark
    check_touches(6, kUnit);
    check_touches(16, kSmallUnit);
    check_team();
    check_fork();
    check_gone();
  }
  printf("trap: %s\n", what);
  return 0;
}
