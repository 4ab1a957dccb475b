/* Extensions of OMPT that ompt_function_lookup() finds in Hearth, under the names of the functions' types without "_t".
 *
 * What the standard's callbacks leave out: the lengths of what a task's depend and affinity clauses name, the end of a
 * task's creation, and what was moved so that threads and memory come together. A tool looks them up in its initializer
 * and sets its callbacks there; other runtimes return NULL. Callbacks about tasks come in the thread that makes the task,
 * after ompt_callback_task_create. */
#ifndef HEARTH_OMPT_H
#define HEARTH_OMPT_H

#include <stddef.h>
#include <stdint.h>
/* The types of OMPT: the compiler's header, or Hearth's where the compiler has none (gcc). */
#ifndef HEARTH_OMP_TOOLS_H
#ifdef __has_include
#if __has_include(<omp-tools.h>)
#include <omp-tools.h>
#endif
#endif
#endif
#include "hearth/omp-tools.h"

#ifdef __cplusplus
extern "C" {
#endif

/* `rows` pieces of `length` bytes, `pitch` bytes from start to start. */
typedef struct hearth_ompt_range_t {
  const void* begin;
  size_t length;
  size_t rows;
  size_t pitch;
  int access;   /* HEARTH_READ, HEARTH_WRITE, HEARTH_READ_WRITE (hearth.h) */
  int inferred; /* the compiler passed no length: it is guessed from the tasks so far */
  int decides;  /* HEARTH_DECIDES: beside it the others do not count for where the task goes */
  int stated;   /* by an affinity clause or a call of hearth.h; else by a depend clause */
} hearth_ompt_range_t;

/* What the task touches, as far as Hearth knows. At most once for a task, and before it can begin. */
typedef void (*hearth_ompt_callback_footprint_t)(ompt_data_t* task_data, const hearth_ompt_range_t* ranges, size_t count);
/* Hearth returns to the program: if the thread has made a task since its last event, that is done. */
typedef void (*hearth_ompt_callback_return_t)(void);

typedef enum hearth_ompt_moved_t { hearth_ompt_threads = 1, hearth_ompt_pages = 2 } hearth_ompt_moved_t;
typedef enum hearth_ompt_cause_t {
  hearth_ompt_call = 1,    /* hearth_mem_migrate(), _distribute(), _follow() */
  hearth_ompt_hint = 2,    /* a plan that follows hints: hearth_affinity(), hearth_mem_attach() */
  hearth_ompt_balance = 3, /* a plan of Hearth's own, because some locations had more to do than others */
  hearth_ompt_touch = 4,   /* announced next touch: before the thread uses the pages */
  hearth_ompt_trap = 5     /* a touch of closed pages: all since the last such event, told when the rest is opened */
} hearth_ompt_cause_t;

/* The calling thread has bound `count` other threads elsewhere, or moved `count` pages of 4 KiB, to the location `to` (-1: to
 * several). `begin`: an address among the pages; NULL: nobody knows. In any thread, also in one that no callback has
 * announced; for pages once in some thousand, not for each. */
typedef void (*hearth_ompt_callback_moved_t)(hearth_ompt_moved_t what, hearth_ompt_cause_t why, uint64_t count, int to,
                                             const void* begin);

/* What a task touches at a location. */
typedef struct hearth_ompt_bytes_t {
  int location; /* -1: nobody knows where these are, or nobody has touched them yet */
  uint64_t read;
  uint64_t written;
} hearth_ompt_bytes_t;
typedef struct hearth_ompt_decision_t {
  int asked;    /* the policy was asked where the task goes; 0: the task has ended, only its bytes are told */
  int released; /* asked by who ended the last task that it waited for; else by its creator */
  int stated;   /* the program states the footprint itself */
  int location; /* of the thread that asked */
  int chosen;   /* -1: the task stays with that thread */
  int why;      /* hearth_ompt_why_name() */
} hearth_ompt_decision_t;
/* Where a task's bytes are: as the policy is asked where it goes, or else as the task has ended. Only on machines with several
 * locations, and of tasks with a footprint. In the thread that asks, after the footprint was told. */
typedef void (*hearth_ompt_callback_decision_t)(ompt_data_t* task_data, const hearth_ompt_decision_t* decision,
                                                const hearth_ompt_bytes_t* bytes, size_t count);

/* The machine as Hearth sees it. Constant; texts stay. */
typedef struct hearth_ompt_machine_t {
  const char* name;      /* of a model; "": none */
  const char* source;    /* "sysfs", "model", … */
  int pretended;         /* it is not this one: only hearth_ompt_location() knows where a thread is */
  const char* kind;      /* what a location is: "node", "llc", "home cache" */
  const char* distances; /* where the distances come from: "flat", "slit", "hmat", "model", "hops" */
  const char* policy;
  int locations;
} hearth_ompt_machine_t;
typedef struct hearth_ompt_location_t {
  int node; /* the kernel's number; -1: none */
  int holds_memory;
  uint64_t memory_bytes; /* 0: not known */
} hearth_ompt_location_t;
typedef void (*hearth_ompt_get_machine_t)(hearth_ompt_machine_t* machine);
/* 0: there is no such location. */
typedef int (*hearth_ompt_get_location_t)(int location, hearth_ompt_location_t* facts);
/* From who computes at `location` to data at `memory`; 10 is local. `latency_ns`: 0 where it is not known. */
typedef int (*hearth_ompt_get_distance_t)(int location, int memory, double* latency_ns);
/* -1: none. */
typedef int (*hearth_ompt_location_of_cpu_t)(int cpu);
/* Of the calling thread, -1: not known. */
typedef int (*hearth_ompt_location_here_t)(void);
/* A word such as "small_gain"; NULL: there is no such number. They count from 0. */
typedef const char* (*hearth_ompt_why_name_t)(int why);

/* How the block around an address is distributed, if Hearth does that; else -1. */
typedef int (*hearth_ompt_distribution_of_t)(const void* address);
/* A word such as "blocked"; NULL: there is no such number. They count from 0. */
typedef const char* (*hearth_ompt_distribution_name_t)(int distribution);
/* Where the bytes are now, as far as it can be found out; of large ranges some pages stand for all. At most `room` locations. */
typedef size_t (*hearth_ompt_homes_of_t)(const void* begin, size_t bytes, hearth_ompt_bytes_t* homes, size_t room);

/* Hearth has given out a block by omp_alloc(), omp_malloc(), hearth_mem_alloc() or their kin and distributes it; bytes 0: the
 * block at `begin` is about to be freed. `code`: who asked for it; NULL: not known. In any thread. */
typedef void (*hearth_ompt_callback_block_t)(const void* begin, size_t bytes, int distribution, const void* code);

/* NULL: none. */
typedef void (*hearth_ompt_set_block_callback_t)(hearth_ompt_callback_block_t callback);
typedef void (*hearth_ompt_set_decision_callback_t)(hearth_ompt_callback_decision_t callback);
typedef void (*hearth_ompt_set_footprint_callback_t)(hearth_ompt_callback_footprint_t callback);
typedef void (*hearth_ompt_set_return_callback_t)(hearth_ompt_callback_return_t callback);
typedef void (*hearth_ompt_set_moved_callback_t)(hearth_ompt_callback_moved_t callback);

#ifdef __cplusplus
}
#endif
#endif
