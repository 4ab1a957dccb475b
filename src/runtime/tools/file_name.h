// Names of files that users give for each process.
#pragma once

#include <cstddef>

namespace hearth::rt {

/// `name` with the process's number for each %p. False, with errno: it is too long.
bool expand_file_name(const char* name, char* path, std::size_t room);

}  // namespace hearth::rt
