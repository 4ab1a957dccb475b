// The objects (not functions) that libomp and libiomp5 export, with their sizes: programs and debuggers may
// refer to them, and copy relocations need the size to be right. All are constants or zero-initialised;
// nobody inside reads them.
#include <cstdint>

#include "abi/export.h"

extern "C" {

// Declared first, or const would keep them inside this file.
HEARTH_EXPORT_DATA extern const std::uintptr_t omp_null_allocator, omp_default_mem_alloc,
    omp_large_cap_mem_alloc, omp_const_mem_alloc, omp_high_bw_mem_alloc, omp_low_lat_mem_alloc,
    omp_cgroup_mem_alloc, omp_pteam_mem_alloc, omp_thread_mem_alloc, kmp_max_mem_alloc,
    omp_target_host_mem_alloc, omp_target_shared_mem_alloc, omp_target_device_mem_alloc,
    omp_default_mem_space, omp_large_cap_mem_space, omp_const_mem_space, omp_high_bw_mem_space,
    omp_low_lat_mem_space, omp_null_mem_space, omp_target_host_mem_space, omp_target_shared_mem_space,
    omp_target_device_mem_space, kmp_max_mem_space;

// The handles are enumerators in both omp.h; where LLVM's header is built for another platform they are
// objects.
const std::uintptr_t omp_null_allocator = 0;
const std::uintptr_t omp_default_mem_alloc = 1;
const std::uintptr_t omp_large_cap_mem_alloc = 2;
const std::uintptr_t omp_const_mem_alloc = 3;
const std::uintptr_t omp_high_bw_mem_alloc = 4;
const std::uintptr_t omp_low_lat_mem_alloc = 5;
const std::uintptr_t omp_cgroup_mem_alloc = 6;
const std::uintptr_t omp_pteam_mem_alloc = 7;
const std::uintptr_t omp_thread_mem_alloc = 8;
const std::uintptr_t kmp_max_mem_alloc = 1024;
const std::uintptr_t omp_target_host_mem_alloc = 100;
const std::uintptr_t omp_target_shared_mem_alloc = 101;
const std::uintptr_t omp_target_device_mem_alloc = 102;

const std::uintptr_t omp_default_mem_space = 0;
const std::uintptr_t omp_large_cap_mem_space = 1;
const std::uintptr_t omp_const_mem_space = 2;
const std::uintptr_t omp_high_bw_mem_space = 3;
const std::uintptr_t omp_low_lat_mem_space = 4;
const std::uintptr_t omp_null_mem_space = 0;
const std::uintptr_t omp_target_host_mem_space = 100;
const std::uintptr_t omp_target_shared_mem_space = 101;
const std::uintptr_t omp_target_device_mem_space = 102;
const std::uintptr_t kmp_max_mem_space = 1024;

// The peer's debugging switches: present, and always off.
HEARTH_EXPORT_DATA int kmp_a_debug = 0;
HEARTH_EXPORT_DATA int kmp_b_debug = 0;
HEARTH_EXPORT_DATA int kmp_c_debug = 0;
HEARTH_EXPORT_DATA int kmp_d_debug = 0;
HEARTH_EXPORT_DATA int kmp_e_debug = 0;
HEARTH_EXPORT_DATA int kmp_f_debug = 0;
HEARTH_EXPORT_DATA int kmp_diag = 0;
HEARTH_EXPORT_DATA int __kmp_debugging = 0;
HEARTH_EXPORT_DATA int __kmp_omp_debug_struct_info = 0;
HEARTH_EXPORT_DATA void* __kmp_thread_pool = nullptr;
HEARTH_EXPORT_DATA void* kmp_mutex_impl_info[8] = {};

// Intel's compilers put references to these two into every object, so that no program is linked with two
// runtimes.
HEARTH_EXPORT_DATA int _You_must_link_with_exactly_one_OpenMP_library = 1;
HEARTH_EXPORT_DATA int _You_must_link_with_Intel_OpenMP_library = 1;

// Hooks that Intel's offload library fills in when it is there; without it they stay null.
HEARTH_EXPORT_DATA void* kmp_ext_alloc = nullptr;
HEARTH_EXPORT_DATA void* kmp_ext_free = nullptr;
HEARTH_EXPORT_DATA void* kmp_ext_interleave_part_alloc = nullptr;
HEARTH_EXPORT_DATA void* kmp_ext_interleave_part_free = nullptr;
HEARTH_EXPORT_DATA void* kmp_ext_set_interleave_part_size = nullptr;
HEARTH_EXPORT_DATA void* kmp_target_sync_cb = nullptr;
HEARTH_EXPORT_DATA void* kmp_target_task_completed_cb = nullptr;
HEARTH_EXPORT_DATA void* kmpc_aligned_alloc_ptr = nullptr;
HEARTH_EXPORT_DATA void* kmpc_alloc_ptr = nullptr;
HEARTH_EXPORT_DATA void* kmpc_free_ptr = nullptr;
HEARTH_EXPORT_DATA void* kmpc_global_thread_num_ptr = nullptr;

}  // extern "C"
