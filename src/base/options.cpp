// The table of options and the one pass over the environment; see options.h.
#include "base/options.h"

#include <cstdint>
#include <cstdlib>

#include <sys/auxv.h>

#include "base/log.h"
#include "base/bubbles.h"
#include "base/policies.h"

namespace hearth {
namespace {

using O = Option;
using Id = OptionId;

constexpr std::string_view kBoolean = "true or false (also yes/no, on/off, 1/0)";
constexpr std::string_view kBytesInKilobytes = "1 to the address space, in kilobytes; units B, K, M, G, T";
constexpr std::string_view kPositive = "1 to 2147483647";
constexpr std::string_view kNatural = "0 to 2147483647";
constexpr std::string_view kAny = "anything";
constexpr std::string_view kAutomatic = "automatic";
constexpr std::string_view kNoSuchPart = "Ignored: it tunes a part of libomp that Hearth does not have.";
constexpr std::string_view kBarrier = "Ignored: Hearth's barriers follow the machine's caches.";

constexpr O ignored(Id id, std::string_view name, std::string_view meaning, O::Role role = O::ignored) {
  return {.id = id, .name = name, .type = O::text, .role = role, .fallback = "", .legal = kAny, .meaning = meaning};
}

// "a, b or c".
template <std::size_t kRoom>
struct Alternatives {
  char text[kRoom] = {};
  std::size_t length = 0;

  template <std::size_t kCount>
  constexpr explicit Alternatives(const std::string_view (&words)[kCount]) {
    for (std::size_t i = 0; i < kCount; ++i) {
      if (i != 0) add(i + 1 == kCount ? " or " : ", ");
      add(words[i]);
    }
  }
  constexpr std::string_view view() const { return {text, length}; }

