// The loops themselves are plain C++ with empty asm where a compiler would see that nobody looks at the
// result; the build gives this file -O3 in every configuration.
#include "survey/measure_kernels.h"

#include <cerrno>
#include <cstring>
#include <ctime>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <random>
#include <string>
#include <thread>

#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace hearth::survey {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// What this thread has had of its CPU: time that others take is not the memory's.
double own_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr int kModeBind = 2;                     // MPOL_BIND
constexpr unsigned long kNodeOfAddress = 1 | 2;  // MPOL_F_NODE | MPOL_F_ADDR
constexpr std::size_t kMaskBits = 1024;
constexpr std::size_t kCpuBytes = CPU_ALLOC_SIZE(8192);

struct NodeBits {
  unsigned long words[kMaskBits / (8 * sizeof(unsigned long))] = {};
  explicit NodeBits(unsigned node) {
    if (node < kMaskBits) words[node / (8 * sizeof(long))] |= 1UL << (node % (8 * sizeof(long)));
  }
};

// The node of a page, or -1.
int node_of(void* page) {
  int node = -1;
  const long done = syscall(SYS_get_mempolicy, &node, nullptr, 0, page, kNodeOfAddress);
  return done == 0 ? node : -1;
}

// Whether the kernel backs this mapping with huge pages.
bool has_huge_pages(const char* begin) {
  std::ifstream maps("/proc/self/smaps");
  std::string line;
  bool inside = false;
  while (std::getline(maps, line)) {
    std::uint64_t from = 0;
    std::uint64_t to = 0;
    char dash = 0;
    if (std::sscanf(line.c_str(), "%lx%c%lx ", &from, &dash, &to) == 3 && dash == '-') {
      const auto address = reinterpret_cast<std::uint64_t>(begin);
      inside = from <= address && address < to;
    } else if (inside && line.compare(0, 14, "AnonHugePages:") == 0) {
      return std::atol(line.c_str() + 14) > 0;
    }
  }
  return false;
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// One thread's loop: whole chunks until told to stop. Returns bytes per nanosecond.
double stream_until(const std::atomic<bool>& stop, const Streamer& part, Walk walk) {
  constexpr std::size_t kChunk = 256 << 10;
  constexpr std::size_t kRow = 256;
  constexpr std::size_t kPitch = 4096 + kRow;
  auto* const words = reinterpret_cast<std::uint64_t*>(part.data);
  const std::size_t chunks = std::max<std::size_t>(1, part.bytes / kChunk);
  const std::size_t chunk_bytes = std::min(kChunk, part.bytes);
  std::uint64_t sum = 0;
  std::uint64_t random = 88172645463325252ULL + part.cpu;
  std::uint64_t moved = 0;
  std::size_t at = 0;
  const Clock::time_point start = Clock::now();
  while (!stop.load(std::memory_order_relaxed)) {
    std::uint64_t* const chunk = words + at * (kChunk / 8);
    if (walk == Walk::read) {
      std::uint64_t s0 = 0, s1 = 0, s2 = 0, s3 = 0;
      for (std::size_t i = 0; i + 4 <= chunk_bytes / 8; i += 4) {
        s0 += chunk[i];
        s1 += chunk[i + 1];
        s2 += chunk[i + 2];
        s3 += chunk[i + 3];
      }
      sum += s0 + s1 + s2 + s3;
      moved += chunk_bytes;
    } else if (walk == Walk::write) {
      for (std::size_t i = 0; i < chunk_bytes / 8; ++i) {
        chunk[i] = moved;
        asm volatile("" : : : "memory");  // or it becomes a memset, which may write past the caches
      }
      moved += chunk_bytes;
    } else if (walk == Walk::strided) {
      // Rows of four lines, far apart; the rows in between come in later passes.
      const std::size_t rows = part.bytes / kPitch;
      const char* row = part.data + (at % 16) * kRow;
      for (std::size_t r = 0; r + 1 < rows && r < 1024; ++r) {
        const auto* line =
            reinterpret_cast<const std::uint64_t*>(row + ((r + at * 1024) % (rows - 1)) * kPitch);
        for (std::size_t i = 0; i < kRow / 8; ++i) sum += line[i];
        moved += kRow;
      }
    } else {
      const std::size_t lines = part.bytes / 64;
      for (std::size_t i = 0; i < 4096; ++i) {
        random = random * 6364136223846793005ULL + 1442695040888963407ULL;
        sum += words[((random >> 20) % lines) * 8];
      }
      moved += 4096 * 64;
    }
    at = (at + 1) % chunks;
  }
  asm volatile("" : : "r"(sum));
  const double nanoseconds = seconds_since(start) * 1e9;
  return nanoseconds > 0 ? static_cast<double>(moved) / nanoseconds : 0;
}

// All streamers, from the moment when each is on its CPU; `meanwhile` runs on this thread.
template <class Meanwhile>
double stream_while(const std::vector<Streamer>& streamers, Walk walk, const Meanwhile& meanwhile) {
  std::atomic<bool> stop{false};
  std::atomic<bool> go{false};
  std::atomic<std::size_t> ready{0};
  std::vector<double> rates(streamers.size(), 0);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < streamers.size(); ++i) {
    threads.emplace_back([&, i] {
      const Pinned pinned(streamers[i].cpu);
      // `ready` and `go`: each release here pairs with the acquire there. Nothing but the meeting hangs on them.
      ready.fetch_add(1, std::memory_order_release);
      while (!go.load(std::memory_order_acquire)) std::this_thread::yield();
      rates[i] = stream_until(stop, streamers[i], walk);
    });
  }
  while (ready.load(std::memory_order_acquire) < streamers.size()) std::this_thread::yield();
  go.store(true, std::memory_order_release);
  meanwhile();
  stop.store(true, std::memory_order_relaxed);
  double sum = 0;
  for (std::size_t i = 0; i < threads.size(); ++i) {
    threads[i].join();
    sum += rates[i];
  }
  return sum;
}

}  // namespace

