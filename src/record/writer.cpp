#include "record/writer.h"

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <new>

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "base/clock.h"
#include "base/cpu.h"

namespace hearth::record {
namespace {

// Words at a block's end, for the record that nothing more comes.
constexpr std::size_t kReserved = kWords[static_cast<unsigned>(Kind::stopped)];

// The folder, '/', and what this process's files begin with: its number, and another one if the process that
// had the number before it has left files.
char prefix[PATH_MAX];
pid_t process_id = 0;
std::atomic<bool> stopped{true};
std::atomic<int> stop_error{0};

// A file beyond RLIMIT_FSIZE would cost the program a signal.
bool fits_limit(std::uint64_t end) {
  rlimit limit{};
  return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || end <= limit.rlim_cur;
}

// One block of the file, from there on; zero or an error. What was written of one that does not fit is taken back.
int write_block(int file, const std::byte* block, off_t from) {
  if (!fits_limit(static_cast<std::uint64_t>(from) + kBlock)) return EFBIG;
  int error = 0;
  for (std::size_t done = 0; done < kBlock && error == 0;) {
    const ssize_t now = pwrite(file, block + done, kBlock - done, from + static_cast<off_t>(done));
    if (now < 0 && errno != EINTR) error = errno;
    if (now == 0) error = ENOSPC;
    if (now > 0) done += static_cast<std::size_t>(now);
  }
  if (error != 0 && ftruncate(file, from) != 0) return error;
  return error;
}

constexpr char kNoRoom[] = "no room for what is recorded";

[[gnu::format(printf, 1, 2)]] void complain(const char* format, ...) {
  char line[PATH_MAX + 256] = "hearth-record: ";
  const std::size_t begin = std::strlen(line);
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(line + begin, sizeof line - begin - 1, format, arguments);
  va_end(arguments);
  const std::size_t length = std::strlen(line);
  line[length] = '\n';
  if (write(STDERR_FILENO, line, length + 1) < 0) return;  // nowhere to say it
}

struct Path {
  Path(std::uint32_t thread, const char* ending) { std::snprintf(text, sizeof text, "%s.%u.%s", prefix, thread, ending); }
  char text[PATH_MAX + 32];
};

std::uint64_t nanoseconds() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1000000000u + static_cast<std::uint64_t>(t.tv_nsec);
}

#if defined(__x86_64__)
enum class CpuFrom { system, rdpid, rdtscp };
CpuFrom cpu_from = CpuFrom::system;

constexpr std::uint32_t kCpuMask = 0xfff;

std::uint32_t read_pid() {
  std::uint64_t value;
  __asm__ volatile("rdpid %0" : "=r"(value));
  return static_cast<std::uint32_t>(value) & kCpuMask;
}

// The kernel keeps cpu | node << 12 in a register that these instructions read; what runs under another
// kernel may see that one's.
template <class Read>
bool agrees(Read read) {
  for (int i = 0; i < 8; ++i) {
    const std::uint32_t before = read();
    const int cpu = sched_getcpu();
    if (before == read() && static_cast<int>(before) != cpu) return false;
  }
  return true;
}

void find_out_clock() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  const bool has_rdpid = __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (c & 1u << 22) != 0;
  if (has_rdpid && agrees(read_pid)) {
    cpu_from = CpuFrom::rdpid;
    return;
  }
  const bool has_rdtscp = __get_cpuid(0x80000001, &a, &b, &c, &d) != 0 && (d & 1u << 27) != 0;
  const auto read = [] {
    unsigned where = 0;
    __builtin_ia32_rdtscp(&where);
    return where & kCpuMask;
  };
  if (has_rdtscp && agrees(read)) cpu_from = CpuFrom::rdtscp;
}
#else
void find_out_clock() {}
#endif

#ifndef MADV_POPULATE_WRITE
constexpr int MADV_POPULATE_WRITE = 23;
#endif

}  // namespace

Moment moment() {
#if defined(__x86_64__)
  if (HEARTH_LIKELY(cpu_from == CpuFrom::rdpid)) return {ticks(), read_pid()};
  if (cpu_from == CpuFrom::rdtscp) {
    unsigned where = 0;
    const std::uint64_t now = __builtin_ia32_rdtscp(&where);
    return {now, where & kCpuMask};
  }
#endif
  const int cpu = sched_getcpu();
  return {ticks(), cpu < 0 ? kNoCpu : static_cast<std::uint32_t>(cpu)};
}

bool open_recording(const char* folder) {
  process_id = getpid();
  int file = -1;
  for (int i = 0; file < 0; ++i) {
    char path[PATH_MAX + 32];
    const int length =
        i == 0 ? std::snprintf(prefix, sizeof prefix, "%s/%d", folder, static_cast<int>(process_id))
               : std::snprintf(prefix, sizeof prefix, "%s/%d-%d", folder, static_cast<int>(process_id), i);
    errno = ENAMETOOLONG;
    if (length < PATH_MAX - 32) {
      std::snprintf(path, sizeof path, "%s.process", prefix);
      file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
      if (file < 0 && errno == EEXIST) continue;
    }
    if (file < 0) {
      complain("nothing can be recorded in %s: %s.", folder, std::strerror(errno));
      return false;
    }
  }
  ::close(file);
  find_out_clock();
  stopped.store(false, std::memory_order_relaxed);
  return true;
}

