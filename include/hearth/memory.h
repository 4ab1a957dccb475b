/* Hearth's memory manager: memory that is told about, asked about, moved, and tied to threads and teams.
 *
 * Part of hearth.h, which has the words (location, unit), the two ways to link and what holds for threads; C, C++, and
 * Fortran by the module in hearth.f90. Programs for MaMI find its old names in mami.h.
 *
 * Areas. An area is a piece of memory in whole pages that the manager knows: a block of hearth_mem_alloc(), or memory
 * of the program's own that hearth_mem_register() told it of. Ends of a range that are no whole page are left out, since
 * a page can be in one place only; a range without a whole page is EINVAL. An area may be split; its parts are areas.
 * Memory that is freed or mapped anew while it is an area does no harm: the calls find no page there. Where a call takes
 * an address and a size, a size of 0 stands for the area that holds the address.
 *
 * Errors. Calls that return int return 0, or -1 with errno set:
 *   EINVAL    less than a page, a location or a word that does not exist, small blocks of omp_malloc() (several have one
 *             page), or an address that is in no area
 *   ENOENT    nothing was attached
 *   EALREADY  all of it is there, or is an area, already
 *   EPERM     the system refuses the call that would be needed (containers do); also said once on stderr
 *   EBUSY     no page could be moved: all are pinned (RDMA, direct I/O) or shared with a child of fork()
 *   ENOMEM    no memory for the manager's own tables
 * The program can go on after each of these: memory is where it was.
 *
 * Moving memory. A page takes 0.5 us and the time to copy it, a call 50 to 150 us more (hearth_cost_migrate() tells
 * for this machine), so move much at a time. Content and addresses stay, other threads may use the memory meanwhile. Pages
 * that are at the right place are not touched. Pages that nobody has touched yet come from the new location when they
 * are. Huge pages move whole. Single pages that cannot be moved stay; hearth_mem_locate() tells. A thread that calls
 * inside a region, or between two, is helped by members of its team that wait at barriers, in taskwaits, or for the next
 * region; nobody helps for longer than 20 ms at a time. Where Hearth only pretends a machine (HEARTH_MACHINE) nothing moves,
 * and the new places are noted.
 *
 * Source: F. Broquedis, N. Furmento, B. Goglin, R. Namyst, P.-A. Wacrenier: Dynamic Task and Data Placement over NUMA
 * Architectures: an OpenMP Runtime Perspective, IWOMP 2009, section 3.2 and table 2.
 */
#ifndef HEARTH_MEMORY_H
#define HEARTH_MEMORY_H

#include <stddef.h>

#include "hearth.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Memory of the manager ---- */

typedef enum hearth_mem_policy {
  HEARTH_MEM_DEFAULT = 0,      /* as hearth_mem_set_default() has said; until then first touch */
  HEARTH_MEM_FIRST_TOUCH = 1,  /* each page at the location of the thread that first touches it */
  HEARTH_MEM_AT = 2,           /* at the location named */
  HEARTH_MEM_HERE = 3,         /* at the location of the calling thread */
  HEARTH_MEM_LEAST_LOADED = 4, /* at the location that has the fewest bytes of areas */
  HEARTH_MEM_BY_LOAD = 5,      /* at the location of the calling thread; while few threads work, and fill their locations,
                                  spread over the locations near it, too, for their bandwidth */
  HEARTH_MEM_HUGE = 16         /* added to one of the others: in huge pages, where the system has some */
} hearth_mem_policy_t;

/* A block of `size` bytes that begins at a page, has its pages to itself and is an area; zeroed. `location` is read
 * with HEARTH_MEM_AT only; one without memory of its own stands for the nearest that has some. Null: no memory, size 0, or
 * a policy or location that does not exist (errno says which). */
void* hearth_mem_alloc(size_t size, int policy, int location);
/* Frees a block of hearth_mem_alloc() and the areas in it; what was attached is released. Null is allowed. Any other
 * address ends the program with a message, as a block that was freed before does. */
