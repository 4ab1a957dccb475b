// Intel's extensions to the OpenMP API, as libomp has them too: what programs in the field call, in C and
// Fortran forms.
//
// Any thread. Sizes and times hold for what is created or waited for afterwards. A mask of CPUs is a block of
// memory that the program holds by address; it is as large as the kernel's, however many CPUs there are.
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include <sched.h>
#include <unistd.h>

#include "abi/export.h"
#include "base/log.h"
#include "runtime/state/thread_table.h"
#include "runtime/process/startup.h"
#include "runtime/state/process.h"
#include "runtime/sync/wait.h"
#include "runtime/settings/settings.h"
#include "runtime/state/own_icvs.h"

namespace {

using hearth::rt::contention;
using hearth::rt::process;
using hearth::rt::Thread;

// kmp_library_t
enum Library : int { kSerial = 1, kTurnaround = 2, kThroughput = 3 };
constinit std::atomic<int> library_chosen{0};

constexpr std::int64_t kForever_ms = INT_MAX;

int get_blocktime() {
  hearth::rt::initialize();
  if (contention.spin_ns == INT64_MAX) return static_cast<int>(kForever_ms);
  return static_cast<int>(contention.spin_ns / 1'000'000);
}

void set_blocktime(int milliseconds) {
  hearth::rt::initialize();
  if (milliseconds < 0) milliseconds = 0;
  contention.spin_ns = milliseconds == INT_MAX ? INT64_MAX : std::int64_t{milliseconds} * 1'000'000;
}

std::size_t get_stacksize() {
  hearth::rt::initialize();
  return hearth::rt::stack_size_of_threads();
}

void set_stacksize(std::size_t bytes) {
  hearth::rt::initialize();
  process.stack_size = bytes;
}

int get_library() {
  hearth::rt::initialize();
  const int chosen = library_chosen.load(std::memory_order_relaxed);
  if (chosen != 0) return chosen;
  return hearth::rt::settings().serial ? kSerial : contention.spin_ns == INT64_MAX ? kTurnaround : kThroughput;
}

/// Turnaround: the machine is ours, waiting threads spin. Throughput: they give way.
void set_library(int library) {
  hearth::rt::initialize();
  switch (library) {
    case kSerial:
      // Regions of one thread from now on, in this task and what it starts.
      hearth::rt::own_icvs(Thread::current()).max_active_levels = 0;
      break;
    case kTurnaround: contention.spin_ns = INT64_MAX; break;
    case kThroughput:
      if (contention.spin_ns == INT64_MAX)
        contention.spin_ns = 200'000'000;  // what KMP_BLOCKTIME stands at by default
      break;
    default:
      hearth::warn(
          "kmp_set_library(%d): legal: 1 (serial), 2 (turnaround), 3 (throughput); ignored.",
          library);
      return;
  }
  library_chosen.store(library, std::memory_order_relaxed);
}

int known_threads() {
  int count = 0;
  hearth::rt::for_each_thread([](Thread*, void* sum) { ++*static_cast<int*>(sum); }, &count);
  return count;
}

/// 0 parallel, 1 loop, 2 sections, 3 taskgroup, as in kmp_cancel_kind_t: whether cancellation is on at all is
/// one switch.
int cancellation_status(int) {
  hearth::rt::initialize();
  return hearth::rt::settings().cancellation ? 1 : 0;
}

// --- masks

/// Bytes that the kernel's own masks have: found by asking, since the kernel refuses shorter ones.
std::size_t mask_bytes() {
  static constinit std::atomic<std::size_t> found{0};
  std::size_t bytes = found.load(std::memory_order_relaxed);
  if (bytes != 0) return bytes;
  for (bytes = 128; bytes <= 1 << 16; bytes *= 2) {
    void* probe = std::calloc(1, bytes);
    if (probe == nullptr) return 128;
    const int error = sched_getaffinity(0, bytes, static_cast<cpu_set_t*>(probe)) == 0 ? 0 : errno;
    std::free(probe);
    if (error != EINVAL) break;
  }
  found.store(bytes, std::memory_order_relaxed);
  return bytes;
}

using Mask = void*;  // kmp_affinity_mask_t

cpu_set_t* set_of(const Mask* mask) { return mask == nullptr ? nullptr : static_cast<cpu_set_t*>(*mask); }

int max_proc() {
  const long configured = sysconf(_SC_NPROCESSORS_CONF);
  return configured > 0 ? static_cast<int>(configured) : 1;
}

bool is_proc(int proc) { return proc >= 0 && static_cast<std::size_t>(proc) < mask_bytes() * CHAR_BIT; }

void create_mask(Mask* mask) {
  *mask = std::calloc(1, mask_bytes());
  if (*mask == nullptr) hearth::fatal("out of memory: no room for a mask of CPUs");
}

void destroy_mask(Mask* mask) {
  std::free(*mask);
  *mask = nullptr;
}

int set_affinity(const Mask* mask) {
  cpu_set_t* set = set_of(mask);
  if (set == nullptr || CPU_COUNT_S(mask_bytes(), set) == 0) return -1;
  return sched_setaffinity(0, mask_bytes(), set) == 0 ? 0 : errno;
}

int get_affinity(const Mask* mask) {
  cpu_set_t* set = set_of(mask);
  if (set == nullptr) return -1;
  std::memset(set, 0, mask_bytes());
  return sched_getaffinity(0, mask_bytes(), set) == 0 ? 0 : errno;
}

int set_proc(int proc, const Mask* mask) {
  cpu_set_t* set = set_of(mask);
  if (set == nullptr || !is_proc(proc) || proc >= max_proc())
    return set == nullptr || !is_proc(proc) ? -1 : -2;
  CPU_SET_S(static_cast<std::size_t>(proc), mask_bytes(), set);
  return 0;
}

int unset_proc(int proc, const Mask* mask) {
  cpu_set_t* set = set_of(mask);
  if (set == nullptr || !is_proc(proc) || proc >= max_proc())
    return set == nullptr || !is_proc(proc) ? -1 : -2;
  CPU_CLR_S(static_cast<std::size_t>(proc), mask_bytes(), set);
  return 0;
}

int get_proc(int proc, const Mask* mask) {
  cpu_set_t* set = set_of(mask);
  if (set == nullptr || !is_proc(proc)) return -1;
  return CPU_ISSET_S(static_cast<std::size_t>(proc), mask_bytes(), set) ? 1 : 0;
}

int clamp(std::size_t bytes) { return bytes > INT_MAX ? INT_MAX : static_cast<int>(bytes); }

}  // namespace

