// The functions of the C library that ours stand in front of. Looked up once, at the first call; any thread.
#pragma once

#include <ctime>

#include <pthread.h>
#include <threads.h>

namespace hearth::btlp::recorder {

struct Real {
  int (*create)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  int (*join)(pthread_t, void**);
  int (*tryjoin)(pthread_t, void**);
  int (*timedjoin)(pthread_t, void**, const timespec*);
  int (*thrd_join)(thrd_t, int*);
};

const Real& real();

}  // namespace hearth::btlp::recorder
