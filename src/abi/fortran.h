// Fortran's forms of the omp_* calls: a trailing underscore, arguments by address, and a second form with
// "_8_" for programs compiled with 8-byte default integers (-fdefault-integer-8).
#pragma once

#include <climits>
#include <cstdint>
#include <cstring>

#include "abi/export.h"

#if defined(__GNUC__) && !defined(__clang__)
// Which of the calls below cannot throw is found out by the compiler, and different for each; the alias need
// not repeat it.
#pragma GCC diagnostic ignored "-Wmissing-attributes"
#endif

/// A call without arguments is the same code under both names. After the C form, in the same file.
#define HEARTH_FORTRAN(type, name) \
  extern "C" [[gnu::visibility("default"), gnu::used, gnu::alias(#name)]] type name##_()

namespace hearth::abi {

/// What an 8-byte Fortran integer means to an int parameter.
inline int narrowed(std::int64_t value) {
  if (value > INT_MAX) return INT_MAX;
  if (value < INT_MIN) return INT_MIN;
  return static_cast<int>(value);
}

/// A Fortran character argument as a C string: cut at `room`, trailing blanks dropped.
inline const char* c_string(char* out, std::size_t room, const char* text, std::size_t length) {
  while (length > 0 && text[length - 1] == ' ') --length;
  if (length >= room) length = room - 1;
  std::memcpy(out, text, length);
  out[length] = '\0';
  return out;
}

/// A C string of `length` characters as a Fortran character variable: cut, or filled with blanks.
inline void fortran_string(char* out, std::size_t room, const char* text, std::size_t length) {
  if (length > room) length = room;
  std::memcpy(out, text, length);
  std::memset(out + length, ' ', room - length);
}

}  // namespace hearth::abi