HEARTH_EXPORT int kmp_get_blocktime() { return get_blocktime(); }
HEARTH_EXPORT int kmp_get_blocktime_() { return get_blocktime(); }
HEARTH_EXPORT void kmp_set_blocktime(int milliseconds) { set_blocktime(milliseconds); }
HEARTH_EXPORT void kmpc_set_blocktime(int milliseconds) { set_blocktime(milliseconds); }
HEARTH_EXPORT void kmp_set_blocktime_(const int* milliseconds) { set_blocktime(*milliseconds); }

HEARTH_EXPORT int kmp_get_stacksize() { return clamp(get_stacksize()); }
HEARTH_EXPORT int kmp_get_stacksize_() { return clamp(get_stacksize()); }
HEARTH_EXPORT std::size_t kmp_get_stacksize_s() { return get_stacksize(); }
HEARTH_EXPORT std::size_t kmp_get_stacksize_s_() { return get_stacksize(); }
HEARTH_EXPORT void kmp_set_stacksize(int bytes) {
  set_stacksize(bytes > 0 ? static_cast<std::size_t>(bytes) : 0);
}
HEARTH_EXPORT void kmpc_set_stacksize(int bytes) {
  set_stacksize(bytes > 0 ? static_cast<std::size_t>(bytes) : 0);
}
HEARTH_EXPORT void kmp_set_stacksize_(const int* bytes) {
  set_stacksize(*bytes > 0 ? static_cast<std::size_t>(*bytes) : 0);
}
HEARTH_EXPORT void kmp_set_stacksize_s(std::size_t bytes) { set_stacksize(bytes); }
HEARTH_EXPORT void kmpc_set_stacksize_s(std::size_t bytes) { set_stacksize(bytes); }
HEARTH_EXPORT void kmp_set_stacksize_s_(const std::size_t* bytes) { set_stacksize(*bytes); }