Pinned::Pinned(unsigned cpu) : before_(kCpuBytes) {
  if (sched_getaffinity(0, before_.size(), reinterpret_cast<cpu_set_t*>(before_.data())) != 0) return;
  std::vector<unsigned char> wanted(kCpuBytes);
  CPU_SET_S(cpu, wanted.size(), reinterpret_cast<cpu_set_t*>(wanted.data()));
  pinned_ = sched_setaffinity(0, wanted.size(), reinterpret_cast<const cpu_set_t*>(wanted.data())) == 0;
}

Pinned::~Pinned() {
  if (pinned_) sched_setaffinity(0, before_.size(), reinterpret_cast<const cpu_set_t*>(before_.data()));
}

Array::Array(std::size_t bytes, unsigned node, bool only_node, unsigned touch_cpu, bool cpu_is_near) {
  bytes = (bytes + kHugePage - 1) / kHugePage * kHugePage;
  void* const got = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (got == MAP_FAILED) return;
  data_ = static_cast<char*>(got);
  bytes_ = bytes;
  madvise(data_, bytes, MADV_HUGEPAGE);
  bool bound = only_node;
  if (!only_node) {
    const NodeBits bits(node);
    bound = syscall(SYS_mbind, data_, bytes, kModeBind, bits.words, kMaskBits + 1, 0) == 0;
    if (!bound) bind_error_ = errno;
    if (!bound && !cpu_is_near) return;
  }
  {
    const Pinned pinned(touch_cpu);
    std::memset(data_, 1, bytes);
  }
  huge_ = has_huge_pages(data_);
  if (only_node) {
    binding_ = Binding::only_node;
    return;
  }
  binding_ = bound ? Binding::bound : Binding::first_touch;
  for (std::size_t at = 0; at < bytes; at += std::max(kHugePage, bytes / 64)) {
    const int where = node_of(data_ + at);
    if (where < 0) {
      binding_ = Binding::first_touch;
      break;
    }
    if (where != static_cast<int>(node)) {
      binding_ = Binding::missed;
      break;
    }
  }
}

Array::~Array() {
  if (data_ != nullptr) munmap(data_, bytes_);
}

void lay_cycle(const Array& array, std::size_t bytes, std::size_t line) {
  const std::size_t lines = std::max<std::size_t>(2, std::min(bytes, array.bytes()) / line);
  // Sattolo's shuffle makes one cycle through all; the lines' own first words hold the permutation.
  const auto word = [&](std::size_t i) -> std::uint64_t& {
    return *reinterpret_cast<std::uint64_t*>(array.data() + i * line);
  };
  for (std::size_t i = 0; i < lines; ++i) word(i) = i;
  std::mt19937_64 random(1);
  for (std::size_t i = lines - 1; i > 0; --i) std::swap(word(i), word(random() % i));
  for (std::size_t i = 0; i < lines; ++i)
    word(i) = reinterpret_cast<std::uint64_t>(array.data() + word(i) * line);
}

