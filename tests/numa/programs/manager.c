// The memory manager, page by page: blocks by every policy, migration, distribution, splitting, locating, statistics;
// what the tables say afterwards; refused calls; pinned pages and pages that a child of fork() has too; huge pages. Content never
// changes.
//
// numa-test link=hearth topologies=8x1,4x4,holes compilers=gcc,clang,g++,clang++ seconds=300
// numa-test name=caches link=hearth topologies=llcs HEARTH_LOCATION=llc seconds=300
// numa-test name=huge-pages link=hearth topologies=8x1,4x4,holes huge-pages=always args=huge
// numa-test name=refused link=hearth topologies=8x1,4x4,holes refuse=mbind,move_pages args=refused
// numa-test name=balancing link=hearth topologies=8x1,4x4,holes balancing=on args=balancing
// numa-test name=cpuset link=hearth topologies=8x1 cpus=2-5 nodes=1-2 seconds=300
#include <fcntl.h>
#include <stdint.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "homes.h"

enum { kSome = 40, kHuge = 2 << 20 };

#define FAILS(error, call) CHECK((errno = 0, (call) == -1 && errno == (error)))

static char content(size_t page) { return (char)(page * 7 + 3); }

static void fill(char* begin, size_t pages) {
  for (size_t p = 0; p < pages; ++p) begin[p * kPage + 9] = content(p);
}
static void check_content(const char* begin, size_t pages) {
  for (size_t p = 0; p < pages; ++p) CHECK(begin[p * kPage + 9] == content(p));
}

// Every page by the kernel, by the tables, and as a whole.
static void check_pages(int line, char* begin, size_t pages, int index) {
  for (size_t p = 0; p < pages; ++p) {
    const int owner = hearth_owner(begin + p * kPage), node = node_of(begin + p * kPage);
    if (node == nodes[index] && hearth_location_node(owner) == node) continue;
    fprintf(stderr, "manager.c:%d: page %zu of %zu is on node %d, its owner is %d, expected %d\n", line, p, pages, node,
            owner, nodes[index]);
    _exit(1);
  }
  int location = -1;
  CHECK(hearth_mem_locate(begin, pages * kPage, &location) == 0);
  CHECK(hearth_location_node(location) == nodes[index] || (divided && location == HEARTH_SEVERAL));
}
#define check_at(begin, pages, index) check_pages(__LINE__, begin, pages, index)

static int located(const char* begin, size_t pages) {
  int location = -1;
  CHECK(hearth_mem_locate(begin, pages * kPage, &location) == 0);
  return location;
}

static size_t in_areas_at(int location) {
  size_t bytes = 0;
  CHECK(hearth_mem_stats(location, HEARTH_MEM_AREAS, &bytes) == 0);
  return bytes;
}
static size_t in_areas(int index) { return in_areas_at(homes[index]); }

static int cpus(void) { return (int)sysconf(_SC_NPROCESSORS_CONF); }

// On a CPU that we may use; its location, or -1.
static int go_to(int cpu) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  return sched_setaffinity(0, sizeof one, &one) == 0 ? hearth_location() : -1;
}

static void check_policies(void) {
  cpu_set_t all;
  CHECK(sched_getaffinity(0, sizeof all, &all) == 0);
  for (int i = 0; i < count; ++i) {
    char* block = (char*)hearth_mem_alloc(kSome * kPage, HEARTH_MEM_AT, homes[i]);
    CHECK(block != NULL && located(block, kSome) == HEARTH_UNTOUCHED);
    for (size_t p = 0; p < kSome; ++p) CHECK(block[p * kPage] == 0);
    fill(block, kSome);
    check_at(block, kSome, i);
    CHECK(in_areas(i) == kSome * kPage);
    hearth_mem_free(block);
    CHECK(in_areas(i) == 0);
  }
  for (int cpu = 0; cpu < cpus(); ++cpu) {
    const int here = go_to(cpu);
    if (here < 0) continue;
    char* near = (char*)hearth_mem_alloc(kSome * kPage, HEARTH_MEM_HERE, 0);
    char* touched = (char*)hearth_mem_alloc(kSome * kPage, HEARTH_MEM_FIRST_TOUCH, 0);
    CHECK(near != NULL && touched != NULL && located(touched, kSome) < 0);
    fill(near, kSome);
    fill(touched, kSome);
    const int node = hearth_location_node(here);
    int has_memory = 0;
    for (int i = 0; i < count; ++i) has_memory |= nodes[i] == node;
    for (size_t p = 0; p < kSome && has_memory; ++p)
      CHECK(node_of(near + p * kPage) == node && node_of(touched + p * kPage) == node);
    hearth_mem_free(near);
    hearth_mem_free(touched);
  }
  CHECK(sched_setaffinity(0, sizeof all, &all) == 0);
  char* blocks[kMostNodes];
  const int locations = hearth_num_memory_locations();
  for (int i = 0; i < locations; ++i) {
    blocks[i] = (char*)hearth_mem_alloc(kSome * kPage, HEARTH_MEM_LEAST_LOADED, 0);
    CHECK(blocks[i] != NULL);
  }
  for (int i = 0; i < locations; ++i) CHECK(in_areas_at(hearth_memory_location(i)) == kSome * kPage);  // each once
  for (int i = 0; i < locations; ++i) hearth_mem_free(blocks[i]);
}

