// Uses Hearth, and opens an object that brings another runtime.
#include <dlfcn.h>

#include "check.h"

int main(int argc, char** argv) {
  CHECK(argc == 2);
  CHECK(team_of(2) == 2);
  void* part = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  CHECK(part != NULL);
  return 0;
}
