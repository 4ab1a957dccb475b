// What the programs of this folder check. main() ends with 1 if something was wrong.
#pragma once

#include <stdio.h>

static int failures;

static void expect(int right, const char* what) {
  if (right) return;
  printf("wrong: %s\n", what);
#pragma omp atomic
  ++failures;
}
