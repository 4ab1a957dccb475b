/* Programs of the days of OpenMP 2.5 ask for the lock API at its old version, with an eight-byte nestable
 * lock. */
#include <stdio.h>
#include <string.h>

__asm__(".symver omp_init_nest_lock, omp_init_nest_lock@OMP_1.0");
__asm__(".symver omp_set_nest_lock, omp_set_nest_lock@OMP_1.0");
__asm__(".symver omp_unset_nest_lock, omp_unset_nest_lock@OMP_1.0");
__asm__(".symver omp_test_nest_lock, omp_test_nest_lock@OMP_1.0");
__asm__(".symver omp_init_lock, omp_init_lock@OMP_1.0");
__asm__(".symver omp_test_lock, omp_test_lock@OMP_1.0");
void omp_init_nest_lock(void*);
void omp_set_nest_lock(void*);
void omp_unset_nest_lock(void*);
int omp_test_nest_lock(void*);
void omp_init_lock(void*);
int omp_test_lock(void*);

int main(void) {
  unsigned char memory[16];
  unsigned lock[2] = {7, 7};
  memset(memory, 0xa5, sizeof memory);
  omp_init_nest_lock(memory);
  omp_set_nest_lock(memory);
  const int depth = omp_test_nest_lock(memory);
  omp_unset_nest_lock(memory);
  omp_unset_nest_lock(memory);
  for (int i = 8; i < 16; ++i)
    if (memory[i] != 0xa5) return puts("wrong: more than eight bytes"), 1;
  omp_init_lock(lock);
  const int first = omp_test_lock(lock), second = omp_test_lock(lock);
  if (depth != 2 || first != 1 || second != 0 || lock[1] != 7) return puts("wrong"), 1;
  puts("right");
  return 0;
}
