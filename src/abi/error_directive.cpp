// The error directive at execution time: what the program asked to be said, and the end of it when that is
// fatal.
//
// Any thread. The words are the program's, so they come out in the form in which its compiler's own runtime
// says them, which is what scripts around it know. One write(2) a message, unless it is very long.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "abi/export.h"
#include "abi/kmpc/kmp_types.h"
#include "base/log.h"
#include "runtime/tools/events.h"
#include "runtime/state/thread.h"

namespace {

namespace events = hearth::rt::events;
using hearth::rt::Thread;

constexpr std::size_t kZeroTerminated = ~std::size_t{0};  // the length that C programs pass

/// `end`: what stands behind the message.
void say(const char* prefix, const char* message, std::size_t length, const char* end = "") {
  char line[hearth::kLogLine];
  if (message != nullptr && length == kZeroTerminated) length = std::strlen(message);
  const int said =
      message == nullptr
          ? std::snprintf(line, sizeof line, "%s%s\n", prefix, end)
          : std::snprintf(line, sizeof line, "%s: %.*s%s\n", prefix,
                          static_cast<int>(length < sizeof line ? length : sizeof line), message, end);
  if (said <= 0) return;
  if (static_cast<std::size_t>(said) < sizeof line) return hearth::write_stderr(line, static_cast<std::size_t>(said));
  // Too long for one write: whole, though words of another thread may come in between.
  const auto write_text = [](const char* text) { hearth::write_stderr(text, std::strlen(text)); };
  write_text(prefix);
  write_text(": ");
  hearth::write_stderr(message, length);
  write_text(end);
  write_text("\n");
}

void tell_tool(Thread* self, bool is_fatal, const char* message) {
  if (events::active()) events::runtime_error(self, is_fatal, message);
}

}  // namespace

HEARTH_EXPORT void GOMP_warning(const char* message, std::size_t length) {
  Thread* self = Thread::current();
  HEARTH_ENTRY(self);
  tell_tool(self, false, message);
  say("\nlibgomp: error directive encountered", message, length);
}

HEARTH_EXPORT void GOMP_error(const char* message, std::size_t length) {
  Thread* self = Thread::current();
  HEARTH_ENTRY(self);
  tell_tool(self, true, message);
  say("\nlibgomp: fatal error: error directive encountered", message, length);
  std::exit(EXIT_FAILURE);
}

/// severity: 1 warning, 2 fatal.
HEARTH_EXPORT void __kmpc_error(ident_t* where, int severity, const char* message) {
  constexpr int kFatal = 2;
  Thread* self = Thread::current();
  HEARTH_ENTRY(self);
  tell_tool(self, severity == kFatal, message);
  // psource is ";file;function;line;column;;".
  char file[256] = "unknown";
  char function[256];
  int line = 0;
  int column = 0;
  if (where != nullptr && where->psource != nullptr)
    std::sscanf(where->psource, ";%255[^;];%255[^;];%d;%d;", file, function, &line, &column);
  char prefix[400];
  // The numbers are those of libomp's catalogue of messages.
  std::snprintf(prefix, sizeof prefix, "OMP: %s: %s:%d:%d: Encountered user-directed %s",
                severity == kFatal ? "Error #282" : "Warning #283", file, line, column,
                severity == kFatal ? "error" : "warning");
  say(prefix, message, kZeroTerminated, ".");
  if (severity == kFatal) std::abort();
}
