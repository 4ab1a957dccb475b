// Target constructs and the device API, answered by the host: there is no device but the initial one.
//
// Any thread. A target region runs in the thread that meets it, in an initial task of its own
// (runtime/team/initial_task.h); mapped variables are the host's own, so only firstprivate copies are made.
// `nowait` makes a deferred task of it, which takes its firstprivate copies along. Data motion is nothing but
// its dependences. Device numbers: 0 devices, so the initial device is number 0, as in both peers;
// OpenMP 5.2's omp_initial_device (-1) means it, too.
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>

#include "abi/export.h"
#include "abi/gomp/depend.h"
#include "base/log.h"
#include "runtime/process/startup.h"
#include "runtime/settings/settings.h"
#include "runtime/state/process.h"
#include "runtime/task/create.h"
#include "runtime/task/ready.h"
#include "runtime/team/initial_task.h"

namespace {

using hearth::rt::Task;
using hearth::rt::Thread;

constexpr int kInitialDevice = 0;        // == the number of devices
constexpr int kInitialDeviceAlias = -1;  // omp_initial_device
constexpr int kInvalidDevice = -4;       // gcc's omp_invalid_device

// What gcc passes as `device`: a number, or these.
constexpr int kDeviceFromIcv = -1;
constexpr int kDeviceHostFallback = -2;  // if(false)

constexpr unsigned kFlagNowait = 1u << 0;

// The kinds of mapping that mean work on the host; the rest is between a host and a device.
constexpr unsigned kMapFirstprivate = 12;

bool is_host(int device) { return device == kInitialDevice || device == kInitialDeviceAlias; }

/// OMP_TARGET_OFFLOAD=mandatory forbids the host where the program asked for a device.
void check_offload(int device) {
  if (device == kDeviceHostFallback ||
      HEARTH_LIKELY(hearth::rt::process.target_offload.load(std::memory_order_relaxed) !=
                    hearth::rt::TargetOffload::mandatory))
    return;
  if (device == kDeviceFromIcv) device = Thread::current()->task->icvs->default_device;
  if (!is_host(device))
    hearth::fatal(
        "OMP_TARGET_OFFLOAD=\"mandatory\", but device %d does not exist: the host (device %d) is the only device.",
        device, kInitialDevice);
}

/// gcc's list of arguments of a target region: all that counts on the host is the thread limit; 0: none.
std::int32_t thread_limit_of(void** args) {
  constexpr std::intptr_t kDeviceMask = (1 << 7) - 1;
  constexpr std::intptr_t kSubsequent = 1 << 7;
  constexpr std::intptr_t kIdMask = ((1 << 8) - 1) << 8;
  constexpr std::intptr_t kThreadLimit = 2 << 8;
  constexpr int kValueShift = 16;
  if (args == nullptr) return 0;
  while (*args != nullptr) {
    const auto id = reinterpret_cast<std::intptr_t>(*args++);
    const std::intptr_t value = (id & kSubsequent) != 0 ? reinterpret_cast<std::intptr_t>(*args++) : id >> kValueShift;
    if ((id & kDeviceMask) != 0 || (id & kIdMask) != kThreadLimit) continue;
    return value > INT_MAX ? INT_MAX : static_cast<std::int32_t>(value);
  }
  return 0;
}

/// The firstprivate variables among the mapped ones: their room, and their copies.
struct FirstPrivates {
  std::size_t count;
  const std::size_t* sizes;
  const unsigned short* kinds;

  static std::size_t aligned(std::size_t offset, std::size_t alignment) {
    return (offset + alignment - 1) & ~(alignment - 1);
  }
  bool is_one(std::size_t i) const { return (kinds[i] & 0xff) == kMapFirstprivate; }
  std::size_t alignment_of(std::size_t i) const { return std::size_t{1} << (kinds[i] >> 8); }

