// Lines and words of a graph file, numbers as they must be, and messages that name the line. For the readers of graph
// files.
#pragma once

#include <cstddef>
#include <cstdint>

#include <string>
#include <string_view>

namespace hearth::mappers {

/// Walks a text line by line, and a line word by word.
class TextReader {
 public:
  TextReader(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  /// The next line, without its end; false: there is none.
  bool next_line();
  std::string_view line() const { return line_; }
  std::size_t number() const { return number_; }
  /// The next word of the line; empty: there is none.
  std::string_view next_word();

  /// "FILE:LINE: what"
  std::string wrong(const std::string& what) const;

 private:
  std::string_view text_;
  const std::string& file_;
  std::string_view line_, rest_;
  std::size_t at_ = 0, number_ = 0;
};

/// A load or weight: 0 to kLargestNumber, "12", "0.5" or "1e3". Empty, or what is wrong with it.
std::string read_amount(std::string_view word, const char* what, double& out);
/// A whole number in a range.
std::string read_count(std::string_view word, const char* what, std::uint64_t least, std::uint64_t most,
                       std::uint64_t& out);
/// A word as messages show it: in quotes, cut, without what a terminal would obey.
std::string quoted(std::string_view word);

}  // namespace hearth::mappers
