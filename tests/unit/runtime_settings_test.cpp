// What runtime/settings/settings.h promises: values of every runtime's variables become ICVs, precedence is kept, and
// a bad value is one line that names it, what is legal, and what is used instead.
#include "runtime/settings/settings.h"

#include <algorithm>
#include <climits>
#include <initializer_list>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "base/log.h"

namespace hearth::rt {
namespace {

struct Result {
  std::unique_ptr<char[]> storage = std::make_unique<char[]>(kSettingsStorage);
  OptionReader given;
  Settings settings;
  std::string messages;
};

std::unique_ptr<Result> parse(std::vector<const char*> environment) {
  environment.push_back(nullptr);
  auto result = std::make_unique<Result>();
  testing::internal::CaptureStderr();
  result->given.read(environment.data(), false);
  result->settings = parse_settings(result->given, result->storage.get(), kSettingsStorage);
  result->messages = testing::internal::GetCapturedStderr();
  set_warnings(true);
  return result;
}

std::string text(const Result& result, OptionId id) {
  char out[1024];
  return {out, setting_text(result.settings, id, out, sizeof(out))};
}

int lines(const std::string& text) { return static_cast<int>(std::count(text.begin(), text.end(), '\n')); }

TEST(Settings, AnnouncedNextTouchMayStandForTheOtherWays) {
  EXPECT_EQ(parse({})->settings.next_touch, 0);
  EXPECT_EQ(parse({"HEARTH_NEXT_TOUCH=kernel"})->settings.next_touch, 1);
  const auto trap = parse({"HEARTH_NEXT_TOUCH=Trap"});
  EXPECT_EQ(trap->settings.next_touch, 2);
  EXPECT_EQ(text(*trap, OptionId::hearth_next_touch), "trap");
  const auto wrong = parse({"HEARTH_NEXT_TOUCH=always"});
  EXPECT_EQ(wrong->settings.next_touch, 0);
  EXPECT_NE(wrong->messages.find("announced, kernel or trap"), std::string::npos) << wrong->messages;
}

TEST(Settings, AnEmptyEnvironmentLeavesEverythingToTheRuntime) {
  const auto r = parse({});
  EXPECT_EQ(r->messages, "");
  EXPECT_EQ(r->settings.num_threads_count, 0);
  EXPECT_EQ(r->settings.proc_bind_count, 0);
  EXPECT_EQ(r->settings.max_active_levels, -1);
  EXPECT_EQ(r->settings.nested, -1);
  EXPECT_EQ(r->settings.stack_size, 0u);
  EXPECT_EQ(r->settings.blocktime_us, -1);
  EXPECT_EQ(r->settings.spin_count, -1);
  EXPECT_EQ(r->settings.schedule.kind, 1);
  EXPECT_TRUE(r->settings.tool);
  EXPECT_TRUE(r->settings.enabled);
  EXPECT_EQ(r->settings.affinity_format, "OMP: pid %P tid %i thread %n bound to OS proc set {%A}");
}

TEST(Settings, NumThreadsIsAListPerLevel) {
  const auto r = parse({"OMP_NUM_THREADS= 4 , 3,2"});
  EXPECT_EQ(r->messages, "");
  ASSERT_EQ(r->settings.num_threads_count, 3);
  EXPECT_EQ(r->settings.num_threads[0], 4);
  EXPECT_EQ(r->settings.num_threads[2], 2);
  EXPECT_EQ(text(*r, OptionId::omp_max_active_levels), std::to_string(INT_MAX));
}

TEST(Settings, ABadValueIsOneLineAndTheFallback) {
  const auto r = parse({"OMP_NUM_THREADS=4,zero"});
  EXPECT_EQ(r->settings.num_threads_count, 0);
  EXPECT_EQ(r->messages,
            "hearth: OMP_NUM_THREADS=\"4,zero\": not a number at column 3; legal: a list of up to 16 numbers "
            "from 1 to "
            "2147483647, one per nesting level; using the CPUs this process may use, or its CPU quota "
            "rounded up if "
            "smaller.\n");
}

TEST(Settings, EveryHonouredOptionRefusesNonsenseWithOneLine) {
  const char* kFreeText[] = {
      "HEARTH_CHECK",       "HEARTH_EXPLAIN",       "HEARTH_LEARN",         "HEARTH_LOG_DECISIONS", "HEARTH_MACHINE",
      "HEARTH_VERIFY_FILE", "OMP_AFFINITY_FORMAT",  "OMP_ALLOCATOR",
      "OMP_PLACES",         "OMP_TOOL_LIBRARIES",   "OMP_TOOL_VERBOSE_INIT",
      "GOMP_CPU_AFFINITY",  "KMP_AFFINITY",         "KMP_HW_SUBSET"};  // read by those who know the machine
                                                                       // or the file system
  for (std::size_t i = 0; i < kOptionCount; ++i) {
    const Option& row = option(option_at(i));
    if (row.role == Option::ignored || row.role == Option::harmless) continue;
    bool free_text = false;
    for (const char* name : kFreeText) free_text = free_text || row.name == name;
    if (free_text) continue;
    for (const std::string value : {"?", "", "-1", "99999999999999999999"}) {
      const std::string entry = std::string(row.name) + "=" + value;
      const auto r = parse({entry.c_str()});
      EXPECT_EQ(lines(r->messages), 1) << entry << "\n" << r->messages;
      EXPECT_NE(r->messages.find(entry.substr(0, row.name.size()) + "=\"" + value + "\""), std::string::npos)
          << r->messages;
      EXPECT_NE(r->messages.find("; legal: "), std::string::npos) << r->messages;
      EXPECT_NE(r->messages.find("; using "), std::string::npos) << r->messages;
    }
  }
}

TEST(Settings, LearningIsSwitchedOnOrGivenAFile) {
  EXPECT_FALSE(parse({})->settings.learns);
  EXPECT_FALSE(parse({"HEARTH_LEARN=off"})->settings.learns);
  const auto on = parse({"HEARTH_LEARN=on"});
  EXPECT_TRUE(on->settings.learns);
  EXPECT_EQ(on->settings.learned_file, nullptr);
  const auto file = parse({"HEARTH_LEARN=/tmp/seen"});
  EXPECT_TRUE(file->settings.learns);
  EXPECT_STREQ(file->settings.learned_file, "/tmp/seen");
}

TEST(Settings, ProcBindIsOneWordOrAListOfPolicies) {
  const auto list = parse({"OMP_PROC_BIND=spread,CLOSE,master"});
  EXPECT_EQ(list->messages, "");
  ASSERT_EQ(list->settings.proc_bind_count, 3);
  EXPECT_EQ(list->settings.proc_bind[0], ProcBind::spread);
  EXPECT_EQ(list->settings.proc_bind[2], ProcBind::primary);
  EXPECT_EQ(parse({"OMP_PROC_BIND=true"})->settings.proc_bind[0], ProcBind::on);
  EXPECT_EQ(parse({"OMP_PROC_BIND=false"})->settings.proc_bind[0], ProcBind::off);
  for (const char* bad : {"OMP_PROC_BIND=true,close", "OMP_PROC_BIND=close,false", "OMP_PROC_BIND=close,"}) {
    const auto r = parse({bad});
    EXPECT_EQ(r->settings.proc_bind_count, 0) << bad;
    EXPECT_EQ(lines(r->messages), 1) << bad;
  }
}

TEST(Settings, ABudgetIsANumberOfThreadsAndAName) {
  const auto unset = parse({});
  EXPECT_EQ(unset->settings.budget.threads, Budget::off);
  EXPECT_EQ(text(*unset, OptionId::hearth_thread_budget), "off");
  const auto plain = parse({"HEARTH_THREAD_BUDGET= 8 "});
  EXPECT_EQ(plain->settings.budget.threads, 8);
  EXPECT_EQ(plain->settings.budget.name, Budget::kDefaultName);
  EXPECT_EQ(text(*plain, OptionId::hearth_thread_budget), "8");
  const auto named = parse({"HEARTH_THREAD_BUDGET=CPUs , NAME=a.B_c-1"});
  EXPECT_EQ(named->settings.budget.threads, Budget::cpus);
  EXPECT_EQ(text(*named, OptionId::hearth_thread_budget), "cpus,name=a.B_c-1");
  const std::string longest(Budget::kMostName, 'n');
  EXPECT_EQ(parse({("HEARTH_THREAD_BUDGET=1,name=" + longest).c_str()})->settings.budget.name, longest);
  for (const std::string& bad : {std::string("0"), std::string("-1"), std::string("4097"), std::string("all"), std::string(""),
                                 std::string("4,name="), std::string("4,name=../x"), std::string("4,min=4"),
                                 std::string("4,name=x,y"), "4,name=" + longest + "n"}) {
    const auto result = parse({("HEARTH_THREAD_BUDGET=" + bad).c_str()});
    EXPECT_EQ(result->settings.budget.threads, Budget::off) << bad;
    EXPECT_NE(result->messages.find("legal: off, cpus, or 1 to 4096"), std::string::npos) << bad << ": " << result->messages;
  }
}

TEST(Settings, DistributeIsADistributionAndALeastSize) {
  using placement::Kind;
  const auto unset = parse({});
  EXPECT_EQ(unset->settings.distribute.kind, Kind::standard);
  EXPECT_EQ(text(*unset, OptionId::hearth_distribute), "standard");
  const auto plain = parse({"HEARTH_DISTRIBUTE= Fine "});
  EXPECT_EQ(plain->settings.distribute.kind, Kind::fine);
  EXPECT_EQ(plain->settings.distribute.least, 128u << 10);
  EXPECT_EQ(text(*plain, OptionId::hearth_distribute), "fine,min=128K");
  const auto given = parse({"HEARTH_DISTRIBUTE=blocked , MIN=4096"});
  EXPECT_EQ(given->settings.distribute.kind, Kind::blocked);
  EXPECT_EQ(given->settings.distribute.least, 4096u);
  EXPECT_EQ(plain->messages + given->messages, "");
  for (const char* bad :
       {"fine,min=4095", "fine,max=1M", "nearest", "fine,", "fine,min=1M,min=1M", "fine,min="}) {
    const auto r = parse({(std::string("HEARTH_DISTRIBUTE=") + bad).c_str()});
    EXPECT_EQ(r->settings.distribute.kind, Kind::standard) << bad;
    EXPECT_EQ(lines(r->messages), 1) << bad;
  }
}

TEST(Settings, Schedules) {
  struct Case {
    const char* value;
    int kind;
    ScheduleModifier modifier;
    int chunk;
  };
  const Case kCases[] = {{"static", 1, ScheduleModifier::none, 0},
                         {"static , 10", 1, ScheduleModifier::none, 10},
                         {"DYNAMIC,11", 2, ScheduleModifier::none, 11},
                         {"guided", 3, ScheduleModifier::none, 0},
                         {"auto", 4, ScheduleModifier::none, 0},
                         {"auto,4", 4, ScheduleModifier::none, 0},
                         {"monotonic:dynamic,50", 2, ScheduleModifier::monotonic, 50},
                         {" nonmonotonic : guided , 54 ", 3, ScheduleModifier::nonmonotonic, 54},
                         {"trapezoidal,13", 101, ScheduleModifier::none, 13},
                         {"static_steal,14", 2, ScheduleModifier::nonmonotonic, 14}};
  for (const Case& c : kCases) {
    const auto r = parse({(std::string("OMP_SCHEDULE=") + c.value).c_str()});
    EXPECT_EQ(r->messages, "") << c.value;
    EXPECT_EQ(r->settings.schedule.kind, c.kind) << c.value;
    EXPECT_EQ(r->settings.schedule.modifier, c.modifier) << c.value;
    EXPECT_EQ(r->settings.schedule.chunk, c.chunk) << c.value;
  }
  const auto bad = parse({"OMP_SCHEDULE=monotonic:dynamic,x"});
  EXPECT_NE(bad->messages.find("at column 19"), std::string::npos) << bad->messages;
  EXPECT_EQ(bad->settings.schedule.kind, 1);
}

TEST(Settings, StackSizesHaveTheUnitAndPrecedenceOfTheirRuntime) {
  EXPECT_EQ(parse({"OMP_STACKSIZE=4"})->settings.stack_size, 4096u);
  EXPECT_EQ(parse({"GOMP_STACKSIZE=4"})->settings.stack_size, 4096u);
  EXPECT_EQ(parse({"KMP_STACKSIZE=65536"})->settings.stack_size, 65536u);
  EXPECT_EQ(parse({"OMP_STACKSIZE= 2 m "})->settings.stack_size, 2u << 20);
  const auto all = parse({"GOMP_STACKSIZE=1", "OMP_STACKSIZE=2", "KMP_STACKSIZE=3M"});
  EXPECT_EQ(all->settings.stack_size, 3u << 20);
  EXPECT_EQ(setting_source(all->given, all->settings, OptionId::omp_stacksize), "KMP_STACKSIZE");
  EXPECT_EQ(parse({"GOMP_STACKSIZE=1", "OMP_STACKSIZE=2"})->settings.stack_size, 2048u);
  EXPECT_EQ(text(*all, OptionId::omp_stacksize), "3M");
}

TEST(Settings, ABadStackSizeFallsToTheNextVariable) {
  const auto r = parse({"OMP_STACKSIZE=huge", "GOMP_STACKSIZE=64"});
  EXPECT_EQ(lines(r->messages), 1);
  EXPECT_EQ(r->settings.stack_size, 65536u);
}

TEST(Settings, WaitingFromEachRuntimesVariables) {
  EXPECT_EQ(parse({"OMP_WAIT_POLICY=ACTIVE"})->settings.wait_policy, WaitPolicy::active);
  EXPECT_EQ(parse({"OMP_WAIT_POLICY=passive"})->settings.wait_policy, WaitPolicy::passive);
  EXPECT_EQ(parse({"KMP_BLOCKTIME=200"})->settings.blocktime_us, 200'000);
  EXPECT_EQ(parse({"KMP_BLOCKTIME=50us"})->settings.blocktime_us, 50);
  EXPECT_EQ(parse({"KMP_BLOCKTIME=0"})->settings.blocktime_us, 0);
  EXPECT_EQ(parse({"KMP_BLOCKTIME=infinite"})->settings.blocktime_us, INT64_MAX);
  EXPECT_EQ(parse({"KMP_BLOCKTIME=2147483647"})->settings.blocktime_us, INT64_MAX);
  EXPECT_EQ(parse({"GOMP_SPINCOUNT=30k"})->settings.spin_count, 30'000);
  EXPECT_EQ(parse({"GOMP_SPINCOUNT=INFINITY"})->settings.spin_count, INT64_MAX);
  EXPECT_TRUE(parse({"KMP_LIBRARY=serial"})->settings.serial);
  EXPECT_EQ(parse({"KMP_LIBRARY=turnaround"})->settings.wait_policy, WaitPolicy::active);
  EXPECT_EQ(parse({"KMP_LIBRARY=turnaround", "OMP_WAIT_POLICY=passive"})->settings.wait_policy,
            WaitPolicy::passive);
}

TEST(Settings, IgnoredVariablesAreNamedOnceAndHarmlessOnesNot) {
  const auto r =
      parse({"KMP_TASKING=1", "KMP_GTID_MODE=2", "KMP_LOCK_KIND=tas", "KMP_DUPLICATE_LIB_OK=TRUE"});
  EXPECT_EQ(r->messages, "hearth: ignoring KMP_LOCK_KIND, KMP_TASKING; `hearth env` says why.\n");
}

TEST(Settings, WarningsCanBeSilenced) {
  EXPECT_EQ(parse({"KMP_WARNINGS=false", "OMP_NUM_THREADS=x"})->messages, "");
  EXPECT_EQ(parse({"OMP_NUM_THREADS=x", "HEARTH_WARNINGS=off"})->messages, "");
}

TEST(Settings, TextsAreCopiesThatOutliveTheEnvironment) {
  std::string entry = "OMP_PLACES= cores(2) ";
  const auto r = parse({entry.c_str()});
  entry.assign(entry.size(), '#');
  EXPECT_EQ(r->settings.places, "cores(2)");
}

TEST(Settings, AValueTooLongForTheStorageIsReportedNotCut) {
  const std::string entry = "OMP_PLACES=" + std::string(kSettingsStorage, '1');
  const auto r = parse({entry.c_str()});
  EXPECT_EQ(r->settings.places, "");
  EXPECT_NE(r->messages.find("OMP_PLACES: the value is too long"), std::string::npos);
}

TEST(Settings, OddButLegalValues) {
  EXPECT_EQ(parse({"OMP_DISPLAY_ENV=Verbose"})->settings.display_env, DisplayEnv::verbose);
  EXPECT_EQ(parse({"OMP_DISPLAY_ENV=yes"})->settings.display_env, DisplayEnv::yes);
  EXPECT_EQ(parse({"OMP_TARGET_OFFLOAD=MANDATORY"})->settings.target_offload, TargetOffload::mandatory);
  EXPECT_FALSE(parse({"OMP_TOOL=disabled"})->settings.tool);
  EXPECT_EQ(parse({"OMP_TOOL_VERBOSE_INIT=disabled"})->settings.tool_verbose_init, "");
  EXPECT_GE(parse({"KMP_ALL_THREADS=all"})->settings.device_thread_limit, 1);
  EXPECT_EQ(parse({"KMP_TEAMS_PROC_BIND=close"})->settings.teams_proc_bind, ProcBind::close);
  EXPECT_EQ(parse({"OMP_NUM_TEAMS_ALL=3"})->settings.num_teams, 3);
  EXPECT_EQ(parse({"HEARTH_POLICY=Central"})->settings.policy, Policy::central);
  EXPECT_EQ(parse({"HEARTH_POLICY=home-cache"})->settings.policy, Policy::home_cache);
  EXPECT_EQ(parse({"HEARTH_VICINITY=16"})->settings.vicinity, 16);
  EXPECT_EQ(parse({"HEARTH_VICINITY=ALL"})->settings.vicinity, 0);
  EXPECT_EQ(parse({"HEARTH_SLOWDOWN=100"})->settings.slowdown, 100);
}

TEST(DisplayEnv, HasTheFormatOfOpenMp) {
  testing::internal::CaptureStderr();
  display_env(false, {.num_threads = 3});
  const std::string plain = testing::internal::GetCapturedStderr();
  EXPECT_EQ(plain.find("\nOPENMP DISPLAY ENVIRONMENT BEGIN\n  _OPENMP = '202111'\n"), 0u) << plain;
  EXPECT_NE(plain.find("\nOPENMP DISPLAY ENVIRONMENT END\n"), std::string::npos);
  EXPECT_NE(plain.find("  [host] OMP_NUM_THREADS = '3'\n"), std::string::npos);
  EXPECT_EQ(plain.find("HEARTH_POLICY"), std::string::npos);
  testing::internal::CaptureStderr();
  display_env(true, {});
  EXPECT_NE(testing::internal::GetCapturedStderr().find("  [host] HEARTH_POLICY = 'adaptive'\n"),
            std::string::npos);
}

TEST(DisplayEnv, ShowsOnlyValuesThatCouldBeSet) {
  testing::internal::CaptureStderr();
  display_env(true, {.num_threads = 3, .places = "cores", .stack_size = std::size_t{8} << 20, .spins_for_ever = true});
  const std::string shown = testing::internal::GetCapturedStderr();
  EXPECT_NE(shown.find(" OMP_STACKSIZE = '8M'\n"), std::string::npos) << shown;
  EXPECT_NE(shown.find(" OMP_WAIT_POLICY = 'ACTIVE'\n"), std::string::npos) << shown;
  std::istringstream rows(shown);
  for (std::string row; std::getline(rows, row);) {
    const std::size_t equals = row.find(" = '");
    constexpr std::string_view kHost = "  [host] ";
    if (row.compare(0, kHost.size(), kHost) != 0 || equals == std::string::npos) continue;
    const std::string name = row.substr(kHost.size(), equals - kHost.size());
    const std::string value = row.substr(equals + 4, row.size() - equals - 5);
    // Empty: not set. The ICVs of teams are 0 by OpenMP's rules while their variables are not set.
    if (value.empty() || ((name == "OMP_NUM_TEAMS" || name == "OMP_TEAMS_THREAD_LIMIT") && value == "0")) continue;
    const std::string entry = name + "=" + value;
    EXPECT_EQ(parse({entry.c_str()})->messages, "") << row;
  }
}

}  // namespace
}  // namespace hearth::rt
