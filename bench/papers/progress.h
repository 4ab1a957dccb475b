// A line on a terminal that says how far it is; nothing where standard error is no terminal. Any thread may
// count.
#pragma once

#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <mutex>

namespace hearth::papers {

class Progress {
 public:
  Progress(const char* program, std::size_t all)
      : program_(program), all_(all), shown_(isatty(STDERR_FILENO) != 0) {}
  ~Progress() {
    if (shown_) std::fputs("\r\033[K", stderr);
  }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void one_more() {
    const std::size_t done = done_.fetch_add(1, std::memory_order_relaxed) + 1;
    if (!shown_) return;
    const std::lock_guard lock(mutex_);
    constexpr std::size_t kWidth = 40;
    char bar[kWidth + 1] = {};
    for (std::size_t at = 0; at < kWidth; ++at) bar[at] = at * all_ < done * kWidth ? '#' : '.';
    std::fprintf(stderr, "\r%s: [%s] %zu of %zu visits", program_, bar, done, all_);
  }

 private:
  const char* const program_;
  const std::size_t all_;
  const bool shown_;
  std::atomic<std::size_t> done_ = 0;
  std::mutex mutex_;
};

}  // namespace hearth::papers