HEARTH_EXPORT int kmp_get_library() { return get_library(); }
HEARTH_EXPORT int kmp_get_library_() { return get_library(); }
HEARTH_EXPORT void kmp_set_library(int library) { set_library(library); }
HEARTH_EXPORT void kmpc_set_library(int library) { set_library(library); }
HEARTH_EXPORT void kmp_set_library_(const int* library) { set_library(*library); }
HEARTH_EXPORT void kmp_set_library_serial() { set_library(kSerial); }
HEARTH_EXPORT void kmp_set_library_serial_() { set_library(kSerial); }
HEARTH_EXPORT void kmp_set_library_turnaround() { set_library(kTurnaround); }
HEARTH_EXPORT void kmp_set_library_turnaround_() { set_library(kTurnaround); }
HEARTH_EXPORT void kmp_set_library_throughput() { set_library(kThroughput); }
HEARTH_EXPORT void kmp_set_library_throughput_() { set_library(kThroughput); }

// How many loops may be under way at once is fixed here, and large enough that nobody waits for it.
HEARTH_EXPORT void kmp_set_disp_num_buffers(int) {}
HEARTH_EXPORT void kmpc_set_disp_num_buffers(int) {}
HEARTH_EXPORT void kmp_set_disp_num_buffers_(const int*) {}

HEARTH_EXPORT void kmp_set_warnings_on() { hearth::set_warnings(true); }
HEARTH_EXPORT void kmp_set_warnings_on_() { hearth::set_warnings(true); }
HEARTH_EXPORT void kmp_set_warnings_off() { hearth::set_warnings(false); }
HEARTH_EXPORT void kmp_set_warnings_off_() { hearth::set_warnings(false); }

HEARTH_EXPORT int kmp_get_num_known_threads() { return known_threads(); }
HEARTH_EXPORT int kmp_get_num_known_threads_() { return known_threads(); }
HEARTH_EXPORT int kmp_get_cancellation_status(int kind) { return cancellation_status(kind); }
HEARTH_EXPORT int kmp_get_cancellation_status_(const int* kind) { return cancellation_status(*kind); }

HEARTH_EXPORT void kmp_create_affinity_mask(Mask* mask) { create_mask(mask); }
HEARTH_EXPORT void kmp_create_affinity_mask_(Mask* mask) { create_mask(mask); }
HEARTH_EXPORT void kmp_destroy_affinity_mask(Mask* mask) { destroy_mask(mask); }
HEARTH_EXPORT void kmp_destroy_affinity_mask_(Mask* mask) { destroy_mask(mask); }
HEARTH_EXPORT int kmp_set_affinity(Mask* mask) { return set_affinity(mask); }
HEARTH_EXPORT int kmp_set_affinity_(Mask* mask) { return set_affinity(mask); }
HEARTH_EXPORT int kmp_get_affinity(Mask* mask) { return get_affinity(mask); }
HEARTH_EXPORT int kmp_get_affinity_(Mask* mask) { return get_affinity(mask); }
HEARTH_EXPORT int kmp_get_affinity_max_proc() { return max_proc(); }
HEARTH_EXPORT int kmp_get_affinity_max_proc_() { return max_proc(); }
HEARTH_EXPORT int kmp_set_affinity_mask_proc(int proc, Mask* mask) { return set_proc(proc, mask); }
HEARTH_EXPORT int kmpc_set_affinity_mask_proc(int proc, Mask* mask) { return set_proc(proc, mask); }
HEARTH_EXPORT int kmp_set_affinity_mask_proc_(const int* proc, Mask* mask) { return set_proc(*proc, mask); }
HEARTH_EXPORT int kmp_unset_affinity_mask_proc(int proc, Mask* mask) { return unset_proc(proc, mask); }
HEARTH_EXPORT int kmpc_unset_affinity_mask_proc(int proc, Mask* mask) { return unset_proc(proc, mask); }
HEARTH_EXPORT int kmp_unset_affinity_mask_proc_(const int* proc, Mask* mask) {
  return unset_proc(*proc, mask);
}
HEARTH_EXPORT int kmp_get_affinity_mask_proc(int proc, Mask* mask) { return get_proc(proc, mask); }
HEARTH_EXPORT int kmpc_get_affinity_mask_proc(int proc, Mask* mask) { return get_proc(proc, mask); }
HEARTH_EXPORT int kmp_get_affinity_mask_proc_(const int* proc, Mask* mask) { return get_proc(*proc, mask); }
