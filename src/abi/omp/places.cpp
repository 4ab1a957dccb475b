// omp_* calls about places and the display of affinity. Any thread of the program; the place list is
// constant.
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "abi/export.h"
#include "abi/fortran.h"
#include "runtime/binding/places.h"
#include "runtime/process/startup.h"

using hearth::abi::c_string;
using hearth::abi::fortran_string;
using hearth::abi::narrowed;
using hearth::rt::Partition;
using hearth::rt::Thread;

namespace {

constexpr std::size_t kFormatRoom = 1024;

int num_places() {
  hearth::rt::initialize();
  return hearth::rt::place_count();
}

int place_num_procs(int place) {
  hearth::rt::initialize();
  return hearth::rt::place_size(place);
}

template <class Int>
void place_proc_ids(int place, Int* ids) {
  hearth::rt::initialize();
  hearth::rt::for_each_cpu_of_place(
      place, [](void* out, unsigned cpu) { *(*static_cast<Int**>(out))++ = static_cast<Int>(cpu); }, &ids);
}

template <class Int>
void partition_place_nums(Int* numbers) {
  const Partition partition = hearth::rt::partition_of(Thread::current());
  for (std::int32_t i = 0; i < partition.count; ++i) numbers[i] = partition.first + i;
}

}  // namespace

HEARTH_EXPORT int omp_get_num_places() { return num_places(); }
HEARTH_FORTRAN(int, omp_get_num_places);
HEARTH_EXPORT int omp_get_place_num() { return hearth::rt::partition_of(Thread::current()).place; }
HEARTH_FORTRAN(int, omp_get_place_num);
HEARTH_EXPORT int omp_get_place_num_procs(int place) { return place_num_procs(place); }
HEARTH_EXPORT int omp_get_place_num_procs_(const std::int32_t* place) { return place_num_procs(*place); }
HEARTH_EXPORT int omp_get_place_num_procs_8_(const std::int64_t* place) {
  return place_num_procs(narrowed(*place));
}
HEARTH_EXPORT void omp_get_place_proc_ids(int place, int* ids) { place_proc_ids(place, ids); }
HEARTH_EXPORT void omp_get_place_proc_ids_(const std::int32_t* place, std::int32_t* ids) {
  place_proc_ids(*place, ids);
}
HEARTH_EXPORT void omp_get_place_proc_ids_8_(const std::int64_t* place, std::int64_t* ids) {
  place_proc_ids(narrowed(*place), ids);
}
HEARTH_EXPORT int omp_get_partition_num_places() { return hearth::rt::partition_of(Thread::current()).count; }
HEARTH_FORTRAN(int, omp_get_partition_num_places);
HEARTH_EXPORT void omp_get_partition_place_nums(int* numbers) { partition_place_nums(numbers); }
HEARTH_EXPORT void omp_get_partition_place_nums_(std::int32_t* numbers) { partition_place_nums(numbers); }
HEARTH_EXPORT void omp_get_partition_place_nums_8_(std::int64_t* numbers) { partition_place_nums(numbers); }

HEARTH_EXPORT void omp_set_affinity_format(const char* format) {
  hearth::rt::initialize();
  hearth::rt::set_affinity_format(format);
}
HEARTH_EXPORT void ompc_set_affinity_format(const char* format) {
  hearth::rt::initialize();
  hearth::rt::set_affinity_format(format);
}
HEARTH_EXPORT void omp_set_affinity_format_(const char* format, std::size_t length) {
  char text[kFormatRoom];
  hearth::rt::initialize();
  hearth::rt::set_affinity_format(c_string(text, sizeof(text), format, length));
}

namespace {

/// Copies what fits, and returns what is needed.
std::size_t get_affinity_format(char* out, std::size_t room) {
  hearth::rt::initialize();
  const char* format = hearth::rt::affinity_format();
  const std::size_t length = std::strlen(format);
  if (out != nullptr && room > 0) {
    const std::size_t kept = length < room ? length : room - 1;
    std::memcpy(out, format, kept);
    out[kept] = '\0';
  }
  return length;
}

}  // namespace

HEARTH_EXPORT std::size_t omp_get_affinity_format(char* out, std::size_t room) {
  return get_affinity_format(out, room);
}
HEARTH_EXPORT std::size_t ompc_get_affinity_format(char* out, std::size_t room) {
  return get_affinity_format(out, room);
}
HEARTH_EXPORT int omp_get_affinity_format_(char* out, std::size_t room) {
  hearth::rt::initialize();
  const char* format = hearth::rt::affinity_format();
  const std::size_t length = std::strlen(format);
  fortran_string(out, room, format, length);
  return static_cast<int>(length);
}

HEARTH_EXPORT void omp_display_affinity(const char* format) {
  hearth::rt::display_affinity(Thread::current(), format);
}
HEARTH_EXPORT void ompc_display_affinity(const char* format) {
  hearth::rt::display_affinity(Thread::current(), format);
}
HEARTH_EXPORT void omp_display_affinity_(const char* format, std::size_t length) {
  char text[kFormatRoom];
  hearth::rt::display_affinity(Thread::current(), c_string(text, sizeof(text), format, length));
}

HEARTH_EXPORT std::size_t omp_capture_affinity(char* out, std::size_t room, const char* format) {
  return hearth::rt::format_affinity(Thread::current(), format, out, room);
}
HEARTH_EXPORT std::size_t ompc_capture_affinity(char* out, std::size_t room, const char* format) {
  return hearth::rt::format_affinity(Thread::current(), format, out, room);
}
HEARTH_EXPORT int omp_capture_affinity_(char* out, const char* format, std::size_t room,
                                        std::size_t format_length) {
  char text[kFormatRoom];
  char line[4 * kFormatRoom];
  const std::size_t length = hearth::rt::format_affinity(
      Thread::current(), c_string(text, sizeof(text), format, format_length), line, sizeof(line));
  fortran_string(out, room, line, length < sizeof(line) ? length : sizeof(line) - 1);
  return static_cast<int>(length);
}
