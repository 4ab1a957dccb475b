// What the user asked for before the program ran: the initial values of OpenMP's ICVs and Hearth's own
// switches.
//
// Plain data, read from the environment once by init_settings() (through the option table of base/options.h),
// before any other thread of the runtime exists; constant afterwards, so every thread may read it without
// synchronisation. What a program changes later (omp_set_num_threads and its kin) lives in the data
// environments of tasks, never here. A value the user did not give is left "unset": filling it in from the
// machine (how many threads, which places) is the runtime's job.
#pragma once

#include <cstddef>
#include <cstdint>

#include <string_view>

#include "base/bubbles.h"
#include "base/options.h"
#include "base/policies.h"
#include "placement/distribution.h"
#include "policy/task_policy.h"
#include "topology/levels.h"

namespace hearth::rt {

inline constexpr int kMaxNestingList = 16;  // levels of OMP_NUM_THREADS and OMP_PROC_BIND that are told apart

// The values of omp_proc_bind_t, and "the user said nothing".
enum class ProcBind : std::int8_t { unset = -1, off = 0, on = 1, primary = 2, close = 3, spread = 4 };

enum class WaitPolicy : std::uint8_t { unset, active, passive };

enum class TargetOffload : std::uint8_t { default_, mandatory, disabled };

enum class DisplayEnv : std::uint8_t { no, yes, verbose };

// In the order of kPolicyNames and of policy::policy_at().
enum class Policy : std::uint8_t {
#define HEARTH_POLICY(object, word, meaning) object,
#include "base/policies.def"
#undef HEARTH_POLICY
};
inline constexpr std::string_view kSeatNames[] = {"llc", "node", "core"};
inline constexpr std::string_view kNextTouchNames[] = {"announced", "kernel", "trap"};
inline constexpr topology::Level kSeatLevels[] = {topology::llc_level, topology::node_level, topology::core_level};
inline constexpr std::string_view kVicinityNames[] = {"all", "1", "4", "8", "16"};
inline constexpr std::string_view kLocationNames[] = {"node", "llc"};
inline constexpr std::int32_t kVicinities[] = {0, 1, 4, 8, 16};                  // as policy::Choices
inline constexpr std::string_view kSignificanceNames[] = {"gain", "paper"};      // as policy::Significance
inline constexpr std::string_view kThresholdNames[] = {"hops", "slit", "none"};  // as policy::Threshold

// Does the schedule say monotonic or nonmonotonic itself? Without either, dynamic and guided are nonmonotonic
// (OpenMP 5.2, section 11.5.3).
enum class ScheduleModifier : std::uint8_t { none, monotonic, nonmonotonic };

struct Schedule {
  int kind = 1;  // omp_sched_t: 1 static, 2 dynamic, 3 guided, 4 auto; 101: libomp's trapezoidal
  ScheduleModifier modifier = ScheduleModifier::none;
  int chunk = 0;  // 0: not given, the kind's own default
};

/// HEARTH_DISTRIBUTE: which blocks of malloc are distributed, and how.
struct Distribute {
  placement::Kind kind = placement::Kind::standard;
  bool learn = false;                               // each allocation site has its own
  std::size_t least = std::size_t{128} << 10;  // smaller blocks stay malloc's
};
Parsed<Distribute> parse_distribute(std::string_view text);

/// HEARTH_THREAD_BUDGET: how many threads all processes have together that name it.
struct Budget {
  enum : std::int32_t { off = 0, cpus = -1 };
  std::int32_t threads = off;
  std::string_view name = kDefaultName;  // points into the text that was parsed

