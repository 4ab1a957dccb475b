// See touch_trap.h. Marks have slots of their own and an index from page to slot, as areas have, and the areas' lock.
//
// The handler takes no lock and allocates nothing; all signals are blocked in it. It reads the index, claims by a
// compare-and-swap, and leaves the slot in state `opened`; whoever next has the lock gives it back. A fault may come late,
// when its unit is open or the slot is gone: then the access would succeed by now, and the handler lets it try again.
//
// Orders: a slot's range is stored before its state becomes `marked` with release; a claim is an acquire of that. What the
// claimant did happens before `opened`, a release that pairs with the acquire of whoever gives the slot back. `before`
// and `scratches` are published with release before the handler is installed, and loaded with acquire in it; a scratch
// is taken by an acquire and given back by a release.
#include "memory/touch_trap.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>

#include <algorithm>
#include <atomic>

#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/assert.h"
#include "memory/areas.h"
#include "memory/costs.h"
#include "memory/managed.h"
#include "memory/migrate.h"
#include "memory/page_index.h"

namespace hearth::memory {

constinit std::atomic<std::uint32_t> live_marks{0};

namespace {

using placement::ByteRange;
constexpr auto kRelaxed = std::memory_order_relaxed;

enum State : std::uint64_t { unused, marked, claimed, opened };
constexpr std::uint64_t kStateMask = 3;  // of a slot's word; the rest counts its uses

struct Mark {
  std::atomic<std::uint64_t> state;
  std::atomic<std::uint64_t> begin, end;
  std::uint32_t next_free;  // the lock's
};

constinit PageIndex index;
Mark marks[kMostMarks + 1];  // 0 is "none"
std::uint32_t used = 1, free_marks = 0;  // the lock's
constinit std::atomic<std::uint32_t> to_give_back{0};
constinit std::atomic<std::uint64_t> closed_at{0}, faults{0}, moved_pages{0}, told_pages{0}, passed_on{0};

struct Spare {
  std::atomic<bool> taken;
  MigrationScratch scratch;
};
constexpr int kSpares = 16;  // so many threads move at a time; others wait
constinit std::atomic<Spare*> scratches{nullptr};

// Handlers that stood there when ours was installed, which may be several times.
struct sigaction handlers[4];
int installed = 0;  // the lock's
constinit std::atomic<const struct sigaction*> before{nullptr};
// What is being passed on, and by which frame.
constinit std::atomic<const siginfo_t*> passed_info{nullptr};
constinit std::atomic<std::uintptr_t> passed_from{0};

std::uint64_t now_ns() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

// The kernel reads eight bytes there before it finds that the first argument means nothing.
bool is_readable(std::uint64_t address) {
  constexpr int kNothing = ~0;
  constexpr unsigned long kBytes = 8;
  return syscall(SYS_rt_sigprocmask, kNothing, address & ~(kBytes - 1), nullptr, kBytes) != -1 || errno != EFAULT;
}

// The kernel ors nothing to the word there, and wakes nobody who waits for what it never is.
bool is_writable(std::uint64_t address) {
  std::uint32_t here = 0;
  constexpr int kOrNothing = FUTEX_OP(FUTEX_OP_OR, 0, FUTEX_OP_CMP_EQ, 0x7ff);
  return syscall(SYS_futex, &here, FUTEX_WAKE_OP_PRIVATE, 0, nullptr, address & ~std::uint64_t{3}, kOrNothing) != -1 ||
         errno != EFAULT;
}

bool is_mapped(std::uint64_t page) {
  unsigned char present = 0;
  return mincore(reinterpret_cast<void*>(page), kPage, &present) == 0;
}

bool protect(ByteRange range, int protection) {
  return mprotect(reinterpret_cast<void*>(range.begin), range.bytes(), protection) == 0;
}

// Where the program has unmapped some of it, the rest page by page.
bool open_pages(ByteRange range) {
  if (protect(range, PROT_READ | PROT_WRITE)) return true;
  bool all = true;
  for (std::uint64_t page = range.begin; page < range.end; page += kPage)
    if (!protect({page, page + kPage}, PROT_READ | PROT_WRITE) && is_mapped(page)) all = false;
  return all;
}

// The mapping without any right that holds the address, by /proc/self/maps: "begin-end ---p offset ...". In a handler: no
// library calls that allocate.
bool find_closed_mapping(std::uint64_t address, ByteRange& mapping) {
  const int file = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  std::uint64_t numbers[2] = {0, 0};
  int field = 0, rights = 0;  // field: begin, end, rights, the rest of the line
  bool closed = true, found = false;
  char text[512];
  for (ssize_t got; !found && (got = read(file, text, sizeof text)) > 0;) {
    for (ssize_t i = 0; i < got && !found; ++i) {
      const char c = text[i];
      if (c == '\n') {
        found = closed && address >= numbers[0] && address < numbers[1];
        if (found) mapping = {numbers[0], numbers[1]};
        numbers[0] = numbers[1] = 0;
        field = rights = 0;
        closed = true;
      } else if (field < 2 && (c == '-' || c == ' ')) {
        ++field;
      } else if (field < 2) {
        numbers[field] = numbers[field] * 16 + static_cast<std::uint64_t>(c <= '9' ? c - '0' : c - 'a' + 10);
      } else if (field == 2 && rights++ < 3) {
        closed &= c == '-';
      } else {
        field = 3;
      }
    }
  }
  close(file);
  return found;
}

ByteRange range_of(const Mark& mark) { return {mark.begin.load(kRelaxed), mark.end.load(kRelaxed)}; }

bool claim(Mark& mark, std::uint64_t seen) {
  return (seen & kStateMask) == marked &&
         mark.state.compare_exchange_strong(seen, (seen & ~kStateMask) | claimed, std::memory_order_acq_rel, kRelaxed);
}

void end_claim(Mark& mark) {
  mark.state.store((mark.state.load(kRelaxed) & ~kStateMask) | opened, std::memory_order_release);
  to_give_back.fetch_add(1, kRelaxed);
}

// Opens all that is marked in the range, without a move. No lock.
void open_marked(ByteRange within) {
  for (std::uint32_t i = 1; i <= kMostMarks; ++i) {
    Mark& mark = marks[i];
    const std::uint64_t state = mark.state.load(std::memory_order_acquire);
    if (state == 0) return;  // from here on none was ever used
    if ((state & kStateMask) != marked || common(range_of(mark), within).bytes() == 0 || !claim(mark, state)) continue;
    const ByteRange range = range_of(mark);
    if (!is_readable(range.begin)) open_pages(range);
    end_claim(mark);
  }
}

// With the lock: slots of open units are free again.
void give_back_opened() {
  if (to_give_back.exchange(0, kRelaxed) == 0) return;
  for (std::uint32_t i = 1; i < used; ++i) {
    Mark& mark = marks[i];
    const std::uint64_t state = mark.state.load(std::memory_order_acquire);
    if ((state & kStateMask) != opened) continue;
    index.clear(range_of(mark));
    mark.state.store((state & ~kStateMask) + kStateMask + 1, kRelaxed);
    mark.next_free = free_marks;
    free_marks = i;
    live_marks.fetch_sub(1, kRelaxed);
  }
}

constexpr ByteRange kEverything{0, UINT64_MAX};

void before_fork() {
  open_marked(kEverything);
  // A claimant that is under way has its unit open in a moment; the child could not wait for it.
  for (std::uint32_t i = 1; i < used; ++i)
    while ((marks[i].state.load(std::memory_order_acquire) & kStateMask) == claimed) sched_yield();
  give_back_opened();
}

// ---- The handler ---------------------------------------------------------------------------------------------------

Spare& take_spare_scratch() {
  Spare* all = scratches.load(std::memory_order_acquire);
  while (true) {
    for (int i = 0; i < kSpares; ++i)
      if (!all[i].taken.exchange(true, std::memory_order_acquire)) return all[i];
    sched_yield();
  }
}

void move_here(ByteRange range) {
  const MemoryHomes& machine = memory_homes();
  const Location here = location_here();
  if (here < 0 || here >= machine.locations || !machine.several()) return;
  const Location home = machine.nearest[here];
  if (home == kUnknown) return;
  Spare& spare = take_spare_scratch();
  MigrationCounts counts;
  move_batch(range, {&home, 1, range.begin}, spare.scratch, counts);
  moved_pages.fetch_add(counts.moved, kRelaxed);
  spare.taken.store(false, std::memory_order_release);
}

bool is_write(const void* context) {
#if defined(__x86_64__)
  return (static_cast<const ucontext_t*>(context)->uc_mcontext.gregs[REG_ERR] & 2) != 0;
#else
  static_cast<void>(context);
  return true;
#endif
}

// Closed memory that the program has moved to another address (mremap) is closed there too. A mapping without any right
// that is no larger than what has vanished from under marks is taken for that. Where other memory has come since, nothing is
// closed any more.
std::uint64_t vanished_bytes() {
  std::uint64_t bytes = 0;
  for (const Mark& mark : marks) {
    if ((mark.state.load(std::memory_order_acquire) & kStateMask) != marked) continue;
    const std::uint64_t begin = mark.begin.load(kRelaxed);
    if (!is_mapped(begin) || is_readable(begin)) bytes += range_of(mark).bytes();
  }
  return bytes;
}

bool open_moved(std::uint64_t address) {
  const std::uint64_t most = vanished_bytes();
  if (most == 0) return false;
  ByteRange mapping;
  return find_closed_mapping(address, mapping) && mapping.bytes() <= most && protect(mapping, PROT_READ | PROT_WRITE);
}

// True: the access can be tried again.
bool serve(std::uint64_t address, const void* context) {
  if (const PageIndex::Id id = index.find(address); id != 0) {
    Mark& mark = marks[id];
    const std::uint64_t state = mark.state.load(std::memory_order_acquire);
    if ((state & kStateMask) == claimed) {
      sched_yield();
      return true;
    }
    if (claim(mark, state)) {
      const ByteRange range = range_of(mark);
      const bool open = open_pages(range);
      faults.fetch_add(1, kRelaxed);
      const bool late = now_ns() - closed_at.load(kRelaxed) > kMarksLastNs;
      if (open && !late) move_here(range);
      end_claim(mark);
      // Not open: no mapping is left to cut it out of what is closed. Where nothing is closed it needs none.
      if (!open || late) open_marked(kEverything);
      if (!open) open_pages(range);
      return true;
    }
  }
  if (is_write(context) ? is_writable(address) : is_readable(address)) return true;
  return any_marks() && open_moved(address);
}

void by_default(int signal, const siginfo_t* info) {
  struct sigaction action = {};
  action.sa_handler = SIG_DFL;
  sigaction(signal, &action, nullptr);
  // A fault happens again; a signal that somebody sent has to be sent again.
  if (info->si_code <= 0) syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), signal);
}

