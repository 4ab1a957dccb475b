// Where code lies in its file: for names that another run of the same program understands.
//
// Any thread. Asks the loader under the lock that exception handling takes, which it does not hold while it runs
// constructors; so a thread of a team may ask while another one loads a library.
#pragma once

#include <climits>
#include <cstddef>
#include <cstdint>

namespace hearth {

struct CodePlace {
  char module[PATH_MAX];  // absolute path of the program or library
  char build[72];         // changes when that is built anew: its build-id, or size and time of the file
  std::uintptr_t offset;  // as addr2line counts
};

/// False: the address is in no file, or nobody knows which.
bool find_code(const void* address, CodePlace& place);

}  // namespace hearth
