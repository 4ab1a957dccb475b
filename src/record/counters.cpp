#include "record/counters.h"

#include <cerrno>
#include <cstring>

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace hearth::record {
namespace {

constexpr std::uint64_t kEvents[kCounters] = {PERF_COUNT_HW_CPU_CYCLES, PERF_COUNT_HW_INSTRUCTIONS,
                                              PERF_COUNT_HW_CACHE_MISSES};

#if defined(__x86_64__)
// The protocol of linux/perf_event.h, for the thread's own page: the kernel writes it on this very processor, so the
// fences pair with the switch to the kernel and back, and have to order the compiler's loads only. False when the counter is not on the processor now, or never is for us.
bool read_here(const volatile perf_event_mmap_page* page, std::uint64_t& value) {
  for (;;) {
    const std::uint32_t sequence = page->lock;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    const std::uint32_t index = page->index;
    if (page->cap_user_rdpmc == 0 || index == 0) return false;
    const unsigned width = page->pmc_width;
    auto count = static_cast<std::int64_t>(__builtin_ia32_rdpmc(static_cast<int>(index - 1)) << (64 - width));
    count >>= 64 - width;
    value = static_cast<std::uint64_t>(page->offset + count);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);  // pairs with the kernel's writing, as the first
    if (page->lock == sequence) return true;
  }
}
#else
bool read_here(const volatile perf_event_mmap_page*, std::uint64_t&) { return false; }
#endif

// Each event has a number of its own; a descriptor that the program has closed, and got for something else, has
// another one or none. (All events share one inode.)
bool is_event(int file, std::uint64_t id) {
  std::uint64_t now = 0;
  return file >= 0 && ioctl(file, PERF_EVENT_IOC_ID, &now) == 0 && now == id;
}

}  // namespace

bool Counters::open() {
  for (int i = 0; i < kCounters; ++i) {
    perf_event_attr what;
    std::memset(&what, 0, sizeof what);
    what.type = PERF_TYPE_HARDWARE;
    what.size = sizeof what;
    what.config = kEvents[i];
    what.exclude_kernel = 1;
    what.exclude_hv = 1;
    const long file = syscall(SYS_perf_event_open, &what, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (file < 0) {
      const int error = errno;
      close();
      errno = error;
      return false;
    }
    files_[i] = static_cast<int>(file);
    if (ioctl(files_[i], PERF_EVENT_IOC_ID, &ids_[i]) != 0) ids_[i] = 0;  // never 0: such a one is not read
    void* page =
        mmap(nullptr, static_cast<std::size_t>(sysconf(_SC_PAGESIZE)), PROT_READ, MAP_SHARED, files_[i], 0);
    pages_[i] = page == MAP_FAILED ? nullptr : page;
  }
  return true;
}

void Counters::close() {
  for (int i = 0; i < kCounters; ++i) {
    if (pages_[i] != nullptr) munmap(pages_[i], static_cast<std::size_t>(sysconf(_SC_PAGESIZE)));
    if (is_event(files_[i], ids_[i])) ::close(files_[i]);
    pages_[i] = nullptr;
    files_[i] = -1;
  }
}

void Counters::read(std::uint64_t (&values)[kCounters]) const {
  for (int i = 0; i < kCounters; ++i) {
    values[i] = 0;
    if (pages_[i] != nullptr && read_here(static_cast<const perf_event_mmap_page*>(pages_[i]), values[i]))
      continue;
    if (!is_event(files_[i], ids_[i])) continue;
    if (::read(files_[i], &values[i], sizeof values[i]) != static_cast<ssize_t>(sizeof values[i]))
      values[i] = 0;
  }
}

}  // namespace hearth::record
