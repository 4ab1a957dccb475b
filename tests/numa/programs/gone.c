// Memory that is freed, unmapped, closed or mapped anew while tasks still name it; ranges that overlap, are
// misaligned, empty, or longer than the address space. A footprint is a hint: no program crashes of it, every
// task runs once.
//
// numa-test link=hearth topologies=8x1,holes compilers=gcc,clang,g++,clang++
// numa-test name=huge-pages link=hearth topologies=8x1 huge-pages=always
// numa-test name=refused link=hearth topologies=8x1 refuse=mbind,move_pages,set_mempolicy,process_vm_readv compilers=gcc,clang
#include <omp.h>
#include <stdint.h>

#include "homes.h"

enum { kTasks = 32, kBytes = 256 * kPage };

static int ran;

/// Tasks that name the memory in every way, and touch none of it. Each range twice: what the first one
/// learnt, the second one remembers.
static void name(char* begin, size_t length) {
  const int before = ran;
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < kTasks; ++i) {
    const size_t at = length / kTasks * (size_t)(i / 2);
    char* part = begin + at;
    void** word = (void**)(begin + at / sizeof(void*) * sizeof(void*));
    (void)word;  // clauses are no use to gcc
    hearth_task_footprint(part, length / kTasks, HEARTH_READ_WRITE);
    hearth_task_footprint_strided(part, 4, 100, kPage, HEARTH_READ);
#pragma omp task
#pragma omp atomic
    ++ran;
#pragma omp task depend(inout : part[0])
#pragma omp atomic
    ++ran;
#pragma omp task depend(in : word[0])  // may hold the address of a block
#pragma omp atomic
    ++ran;
  }
  CHECK(ran == before + 3 * kTasks);
}

static void fill(char* begin, size_t length, void* value) {
  for (size_t i = 0; i + sizeof value <= length; i += sizeof value) memcpy(begin + i, &value, sizeof value);
}

int main(void) {
  list_nodes();
  // A block whose address stands wherever we look.
  char* target = (char*)omp_malloc_specific(40 * kPage, OMP_MALLOC_COARSE);
  memset(target, 1, 40 * kPage);

  const omp_malloc_distribution_t kinds[] = {OMP_MALLOC_FINE, OMP_MALLOC_COARSE, OMP_MALLOC_BLOCKED,
                                             OMP_MALLOC_STANDARD};
  for (int k = 0; k < 4; ++k)
    for (size_t size = 100; size <= 3u << 20; size = size * 20 / 8 * 8) {
      char* block = (char*)omp_malloc_specific(size, kinds[k]);
      fill(block, size, target);
      name(block, size);
      omp_malloc_free(block);
      name(block, size);
      // Another block in its place, perhaps of another distribution.
      char* other = (char*)omp_malloc_specific(size, kinds[(k + 1) % 4]);
      fill(other, size, target);
      name(block, size);
      name(other, size);
      char* larger = (char*)omp_malloc_realloc(other, 3 * size);
      CHECK(larger != NULL);
      name(other, size);
      name(larger, 3 * size);
      omp_malloc_free(larger);
    }

  char* mapped = (char*)mmap(NULL, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(mapped != MAP_FAILED);
  fill(mapped, kBytes, target);
  name(mapped, kBytes);
  // Moved: its old addresses are nobody's.
  void* const place = mmap(NULL, kBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  char* moved = (char*)mremap(mapped, kBytes, kBytes, MREMAP_MAYMOVE | MREMAP_FIXED, place);
  CHECK(moved == place && moved != mapped);
  name(mapped, kBytes);
  name(moved, kBytes);
  // The new ones: a closed mapping's, then fresh memory's. They are ours all the time, while anybody may have
  // taken the old ones.
  CHECK(mmap(moved, kBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == moved);
  name(moved, kBytes);
  CHECK(mmap(moved, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == moved);
  name(moved, kBytes);
  fill(moved, kBytes, target + 8);  // inside a block, not its address
  name(moved, kBytes);
  CHECK(munmap(moved, kBytes) == 0);
  name(moved, kBytes);

  // Ranges as programs get them wrong.
  char* block = (char*)omp_malloc_specific(kBytes, OMP_MALLOC_FINE);
  memset(block, 1, kBytes);
  const int before = ran;
#pragma omp parallel
#pragma omp single
  {
    for (int i = 0; i < kTasks; ++i) {
      hearth_task_footprint(block + 13 + i * 1001, 5 * kPage + 7, HEARTH_READ);  // overlapping, misaligned
      hearth_task_footprint(block + i * 999, 3 * kPage, HEARTH_WRITE + HEARTH_DECIDES);
#pragma omp task depend(in : block[13 + i])
#pragma omp atomic
      ++ran;
    }
    const size_t lengths[] = {0, 1, SIZE_MAX, SIZE_MAX / 2, (size_t)1 << 48};
    for (int i = 0; i < 5; ++i) {
      hearth_task_footprint(block, lengths[i], HEARTH_READ_WRITE);
      hearth_task_footprint(NULL, lengths[i], HEARTH_READ_WRITE);
      hearth_task_footprint((void*)UINTPTR_MAX, lengths[i], HEARTH_READ_WRITE);
      hearth_task_footprint_strided(block, lengths[i], 8, kPage, HEARTH_READ);
      hearth_task_footprint_strided(block, 8, lengths[i], kPage, HEARTH_READ);
      hearth_task_footprint_strided(block, 8, 8, lengths[i], HEARTH_READ);
      hearth_task_footprint(block, kPage, 77);
#pragma omp task
#pragma omp atomic
      ++ran;
    }
    hearth_taskloop_footprint(block, PTRDIFF_MAX, HEARTH_READ);
#pragma omp taskloop num_tasks(4)
    for (int i = 0; i < 4; ++i) {
#pragma omp atomic
      ++ran;
    }
    hearth_taskloop_footprint(block, PTRDIFF_MIN, HEARTH_READ);
#pragma omp taskloop num_tasks(4)
    for (int i = 0; i < 4; ++i) {
#pragma omp atomic
      ++ran;
    }
  }
  CHECK(ran == before + kTasks + 5 + 8);
  size_t bytes[kMostNodes];
  CHECK(hearth_bytes_by_location(NULL, 0, bytes, kMostNodes) == 0);
  CHECK(hearth_bytes_by_location(block, SIZE_MAX, bytes, kMostNodes) > 0);
  CHECK(hearth_bytes_by_location((void*)UINTPTR_MAX, SIZE_MAX, bytes, kMostNodes) <= 1);
  CHECK(hearth_owner(NULL) == -1 && hearth_owner((void*)UINTPTR_MAX) == -1);
  omp_malloc_free(block);
  omp_malloc_free(target);
  printf("gone: %d tasks ran once\n", ran);
  return 0;
}
