// In the spirit of CPU-X (Stirb 2018, 6.1): threads created in a loop look at the machine every now and then, and the main
// thread draws a table of what they saw. CPU-X draws once a second for ever; this one does it every 5 ms, for so many rounds.
//
// usage: cpu_x THREADS ROUNDS
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 64, LINES = 24, PAUSE_US = 5000 };
static struct {
  long value[LINES];
} seen[MOST];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int rounds;

static void look(char *text, size_t size) {
  int file = open("/proc/stat", O_RDONLY | O_CLOEXEC);
  ssize_t got = file < 0 ? 0 : read(file, text, size - 1);
  text[got < 0 ? 0 : got] = 0;
  if (file >= 0) close(file);
}

static void *sample(void *argument) {
  long self = (long)argument;
  char text[8192];
  for (int round = 0; round < rounds; round++) {
    long value[LINES] = {0};
    look(text, sizeof text);
    int line = 0;
    for (char *at = text; *at && line < LINES; at++)
      if (*at >= '0' && *at <= '9') value[line++] += strtol(at, &at, 10);
    pthread_mutex_lock(&lock);
    memcpy(seen[self].value, value, sizeof value);
    pthread_mutex_unlock(&lock);
    usleep(PAUSE_US);
  }
  return NULL;
}

int main(int argc, char **argv) {
  int threads = argc > 1 ? atoi(argv[1]) : 4;
  rounds = argc > 2 ? atoi(argv[2]) : 100;
  if (threads < 1 || threads > MOST || rounds < 1) return 2;
  pthread_t thread[MOST];
  for (long n = 0; n < threads; n++)
    if (pthread_create(&thread[n], NULL, sample, (void *)n) != 0) return 1;
  char table[MOST * LINES * 12];
  size_t drawn = 0;
  for (int round = 0; round < rounds; round++) {
    char *at = table;
    pthread_mutex_lock(&lock);
    for (int n = 0; n < threads; n++)
      for (int line = 0; line < LINES; line++) at += snprintf(at, 12, "%10ld ", seen[n].value[line] % 1000000000);
    pthread_mutex_unlock(&lock);
    drawn += (size_t)(at - table);
    usleep(PAUSE_US);
  }
  for (int n = 0; n < threads; n++) pthread_join(thread[n], NULL);
  printf("%zu\n", drawn);
  return 0;
}