  static constexpr std::string_view kDefaultName = "default";
  static constexpr std::size_t kMostName = 32;
};
Parsed<Budget> parse_budget(std::string_view text);

struct Settings {
  // Hearth's own.
  bool enabled = true;   // HEARTH=off: this library should not have been loaded; the runtime says so
  bool warnings = true;  // HEARTH_WARNINGS, KMP_WARNINGS
  Policy policy{};       // the first
  policy::Significance significance = policy::Significance::gain;  // HEARTH_SIGNIFICANCE
  policy::Threshold steal_threshold = policy::Threshold::hops;     // HEARTH_STEAL_THRESHOLD
  std::int32_t slowdown = 0;                                       // HEARTH_SLOWDOWN; 0: nobody has said
  std::int32_t vicinity = 0;                                       // HEARTH_VICINITY: one of kVicinities
  int task_cutoff = 256;                 // HEARTH_TASK_CUTOFF: tasks in one's own queue; 0: no cut-off
  std::string_view machine;              // HEARTH_MACHINE: empty for the real one; topology parses
  std::int32_t bubbles = 0;              // HEARTH_BUBBLES: an index of kBubbleNames
  std::int32_t seats = 0;                // HEARTH_SEATS: an index of kSeatNames
  bool rebalance = true;                 // HEARTH_REBALANCE
  std::int32_t next_touch = 0;           // HEARTH_NEXT_TOUCH: an index of kNextTouchNames
  bool llc_locations = false;            // HEARTH_LOCATION: last-level caches instead of nodes
  const char* check_folder = nullptr;    // HEARTH_CHECK: where check.h writes what tasks touch, or null
  const char* explain_file = nullptr;    // HEARTH_EXPLAIN: where explain.h writes, or null
  const char* verify_file = nullptr;     // HEARTH_VERIFY_FILE: where verify_report() appends, or null
  bool infers = true;                    // HEARTH_INFER
  bool live = true;                      // HEARTH_LIVE
  bool static_by_capacity = false;       // HEARTH_STATIC_BY_CAPACITY
  Budget budget;                         // HEARTH_THREAD_BUDGET
  bool learns = false;                   // HEARTH_LEARN
  const char* learned_file = nullptr;    // its file, or null: the one in the cache folder
  const char* decisions_file = nullptr;  // HEARTH_LOG_DECISIONS: what decisions.h writes, or null

  // Teams. A list holds one value per nesting level; the last one counts for all deeper levels.
  int num_threads[kMaxNestingList] = {};
  int num_threads_count = 0;  // 0: unset
  ProcBind proc_bind[kMaxNestingList] = {};
  int proc_bind_count = 0;  // 0: unset
  // The next ones as the user wrote them: topology, which knows the machine, parses them. A type in KMP_AFFINITY wins over
  // OMP_PLACES and OMP_PROC_BIND, and those over GOMP_CPU_AFFINITY.
  std::string_view places;
  std::string_view places_variable = "OMP_PLACES";  // or OMP_PLACES_ALL: the name it was given by
  std::string_view kmp_affinity;
  std::string_view gomp_cpu_affinity;
  std::string_view hw_subset;  // KMP_HW_SUBSET: what of the machine may be used at all
  bool dynamic = false;
  int nested = -1;                             // OMP_NESTED: -1 unset, 0 false, 1 true
  int max_active_levels = -1;                  // OMP_MAX_ACTIVE_LEVELS: -1 unset
  int thread_limit = 0;                        // 0: unset, no limit
  int device_thread_limit = 0;                 // KMP_DEVICE_THREAD_LIMIT: threads of the whole process; 0: unset
  int num_teams = 0;                           // 0: unset
  int teams_thread_limit = 0;                  // 0: unset
  int kmp_teams_thread_limit = 0;              // KMP_TEAMS_THREAD_LIMIT: threads of a whole league; 0: unset
  ProcBind teams_proc_bind = ProcBind::unset;  // KMP_TEAMS_PROC_BIND: how the teams of a league are spread
  bool serial = false;                         // KMP_LIBRARY=serial: every region runs on one thread

