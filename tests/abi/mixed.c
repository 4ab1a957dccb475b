/* Objects of gcc and of clang in one program: two ABIs, one runtime. */
#include <stdio.h>

int gcc_part(void);
int clang_part(void);
int only_hearth_is_mapped(void);

int main(void) {
  const int by_gcc = gcc_part();
  const int by_clang = clang_part();
  if (by_gcc != 9 || by_clang != 9 || !only_hearth_is_mapped()) {
    printf("wrong: %d %d\n", by_gcc, by_clang);
    return 1;
  }
  printf("right\n");
  return 0;
}
