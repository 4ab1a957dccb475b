/* Hearth's own calls: data that has a home.
 *
 * For C and C++; Fortran has the module in hearth.f90 beside this file. Two ways to link:
 *
 *   A program that always runs on Hearth, however it is started:
 *     cc -fopenmp program.c $(pkg-config --cflags --libs hearth)
 *   or find_package(Hearth) and Hearth::hearth in CMake. By hand: -L DIR -lhearth -Wl,-rpath,DIR, where DIR is the
 *   folder of libhearth.so. Without the rpath the loader takes the system's libgomp, because the two have the
 *   same soname, and the program stops with "HEARTH_1.0 not found".
 *
 *   A program that also runs on other runtimes: -fopenmp alone. It declares the calls it uses weak, looks
 *   whether they are there before it calls them, and is started by `hearth run`.
 *
 * Words. A location is a NUMA node that this process may use (a last-level cache of one with
 * HEARTH_LOCATION=llc, a home cache on a modelled manycore), numbered from 0. A unit is what data is
 * distributed by: a page of 4 KiB; a huge page of 2 MiB with HEARTH_HUGE_PAGES=true; a cache line where home
 * caches are the locations. All sizes are bytes.
 *
 * Threads. Every call may be made by any thread at any time, inside and outside of parallel regions, also in
 * a child of fork(). As with malloc, a block must not be freed or resized while others use it.
 *
 * Errors. Allocating calls return a null pointer when there is no memory, when size is 0, when count * size
 * does not fit, or when an alignment is no power of two; a resize that fails leaves the block as it was.
 * Where memory cannot be distributed (the system refuses mbind, as containers do; no address space under
 * ulimit -v) one line on stderr names the refused call, and the memory lies where the operating system puts
 * it.
 *
 * Source: A. Muddukrishna, P. A. Jonsson, M. Brorsson: Locality-Aware Task Scheduling and Data Distribution
 * for OpenMP Programs on NUMA Systems and Manycore Processors, Scientific Programming 2015, section 3, for
 * omp_malloc, omp_malloc_specific and OMP_DATA_DISTRIBUTION. Names that begin with hearth_ are ours.
 */
#ifndef HEARTH_HEARTH_H
#define HEARTH_HEARTH_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Distributions ---- */

typedef enum omp_malloc_distribution {
  OMP_MALLOC_STANDARD = 0,   /* the operating system decides: the node of the thread that first touches a page */
  OMP_MALLOC_FINE = 1,       /* unit by unit, round robin over all locations */
  OMP_MALLOC_COARSE = 2,     /* whole allocations, round robin over all locations */
  OMP_MALLOC_NEAREST = 4,    /* all of it at the location of the calling thread */
  OMP_MALLOC_BLOCKED = 5,    /* one part of nearly equal size at each location, in order */
  OMP_MALLOC_INTERLEAVED = 6 /* OpenMP's word for fine */
} omp_malloc_distribution_t;

/* Which to choose: many tasks on one allocation: fine, or blocked where task i works on the i-th part; many
 * allocations, each for a few tasks: coarse; data of one thread: nearest. */

/* Memory distributed as OMP_DATA_DISTRIBUTION says (standard, fine, coarse, blocked or nearest; default
 * standard). Blocks of less than a unit lie at one location; blocks of a page and more begin at a page. With
 * standard it is malloc's memory. */
void* omp_malloc(size_t size);
/* ... as the argument says, whatever the environment says. A number that is no distribution: a null pointer. */
void* omp_malloc_specific(size_t size, omp_malloc_distribution_t distribution);
/* ... at a multiple of `alignment`, a power of two. */
void* omp_malloc_aligned(size_t alignment, size_t size);
void* omp_malloc_aligned_specific(size_t alignment, size_t size, omp_malloc_distribution_t distribution);
/* ... for count elements of size bytes, all zero. */
void* omp_malloc_calloc(size_t count, size_t size);
void* omp_malloc_calloc_specific(size_t count, size_t size, omp_malloc_distribution_t distribution);

/* The block with another size and the content up to the smaller one. It keeps its distribution (a coarse
 * block its location); a null block: omp_malloc(size). Size 0 frees it and returns a null pointer. */
void* omp_malloc_realloc(void* block, size_t size);

/* Frees a block of any call in this header. Null is allowed. A distributed block that was freed before, or an
 * address inside one, ends the program with a message. */
void omp_malloc_free(void* block);

/* ---- Distributions of your own ---- */

