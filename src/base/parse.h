// Checked parsing of what people write into environment variables.
//
// Pure functions on string_views; no allocation, no locale, no exceptions, no global state. Every parser
// takes the whole text: surrounding white space is allowed, anything else left over is an error. Case never
// matters for words. On failure the Parsed holds what was wrong and the column (from 1) at which, so that the
// one line a person gets can point at it.
#pragma once

#include <cstddef>
#include <cstdint>

#include <string_view>

namespace hearth {

enum class ParseFailure : std::uint8_t {
  none,
  empty,         // nothing but white space where a value must stand
  not_a_number,  // no digit where one must stand
  out_of_range,  // a number, but not a legal one (or beyond 64 bits)
  bad_unit,      // a number followed by something that is no unit
  unknown_word,  // not one of the legal words
  trailing,      // a legal value, then something else
};

/// "unknown word", "trailing characters", …: fits into "what at column N".
const char* parse_failure_text(ParseFailure failure);

/// A value or what was wrong with it. `at` counts bytes from 0; column() is what people are told.
template <typename T>
struct Parsed {
  T value{};
  ParseFailure failure = ParseFailure::none;
  std::size_t at = 0;

  constexpr explicit operator bool() const { return failure == ParseFailure::none; }
  constexpr std::size_t column() const { return at + 1; }
};

/// Without leading and trailing white space (space, \t \n \v \f \r).
std::string_view trim(std::string_view text);

/// Equal up to ASCII case.
bool same_word(std::string_view a, std::string_view b);

/// A decimal number with optional sign (or hexadecimal after 0x).
Parsed<std::int64_t> parse_integer(std::string_view text, std::int64_t least, std::int64_t most);

/// A number of bytes: digits, then optionally a unit b, k, m, g or t (powers of 1024, an additional "b" or
/// "ib" is allowed). Without a unit the number counts `unit` bytes: OMP_STACKSIZE counts kilobytes.
Parsed<std::uint64_t> parse_size(std::string_view text, std::uint64_t unit, std::uint64_t most = UINT64_MAX);

/// true/false, yes/no, on/off, 1/0, enabled/disabled and t/f/y/n.
Parsed<bool> parse_boolean(std::string_view text);

/// A span of time in nanoseconds: a number, possibly with a fraction, and a unit ns, us, ms, s or m(in).
/// Without a unit it counts `unit` nanoseconds. "infinite" and "inf" give INT64_MAX.
Parsed<std::int64_t> parse_duration(std::string_view text, std::int64_t unit, std::int64_t most = INT64_MAX);

/// Index of the word among `count` legal ones.
Parsed<std::size_t> parse_word(std::string_view text, const std::string_view* words, std::size_t count);

/// Walks the items of a separated list; items come out trimmed, with their offset in the whole text, for
/// errors. An empty item (two separators in a row, or one at an end) comes out as an empty view.
class ListReader {
 public:
  constexpr explicit ListReader(std::string_view text, char separator = ',')
      : text_(text), separator_(separator) {}

  /// False when there are no more items.
  bool next(std::string_view& item);

  /// Offset of the last item's first byte within the whole text.
  constexpr std::size_t offset() const { return offset_; }

 private:
  std::string_view text_;
  std::size_t position_ = 0;
  std::size_t offset_ = 0;
  bool done_ = false;
  char separator_;
};

/// Number of items of the list, or the failure of the first item that is no legal integer, or out_of_range
/// when there are more than `room`.
Parsed<std::size_t> parse_integer_list(std::string_view text, std::int64_t least, std::int64_t most,
                                       std::int64_t* out, std::size_t room);

}  // namespace hearth
