// See live.h.
#include "runtime/state/live.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <new>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/kept_file.h"
#include "runtime/state/thread.h"
#include "runtime/state/thread_table.h"

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif

namespace hearth::rt::live_page {
namespace {

constinit char* page = nullptr;  // written while there is one thread
constinit KeptFile file;
constinit Facts facts_now;

LiveHeader& header() { return *reinterpret_cast<LiveHeader*>(page); }
LiveLine* line_at(std::size_t index) {
  return reinterpret_cast<LiveLine*>(page + kLiveHeaderBytes + index * sizeof(LiveLine));
}

int make_file() {
  // A larger file than the limit on file sizes allows would end the program by SIGXFSZ.
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur < kLiveBytes) return -1;
  // Kernels before 6.3 do not know that it is not to be executed, and some later ones demand that it is said.
  const unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
  long made = syscall(SYS_memfd_create, kLiveName, flags | MFD_NOEXEC_SEAL);
  if (made < 0 && errno == EINVAL) made = syscall(SYS_memfd_create, kLiveName, flags);
  if (made < 0) return -1;
  const int fd = static_cast<int>(made);
  // What is there of it stays there: this process may use the whole mapping.
  if (ftruncate(fd, static_cast<off_t>(kLiveBytes)) == 0 && fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) == 0)
    return fd;
  ::close(fd);
  return -1;
}

/// False: there is no page.
bool map_page() {
  const int errno_before = errno;
  const int fd = make_file();
  void* const where = fd < 0 ? MAP_FAILED : mmap(nullptr, kLiveBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (where != MAP_FAILED && file.keep(fd))
    page = static_cast<char*>(where);
  else if (where != MAP_FAILED)
    munmap(where, kLiveBytes);
  else if (fd >= 0)
    ::close(fd);
  errno = errno_before;
  return page != nullptr;
}

void write_header() {
  LiveHeader& to = header();
  to.layout = kLiveLayout;
  to.oldest_reader = kLiveLayout;
  to.header_bytes = kLiveHeaderBytes;
  to.line_bytes = sizeof(LiveLine);
  to.lines = kLiveLines;
  to.pid = static_cast<std::int32_t>(getpid());
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  to.since = static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(now.tv_nsec);
  to.locations = facts_now.locations;
  to.deals = facts_now.deals;
  std::snprintf(to.version, sizeof to.version, "%s", HEARTH_VERSION);
  std::snprintf(to.policy, sizeof to.policy, "%s", facts_now.policy);
  // Release: whoever sees the magic sees the rest. Its partner is another process's read(), which copies in order.
  __atomic_store_n(&to.magic, kLiveMagic, __ATOMIC_RELEASE);
}

void count_own_line(Thread* thread) {
  thread->own_line.~LiveLine();
  thread->live = new (&thread->own_line) LiveLine;
}

}  // namespace

void publish(const Facts& facts) {
  facts_now = facts;
  if (map_page()) write_header();
}

void give_line(Thread* thread) {
  if (page == nullptr) return;
  if (static_cast<std::uint32_t>(thread->gtid) >= kLiveLines) {
    __atomic_fetch_add(&header().threads_beyond, 1, __ATOMIC_RELAXED);
    return;
  }
  thread->live = new (line_at(static_cast<std::size_t>(thread->gtid))) LiveLine;
  const auto threads = static_cast<std::uint32_t>(thread->gtid) + 1;
  if (header().threads < threads) __atomic_store_n(&header().threads, threads, __ATOMIC_RELAXED);
}

void begin_thread(Thread* thread, std::int32_t kernel_id) {
  thread->kernel_id = kernel_id;
  thread->live->location.store(-1, std::memory_order_relaxed);  // the object may have been another thread's
  thread->live->team_size.store(0, std::memory_order_relaxed);
  thread->live->kernel_id.store(kernel_id, std::memory_order_relaxed);
}

void end_thread(Thread* thread) {
  thread->live->kernel_id.store(0, std::memory_order_relaxed);
  thread->live->regions_open.store(0, std::memory_order_relaxed);
}

void publish_after_fork(Thread* survivor) {
  const bool had_one = page != nullptr;
  for_each_thread([](Thread* thread, void*) { count_own_line(thread); }, nullptr);
  if (had_one) {
    munmap(page, kLiveBytes);
    page = nullptr;
    file.close();
    if (map_page()) {
      for_each_thread([](Thread* thread, void*) { give_line(thread); }, nullptr);
      write_header();
    }
  }
  if (survivor != nullptr) begin_thread(survivor, static_cast<std::int32_t>(syscall(SYS_gettid)));
}

void publish_moves(std::uint64_t threads, std::uint64_t pages) {
  if (page == nullptr) return;
  __atomic_store_n(&header().threads_moved, threads, __ATOMIC_RELAXED);
  __atomic_store_n(&header().pages_moved, pages, __ATOMIC_RELAXED);
}

}  // namespace hearth::rt::live_page
