#include "runtime/tools/page_watch.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include <asm/prctl.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

namespace hearth::rt::watch {
namespace {

constexpr std::uint64_t kPage = 4096;
constexpr int kMostAreas = 1024, kMostLeftOut = 4096;
constexpr std::size_t kMostCovered = std::size_t{1} << 16, kMostTouches = std::size_t{1} << 22;

struct Interval {
  std::uint64_t begin, end;
  bool contains(std::uint64_t address) const { return address >= begin && address < end; }
};

struct Area : Interval {
  bool crowded;
};

// All that handlers use: in a mapping of its own between closed pages, so that it is never part of a watched
// one.
struct State {
  volatile unsigned char selector;  // read by the kernel at each system call of the window's thread
  std::atomic<int> thread;          // the kernel's number of the window's thread; 0: no window is open
  bool blind, dispatches;
  std::uint64_t retried;  // the last fault at a page that was open already
  int left_out_count;
  std::size_t covered_count, touch_count;
  // What the last window closed, and the one before: another thread's fault may come to its handler late.
  struct {
    std::atomic<int> count;
    Area at[kMostAreas];
  } areas[2];
  std::atomic<int> last;  // which of the two
  Interval left_out[kMostLeftOut];
  Interval covered[kMostCovered];  // whole pages, by rising address, apart from each other
  Touch touches[kMostTouches];
  char text[1 << 16];
};

State* state = nullptr;
Interval own_code, own_data;
struct sigaction before_fault, before_dispatch;

// ---- system calls that are never dispatched: the only ones that handlers and open windows make
// -------------------

extern "C" {
extern const char hearth_watch_gate[], hearth_watch_gate_end[];
void hearth_watch_return();
long hearth_watch_call(long number, const long* arguments);
}
asm(R"(
  .pushsection .text
  .balign 16
  .hidden hearth_watch_gate
  .hidden hearth_watch_gate_end
  .hidden hearth_watch_return
  .hidden hearth_watch_call
  .globl hearth_watch_gate
  .globl hearth_watch_gate_end
  .globl hearth_watch_return
  .globl hearth_watch_call
hearth_watch_gate:
hearth_watch_return:
  movl $15, %eax
  syscall
hearth_watch_call:
  movq %rdi, %rax
  movq %rsi, %r11
  movq 0(%r11), %rdi
  movq 8(%r11), %rsi
  movq 16(%r11), %rdx
  movq 24(%r11), %r10
  movq 32(%r11), %r8
  movq 40(%r11), %r9
  syscall
  ret
hearth_watch_gate_end:
  .popsection
)");

template <class... Arguments>
long call(long number, Arguments... arguments) {
  const long all[6] = {(long)arguments...};
  return hearth_watch_call(number, all);
}

void protect(const Interval& what, int protection) {
  call(SYS_mprotect, what.begin, what.end - what.begin, protection);
}

const Area* area_of(std::uint64_t address) {
  for (const auto& areas : state->areas)
    for (int i = 0; i < areas.count.load(std::memory_order_acquire); ++i)  // pairs with the release in add_area()
      if (areas.at[i].contains(address)) return &areas.at[i];
  return nullptr;
}

void protect_all(int protection) {
  const auto& areas = state->areas[state->last.load(std::memory_order_relaxed)];
  for (int i = 0; i < areas.count.load(std::memory_order_relaxed); ++i) protect(areas.at[i], protection);
}

void go_blind() {
  if (!state->blind) protect_all(PROT_READ | PROT_WRITE);
  state->blind = true;
  state->selector = SYSCALL_DISPATCH_FILTER_ALLOW;
}

void note(std::uint64_t page, const Area& area, bool written, bool runtime) {
  if (state->touch_count == kMostTouches) return go_blind();
  Touch& touch = state->touches[state->touch_count++];
  touch.page = page;
  touch.written = written;
  touch.crowded = area.crowded;
  touch.runtime = runtime;
}

// ---- handlers: nothing of libc, which may be closed just now

void hand_on(const struct sigaction& before, int signal, siginfo_t* info, void* context) {
  if ((before.sa_flags & SA_SIGINFO) != 0) {
    before.sa_sigaction(signal, info, context);
  } else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
    before.sa_handler(signal);
  } else {
    struct {
      void (*handler)(int);
      unsigned long flags;
      void (*restorer)();
      unsigned long mask;
    } by_default = {SIG_DFL, 0, nullptr, 0};
    call(SYS_rt_sigaction, signal, &by_default, nullptr, 8);
    if (info->si_code <= 0) call(SYS_tgkill, call(SYS_getpid), call(SYS_gettid), signal);
  }
}

[[gnu::optimize("no-stack-protector")]] void on_fault(int signal, siginfo_t* info, void* context) {
  const auto address = reinterpret_cast<std::uint64_t>(info->si_addr);
  const Area* area = info->si_code == SEGV_ACCERR ? area_of(address) : nullptr;
  if (area == nullptr) return hand_on(before_fault, signal, info, context);
  const std::uint64_t begin = address & ~(kPage - 1);
  const int watched = state->thread.load(std::memory_order_relaxed);
  if (watched == 0 || state->blind) {
    // It was closed when another thread touched it, and is open by now; unless the program has closed it
    // itself.
    if (state->retried == begin) return hand_on(before_fault, signal, info, context);
    state->retried = begin;
    return;
  }
  const auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  const bool writes = (registers[REG_ERR] & 2) != 0;
  if (call(SYS_mprotect, begin, kPage, PROT_READ | (writes ? PROT_WRITE : 0)) != 0) return go_blind();
  if (call(SYS_gettid) == watched)
    note(begin / kPage, *area, writes, own_code.contains(static_cast<std::uint64_t>(registers[REG_RIP])));
}

// Calls whose meaning would be another one if a handler made them, or that change what is mapped.
bool must_go_itself(long number, const long* arguments) {
  switch (number) {
    case SYS_rt_sigreturn:
    case SYS_rt_sigprocmask:
    case SYS_rt_sigsuspend:
    case SYS_sigaltstack:
    case SYS_clone:
    case SYS_clone3:
    case SYS_fork:
    case SYS_vfork:
    case SYS_execve:
    case SYS_execveat:
    case SYS_exit:
    case SYS_exit_group: return true;
    case SYS_mmap:
    case SYS_munmap:
    case SYS_mremap:
    case SYS_mprotect:
    case SYS_pkey_mprotect: return area_of(static_cast<std::uint64_t>(arguments[0])) != nullptr;
    default: return false;
  }
}

// Where the pages of a buffer are known that the call has filled or sent.
void note_buffer(long number, const long* arguments, long result) {
  const bool fills = number == SYS_read || number == SYS_pread64 || number == SYS_recvfrom;
  const bool sends = number == SYS_write || number == SYS_pwrite64 || number == SYS_sendto;
  if ((!fills && !sends) || result <= 0) return;
  const auto begin = static_cast<std::uint64_t>(arguments[1]);
  for (std::uint64_t page = begin / kPage; page <= (begin + static_cast<std::uint64_t>(result) - 1) / kPage;
       ++page)
    if (const Area* area = area_of(page * kPage)) note(page, *area, fills, false);
}

[[gnu::optimize("no-stack-protector")]] void on_dispatch(int signal, siginfo_t* info, void* context) {
  constexpr int kUserDispatch = 2;  // SYS_USER_DISPATCH
  if (info->si_code != kUserDispatch) return hand_on(before_dispatch, signal, info, context);
  auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  const long number = registers[REG_RAX];
  const long arguments[6] = {registers[REG_RDI], registers[REG_RSI], registers[REG_RDX],
                             registers[REG_R10], registers[REG_R8],  registers[REG_R9]};
  if (must_go_itself(number, arguments)) {
    go_blind();
    registers[REG_RIP] -= 2;  // the instruction again
    return;
  }
  protect_all(PROT_READ | PROT_WRITE);
  const long result = hearth_watch_call(number, arguments);
  protect_all(PROT_NONE);
  note_buffer(number, arguments, result);
  registers[REG_RAX] = result;
}

void install(int signal, void (*handler)(int, siginfo_t*, void*), struct sigaction& before) {
  struct sigaction now = {};
  sigaction(signal, nullptr, &now);
  if ((now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == handler) return;
  before = now;
  constexpr unsigned long kRestorer = 0x04000000;
  struct {
    void (*handler)(int, siginfo_t*, void*);
    unsigned long flags;
    void (*restorer)();
    unsigned long mask;
  } ours = {handler, SA_SIGINFO | SA_NODEFER | kRestorer, hearth_watch_return, 0};
  call(SYS_rt_sigaction, signal, &ours, nullptr, 8);
}

// ---- what to watch

void add_area(std::uint64_t begin, std::uint64_t end, bool crowded, int left_out) {
  for (; left_out < state->left_out_count; ++left_out) {
    const Interval& out = state->left_out[left_out];
    if (out.end <= begin || out.begin >= end) continue;
    if (out.begin > begin) add_area(begin, out.begin, crowded, left_out + 1);
    if (out.end < end) add_area(out.end, end, crowded, left_out + 1);
    return;
  }
  auto& areas = state->areas[1 - state->last.load(std::memory_order_relaxed)];
  const int count = areas.count.load(std::memory_order_relaxed);
  if (count == kMostAreas) return;
  areas.at[count].begin = begin;
  areas.at[count].end = end;
  areas.at[count].crowded = crowded;
  areas.count.store(count + 1,
                    std::memory_order_release);  // pairs with the acquire of another thread's fault
}

bool is_covered(std::uint64_t begin, std::uint64_t end) {
  const Interval* last = state->covered + state->covered_count;
  const Interval* first = std::lower_bound(
      state->covered, const_cast<Interval*>(last), begin,
      [](const Interval& interval, std::uint64_t address) { return interval.end <= address; });
  return first != last && first->begin < end;
}

// A line of /proc/self/maps: "begin-end rw-p offset device inode path".
void take_mapping(const char* line, std::uint64_t stack) {
  char* at = nullptr;
  const std::uint64_t begin = std::strtoull(line, &at, 16);
  const std::uint64_t end = std::strtoull(at + 1, &at, 16);
  if (at[1] != 'r' || at[2] != 'w' || at[3] != '-' || !is_covered(begin, end) ||
      Interval{begin, end}.contains(stack))
    return;
  int words = 0;
  while (*at != '\0' && words < 4) words += *at++ == ' ';
  while (*at != '\0' && *at != ' ') ++at;
  while (*at == ' ') ++at;
  if (std::strncmp(at, "[stack", 6) == 0) return;
  Dl_info image;
  const bool crowded = *at == '[' || dladdr(reinterpret_cast<void*>(begin), &image) != 0;
  add_area(begin, end, crowded, 0);
}

void find_areas() {
  const int next = 1 - state->last.load(std::memory_order_relaxed);
  state->areas[next].count.store(0, std::memory_order_relaxed);
  const int file = ::open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  const auto stack = reinterpret_cast<std::uint64_t>(&file);
  std::size_t held = 0;
  while (file >= 0) {
    const ssize_t got = read(file, state->text + held, sizeof(state->text) - 1 - held);
    if (got <= 0) break;
    held += static_cast<std::size_t>(got);
    char *line = state->text, *end = state->text + held;
    for (char* stop; (stop = std::find(line, end, '\n')) != end; line = stop + 1) {
      *stop = '\0';
      take_mapping(line, stack);
    }
    held = static_cast<std::size_t>(end - line);
    std::copy(line, end, state->text);
  }
  if (file >= 0) ::close(file);
  state->last.store(next, std::memory_order_relaxed);
}

int find_own_image(dl_phdr_info* object, std::size_t, void*) {
  const auto inside = reinterpret_cast<std::uint64_t>(&on_fault);
  Interval code{0, 0}, data{0, 0};
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = object->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD) continue;
    const std::uint64_t begin = object->dlpi_addr + segment.p_vaddr, end = begin + segment.p_memsz;
    if ((segment.p_flags & PF_X) != 0) code = {begin, end};
    if ((segment.p_flags & PF_W) != 0) data = {begin & ~(kPage - 1), (end + kPage - 1) & ~(kPage - 1)};
  }
  if (!code.contains(inside)) return 0;
  own_code = code;
  own_data = data;
  return 1;
}

