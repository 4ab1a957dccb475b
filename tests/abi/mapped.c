/* Which OpenMP runtimes are mapped into this process? */
#include <stdio.h>
#include <string.h>

/* 1 when libhearth.so is, and no other is. */
int only_hearth_is_mapped(void) {
  char line[4096];
  int hearth = 0, other = 0;
  FILE* maps = fopen("/proc/self/maps", "r");
  if (maps == NULL) return 0;
  while (fgets(line, sizeof line, maps) != NULL) {
    if (strstr(line, "libhearth.so") != NULL)
      hearth = 1;
    else if (strstr(line, "libgomp") != NULL || strstr(line, "libomp") != NULL ||
             strstr(line, "libiomp") != NULL)
      other = 1;
  }
  fclose(maps);
  return hearth && !other;
}

/* Fortran's name for it. */
int only_hearth_is_mapped_(void) { return only_hearth_is_mapped(); }
