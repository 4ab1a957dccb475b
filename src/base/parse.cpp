// Checked parsing; see parse.h for the contract. A small cursor over the text carries the offset for the
// messages.
#include "base/parse.h"

namespace hearth {
namespace {

constexpr bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

struct Cursor {
  std::string_view text;
  std::size_t at = 0;

  bool end() const { return at >= text.size(); }
  char peek() const { return end() ? '\0' : text[at]; }
  void skip_space() {
    while (!end() && is_space(text[at])) ++at;
  }
  /// The longest run of letters from here, left in place.
  std::string_view letters() const {
    std::size_t stop = at;
    while (stop < text.size() && lower(text[stop]) >= 'a' && lower(text[stop]) <= 'z') ++stop;
    return text.substr(at, stop - at);
  }
};

template <typename T>
Parsed<T> failed(ParseFailure failure, std::size_t at) {
  Parsed<T> result;
  result.failure = failure;
  result.at = at;
  return result;
}

template <typename T>
Parsed<T> finish(Cursor& cursor, T value) {
  cursor.skip_space();
  if (!cursor.end()) return failed<T>(ParseFailure::trailing, cursor.at);
  return {value, ParseFailure::none, 0};
}

constexpr int digit_value(char c) {
  if (is_digit(c)) return c - '0';
  const char l = lower(c);
  return l >= 'a' && l <= 'f' ? l - 'a' + 10 : 99;
}

/// Digits from the cursor on. False when there is none; `overflow` when they exceed 64 bits.
bool read_unsigned(Cursor& cursor, std::uint64_t& value, bool& overflow, bool allow_hex) {
  int base = 10;
  if (allow_hex && cursor.peek() == '0' && cursor.at + 2 < cursor.text.size() &&
      lower(cursor.text[cursor.at + 1]) == 'x' && digit_value(cursor.text[cursor.at + 2]) < 16) {
    base = 16;
    cursor.at += 2;
  }
  if (digit_value(cursor.peek()) >= base || cursor.end()) return false;
  value = 0;
  overflow = false;
  while (!cursor.end() && digit_value(cursor.peek()) < base) {
    std::uint64_t wider;
    if (__builtin_mul_overflow(value, static_cast<std::uint64_t>(base), &wider) ||
        __builtin_add_overflow(wider, static_cast<std::uint64_t>(digit_value(cursor.peek())), &value)) {
      overflow = true;
    }
    ++cursor.at;
  }
  return true;
}

}  // namespace

const char* parse_failure_text(ParseFailure failure) {
  switch (failure) {
    case ParseFailure::none: return "no error";
    case ParseFailure::empty: return "empty value";
    case ParseFailure::not_a_number: return "not a number";
    case ParseFailure::out_of_range: return "out of range";
    case ParseFailure::bad_unit: return "unknown unit";
    case ParseFailure::unknown_word: return "unknown word";
    case ParseFailure::trailing: return "unexpected characters";
  }
  return "unknown error";
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

bool same_word(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (lower(a[i]) != lower(b[i])) return false;
  }
  return true;
}

Parsed<std::int64_t> parse_integer(std::string_view text, std::int64_t least, std::int64_t most) {
  using Result = std::int64_t;
  Cursor cursor{text};
  cursor.skip_space();
  if (cursor.end()) return failed<Result>(ParseFailure::empty, cursor.at);
  const std::size_t start = cursor.at;
  bool negative = false;
  if (cursor.peek() == '-' || cursor.peek() == '+') {
    negative = cursor.peek() == '-';
    ++cursor.at;
  }
  std::uint64_t magnitude = 0;
  bool overflow = false;
  if (!read_unsigned(cursor, magnitude, overflow, true))
    return failed<Result>(ParseFailure::not_a_number, start);
  constexpr std::uint64_t kMost = static_cast<std::uint64_t>(INT64_MAX);
  if (overflow || magnitude > kMost + (negative ? 1 : 0))
    return failed<Result>(ParseFailure::out_of_range, start);
  const auto value = static_cast<std::int64_t>(negative ? 0 - magnitude : magnitude);
  auto result = finish(cursor, value);
  if (result && (value < least || value > most)) return failed<Result>(ParseFailure::out_of_range, start);
  return result;
}

Parsed<std::uint64_t> parse_size(std::string_view text, std::uint64_t unit, std::uint64_t most) {
  using Result = std::uint64_t;
  Cursor cursor{text};
  cursor.skip_space();
  if (cursor.end()) return failed<Result>(ParseFailure::empty, cursor.at);
  const std::size_t start = cursor.at;
  if (cursor.peek() == '+') ++cursor.at;
  std::uint64_t value = 0;
  bool overflow = false;
  if (!read_unsigned(cursor, value, overflow, false))
    return failed<Result>(ParseFailure::not_a_number, start);
  cursor.skip_space();
  const std::string_view word = cursor.letters();
  if (!word.empty()) {
    const std::string_view prefixes = "kmgtp";
    std::string_view rest = word;
    unit = 1;
    const std::size_t power = prefixes.find(lower(word.front()));
    if (power != std::string_view::npos) {
      unit = std::uint64_t{1} << (10 * (power + 1));
      rest.remove_prefix(1);
      if (!rest.empty() && lower(rest.front()) == 'i' && rest.size() > 1) rest.remove_prefix(1);
    }
    if (!rest.empty() && !same_word(rest, "b")) return failed<Result>(ParseFailure::bad_unit, cursor.at);
    cursor.at += word.size();
  }
  auto result = finish(cursor, value);
  if (!result) return result;
  if (overflow || __builtin_mul_overflow(value, unit, &result.value) || result.value > most) {
    return failed<Result>(ParseFailure::out_of_range, start);
  }
  return result;
}

Parsed<bool> parse_boolean(std::string_view text) {
  static constexpr std::string_view kWords[] = {"false", "no",      "off", "0",    "disabled", "f",
                                                "n",     ".false.", ".f.", "true", "yes",      "on",
                                                "1",     "enabled", "t",   "y",    ".true.",   ".t."};
  constexpr std::size_t kCount = sizeof(kWords) / sizeof(kWords[0]);
  const auto word = parse_word(text, kWords, kCount);
  if (!word) return failed<bool>(word.failure, word.at);
  return {word.value >= kCount / 2, ParseFailure::none, 0};
}

Parsed<std::int64_t> parse_duration(std::string_view text, std::int64_t unit, std::int64_t most) {
  using Result = std::int64_t;
  Cursor cursor{text};
  cursor.skip_space();
  if (cursor.end()) return failed<Result>(ParseFailure::empty, cursor.at);
  const std::size_t start = cursor.at;
  const std::string_view first = cursor.letters();
  if (same_word(first, "infinite") || same_word(first, "infinity") || same_word(first, "inf")) {
    cursor.at += first.size();
    return finish(cursor, most == INT64_MAX ? std::int64_t{INT64_MAX} : most);
  }
  if (cursor.peek() == '+') ++cursor.at;
  std::uint64_t whole = 0;
  bool overflow = false;
  if (!read_unsigned(cursor, whole, overflow, false))
    return failed<Result>(ParseFailure::not_a_number, start);
  std::uint64_t fraction = 0;
  std::uint64_t scale = 1;
  if (cursor.peek() == '.') {
    ++cursor.at;
    if (!is_digit(cursor.peek())) return failed<Result>(ParseFailure::not_a_number, cursor.at);
    for (; is_digit(cursor.peek()); ++cursor.at) {
      if (scale >= 1'000'000'000) continue;  // beyond a billionth of any unit nothing is told apart
      fraction = fraction * 10 + static_cast<std::uint64_t>(cursor.peek() - '0');
      scale *= 10;
    }
  }
  cursor.skip_space();
  const std::string_view word = cursor.letters();
  if (!word.empty()) {
    struct Unit {
      std::string_view name;
      std::int64_t nanoseconds;
    };
    static constexpr Unit kUnits[] = {{"ns", 1},
                                      {"us", 1'000},
                                      {"ms", 1'000'000},
                                      {"s", 1'000'000'000},
                                      {"m", 60'000'000'000},
                                      {"min", 60'000'000'000}};
    const Unit* found = nullptr;
    for (const Unit& candidate : kUnits) {
      if (same_word(word, candidate.name)) found = &candidate;
    }
    if (found == nullptr) return failed<Result>(ParseFailure::bad_unit, cursor.at);
    unit = found->nanoseconds;
    cursor.at += word.size();
  }
  auto result = finish(cursor, std::int64_t{0});
  if (!result) return result;
  std::uint64_t total = 0;
  const auto part = static_cast<std::uint64_t>(static_cast<unsigned __int128>(fraction) *
                                               static_cast<std::uint64_t>(unit) / scale);
  if (overflow || __builtin_mul_overflow(whole, static_cast<std::uint64_t>(unit), &total) ||
      __builtin_add_overflow(total, part, &total) || total > static_cast<std::uint64_t>(most)) {
    return failed<Result>(ParseFailure::out_of_range, start);
  }
  result.value = static_cast<std::int64_t>(total);
  return result;
}

Parsed<std::size_t> parse_word(std::string_view text, const std::string_view* words, std::size_t count) {
  Cursor cursor{text};
  cursor.skip_space();
  if (cursor.end()) return failed<std::size_t>(ParseFailure::empty, cursor.at);
  const std::string_view word = trim(text);
  for (std::size_t i = 0; i < count; ++i) {
    if (same_word(word, words[i])) return {i, ParseFailure::none, 0};
  }
  return failed<std::size_t>(ParseFailure::unknown_word, cursor.at);
}

bool ListReader::next(std::string_view& item) {
  if (done_) return false;
  std::size_t stop = text_.find(separator_, position_);
  if (stop == std::string_view::npos) {
    stop = text_.size();
    done_ = true;
  }
  const std::string_view raw = text_.substr(position_, stop - position_);
  item = trim(raw);
  offset_ = item.empty() ? position_ : static_cast<std::size_t>(item.data() - text_.data());
  position_ = stop + 1;
  return true;
}

Parsed<std::size_t> parse_integer_list(std::string_view text, std::int64_t least, std::int64_t most,
                                       std::int64_t* out, std::size_t room) {
  ListReader list(text);
  std::string_view item;
  std::size_t count = 0;
  while (list.next(item)) {
    const auto value = parse_integer(item, least, most);
    if (!value) return failed<std::size_t>(value.failure, list.offset() + value.at);
    if (count == room) return failed<std::size_t>(ParseFailure::out_of_range, list.offset());
    out[count++] = value.value;
  }
  return {count, ParseFailure::none, 0};
}

}  // namespace hearth
