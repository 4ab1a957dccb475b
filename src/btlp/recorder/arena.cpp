// See arena.h.
#include "btlp/recorder/arena.h"

#include <sys/mman.h>

#include "base/log.h"

namespace hearth::btlp::recorder {
namespace {

constexpr std::size_t kChunk = std::size_t{1} << 20U;

char* free_from = nullptr;
char* free_to = nullptr;
std::size_t total = 0;

char* from_kernel(std::size_t bytes) {
  void* got = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (got == MAP_FAILED) fatal("the recording of this program needs %zu more bytes, and there are none", bytes);
  total += bytes;
  return static_cast<char*>(got);
}

}  // namespace

void* take(std::size_t bytes) {
  bytes = (bytes + 15) / 16 * 16;
  if (bytes > kChunk / 4) return from_kernel(bytes);
  if (static_cast<std::size_t>(free_to - free_from) < bytes) {
    free_from = from_kernel(kChunk);
    free_to = free_from + kChunk;
  }
  void* result = free_from;
  free_from += bytes;
  return result;
}

std::size_t taken() { return total; }

}  // namespace hearth::btlp::recorder