static void check_migration(void) {
  char* memory = (char*)map_pages(2 * kSome * kPage);
  CHECK(located(memory, 2 * kSome) < 0);
  fill(memory, kSome);  // the other half comes later
  for (int i = 0; i < count; ++i) {
    const int there = located(memory, kSome) == homes[i];
    errno = 0;
    CHECK(hearth_mem_migrate(memory, kSome * kPage, homes[i]) == (there ? -1 : 0) && (!there || errno == EALREADY));
    check_at(memory, kSome, i);
    FAILS(EALREADY, hearth_mem_migrate(memory, kSome * kPage, homes[i]));
  }
  check_content(memory, kSome);
  CHECK(hearth_mem_migrate(memory, 2 * kSome * kPage, homes[0]) == 0);
  fill(memory + kSome * kPage, kSome);
  check_at(memory + kSome * kPage, kSome, 0);
  // A part, misaligned: its whole pages.
  const int last = count - 1;
  CHECK(hearth_mem_register(memory, 2 * kSome * kPage) == 0);
  CHECK(hearth_mem_migrate(memory + 5 * kPage + 1, 10 * kPage, homes[last]) == 0);
  for (size_t p = 0; p < kSome; ++p) CHECK(node_of(memory + p * kPage) == nodes[p > 5 && p < 15 ? last : 0]);
  CHECK(located(memory, kSome) == HEARTH_SEVERAL);
  // Parts of their own.
  void* parts[4];
  CHECK(hearth_mem_split(memory, 4, parts) == 0);
  for (int part = 0; part < 4; ++part) {
    errno = 0;
    CHECK(hearth_mem_migrate(parts[part], 0, homes[part % count]) == 0 || errno == EALREADY);
  }
  for (int part = 0; part < 4; ++part) check_at((char*)parts[part], kSome / 2, part % count);
  // In turn, the last node first.
  int turns[kMostNodes];
  for (int i = 0; i < count; ++i) turns[i] = homes[count - 1 - i];
  CHECK(hearth_mem_distribute(parts[1], turns, count) == 0);
  for (size_t p = 0; p < kSome / 2; ++p) CHECK(node_of((char*)parts[1] + p * kPage) == nodes[last - (int)p % count]);
  for (int part = 0; part < 4; ++part) CHECK(hearth_mem_unregister(parts[part]) == 0);
  check_content(memory, kSome);
  CHECK(munmap(memory, 2 * kSome * kPage) == 0);
  // What is not there any more.
  errno = 0;
  CHECK(hearth_mem_migrate(memory, 2 * kSome * kPage, homes[0]) == 0 && located(memory, kSome) < 0);
}

// Large blocks of omp_malloc, whose owners are computed: these must be right afterwards, too.
static void check_managed(void) {
  const size_t pages = 700;
  const omp_malloc_distribution_t kinds[] = {OMP_MALLOC_FINE, OMP_MALLOC_BLOCKED, OMP_MALLOC_NEAREST};
  for (int k = 0; k < 3; ++k) {
    char* block = (char*)omp_malloc_specific(pages * kPage, kinds[k]);
    fill(block, pages);
    errno = 0;
    CHECK(hearth_mem_migrate(block, pages * kPage, homes[count - 1]) == 0 || errno == EALREADY);
    check_at(block, pages, count - 1);
    CHECK(hearth_mem_migrate(block + 100 * kPage, 300 * kPage, homes[0]) == 0);
    check_at(block, 100, count - 1);
    check_at(block + 100 * kPage, 300, 0);
    check_at(block + 400 * kPage, 300, count - 1);
    check_content(block, pages);
    omp_malloc_free(block);
  }
}