 private:
  constexpr void add(std::string_view more) {
    for (const char c : more) text[length++] = c;  // no room: the compiler says so
  }
};
constexpr Alternatives<256> kLegalPolicies(kPolicyNames);

constexpr std::string_view kPolicyMeanings = "Where a task goes that is ready, and who may steal it."
#define HEARTH_POLICY(object, word, meaning) " With " word " " meaning
#include "base/policies.def"
#undef HEARTH_POLICY
    ;

constexpr Alternatives<64> kLegalBubbles(kBubbleNames);

constexpr std::string_view kBubbleMeanings =
    "Where the threads of a team run that the user has not placed (OMP_PLACES, OMP_PROC_BIND, KMP_AFFINITY), on a machine with "
    "several NUMA nodes. A nested team runs beside the thread that forks it."
#define HEARTH_BUBBLES(above, inside, word, meaning) " With " word " " meaning
#include "base/bubbles.def"
#undef HEARTH_BUBBLES
    ;

// clang-format off
constexpr O kOptions[] = {
    // ---- Hearth
    {.id = Id::hearth, .name = "HEARTH", .type = O::boolean, .trusted_only = true, .fallback = "on", .legal = "on or off",
     .meaning = "With off, hearth run starts the program on the OpenMP runtime it was linked with."},
    {.id = Id::hearth_check, .name = "HEARTH_CHECK", .type = O::text, .trusted_only = true, .fallback = "none",
     .legal = "a folder that can be written to",
     .meaning = "Each region runs on one thread, and what each task with a footprint touches is written to a file in "
                "this folder. Set by hearth check."},
    {.id = Id::hearth_policy, .name = "HEARTH_POLICY", .type = O::word, .trusted_only = true,
     .fallback = kPolicyNames[0], .legal = kLegalPolicies.view(), .meaning = kPolicyMeanings},
    {.id = Id::hearth_bubbles, .name = "HEARTH_BUBBLES", .type = O::word, .trusted_only = true,
     .fallback = kBubbleNames[0], .legal = kLegalBubbles.view(), .meaning = kBubbleMeanings},
    {.id = Id::hearth_seats, .name = "HEARTH_SEATS", .type = O::word, .trusted_only = true, .fallback = "llc", .legal = "node, llc or core",
     .meaning = "The CPUs that a thread placed by HEARTH_BUBBLES may use: those of its NUMA node, of its last-level cache, "
                "or of its core."},
    {.id = Id::hearth_rebalance, .name = "HEARTH_REBALANCE", .type = O::boolean, .trusted_only = true, .fallback = "true",
     .legal = kBoolean,
     .meaning = "Whether threads placed by HEARTH_BUBBLES, and memory attached to them, may move when a NUMA node has much "
                "more to do than others. Looked at when an outermost region begins, at most every millisecond; what moved and "
                "did harm goes back."},
    {.id = Id::hearth_significance, .name = "HEARTH_SIGNIFICANCE", .type = O::word, .trusted_only = true,
     .fallback = "gain", .legal = "gain or paper",
     .meaning = "When policy locality sends a task to its data. gain: if the shorter distance saves more time than "
                "sending costs. paper: if its depend clauses name more bytes than a core's share of the last-level "
                "cache and these are unevenly spread (Muddukrishna et al. 2015)."},
    {.id = Id::hearth_steal_threshold, .name = "HEARTH_STEAL_THRESHOLD", .type = O::word, .trusted_only = true,
     .fallback = "hops", .legal = "hops, slit or none",
     .meaning = "How many tasks must wait at a far NUMA node before an idle thread takes some (policy locality). hops: "
                "steps of distance times cores per node; slit: the distance in the firmware's table; none: any "
                "number. Shorter queues are left alone for longer: threads' own queues until the idle thread is about "
                "to sleep, dealt tasks for at least four task times (1.25 to 100 ms)."},
    {.id = Id::hearth_vicinity, .name = "HEARTH_VICINITY", .type = O::word, .trusted_only = true,
     .fallback = "all", .legal = "1, 4, 8, 16 or all",
     .meaning = "How many neighbouring locations share their tasks (policy home-cache). Idle threads never steal "
                "outside their group; with 1, only a location's own threads run its tasks."},
    {.id = Id::hearth_slowdown, .name = "HEARTH_SLOWDOWN", .type = O::count, .trusted_only = true,
     .fallback = kAutomatic, .legal = kPositive,
     .meaning = "Slowdown factor of an emulated machine: policy adaptive multiplies memory costs by it, and unless it is 1 "
                "asks no clock whether remote memory takes longer. By default 100 on a machine of HEARTH_MACHINE and "
                "under QEMU without KVM, else 1."},
    {.id = Id::hearth_task_cutoff, .name = "HEARTH_TASK_CUTOFF", .type = O::count, .trusted_only = true,
     .fallback = "256", .legal = kNatural,
     .meaning = "Once this many tasks wait in the creating thread's own queue, further ones run at once instead of being "
                "queued. Of tasks with more than 1 KiB of data, only 256 KiB wait. 0 queues them all."},
    {.id = Id::omp_data_distribution, .name = "OMP_DATA_DISTRIBUTION", .type = O::word, .fallback = "standard",
     .legal = "standard, fine, coarse, blocked or nearest",
     .meaning = "How the memory of omp_malloc() is spread over the NUMA nodes. standard: by the operating system; "
                "fine: page by page, round robin; coarse: whole allocations, round robin; blocked: one part for each "
                "node; nearest: on the node of the thread that allocates."},
    {.id = Id::hearth_distribute, .name = "HEARTH_DISTRIBUTE", .type = O::text, .trusted_only = true, .fallback = "standard",
     .legal = "standard, fine, coarse, blocked, weighted or learn, optionally followed by ,min= and a size of 4K or more; units B, "
                "K, M, G, T",
     .meaning = "How blocks of malloc(), new and related calls, and anonymous memory of mmap(), are spread over the NUMA nodes, if "
                "they have at least min bytes (128K), in words of OMP_DATA_DISTRIBUTION; weighted: each node gets a part in "
                "proportion to its memory's bandwidth; learn: each place in the program gets what suited the "
                "blocks that it allocated before, in earlier runs too (HEARTH_LEARN). Set by hearth run --distribute, which also "
                "preloads the malloc interposer."},
    {.id = Id::hearth_explain, .name = "HEARTH_EXPLAIN", .type = O::text, .trusted_only = true,
     .fallback = "none", .legal = "stderr, or a file that can be appended to; %p in its name is the process's number",
     .meaning = "When the process ends, say of each task construct whether its tasks were dealt to where their data is, "
                "what that has won or lost, and why. Set by hearth run --explain."},
    {.id = Id::hearth_huge_pages, .name = "HEARTH_HUGE_PAGES", .type = O::boolean, .trusted_only = true, .fallback = "false", .legal = kBoolean,
     .meaning = "Distribute blocks of 2 MiB or more by huge pages instead of pages (omp_malloc() and "
                "HEARTH_DISTRIBUTE). With false, huge pages are switched off where neighbouring pages belong to "
                "different nodes."},
    {.id = Id::hearth_infer, .name = "HEARTH_INFER", .type = O::boolean, .trusted_only = true, .fallback = "true", .legal = kBoolean,
     .meaning = "Whether tasks without depend and affinity clauses are sent to their data (policy adaptive), once it was seen "
                "that their arguments point to it, or that tasks with the same arguments come again, and that they take longer "
                "elsewhere."},
    {.id = Id::hearth_learn, .name = "HEARTH_LEARN", .type = O::text, .trusted_only = true,
     .fallback = "off", .legal = "on, off, or the name of a file",
     .meaning = "Begin with what earlier runs of the program have learned, and add to it at exit: which tasks gain by running "
                "near their data (policy adaptive), and how memory is used (HEARTH_DISTRIBUTE=learn). on: in the user's cache folder. hearth learned prints it."},
    {.id = Id::hearth_live, .name = "HEARTH_LIVE", .type = O::boolean, .trusted_only = true, .fallback = "true", .legal = kBoolean,
     .meaning = "Whether the runtime counts what it does in a page of memory that hearth top can read from another process of "
                "the same user."},
    {.id = Id::hearth_location, .name = "HEARTH_LOCATION", .type = O::word, .trusted_only = true,
     .fallback = "node", .legal = "node or llc",
     .meaning = "What a location is, the place that data is near to: a NUMA node, or a last-level cache, of which "
                "chiplet processors have several per node. Memory is on the cache's node in either case."},
    {.id = Id::hearth_log_decisions, .name = "HEARTH_LOG_DECISIONS", .type = O::text, .trusted_only = true,
     .fallback = "none", .legal = "a file that can be written; %p in its name is the process's number",
     .meaning = "Log each decision where a task is enqueued: one line of JSON with what the task needs, what the "
                "policy knew, and the location it chose."},
    {.id = Id::hearth_machine, .name = "HEARTH_MACHINE", .type = O::text, .trusted_only = true,
     .fallback = "the real machine", .legal = "a model's name (hearth model list prints them), a model file (.toml), "
                "an hwloc XML file, or an hwloc synthetic string",
     .meaning = "Pretend to run on this machine, for instance opteron-6172x4, to try decisions on a laptop."},
    {.id = Id::hearth_next_touch, .name = "HEARTH_NEXT_TOUCH", .type = O::word, .trusted_only = true, .fallback = "announced",
     .legal = "announced, kernel or trap",
     .meaning = "What HEARTH_TOUCH_ANNOUNCED, and MaMI's migrate on next touch, stand for. announced: the runtime moves what a "
                "thread will touch, before it does. kernel: automatic balancing does, where that is on. trap: the first touch "
                "of closed pages does; system calls that are given such memory fail."},
    {.id = Id::hearth_static_by_capacity, .name = "HEARTH_STATIC_BY_CAPACITY", .type = O::boolean, .trusted_only = true,
     .fallback = "false", .legal = kBoolean, .meaning = "Where cores differ (big and little, performance and efficiency) and threads are bound: a static loop without a "
                "chunk is cut by what the threads' cores can do, and not into equal parts. It concerns clang's loops, and "
                "schedule(runtime) or schedule(auto); gcc's programs cut schedule(static) themselves."},
    {.id = Id::hearth_thread_budget, .name = "HEARTH_THREAD_BUDGET", .type = O::text, .trusted_only = true, .fallback = "off",
     .legal = "off, cpus, or 1 to 4096, optionally followed by ,name= and up to 32 letters, digits, '.', '_' or '-'",
     .meaning = "How many threads all processes of the user that name the same budget have in parallel regions, together. A region "
                "takes what is free, at least its primary thread, and gives it back at its end; when several processes want "
                "more than there is, each gets an equal part. cpus: as many as the process may use CPUs."},
    {.id = Id::hearth_verify_file, .name = "HEARTH_VERIFY_FILE", .type = O::text, .trusted_only = true,
     .fallback = "none", .legal = "a path that can be appended to",
     .meaning = "At exit, append one line of JSON to this file: how many regions and tasks Hearth served, and which "
                "other OpenMP runtimes are in the process. Set by hearth run --verify."},
    {.id = Id::hearth_warnings, .name = "HEARTH_WARNINGS", .aliases = "KMP_WARNINGS", .type = O::boolean,
     .fallback = "true", .legal = kBoolean,
     .meaning = "Print warnings on stderr. Errors that end the program are always printed."},

    // ---- OpenMP 5.2
    {.id = Id::omp_affinity_format, .name = "OMP_AFFINITY_FORMAT", .aliases = "OMP_AFFINITY_FORMAT_ALL",
     .type = O::text, .fallback = "OMP: pid %P tid %i thread %n bound to OS proc set {%A}",
     .legal = "text with fields %t %T %L %n %N %a %A %H %P %i, as %[0][.][width]letter or %{long_name}",
     .meaning = "How OMP_DISPLAY_AFFINITY and omp_display_affinity() describe a thread."},
    {.id = Id::omp_allocator, .name = "OMP_ALLOCATOR", .aliases = "OMP_ALLOCATOR_ALL", .type = O::text,
     .fallback = "omp_default_mem_alloc",
     .legal = "a predefined allocator, or a memory space optionally followed by a colon and traits (trait=value,...)",
     .meaning = "The allocator of omp_alloc(size, omp_null_allocator) and of allocate directives without one."},
    {.id = Id::omp_cancellation, .name = "OMP_CANCELLATION", .aliases = "OMP_CANCELLATION_ALL", .type = O::boolean,
     .fallback = "false", .legal = kBoolean, .meaning = "Whether cancel constructs take effect."},
    {.id = Id::omp_debug, .name = "OMP_DEBUG", .type = O::word, .fallback = "disabled", .legal = "enabled or disabled",
     .meaning = "Whether information for an OMPD debugger library is collected. Hearth collects none."},
    {.id = Id::omp_default_device, .name = "OMP_DEFAULT_DEVICE", .aliases = "OMP_DEFAULT_DEVICE_ALL",
     .type = O::count, .fallback = "0", .legal = kNatural,
     .meaning = "The device of target constructs without a device clause. The host is the only one here."},
    {.id = Id::omp_display_affinity, .name = "OMP_DISPLAY_AFFINITY", .aliases = "OMP_DISPLAY_AFFINITY_ALL",
     .type = O::boolean, .fallback = "false", .legal = kBoolean,
     .meaning = "Print where each thread of a team may run, when the team is first made or changes."},
    {.id = Id::omp_display_env, .name = "OMP_DISPLAY_ENV", .type = O::word, .fallback = "false", .legal = "true, false or verbose",
     .meaning = "Print the values of all ICVs on stderr when the program starts; verbose adds Hearth's own options and "
                "those of other runtimes."},
    {.id = Id::omp_dynamic, .name = "OMP_DYNAMIC", .aliases = "OMP_DYNAMIC_ALL", .type = O::boolean,
     .fallback = "false", .legal = kBoolean,
     .meaning = "Whether the runtime may make a team smaller than asked for, to keep the machine from overload."},
    {.id = Id::omp_max_active_levels, .name = "OMP_MAX_ACTIVE_LEVELS", .aliases = "OMP_MAX_ACTIVE_LEVELS_ALL",
     .type = O::count, .fallback = "1, or no limit when OMP_NUM_THREADS or OMP_PROC_BIND is a list, or OMP_NESTED is "
                "true",
     .legal = kNatural, .meaning = "How many parallel regions inside one another may have more than one thread."},
    {.id = Id::omp_max_task_priority, .name = "OMP_MAX_TASK_PRIORITY", .aliases = "OMP_MAX_TASK_PRIORITY_ALL",
     .type = O::count, .fallback = "0", .legal = kNatural,
     .meaning = "The highest priority that a task's priority clause can ask for; 0 switches priorities off."},
    {.id = Id::omp_nested, .name = "OMP_NESTED", .aliases = "OMP_NESTED_ALL", .type = O::boolean, .fallback = "false",
     .legal = kBoolean, .meaning = "Deprecated by OpenMP: true lifts the limit of OMP_MAX_ACTIVE_LEVELS, false makes "
                "it 1."},
    {.id = Id::omp_num_teams, .name = "OMP_NUM_TEAMS", .aliases = "OMP_NUM_TEAMS_ALL", .type = O::count,
     .fallback = kAutomatic, .legal = kPositive, .meaning = "The most teams that a teams construct without num_teams "
                "makes."},
    {.id = Id::omp_num_threads, .name = "OMP_NUM_THREADS", .aliases = "OMP_NUM_THREADS_ALL", .type = O::list,
     .fallback = "the CPUs this process may use, or its CPU quota rounded up if smaller",
     .legal = "a list of up to 16 numbers from 1 to 2147483647, one per nesting level",
     .meaning = "How many threads a parallel region gets."},
    {.id = Id::omp_places, .name = "OMP_PLACES", .aliases = "OMP_PLACES_ALL", .type = O::text, .fallback = "cores",
     .legal = "threads, cores, ll_caches, numa_domains, sockets, each optionally with (count), or a list such as "
              "\"{0:4},{4:4}\"",
     .meaning = "The places that threads are bound to when OMP_PROC_BIND asks for binding."},
    {.id = Id::omp_proc_bind, .name = "OMP_PROC_BIND", .aliases = "OMP_PROC_BIND_ALL", .type = O::list,
     .fallback = "false, or true when places are given",
     .legal = "true, false, or a list of up to 16 of primary (master), close, spread, one per nesting level",
     .meaning = "Whether threads are bound to places, and how a team is spread over them."},
    {.id = Id::omp_schedule, .name = "OMP_SCHEDULE", .aliases = "OMP_SCHEDULE_ALL", .type = O::text, .fallback = "static",
     .legal = "[monotonic:|nonmonotonic:]static, dynamic, guided, auto, trapezoidal or static_steal, optionally "
              "followed by a comma and a chunk size from 1 to 2147483647",
     .meaning = "The schedule of loops that say schedule(runtime)."},
    {.id = Id::omp_stacksize, .name = "OMP_STACKSIZE", .aliases = "OMP_STACKSIZE_ALL", .type = O::size,
     .fallback = "the stack limit (ulimit -s)", .legal = kBytesInKilobytes,
     .meaning = "The size of the stacks of the threads that the runtime makes."},
    {.id = Id::omp_target_offload, .name = "OMP_TARGET_OFFLOAD", .type = O::word, .fallback = "default",
     .legal = "mandatory, disabled or default",
     .meaning = "What to do with target constructs. They run on the host; mandatory makes them fail."},
    {.id = Id::omp_teams_thread_limit, .name = "OMP_TEAMS_THREAD_LIMIT", .aliases = "OMP_TEAMS_THREAD_LIMIT_ALL",
     .type = O::count, .fallback = kAutomatic, .legal = kPositive,
     .meaning = "The most threads of each team that a teams construct without thread_limit makes."},
    {.id = Id::omp_thread_limit, .name = "OMP_THREAD_LIMIT", .aliases = "OMP_THREAD_LIMIT_ALL", .type = O::count,
     .fallback = "no limit", .legal = kPositive,
     .meaning = "The most OpenMP threads of one contention group, all its nested regions together."},
    {.id = Id::omp_tool, .name = "OMP_TOOL", .type = O::word, .fallback = "enabled", .legal = "enabled or disabled",
     .meaning = "Whether a performance tool may attach through OMPT."},
    {.id = Id::omp_tool_libraries, .name = "OMP_TOOL_LIBRARIES", .type = O::list, .trusted_only = true,
     .fallback = "none", .legal = "paths of shared objects, separated by colons",
     .meaning = "Where to look for an OMPT tool when the program brings none."},
    {.id = Id::omp_tool_verbose_init, .name = "OMP_TOOL_VERBOSE_INIT", .type = O::text, .trusted_only = true,
     .fallback = "disabled", .legal = "disabled, stdout, stderr, or a file to write",
     .meaning = "Where to log the search for an OMPT tool."},
    {.id = Id::omp_wait_policy, .name = "OMP_WAIT_POLICY", .type = O::word,
     .fallback = "spin for a short time, then sleep", .legal = "active or passive",
     .meaning = "Whether waiting threads spin (active) or sleep soon (passive)."},

    // ---- libgomp's
    {.id = Id::gomp_cpu_affinity, .name = "GOMP_CPU_AFFINITY", .type = O::list, .role = O::feeding,
     .feeds = Id::omp_places, .fallback = "none", .legal = "CPU numbers and ranges such as \"0 3 1-2 4-15:2\"",
     .meaning = "Binds thread after thread to the CPUs listed. OMP_PLACES, OMP_PROC_BIND and KMP_AFFINITY win over "
                "it."},
    {.id = Id::gomp_spincount, .name = "GOMP_SPINCOUNT", .type = O::count, .role = O::feeding,
     .feeds = Id::omp_wait_policy, .fallback = kAutomatic, .legal = "0 or more, units k, M, G, T (powers of 1000); "
                "infinite",
     .meaning = "How many turns a waiting thread spins before it sleeps. KMP_BLOCKTIME wins over it."},
    {.id = Id::gomp_stacksize, .name = "GOMP_STACKSIZE", .type = O::size, .role = O::feeding,
     .feeds = Id::omp_stacksize, .fallback = "none", .legal = kBytesInKilobytes,
     .meaning = "libgomp's old name of OMP_STACKSIZE, which wins over it."},

    // ---- libomp's and Intel's
    {.id = Id::kmp_affinity, .name = "KMP_AFFINITY", .type = O::list, .role = O::feeding, .feeds = Id::omp_places,
     .fallback = "none",
     .legal = "a list of: none, disabled, compact, scatter, balanced, or explicit with proclist=[...]; "
                "granularity=fine|thread|core|tile|die|ll_cache|numa|socket; verbose, noverbose, warnings, "
                "nowarnings, respect, norespect, reset, noreset; permute and offset as numbers",
     .meaning = "Binds threads: compact like close, scatter and balanced like spread, explicit to the CPUs listed. A "
                "type given here wins over OMP_PLACES and OMP_PROC_BIND."},
    {.id = Id::kmp_blocktime, .name = "KMP_BLOCKTIME", .type = O::duration, .role = O::feeding,
     .feeds = Id::omp_wait_policy, .fallback = kAutomatic,
     .legal = "0 or more milliseconds, units us, ms, s; infinite",
     .meaning = "How long a waiting thread spins before it sleeps."},
    {.id = Id::kmp_deterministic_reduction, .name = "KMP_DETERMINISTIC_REDUCTION", .type = O::boolean,
     .fallback = "false", .legal = kBoolean,
     .meaning = "Combine the threads' parts of a reduction in one order, the same in every run with as many threads. "
                "For programs built by clang and without OMP_CANCELLATION; others combine in the order of arrival."},
    {.id = Id::kmp_device_thread_limit, .name = "KMP_DEVICE_THREAD_LIMIT", .aliases = "KMP_ALL_THREADS KMP_MAX_THREADS",
     .type = O::count, .fallback = "no limit", .legal = "1 to 2147483647, or all for the number of CPUs",
     .meaning = "The most OpenMP threads of the whole process."},
    {.id = Id::kmp_hw_subset, .name = "KMP_HW_SUBSET", .type = O::list, .fallback = "everything",
     .legal = "a list such as \"2s,4c,1t\" or \"1s@1,8c@2\": a count (or *), then s(ocket), d(ie), n(uma), l3 or "
                "ll(c), l2, c(ore) or t(hread), then @offset",
     .meaning = "The part of the machine that OpenMP threads may use: so many of each layer inside the layer before."},
    {.id = Id::kmp_library, .name = "KMP_LIBRARY", .type = O::word, .role = O::feeding, .feeds = Id::omp_wait_policy,
     .fallback = "throughput", .legal = "throughput, turnaround or serial",
     .meaning = "throughput: sleep after a while; turnaround: spin for ever; serial: every region gets one thread."},
    {.id = Id::kmp_settings, .name = "KMP_SETTINGS", .type = O::boolean, .fallback = "false", .legal = kBoolean,
     .meaning = "Print what the user set and the settings in effect when the program starts."},
    {.id = Id::kmp_stacksize, .name = "KMP_STACKSIZE", .type = O::size, .role = O::feeding, .feeds = Id::omp_stacksize,
     .fallback = "none", .legal = "1 to the address space, in bytes; units B, K, M, G, T",
     .meaning = "OMP_STACKSIZE counted in bytes; wins over it."},
    {.id = Id::kmp_teams_proc_bind, .name = "KMP_TEAMS_PROC_BIND", .type = O::word, .fallback = "spread",
     .legal = "primary (master), close or spread", .meaning = "How the teams of a league are spread over the places."},
    {.id = Id::kmp_teams_thread_limit, .name = "KMP_TEAMS_THREAD_LIMIT", .type = O::count,
     .fallback = "the number of CPUs", .legal = kPositive,
     .meaning = "The most threads of all teams of a league together."},
    {.id = Id::kmp_version, .name = "KMP_VERSION", .type = O::boolean, .fallback = "false", .legal = kBoolean,
     .meaning = "Print the runtime's version when the program starts."},

    // ---- Known, and ignored
    ignored(Id::gomp_debug, "GOMP_DEBUG", "Ignored: it traces libgomp's offloading.", O::harmless),
    ignored(Id::gomp_rtems_thread_pools, "GOMP_RTEMS_THREAD_POOLS", "Ignored: it is for RTEMS."),
    ignored(Id::kmp_abort_delay, "KMP_ABORT_DELAY", kNoSuchPart),
    ignored(Id::kmp_adaptive_lock_props, "KMP_ADAPTIVE_LOCK_PROPS", "Ignored: Hearth has one kind of lock."),
    ignored(Id::kmp_align_alloc, "KMP_ALIGN_ALLOC", "Ignored: allocations are aligned to cache lines."),
    ignored(Id::kmp_all_threadprivate, "KMP_ALL_THREADPRIVATE", "Ignored: threadprivate memory has no such limit.",
            O::harmless),
    ignored(Id::kmp_atomic_mode, "KMP_ATOMIC_MODE", "Ignored: there is one way to do atomics.", O::harmless),
    ignored(Id::kmp_consistency_check, "KMP_CONSISTENCY_CHECK", kNoSuchPart),
    ignored(Id::kmp_cpuinfo_file, "KMP_CPUINFO_FILE", "Ignored: the machine comes from sysfs; see HEARTH_MACHINE."),
    ignored(Id::kmp_disp_num_buffers, "KMP_DISP_NUM_BUFFERS", "Ignored: loops in flight have no such limit.",
            O::harmless),
    ignored(Id::kmp_duplicate_lib_ok, "KMP_DUPLICATE_LIB_OK",
            "Ignored: a second runtime in the process is named in a warning and never ends the program.", O::harmless),
    ignored(Id::kmp_dynamic_mode, "KMP_DYNAMIC_MODE", "Ignored: OMP_DYNAMIC looks at the CPUs there are."),
    ignored(Id::kmp_enable_task_throttling, "KMP_ENABLE_TASK_THROTTLING", "Ignored: the task queues grow.", O::harmless),
    ignored(Id::kmp_force_monotonic_dynamic_schedule, "KMP_FORCE_MONOTONIC_DYNAMIC_SCHEDULE",
            "Ignored: say OMP_SCHEDULE=monotonic:dynamic."),
    ignored(Id::kmp_force_reduction, "KMP_FORCE_REDUCTION", "Ignored: Hearth chooses how to combine reductions; KMP_DETERMINISTIC_REDUCTION fixes the order."),
    ignored(Id::kmp_foreign_threads_threadprivate, "KMP_FOREIGN_THREADS_THREADPRIVATE",
            "Ignored: threadprivate data always persists for the program's own threads."),
    ignored(Id::kmp_forkjoin_barrier, "KMP_FORKJOIN_BARRIER", kBarrier),
    ignored(Id::kmp_forkjoin_barrier_pattern, "KMP_FORKJOIN_BARRIER_PATTERN", kBarrier),
    ignored(Id::kmp_gtid_mode, "KMP_GTID_MODE", "Ignored: thread identity is always kept in TLS.", O::harmless),
    ignored(Id::kmp_handle_signals, "KMP_HANDLE_SIGNALS", "Ignored: signals stay the program's own."),
    ignored(Id::kmp_hidden_helper_affinity, "KMP_HIDDEN_HELPER_AFFINITY", "Ignored: there are no hidden helper threads."),
    ignored(Id::kmp_hot_teams_max_level, "KMP_HOT_TEAMS_MAX_LEVEL", "Ignored: teams stay hot on every level.",
            O::harmless),
    ignored(Id::kmp_hot_teams_mode, "KMP_HOT_TEAMS_MODE", "Ignored: a smaller team keeps its spare threads in reserve.",
            O::harmless),
    ignored(Id::kmp_inherit_fp_control, "KMP_INHERIT_FP_CONTROL",
            "Ignored: threads start with the floating-point control of their creation."),
    ignored(Id::kmp_init_at_fork, "KMP_INIT_AT_FORK", "Ignored: a forked child always gets new teams.", O::harmless),
    ignored(Id::kmp_init_wait, "KMP_INIT_WAIT", kNoSuchPart),
    ignored(Id::kmp_lock_kind, "KMP_LOCK_KIND", "Ignored: Hearth has one kind of lock."),
    ignored(Id::kmp_malloc_pool_incr, "KMP_MALLOC_POOL_INCR", kNoSuchPart),
    ignored(Id::kmp_next_wait, "KMP_NEXT_WAIT", kNoSuchPart),
    ignored(Id::kmp_nesting_mode, "KMP_NESTING_MODE", "Ignored: nested teams follow OMP_NUM_THREADS and OMP_PROC_BIND."),
    ignored(Id::kmp_num_locks_in_block, "KMP_NUM_LOCKS_IN_BLOCK", "Ignored: a lock needs no memory of the runtime's.",
            O::harmless),
    ignored(Id::kmp_plain_barrier, "KMP_PLAIN_BARRIER", kBarrier),
    ignored(Id::kmp_plain_barrier_pattern, "KMP_PLAIN_BARRIER_PATTERN", kBarrier),
    ignored(Id::kmp_reduction_barrier, "KMP_REDUCTION_BARRIER", kBarrier),
    ignored(Id::kmp_reduction_barrier_pattern, "KMP_REDUCTION_BARRIER_PATTERN", kBarrier),
    ignored(Id::kmp_schedule, "KMP_SCHEDULE", "Ignored: static and guided loops are always balanced and iterative."),
    ignored(Id::kmp_spin_backoff_params, "KMP_SPIN_BACKOFF_PARAMS", "Ignored: Hearth has one kind of lock."),
    ignored(Id::kmp_stackoffset, "KMP_STACKOFFSET", kNoSuchPart),
    ignored(Id::kmp_stackpad, "KMP_STACKPAD", kNoSuchPart),
    ignored(Id::kmp_storage_map, "KMP_STORAGE_MAP", kNoSuchPart),
    ignored(Id::kmp_task_stealing_constraint, "KMP_TASK_STEALING_CONSTRAINT",
            "Ignored: tied tasks always keep OpenMP's scheduling constraint."),
    ignored(Id::kmp_tasking, "KMP_TASKING", "Ignored: tasks are always deferred when they may be."),
    ignored(Id::kmp_taskloop_min_tasks, "KMP_TASKLOOP_MIN_TASKS", "Ignored: taskloops are always split recursively.",
            O::harmless),
    ignored(Id::kmp_topology_method, "KMP_TOPOLOGY_METHOD", "Ignored: the machine comes from sysfs; see HEARTH_MACHINE."),
    ignored(Id::kmp_tpause, "KMP_TPAUSE", "Ignored: see KMP_BLOCKTIME for how threads wait."),
    ignored(Id::kmp_use_yield, "KMP_USE_YIELD", "Ignored: see KMP_BLOCKTIME for how threads wait."),
    ignored(Id::kmp_user_level_mwait, "KMP_USER_LEVEL_MWAIT", "Ignored: see KMP_BLOCKTIME for how threads wait."),
    ignored(Id::libomp_num_hidden_helper_threads, "LIBOMP_NUM_HIDDEN_HELPER_THREADS",
            "Ignored: there are no hidden helper threads.", O::harmless),
    ignored(Id::libomp_use_hidden_helper_task, "LIBOMP_USE_HIDDEN_HELPER_TASK",
            "Ignored: there are no hidden helper threads.", O::harmless),
};
// clang-format on

constexpr bool rows_stand_at_their_ids() {
  for (std::size_t i = 0; i < kOptionCount; ++i) {
    if (kOptions[i].id != static_cast<OptionId>(i)) return false;
  }
  return true;
}
static_assert(sizeof(kOptions) / sizeof(kOptions[0]) == kOptionCount, "one row per OptionId");
static_assert(rows_stand_at_their_ids(), "the table is in the order of OptionId");

constexpr int kNoMatch = 1 << 20;

/// 0 for the option's own name, 1 for its first alias, and so on; kNoMatch if it is none of its names.
int name_rank(const O& row, std::string_view name) {
  if (row.name == name) return 0;
  ListReader aliases(row.aliases, ' ');
  std::string_view alias;
  for (int rank = 1; !row.aliases.empty() && aliases.next(alias); ++rank) {
    if (alias == name) return rank;
  }
  return kNoMatch;
}

bool is_prefix(std::string_view prefix, std::string_view text) { return text.substr(0, prefix.size()) == prefix; }

/// Levenshtein distance, for names of ordinary length.
std::size_t distance(std::string_view a, std::string_view b) {
  constexpr std::size_t kMost = 40;
  if (a.size() > kMost || b.size() > kMost) return kMost;
  std::size_t row[kMost + 1];
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t swapped = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      std::size_t best = row[j] + 1 < row[j - 1] + 1 ? row[j] + 1 : row[j - 1] + 1;
      row[j] = swapped < best ? swapped : best;
    }
  }
  return row[b.size()];
}

