// A progress bar on standard error, for what takes longer than two seconds; nothing where nobody looks.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>

#include <fmt/format.h>
#include <unistd.h>

namespace hearth::cli {

class Progress {
 public:
  explicit Progress(std::string what) : what_(std::move(what)) {}
  ~Progress() {
    if (shown_) fmt::print(stderr, "\r\033[K");
  }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void update(std::uint64_t done, std::uint64_t all) {
    using namespace std::chrono;
    const auto now = steady_clock::now();
    if (!watched_ || all == 0 || now - begin_ < seconds(2) || (shown_ && now - last_ < milliseconds(100)))
      return;
    last_ = now;
    shown_ = true;
    constexpr std::uint64_t kWidth = 40;
    const std::uint64_t full = done >= all ? kWidth : done * kWidth / all;
    fmt::print(stderr, "\r{} [{:#<{}}{:.<{}}] {:3}%\033[K", what_, "", full, "", kWidth - full,
               done >= all ? 100 : done * 100 / all);
    std::fflush(stderr);
  }

 private:
  std::string what_;
  bool watched_ = isatty(STDERR_FILENO) == 1;
  bool shown_ = false;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now(), last_ = begin_;
};

}  // namespace hearth::cli