double chase_ns(const Array& array, unsigned cpu, double seconds, bool writing) {
  const Pinned pinned(cpu);
  constexpr std::size_t kSteps = 16384;
  auto* at = reinterpret_cast<std::uint64_t*>(array.data());
  std::vector<double> pieces;
  const Clock::time_point begin = Clock::now();
  // The first piece warms what is not meant: the TLB, and the clock.
  for (bool warm = false; pieces.size() < 3 || seconds_since(begin) < seconds; warm = true) {
    const double start = own_seconds();
    if (writing) {
      for (std::size_t i = 0; i < kSteps; ++i) {
        auto* const next = reinterpret_cast<std::uint64_t*>(*at);
        at[1] = i;
        at = next;
      }
    } else {
      for (std::size_t i = 0; i < kSteps; ++i) at = reinterpret_cast<std::uint64_t*>(*at);
    }
    asm volatile("" : "+r"(at) : : "memory");
    if (warm) pieces.push_back((own_seconds() - start) * 1e9 / kSteps);
  }
  return median(std::move(pieces));
}

double stream_gbs(const std::vector<Streamer>& streamers, Walk walk, double seconds) {
  return stream_while(streamers, walk,
                      [&] { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); });
}

double loaded_ns(const Array& array, unsigned cpu, const std::vector<Streamer>& others, double seconds) {
  double latency = 0;
  stream_while(others, Walk::read, [&] { latency = chase_ns(array, cpu, seconds, false); });
  return latency;
}

double clock_ghz(unsigned cpu, double seconds) {
  const Pinned pinned(cpu);
  constexpr std::size_t kRounds = 100'000;
  double best = 0;
  const Clock::time_point begin = Clock::now();
  do {
    const double start = own_seconds();
    std::uint64_t value = 1;
    for (std::size_t i = 0; i < kRounds; ++i) {
      // Sixteen, each from the one before, so that the loop's own costs vanish beside them.
#define HEARTH_ADD \
  value += 1;      \
  asm volatile("" : "+r"(value));
      HEARTH_ADD HEARTH_ADD HEARTH_ADD HEARTH_ADD HEARTH_ADD HEARTH_ADD HEARTH_ADD HEARTH_ADD HEARTH_ADD
          HEARTH_ADD HEARTH_ADD HEARTH_ADD HEARTH_ADD HEARTH_ADD HEARTH_ADD HEARTH_ADD
#undef HEARTH_ADD
    }
    best = std::max(best, 16.0 * kRounds / ((own_seconds() - start) * 1e9));
  } while (seconds_since(begin) < seconds);
  return best;
}

MoveCost move_cost(const Array& array, std::size_t pages, unsigned to, unsigned back) {
  const auto page_bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  pages = std::min(pages, array.bytes() / page_bytes);
  madvise(array.data(), pages * page_bytes, MADV_NOHUGEPAGE);
  std::vector<void*> addresses(pages);
  std::vector<int> status(pages);
  for (std::size_t i = 0; i < pages; ++i) addresses[i] = array.data() + i * page_bytes;
  const auto move = [&](std::size_t count, unsigned node) {
    const std::vector<int> nodes(count, static_cast<int>(node));
    const Clock::time_point start = Clock::now();
    const long done = syscall(SYS_move_pages, 0, count, addresses.data(), nodes.data(), status.data(), 2);
    const double microseconds = seconds_since(start) * 1e6;
    return done == 0 && status[0] == static_cast<int>(node) ? microseconds : -1;
  };
  // There and back, the first time to split huge pages.
  if (move(pages, to) < 0 || move(pages, back) < 0) return {};
  std::vector<double> one;
  std::vector<double> many;
  for (int round = 0; round < 5; ++round) {
    many.push_back(move(pages, to));
    move(pages, back);
    one.push_back(move(1, to));
    move(1, back);
  }
  return {median(one), median(many)};
}

double move_thread_us(unsigned from, unsigned to, double seconds) {
  const Pinned pinned(from);
  if (!pinned) return -1;
  std::vector<double> moves;
  const Clock::time_point begin = Clock::now();
  do {
    const Clock::time_point start = Clock::now();
    const Pinned there(to);
    if (!there) return -1;
    moves.push_back(seconds_since(start) * 1e6);
  } while (moves.size() < 5 || (seconds_since(begin) < seconds && moves.size() < 10'000));
  return median(std::move(moves));
}

}  // namespace hearth::survey
