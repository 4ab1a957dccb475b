// An object with an OpenMP runtime of its own inside, as programs that were linked statically have it.
void GOMP_parallel(void (*function)(void*), void* data, unsigned threads, unsigned flags);
void GOMP_parallel(void (*function)(void*), void* data, unsigned threads, unsigned flags) {
  (void)threads, (void)flags;
  function(data);
}
int part_team(int wanted);
int part_team(int wanted) { return wanted; }
