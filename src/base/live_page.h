// The page of live counters: how a process with Hearth's library publishes them, and how `hearth top` reads them.
//
// A memory file (memfd) with this name holds one LiveHeader and then one LiveLine for each thread. The runtime writes, and
// reads back nothing but its own counts (runtime/state/live.h). Another process of the same user finds the file as
// /proc/PID/fd/N and reads copies of it with pread(): it maps nothing, so that a file that is cut off does it no harm.
//
// Consistency: every field has one writer, is naturally aligned and at most 8 bytes long, and is written by a relaxed store,
// so no value is torn. Counters only grow (but for the runtime's own tasks, which are taken back). Fields of one line may be
// some tasks apart. LiveHeader::magic is written last, once all other fields of the header have their first values.
//
// Fields are only ever added, at an end, within header_bytes and line_bytes: a reader that knows layout 1 reads all
// later pages whose `oldest_reader` is 1.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/cacheline.h"

namespace hearth {

inline constexpr char kLiveName[] = "hearth-live";
inline constexpr std::uint64_t kLiveMagic = 0x3145'5649'4c48'5445;  // "ETHLIVE1"
inline constexpr std::uint32_t kLiveLayout = 1;
inline constexpr std::uint32_t kLiveLines = 4096;  // threads beyond that are not shown
inline constexpr std::size_t kLiveHeaderBytes = 4096;

/// Constant once `magic` is there, unless it grows.
struct LiveHeader {
  std::uint64_t magic;
  std::uint32_t layout;         // kLiveLayout of who writes
  std::uint32_t oldest_reader;  // the layout that a reader must know at least
  std::uint32_t header_bytes, line_bytes, lines;
  std::int32_t pid;             // as the process itself sees it. A child by clone() counts in its parent's page: not its own
  std::uint64_t since;          // CLOCK_BOOTTIME, ns
  std::uint32_t locations;      // of the machine as policies see it
  std::uint32_t deals;          // 1: the policy deals tasks to locations, and works out where their data is
  char version[32];             // each ends with a zero
  char policy[32];
  std::uint32_t threads;        // lines that were ever in use; grows
  std::uint32_t threads_beyond; // threads that got none; grows
  std::uint64_t threads_moved, pages_moved;  // by plans of the runtime; grow
};
static_assert(sizeof(LiveHeader) <= kLiveHeaderBytes);

/// One thread's. Two cache lines of its own: nobody else writes there, and no neighbour's writes slow it down.
struct alignas(kCacheLinePair) LiveLine {
  using Count = std::atomic<std::uint64_t>;
  Count tasks_run{0};    // begun, also those that ran at once
  Count tasks_home{0};   // run where their data are, of those whose data's place the policy has worked out
  Count tasks_away{0};   // run elsewhere, of those
  Count stolen{0};       // tasks taken from another thread's queue
  Count dealt{0};        // tasks sent to the queue of a location
  Count regions{0};      // parallel regions begun
  std::atomic<std::int32_t> kernel_id{0};   // gettid(); 0: no thread
  std::atomic<std::int32_t> location{-1};   // -1: not known
  std::atomic<std::uint32_t> regions_open{0};  // begun by this thread, and not ended yet
  std::atomic<std::uint32_t> team_size{0};     // of the one that it has begun last

  /// For the line's thread only.
  static void add(Count& count, std::uint64_t more = 1) {
    count.store(count.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
  }
};
static_assert(sizeof(LiveLine) == kCacheLinePair);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

inline constexpr std::size_t kLiveBytes = kLiveHeaderBytes + kLiveLines * sizeof(LiveLine);

// ---- reading

enum class LiveProblem : std::uint8_t {
  none,
  cut_off,       // shorter than it has to be
  not_ready,     // no magic: still being made, or something else
  other_layout,  // this reader is too old, or the page is older than any reader
  nonsense,      // sizes that cannot be
};

/// What a line said.
struct LiveThread {
  std::uint64_t tasks_run, tasks_home, tasks_away, stolen, dealt, regions;
  std::int32_t kernel_id, location;
  std::uint32_t regions_open, team_size;
};

/// Looks at `size` bytes of a page's begin. Afterwards `out` may be used: its texts end, its sizes are possible ones.
/// Pure; `bytes` may be anything.
LiveProblem read_live_header(const void* bytes, std::size_t size, LiveHeader& out);
/// The line at `bytes`, of which there are `size`. Pure; `bytes` may be anything.
LiveThread read_live_line(const void* bytes, std::size_t size);
/// How many of them a reader is to read, and where they begin.
inline std::uint32_t live_lines_used(const LiveHeader& header) {
  return header.threads < header.lines ? header.threads : header.lines;
}

}  // namespace hearth
