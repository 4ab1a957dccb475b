#include "base/cache_file.h"

#include <climits>
#include <cstdlib>

#include <unistd.h>

#include "base/options.h"

namespace hearth {

std::string cache_file(std::string_view ending) {
  if (process_is_privileged()) return {};
  char host[HOST_NAME_MAX + 1] = {};
  if (gethostname(host, sizeof host - 1) != 0 || host[0] == '\0') return {};
  std::string name;
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache == '/')
    name = cache;
  else if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/')
    name = std::string(home) + "/.cache";
  return name.empty() ? name : name.append("/hearth/").append(host).append(ending);
}

}  // namespace hearth
