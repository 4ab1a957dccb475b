// The types that clang's generated code shares with the runtime. Their layout is the ABI.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {

/// Where in the source a construct stands. psource: ";file;function;line;column;;".
typedef struct ident {
  std::int32_t reserved_1;
  std::int32_t flags;
  std::int32_t reserved_2;
  std::int32_t reserved_3;
  const char* psource;
} ident_t;

typedef std::int32_t kmp_int32;
typedef std::uint32_t kmp_uint32;
typedef std::int64_t kmp_int64;
typedef std::uint64_t kmp_uint64;

union kmp_cmplrdata_t {
  std::int32_t priority;
  std::int32_t (*destructors)(std::int32_t, void*);
};

/// The head of a task's payload; the compiler's private variables follow it, and the shared ones further on.
typedef struct kmp_task {
  void* shareds;
  std::int32_t (*routine)(std::int32_t, void*);
  std::int32_t part_id;
  kmp_cmplrdata_t data1;  // destructor thunk
  kmp_cmplrdata_t data2;  // priority
} kmp_task_t;

typedef struct kmp_depend_info {
  std::intptr_t base_addr;
  std::size_t len;
  std::uint8_t flag;  // 1 in, 2 out, 3 inout, 4 mutexinoutset, 8 inoutset, 0x80 all memory
} kmp_depend_info_t;

typedef struct kmp_task_affinity_info {
  std::intptr_t base_addr;
  std::size_t len;
  std::int32_t flags;  // left unset by clang
} kmp_task_affinity_info_t;

}  // extern "C"
