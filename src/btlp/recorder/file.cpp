// The recording as text: a line for each thing, fields between tabs, names last (docs/reference/thread-recording.md). It
// is written beside its place and then moved there, so that a reader never meets half of one.
//
// Called once, inside (recorder.h), at the end of the process.
#define HEARTH_RECORDER 1
#include <cerrno>
#include <climits>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <unistd.h>

#include "base/log.h"
#include "btlp/recorder/recorder.h"

namespace hearth::btlp::recorder {
namespace {

constexpr const char* kKinds[] = {"global", "heap", "stack", "other"};

char path[PATH_MAX];

/// Gathers lines, so that the file is written in few calls.
class Writer {
 public:
  explicit Writer(int file) : file_(file) {}
  [[gnu::format(printf, 2, 3)]] void line(const char* format, ...) {
    if (used_ + kMost > sizeof(buffer_)) flush();
    va_list arguments;
    va_start(arguments, format);
    const int length = std::vsnprintf(buffer_ + used_, kMost, format, arguments);
    va_end(arguments);
    used_ += length < 0 ? 0 : static_cast<std::size_t>(length) < kMost ? static_cast<std::size_t>(length) : kMost - 1;
    buffer_[used_++] = '\n';
  }
  bool finish() {
    flush();
    return good_;
  }

 private:
  void flush() {
    for (std::size_t done = 0; done < used_ && good_;) {
      const ssize_t some = write(file_, buffer_ + done, used_ - done);
      if (some > 0)
        done += static_cast<std::size_t>(some);
      else if (errno != EINTR)
        good_ = false;
    }
    used_ = 0;
  }

  static constexpr std::size_t kMost = 2048;  // of one line
  int file_;
  bool good_ = true;
  std::size_t used_ = 0;
  char buffer_[65536];
};

const char* or_dash(const char* text) { return text == nullptr ? "-" : text; }

void write_all(const Recording& all, Writer& out) {
  out.line("hearth-threads\t1\t%s", all.exact ? "exact" : "sampled");
  char program[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);
  program[length < 0 ? 0 : length] = '\0';
  out.line("program\t%s", program);
  for (std::size_t n = 0; n < all.threads.size(); ++n) {
    const Thread& thread = all.threads[n];
    if (!thread.failed)
      out.line("thread\t%zu\t%d\t%u\t%s\t%s", n, thread.creator, thread.instance, or_dash(thread.site),
               or_dash(thread.routine));
  }
  for (std::size_t n = 1; n < all.objects.size(); ++n)
    out.line("object\t%zu\t%s\t%s", n, kKinds[all.objects[n].kind], all.objects[n].name);
  for (const auto& [key, touches] : all.touches)
    out.line("touch\t%u\t%u\t%lu\t%lu", key.thread, key.object, touches.reads, touches.writes);
  for (const auto& [key, meeting] : all.meetings)
    out.line("meet\t%u\t%u\t%u\t%c%c%c\t%lu\t%lu", key.a, key.b, key.object, meeting.a_writes_b_reads ? '>' : '-',
             meeting.b_writes_a_reads ? '<' : '-', meeting.both_write ? 'w' : '-', meeting.a_to_b, meeting.b_to_a);
  out.line("left-out\t%lu\t%lu\t%lu\t%d", all.left_out, all.threads_left_out, all.history.forgotten(), all.stopped);
  out.line("end");
}

}  // namespace

void remember_file() {
  const char* wanted = std::getenv("HEARTH_RECORD_FILE");
  if (wanted == nullptr || *wanted == '\0') wanted = "hearth-threads.rec";
  // The program may change its folder.
  char folder[PATH_MAX] = "";
  if (wanted[0] != '/' && getcwd(folder, sizeof(folder)) == nullptr) folder[0] = '\0';
  char pattern[PATH_MAX];
  const int length = std::snprintf(pattern, sizeof(pattern), "%s%s%s", folder, folder[0] == '\0' ? "" : "/", wanted);
  if (length < 0 || static_cast<std::size_t>(length) >= sizeof(pattern)) {
    warn("HEARTH_RECORD_FILE is longer than a path may be: the recording goes to hearth-threads.rec");
    std::snprintf(pattern, sizeof(pattern), "hearth-threads.rec");
  }
  const char* mark = std::strstr(pattern, "%p");
  const int head = mark == nullptr ? static_cast<int>(std::strlen(pattern)) : static_cast<int>(mark - pattern);
  char number[24] = "";
  if (mark != nullptr) std::snprintf(number, sizeof(number), "%d", static_cast<int>(getpid()));
  std::snprintf(path, sizeof(path) - 8, "%.*s%s%s", head, pattern, number, mark == nullptr ? "" : mark + 2);
}

void write_file(const Recording& recording) {
  char beside[PATH_MAX + 8];
  std::snprintf(beside, sizeof(beside), "%s.%d", path, static_cast<int>(getpid()));
  const int file = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  bool good = file >= 0;
  if (good) {
    static Writer out(file);
    write_all(recording, out);
    good = out.finish();
    good = close(file) == 0 && good;
    good = good && rename(beside, path) == 0;
  }
  if (!good) {
    warn("%s: %s. The recording of this run is lost.", path, std::strerror(errno));
    unlink(beside);
  }
}

}  // namespace hearth::btlp::recorder
