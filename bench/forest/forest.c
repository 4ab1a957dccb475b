#include "forest.h"

#include <dlfcn.h>
#include <omp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "counts.h"
#include "hints.h"
#include "region.h"

enum { kMostRepeats = 1000, kMostRows = 16, kMostTold = 8, kMostThreads = 1024, kPage = 4096 };

struct forest_arguments forest = {.teams = 0, .threads = 0, .bytes = 1 << 20, .passes = 3};

static const struct forest_program* program;
static int repeats = 5;
static bool json;
static bool counting;
static int repeat;     // the one that runs
static bool watching;  // counts began before the region

static struct {
  const char* name;
  double bytes;
  double seconds[kMostRepeats];
} rows[kMostRows];
static int row_count;

static struct {
  const char* name;
  double value;
} told[kMostTold];
static int told_count;

static struct counts at_begin;
static struct counts counted[kMostRepeats];

void forest_fail(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fprintf(stderr, "%s: ", program->name);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  va_end(arguments);
  exit(3);
}

// ------------------------------------------------------------------------------------------------ arguments

static void usage(void) {
  fprintf(stderr,
          "usage: %s [--teams N] [--threads N] [--bytes N[K|M|G]] [--passes N] [--repeats N] [--json] [--count]\n",
          program->name);
  for (const struct forest_option* option = program->options; option != NULL && option->name != NULL; ++option) {
    if (option->words == NULL) {
      fprintf(stderr, "  [--%s %ld..%ld, default %ld]\n", option->name, option->least, option->most, option->value);
      continue;
    }
    fprintf(stderr, "  [--%s ", option->name);
    for (int i = 0; option->words[i] != NULL; ++i) fprintf(stderr, "%s%s", i == 0 ? "" : "|", option->words[i]);
    fprintf(stderr, ", default %s]\n", option->words[option->value]);
  }
  exit(2);
}

static void refuse(const char* option, const char* value, const char* legal) {
  fprintf(stderr, "%s: --%s=\"%s\"; legal: %s\n", program->name, option, value, legal);
  exit(2);
}

static long number(const char* option, const char* text, long least, long most) {
  char* end = NULL;
  long value = strtol(text, &end, 10);
  const char* const suffixes = "KMG";
  const char* suffix = *end != '\0' ? strchr(suffixes, *end) : NULL;
  if (suffix != NULL && value >= 0 && value < 1 << 20) {
    value <<= 10 * (suffix - suffixes + 1);
    ++end;
  }
  char legal[64];
  snprintf(legal, sizeof legal, "a number from %ld to %ld", least, most);
  if (end == text || *end != '\0' || value < least || value > most) refuse(option, text, legal);
  return value;
}

static void read_own(const char* name, const char* value) {
  for (struct forest_option* option = program->options; option != NULL && option->name != NULL; ++option) {
    if (strcmp(option->name, name) != 0) continue;
    if (option->words == NULL) {
      option->value = number(name, value, option->least, option->most);
      return;
    }
    for (long i = 0; option->words[i] != NULL; ++i) {
      if (strcmp(option->words[i], value) != 0) continue;
      option->value = i;
      return;
    }
    fprintf(stderr, "%s: --%s=\"%s\" is none of its words\n", program->name, name, value);
  }
  usage();
}

static void read_argument(const char* name, const char* value) {
  if (strcmp(name, "teams") == 0) {
    forest.teams = (int)number(name, value, 1, kMostThreads);
  } else if (strcmp(name, "threads") == 0) {
    forest.threads = (int)number(name, value, 1, kMostThreads);
  } else if (strcmp(name, "bytes") == 0) {
    forest.bytes = (size_t)number(name, value, kPage, 1L << 40) / kPage * kPage;
  } else if (strcmp(name, "passes") == 0) {
    forest.passes = (int)number(name, value, 1, 1 << 20);
  } else if (strcmp(name, "repeats") == 0) {
    repeats = (int)number(name, value, 1, kMostRepeats);
  } else {
    read_own(name, value);
  }
}

// --name VALUE and --name=VALUE.
static void read_arguments(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (strncmp(argv[i], "--", 2) != 0) usage();
    char* name = argv[i] + 2;
    if (strcmp(name, "json") == 0) {
      json = true;
      continue;
    }
    if (strcmp(name, "count") == 0) {
      counting = true;
      continue;
    }
    char* value = strchr(name, '=');
    if (value != NULL) {
      *value++ = '\0';
    } else {
      if (++i == argc) usage();
      value = argv[i];
    }
    read_argument(name, value);
  }
}

int forest_nodes(void) {
  int nodes = 0;
  char path[64];
  do {
    snprintf(path, sizeof path, "/sys/devices/system/node/node%d", nodes);
  } while (access(path, F_OK) == 0 && ++nodes < kMostThreads);
  return nodes == 0 ? 1 : nodes;
}

// A team per node, and together as many threads as the process may use CPUs.
static void choose_sizes(void) {
  const int nodes = forest_nodes();
  if (forest.teams == 0) forest.teams = nodes > program->least_teams ? nodes : program->least_teams;
  if (program->least_teams == 1) forest.teams = 1;
  if (forest.threads == 0) forest.threads = omp_get_num_procs() / forest.teams;
  if (forest.threads == 0) forest.threads = 1;
}

