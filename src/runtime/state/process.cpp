#include "runtime/state/process.h"

#include <pthread.h>

namespace hearth::rt {

constinit Process process;

std::size_t stack_size_of_threads() {
  if (process.stack_size != 0) return process.stack_size;
  std::size_t bytes = 0;
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return 0;
  pthread_attr_getstacksize(&attributes, &bytes);
  pthread_attr_destroy(&attributes);
  return bytes;
}

}  // namespace hearth::rt
