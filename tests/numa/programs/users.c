// Who uses what, page by page: memory that follows the thread or the team it is attached to, the next touch, hints; while system
// calls read, write and receive into it, a file takes its place, it is unmapped, or mapped anew.
//
// numa-test link=hearth topologies=8x1,4x4,holes compilers=gcc,clang,g++,clang++ seconds=300
// numa-test name=refused link=hearth topologies=8x1,4x4,holes refuse=mbind,move_pages args=refused
// numa-test name=many link=hearth topologies=8x1,4x4,holes args=many seconds=600
#include <omp.h>
#include <stdint.h>
#include <sys/socket.h>

#include "homes.h"

enum { kMembers = 4, kPart = 700, kPages = kMembers * kPart };  // a part is more than one batch

static char content(size_t page) { return (char)(page * 11 + 5); }
static void fill(char* begin, size_t pages) {
  for (size_t p = 0; p < pages; ++p) begin[p * kPage + 33] = content(p);
}
static void check_content(const char* begin, size_t pages) {
  for (size_t p = 0; p < pages; ++p) CHECK(begin[p * kPage + 33] == content(p));
}
static void check_at(const char* begin, size_t pages, int node) {
  for (size_t p = 0; p < pages; ++p) CHECK(node_of(begin + p * kPage) == node);
}
static char* filled(size_t pages) {
  char* memory = (char*)map_pages(pages * kPage);
  fill(memory, pages);
  return memory;
}
static void gone(char* memory, size_t pages) {
  hearth_mem_unregister(memory);
  CHECK(munmap(memory, pages * kPage) == 0);
}

// The node that memory near this location comes from; -1: several are as near.
static int node_near(int location) {
  for (int i = 0; i < count; ++i)
    if (homes[i] == location) return nodes[i];
  return -1;
}

// What a member has brought to itself. The primary thread is not bound: it may have left its seat, where its memory is.
static void check_part(const char* memory, int member, int location) {
  const char* part = memory + (size_t)member * kPart * kPage;
  const int node = member == 0 ? node_of(part) : node_near(location);
  if (node >= 0) check_at(part, kPart, node);
}

static int other_than(int node) { return homes[nodes[0] == node ? 1 : 0]; }

// Each member moves its own memory to itself.
static void check_follow(void) {
  char* memory = filled(kPages);
  int where[kMembers];
#pragma omp parallel num_threads(kMembers)
  {
    const int me = omp_get_thread_num();
    char* part = memory + (size_t)me * kPart * kPage;
    where[me] = hearth_location();
#pragma omp critical
    CHECK(hearth_mem_migrate(part, kPart * kPage, other_than(node_near(where[me]))) == 0 || errno == EALREADY);
#pragma omp barrier
    CHECK(hearth_mem_attach(part, kPart * kPage, HEARTH_THREAD, HEARTH_READ_WRITE, 1) == 0);
    // Near a node without memory, and where the primary thread has its seat, it may be there already.
    CHECK(hearth_mem_follow(HEARTH_THREAD) == 0 || (errno == EALREADY && (me == 0 || node_near(where[me]) < 0)));
#pragma omp barrier
    CHECK(hearth_mem_detach(part, HEARTH_THREAD) == 0);
    errno = 0;
    CHECK(hearth_mem_detach(part, HEARTH_THREAD) == -1 && errno == ENOENT);
  }
  for (int i = 0; i < kMembers; ++i) check_part(memory, i, where[i]);
  check_content(memory, kPages);
  for (int i = 0; i < kMembers; ++i) hearth_mem_unregister(memory + (size_t)i * kPart * kPage);
  CHECK(munmap(memory, kPages * kPage) == 0);
}

// One member calls, the others wait: at a barrier, in a taskwait, or for the next region.
static void check_idle_members(void) {
  char* memory = filled(kPages);
  for (int i = 0; i < count; ++i) {
#pragma omp parallel num_threads(kMembers)
    {
#pragma omp single
      CHECK(hearth_mem_migrate(memory, kPages * kPage, homes[i]) == 0 || errno == EALREADY);
    }
    check_at(memory, kPages, nodes[i]);
#pragma omp parallel num_threads(kMembers)
#pragma omp masked
    {
#pragma omp task
      CHECK(hearth_mem_migrate(memory, kPages * kPage, homes[(i + 1) % count]) == 0 || errno == EALREADY);
#pragma omp taskwait
    }
    check_at(memory, kPages, nodes[(i + 1) % count]);
    CHECK(hearth_mem_migrate(memory, kPages * kPage, homes[i]) == 0);
    check_at(memory, kPages, nodes[i]);
  }
  check_content(memory, kPages);
  gone(memory, kPages);
}