void report_unknown(std::string_view name) {
  const O* nearest = nullptr;
  std::size_t least = 4;  // further away it is no slip of the finger
  for (const O& row : kOptions) {
    if (!is_prefix("HEARTH", row.name)) continue;
    const std::size_t d = distance(name, row.name);
    if (d < least) {
      least = d;
      nearest = &row;
    }
  }
  if (nearest != nullptr) {
    warn("%.*s: unknown option (did you mean %.*s?); ignored.", static_cast<int>(name.size()), name.data(),
         static_cast<int>(nearest->name.size()), nearest->name.data());
  } else {
    warn("%.*s: unknown option; ignored. `hearth env` lists all options.", static_cast<int>(name.size()), name.data());
  }
}

// Variables of the tools around the library, which are no options of the library itself.
constexpr std::string_view kNotOurs[] = {"HEARTH_AUDIT_LIBRARY", "HEARTH_AUDIT_TARGET", "HEARTH_HOME", "HEARTH_RECORD",
                                         "HEARTH_RECORD_COUNTERS", "HEARTH_RECORD_FILE", "HEARTH_BTLP", "HEARTH_CC", "HEARTH_CXX"};

}  // namespace

const Option& option(OptionId id) { return kOptions[static_cast<std::size_t>(id)]; }