  std::size_t alignment() const {
    std::size_t most = 1;
    for (std::size_t i = 0; i < count; ++i)
      if (is_one(i) && alignment_of(i) > most) most = alignment_of(i);
    return most;
  }
  std::size_t bytes() const {
    std::size_t end = 0;
    for (std::size_t i = 0; i < count; ++i)
      if (is_one(i)) end = aligned(end, alignment_of(i)) + sizes[i];
    return end;
  }
  /// Copy into `room` (aligned as alignment() says) and let `addresses` point there.
  void copy(void** addresses, char* room) const {
    std::size_t end = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (!is_one(i)) continue;
      end = aligned(end, alignment_of(i));
      if (addresses[i] != nullptr) {
        std::memcpy(room + end, addresses[i], sizes[i]);
        addresses[i] = room + end;
      }
      end += sizes[i];
    }
  }
};

char* align_up(char* p, std::size_t alignment) {
  return reinterpret_cast<char*>((reinterpret_cast<std::uintptr_t>(p) + alignment - 1) & ~(alignment - 1));
}

/// A deferred target region. The addresses, then the firstprivate copies, follow it in the task's payload.
struct DeferredRegion {
  void (*function)(void*);
  std::int32_t thread_limit;
  void** addresses() { return reinterpret_cast<void**>(this + 1); }
};

void run_deferred_region(void* data) {
  auto* region = static_cast<DeferredRegion*>(data);
  hearth::rt::InitialTask how;
  how.thread_limit = region->thread_limit;
  hearth::rt::run_initial_task(Thread::current(), how, region->function, static_cast<void*>(region->addresses()));
}

void do_nothing(void*) {}

void start(Thread* self, Task* task, const hearth::abi::GompDependences& dependences) {
  if (dependences.size() != 0) task->flags |= hearth::rt::kTaskNamesDepend;
  hearth::rt::adopt(self, task);
  if (dependences.size() != 0)
    hearth::rt::spawn_with_dependences(self, task, dependences.data(), dependences.size());
  else
    hearth::rt::make_ready(self, task);
}

void wait_for(Thread* self, const hearth::abi::GompDependences& dependences) {
  if (dependences.size() != 0) hearth::rt::wait_for_dependences(self, dependences.data(), dependences.size());
}

/// Data directives: only their order matters.
void move_data(int device, unsigned flags, void** depend) {
  check_offload(device);
  if (depend == nullptr) return;
  Thread* self = Thread::current();
  hearth::abi::GompDependences dependences(depend);
  if ((flags & kFlagNowait) == 0) {
    wait_for(self, dependences);
    return;
  }
  Task* task = hearth::rt::new_task(self, 0, hearth::rt::kTaskTied | hearth::rt::kTaskTarget);
  task->function = do_nothing;
  task->data = nullptr;
  start(self, task, dependences);
}

}  // namespace

HEARTH_EXPORT void GOMP_target_ext(int device, void (*function)(void*), std::size_t count, void** addresses,
                                   std::size_t* sizes, unsigned short* kinds, unsigned flags, void** depend,
                                   void** args) {
  check_offload(device);
  Thread* self = Thread::current();
  const FirstPrivates copies{count, sizes, kinds};
  const std::size_t bytes = copies.bytes();
  const std::size_t alignment = copies.alignment();
  const std::int32_t thread_limit = thread_limit_of(args);
  hearth::abi::GompDependences dependences(depend);

  if ((flags & kFlagNowait) != 0) {
    Task* task = hearth::rt::new_task(self, sizeof(DeferredRegion) + count * sizeof(void*) + bytes + alignment,
                                      hearth::rt::kTaskTied | hearth::rt::kTaskTarget);
    auto* region = static_cast<DeferredRegion*>(task->payload());
    region->function = function;
    region->thread_limit = thread_limit;
    if (count != 0)
      std::memcpy(static_cast<void*>(region->addresses()), static_cast<const void*>(addresses), count * sizeof(void*));
    copies.copy(region->addresses(), align_up(reinterpret_cast<char*>(region->addresses() + count), alignment));
    task->function = run_deferred_region;
    task->data = region;
    start(self, task, dependences);
    return;
  }

  wait_for(self, dependences);
  char* room = nullptr;
  if (bytes != 0) {
    // On the stack, like the variables they copy: the region's frame is above this one.
    room = align_up(static_cast<char*>(__builtin_alloca(bytes + alignment)), alignment);
    copies.copy(addresses, room);
  }
  hearth::rt::InitialTask how;
  how.thread_limit = thread_limit;
  hearth::rt::run_initial_task(self, how, function, static_cast<void*>(addresses));
}

