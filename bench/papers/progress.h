// A line on a terminal that says how far it is; where standard error is none, a line for each tenth. Any thread may count.
#pragma once

#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <mutex>

namespace hearth::papers {

class Progress {
 public:
  Progress(const char* program, std::size_t all)
      : program_(program), all_(all), terminal_(isatty(STDERR_FILENO) != 0) {}
  ~Progress() {
    if (terminal_) std::fputs("\r\033[K", stderr);
  }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void one_more() {
    const std::size_t done = done_.fetch_add(1, std::memory_order_relaxed) + 1;
    if (!terminal_ && 10 * done / all_ == 10 * (done - 1) / all_) return;
    const std::lock_guard lock(mutex_);
    if (!terminal_) {
      std::fprintf(stderr, "%s: %zu of %zu visits\n", program_, done, all_);
      return;
    }
    constexpr std::size_t kWidth = 40;
    char bar[kWidth + 1] = {};
    for (std::size_t at = 0; at < kWidth; ++at) bar[at] = at * all_ < done * kWidth ? '#' : '.';
    std::fprintf(stderr, "\r%s: [%s] %zu of %zu visits", program_, bar, done, all_);
  }

 private:
  const char* const program_;
  const std::size_t all_;
  const bool terminal_;
  std::atomic<std::size_t> done_ = 0;
  std::mutex mutex_;
};

}  // namespace hearth::papers
