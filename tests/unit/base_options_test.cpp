// What base/options.h and base/log.h promise: the table is sound, the environment is read by name, lines come
// out whole.
#include "base/options.h"

#include <cerrno>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "base/log.h"

namespace hearth {
namespace {

TEST(OptionTable, EveryRowIsComplete) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < kOptionCount; ++i) {
    const Option& row = option(option_at(i));
    EXPECT_EQ(row.id, option_at(i));
    EXPECT_TRUE(names.insert(row.name).second) << row.name << " stands twice";
    EXPECT_FALSE(row.meaning.empty()) << row.name;
    EXPECT_EQ(row.meaning.back(), '.') << row.name;
    EXPECT_FALSE(row.legal.empty()) << row.name;
    const bool ignored = row.role == Option::ignored || row.role == Option::harmless;
    EXPECT_EQ(row.fallback.empty(), ignored) << row.name;
    EXPECT_EQ(row.role == Option::feeding, row.feeds != OptionId::count_) << row.name;
    ListReader aliases(row.aliases, ' ');
    std::string_view alias;
    while (!row.aliases.empty() && aliases.next(alias)) {
      EXPECT_TRUE(names.insert(alias).second) << alias << " stands twice";
    }
  }
}

TEST(OptionTable, EveryVariableOfOpenMp52IsThere) {
  for (const char* name : {"OMP_SCHEDULE",
                           "OMP_NUM_THREADS",
                           "OMP_DYNAMIC",
                           "OMP_PROC_BIND",
                           "OMP_PLACES",
                           "OMP_STACKSIZE",
                           "OMP_WAIT_POLICY",
                           "OMP_MAX_ACTIVE_LEVELS",
                           "OMP_NESTED",
                           "OMP_THREAD_LIMIT",
                           "OMP_CANCELLATION",
                           "OMP_AFFINITY_FORMAT",
                           "OMP_DISPLAY_AFFINITY",
                           "OMP_DISPLAY_ENV",
                           "OMP_DEFAULT_DEVICE",
                           "OMP_MAX_TASK_PRIORITY",
                           "OMP_TARGET_OFFLOAD",
                           "OMP_TOOL",
                           "OMP_TOOL_LIBRARIES",
                           "OMP_TOOL_VERBOSE_INIT",
                           "OMP_DEBUG",
                           "OMP_ALLOCATOR",
                           "OMP_NUM_TEAMS",
                           "OMP_TEAMS_THREAD_LIMIT"}) {
    bool found = false;
    for (std::size_t i = 0; i < kOptionCount; ++i) found = found || option(option_at(i)).name == name;
    EXPECT_TRUE(found) << name;
  }
}

std::string reported(const char* const* environment, bool privileged, OptionReader& reader) {
  testing::internal::CaptureStderr();
  reader.read(environment, privileged);
  return testing::internal::GetCapturedStderr();
}

TEST(OptionReader, FindsValuesByExactName) {
  const char* environment[] = {"HOME=/",     "OMP_NUM_THREADS=4", "OMP_NUM_THREADSX=9",
                               "OMP_PLACES", "KMP_BLOCKTIME=",    nullptr};
  OptionReader reader;
  EXPECT_EQ(reported(environment, false, reader), "");
  EXPECT_EQ(reader[OptionId::omp_num_threads].value, "4");
  EXPECT_FALSE(reader[OptionId::omp_places].given());
  EXPECT_TRUE(reader[OptionId::kmp_blocktime].given());
  EXPECT_EQ(reader[OptionId::kmp_blocktime].value, "");
}

TEST(OptionReader, TheFirstNameWinsOverItsAliasesWhateverTheOrder) {
  const char* environment[] = {"OMP_DYNAMIC_ALL=true", "OMP_DYNAMIC=false", "KMP_MAX_THREADS=5",
                               "KMP_ALL_THREADS=6", nullptr};
  OptionReader reader;
  reported(environment, false, reader);
  EXPECT_EQ(reader[OptionId::omp_dynamic].value, "false");
  EXPECT_EQ(reader[OptionId::omp_dynamic].variable, "OMP_DYNAMIC");
  EXPECT_EQ(reader[OptionId::kmp_device_thread_limit].variable, "KMP_ALL_THREADS");
}

TEST(OptionReader, PrivilegedProgramsObeyNoHearthVariables) {
  const char* environment[] = {"HEARTH_VERIFY_FILE=/etc/passwd", "HEARTH=off",
                               "OMP_TOOL_LIBRARIES=/tmp/evil.so", "OMP_NUM_THREADS=3", nullptr};
  OptionReader reader;
  reported(environment, true, reader);
  EXPECT_FALSE(reader[OptionId::hearth_verify_file].given());
  EXPECT_FALSE(reader[OptionId::hearth].given());
  EXPECT_FALSE(reader[OptionId::omp_tool_libraries].given());
  EXPECT_TRUE(reader[OptionId::omp_num_threads].given());
  for (std::size_t i = 0; i < kOptionCount; ++i) {
    const Option& row = option(option_at(i));
    if (row.name.substr(0, 6) != "HEARTH" || row.id == OptionId::hearth_warnings) continue;
    EXPECT_TRUE(row.trusted_only) << row.name;
  }
}

TEST(OptionReader, ASlipOfTheFingerIsReportedWithTheNameThatWasMeant) {
  const char* environment[] = {"HEARTH_POLICI=central", nullptr};
  OptionReader reader;
  EXPECT_EQ(reported(environment, false, reader),
            "hearth: HEARTH_POLICI: unknown option (did you mean HEARTH_POLICY?); ignored.\n");
}

TEST(Complain, NamesValueColumnLegalAndWhatIsUsed) {
  testing::internal::CaptureStderr();
  complain({"OMP_PLACES", "numa_domain"}, "unknown place name", 1, "threads, cores", "cores");
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "hearth: OMP_PLACES=\"numa_domain\": unknown place name at column 1; legal: threads, cores; "
            "using cores.\n");
}

TEST(Log, ALineIsCutNotSplitWhenItIsTooLong) {
  const std::string text(2 * kLogLine, 'x');
  testing::internal::CaptureStderr();
  warn("%s", text.c_str());
  const std::string line = testing::internal::GetCapturedStderr();
  EXPECT_EQ(line.size(), kLogLine - 1);
  EXPECT_EQ(line.back(), '\n');
  EXPECT_EQ(line.find('\n'), line.size() - 1);
}

TEST(Log, WarnOnceIsOncePerPlace) {
  testing::internal::CaptureStderr();
  for (int i = 0; i < 3; ++i) HEARTH_WARN_ONCE("place %d", i);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "hearth: place 0\n");
}

TEST(LogDeathTest, FatalSaysWhyAndAborts) { EXPECT_DEATH(fatal("no %s", "way"), "hearth: no way"); }

TEST(Log, KeepsErrno) {
  errno = 42;
  testing::internal::CaptureStderr();
  warn("x");
  testing::internal::GetCapturedStderr();
  EXPECT_EQ(errno, 42);
}

}  // namespace
}  // namespace hearth
