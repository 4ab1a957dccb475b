// env: KMP_DETERMINISTIC_REDUCTION=true
// One order of combining: whoever comes late, the parts of a reduction are combined in the same order. With atomic updates
// (a sum of doubles that cancel), without (a list of thread numbers), with a barrier at the end and without.
#include <omp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { kRounds = 40, kMost = 64 };

typedef struct {
  int count;
  int threads[kMost];
} list_t;

static void append(list_t* out, const list_t* in) {
  memcpy(out->threads + out->count, in->threads, sizeof(int) * in->count);
  out->count += in->count;
}

#pragma omp declare reduction(append : list_t : append(&omp_out, &omp_in)) initializer(omp_priv = (list_t){0})

// Another member is the last one in each round.
static void come_late(int round) {
  if (omp_get_thread_num() == round % omp_get_num_threads()) usleep(1000);
}

// Sums of these depend on the order.
static double part_of(int thread) { return thread % 2 == 0 ? 1e16 / (thread + 1) : -1e15 / thread + 0.7; }

int main(void) {
#ifndef __clang__
  return 0;  // gcc's binaries combine by themselves, in the order of arrival
#endif
  list_t first_list = {0};
  double first_sum = 0;
  for (int round = 0; round < kRounds; ++round) {
    list_t list = {0}, inner = {0};
    double sum = 0, inner_sum = 0;
#pragma omp parallel reduction(append : list) reduction(+ : sum)
    {
      come_late(round);
      list.threads[list.count++] = omp_get_thread_num();
      sum += part_of(omp_get_thread_num());
    }
    double atomic = 0;
#pragma omp parallel reduction(+ : atomic)
    {
      come_late(round);
      atomic += part_of(omp_get_thread_num());
    }
#pragma omp parallel
    {
      const int members = omp_get_num_threads();
#pragma omp for reduction(append : inner) schedule(static, 1)
      for (int i = 0; i < members; ++i) {
        come_late(round);
        inner.threads[inner.count++] = i;
      }
#pragma omp for reduction(+ : inner_sum) schedule(static, 1)
      for (int i = 0; i < members; ++i) {
        come_late(round + 1);
        inner_sum += part_of(i);
      }
    }
    if (round == 0) {
      first_list = list;
      first_sum = sum;
    }
    if (memcmp(&list, &first_list, sizeof list) != 0 || memcmp(&inner, &first_list, sizeof inner) != 0) {
      printf("round %d: another order of combining\n", round);
      return 1;
    }
    if (sum != first_sum || atomic != first_sum || inner_sum != first_sum) {
      printf("round %d: sums %.17g, %.17g and %.17g, not %.17g\n", round, sum, atomic, inner_sum, first_sum);
      return 1;
    }
  }
  return 0;
}
