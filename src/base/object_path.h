// Where the code that runs here comes from: the file of libhearth.so in a program, of the command in `hearth` itself.
#pragma once

#include <cstddef>

namespace hearth {

/// The absolute path of the object that this function was linked into, links resolved. False where nobody
/// knows it. Any thread.
bool object_path(char* path, std::size_t room);

}  // namespace hearth
