// Merge sort in which the merging is parallel too: halves sort as tasks, and a merge splits at the median of
// its longer run, found in the other by bisection.
//
// Tasks own disjoint slices of `keys` and `scratch`; a taskwait stands between writing a slice and reading
// it.
#include <stdlib.h>
#include <string.h>

#include "../common/bench.h"
#include "driver.h"

typedef unsigned int Key;

static size_t count;
static size_t serial_sort;   // slices up to this size sort serially
static size_t serial_merge;  // and merge serially
static Key* input;
static Key* keys;
static Key* scratch;
static unsigned long input_sum;
static Key input_xor;

static void insertion_sort(Key* a, size_t n) {
  for (size_t i = 1; i < n; ++i) {
    const Key key = a[i];
    size_t j = i;
    for (; j > 0 && a[j - 1] > key; --j) a[j] = a[j - 1];
    a[j] = key;
  }
}

static Key median_of_three(Key a, Key b, Key c) {
  const Key low = a < b ? a : b;
  const Key high = a < b ? b : a;
  return c < low ? low : c > high ? high : c;
}

static void quick_sort(Key* a, size_t n) {
  while (n > 16) {
    const Key pivot = median_of_three(a[0], a[n / 2], a[n - 1]);
    size_t i = 0;
    size_t j = n - 1;
    for (;; ++i, --j) {
      while (a[i] < pivot) ++i;
      while (a[j] > pivot) --j;
      if (i >= j) break;
      const Key swapped = a[i];
      a[i] = a[j];
      a[j] = swapped;
    }
    quick_sort(a, i);
    a += i;
    n -= i;
  }
  insertion_sort(a, n);
}

static void merge_serial(const Key* a, size_t na, const Key* b, size_t nb, Key* out) {
  while (na && nb) {
    if (*b < *a) {
      *out++ = *b++;
      --nb;
    } else {
      *out++ = *a++;
      --na;
    }
  }
  memcpy(out, na ? a : b, (na + nb) * sizeof(Key));
}

static size_t first_not_below(const Key* a, size_t n, Key key) {
  size_t low = 0;
  while (low < n) {
    const size_t middle = low + (n - low) / 2;
    if (a[middle] < key) {
      low = middle + 1;
    } else {
      n = middle;
    }
  }
  return low;
}

static void merge(const Key* a, size_t na, const Key* b, size_t nb, Key* out) {
  if (na < nb) {
    merge(b, nb, a, na, out);
    return;
  }
  if (na + nb <= serial_merge || na < 2) {
    merge_serial(a, na, b, nb, out);
    return;
  }
  const size_t split_a = na / 2;
  const size_t split_b = first_not_below(b, nb, a[split_a]);
#pragma omp task firstprivate(a, split_a, b, split_b, out)
  merge(a, split_a, b, split_b, out);
#pragma omp task firstprivate(a, na, b, nb, out, split_a, split_b)
  merge(a + split_a, na - split_a, b + split_b, nb - split_b, out + split_a + split_b);
#pragma omp taskwait
}

// Sorts a[0..n) and leaves the result in a, or in b if into_b.
static void sort(Key* a, Key* b, size_t n, bool into_b) {
  if (n <= serial_sort) {
    quick_sort(a, n);
    if (into_b) memcpy(b, a, n * sizeof(Key));
    return;
  }
  const size_t half = n / 2;
#pragma omp task firstprivate(a, b, half, into_b)
  sort(a, b, half, !into_b);
#pragma omp task firstprivate(a, b, n, half, into_b)
  sort(a + half, b + half, n - half, !into_b);
#pragma omp taskwait
  if (into_b) {
    merge(a, half, a + half, n - half, b);
  } else {
    merge(b, half, b + half, n - half, a);
  }
}

static void prepare(bool cutoff) {
  count = cutoff ? 400000 : 12000;
  serial_sort = cutoff ? 2048 : 4;
  serial_merge = cutoff ? 2048 : 8;
  input = malloc(count * sizeof(Key));
  keys = malloc(count * sizeof(Key));
  scratch = malloc(count * sizeof(Key));
  if (!input || !keys || !scratch) bench_fail("sort: no memory");
  unsigned long state = 88172645463325252u;
  for (size_t i = 0; i < count; ++i) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    input[i] = (Key)(state >> 20);
    input_sum += input[i];
    input_xor ^= input[i] * 2654435761u;
  }
}

static void reset(void) { memcpy(keys, input, count * sizeof(Key)); }

static void run(void) {
#pragma omp parallel
#pragma omp single
  sort(keys, scratch, count, false);
}

static void check(void) {
  unsigned long sum = 0;
  Key mixed = 0;
  for (size_t i = 0; i < count; ++i) {
    if (i && keys[i - 1] > keys[i]) bench_fail("sort: key %zu is smaller than the one before", i);
    sum += keys[i];
    mixed ^= keys[i] * 2654435761u;
  }
  if (sum != input_sum || mixed != input_xor) bench_fail("sort: the keys are not the ones that went in");
}

int main(int argc, char** argv) {
  static const struct task_benchmark benchmark = {
      "sort", "400,000 keys, serial below 2,048", "12,000 keys, serial below 4", prepare, reset, run, check};
  return task_benchmark_main(argc, argv, &benchmark);
}
