// Binds are counted by the kernel's tracepoint of the system call, which needs root and a mounted tracefs; pages by
// /proc/vmstat, which tells of the whole machine: meant for a virtual machine that does nothing else.
//
// counts_open() runs before there are threads, counts_now() on the initial thread; nothing here is locked.
#include "counts.h"

#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define TRACEPOINT "/events/syscalls/sys_enter_sched_setaffinity/id"

static int binds = -1;

static long number_in(const char* path) {
  FILE* file = fopen(path, "r");
  if (file == NULL) return -1;
  long value = -1;
  if (fscanf(file, "%ld", &value) != 1) value = -1;
  fclose(file);
  return value;
}

void counts_open(void) {
  long id = number_in("/sys/kernel/tracing" TRACEPOINT);
  if (id < 0) id = number_in("/sys/kernel/debug/tracing" TRACEPOINT);
  if (id < 0) return;
  struct perf_event_attr event = {
      .type = PERF_TYPE_TRACEPOINT, .size = sizeof event, .config = (uint64_t)id, .inherit = 1};
  binds = (int)syscall(SYS_perf_event_open, &event, 0, -1, -1, 0);
}

static long moved_pages(void) {
  FILE* file = fopen("/proc/vmstat", "r");
  if (file == NULL) return -1;
  char name[128];
  long value = -1, found = -1;
  while (found < 0 && fscanf(file, "%127s %ld", name, &value) == 2) {
    if (strcmp(name, "pgmigrate_success") == 0) found = value;
  }
  fclose(file);
  return found;
}

struct counts counts_now(void) {
  uint64_t calls = 0;
  const int known = binds >= 0 && read(binds, &calls, sizeof calls) == (ssize_t)sizeof calls;
  return (struct counts){.binds = known ? (long)calls : -1, .pages = moved_pages()};
}
