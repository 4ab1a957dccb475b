// Like a server: `--teams` threads of the program's own (not OpenMP's) take requests, and each request opens a parallel
// region on the data of its session, of a size that depends on the request. After each of `--passes` shifts these
// threads end, others begin, and every session goes to another one of them.
#include <omp.h>
#include <pthread.h>
#include <stdlib.h>

#include "forest.h"

enum { kMostThreads = 1024 };
enum { kSessions, kRequests };
static struct forest_option options[] = {
    {"sessions", 16, 1, 1024, NULL}, {"requests", 2, 1, 1000, NULL}, {NULL, 0, 0, 0, NULL}};

static struct session {
  word* data;
  size_t length;
} sessions[1024];
static int session_count;

struct shift {
  pthread_t thread;
  int number;
  int listener;
};

// At least two threads, so that teams of several sizes come and go.
static int team_size(int shift, int session, int request) {
  const int most = forest.threads < 2 ? 2 : forest.threads;
  return 2 + (shift * 7 + session * 3 + request) % (most - 1);
}

static void answer(struct session* session, int threads, word shift) {
#pragma omp parallel for num_threads(threads) schedule(static)
  for (size_t i = 0; i < session->length; ++i) session->data[i] = 5 * session->data[i] + shift + 1;
}

static void open_session(int s) {
  struct session* session = &sessions[s];
  session->length = forest.bytes * (size_t)forest.threads / sizeof(word);
  session->data = forest_pages(session->length * sizeof(word));
#pragma omp parallel for num_threads(team_size(0, s, 0)) schedule(static)
  for (size_t i = 0; i < session->length; ++i) session->data[i] = (word)s + i;
}

static void* listen(void* argument) {
  const struct shift* shift = argument;
  for (int s = 0; s < session_count; ++s) {
    if ((s + shift->number) % forest.teams != shift->listener) continue;
    if (shift->number == 0) open_session(s);
    for (int request = 0; request < options[kRequests].value; ++request)
      answer(&sessions[s], team_size(shift->number, s, request), (word)shift->number);
  }
  return NULL;
}

static void run_shift(int number) {
  struct shift listeners[kMostThreads];
  for (int k = 0; k < forest.teams; ++k) {
    listeners[k] = (struct shift){.number = number, .listener = k};
    if (pthread_create(&listeners[k].thread, NULL, listen, &listeners[k]) != 0) forest_fail("no thread");
  }
  for (int k = 0; k < forest.teams; ++k) pthread_join(listeners[k].thread, NULL);
}

static void check(int s) {
  word factor = 1, sum = 0;
  for (int shift = 0; shift < forest.passes; ++shift) {
    for (int request = 0; request < options[kRequests].value; ++request) {
      factor *= 5;
      sum = 5 * sum + (word)shift + 1;
    }
  }
  for (size_t i = 0; i < sessions[s].length; ++i) {
    if (sessions[s].data[i] != factor * ((word)s + i) + sum) forest_fail("session %d is wrong at %zu", s, i);
  }
}

static void repeat(void) {
  session_count = (int)options[kSessions].value;
  forest_begin();
  const double start = omp_get_wtime();
  for (int shift = 0; shift < forest.passes; ++shift) run_shift(shift);
  const double seconds = omp_get_wtime() - start;
  forest_end();
  double bytes = 0;
  for (int s = 0; s < session_count; ++s) {
    check(s);
    bytes += 2.0 * (double)(sessions[s].length * sizeof(word)) * (double)options[kRequests].value * forest.passes;
    forest_release(sessions[s].data, sessions[s].length * sizeof(word));
  }
  forest_time("requests", bytes, seconds);
}

int main(int argc, char** argv) {
  return forest_main(argc, argv, &(struct forest_program){"server", options, 2, repeat});
}
