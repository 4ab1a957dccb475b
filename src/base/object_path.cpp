// The loader knows the path of a library, but of the main program only the word by which it was called. So for that the
// kernel is asked: /proc, or without it the path that was given to execve(), which may be relative.
#include "base/object_path.h"

#include <climits>
#include <cstdlib>
#include <cstring>

#include <dlfcn.h>
#include <link.h>
#include <sys/auxv.h>
#include <unistd.h>

namespace hearth {
namespace {

bool real(const char* name, char* path, std::size_t room) {
  char resolved[PATH_MAX];
  if (name == nullptr || realpath(name, resolved) == nullptr || std::strlen(resolved) >= room) return false;
  std::strcpy(path, resolved);
  return true;
}

}  // namespace

bool object_path(char* path, std::size_t room) {
  Dl_info info;
  link_map* map = nullptr;
  const auto* here = reinterpret_cast<const void*>(&object_path);
  if (dladdr1(here, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) != 0 && map != nullptr &&
      map->l_name[0] != '\0') {
    return real(map->l_name, path, room);
  }
  return real("/proc/self/exe", path, room) || real(reinterpret_cast<const char*>(getauxval(AT_EXECFN)), path, room);
}

}  // namespace hearth
