// The name of a file that Hearth keeps for the user of this host.
#pragma once

#include <string>
#include <string_view>

namespace hearth {

/// Below $XDG_CACHE_HOME/hearth, else ~/.cache/hearth: the host's name, since home folders are shared, and `ending`. Empty: the
/// environment names no such folder, or is not to be trusted (a setuid program). Any thread that does not change it.
std::string cache_file(std::string_view ending);

}  // namespace hearth
