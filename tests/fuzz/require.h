// REQUIRE(condition): what must hold of every input; a fuzzer saves the one of which it does not.
#pragma once

#include <cstdio>
#include <cstdlib>

#define REQUIRE(condition)                                                 \
  do {                                                                     \
    if (!(condition)) {                                                    \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                        \
    }                                                                      \
  } while (0)
