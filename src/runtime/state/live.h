// The page of live counters that this process publishes for `hearth top` (base/live_page.h has its layout).
//
// It is made by start-up, before any Thread is, and in a child by fork(), where there is one thread: a child counts in a page of
// its own. Where there is none (HEARTH_LIVE=false, memfd_create() refused, no memory), and for threads beyond
// kLiveLines, a Thread counts in itself: nobody sees it, and nothing else changes. The page stays until the process ends; the
// kernel then removes it, however that ends.
//
// Lines are written by their threads. The header is written by start-up; functions below say who else.
#pragma once

#include <cstdint>

#include "base/live_page.h"

namespace hearth::rt {

struct Thread;

namespace live_page {

struct Facts {
  const char* policy = "";
  std::uint32_t locations = 1;
  bool deals = false;
};

/// Before the first Thread is made. Nothing happens where it is refused.
void publish(const Facts& facts);
/// In a child by fork(): leaves the parent's page, and makes one for this process if the parent had one. All Threads
/// begin at zero, and only `survivor`, which may be null, has a kernel thread.
void publish_after_fork(Thread* survivor);
/// Gives the new Thread object its line. Under the thread table's lock.
void give_line(Thread* thread);
/// The calling thread is the one that `thread` stands for; or: no thread is any more.
void begin_thread(Thread* thread, std::int32_t kernel_id);
void end_thread(Thread* thread);
/// What the runtime has moved so far. Any thread; the last one to come wins, and it is called again.
void publish_moves(std::uint64_t threads, std::uint64_t pages);

}  // namespace live_page
}  // namespace hearth::rt