void hearth_mem_free(void* block);
/* What HEARTH_MEM_DEFAULT means from now on, for all threads. EINVAL: HEARTH_MEM_BY_LOAD, too, which asks anew each time. */
int hearth_mem_set_default(int policy, int location);

/* ---- Areas ---- */

/* The whole pages in `size` bytes at `address` are an area from now on; areas that were registered there before lose what
 * they have in common with it. EINVAL: also where it overlaps a block of hearth_mem_alloc(); EALREADY: just this is an
 * area. */
int hearth_mem_register(void* address, size_t size);
/* The area that holds `address` is none any more; the memory stays as and where it is. EINVAL: no area, or one of
 * hearth_mem_alloc(). */
int hearth_mem_unregister(void* address);
/* Cuts the area that holds `address` into n areas of nearly equal size, in whole pages. parts[i] is where the i-th
 * begins; `parts` may be null. What was attached to the area is attached to all of them. EINVAL: no area, or one of
 * less than n pages. */
int hearth_mem_split(void* address, int n, void** parts);

/* Answers of hearth_mem_locate() that are no location. */
enum { HEARTH_NOWHERE = -1, HEARTH_UNTOUCHED = -2, HEARTH_SEVERAL = -20 };

/* Where the bytes are: *location is a location, HEARTH_SEVERAL, HEARTH_UNTOUCHED (no page of them was touched, or none is
 * mapped), or HEARTH_NOWHERE (not on a location of ours, or the system does not say). Pages that nobody has touched do
 * not count beside others. The kernel is asked about every page, of ranges above 128 MiB about 32768 pages all over the
 * range: 0.4 us a page. Not only for areas. EINVAL. */
int hearth_mem_locate(const void* address, size_t size, int* location);

/* ---- Moving ---- */

/* Moves the whole pages of the range to a location (without memory of its own: to the nearest that has some). Not only
 * for areas. Several threads may each move a part. EINVAL, EALREADY, EPERM, EBUSY. */
int hearth_mem_migrate(void* address, size_t size, int location);
/* Deals the pages of the area that holds `address` out in turn: page i to locations[i % n]. EINVAL, EALREADY, EPERM,
 * EBUSY. */
int hearth_mem_distribute(void* address, const int* locations, int n);

typedef enum hearth_touch {
  HEARTH_TOUCH_ANNOUNCED = 0, /* the runtime moves what a thread will touch, before it does */
  HEARTH_TOUCH_KERNEL = 1,    /* the kernel moves pages to who touches them, when it gets to it */
  HEARTH_TOUCH_TRAP = 2       /* the first touch of a part is caught, and moves it */
} hearth_touch_t;

/* Migration on next touch: the whole pages of the range go to the threads that touch them next. Memory that is no area
 * becomes one. `how`:
 *   ANNOUNCED   at the begin of the caller's next region each member moves its part (as a static schedule divides a
 *               loop), in large calls; so does who attaches this memory to itself, and a thread that is about to run a
 *               task whose footprint names it, if enough of it to be worth a call. No protection, no signal: system
 *               calls may read and write the memory. Accesses that nobody announced move nothing. With the variable
 *               HEARTH_NEXT_TOUCH=kernel or trap, as those.
 *   KERNEL      asks the kernel's automatic balancing for this memory (Linux 5.12, kernel.numa_balancing = 1): safe,
 *               but pages follow in seconds, and only where they are used often. Elsewhere: ANNOUNCED, said once.
 *   TRAP        the pages are closed; who touches a part first (2 MiB; in smaller areas 64 KiB) opens and moves it.
 *               Sees accesses that nobody announced, but SYSTEM CALLS THAT ARE GIVEN CLOSED MEMORY FAIL WITH EFAULT
 *               (read, write, recv, MPI's too), and a thread that has SIGSEGV blocked is killed. The program's own
 *               handler is called for all faults that are not ours. What nobody touches is opened at the end of the
 *               region, after 10 s, and before a fork(). Where it cannot be done safely (another handler came after
 *               ours, SIGSEGV is blocked here, the memory cannot be written): ANNOUNCED, said once.
 * EINVAL, ENOMEM. */