const char* option_type_name(Option::Type type) {
  switch (type) {
    case Option::boolean: return "boolean";
    case Option::count: return "count";
    case Option::size: return "size";
    case Option::duration: return "duration";
    case Option::word: return "word";
    case Option::list: return "list";
    case Option::text: return "text";
  }
  return "unknown";
}

void OptionReader::read(const char* const* environment, bool privileged) {
  int ranks[kOptionCount];
  for (int& rank : ranks) rank = kNoMatch;
  for (; environment != nullptr && *environment != nullptr; ++environment) {
    const std::string_view entry(*environment);
    if (!is_prefix("OMP_", entry) && !is_prefix("GOMP_", entry) && !is_prefix("KMP_", entry) &&
        !is_prefix("HEARTH", entry) && !is_prefix("LIBOMP_", entry)) {
      continue;
    }
    const std::size_t equals = entry.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view name = entry.substr(0, equals);
    bool known = false;
    for (std::size_t i = 0; i < kOptionCount; ++i) {
      const int rank = name_rank(kOptions[i], name);
      if (rank == kNoMatch) continue;
      known = true;
      if (rank >= ranks[i] || (privileged && kOptions[i].trusted_only)) break;
      ranks[i] = rank;
      values_[i] = {name, entry.substr(equals + 1)};
      break;
    }
    if (!known && is_prefix("HEARTH_", name) && !privileged) {
      bool ours = true;
      for (const std::string_view other : kNotOurs) ours = ours && name != other;
      if (ours) report_unknown(name);
    }
  }
}

bool process_is_privileged() { return getauxval(AT_SECURE) != 0; }

void complain(const GivenValue& given, std::string_view wrong, std::size_t column, std::string_view legal,
              std::string_view used_instead) {
  warn("%.*s=\"%.*s\": %.*s at column %zu; legal: %.*s; using %.*s.", static_cast<int>(given.variable.size()),
       given.variable.data(), static_cast<int>(given.value.size()), given.value.data(), static_cast<int>(wrong.size()),
       wrong.data(), column, static_cast<int>(legal.size()), legal.data(), static_cast<int>(used_instead.size()),
       used_instead.data());
}

}  // namespace hearth
