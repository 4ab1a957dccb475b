// From the environment to Settings: one function per option or group of options, in the order of parse_settings(). That is
// also where the precedence between the variables of different runtimes is decided: KMP_ over OMP_ over GOMP_, as libomp and
// libgomp each decide between their own variables and OpenMP's.
//
// Pure but for warnings about bad values; init_settings() calls it before the runtime has a second thread.
#include <climits>

#include <iterator>

#include <unistd.h>

#include "base/log.h"
#include "base/thread_budget.h"
#include "runtime/settings/settings.h"
#include "runtime/settings/text_writer.h"
#include "runtime/settings/words.h"

namespace hearth::rt {
namespace {

using Id = OptionId;
using placement::Kind;

constexpr std::int64_t kMostInt = INT_MAX;

/// Copies texts into memory that lives as long as the settings.
class Keeper {
 public:
  Keeper(char* storage, std::size_t size) : next_(storage), left_(size) {}

  /// Zero-terminated copy; empty (and a warning) when there is no room.
  std::string_view keep(const GivenValue& given, std::string_view text) {
    if (text.size() + 1 > left_) {
      warn("%.*s: the value is too long (%zu bytes); ignored.", static_cast<int>(given.variable.size()),
           given.variable.data(), text.size());
      return {};
    }
    __builtin_memcpy(next_, text.data(), text.size());
    next_[text.size()] = '\0';
    const std::string_view kept(next_, text.size());
    next_ += text.size() + 1;
    left_ -= text.size() + 1;
    return kept;
  }