void pass_on(int signal, siginfo_t* info, void* context) {
  const struct sigaction& earlier = *before.load(std::memory_order_acquire);
  const bool is_handler = earlier.sa_handler != SIG_DFL && earlier.sa_handler != SIG_IGN;
  if (!is_handler && earlier.sa_handler == SIG_IGN && info->si_code <= 0) return;
  // Somebody who stands in front of us and behind us would hand it round for ever: the same again, and deeper on the
  // stack. (A handler that was left by longjmp() finds the same again, but not deeper.)
  const auto frame = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  const bool round = passed_info.load(kRelaxed) == info && frame < passed_from.load(kRelaxed);
  if (!is_handler || round) return by_default(signal, info);
  passed_info.store(info, kRelaxed);
  passed_from.store(frame, kRelaxed);
  sigset_t mask = static_cast<const ucontext_t*>(context)->uc_sigmask;
  for (int one = 1; one < NSIG; ++one)
    if (sigismember(&earlier.sa_mask, one) == 1) sigaddset(&mask, one);
  if ((earlier.sa_flags & SA_NODEFER) == 0) sigaddset(&mask, signal);
  pthread_sigmask(SIG_SETMASK, &mask, nullptr);
  if ((earlier.sa_flags & SA_RESETHAND) != 0) {
    static constinit struct sigaction reset = {};  // SIG_DFL
    before.store(&reset, std::memory_order_release);
  }
  if ((earlier.sa_flags & SA_SIGINFO) != 0)
    earlier.sa_sigaction(signal, info, context);
  else
    earlier.sa_handler(signal);
  passed_info.store(nullptr, kRelaxed);
}