HEARTH_EXPORT void GOMP_target(int device, void (*function)(void*), const void*, std::size_t, void** addresses,
                               std::size_t*, unsigned char*) {
  check_offload(device);
  hearth::rt::run_initial_task(Thread::current(), {}, function, static_cast<void*>(addresses));
}

HEARTH_EXPORT void GOMP_target_data(int device, const void*, std::size_t, void**, std::size_t*, unsigned char*) {
  check_offload(device);
}
HEARTH_EXPORT void GOMP_target_data_ext(int device, std::size_t, void**, std::size_t*, unsigned short*) {
  check_offload(device);
}
HEARTH_EXPORT void GOMP_target_end_data() {}
HEARTH_EXPORT void GOMP_target_update(int device, const void*, std::size_t, void**, std::size_t*, unsigned char*) {
  check_offload(device);
}
HEARTH_EXPORT void GOMP_target_update_ext(int device, std::size_t, void**, std::size_t*, unsigned short*,
                                          unsigned flags, void** depend) {
  move_data(device, flags, depend);
}
HEARTH_EXPORT void GOMP_target_enter_exit_data(int device, std::size_t, void**, std::size_t*, unsigned short*,
                                               unsigned flags, void** depend) {
  move_data(device, flags, depend);
}
HEARTH_EXPORT void* GOMP_target_map_indirect_ptr(void* function) { return function; }

// Images for devices that are not there.
HEARTH_EXPORT void GOMP_offload_register(const void*, int, const void*) {}
HEARTH_EXPORT void GOMP_offload_register_ver(unsigned, const void*, int, const void*) {}
HEARTH_EXPORT void GOMP_offload_unregister(const void*, int, const void*) {}
HEARTH_EXPORT void GOMP_offload_unregister_ver(unsigned, const void*, int, const void*) {}

// `interop` constructs: what the host has to offer is omp_interop_none.
HEARTH_EXPORT void GOMP_interop(int device, int init_count, void** const* init, const void*, const void*, int,
                                void** const*, int destroy_count, void** const* destroy, unsigned flags,
                                void** depend) {
  move_data(device, flags & ~kFlagNowait, depend);
  for (int i = 0; i < init_count; ++i) *init[i] = nullptr;
  for (int i = 0; i < destroy_count; ++i) *destroy[i] = nullptr;
}

HEARTH_EXPORT int __kmpc_get_target_offload() {
  hearth::rt::initialize();
  switch (hearth::rt::process.target_offload.load(std::memory_order_relaxed)) {
    case hearth::rt::TargetOffload::disabled: return 0;
    case hearth::rt::TargetOffload::mandatory: return 2;
    case hearth::rt::TargetOffload::default_: break;
  }
  return 1;
}

// --- devices

HEARTH_EXPORT int omp_get_num_devices() { return 0; }
HEARTH_EXPORT int omp_get_num_devices_() { return 0; }
HEARTH_EXPORT int omp_get_initial_device() { return kInitialDevice; }
HEARTH_EXPORT int omp_get_initial_device_() { return kInitialDevice; }
HEARTH_EXPORT int omp_get_device_num() { return kInitialDevice; }
HEARTH_EXPORT int omp_get_device_num_() { return kInitialDevice; }
HEARTH_EXPORT int omp_is_initial_device() { return 1; }
HEARTH_EXPORT int omp_is_initial_device_() { return 1; }

// gcc 15's unique identifiers of devices.
HEARTH_EXPORT int omp_get_device_from_uid(const char* uid) {
  return uid != nullptr && std::strcmp(uid, "OMP_INITIAL_DEVICE") == 0 ? kInitialDevice : kInvalidDevice;
}
HEARTH_EXPORT const char* omp_get_uid_from_device(int device) {
  return is_host(device) ? "OMP_INITIAL_DEVICE" : nullptr;
}

// --- memory on the device, which is the host's