bool note(const char* format, ...) {
  char line[PATH_MAX + 256];
  va_list arguments;
  va_start(arguments, format);
  int length = std::vsnprintf(line, sizeof line - 1, format, arguments);
  va_end(arguments);
  if (length < 0) return false;
  if (length > static_cast<int>(sizeof line) - 2) length = static_cast<int>(sizeof line) - 2;
  line[length++] = '\n';
  char path[PATH_MAX + 32];
  std::snprintf(path, sizeof path, "%s.process", prefix);
  const int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (file < 0) return false;
  const off_t size = lseek(file, 0, SEEK_END);
  bool good = fits_limit(static_cast<std::uint64_t>(size) + static_cast<std::uint64_t>(length));
  if (!good) errno = EFBIG;
  good = good && write(file, line, static_cast<std::size_t>(length)) == length;
  const int error = errno;
  ::close(file);
  errno = error;
  return good;
}

void stop_recording(const char* what, int error) {
  if (stopped.exchange(true, std::memory_order_relaxed)) return;  // decides who says it, and orders nothing
  stop_error.store(error, std::memory_order_relaxed);
  complain("%s (%s.*): %s. Recording stops here; the program goes on.", what, prefix, std::strerror(error));
  note("stopped %d %s", error, what);
}

bool recording_stopped() { return stopped.load(std::memory_order_relaxed); }

void leave_recording() { stopped.store(true, std::memory_order_relaxed); }

Writer* Writer::make(std::uint32_t thread) {
  if (recording_stopped() || thread >= kMostThreads) return nullptr;
  void* memory = mmap(nullptr, sizeof(Writer), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    stop_recording("no memory for a thread's recording", errno);
    return nullptr;
  }
  auto* writer = new (memory) Writer(thread);
  writer->block_ = map_open_block(thread);
  if (writer->block_ == nullptr) {
    munmap(memory, sizeof(Writer));
    return nullptr;
  }
  writer->open_block();
  return writer;
}

std::byte* Writer::map_open_block(std::uint32_t thread) {
  static constexpr std::byte kZeros[kBlock] = {};
  const int file = open(Path(thread, "open").text, O_RDWR | O_CLOEXEC | O_CREAT | O_EXCL, 0644);
  int error = file < 0 ? errno : 0;
  // Written and not merely allocated: then they lie in the page cache, where mapping them costs a quarter.
  if (error == 0) error = write_block(file, kZeros, 0);
  void* mapped = MAP_FAILED;
  if (error == 0) {
    mapped = mmap(nullptr, kBlock, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (mapped == MAP_FAILED) error = errno;
    // One call instead of a fault for each page; kernels before 5.14 do not know it.
    if (error == 0) madvise(mapped, kBlock, MADV_POPULATE_WRITE);
  }
  if (file >= 0) ::close(file);
  if (error == 0) return static_cast<std::byte*>(mapped);
  stop_recording(kNoRoom, error);
  return nullptr;
}

bool Writer::append_block() {
  const auto at = static_cast<off_t>((blocks_ - 1) * kBlock);
  // A file that was moved or removed is not made anew.
  const int file = open(Path(thread_, "spill").text, O_WRONLY | O_CLOEXEC | (at == 0 ? O_CREAT | O_EXCL : 0), 0644);
  const int error = file < 0 ? errno : write_block(file, block_, at);
  if (file >= 0) ::close(file);
  if (error != 0) stop_recording(kNoRoom, error);
  return error == 0;
}

void Writer::open_block() {
  auto* head = reinterpret_cast<BlockHead*>(block_);
  head->process = static_cast<std::uint32_t>(process_id);
  head->thread = thread_;
  head->number = blocks_++;
  head->ticks = ticks();
  head->nanoseconds = nanoseconds();
  __atomic_store_n(&head->magic, kBlockMagic, __ATOMIC_RELEASE);  // last: release as in publish()
  said = Said();
  next_ = reinterpret_cast<std::uint64_t*>(head + 1);
  end_ = reinterpret_cast<std::uint64_t*>(head) + kBlock / sizeof(std::uint64_t) - kReserved;
}

void Writer::seal() {
  auto* head = reinterpret_cast<BlockHead*>(block_);
  auto* words = reinterpret_cast<std::uint64_t*>(head + 1);
  const auto count = static_cast<std::size_t>(next_ - words);
  // It may have been sealed before. Release: with the new length, there is no old checksum.
  __atomic_store_n(&head->checksum, 0, __ATOMIC_RELEASE);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  head->used = count * sizeof(std::uint64_t);
  // Release as in publish(): a block with a checksum is whole.
  __atomic_store_n(&head->checksum, checksum_of(*head, words, count), __ATOMIC_RELEASE);
}

// Out of line: once in some thousand records.
[[gnu::noinline]] bool Writer::turn() {
  if (next_ == nullptr) return false;  // stopped before
  if (!recording_stopped()) seal();
  if (recording_stopped() || !append_block()) {
    next_[1] = static_cast<std::uint64_t>(stop_error.load(std::memory_order_relaxed));
    publish(Kind::stopped, kReserved, ticks());
    seal();
    next_ = end_ = nullptr;
    return false;
  }
  // Without its magic it is no block, as long as there are old words in it. Release, so that no zero comes before.
  __atomic_store_n(&reinterpret_cast<BlockHead*>(block_)->magic, 0, __ATOMIC_RELEASE);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  std::memset(block_, 0, kBlock);
  open_block();
  return true;
}

void Writer::close() {
  if (next_ != nullptr) seal();
  const Path open(thread_, "open");
  // What cannot be made part of the spill file stays where it is, and is read there.
  if (blocks_ == 1)
    rename(open.text, Path(thread_, "spill").text);
  else if (next_ != nullptr && append_block())
    unlink(open.text);
  munmap(block_, kBlock);
  note("thread %u %llu", thread_, static_cast<unsigned long long>(blocks_));
  munmap(this, sizeof(Writer));
}

}  // namespace hearth::record