// Handlers run on the thread's stack, and code everywhere looks at what lies around the thread pointer.
void leave_out_thread() {
  unsigned long pointer = 0;
  syscall(SYS_arch_prctl, ARCH_GET_FS, &pointer);
  const std::uint64_t page = pointer & ~(kPage - 1);
  leave_out(page - 32 * kPage, page + 4 * kPage);
}

}  // namespace

bool start() {
  constexpr std::size_t kBytes = (sizeof(State) + kPage - 1) / kPage * kPage + 2 * kPage;
  void* room = mmap(nullptr, kBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) return false;
  char* inner = static_cast<char*>(room) + kPage;
  if (mprotect(inner, kBytes - 2 * kPage, PROT_READ | PROT_WRITE) != 0) return false;
  state = reinterpret_cast<State*>(inner);
  dl_iterate_phdr(find_own_image, nullptr);
  leave_out(own_data.begin, own_data.end);
  // A footprint may say anything: also that a task touches what stands here.
  leave_out(reinterpret_cast<std::uint64_t>(state), reinterpret_cast<std::uint64_t>(state + 1));
  const auto gate = reinterpret_cast<unsigned long>(hearth_watch_gate);
  state->selector = SYSCALL_DISPATCH_FILTER_ALLOW;
  state->dispatches = prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, gate,
                            hearth_watch_gate_end - hearth_watch_gate, &state->selector) == 0;
  if (state->dispatches) prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_OFF, 0, 0, 0);
  return true;
}