  // Threads and waiting.
  std::size_t stack_size = 0;  // bytes; 0: unset
  WaitPolicy wait_policy = WaitPolicy::unset;
  std::int64_t blocktime_us = -1;  // how long to spin before sleep; -1 unset, INT64_MAX for ever
  std::int64_t spin_count = -1;    // GOMP_SPINCOUNT; -1 unset, INT64_MAX for ever

  // Loops, tasks, cancellation.
  Schedule schedule;  // run-sched-var
  bool deterministic_reduction = false;  // KMP_DETERMINISTIC_REDUCTION
  bool cancellation = false;
  int max_task_priority = 0;

  // Devices and memory.
  TargetOffload target_offload = TargetOffload::default_;
  int default_device = 0;
  placement::Kind data_distribution = placement::Kind::standard;  // OMP_DATA_DISTRIBUTION
  Distribute distribute;                                          // HEARTH_DISTRIBUTE
  bool huge_pages = false;                                        // HEARTH_HUGE_PAGES
  std::string_view allocator_variable = "OMP_ALLOCATOR";  // or with _ALL
  std::string_view allocator;  // OMP_ALLOCATOR: a predefined allocator or memory space with traits; empty: unset

  // Displays and tools.
  DisplayEnv display_env = DisplayEnv::no;
  bool display_affinity = false;
  std::string_view affinity_format;    // never empty
  bool tool = true;                    // OMP_TOOL
  std::string_view tool_libraries;     // ':'-separated; empty: none
  std::string_view tool_verbose_init;  // empty: disabled; else STDOUT, STDERR or a file name
  bool debug = false;                  // OMP_DEBUG: the OMPD interface's switch
  bool kmp_settings = false;           // KMP_SETTINGS: print the settings at start
  bool kmp_version = false;            // KMP_VERSION: print the version at start
};

/// The affinity format when the user gives none.
inline constexpr std::string_view kDefaultAffinityFormat = "OMP: pid %P tid %i thread %n bound to OS proc set {%A}";

/// Turn an environment into settings. init_settings() does so for the process's own; tests and `hearth env`
/// for others. The texts of the result point into `storage`, which must outlive them: a copy of what they
/// need, since a program may change or overwrite its environment. kSettingsStorage bytes are enough for most;
/// what does not fit is reported and dropped.
inline constexpr std::size_t kSettingsStorage = 64 * 1024;
Settings parse_settings(const OptionReader& given, char* storage, std::size_t storage_size);

/// Parse the environment. Called once by the runtime's initialisation, before it creates a thread; a second
/// call does nothing. Says one line on stderr for each bad value.
void init_settings();

extern constinit Settings process_settings;

/// The parsed environment. init_settings() must have been called.
inline const Settings& settings() { return process_settings; }

/// The value in effect for an option, as OMP_DISPLAY_ENV and `hearth env` show it (zero-terminated, cut at
/// `room`). Returns its length.
std::size_t setting_text(const Settings& in, OptionId id, char* out, std::size_t room);

/// Where an option's value came from: the variable that gave it (perhaps one of another runtime), or empty
/// for the default.
std::string_view setting_source(const OptionReader& given, const Settings& in, OptionId id);

/// omp_display_env: all ICVs on stderr in OMP_DISPLAY_ENV's format; with `verbose` also the vendor's
/// variables. What only the runtime knows (the default team size, the places in effect) is passed in; a null
/// or zero prints what the environment says.
struct DisplayFacts {
  int num_threads = 0;
  int thread_limit = 0;
  int max_active_levels = 0;
  const char* places = nullptr;
  std::size_t stack_size = 0;   // bytes, of the threads that the runtime starts
  bool spins_for_ever = false;  // a waiting thread does not sleep
};
void display_env(bool verbose, const DisplayFacts& facts);

/// What KMP_SETTINGS and KMP_VERSION ask for, on stderr. The runtime calls it once it knows the facts.
void display_at_start(const DisplayFacts& facts);

}  // namespace hearth::rt
