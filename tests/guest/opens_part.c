// A program that is not linked with any OpenMP runtime opens an object that is, and closes it again.
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  for (int i = 0; i < 3; ++i) {
    void* part = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (part == NULL) return fprintf(stderr, "%s\n", dlerror()), 3;
    int (*team)(int) = (int (*)(int))dlsym(part, "part_team");
    if (team == NULL || team(4) != 4) return 4;
    if (dlclose(part) != 0) return 5;
  }
  return 0;
}
