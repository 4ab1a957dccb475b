// What several files of this room do with descriptors. No state.
#pragma once

#include <cstddef>

#include <sys/stat.h>

namespace hearth {

/// fstat() and stat(), which glibc exports as functions since 2.33 only. False, with errno.
bool file_status(int file, struct stat& about);
bool file_status(const char* path, struct stat& about);

/// All of the text, whatever parts the kernel takes it in. False, with errno: some of it may be there.
bool write_fully(int file, const char* text, std::size_t length);

}  // namespace hearth
