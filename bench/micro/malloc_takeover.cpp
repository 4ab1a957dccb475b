// links:
// What libhearth-malloc.so costs the blocks that it leaves alone: malloc and free of small sizes, called by
// the same pointers, once the C library's and once those that stand in front of it. The object is taken from
// lib/hearth of this build, or from the path in HEARTH_MALLOC; it is opened here and not preloaded, so that
// both are in one process.
#include <cstdio>
#include <cstdlib>
#include <string>

#include <dlfcn.h>
#include <unistd.h>

#include <benchmark/benchmark.h>

namespace {

struct Calls {
  void* (*allocate)(std::size_t);
  void (*release)(void*);
};

Calls calls_of(void* handle) {
  const Calls calls{reinterpret_cast<void* (*)(std::size_t)>(dlsym(handle, "malloc")),
                    reinterpret_cast<void (*)(void*)>(dlsym(handle, "free"))};
  if (calls.allocate == nullptr || calls.release == nullptr) {
    std::fprintf(stderr, "no malloc: %s\n", dlerror());
    std::exit(1);
  }
  return calls;
}

std::string object() {
  if (const char* path = std::getenv("HEARTH_MALLOC")) return path;
  char self[4096];
  const ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
  std::string path(self, length > 0 ? static_cast<std::size_t>(length) : 0);
  return path.substr(0, path.rfind("/bin/")) + "/lib/hearth/libhearth-malloc.so";
}

/// One block at a time: the shortest way through the allocator.
void one_block(benchmark::State& state, Calls calls) {
  const auto size = static_cast<std::size_t>(state.range(0));
  for (auto _ : state) {
    void* block = calls.allocate(size);
    benchmark::DoNotOptimize(block);
    calls.release(block);
  }
}

/// Many live blocks of many sizes, freed in another order.
void many_blocks(benchmark::State& state, Calls calls) {
  constexpr std::size_t kBlocks = 4096;
  static void* blocks[kBlocks];
  std::size_t next = 1;
  for (auto _ : state) {
    next = next * 6364136223846793005u + 1442695040888963407u;
    void*& block = blocks[next >> 52];
    calls.release(block);
    block = calls.allocate(next >> 32 & 1023);
  }
  for (void*& block : blocks) {
    calls.release(block);
    block = nullptr;
  }
}

void enter(const std::string& who, Calls calls) {
  benchmark::RegisterBenchmark(("one_block/" + who).c_str(), one_block, calls)
      ->Arg(32)
      ->Arg(1024)
      ->Arg(100000);
  benchmark::RegisterBenchmark(("many_blocks/" + who).c_str(), many_blocks, calls);
}

}  // namespace

int main(int argc, char** argv) {
  void* libc = dlopen("libc.so.6", RTLD_NOW);
  void* hearth = dlopen(object().c_str(), RTLD_NOW | RTLD_LOCAL);
  if (libc == nullptr || hearth == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  enter("libc", calls_of(libc));
  enter("behind_hearth", calls_of(hearth));
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