void on_fault(int signal, siginfo_t* info, void* context) {
  const int saved = errno;
  const bool ours = info->si_code == SEGV_ACCERR && serve(reinterpret_cast<std::uint64_t>(info->si_addr), context);
  errno = saved;
  if (ours) return;
  passed_on.fetch_add(1, kRelaxed);
  pass_on(signal, info, context);
  errno = saved;
}

// ---- Closing -------------------------------------------------------------------------------------------------------

// With the lock. Null: the handler stands.
const char* stand_in_front() {
  struct sigaction now = {};
  sigaction(SIGSEGV, nullptr, &now);
  if ((now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == on_fault) return nullptr;
  const bool is_handler = now.sa_handler != SIG_DFL && now.sa_handler != SIG_IGN;
  if (installed > 0 && is_handler) return "another handler of SIGSEGV was installed after Hearth's";
  if (installed == static_cast<int>(sizeof handlers / sizeof handlers[0])) return "the handler of SIGSEGV changes all the time";
  if (installed == 0) {
    void* room = mmap(nullptr, kSpares * sizeof(Spare), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED) return "there is no memory";
    scratches.store(static_cast<Spare*>(room), std::memory_order_release);
    set_before_fork(before_fork);
    costs();  // made now, and not in a handler
  }
  handlers[installed] = now;
  before.store(&handlers[installed++], std::memory_order_release);
  struct sigaction action = {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigfillset(&action.sa_mask);
  return sigaction(SIGSEGV, &action, nullptr) == 0 ? nullptr : "the system refuses a handler of SIGSEGV";
}

const char* objection(ByteRange pages) {
  sigset_t blocked;
  pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
  if (sigismember(&blocked, SIGSEGV) == 1) return "this thread has SIGSEGV blocked";
  const auto stack = reinterpret_cast<std::uint64_t>(&blocked);
  if (stack >= pages.begin && stack < pages.end) return "the memory is this thread's stack";
  for (const std::uint64_t page : {pages.begin, pages.end - kPage})
    if (index.find(page) == 0 && !is_writable(page)) return "the memory cannot be written";
  return nullptr;
}

// With the lock.
const char* close_unit(ByteRange unit) {
  std::uint32_t id = free_marks;
  HEARTH_ASSERT(id != 0 || used <= kMostMarks, "mark %u", used);
  if (!index.set(unit, id != 0 ? id : used)) return "there is no memory";
  if (id != 0)
    free_marks = marks[id].next_free;
  else
    id = used++;
  Mark& mark = marks[id];
  mark.begin.store(unit.begin, kRelaxed);
  mark.end.store(unit.end, kRelaxed);
  live_marks.fetch_add(1, kRelaxed);
  const std::uint64_t state = (mark.state.load(kRelaxed) & ~kStateMask) | marked;
  mark.state.store(state, std::memory_order_release);
  if (protect(unit, PROT_NONE)) return nullptr;
  const bool full = errno == ENOMEM;
  if (claim(mark, state)) {
    open_pages(unit);  // what was closed of it
    end_claim(mark);
  }
  return full ? "the process has too many mappings, or the memory is gone" : "the system refuses to close the memory";
}

const char* close_all(ByteRange pages) {
  const AreasGuard guard;
  if (const char* why = stand_in_front()) return why;
  give_back_opened();
  closed_at.store(now_ns(), kRelaxed);
  const std::uint64_t unit = pages.bytes() >= kTrapUnit ? kTrapUnit : kSmallTrapUnit;
  if (live_marks.load(kRelaxed) + (pages.end - 1) / unit - pages.begin / unit + 1 > kMostMarks) return "too many parts are closed";
  for (std::uint64_t at = pages.begin, next; at < pages.end; at = next) {
    next = std::min(pages.end, at / unit * unit + unit);
    // Marked before, perhaps in units of another size.
    if (index.first_in({at, next}) != 0) {
      open_marked({at, next});
      give_back_opened();
    }
    if (const char* why = close_unit({at, next})) {
      open_marked({pages.begin, next});
      give_back_opened();
      return why;
    }
  }
  return nullptr;
}

}  // namespace

bool close_until_touched(ByteRange pages, const char*& why) {
  const int saved = errno;
  if ((why = objection(pages)) == nullptr) {
    owners_unknown(pages);
    why = close_all(pages);
  }
  errno = saved;
  return why == nullptr;
}

void open_marks() { open_marks(kEverything); }

// What the handler cannot say itself: it may have interrupted anything.
void tell_of_traps() {
  const std::uint64_t moved = moved_pages.load(kRelaxed), told = told_pages.exchange(moved, kRelaxed);
  if (moved > told) tell_moved({.cause = MoveCause::trap, .pages = moved - told});
}

void open_marks(ByteRange within) {
  if (!any_marks()) return;
  const int saved = errno;
  open_marked(within);
  {
    const AreasGuard guard;
    give_back_opened();
  }
  tell_of_traps();
  errno = saved;
}

TrapCounts trap_counts() {
  std::uint32_t count = 0;
  for (const Mark& mark : marks) count += (mark.state.load(kRelaxed) & kStateMask) == marked;
  return {count, faults.load(kRelaxed), moved_pages.load(kRelaxed), passed_on.load(kRelaxed)};
}

}  // namespace hearth::memory
