#include "record/page_faults.h"

#include <cerrno>
#include <cstring>

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace hearth::record {
namespace {

std::size_t page_bytes() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

}  // namespace

bool PageFaults::open() {
  perf_event_attr what;
  std::memset(&what, 0, sizeof what);
  what.type = PERF_TYPE_SOFTWARE;
  what.size = sizeof what;
  what.config = PERF_COUNT_SW_PAGE_FAULTS;
  what.sample_period = kEvery;
  what.sample_type = PERF_SAMPLE_ADDR;
  what.exclude_kernel = 1;
  what.exclude_hv = 1;
  const long file = syscall(SYS_perf_event_open, &what, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
  if (file < 0) return false;
  file_ = static_cast<int>(file);
  if (ioctl(file_, PERF_EVENT_IOC_ID, &id_) != 0) id_ = 0;
  void* const memory =
      mmap(nullptr, (1 + kDataPages) * page_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
  if (memory == MAP_FAILED) {  // the kernel locks this memory, and lets a user lock so much (perf_event_mlock_kb)
    const int error = errno;
    ::close(file_);
    file_ = -1;
    errno = error;
    return false;
  }
  page_ = memory;
  head_ = reinterpret_cast<const std::uint64_t*>(&static_cast<perf_event_mmap_page*>(page_)->data_head);
  return true;
}

void PageFaults::close() {
  if (page_ == nullptr) return;
  munmap(page_, (1 + kDataPages) * page_bytes());
  // A descriptor that the program has closed, and got for something else, has another number or none.
  std::uint64_t now = 0;
  if (ioctl(file_, PERF_EVENT_IOC_ID, &now) == 0 && now == id_) ::close(file_);
  page_ = nullptr;
  head_ = nullptr;
  file_ = -1;
}

std::size_t PageFaults::read(std::uint64_t* addresses, std::size_t room) {
  if (page_ == nullptr) return 0;
  // Acquire as in any().
  const std::uint64_t head = __atomic_load_n(head_, __ATOMIC_ACQUIRE);
  const auto* const ring = static_cast<const char*>(page_) + page_bytes();
  const std::size_t size = kDataPages * page_bytes();
  const auto word_at = [&](std::uint64_t at) {  // records are multiples of 8 bytes: no word is torn by the ring's end
    std::uint64_t word;
    std::memcpy(&word, ring + at % size, sizeof word);
    return word;
  };
  std::size_t count = 0;
  while (tail_ != head && count < room) {
    const std::uint64_t first = word_at(tail_);
    perf_event_header header;
    std::memcpy(&header, &first, sizeof header);
    if (header.size < sizeof header) break;  // not the kernel's
    if (header.type == PERF_RECORD_SAMPLE) addresses[count++] = word_at(tail_ + sizeof header);
    if (header.type == PERF_RECORD_LOST) lost_ += word_at(tail_ + sizeof header + sizeof(std::uint64_t));
    tail_ += header.size;
  }
  // Release: what was read is read before the kernel writes there again.
  __atomic_store_n(&static_cast<perf_event_mmap_page*>(page_)->data_tail, tail_, __ATOMIC_RELEASE);
  return count;
}

}  // namespace hearth::record
