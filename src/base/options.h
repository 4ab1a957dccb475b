// The one table of options: every environment variable that Hearth honours, and the known ones it does not.
//
// The table is constant. OptionReader collects what an environment says, in one pass, without copying or
// judging; turning texts into values is the business of runtime/settings/settings.h, and `hearth env`, OMP_DISPLAY_ENV
// and libhearth(7) all show what stands here. To add an option: an id, a row at the same place of the table,
// and the code in runtime/settings/parse.cpp that reads it.
#pragma once

#include <cstddef>
#include <cstdint>

#include <string_view>

#include "base/parse.h"

namespace hearth {

// clang-format off
enum class OptionId : std::uint8_t {
  // Hearth
  hearth, hearth_check, hearth_policy, hearth_bubbles, hearth_seats, hearth_rebalance, hearth_significance, hearth_steal_threshold, hearth_vicinity, hearth_slowdown, hearth_task_cutoff, omp_data_distribution, hearth_distribute, hearth_explain,
  hearth_huge_pages, hearth_infer, hearth_learn, hearth_live, hearth_location, hearth_log_decisions, hearth_machine,
  hearth_next_touch, hearth_static_by_capacity, hearth_thread_budget,
  hearth_verify_file, hearth_warnings,
  // OpenMP 5.2, chapter 21
  omp_affinity_format, omp_allocator, omp_cancellation, omp_debug, omp_default_device, omp_display_affinity,
  omp_display_env, omp_dynamic, omp_max_active_levels, omp_max_task_priority, omp_nested, omp_num_teams,
  omp_num_threads, omp_places, omp_proc_bind, omp_schedule, omp_stacksize, omp_target_offload,
  omp_teams_thread_limit, omp_thread_limit, omp_tool, omp_tool_libraries, omp_tool_verbose_init, omp_wait_policy,
  // libgomp's
  gomp_cpu_affinity, gomp_spincount, gomp_stacksize,
  // libomp's and Intel's
  kmp_affinity, kmp_blocktime, kmp_deterministic_reduction, kmp_device_thread_limit, kmp_hw_subset, kmp_library,
  kmp_settings, kmp_stacksize, kmp_teams_proc_bind, kmp_teams_thread_limit, kmp_version,
  // Known, and ignored
  gomp_debug, gomp_rtems_thread_pools, kmp_abort_delay, kmp_adaptive_lock_props, kmp_align_alloc,
  kmp_all_threadprivate, kmp_atomic_mode, kmp_consistency_check, kmp_cpuinfo_file, kmp_disp_num_buffers,
  kmp_duplicate_lib_ok, kmp_dynamic_mode, kmp_enable_task_throttling,
  kmp_force_monotonic_dynamic_schedule, kmp_force_reduction, kmp_foreign_threads_threadprivate, kmp_forkjoin_barrier,
  kmp_forkjoin_barrier_pattern, kmp_gtid_mode, kmp_handle_signals, kmp_hidden_helper_affinity,
  kmp_hot_teams_max_level, kmp_hot_teams_mode, kmp_inherit_fp_control, kmp_init_at_fork, kmp_init_wait,
  kmp_lock_kind, kmp_malloc_pool_incr, kmp_next_wait, kmp_nesting_mode,
  kmp_num_locks_in_block, kmp_plain_barrier, kmp_plain_barrier_pattern, kmp_reduction_barrier,
  kmp_reduction_barrier_pattern, kmp_schedule, kmp_spin_backoff_params, kmp_stackoffset, kmp_stackpad,
  kmp_storage_map, kmp_task_stealing_constraint, kmp_tasking, kmp_taskloop_min_tasks, kmp_topology_method, kmp_tpause,
  kmp_use_yield, kmp_user_level_mwait, libomp_num_hidden_helper_threads, libomp_use_hidden_helper_task,
  count_,
};
// clang-format on

inline constexpr std::size_t kOptionCount = static_cast<std::size_t>(OptionId::count_);

struct Option {
  enum Type : std::uint8_t { boolean, count, size, duration, word, list, text };

  // What becomes of a value: it is honoured under this name; it is honoured as a value of `feeds`; it is
  // ignored, and the user is told once; or it is ignored in silence, because nothing is lost.
  enum Role : std::uint8_t { own, feeding, ignored, harmless };

  OptionId id;
  std::string_view name;
  std::string_view aliases =
      {};  // other names of the very same thing, separated by blanks; the first given wins
  Type type;
  Role role = own;
  OptionId feeds = OptionId::count_;
  bool trusted_only = false;  // not obeyed by setuid and setgid programs
  std::string_view fallback;  // what counts when nobody says anything
  std::string_view legal;
  std::string_view meaning;
};

/// The table, one row per OptionId, in that order.
const Option& option(OptionId id);
inline OptionId option_at(std::size_t index) { return static_cast<OptionId>(index); }
const char* option_type_name(Option::Type type);

/// What the environment says about one option.
struct GivenValue {
  std::string_view variable;  // the name it was given by (an alias perhaps); empty: not given
  std::string_view value;     // points into the environment

  bool given() const { return !variable.empty(); }
};

/// The raw values of all options in an environment.
class OptionReader {
 public:
  /// `environment` is a null-terminated array of "NAME=value". With `privileged` (a setuid or setgid program)
  /// options marked trusted_only count as not given. Unknown HEARTH_ variables are reported, with the name
  /// that was probably meant.
  void read(const char* const* environment, bool privileged);

  const GivenValue& operator[](OptionId id) const { return values_[static_cast<std::size_t>(id)]; }

 private:
  GivenValue values_[kOptionCount];
};

/// Does this process run with more rights than the user who started it (AT_SECURE)?
bool process_is_privileged();

/// The one line for a bad value: `NAME="value": what is wrong at column N; legal: …; using X.`
void complain(const GivenValue& given, std::string_view wrong, std::size_t column, std::string_view legal,
              std::string_view used_instead);

}  // namespace hearth