bool misses_system_calls() { return !state->dispatches; }

void cover(std::uint64_t begin, std::uint64_t end) {
  if (begin >= end) return;
  begin &= ~(kPage - 1);
  end = (end + kPage - 1) & ~(kPage - 1);
  Interval* const last = state->covered + state->covered_count;
  // All that it meets, or touches, becomes one.
  Interval* first = std::lower_bound(
      state->covered, last, begin,
      [](const Interval& interval, std::uint64_t address) { return interval.end < address; });
  Interval* next = first;
  for (; next != last && next->begin <= end; ++next) {
    begin = std::min(begin, next->begin);
    end = std::max(end, next->end);
  }
  if (next == first) {
    if (state->covered_count == kMostCovered) return;
    std::copy_backward(first, last, last + 1);
    ++state->covered_count;
  } else {
    std::copy(next, last, first + 1);
    state->covered_count -= static_cast<std::size_t>(next - first - 1);
  }
  *first = {begin, end};
}

void leave_out(std::uint64_t begin, std::uint64_t end) {
  begin &= ~(kPage - 1);
  end = (end + kPage - 1) & ~(kPage - 1);
  for (int i = 0; i < state->left_out_count; ++i)
    if (state->left_out[i].begin <= begin && end <= state->left_out[i].end) return;
  if (state->left_out_count < kMostLeftOut) state->left_out[state->left_out_count++] = {begin, end};
}

void open() {
  leave_out_thread();
  find_areas();
  install(SIGSEGV, on_fault, before_fault);
  install(SIGSYS, on_dispatch, before_dispatch);
  state->blind = false;
  state->retried = 0;
  state->thread.store(static_cast<int>(syscall(SYS_gettid)), std::memory_order_relaxed);
  if (state->dispatches) {
    const auto gate = reinterpret_cast<unsigned long>(hearth_watch_gate);
    state->selector = SYSCALL_DISPATCH_FILTER_BLOCK;
    call(SYS_prctl, PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, gate,
         hearth_watch_gate_end - hearth_watch_gate, &state->selector);
  }
  protect_all(PROT_NONE);
}

void close() {
  if (!state->blind) protect_all(PROT_READ | PROT_WRITE);
  if (state->dispatches) call(SYS_prctl, PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_OFF, 0, 0, 0);
  state->selector = SYSCALL_DISPATCH_FILTER_ALLOW;
  state->thread.store(0, std::memory_order_relaxed);
}

bool blind() { return state->blind; }
std::size_t count() { return state->touch_count; }
Touch* touches() { return state->touches; }
void forget_from(std::size_t count) { state->touch_count = count; }

}  // namespace hearth::rt::watch