int hearth_mem_next_touch(void* address, size_t size, int how);

/* ---- Locations and costs ---- */

typedef enum hearth_mem_figure {
  HEARTH_MEM_TOTAL = 0,      /* bytes of memory of the location's node */
  HEARTH_MEM_FREE_BYTES = 1, /* of these nobody uses; the kernel gives more, since it drops cached files first */
  HEARTH_MEM_AREAS = 2       /* bytes of areas that were placed there or moved there as a whole */
} hearth_mem_figure_t;

/* EINVAL: no such location or figure. Where locations are caches, several have one node's memory in common. */
int hearth_mem_stats(int location, int figure, size_t* bytes);

typedef enum hearth_mem_choice {
  HEARTH_MOST_FREE = 0,    /* the location with the most free memory */
  HEARTH_LEAST_LOADED = 1, /* ... with the fewest bytes of areas; of several the nearest */
  HEARTH_NEAREST = 2       /* the nearest to the calling thread with more than a sixteenth of its memory free */
} hearth_mem_choice_t;

/* EINVAL: no such choice; ENOENT: no location has room. */
int hearth_mem_select(int choice, int* location);

/* Nanoseconds for one thread at location `from` to read or write `size` bytes at location `to`, one line after another,
 * with nobody beside it; and to move so many bytes from one location to the other. From the machine's model, HMAT or
 * SLIT; moving is corrected by the time that Hearth's own calls took. -1 with EINVAL: no such location. */
double hearth_cost_read(int from, int to, size_t size);
double hearth_cost_write(int from, int to, size_t size);
double hearth_cost_migrate(int from, int to, size_t size);

/* ---- Who uses what ---- */

typedef enum hearth_who {
  HEARTH_THREAD = 0,   /* the calling thread */
  HEARTH_TEAM = 1,     /* its team */
  HEARTH_NEXT_TEAM = 2 /* the team of the next region that it opens */
} hearth_who_t;

typedef enum hearth_when {
  HEARTH_NOW = 0,     /* this call puts it in force */
  HEARTH_WHEN_ALL = 1 /* the last thread of the team that calls does */
} hearth_when_t;

/* `who` will use these bytes: `access` is HEARTH_READ, HEARTH_WRITE or HEARTH_READ_WRITE, `passes` how often all of them
 * are gone through before the use changes (1 if nobody knows). Memory that is no area becomes one; of an area that is
 * larger, its whole pages in the range become one by themselves. Several may use the same bytes: each counts for its part
 * of them, and the bytes move only to where all of their users are. The runtime puts threads and memory beside each other
 * when it next decides on places. A call that repeats what was said does nothing.
 * EINVAL, ENOMEM. */
int hearth_mem_attach(void* address, size_t size, int who, int access, double passes);
/* `who` uses the area that holds `address` no more. EINVAL, ENOENT. */
int hearth_mem_detach(void* address, int who);
/* All that is attached to `who` moves to where it is now. EINVAL, ENOENT, EALREADY, EPERM, EBUSY. */
int hearth_mem_follow(int who);
/* Next touch that attaches: whoever touches the bytes next, as hearth_mem_next_touch(HEARTH_TOUCH_ANNOUNCED) finds it,
 * has them attached, and they move to it. EINVAL, ENOMEM. */
int hearth_mem_attach_on_touch(void* address, size_t size);
/* The hint of ForestGOMP: the calling thread will use these bytes. Inside of a region it is said for the calling thread, before
 * one for the region's team, whose threads are then born there. `when` says when threads or memory move for it:
 * HEARTH_WHEN_ALL is for hints that all threads of a team give, one after the other. Agreeing hints cost next to
 * nothing and move nothing. EINVAL, ENOMEM. */
int hearth_affinity(void* address, size_t size, int access, int when);

#ifdef __cplusplus
}
#endif

#endif