HEARTH_EXPORT void* omp_target_alloc(std::size_t size, int device) {
  return is_host(device) ? std::malloc(size) : nullptr;
}
HEARTH_EXPORT void omp_target_free(void* block, int device) {
  if (is_host(device)) std::free(block);
}
HEARTH_EXPORT int omp_target_is_present(const void*, int device) { return is_host(device) ? 1 : 0; }
HEARTH_EXPORT int omp_target_is_accessible(const void*, std::size_t, int device) { return is_host(device) ? 1 : 0; }
HEARTH_EXPORT void* omp_get_mapped_ptr(const void* address, int device) {
  return is_host(device) ? const_cast<void*>(address) : nullptr;
}
// Host memory cannot be associated with host memory.
HEARTH_EXPORT int omp_target_associate_ptr(const void*, const void*, std::size_t, std::size_t, int) { return EINVAL; }
HEARTH_EXPORT int omp_target_disassociate_ptr(const void*, int) { return EINVAL; }

namespace {

int copy(void* to, const void* from, std::size_t bytes, std::size_t to_offset, std::size_t from_offset, int to_device,
         int from_device) {
  if (!is_host(to_device) || !is_host(from_device)) return EINVAL;
  std::memmove(static_cast<char*>(to) + to_offset, static_cast<const char*>(from) + from_offset, bytes);
  return 0;
}

/// One dimension of a rectangular copy; the innermost is one memmove. Extents in elements; `element` bytes
/// each.
int copy_box(char* to, const char* from, std::size_t element, int dimensions, const std::size_t* volume,
             const std::size_t* to_offsets, const std::size_t* from_offsets, const std::size_t* to_extents,
             const std::size_t* from_extents) {
  if (dimensions == 1) {
    std::size_t bytes = 0;
    std::size_t to_start = 0;
    std::size_t from_start = 0;
    if (__builtin_mul_overflow(element, volume[0], &bytes) ||
        __builtin_mul_overflow(element, to_offsets[0], &to_start) ||
        __builtin_mul_overflow(element, from_offsets[0], &from_start))
      return EINVAL;
    std::memmove(to + to_start, from + from_start, bytes);
    return 0;
  }
  std::size_t to_slice = element;
  std::size_t from_slice = element;
  for (int i = 1; i < dimensions; ++i) {
    if (__builtin_mul_overflow(to_slice, to_extents[i], &to_slice) ||
        __builtin_mul_overflow(from_slice, from_extents[i], &from_slice))
      return EINVAL;
  }
  std::size_t to_start = 0;
  std::size_t from_start = 0;
  if (__builtin_mul_overflow(to_slice, to_offsets[0], &to_start) ||
      __builtin_mul_overflow(from_slice, from_offsets[0], &from_start))
    return EINVAL;
  to += to_start;
  from += from_start;
  for (std::size_t i = 0; i < volume[0]; ++i, to += to_slice, from += from_slice) {
    const int error = copy_box(to, from, element, dimensions - 1, volume + 1, to_offsets + 1, from_offsets + 1,
                               to_extents + 1, from_extents + 1);
    if (error != 0) return error;
  }
  return 0;
}

int copy_rectangle(void* to, const void* from, std::size_t element, int dimensions, const std::size_t* volume,
                   const std::size_t* to_offsets, const std::size_t* from_offsets, const std::size_t* to_extents,
                   const std::size_t* from_extents, int to_device, int from_device) {
  if (to == nullptr && from == nullptr) return INT_MAX;  // the question how many dimensions there may be
  if (!is_host(to_device) || !is_host(from_device) || dimensions < 1 || element == 0) return EINVAL;
  return copy_box(static_cast<char*>(to), static_cast<const char*>(from), element, dimensions, volume, to_offsets,
                  from_offsets, to_extents, from_extents);
}

// The asynchronous forms may finish before they return; what they must do is to respect the dependences.
void wait_for_objects(int count, void* const (*objects)[2]) {
  if (count <= 0 || objects == nullptr) return;
  hearth::abi::GompDependences dependences(static_cast<std::size_t>(count), objects);
  wait_for(Thread::current(), dependences);
}

}  // namespace

