// Settings back into text: the value in effect for each option, as OMP_DISPLAY_ENV and `hearth env` show it, and where it
// came from. Pure functions of Settings.
#include <climits>

#include <iterator>

#include "runtime/settings/settings.h"
#include "runtime/settings/text_writer.h"
#include "runtime/settings/words.h"

namespace hearth::rt {
namespace {

using Id = OptionId;
using placement::Kind;

const char* upper_boolean(bool on) { return on ? "TRUE" : "FALSE"; }

constexpr std::string_view kBindNames[] = {"FALSE", "TRUE", "PRIMARY", "CLOSE", "SPREAD"};

std::string_view bind_name(ProcBind bind) {
  return bind == ProcBind::unset ? std::string_view("FALSE") : kBindNames[static_cast<int>(bind)];
}

std::string_view schedule_name(int kind) {
  switch (kind) {
    case 1: return "STATIC";
    case 2: return "DYNAMIC";
    case 3: return "GUIDED";
    case 101: return "TRAPEZOIDAL";
    default: return "AUTO";
  }
}

void write_schedule(TextWriter& text, const Schedule& schedule) {
  if (schedule.modifier == ScheduleModifier::monotonic) text.add("MONOTONIC:");
  if (schedule.modifier == ScheduleModifier::nonmonotonic) text.add("NONMONOTONIC:");
  text.add(schedule_name(schedule.kind));
  if (schedule.chunk > 0) text.add(",%d", schedule.chunk);
}

void write_bytes(TextWriter& text, std::uint64_t bytes) {
  static constexpr char kUnits[] = {'B', 'K', 'M', 'G', 'T'};
  int unit = 0;
  while (unit < 4 && bytes != 0 && bytes % 1024 == 0) {
    bytes /= 1024;
    ++unit;
  }
  text.add("%llu%c", static_cast<unsigned long long>(bytes), kUnits[unit]);
}

void write_optional(TextWriter& text, int value, Id id) {
  if (value > 0) {
    text.add("%d", value);
  } else {
    text.add(option(id).fallback);
  }
}

void write_given(TextWriter& text, std::string_view value, Id id) {
  text.add(value.empty() ? option(id).fallback : value);
}

void write_path(TextWriter& text, const char* path) { text.add(path == nullptr ? "none" : std::string_view(path)); }

void write_blocktime(TextWriter& text, std::int64_t us) {
  if (us == INT64_MAX) {
    text.add("infinite");
  } else if (us % 1000 == 0) {
    text.add("%lldms", static_cast<long long>(us / 1000));
  } else {
    text.add("%lldus", static_cast<long long>(us));
  }
}

/// OMP_NUM_THREADS or OMP_PROC_BIND with several levels asks for nested parallelism when nothing else decides.
bool lists_several_levels(const Settings& in) { return in.num_threads_count > 1 || in.proc_bind_count > 1; }

bool allows_nesting(const Settings& in) {
  if (in.nested >= 0) return in.nested == 1;
  return in.max_active_levels >= 0 ? in.max_active_levels > 1 : lists_several_levels(in);
}

// The options by group. Each function returns false for an option of another group.

/// Hearth's own, and the distribution of data.
bool write_hearth(TextWriter& text, const Settings& in, Id id) {
  switch (id) {
    case Id::hearth: text.add(in.enabled ? "on" : "off"); break;
    case Id::hearth_policy: text.add(kPolicyNames[static_cast<int>(in.policy)]); break;
    case Id::hearth_significance: text.add(kSignificanceNames[static_cast<int>(in.significance)]); break;
    case Id::hearth_steal_threshold: text.add(kThresholdNames[static_cast<int>(in.steal_threshold)]); break;
    case Id::hearth_bubbles: text.add(kBubbleNames[in.bubbles]); break;
    case Id::hearth_seats: text.add(kSeatNames[in.seats]); break;
    case Id::hearth_rebalance: text.add(in.rebalance ? "true" : "false"); break;
    case Id::hearth_next_touch: text.add(kNextTouchNames[in.next_touch]); break;
    case Id::hearth_location: text.add(kLocationNames[in.llc_locations]); break;
    case Id::hearth_vicinity:
      for (std::size_t i = 0; i < std::size(kVicinities); ++i)
        if (kVicinities[i] == in.vicinity) text.add(kVicinityNames[i]);
      break;
    case Id::hearth_slowdown: write_optional(text, in.slowdown, id); break;
    case Id::hearth_task_cutoff: text.add("%d", in.task_cutoff); break;
    case Id::omp_data_distribution:
      for (std::size_t i = 0; i < std::size(kDistributions); ++i)
        if (kDistributions[i] == in.data_distribution) text.add(kDistributionNames[i]);
      break;
    case Id::hearth_distribute:
      text.add(in.distribute.learn ? kLearnName : std::string_view(kind_name(in.distribute.kind)));
      if (in.distribute.kind == Kind::standard && !in.distribute.learn) break;
      text.add(",min=");
      write_bytes(text, in.distribute.least);
      break;
    case Id::hearth_huge_pages: text.add(in.huge_pages ? "true" : "false"); break;
    case Id::hearth_machine: write_given(text, in.machine, id); break;
    case Id::hearth_check: write_path(text, in.check_folder); break;
    case Id::hearth_infer: text.add(in.infers ? "true" : "false"); break;
    case Id::hearth_live: text.add(in.live ? "true" : "false"); break;
    case Id::hearth_learn: text.add("%s", in.learned_file != nullptr ? in.learned_file : in.learns ? "on" : "off"); break;
    case Id::hearth_explain: write_path(text, in.explain_file); break;
    case Id::hearth_log_decisions: write_path(text, in.decisions_file); break;
    case Id::hearth_verify_file: write_path(text, in.verify_file); break;
    case Id::hearth_static_by_capacity: text.add(in.static_by_capacity ? "true" : "false"); break;
    case Id::hearth_thread_budget:
      if (in.budget.threads > 0)
        text.add("%d", in.budget.threads);
      else
        text.add(in.budget.threads == Budget::cpus ? "cpus" : "off");
      if (in.budget.threads == Budget::off || in.budget.name == Budget::kDefaultName) break;
      text.add(",name=");
      text.add(in.budget.name);
      break;
    case Id::hearth_warnings: text.add(in.warnings ? "true" : "false"); break;
    default: return false;
  }
  return true;
}

/// OpenMP's variables on teams, threads, places and waiting.
bool write_threads(TextWriter& text, const Settings& in, Id id) {
  switch (id) {
    case Id::omp_affinity_format: text.add(in.affinity_format); break;
    case Id::omp_display_affinity: text.add("%s", upper_boolean(in.display_affinity)); break;
    case Id::omp_dynamic: text.add("%s", upper_boolean(in.dynamic)); break;
    case Id::omp_max_active_levels:
      if (in.max_active_levels >= 0) {
        text.add("%d", in.max_active_levels);
      } else {
        text.add("%d", in.nested == 1 || (in.nested < 0 && lists_several_levels(in)) ? INT_MAX : 1);
      }
      break;
    case Id::omp_nested: text.add("%s", upper_boolean(allows_nesting(in))); break;
    case Id::omp_num_teams: text.add("%d", in.num_teams); break;
    case Id::omp_num_threads:
      if (in.num_threads_count == 0) text.add(option(id).fallback);
      for (int i = 0; i < in.num_threads_count; ++i) text.add(i == 0 ? "%d" : ",%d", in.num_threads[i]);
      break;
    case Id::omp_places: write_given(text, in.places, id); break;
    case Id::omp_proc_bind:
      if (in.proc_bind_count == 0) text.add(in.places.empty() ? "FALSE" : "TRUE");
      for (int i = 0; i < in.proc_bind_count; ++i) {
        text.add(i == 0 ? "" : ",");
        text.add(bind_name(in.proc_bind[i]));
      }
      break;
    case Id::omp_stacksize:
      if (in.stack_size == 0) {
        text.add(option(id).fallback);
      } else {
        write_bytes(text, in.stack_size);
      }
      break;
    case Id::omp_teams_thread_limit: text.add("%d", in.teams_thread_limit); break;
    case Id::omp_thread_limit: text.add("%d", in.thread_limit > 0 ? in.thread_limit : INT_MAX); break;
    case Id::omp_wait_policy:
      text.add(in.wait_policy == WaitPolicy::active    ? "ACTIVE"
               : in.wait_policy == WaitPolicy::passive ? "PASSIVE"
                                                       : option(id).fallback);
      break;
    default: return false;
  }
  return true;
}

/// OpenMP's other variables.
bool write_openmp(TextWriter& text, const Settings& in, Id id) {
  switch (id) {
    case Id::omp_allocator: write_given(text, in.allocator, id); break;
    case Id::omp_cancellation: text.add("%s", upper_boolean(in.cancellation)); break;
    case Id::omp_debug: text.add(in.debug ? "enabled" : "disabled"); break;
    case Id::omp_default_device: text.add("%d", in.default_device); break;
    case Id::omp_display_env:
      text.add(in.display_env == DisplayEnv::verbose ? "VERBOSE"
               : in.display_env == DisplayEnv::yes   ? "TRUE"
                                                     : "FALSE");
      break;
    case Id::omp_max_task_priority: text.add("%d", in.max_task_priority); break;
    case Id::omp_schedule: write_schedule(text, in.schedule); break;
    case Id::omp_target_offload:
      text.add(in.target_offload == TargetOffload::mandatory  ? "MANDATORY"
               : in.target_offload == TargetOffload::disabled ? "DISABLED"
                                                              : "DEFAULT");
      break;
    case Id::omp_tool: text.add(in.tool ? "enabled" : "disabled"); break;
    case Id::omp_tool_libraries: write_given(text, in.tool_libraries, id); break;
    case Id::omp_tool_verbose_init: write_given(text, in.tool_verbose_init, id); break;
    default: return false;
  }
  return true;
}

/// The variables of libgomp and libomp.
bool write_vendor(TextWriter& text, const Settings& in, Id id) {
  switch (id) {
    case Id::gomp_cpu_affinity: write_given(text, in.gomp_cpu_affinity, id); break;
    case Id::kmp_affinity: write_given(text, in.kmp_affinity, id); break;
    case Id::gomp_spincount:
      if (in.spin_count < 0) {
        text.add(option(id).fallback);
      } else if (in.spin_count == INT64_MAX) {
        text.add("infinite");
      } else {
        text.add("%lld", static_cast<long long>(in.spin_count));
      }
      break;
    case Id::gomp_stacksize:
    case Id::kmp_stacksize:
      if (in.stack_size == 0) {
        text.add(option(id).fallback);
      } else {
        write_bytes(text, in.stack_size);
      }
      break;
    case Id::kmp_blocktime:
      if (in.blocktime_us < 0) {
        text.add(option(id).fallback);
      } else {
        write_blocktime(text, in.blocktime_us);
      }
      break;
    case Id::kmp_deterministic_reduction: text.add(in.deterministic_reduction ? "true" : "false"); break;
    case Id::kmp_device_thread_limit: write_optional(text, in.device_thread_limit, id); break;
    case Id::kmp_hw_subset: write_given(text, in.hw_subset, id); break;
    case Id::kmp_library:
      text.add(in.serial ? "serial" : in.wait_policy == WaitPolicy::active ? "turnaround" : "throughput");
      break;
    case Id::kmp_settings: text.add(in.kmp_settings ? "true" : "false"); break;
    case Id::kmp_teams_proc_bind:
      text.add(in.teams_proc_bind == ProcBind::unset ? "SPREAD" : bind_name(in.teams_proc_bind));
      break;
    case Id::kmp_teams_thread_limit: write_optional(text, in.kmp_teams_thread_limit, id); break;
    case Id::kmp_version: text.add(in.kmp_version ? "true" : "false"); break;
    default: return false;
  }
  return true;
}

}  // namespace

std::size_t setting_text(const Settings& in, OptionId id, char* out, std::size_t room) {
  TextWriter text(out, room);
  const bool known = write_hearth(text, in, id) || write_threads(text, in, id) || write_openmp(text, in, id) ||
                     write_vendor(text, in, id);
  if (!known) text.add("ignored");
  return text.length();
}

std::string_view setting_source(const OptionReader& given, const Settings& in, OptionId id) {
  switch (id) {
    case Id::omp_stacksize:
      if (in.stack_size == 0) return {};
      for (const Id candidate : {Id::kmp_stacksize, Id::omp_stacksize, Id::gomp_stacksize}) {
        if (given[candidate].given()) return given[candidate].variable;
      }
      return {};
    case Id::omp_wait_policy:
      if (in.wait_policy == WaitPolicy::unset) return {};
      return given[Id::omp_wait_policy].given() ? given[Id::omp_wait_policy].variable : given[Id::kmp_library].variable;
    default: return given[id].variable;
  }
}

}  // namespace hearth::rt
