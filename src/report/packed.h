// Columns of numbers, small enough for a page: LEB128, deflate, base64. The page's script reads them (page/data.js). Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hearth::report {

/// Bytes that are written one number after the other.
class Column {
 public:
  void put(std::uint64_t number) {
    for (; number >= 0x80; number >>= 7) bytes_ += static_cast<char>(number | 0x80);
    bytes_ += static_cast<char>(number);
  }
  /// Small numbers of either sign are short.
  void put_signed(std::int64_t number) {
    put((static_cast<std::uint64_t>(number) << 1) ^ static_cast<std::uint64_t>(number >> 63));
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

/// zlib's format, as DecompressionStream("deflate") reads it.
std::string deflated(std::string_view bytes);
std::string base64(std::string_view bytes);

}  // namespace hearth::report