// Announced: each member gets its part of a static schedule as the region begins.
static void check_next_touch(int attaches) {
  char* memory = filled(kPages);
  int where[kMembers];
  CHECK(hearth_mem_migrate(memory, kPages * kPage, homes[count - 1]) == 0 || errno == EALREADY);
  if (attaches)
    CHECK(hearth_mem_attach_on_touch(memory, kPages * kPage) == 0);
  else
    CHECK(hearth_mem_next_touch(memory, kPages * kPage, HEARTH_TOUCH_ANNOUNCED) == 0);
#pragma omp parallel num_threads(kMembers)
  where[omp_get_thread_num()] = hearth_location();
  for (int i = 0; i < kMembers; ++i) check_part(memory, i, where[i]);
  check_content(memory, kPages);
  for (int i = 0; i < kMembers; ++i) hearth_mem_unregister(memory + (size_t)i * kPart * kPage);
  CHECK(munmap(memory, kPages * kPage) == 0);
}

// A hint that everybody repeats moves nothing more; a first one brings thread and memory together.
static void check_hints(void) {
  char* memory = filled(kPages);
  CHECK(hearth_mem_migrate(memory, kPages * kPage, homes[0]) == 0 || errno == EALREADY);
  for (int pass = 0; pass < 3; ++pass) {
#pragma omp parallel num_threads(kMembers)
    {
      char* part = memory + (size_t)omp_get_thread_num() * kPart * kPage;
      CHECK(hearth_affinity(part, kPart * kPage, HEARTH_WRITE, pass == 0 ? HEARTH_NOW : HEARTH_WHEN_ALL) == 0);
#pragma omp barrier
      for (size_t p = 0; p < kPart; ++p) part[p * kPage + 34] = 1;
    }
  }
  check_content(memory, kPages);
  CHECK(hearth_mem_attach(memory, kPart * kPage, HEARTH_NEXT_TEAM, HEARTH_READ, 5) == 0);
  errno = 0;  // across the borders of areas
  CHECK(hearth_mem_attach(memory + kPage, kPart * kPage, HEARTH_TEAM, HEARTH_READ, 5) == -1 && errno == EINVAL);
  for (int i = 0; i < kMembers; ++i) hearth_mem_unregister(memory + (size_t)i * kPart * kPage);
  CHECK(munmap(memory, kPages * kPage) == 0);
}

// System calls on memory that waits for its next touch.
static void check_system_calls(void) {
  enum { kSome = 40 };
  char* memory = filled(kSome);
  CHECK(hearth_mem_next_touch(memory, kSome * kPage, HEARTH_TOUCH_ANNOUNCED) == 0);
  char name[] = "/tmp/users-XXXXXX";
  const int file = mkstemp(name);
  CHECK(file >= 0 && unlink(name) == 0);
  CHECK(write(file, memory, kSome * kPage) == kSome * kPage && lseek(file, 0, SEEK_SET) == 0);
  memset(memory, 0, kSome * kPage);
  CHECK(read(file, memory, kSome * kPage) == kSome * kPage);
  check_content(memory, kSome);
  int ends[2];
  CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
  for (size_t p = 0; p < kSome; ++p) {
    CHECK(send(ends[0], memory + p * kPage, kPage, 0) == kPage);
    memset(memory + p * kPage, 0, kPage);
    CHECK(recv(ends[1], memory + p * kPage, kPage, MSG_WAITALL) == kPage);
  }
  CHECK(close(ends[0]) == 0 && close(ends[1]) == 0);
  check_content(memory, kSome);
  // A file in its place: shared, so that nothing of it is this process's alone.
  CHECK(mmap(memory, kSome * kPage, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) == memory);
#pragma omp parallel num_threads(kMembers)
  check_content(memory, kSome);
  memory[33] = 99;
  char byte = 0;
  CHECK(pread(file, &byte, 1, 33) == 1 && byte == 99);
  CHECK(close(file) == 0);
  gone(memory, kSome);
}

