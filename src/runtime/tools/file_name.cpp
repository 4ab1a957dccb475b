#include "runtime/tools/file_name.h"

#include <cerrno>
#include <cstdio>

#include <unistd.h>

namespace hearth::rt {

bool expand_file_name(const char* name, char* path, std::size_t room) {
  std::size_t used = 0;
  for (; *name != '\0' && used < room; ++name) {
    if (name[0] == '%' && name[1] == 'p') {
      used += static_cast<std::size_t>(std::snprintf(path + used, room - used, "%d", static_cast<int>(getpid())));
      ++name;
    } else {
      path[used++] = *name;
    }
  }
  errno = ENAMETOOLONG;
  if (used >= room) return false;
  path[used] = '\0';
  return true;
}

}  // namespace hearth::rt
