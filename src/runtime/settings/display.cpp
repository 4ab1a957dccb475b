// The process's own settings, and what displays them on stderr: OMP_DISPLAY_ENV, omp_display_env(), KMP_SETTINGS, KMP_VERSION.
//
// init_settings() writes the state below once, before the runtime has a second thread; afterwards it is constant.
#include <unistd.h>

#include "base/log.h"
#include "runtime/settings/settings.h"
#include "runtime/settings/text_writer.h"

namespace hearth::rt {

constinit Settings process_settings;

namespace {

using Id = OptionId;

constinit OptionReader the_environment;
constinit bool initialised = false;
char the_storage[kSettingsStorage];

constexpr int kOpenmpVersion = 202111;  // OpenMP 5.2

// What OMP_DISPLAY_ENV prints without `verbose`: OpenMP's own ICV variables, in the order of libgomp's display.
constexpr Id kIcvs[] = {Id::omp_dynamic,
                        Id::omp_nested,
                        Id::omp_num_threads,
                        Id::omp_schedule,
                        Id::omp_proc_bind,
                        Id::omp_places,
                        Id::omp_stacksize,
                        Id::omp_wait_policy,
                        Id::omp_thread_limit,
                        Id::omp_max_active_levels,
                        Id::omp_num_teams,
                        Id::omp_teams_thread_limit,
                        Id::omp_cancellation,
                        Id::omp_default_device,
                        Id::omp_max_task_priority,
                        Id::omp_display_affinity,
                        Id::omp_affinity_format,
                        Id::omp_allocator,
                        Id::omp_target_offload,
                        Id::omp_tool,
                        Id::omp_tool_libraries,
                        Id::omp_tool_verbose_init,
                        Id::omp_debug};

/// Is the default of this option told in words that nobody could set? Such an option is shown as empty until it is given.
bool is_default_in_words(Id id) {
  switch (id) {
    case Id::gomp_cpu_affinity:
    case Id::gomp_spincount:
    case Id::hearth_check:
    case Id::hearth_explain:
    case Id::hearth_log_decisions:
    case Id::hearth_machine:
    case Id::hearth_slowdown:
    case Id::hearth_verify_file:
    case Id::kmp_blocktime:
    case Id::kmp_device_thread_limit:
    case Id::kmp_hw_subset:
    case Id::kmp_teams_thread_limit:
    case Id::omp_tool_libraries: return true;
    default: return false;
  }
}

/// The settings with what the runtime has chosen where the user has not: only values that could be set.
Settings settings_in_effect(const DisplayFacts& facts) {
  Settings in_effect = process_settings;
  if (facts.stack_size != 0) in_effect.stack_size = facts.stack_size;
  if (in_effect.wait_policy == WaitPolicy::unset)
    in_effect.wait_policy = facts.spins_for_ever ? WaitPolicy::active : WaitPolicy::passive;
  return in_effect;
}

void write_effective(TextWriter& out, Id id, const Settings& in_effect, const DisplayFacts& facts) {
  if (id == Id::omp_num_threads && in_effect.num_threads_count == 0 && facts.num_threads > 0) {
    out.add("%d", facts.num_threads);
  } else if (id == Id::omp_places && facts.places != nullptr) {
    out.add("%s", facts.places);
  } else if (id == Id::omp_thread_limit && facts.thread_limit > 0) {
    out.add("%d", facts.thread_limit);
  } else if (id == Id::omp_max_active_levels && facts.max_active_levels > 0) {
    out.add("%d", facts.max_active_levels);
  } else {
    char value[4096];
    const std::string_view text(value, setting_text(in_effect, id, value, sizeof(value)));
    if (text != option(id).fallback || !is_default_in_words(id)) out.add(text);
  }
}

}  // namespace

void init_settings() {
  if (initialised) return;
  initialised = true;
  the_environment.read(environ, process_is_privileged());
  process_settings = parse_settings(the_environment, the_storage, sizeof(the_storage));
}

void display_env(bool verbose, const DisplayFacts& facts) {
  // Too much for a small thread's stack. Two displays at once may mix, as any output would.
  static char text[32 * 1024];
  const Settings in_effect = settings_in_effect(facts);
  TextWriter out(text, sizeof(text));
  out.add("\nOPENMP DISPLAY ENVIRONMENT BEGIN\n  _OPENMP = '%d'\n", kOpenmpVersion);
  for (const Id id : kIcvs) {
    out.add("  [host] ");
    out.add(option(id).name);
    out.add(" = '");
    write_effective(out, id, in_effect, facts);
    out.add("'\n");
  }
  if (verbose) {
    for (std::size_t i = 0; i < kOptionCount; ++i) {
      const Option& row = option(option_at(i));
      if (row.role == Option::ignored || row.role == Option::harmless) continue;
      // OpenMP's own stand above.
      if (row.name.substr(0, 4) == "OMP_" && row.id != Id::omp_data_distribution) continue;
      out.add("  [host] ");
      out.add(row.name);
      out.add(" = '");
      write_effective(out, row.id, in_effect, facts);
      out.add("'\n");
    }
  }
  out.add("OPENMP DISPLAY ENVIRONMENT END\n");
  write_stderr(text, out.length());
}

void display_at_start(const DisplayFacts& facts) {
  if (process_settings.display_env != DisplayEnv::no)
    display_env(process_settings.display_env == DisplayEnv::verbose, facts);
  if (process_settings.kmp_version) warn("Hearth %s, an OpenMP runtime (OpenMP %d).", HEARTH_VERSION, kOpenmpVersion);
  if (!process_settings.kmp_settings) return;
  static char text[32 * 1024];
  const Settings in_effect = settings_in_effect(facts);
  TextWriter out(text, sizeof(text));
  out.add("\nUser settings:\n\n");
  for (std::size_t i = 0; i < kOptionCount; ++i) {
    const GivenValue& given = the_environment[option_at(i)];
    if (!given.given()) continue;
    out.add("   ");
    out.add(given.variable);
    out.add("=");
    out.add(given.value);
    out.add("\n");
  }
  out.add("\nEffective settings:\n\n");
  for (std::size_t i = 0; i < kOptionCount; ++i) {
    const Option& row = option(option_at(i));
    if (row.role == Option::ignored || row.role == Option::harmless) continue;
    out.add("   ");
    out.add(row.name);
    out.add("='");
    write_effective(out, row.id, in_effect, facts);
    out.add("'\n");
  }
  out.add("\n");
  write_stderr(text, out.length());
}

}  // namespace hearth::rt
