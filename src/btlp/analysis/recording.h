// Recordings of threads (docs/reference/thread-recording.md): the reader, and what they add to what the analysis has found.
// Plain values; pure.
#pragma once

#include <cstdint>

#include <string>
#include <string_view>
#include <vector>

#include "btlp/analysis/model.h"

namespace hearth::btlp {

struct Recording {
  struct Thread {
    int number = 0, creator = -1;
    std::uint32_t instance = 0;
    std::string site, routine;  // "-": not known
  };
  struct Object {
    std::string kind, name;
  };
  struct Touch {
    int thread = 0;
    int object = 0;
    std::uint64_t reads = 0, writes = 0;
  };
  struct Meeting {
    int a = 0, b = 0, object = 0;
    bool a_writes_b_reads = false, b_writes_a_reads = false, both_write = false;
    std::uint64_t a_to_b = 0, b_to_a = 0;
  };
  std::string file;
  bool exact = false;
  std::string program;
  std::vector<Thread> threads;  // by number
  std::vector<Object> objects;  // by number
  std::vector<Touch> touches;
  std::vector<Meeting> meetings;
  std::uint64_t accesses_left_out = 0, threads_left_out = 0, histories_cut = 0;
  bool stopped = false;
};

/// False: `problem` is one line with the file and the number of the line.
bool parse_recording(std::string_view text, const std::string& file, Recording& recording, std::string& problem);

/// The node of each recorded thread; -1: the analysis has no such thread.
std::vector<int> nodes_of(const Recording& recording, const Program& program);

/// Adds what the analysis has missed, and notes what of its findings was seen. classify() comes after this.
void add_recording(const Recording& recording, Program& program);

}  // namespace hearth::btlp
