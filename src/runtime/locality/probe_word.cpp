#include "runtime/locality/probe_word.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/cpu.h"
#include "memory/managed.h"
#include "runtime/state/thread.h"
#include "runtime/tools/probe_load.h"

namespace hearth::rt {
namespace {

// The writable part of the program itself, not of its libraries, which can be closed; and where the heap
// begins, the last to be written: 0 until then.
struct OwnMemory {
  std::atomic<std::uint64_t> data_begin{UINT64_MAX}, data_end{0}, heap_begin{0};
};
constinit OwnMemory own_memory;

int find_data(dl_phdr_info* info, std::size_t, void*) {
  std::uint64_t first = UINT64_MAX, last = 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = info->dlpi_phdr[i];
    if (part.p_type != PT_LOAD || (part.p_flags & PF_W) == 0) continue;
    const std::uint64_t begin = info->dlpi_addr + part.p_vaddr;
    first = std::min(first, begin);
    last = std::max(last, begin + part.p_memsz);
  }
  own_memory.data_begin.store(first, std::memory_order_relaxed);
  own_memory.data_end.store(last, std::memory_order_relaxed);
  return 1;  // the first is the program
}

// start_brk, the 47th field of /proc/self/stat; the second is a name in brackets, which may hold anything.
std::uint64_t beginning_of_heap() {
  const int file = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
  if (file < 0) return UINT64_MAX;
  char text[2048];
  const ssize_t length = read(file, text, sizeof(text) - 1);
  close(file);
  if (length <= 0) return UINT64_MAX;
  text[length] = 0;
  const char* at = std::strrchr(text, ')');
  for (int field = 2; at != nullptr && field < 47; ++field) at = std::strchr(at + 1, ' ');
  const std::uint64_t begin = at != nullptr ? std::strtoull(at, nullptr, 10) : 0;
  return begin != 0 ? begin : UINT64_MAX;
}

[[gnu::cold]] [[gnu::noinline]] std::uint64_t find_own_memory() {
  dl_iterate_phdr(find_data, nullptr);
  const std::uint64_t heap = beginning_of_heap();
  own_memory.heap_begin.store(heap, std::memory_order_release);  // pairs with the acquire below
  return heap;
}

[[gnu::cold]] [[gnu::noinline]] void look_at_stack(Thread* self) {
  self->stack_end = 1;  // not to be found
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return;
  void* begin = nullptr;
  std::size_t bytes = 0;
  if (pthread_attr_getstack(&attributes, &begin, &bytes) == 0) {
    self->stack_begin = reinterpret_cast<std::uintptr_t>(begin);
    self->stack_end = self->stack_begin + bytes;
  }
  pthread_attr_destroy(&attributes);
}

}  // namespace

// A coroutine's stack is elsewhere.
bool is_on_stack(Thread* self, std::uint64_t address) {
  if (HEARTH_UNLIKELY(self->stack_end == 0)) look_at_stack(self);
  const auto top = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  return address >= top && address < self->stack_end && top >= self->stack_begin;
}

namespace {

bool is_own_data(std::uint64_t address) {
  return address >= own_memory.data_begin.load(std::memory_order_relaxed) &&
         address < own_memory.data_end.load(std::memory_order_relaxed);
}

// sbrk(0) is a load in the C library. Another thread may give the heap's end back at any time.
bool is_on_heap(std::uint64_t heap_begin, std::uint64_t address) {
  return address >= heap_begin && address < reinterpret_cast<std::uintptr_t>(sbrk(0));
}

bool stays_readable(Thread* self, std::uint64_t address) {
  if (memory::owner_table.manages(address)) {
    memory::ManagedBlock block;
    return memory::block_at(reinterpret_cast<const void*>(address), block) && block.in_slab;
  }
  return is_own_data(address) || is_on_stack(self, address);
}

}  // namespace

std::uint64_t program_word(Thread* self, std::uint64_t address) {
  const auto* object = reinterpret_cast<const std::uint64_t*>(address);
  std::uint64_t heap = own_memory.heap_begin.load(std::memory_order_acquire);  // pairs with the release above
  if (HEARTH_UNLIKELY(heap == 0)) heap = find_own_memory();
  if (stays_readable(self, address)) return __atomic_load_n(object, __ATOMIC_RELAXED);
  if (is_on_heap(heap, address) && catches_faults()) return probe_load(address);
  // Fails where a load would crash.
  std::uint64_t value = 0;
  iovec to = {&value, sizeof(value)}, from = {reinterpret_cast<void*>(address), sizeof(value)};
  return process_vm_readv(getpid(), &to, 1, &from, 1, 0) == sizeof(value) ? value : 0;
}

}  // namespace hearth::rt