// A team moves side by side, each thread its part, and one thread all of it.
static void check_team(void) {
  const size_t pages = 1600, part = pages / 8;
  char* memory = (char*)map_pages(pages * kPage);
  fill(memory, pages);
  CHECK(hearth_mem_register(memory, pages * kPage) == 0);
#pragma omp parallel for num_threads(4) schedule(static, 1)
  for (int i = 0; i < 8; ++i) hearth_mem_migrate(memory + (size_t)i * part * kPage, part * kPage, homes[i % count]);
  for (int i = 0; i < 8; ++i) check_at(memory + (size_t)i * part * kPage, part, i % count);
#pragma omp parallel num_threads(4)
  hearth_mem_migrate(memory, 0, homes[count - 1]);
  check_at(memory, pages, count - 1);
  check_content(memory, pages);
  CHECK(hearth_mem_unregister(memory) == 0 && munmap(memory, pages * kPage) == 0);
}

// Pages in a pipe are pinned; a child of fork() has all of them.
static void check_stubborn(void) {
  char* memory = (char*)map_pages(kSome * kPage);
  fill(memory, kSome);
  CHECK(hearth_mem_register(memory, kSome * kPage) == 0);
  const int from = homes[index_of_node(node_of(memory))], to = from == homes[0] ? homes[1] : homes[0];
  int ends[2];
  CHECK(pipe(ends) == 0);
  struct iovec first = {memory, 3 * kPage};
  CHECK(vmsplice(ends[1], &first, 1, 0) == 3 * kPage);
  CHECK(hearth_mem_migrate(memory, kSome * kPage, to) == 0);
  for (size_t p = 3; p < kSome; ++p) CHECK(node_of(memory + p * kPage) == hearth_location_node(to));
  CHECK(node_of(memory) == hearth_location_node(from) && located(memory, kSome) == HEARTH_SEVERAL);
  CHECK(hearth_location_node(hearth_owner(memory)) == hearth_location_node(from) && hearth_owner(memory + 3 * kPage) == to);
  FAILS(EBUSY, hearth_mem_migrate(memory, 3 * kPage, to));
  CHECK(close(ends[0]) == 0 && close(ends[1]) == 0);
  CHECK(hearth_mem_migrate(memory, kSome * kPage, to) == 0 && located(memory, kSome) == to);
  CHECK(pipe(ends) == 0);
  const pid_t child = fork();
  if (child == 0) {
    char byte;
    close(ends[1]);
    check_content(memory, kSome);
    _exit(read(ends[0], &byte, 1) == 0 ? 0 : 1);
  }
  FAILS(EBUSY, hearth_mem_migrate(memory, kSome * kPage, from));
  CHECK(divided || located(memory, kSome) == to);
  for (size_t p = 0; p < kSome; ++p) CHECK(node_of(memory + p * kPage) == hearth_location_node(to));
  close(ends[1]);
  int status = -1;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  CHECK(hearth_mem_migrate(memory, kSome * kPage, from) == 0 && located(memory, kSome) == from);
  check_content(memory, kSome);
  CHECK(hearth_mem_unregister(memory) == 0 && munmap(memory, kSome * kPage) == 0 && close(ends[0]) == 0);
}

static void check_numbers(void) {
  size_t total = 0, free = 0;
  for (int i = 0; i < count; ++i) {
    CHECK(hearth_mem_stats(homes[i], HEARTH_MEM_TOTAL, &total) == 0 && hearth_mem_stats(homes[i], HEARTH_MEM_FREE_BYTES, &free) == 0);
    CHECK(total > (size_t)50 << 20 && total < (size_t)2 << 30 && free > 0 && free < total);
  }
  int location = -1;
  CHECK(hearth_mem_select(HEARTH_MOST_FREE, &location) == 0);
  size_t most = 0;
  CHECK(hearth_mem_stats(location, HEARTH_MEM_FREE_BYTES, &most) == 0 && most > 0);
  for (int cpu = 0; cpu < cpus(); ++cpu) {
    const int here = go_to(cpu);
    if (here < 0) continue;
    CHECK(hearth_mem_select(HEARTH_LEAST_LOADED, &location) == 0);  // none is loaded: the nearest
    for (int i = 0; i < count; ++i)
      if (homes[i] == here) CHECK(location == here);
    CHECK(hearth_mem_select(HEARTH_NEAREST, &location) == 0);
  }
  for (int i = 1; i < count; ++i) {
    CHECK(hearth_cost_read(homes[0], homes[0], 1 << 20) <= hearth_cost_read(homes[0], homes[i], 1 << 20));
    CHECK(hearth_cost_write(homes[0], homes[i], 1 << 20) > 0 && hearth_cost_migrate(homes[0], homes[i], 1 << 20) > 0);
  }
}

