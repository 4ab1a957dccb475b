// Formatted text into a buffer of fixed size, cut at its end: no allocation, so it works before the program's own start-up
// and in a runtime that needs only libc. A writer belongs to one thread.
#pragma once

#include <cstdarg>
#include <cstddef>
#include <cstdio>

#include <string_view>

namespace hearth::rt {

class TextWriter {
 public:
  TextWriter(char* out, std::size_t room) : out_(out), room_(room) {
    if (room_ > 0) out_[0] = '\0';
  }

  [[gnu::format(printf, 2, 3)]] void add(const char* format, ...) {
    if (used_ + 1 >= room_) return;
    std::va_list args;
    va_start(args, format);
    const int wanted = std::vsnprintf(out_ + used_, room_ - used_, format, args);
    va_end(args);
    if (wanted <= 0) return;
    used_ += static_cast<std::size_t>(wanted);
    if (used_ >= room_) used_ = room_ - 1;
  }
  void add(std::string_view text) { add("%.*s", static_cast<int>(text.size()), text.data()); }

  std::size_t length() const { return used_; }
  bool full() const { return used_ + 1 >= room_; }

 private:
  char* out_;
  std::size_t room_;
  std::size_t used_ = 0;
};

}  // namespace hearth::rt
