// The few pieces of the C++ library's machine code that the headers refer to, so that libhearth.so takes
// almost nothing from libstdc++.a.
//
// Why: std::vector and std::string refer to functions that throw; those drag in exceptions, the unwinder,
// locales and with them symbols of glibc 2.32 to 2.36, though the library is built without exceptions and
// would end in std::terminate anyway. Here they end in fatal(), which says what happened. Linked into
// libhearth.so only (hearth_shared_flags), never into programs and tests, where these functions must throw.
// All of it is callable from any thread.
#include <cerrno>
#include <charconv>
#include <clocale>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include <locale.h>

#include "base/log.h"

// The headers' reference counts look at this to skip atomics in programs of one thread. glibc has it
// since 2.32 only; ours says "several threads", always.
extern "C" {
[[gnu::visibility("hidden")]] char __libc_single_threaded = 0;
}

namespace {

void* allocate(std::size_t size) {
  void* memory = std::malloc(size != 0 ? size : 1);
  if (memory == nullptr) hearth::fatal("out of memory (%zu bytes asked for).", size);
  return memory;
}

void* allocate_aligned(std::size_t size, std::size_t alignment) {
  void* memory = nullptr;
  if (posix_memalign(&memory, alignment < sizeof(void*) ? sizeof(void*) : alignment, size != 0 ? size : 1) !=
      0) {
    hearth::fatal("out of memory (%zu bytes asked for).", size);
  }
  return memory;
}

}  // namespace

const std::nothrow_t std::nothrow{};

void* operator new(std::size_t size) { return allocate(size); }
void* operator new[](std::size_t size) { return allocate(size); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return std::malloc(size != 0 ? size : 1);
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  return std::malloc(size != 0 ? size : 1);
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  return allocate_aligned(size, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment) {
  return allocate_aligned(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

extern "C" [[noreturn, gnu::visibility("hidden")]] void __cxa_pure_virtual() {
  hearth::fatal("a pure virtual function was called.");
}

// All of these are declared noreturn by the library's headers.
namespace std {

void __throw_length_error(const char* what) { hearth::fatal("length error: %s", what); }
void __throw_logic_error(const char* what) { hearth::fatal("logic error: %s", what); }
void __throw_out_of_range(const char* what) { hearth::fatal("out of range: %s", what); }
void __throw_invalid_argument(const char* what) { hearth::fatal("invalid argument: %s", what); }
void __throw_bad_alloc() { hearth::fatal("out of memory."); }
void __throw_bad_array_new_length() { hearth::fatal("an array of impossible length was asked for."); }
void __throw_bad_function_call() { hearth::fatal("an empty function object was called."); }
void __throw_out_of_range_fmt(const char* format, ...) {
  char text[256];
  va_list args;
  va_start(args, format);
  std::vsnprintf(text, sizeof(text), format, args);
  va_end(args);
  hearth::fatal("out of range: %s", text);
}

/// libstdc++'s own falls back on changing the thread's locale; this reads a copy in the "C" locale. Only the
/// general format, which is what configuration files hold.
from_chars_result from_chars(const char* first, const char* last, double& value,
                             chars_format format) noexcept {
  char copy[128];
  const auto length = static_cast<size_t>(last - first);
  if (length == 0 || length >= sizeof(copy) || format == chars_format::hex || *first == '+' ||
      (*first >= '\t' && *first <= '\r') || *first == ' ') {
    return {first, errc::invalid_argument};
  }
  memcpy(copy, first, length);
  copy[length] = '\0';
  static const locale_t plain = newlocale(LC_ALL_MASK, "C", nullptr);
  const int saved = errno;
  errno = 0;
  char* end = copy;
  const double read = strtod_l(copy, &end, plain);
  const bool range = errno == ERANGE;
  errno = saved;
  if (end == copy) return {first, errc::invalid_argument};
  const char* stop = first + (end - copy);
  if (range) return {stop, errc::result_out_of_range};
  value = read;
  return {stop, errc()};
}

}  // namespace std

// make_shared finds its own control block by address when RTTI is off; the comparison by type_info that the
// header can also make never holds then.
#include <memory>
bool std::_Sp_make_shared_tag::_S_eq(const std::type_info&) noexcept { return false; }
