// The recording thread, for the parts of the tool: who writes, and the numbers of tasks.
#pragma once

#include "hearth/omp-tools.h"
#include "record/writer.h"

namespace hearth::record {

/// Blanks and what is not printable as %xx, so that a line keeps its words.
struct Escaped {
  static constexpr std::size_t kRoom = 4096;
  explicit Escaped(const char* from, std::size_t length);
  explicit Escaped(const char* from);
  char text[kRoom];
};

/// The calling thread's, or null when nothing is recorded.
Writer* writer_of_thread();
/// The same, but null as well in a thread that has written nothing yet.
Writer* writer_if_any();
/// The number of a task or region, given to it when it is first seen.
inline std::uint64_t id_of(Writer* mine, ompt_data_t* data) {
  if (HEARTH_UNLIKELY(data == nullptr)) return 0;
  if (HEARTH_UNLIKELY(data->value == 0)) data->value = mine->next_id();
  return data->value;
}

}  // namespace hearth::record
