// The one formatting function of this room that is too big for its header.
#include "topology/text.h"

#include <cstdarg>

namespace hearth::topology {

std::string format(const char* pattern, ...) {
  char buffer[512];
  va_list arguments;
  va_start(arguments, pattern);
  va_list again;
  va_copy(again, arguments);
  const int needed = std::vsnprintf(buffer, sizeof buffer, pattern, arguments);
  va_end(arguments);
  std::string text;
  if (needed >= 0 && static_cast<std::size_t>(needed) < sizeof buffer) {
    text.assign(buffer, static_cast<std::size_t>(needed));
  } else if (needed >= 0) {
    text.resize(static_cast<std::size_t>(needed));
    std::vsnprintf(text.data(), text.size() + 1, pattern, again);
  }
  va_end(again);
  return text;
}

}  // namespace hearth::topology
