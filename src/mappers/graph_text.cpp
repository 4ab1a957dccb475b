// See graph_text.h.
#include "mappers/graph_text.h"

#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "mappers/graph.h"

namespace hearth::mappers {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }

}  // namespace

bool TextReader::next_line() {
  if (at_ >= text_.size()) return false;
  const std::size_t end = std::min(text_.find('\n', at_), text_.size());
  line_ = rest_ = text_.substr(at_, end - at_);
  at_ = end + 1;
  ++number_;
  return true;
}

std::string_view TextReader::next_word() {
  std::size_t begin = 0;
  while (begin < rest_.size() && is_blank(rest_[begin])) ++begin;
  std::size_t end = begin;
  while (end < rest_.size() && !is_blank(rest_[end])) ++end;
  const std::string_view word = rest_.substr(begin, end - begin);
  rest_.remove_prefix(end);
  return word;
}

std::string TextReader::wrong(const std::string& what) const {
  return fmt::format("{}:{}: {}", file_, number_ == 0 ? 1 : number_, what);
}

std::string quoted(std::string_view word) {
  constexpr std::size_t kMost = 40;
  std::string text = "\"";
  for (const char c : word.substr(0, kMost)) text += c >= ' ' && c < 127 ? c : '?';
  return text + (word.size() > kMost ? "...\"" : "\"");
}

std::string read_amount(std::string_view word, const char* what, double& out) {
  const std::string legal = fmt::format("legal: 0 to {:g}", kLargestNumber);
  if (word.empty()) return fmt::format("{} is missing; {}", what, legal);
  double value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error == std::errc::result_out_of_range)
    return fmt::format("{} {} is out of range; {}", what, quoted(word), legal);
  if (error != std::errc() || end != word.data() + word.size() || std::isnan(value))
    return fmt::format("{} {} is no number; {}", what, quoted(word), legal);
  if (value < 0) return fmt::format("{} {} is negative; {}", what, quoted(word), legal);
  if (value > kLargestNumber) return fmt::format("{} {} is out of range; {}", what, quoted(word), legal);
  out = value;
  return {};
}

std::string read_count(std::string_view word, const char* what, std::uint64_t least, std::uint64_t most,
                       std::uint64_t& out) {
  const std::string legal = fmt::format("legal: {} to {}", least, most);
  if (word.empty()) return fmt::format("{} is missing; {}", what, legal);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  const bool number = end == word.data() + word.size() &&
                      (error == std::errc() || error == std::errc::result_out_of_range);
  if (!number) return fmt::format("{} {} is no whole number; {}", what, quoted(word), legal);
  if (error != std::errc() || value < least || value > most)
    return fmt::format("{} {} is out of range; {}", what, quoted(word), legal);
  out = value;
  return {};
}

}  // namespace hearth::mappers