HEARTH_EXPORT int omp_target_memcpy(void* to, const void* from, std::size_t bytes, std::size_t to_offset,
                                    std::size_t from_offset, int to_device, int from_device) {
  return copy(to, from, bytes, to_offset, from_offset, to_device, from_device);
}
HEARTH_EXPORT int omp_target_memcpy_async(void* to, const void* from, std::size_t bytes, std::size_t to_offset,
                                          std::size_t from_offset, int to_device, int from_device, int count,
                                          void* const (*objects)[2]) {
  wait_for_objects(count, objects);
  return copy(to, from, bytes, to_offset, from_offset, to_device, from_device);
}
HEARTH_EXPORT int omp_target_memcpy_rect(void* to, const void* from, std::size_t element, int dimensions,
                                         const std::size_t* volume, const std::size_t* to_offsets,
                                         const std::size_t* from_offsets, const std::size_t* to_extents,
                                         const std::size_t* from_extents, int to_device, int from_device) {
  return copy_rectangle(to, from, element, dimensions, volume, to_offsets, from_offsets, to_extents, from_extents,
                        to_device, from_device);
}
HEARTH_EXPORT int omp_target_memcpy_rect_async(void* to, const void* from, std::size_t element, int dimensions,
                                               const std::size_t* volume, const std::size_t* to_offsets,
                                               const std::size_t* from_offsets, const std::size_t* to_extents,
                                               const std::size_t* from_extents, int to_device, int from_device,
                                               int count, void* const (*objects)[2]) {
  wait_for_objects(count, objects);
  return copy_rectangle(to, from, element, dimensions, volume, to_offsets, from_offsets, to_extents, from_extents,
                        to_device, from_device);
}
HEARTH_EXPORT void* omp_target_memset(void* block, int value, std::size_t bytes, int device) {
  return is_host(device) ? std::memset(block, value, bytes) : nullptr;
}
HEARTH_EXPORT void* omp_target_memset_async(void* block, int value, std::size_t bytes, int device, int count,
                                            void* const (*objects)[2]) {
  wait_for_objects(count, objects);
  return is_host(device) ? std::memset(block, value, bytes) : nullptr;
}

// --- interop objects: there is only omp_interop_none, which has no properties

namespace {

constexpr int kInteropEmpty = -1;       // omp_irc_empty
constexpr int kInteropOutOfRange = -2;  // omp_irc_out_of_range
constexpr int kFirstProperty = -9;      // omp_ipr_first .. omp_ipr_fr_id are -9 .. -1

/// The code that every question about an object gets.
void answer_empty(int property, int* code) {
  if (code != nullptr) *code = property < kFirstProperty || property > -1 ? kInteropOutOfRange : kInteropEmpty;
}

}  // namespace

HEARTH_EXPORT int omp_get_num_interop_properties(const void*) { return 0; }
HEARTH_EXPORT std::intptr_t omp_get_interop_int(const void*, int property, int* code) {
  answer_empty(property, code);
  return 0;
}
HEARTH_EXPORT void* omp_get_interop_ptr(const void*, int property, int* code) {
  answer_empty(property, code);
  return nullptr;
}
HEARTH_EXPORT const char* omp_get_interop_str(const void*, int property, int* code) {
  answer_empty(property, code);
  return nullptr;
}
HEARTH_EXPORT const char* omp_get_interop_name(const void*, int property) {
  static constexpr const char* kNames[] = {"fr_id",    "fr_name", "vendor",         "vendor_name", "device_num",
                                           "platform", "device",  "device_context", "targetsync"};
  return property < kFirstProperty || property > -1 ? nullptr : kNames[-1 - property];
}
HEARTH_EXPORT const char* omp_get_interop_type_desc(const void*, int) { return nullptr; }
HEARTH_EXPORT const char* omp_get_interop_rc_desc(const void*, int code) {
  switch (code) {
    case 1: return "no meaningful value available";
    case 0: return "successful";
    case -1: return "provided interoperability object is equal to omp_interop_none";
    case -2: return "property ID is out of range";
    case -3: return "property type is integer; use omp_get_interop_int";
    case -4: return "property type is pointer; use omp_get_interop_ptr";
    case -5: return "property type is string; use omp_get_interop_str";
    default: return "other error";
  }
}