// Memory that is gone, or another, when its next touch comes.
static void check_gone(void) {
  enum { kSome = 64, kHole = 16 };
  char* memory = filled(kSome);
  CHECK(hearth_mem_next_touch(memory, kSome * kPage, HEARTH_TOUCH_ANNOUNCED) == 0);
  char* room = (char*)map_pages(kHole * kPage);  // before the hole is there, or it is put into that
  CHECK(munmap(memory + kHole * kPage, kHole * kPage) == 0);
  char* moved = (char*)mremap(memory + 2 * kHole * kPage, kHole * kPage, kHole * kPage, MREMAP_MAYMOVE | MREMAP_FIXED, room);
  CHECK(moved == room);
#pragma omp parallel num_threads(kMembers)
  CHECK(memory[33] == content(0));
  check_content(memory, kHole);
  for (size_t p = 0; p < kHole; ++p) CHECK(moved[p * kPage + 33] == content(2 * kHole + p));
  CHECK(mmap(memory, kSome * kPage, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == memory);
  CHECK(hearth_mem_next_touch(memory, kSome * kPage, HEARTH_TOUCH_ANNOUNCED) == 0);
#pragma omp parallel num_threads(kMembers)
  CHECK(memory[33] == 0);
  CHECK(hearth_mem_attach(memory, kSome * kPage, HEARTH_TEAM, HEARTH_READ, 1) == 0);
  CHECK(munmap(memory, kSome * kPage) == 0);
  CHECK(hearth_mem_follow(HEARTH_TEAM) == 0 || errno == EALREADY);
  // Freed while it waits, and used by somebody.
  char* block = (char*)hearth_mem_alloc(kSome * kPage, HEARTH_MEM_AT, homes[0]);
  fill(block, kSome);
  CHECK(hearth_mem_attach(block, 0, HEARTH_NEXT_TEAM, HEARTH_READ, 3) == 0);
  CHECK(hearth_mem_next_touch(block, 0, HEARTH_TOUCH_ANNOUNCED) == 0);
  hearth_mem_free(block);
#pragma omp parallel num_threads(kMembers)
  CHECK(moved[33] == content(2 * kHole));
  errno = 0;
  CHECK(hearth_mem_detach(block, HEARTH_NEXT_TEAM) == -1 && errno == ENOENT);
  CHECK(munmap(moved, kHole * kPage) == 0);
}

// Announcements of single pages, every second one, so that none is beside another.
static void check_many(void) {
  enum { kMany = 100000 };
  char* memory = (char*)map_pages((size_t)kMany * 2 * kPage);
  for (size_t i = 0; i < kMany; i += 97) memory[i * 2 * kPage] = 1;
  for (size_t i = 0; i < kMany; ++i) CHECK(hearth_mem_next_touch(memory + i * 2 * kPage, kPage, HEARTH_TOUCH_ANNOUNCED) == 0);
#pragma omp parallel for num_threads(kMembers)
  for (size_t i = 0; i < kMany; i += 97) CHECK(memory[i * 2 * kPage] == 1);
  CHECK(munmap(memory, (size_t)kMany * kPage) == 0);  // half of them
  for (size_t i = 0; i < kMany; ++i) CHECK(hearth_mem_unregister(memory + i * 2 * kPage) == 0);
}

static void check_refused(void) {
  char* memory = filled(kPages);
  CHECK(hearth_mem_attach(memory, kPages * kPage, HEARTH_TEAM, HEARTH_WRITE, 5) == 0);
  errno = 0;
  CHECK(hearth_mem_follow(HEARTH_TEAM) == -1 && errno == EPERM);
  CHECK(hearth_mem_attach_on_touch(memory, kPages * kPage) == 0);
#pragma omp parallel num_threads(kMembers)
  {
    // The part that the region's begin has attached to this member.
    char* part = memory + (size_t)omp_get_thread_num() * kPart * kPage;
    CHECK(hearth_affinity(part, kPart * kPage, HEARTH_READ, HEARTH_NOW) == 0);
#pragma omp barrier
    check_content(memory, kPages);
  }
  gone(memory, kPages);
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  list_nodes();
  if (strcmp(what, "refused") == 0) {
    check_refused();
  } else if (strcmp(what, "many") == 0) {
    check_many();
  } else {
    check_follow();
    check_idle_members();
    check_next_touch(0);
    check_next_touch(1);
    check_hints();
    check_system_calls();
    check_gone();
  }
  printf("users: %s\n", what);
  return 0;
}