// ------------------------------------------------------------------------------------------------ one repetition

void forest_watch(void) {
  if (counting) at_begin = counts_now();
  watching = true;
}

void forest_begin(void) {
  if (!watching) forest_watch();
  NUMA_REGION_BEGIN();
}

void forest_end(void) {
  NUMA_REGION_END();
  watching = false;
  if (!counting) return;
  const struct counts now = counts_now();
  counted[repeat].binds = now.binds < 0 ? -1 : now.binds - at_begin.binds;
  counted[repeat].pages = now.pages < 0 ? -1 : now.pages - at_begin.pages;
}

void forest_time(const char* row, double bytes, double seconds) {
  int at = 0;
  while (at < row_count && strcmp(rows[at].name, row) != 0) ++at;
  if (at == row_count) {
    if (row_count == kMostRows) forest_fail("too many rows");
    rows[row_count++].name = row;
  }
  rows[at].bytes = bytes;
  rows[at].seconds[repeat] = seconds;
}

void forest_tell(const char* name, double value) {
  int at = 0;
  while (at < told_count && strcmp(told[at].name, name) != 0) ++at;
  if (at == told_count) {
    if (told_count == kMostTold) forest_fail("too many figures");
    told[told_count++].name = name;
  }
  told[at].value = value;
}

void* forest_pages(size_t bytes) {
  void* pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) forest_fail("no memory: %zu bytes", bytes);
  return pages;
}

void forest_release(void* pages, size_t bytes) { munmap(pages, bytes); }

struct forest_range forest_part(size_t count, int me, int of) {
  return (struct forest_range){count * (size_t)me / (size_t)of, count * ((size_t)me + 1) / (size_t)of};
}

// ------------------------------------------------------------------------------------------------ output

static int ascending(const void* left, const void* right) {
  const double a = *(const double*)left, b = *(const double*)right;
  return (a > b) - (a < b);
}

static const char* runtime_file(void) {
  Dl_info library = {0};
  void* entry = dlsym(RTLD_DEFAULT, "omp_get_thread_num");
  if (entry == NULL || dladdr(entry, &library) == 0) forest_fail("no OpenMP library answers");
  return library.dli_fname;
}

static void print_text(void) {
  printf("%s: %d x %d threads, %zu KiB per thread and vector, %d passes\nruntime %s\n", program->name, forest.teams,
         forest.threads, forest.bytes / 1024, forest.passes, runtime_file());
  for (int i = 0; i < row_count; ++i) {
    qsort(rows[i].seconds, (size_t)repeats, sizeof(double), ascending);
    const double best = rows[i].seconds[0], median = rows[i].seconds[repeats / 2], worst = rows[i].seconds[repeats - 1];
    if (rows[i].bytes == 0)
      printf("%-12s %9.2f-%.2f us worst-best, median %.2f\n", rows[i].name, worst * 1e6, best * 1e6, median * 1e6);
    else
      printf("%-12s %9.0f-%.0f MB/s worst-best, median %.0f\n", rows[i].name, rows[i].bytes / worst / 1e6,
             rows[i].bytes / best / 1e6, rows[i].bytes / median / 1e6);
  }
  for (int i = 0; i < told_count; ++i) printf("%s %.3f\n", told[i].name, told[i].value);
  for (int i = 0; counting && i < repeats; ++i)
    printf("repeat %d binds %ld pages %ld\n", i, counted[i].binds, counted[i].pages);
}

static void print_json(void) {
  printf(
      "{\"program\": \"%s\", \"runtime_file\": \"%s\", \"teams\": %d, \"threads\": %d, \"bytes\": %zu, \"passes\": %d, "
      "\"verified\": true, \"hints\": %s, \"rows\": {",
      program->name, runtime_file(), forest.teams, forest.threads, forest.bytes, forest.passes,
      hints_answered() ? "true" : "false");
  for (int i = 0; i < row_count; ++i) {
    printf("%s\"%s\": {\"bytes\": %.0f, \"ns\": [", i == 0 ? "" : ", ", rows[i].name, rows[i].bytes);
    for (int r = 0; r < repeats; ++r) printf("%s%.0f", r == 0 ? "" : ", ", rows[i].seconds[r] * 1e9);
    printf("]}");
  }
  printf("}");
  for (int i = 0; i < told_count; ++i) printf(", \"%s\": %.6f", told[i].name, told[i].value);
  if (counting) {
    printf(", \"counts\": [");
    for (int r = 0; r < repeats; ++r)
      printf("%s{\"binds\": %ld, \"pages\": %ld}", r == 0 ? "" : ", ", counted[r].binds, counted[r].pages);
    printf("]");
  }
  printf("}\n");
}

int forest_main(int argc, char** argv, const struct forest_program* chosen) {
  program = chosen;
  read_arguments(argc, argv);
  if (counting) counts_open();
  choose_sizes();
  omp_set_dynamic(0);
  omp_set_max_active_levels(2);
  for (repeat = 0; repeat < repeats; ++repeat) program->repeat();
  if (json)
    print_json();
  else
    print_text();
  return 0;
}
