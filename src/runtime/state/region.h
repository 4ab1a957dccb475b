// What a parallel construct asks for. A value, on the stack of the thread that meets the construct.
#pragma once

#include <cstdint>

namespace hearth::rt {

struct Taskgroup;
struct ThreadsList;

struct Region {
  void* function = nullptr;
  void* data = nullptr;   // gomp
  void** argv = nullptr;  // kmpc
  std::int32_t argc = 0;
  bool is_kmp = false;
  bool is_league = false;        // its threads are to run the teams of a league; no tool hears of it
  std::int32_t num_threads = 0;  // 0: from the ICVs
  std::int32_t proc_bind = 0;    // 0: from the ICVs
  const ThreadsList* threads_list = nullptr;  // num_threads clause with a list: for the regions inside
  Taskgroup* group = nullptr;                 // region-wide taskgroup (GOMP_parallel_reductions)
};

}  // namespace hearth::rt