/* Which location owns block `block` of `blocks`: 0 to locations - 1, counted over the locations that hold
 * memory (hearth_memory_location() gives their numbers); anything else leaves the block to the operating
 * system. Called for each block in order, by the thread that allocates (again when the block is resized), so
 * `data` must live as long as the block.
 *
 *   int block_cyclic(size_t block, size_t blocks, int locations, void *data) {
 *     return (int)(block / *(const size_t *)data % (size_t)locations);
 *   }
 *   size_t in_a_row = 2;
 *   double *a = hearth_malloc_distributed(n * sizeof *a, 64 * 4096, block_cyclic, &in_a_row);
 */
typedef int (*hearth_block_owner_t)(size_t block, size_t blocks, int locations, void* data);

/* A block of `size` bytes whose k-th part of block_bytes (rounded up to whole units) lies where owner(k, ...)
 * says. More than 1024 changes of owner make the pages present at once; otherwise they come with the first
 * touch, as with all the calls above. */
void* hearth_malloc_distributed(size_t size, size_t block_bytes, hearth_block_owner_t owner, void* data);

/* Round robin in proportion: of each weights[0] + ... + weights[count - 1] runs, weights[i] go to the i-th
 * location that holds memory. Missing weights count as 0, a null pointer as equal ones. A run is as many
 * pages as keep the block below 1024 pieces. */
void* hearth_malloc_weighted(size_t size, const unsigned* weights, int count);

/* ---- Where things are ---- */

/* How many locations there are, and how many of them hold memory (memory-less nodes do not). */
int hearth_num_locations(void);
int hearth_num_memory_locations(void);
/* The location number of the index-th that holds memory, and the kernel's node number of a location; -1: no
 * such one. */
int hearth_memory_location(int index);
int hearth_location_node(int location);
/* The location of the calling thread, -1 when it is not known. */
int hearth_location(void);

/* Who owns the byte at `address`: the location, or -1 when nobody knows (not touched yet, or not a node of
 * ours). Computed for memory of this header's calls, asked of the kernel for all other. */
int hearth_owner(const void* address);
/* bytes[i] = how many of the length bytes at `begin` lie at location i, for i < count. Returns the bytes that
 * nobody knows of. Large ranges of memory that this header's calls did not distribute are sampled. */
size_t hearth_bytes_by_location(const void* begin, size_t length, size_t* bytes, int count);

/* ---- What tasks touch ---- */

/* A task runs where its data lies when Hearth knows its data: its footprint. The depend clause tells it (and,
 * with clang, the affinity clause, which is better); these calls tell what clauses cannot. What they say wins
 * over clauses. It is a hint: a wrong one costs time, never correctness, and the memory is never read or
 * written by the call. `hearth check` compares footprints with what tasks really touch; docs/guide/say-what-tasks-touch.md
 * says which to use when.
 *
 * A call is about the next task that the calling task makes, whatever it does before that; several calls add
 * up (up to 1024 ranges), and that task consumes them. It may be made outside of tasks, too: there the
 * implicit task counts. A task that ends without making another takes with it what it has said. When the next
 * construct is a taskloop, all its tasks have what was said. Where there is one location only the calls do
 * nothing. */

typedef enum hearth_access {
  HEARTH_READ = 1,
  HEARTH_WRITE = 2, /* a written byte counts twice: it travels twice */
  HEARTH_READ_WRITE = 3,
  HEARTH_DECIDES = 4 /* added to one of the others: accessed so intensely that only ranges with this mark count */
} hearth_access_t;

/* The task touches `length` bytes at `begin`. `access` is a hearth_access_t, or a sum with HEARTH_DECIDES;
 * any other number, or a length of 0: the call says nothing. */
void hearth_task_footprint(const void* begin, size_t length, int access);
/* ... `rows` rows of row_bytes each, `pitch` bytes from one row's begin to the next: a block of a matrix. */
void hearth_task_footprint_strided(const void* base, size_t rows, size_t row_bytes, size_t pitch, int access);
/* Before a taskloop: its k-th iteration, counted from 0 in the order of the loop, touches bytes_per_iteration
 * bytes at base + k * bytes_per_iteration. Negative for loops that go down in memory (then base is where
 * iteration 0 begins, and -bytes_per_iteration its size). Each of its tasks is dealt by its own iterations.
 * Before a task: nothing. */
void hearth_taskloop_footprint(const void* base, ptrdiff_t bytes_per_iteration, int access);

#ifdef __cplusplus
}
#endif

/* The memory manager: areas, moving, next touch, statistics, costs; who uses what memory. */
#include "memory.h"

#endif
