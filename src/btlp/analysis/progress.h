// What the analysis is doing, on standard error, when it takes longer than two seconds; nothing where nobody looks.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>

#include <unistd.h>

namespace hearth::btlp {

class Progress {
 public:
  explicit Progress(std::string program) : program_(std::move(program)) {}
  ~Progress() {
    if (shown_) std::fputs("\r\033[K", stderr);
  }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void update(const char* what, std::uint64_t number) {
    using namespace std::chrono;
    if (!watched_) return;
    const auto now = steady_clock::now();
    if (now - begin_ < seconds(2) || (shown_ && now - last_ < milliseconds(100))) return;
    last_ = now;
    shown_ = true;
    std::fprintf(stderr, "\rhearth: %s: %s %llu, %lld s\033[K", program_.c_str(), what,
                 static_cast<unsigned long long>(number),
                 static_cast<long long>(duration_cast<seconds>(now - begin_).count()));
    std::fflush(stderr);
  }

 private:
  std::string program_;
  bool watched_ = isatty(STDERR_FILENO) == 1;
  bool shown_ = false;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now(), last_ = begin_;
};

}  // namespace hearth::btlp
