// Accesses of one thread to the same bytes, compared as one: programs have thousands of accesses to a few places.
#pragma once

#include <algorithm>

#include "btlp/analysis/walk.h"

namespace hearth::btlp {

/// Which of two accesses writes.
enum Conflict : unsigned { kFirst = 1, kSecond = 2, kBoth = 4, kAny = 7 };

/// Accesses of one thread to the same bytes.
struct Group {
  Pointer where;
  std::int64_t bytes = 0;
  const Access *read = nullptr, *write = nullptr;  // the first of each
  double reads = 0, writes = 0;                    // how often, all together
  double most = 0;                                 // the most frequent one

  void add(const Access& access) {
    where = access.where;
    bytes = access.bytes;
    const Access*& first = access.write ? write : read;
    if (first == nullptr) first = &access;
    (access.write ? writes : reads) += access.frequency;
    most = std::max(most, access.frequency);
  }
};

}  // namespace hearth::btlp
