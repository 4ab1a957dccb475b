// The end of a process whose state is not what it has to be; see assert.h.
#include "base/assert.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <atomic>

#include <sys/syscall.h>
#include <unistd.h>

#include "base/log.h"

namespace hearth {
namespace {

constinit std::atomic<DescribeThread> describe_thread{nullptr};

// From the tree's own folders on: where somebody has built it tells nobody anything.
const char* shown(const char* file) {
  const char* from = file;
  for (const char* at = file; *at != '\0'; ++at)
    if (std::strncmp(at, "/src/", 5) == 0 || std::strncmp(at, "/tests/", 7) == 0) from = at + 1;
  return from;
}

// Appends to the line as far as there is room.
class Line {
 public:
  [[gnu::format(printf, 2, 3)]] void add(const char* format, ...) {
    std::va_list args;
    va_start(args, format);
    add_list(format, args);
    va_end(args);
  }
  void add_list(const char* format, std::va_list args) {
    const int wanted = std::vsnprintf(text_ + used_, room(), format, args);
    if (wanted > 0)
      used_ += static_cast<std::size_t>(wanted) < room() ? static_cast<std::size_t>(wanted) : room() - 1;
  }
  void add_thread() {
    add(", thread %ld", syscall(SYS_gettid));
    // Pairs with the store in describe_threads_with().
    if (const DescribeThread describe = describe_thread.load(std::memory_order_acquire);
        describe != nullptr) {
      used_ += describe(text_ + used_, room() - 1);
      text_[used_] = '\0';
    }
  }
  void write() {
    text_[used_] = '\n';
    write_stderr(text_, used_ + 1);
  }

 private:
  std::size_t room() const { return kLogLine - used_; }  // with one byte for a zero or the newline

  std::size_t used_ = 0;
  char text_[kLogLine + 1];
};

}  // namespace

void describe_threads_with(DescribeThread describe) {
  describe_thread.store(describe, std::memory_order_release);  // pairs with the load in add_thread()
}

void assertion_failed(const char* expression, const char* file, int line, const char* format, ...) {
  Line text;
  text.add("hearth: assertion failed at %s:%d", shown(file), line);
  text.add_thread();
  text.add(": %s: ", expression);
  std::va_list args;
  va_start(args, format);
  text.add_list(format, args);
  va_end(args);
  text.write();
  std::abort();
}

}  // namespace hearth