 private:
  char* next_;
  std::size_t left_;
};

template <typename T>
void complain_about(Id id, const GivenValue& given, const Parsed<T>& bad, std::string_view used) {
  complain(given, parse_failure_text(bad.failure), bad.column(), option(id).legal, used);
}

void complain_at(Id id, const GivenValue& given, ParseFailure failure, std::size_t at, std::string_view used) {
  complain(given, parse_failure_text(failure), at + 1, option(id).legal, used);
}

/// Offset of a part within the value it was cut from.
std::size_t offset_in(const GivenValue& given, std::string_view part) {
  return static_cast<std::size_t>(part.data() - given.value.data());
}

// ---- options of one simple type

bool read_boolean(const OptionReader& in, Id id, bool fallback) {
  const GivenValue& given = in[id];
  if (!given.given()) return fallback;
  const auto parsed = parse_boolean(given.value);
  if (parsed) return parsed.value;
  complain_about(id, given, parsed, option(id).fallback);
  return fallback;
}

int read_count(const OptionReader& in, Id id, std::int64_t least, int fallback) {
  const GivenValue& given = in[id];
  if (!given.given()) return fallback;
  const auto parsed = parse_integer(given.value, least, kMostInt);
  if (parsed) return static_cast<int>(parsed.value);
  complain_about(id, given, parsed, option(id).fallback);
  return fallback;
}

template <std::size_t N>
std::size_t read_word(const OptionReader& in, Id id, const std::string_view (&words)[N], std::size_t fallback) {
  const GivenValue& given = in[id];
  if (!given.given()) return fallback;
  const auto parsed = parse_word(given.value, words, N);
  if (parsed) return parsed.value;
  complain_about(id, given, parsed, option(id).fallback);
  return fallback;
}

std::string_view read_text(const OptionReader& in, Id id, Keeper& keeper) {
  const GivenValue& given = in[id];
  return given.given() ? keeper.keep(given, trim(given.value)) : std::string_view{};
}

/// Null when none is given.
const char* read_path(const OptionReader& in, Id id, Keeper& keeper) {
  const std::string_view path = read_text(in, id, keeper);
  return path.empty() ? nullptr : path.data();
}

/// on, off, or a file.
void read_learn(const OptionReader& in, Settings& out, Keeper& keeper) {
  const char* const text = read_path(in, Id::hearth_learn, keeper);
  if (text == nullptr) return;
  const auto on = parse_boolean(text);
  out.learns = !on || on.value;
  if (!on) out.learned_file = text;
}

// ---- lists

void read_num_threads(const OptionReader& in, Settings& out) {
  const GivenValue& given = in[Id::omp_num_threads];
  if (!given.given()) return;
  std::int64_t values[kMaxNestingList];
  const auto count = parse_integer_list(given.value, 1, kMostInt, values, kMaxNestingList);
  if (!count) {
    complain_about(Id::omp_num_threads, given, count, option(Id::omp_num_threads).fallback);
    return;
  }
  for (std::size_t i = 0; i < count.value; ++i) out.num_threads[i] = static_cast<int>(values[i]);
  out.num_threads_count = static_cast<int>(count.value);
}

Parsed<ProcBind> parse_proc_bind(std::string_view text) {
  static constexpr std::string_view kWords[] = {"false", "true", "primary", "close", "spread", "master"};
  const auto word = parse_word(text, kWords, 6);
  Parsed<ProcBind> result;
  result.failure = word.failure;
  result.at = word.at;
  result.value = word.value == 5 ? ProcBind::primary : static_cast<ProcBind>(word.value);
  return result;
}

void read_proc_bind(const OptionReader& in, Settings& out) {
  const GivenValue& given = in[Id::omp_proc_bind];
  if (!given.given()) return;
  ListReader list(given.value);
  std::string_view item;
  int count = 0;
  while (list.next(item)) {
    const auto bind = parse_proc_bind(item);
    ParseFailure failure = bind.failure;
    if (failure == ParseFailure::none && count == kMaxNestingList) failure = ParseFailure::out_of_range;
    // true and false stand alone: they say nothing that could differ between levels.
    const bool alone = bind.value == ProcBind::off || bind.value == ProcBind::on;
    if (failure == ParseFailure::none && count > 0 && (alone || out.proc_bind[0] <= ProcBind::on)) {
      failure = ParseFailure::trailing;
    }
    if (failure != ParseFailure::none) {
      complain_at(Id::omp_proc_bind, given, failure, list.offset() + bind.at, option(Id::omp_proc_bind).fallback);
      return;  // the list only counts once it is complete
    }
    out.proc_bind[count++] = bind.value;
  }
  out.proc_bind_count = count;
}

// ---- schedules

void read_schedule(const OptionReader& in, Settings& out) {
  const GivenValue& given = in[Id::omp_schedule];
  if (!given.given()) return;
  static constexpr std::string_view kModifiers[] = {"monotonic", "nonmonotonic"};
  static constexpr std::string_view kKinds[] = {"static", "dynamic", "guided", "auto", "trapezoidal", "static_steal"};
  static constexpr int kNumbers[] = {1, 2, 3, 4, 101, 2};
  const auto refuse = [&](ParseFailure failure, std::size_t at) {
    complain_at(Id::omp_schedule, given, failure, at, option(Id::omp_schedule).fallback);
  };
  Schedule schedule;
  std::string_view rest = given.value;
  const std::size_t colon = rest.find(':');
  if (colon != std::string_view::npos) {
    const auto modifier = parse_word(rest.substr(0, colon), kModifiers, 2);
    if (!modifier) return refuse(modifier.failure, modifier.at);
    schedule.modifier = modifier.value == 0 ? ScheduleModifier::monotonic : ScheduleModifier::nonmonotonic;
    rest.remove_prefix(colon + 1);
  }
  const std::size_t comma = rest.find(',');
  const std::string_view kind_text = rest.substr(0, comma);
  const auto kind = parse_word(kind_text, kKinds, 6);
  if (!kind) return refuse(kind.failure, offset_in(given, kind_text) + kind.at);
  schedule.kind = kNumbers[kind.value];
  if (kind.value == 5 && schedule.modifier == ScheduleModifier::none)
    schedule.modifier = ScheduleModifier::nonmonotonic;
  if (comma != std::string_view::npos) {
    const std::string_view chunk_text = rest.substr(comma + 1);
    const auto chunk = parse_integer(chunk_text, 0, kMostInt);
    if (!chunk) return refuse(chunk.failure, offset_in(given, chunk_text) + chunk.at);
    schedule.chunk = static_cast<int>(chunk.value);  // 0 is accepted for "the kind's own", as libgomp does
    if (schedule.kind == 4) schedule.chunk = 0;      // auto chooses for itself
  }
  out.schedule = schedule;
}

// ---- places (their syntax is topology's business, which knows the machine)

void read_placement(const OptionReader& in, Settings& out, Keeper& keeper) {
  read_proc_bind(in, out);
  out.places = read_text(in, Id::omp_places, keeper);
  if (!out.places.empty()) out.places_variable = in[Id::omp_places].variable;
  out.kmp_affinity = read_text(in, Id::kmp_affinity, keeper);
  out.gomp_cpu_affinity = read_text(in, Id::gomp_cpu_affinity, keeper);
  out.hw_subset = read_text(in, Id::kmp_hw_subset, keeper);
}

// ---- stacks and waiting

void read_stack_size(const OptionReader& in, Settings& out) {
  struct Variable {
    Id id;
    std::uint64_t unit;
  };
  static constexpr Variable kByPrecedence[] = {
      {Id::kmp_stacksize, 1}, {Id::omp_stacksize, 1024}, {Id::gomp_stacksize, 1024}};
  for (const Variable& variable : kByPrecedence) {
    const GivenValue& given = in[variable.id];
    if (!given.given()) continue;
    auto parsed = parse_size(given.value, variable.unit, SIZE_MAX / 2);
    if (parsed && parsed.value == 0) parsed.failure = ParseFailure::out_of_range;
    if (parsed) {
      out.stack_size = static_cast<std::size_t>(parsed.value);
      return;
    }
    complain_about(variable.id, given, parsed, option(Id::omp_stacksize).fallback);
  }
}

void read_waiting(const OptionReader& in, Settings& out) {
  static constexpr std::string_view kPolicies[] = {"active", "passive"};
  if (in[Id::omp_wait_policy].given()) {
    const std::size_t word = read_word(in, Id::omp_wait_policy, kPolicies, 2);
    out.wait_policy = word == 0 ? WaitPolicy::active : word == 1 ? WaitPolicy::passive : WaitPolicy::unset;
  }

  static constexpr std::string_view kLibraries[] = {"throughput", "turnaround", "serial"};
  const std::size_t library = read_word(in, Id::kmp_library, kLibraries, 0);
  out.serial = library == 2;
  if (library == 1 && out.wait_policy == WaitPolicy::unset) out.wait_policy = WaitPolicy::active;

  const GivenValue& blocktime = in[Id::kmp_blocktime];
  if (blocktime.given()) {
    const auto parsed = parse_duration(blocktime.value, 1'000'000);
    if (!parsed) {
      complain_about(Id::kmp_blocktime, blocktime, parsed, option(Id::kmp_blocktime).fallback);
    } else {
      // libomp takes INT_MAX milliseconds for "for ever"; so do scripts that write the number.
      const bool forever = parsed.value == INT64_MAX || parsed.value / 1'000'000 >= INT_MAX;
      out.blocktime_us = forever ? INT64_MAX : parsed.value / 1000;
    }
  }

  const GivenValue& spins = in[Id::gomp_spincount];
  if (!spins.given()) return;
  std::string_view text = trim(spins.value);
  if (same_word(text, "infinite") || same_word(text, "infinity")) {
    out.spin_count = INT64_MAX;
    return;
  }
  std::int64_t unit = 1;
  if (!text.empty()) {
    constexpr std::string_view kUnits = "kmgt";
    const char last = static_cast<char>(text.back() | 0x20);
    if (const std::size_t power = kUnits.find(last); power != std::string_view::npos) {
      for (std::size_t i = 0; i <= power; ++i) unit *= 1000;
      text.remove_suffix(1);
    }
  }
  auto parsed = parse_integer(text, 0, INT64_MAX);
  if (parsed && __builtin_mul_overflow(parsed.value, unit, &parsed.value)) parsed.failure = ParseFailure::out_of_range;
  if (parsed) {
    out.spin_count = parsed.value;
  } else {
    complain_about(Id::gomp_spincount, spins, parsed, option(Id::gomp_spincount).fallback);
  }
}

// ---- the rest

void read_thread_limits(const OptionReader& in, Settings& out) {
  out.thread_limit = read_count(in, Id::omp_thread_limit, 1, 0);
  out.teams_thread_limit = read_count(in, Id::omp_teams_thread_limit, 1, 0);
  out.kmp_teams_thread_limit = read_count(in, Id::kmp_teams_thread_limit, 1, 0);
  out.num_teams = read_count(in, Id::omp_num_teams, 1, 0);

  const GivenValue& device = in[Id::kmp_device_thread_limit];
  if (device.given() && same_word(trim(device.value), "all")) {
    const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    out.device_thread_limit = cpus > 0 ? static_cast<int>(cpus) : 0;
  } else {
    out.device_thread_limit = read_count(in, Id::kmp_device_thread_limit, 1, 0);
  }
}

void read_distribute(const OptionReader& in, Settings& out) {
  const GivenValue& given = in[Id::hearth_distribute];
  if (!given.given()) return;
  const auto parsed = parse_distribute(given.value);
  if (parsed)
    out.distribute = parsed.value;
  else
    complain_about(Id::hearth_distribute, given, parsed, option(Id::hearth_distribute).fallback);
}

void read_budget(const OptionReader& in, Settings& out, Keeper& keeper) {
  const GivenValue& given = in[Id::hearth_thread_budget];
  if (!given.given()) return;
  const auto parsed = parse_budget(given.value);
  if (!parsed) return complain_about(Id::hearth_thread_budget, given, parsed, option(Id::hearth_thread_budget).fallback);
  out.budget = parsed.value;
  out.budget.name = keeper.keep(given, parsed.value.name);
  if (out.budget.name.empty()) out.budget = {};
}

void read_displays(const OptionReader& in, Settings& out, Keeper& keeper) {
  const GivenValue& env = in[Id::omp_display_env];
  if (env.given()) {
    if (same_word(trim(env.value), "verbose")) {
      out.display_env = DisplayEnv::verbose;
    } else {
      out.display_env = read_boolean(in, Id::omp_display_env, false) ? DisplayEnv::yes : DisplayEnv::no;
    }
  }
  out.display_affinity = read_boolean(in, Id::omp_display_affinity, false);
  out.affinity_format = read_text(in, Id::omp_affinity_format, keeper);
  if (out.affinity_format.empty()) out.affinity_format = kDefaultAffinityFormat;
  out.kmp_settings = read_boolean(in, Id::kmp_settings, false);
  out.kmp_version = read_boolean(in, Id::kmp_version, false);
}

void read_tools(const OptionReader& in, Settings& out, Keeper& keeper) {
  out.tool = read_boolean(in, Id::omp_tool, true);
  out.debug = read_boolean(in, Id::omp_debug, false);
  out.tool_libraries = read_text(in, Id::omp_tool_libraries, keeper);
  out.tool_verbose_init = read_text(in, Id::omp_tool_verbose_init, keeper);
  if (same_word(out.tool_verbose_init, "disabled")) out.tool_verbose_init = {};
}

/// One line that names every variable that was set for another runtime and does nothing here.
void name_ignored(const OptionReader& in) {
  char names[1024];
  TextWriter text(names, sizeof(names));
  for (std::size_t i = 0; i < kOptionCount; ++i) {
    const GivenValue& given = in[option_at(i)];
    if (!given.given() || option(option_at(i)).role != Option::ignored) continue;
    text.add(text.length() > 0 ? ", " : "");
    text.add(given.variable);
  }
  if (text.length() > 0) warn("ignoring %s; `hearth env` says why.", names);
}

template <class Value>
Parsed<Value> failed(Parsed<Value> result, ParseFailure failure, std::size_t at) {
  result.failure = failure;
  result.at = at;
  return result;
}

}  // namespace

Parsed<Distribute> parse_distribute(std::string_view text) {
  constexpr std::size_t kForBlocks = std::size(kDistributions) - 1;
  static constexpr std::string_view kLeast = "min=";
  constexpr std::uint64_t kLeastPossible = 4096, kMostPossible = std::uint64_t{1} << 46;
  Parsed<Distribute> result;
  const auto fail = [&](ParseFailure failure, std::size_t at) { return failed(result, failure, at); };
  ListReader list(text);
  std::string_view item;
  list.next(item);
  result.value.learn = same_word(item, kLearnName);
  if (same_word(item, kWeightedName)) {
    result.value.kind = placement::Kind::weighted;
  } else if (!result.value.learn) {
    const auto word = parse_word(item, kDistributionNames, kForBlocks);
    if (!word) return fail(word.failure, list.offset() + word.at);
    result.value.kind = kDistributions[word.value];
  }
  if (!list.next(item)) return result;
  if (!same_word(item.substr(0, kLeast.size()), kLeast)) return fail(ParseFailure::unknown_word, list.offset());
  const auto least = parse_size(item.substr(kLeast.size()), 1, kMostPossible);
  if (!least) return fail(least.failure, list.offset() + kLeast.size() + least.at);
  if (least.value < kLeastPossible) return fail(ParseFailure::out_of_range, list.offset() + kLeast.size());
  result.value.least = static_cast<std::size_t>(least.value);
  return list.next(item) ? fail(ParseFailure::trailing, list.offset()) : result;
}

Parsed<Budget> parse_budget(std::string_view text) {
  static constexpr std::string_view kName = "name=";
  static constexpr std::string_view kWords[] = {"off", "cpus"};
  Parsed<Budget> result;
  const auto fail = [&](ParseFailure failure, std::size_t at) { return failed(result, failure, at); };
  ListReader list(text);
  std::string_view item;
  list.next(item);
  if (!item.empty() && (item[0] == '-' || item[0] == '+' || (item[0] >= '0' && item[0] <= '9'))) {
    const auto number = parse_integer(item, 1, kBudgetMost);
    if (!number) return fail(number.failure, list.offset() + number.at);
    result.value.threads = static_cast<std::int32_t>(number.value);
  } else {
    const auto word = parse_word(item, kWords, std::size(kWords));
    if (!word) return fail(word.failure, list.offset() + word.at);
    result.value.threads = word.value == 0 ? Budget::off : Budget::cpus;
  }
  if (!list.next(item)) return result;
  if (!same_word(item.substr(0, kName.size()), kName)) return fail(ParseFailure::unknown_word, list.offset());
  const std::string_view name = item.substr(kName.size());
  const std::size_t begin = list.offset() + kName.size();
  if (name.empty()) return fail(ParseFailure::empty, begin);
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    const char lower = static_cast<char>(c | 0x20);
    const bool legal = (lower >= 'a' && lower <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
    if (!legal) return fail(ParseFailure::unknown_word, begin + i);
    if (i == Budget::kMostName) return fail(ParseFailure::trailing, begin + i);
  }
  result.value.name = name;
  return list.next(item) ? fail(ParseFailure::trailing, list.offset()) : result;
}

Settings parse_settings(const OptionReader& in, char* storage, std::size_t storage_size) {
  Settings out;
  Keeper keeper(storage, storage_size);
  out.affinity_format = kDefaultAffinityFormat;

  out.warnings = read_boolean(in, Id::hearth_warnings, true);
  if (!out.warnings) set_warnings(false);  // before anything else could complain
  out.enabled = read_boolean(in, Id::hearth, true);
  out.policy = static_cast<Policy>(read_word(in, Id::hearth_policy, kPolicyNames, 0));
  out.bubbles = read_word(in, Id::hearth_bubbles, kBubbleNames, 0);
  out.seats = read_word(in, Id::hearth_seats, kSeatNames, 0);
  out.rebalance = read_boolean(in, Id::hearth_rebalance, true);
  out.next_touch = read_word(in, Id::hearth_next_touch, kNextTouchNames, 0);
  out.significance = static_cast<policy::Significance>(read_word(in, Id::hearth_significance, kSignificanceNames, 0));
  out.steal_threshold = static_cast<policy::Threshold>(read_word(in, Id::hearth_steal_threshold, kThresholdNames, 0));
  out.llc_locations = read_word(in, Id::hearth_location, kLocationNames, 0) != 0;
  out.vicinity = kVicinities[read_word(in, Id::hearth_vicinity, kVicinityNames, 0)];
  out.slowdown = read_count(in, Id::hearth_slowdown, 1, out.slowdown);
  out.task_cutoff = read_count(in, Id::hearth_task_cutoff, 0, out.task_cutoff);
  out.machine = read_text(in, Id::hearth_machine, keeper);
  out.check_folder = read_path(in, Id::hearth_check, keeper);
  out.infers = read_boolean(in, Id::hearth_infer, true);
  out.live = read_boolean(in, Id::hearth_live, true);
  read_learn(in, out, keeper);
  out.static_by_capacity = read_boolean(in, Id::hearth_static_by_capacity, false);
  read_budget(in, out, keeper);
  out.decisions_file = read_path(in, Id::hearth_log_decisions, keeper);
  out.explain_file = read_path(in, Id::hearth_explain, keeper);
  out.verify_file = read_path(in, Id::hearth_verify_file, keeper);

  read_num_threads(in, out);
  read_placement(in, out, keeper);
  out.dynamic = read_boolean(in, Id::omp_dynamic, false);
  if (in[Id::omp_nested].given()) out.nested = read_boolean(in, Id::omp_nested, false) ? 1 : 0;
  out.max_active_levels = read_count(in, Id::omp_max_active_levels, 0, -1);
  read_thread_limits(in, out);
  static constexpr std::string_view kTeamsBindings[] = {"primary", "close", "spread", "master", "true", "false"};
  if (in[Id::kmp_teams_proc_bind].given()) {
    static constexpr ProcBind kValues[] = {ProcBind::primary, ProcBind::close, ProcBind::spread,
                                           ProcBind::primary, ProcBind::on,    ProcBind::off};
    out.teams_proc_bind = kValues[read_word(in, Id::kmp_teams_proc_bind, kTeamsBindings, 2)];
  }

  read_stack_size(in, out);
  read_waiting(in, out);
  read_schedule(in, out);
  out.cancellation = read_boolean(in, Id::omp_cancellation, false);
  out.deterministic_reduction = read_boolean(in, Id::kmp_deterministic_reduction, false);
  out.max_task_priority = read_count(in, Id::omp_max_task_priority, 0, 0);
  static constexpr std::string_view kOffload[] = {"default", "mandatory", "disabled"};
  out.target_offload = static_cast<TargetOffload>(read_word(in, Id::omp_target_offload, kOffload, 0));
  out.default_device = read_count(in, Id::omp_default_device, 0, 0);
  out.allocator = read_text(in, Id::omp_allocator, keeper);
  if (!out.allocator.empty()) out.allocator_variable = in[Id::omp_allocator].variable;
  out.data_distribution = kDistributions[read_word(in, Id::omp_data_distribution, kDistributionNames, 0)];
  read_distribute(in, out);
  out.huge_pages = read_boolean(in, Id::hearth_huge_pages, false);
  read_displays(in, out, keeper);
  read_tools(in, out, keeper);
  name_ignored(in);
  if (out.check_folder != nullptr) out.serial = true;  // one task at a time
  return out;
}

}  // namespace hearth::rt
