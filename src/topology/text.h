// Reading and writing short texts without iostream, locale or exceptions: what the kernel's files and the
// environment's variables need. Pure; no state beyond the objects.
#pragma once

#include <cstdint>
#include <cstdio>

#include <string>
#include <string_view>

namespace hearth::topology {

/// Walks a text from left to right. column() counts from 1, as the messages to users do.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  bool at_end() const { return at_ == text_.size(); }
  char peek() const { return at_end() ? '\0' : text_[at_]; }
  std::size_t column() const { return at_ + 1; }
  std::size_t position() const { return at_; }
  std::string_view rest() const { return text_.substr(at_); }
  void seek(std::size_t position) { at_ = position; }

  static bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
  static bool is_digit(char c) { return c >= '0' && c <= '9'; }
  static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

  void skip_space() {
    while (!at_end() && is_space(text_[at_])) ++at_;
  }
  bool take(char c) {
    if (peek() != c || at_end()) return false;
    ++at_;
    return true;
  }
  /// An unsigned decimal number of at most `largest`. Nothing is consumed when there is none or it is larger.
  template <class Number>
  bool number(Number& out, Number largest) {
    std::size_t end = at_;
    std::uint64_t value = 0;
    while (end < text_.size() && is_digit(text_[end])) {
      const auto digit = static_cast<std::uint64_t>(text_[end] - '0');
      if (value > (UINT64_MAX - digit) / 10) return false;
      value = value * 10 + digit;
      ++end;
    }
    if (end == at_ || value > static_cast<std::uint64_t>(largest)) return false;
    at_ = end;
    out = static_cast<Number>(value);
    return true;
  }
  /// Letters, digits and underscores, beginning with a letter. Empty when there is none.
  std::string_view word() {
    const std::size_t start = at_;
    if (!is_letter(peek())) return {};
    while (!at_end() && (is_letter(text_[at_]) || is_digit(text_[at_]))) ++at_;
    return text_.substr(start, at_ - start);
  }
  /// Up to, not including, the first character out of `stops`.
  std::string_view until(std::string_view stops) {
    const std::size_t start = at_;
    while (!at_end() && stops.find(text_[at_]) == std::string_view::npos) ++at_;
    return text_.substr(start, at_ - start);
  }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
};

inline void append_number(std::string& text, std::uint64_t value) {
  char digits[24];
  text.append(digits, static_cast<std::size_t>(std::snprintf(digits, sizeof digits, "%llu",
                                                             static_cast<unsigned long long>(value))));
}

/// printf into a string.
[[gnu::format(printf, 1, 2)]] std::string format(const char* pattern, ...);

}  // namespace hearth::topology
