// Two last-level caches on one node, of which the kernel knows only the node: memory that nobody distributed
// is given to both in equal parts, block by block, stays with the one that has it, and so do its tasks.
#include "check.h"

void hearth_task_footprint(const void* begin, size_t length, int access);
size_t hearth_bytes_by_location(const void* begin, size_t length, size_t* bytes, int count);
int hearth_num_locations(void);
int hearth_location(void);
int hearth_location_node(int location);

enum { kBlocks = 33, kBytes = 256 << 10, kReadWrite = 3, kRounds = 6 };

static char* block[kBlocks];
static int ran_at[kBlocks], home[kBlocks];

static int home_of(const char* begin) {
  size_t bytes[2];
  const size_t unknown = hearth_bytes_by_location(begin, kBytes, bytes, 2);
  CHECK(unknown == 0 && (bytes[0] == 0 || bytes[1] == 0));
  return bytes[1] != 0;
}

int main(void) {
  CHECK(hearth_num_locations() == 2);
  CHECK(hearth_location_node(0) == hearth_location_node(1));
  for (int i = 0; i < kBlocks; ++i) {
    block[i] = aligned_alloc(4096, kBytes);
    CHECK(block[i] != NULL);
    memset(block[i], 1, kBytes);
  }
  for (int round = 0; round < kRounds; ++round) {
#pragma omp parallel num_threads(2)
    {
#pragma omp barrier
#pragma omp single
      for (int i = 0; i < kBlocks; ++i) {
        hearth_task_footprint(block[i], kBytes, kReadWrite);
#pragma omp task firstprivate(i)
        {
          ran_at[i] = hearth_location();
          memset(block[i], round, kBytes);
        }
      }
    }
    int at_second = 0;
    for (int i = 0; i < kBlocks; ++i) {
      CHECK(round == 0 || home_of(block[i]) == home[i]);
      home[i] = home_of(block[i]);
      CHECK(ran_at[i] == home[i]);
      at_second += home[i];
    }
    CHECK(at_second == kBlocks / 2 || at_second == kBlocks / 2 + 1);
    if (round == kRounds / 2) usleep(1200 * 1000);  // what is known grows old, and the kernel is asked again
  }
  return 0;
}