// Memory that is announced behaves as any other for system calls, and can become a file's.
static void check_announced(void) {
  char* memory = (char*)map_pages(kSome * kPage);
  fill(memory, kSome);
  CHECK(hearth_mem_next_touch(memory, kSome * kPage, HEARTH_TOUCH_ANNOUNCED) == 0);
  char name[] = "/tmp/manager-XXXXXX";
  const int file = mkstemp(name);
  CHECK(file >= 0 && unlink(name) == 0);
  CHECK(write(file, memory, kSome * kPage) == kSome * kPage);
  memset(memory, 0, kSome * kPage);
  CHECK(pread(file, memory, kSome * kPage, 0) == kSome * kPage);
  check_content(memory, kSome);
  CHECK(mmap(memory, kSome * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, file, 0) == memory);
  check_content(memory, kSome);
  CHECK(hearth_mem_migrate(memory, 0, homes[0]) == 0 || errno == EALREADY || errno == EBUSY);
  check_content(memory, kSome);
  CHECK(hearth_mem_unregister(memory) == 0 && munmap(memory, kSome * kPage) == 0 && close(file) == 0);
}

static void check_huge(void) {
  char* room = (char*)mmap(NULL, 5 * kHuge, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(room != MAP_FAILED);
  char* memory = (char*)(((uintptr_t)room + kHuge - 1) / kHuge * kHuge);
  fill(memory, 4 * kHuge / kPage);
  for (int i = 0; i < count; ++i) {
    errno = 0;
    CHECK(hearth_mem_migrate(memory, 4 * kHuge, homes[i]) == 0 || errno == EALREADY);
    check_at(memory, 4 * kHuge / kPage, i);
  }
  char* block = (char*)hearth_mem_alloc(2 * kHuge, HEARTH_MEM_AT + HEARTH_MEM_HUGE, homes[count - 1]);
  fill(block, 2 * kHuge / kPage);
  check_at(block, 2 * kHuge / kPage, count - 1);
  CHECK(hearth_mem_migrate(block, 0, homes[0]) == 0);
  check_at(block, 2 * kHuge / kPage, 0);
  check_content(block, 2 * kHuge / kPage);
  check_content(memory, 4 * kHuge / kPage);
  hearth_mem_free(block);
}

static void check_refused(void) {
  char* memory = (char*)map_pages(kSome * kPage);
  fill(memory, kSome);
  CHECK(hearth_mem_register(memory, kSome * kPage) == 0);
  for (int i = 0; i < count; ++i) FAILS(EPERM, hearth_mem_migrate(memory, 0, homes[i]));
  FAILS(EPERM, hearth_mem_distribute(memory, homes, count));
  CHECK(located(memory, kSome) == HEARTH_NOWHERE);
  for (int how = HEARTH_TOUCH_ANNOUNCED; how <= HEARTH_TOUCH_TRAP; ++how) {
    CHECK(hearth_mem_next_touch(memory, 0, how) == 0);
    check_content(memory, kSome);
  }
  char* block = (char*)hearth_mem_alloc(kSome * kPage, HEARTH_MEM_AT, homes[1]);
  fill(block, kSome);
  check_content(block, kSome);
  hearth_mem_free(block);
}

static void check_balancing(void) {
  char* memory = (char*)map_pages(kSome * kPage);
  fill(memory, kSome);
  CHECK(hearth_mem_next_touch(memory, kSome * kPage, HEARTH_TOUCH_KERNEL) == 0);
  int mode = 0;
  unsigned long mask = 0;
  CHECK(query_policy(&mode, &mask, memory, kMpolAddress) == 0);
  printf("balancing: mode %#x, nodes %#lx\n", (unsigned)mode, mask);
  CHECK((mode & 0xff) == kBind && (mode & 1 << 13) != 0 && mask == allowed_nodes());
  const int to = node_of(memory) == nodes[1] ? 0 : 1;  // the thread that filled it may have been at either
  CHECK(hearth_mem_migrate(memory, 0, homes[to]) == 0);
  check_at(memory, kSome, to);
  check_content(memory, kSome);
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  list_nodes();
  if (strcmp(what, "refused") == 0) {
    check_refused();
  } else if (strcmp(what, "huge") == 0) {
    check_huge();
  } else if (strcmp(what, "balancing") == 0) {
    check_balancing();
  } else {
    check_policies();
    check_migration();
    check_managed();
    check_team();
    check_stubborn();
    check_numbers();
    check_announced();
  }
  printf("manager: %d locations hold memory\n", count);
  return 0;
}
