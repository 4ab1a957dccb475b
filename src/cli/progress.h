// A progress bar on standard error, for what takes longer than two seconds; nothing where nobody looks.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>

#include <unistd.h>

#include "cli/output.h"

namespace hearth::cli {

class Progress {
 public:
  explicit Progress(std::string what) : what_(std::move(what)) {}
  ~Progress() {
    if (shown_) put_text(stderr, "\r\033[K");
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
    const double part = done >= all ? 1 : static_cast<double>(done) / static_cast<double>(all);
    put(stderr, "\r{} [{:#<{}}{:.<{}}] {:3.0f}%{}\033[K", what_, "", full, "", kWidth - full, 100 * part,
        part > 0.01 ? left_text(duration<double>(now - begin_).count() * (1 - part) / part) : "");
    std::fflush(stderr);
  }

 private:
  static std::string left_text(double seconds) {
    return seconds < 100 ? fmt::format("  about {:.0f} s left", seconds)
                         : fmt::format("  about {:.0f} min left", seconds / 60);
  }

  std::string what_;
  bool watched_ = isatty(STDERR_FILENO) == 1;
  bool shown_ = false;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now(), last_ = begin_;
};

}  // namespace hearth::cli
