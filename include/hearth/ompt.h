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

/* NULL: none. */
typedef void (*hearth_ompt_set_footprint_callback_t)(hearth_ompt_callback_footprint_t callback);
typedef void (*hearth_ompt_set_return_callback_t)(hearth_ompt_callback_return_t callback);
typedef void (*hearth_ompt_set_moved_callback_t)(hearth_ompt_callback_moved_t callback);

#ifdef __cplusplus
}
#endif
#endif
