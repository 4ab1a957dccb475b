// The report's figures against SQL on the same recording, and names that would do harm in a page.
#include "report/figures.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <unistd.h>

#include "record/schema.h"
#include "report/data.h"
#include "report/json_text.h"
#include "report/words.h"

namespace hearth::report {
namespace {

/// A recording that is written by hand; gone with this object.
class Recording {
 public:
  explicit Recording(const std::string& rows, int schema = 3)
      : path_(testing::TempDir() + "report-" + std::to_string(::getpid()) + ".db") {
    std::remove(path_.c_str());
    sqlite3_open(path_.c_str(), &database_);
    execute("PRAGMA application_id=1213351235; PRAGMA synchronous=OFF; PRAGMA journal_mode=OFF; BEGIN");
    execute(kSchema);
    execute("INSERT INTO meta VALUES('schema','" + std::to_string(schema) + "'),('command','./app <b>'),('runtime','Hearth')");
    execute("INSERT INTO process VALUES(0,1,0,'Hearth','host','./app',1,1,1,0)");
    execute("INSERT INTO cpu VALUES(0,0,0),(0,1,0)");
    execute(rows);
    execute("COMMIT");
    sqlite3_close(database_);
  }
  ~Recording() { std::remove(path_.c_str()); }
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  Subject subject() const {
    Subject subject;
    EXPECT_EQ(read_subject(path_, subject), "");
    return subject;
  }
  std::int64_t number(const char* sql) const {
    replay::RecordingFile file;
    EXPECT_EQ(file.open(path_), "");
    const std::int64_t value = file.number(sql);
    EXPECT_EQ(file.wrong(), "");
    return value;
  }

 private:
  void execute(const std::string& sql) {
    char* wrong = nullptr;
    sqlite3_exec(database_, sql.c_str(), nullptr, nullptr, &wrong);
    EXPECT_STREQ(wrong, nullptr) << sql;
    sqlite3_free(wrong);
  }
  std::string path_;
  sqlite3* database_ = nullptr;
};

// Thread 0 creates two tasks in 10 of its 100 ns, waits 20 while thread 1 runs them, and works for 70. Thread 1 runs them from 30
// to 70; the second is ready at 40 by its predecessor.
constexpr const char* kTwoThreads =
    "INSERT INTO thread VALUES(0,0,0,10,'initial',0,100,1),(1,0,1,11,'worker',0,100,1);"
    "INSERT INTO code VALUES(0,0,'app',16,'main','/src/app.c',7,'app.c:7'),(1,0,'app',32,'main','/src/app.c',9,'app.c:9');"
    "INSERT INTO task(id,key,process,kind,code,thread,cpu,begin_ns,end_ns,work_ns,wait_ns,create_ns) VALUES"
    "(0,1,0,'initial',NULL,0,0,0,100,70,20,10);"
    "INSERT INTO task(id,key,process,parent,kind,code,creator,created_ns,creation_ns,thread,cpu,begin_ns,end_ns,work_ns,wait_ns,"
    "create_ns) VALUES(1,2,0,0,'explicit',0,0,20,5,1,1,30,50,20,0,0),(2,3,0,0,'explicit',1,0,25,5,1,1,50,70,20,0,0);"
    "INSERT INTO span(task,thread,cpu,begin_ns,end_ns) VALUES(0,0,0,0,100),(1,1,1,30,50),(2,1,1,50,70);"
    "INSERT INTO wait VALUES(0,0,'taskwait',1,60,80,20);"
    "INSERT INTO edge VALUES(2,1);"
    "INSERT INTO footprint VALUES(1,0,4096,64,2,128,'read',0,0,0),(1,1,8192,100,1,100,'write',0,0,0);";

TEST(ReportFigures, ThreadTimeIsDividedWithoutRest) {
  const Recording recording(kTwoThreads);
  const Subject subject = recording.subject();
  const Figures& figures = subject.figures;
  EXPECT_EQ(figures.length(), recording.number("SELECT max(end_ns) - min(begin_ns) FROM span"));
  EXPECT_EQ(figures.thread_time(), 200);
  EXPECT_EQ(figures.time.work, recording.number("SELECT sum(work_ns) FROM task"));
  EXPECT_EQ(figures.time.creating, recording.number("SELECT sum(create_ns) FROM task"));
  EXPECT_EQ(figures.time.waiting, recording.number("SELECT sum(wait_ns) FROM task"));
  EXPECT_EQ(figures.time.outside, 60);
  EXPECT_EQ(figures.time.work + figures.time.creating + figures.time.waiting + figures.time.outside, figures.thread_time());
  EXPECT_DOUBLE_EQ(figures.average_parallelism(), 1.1);
}

TEST(ReportFigures, AThreadsTimeIsThatOfItsTasks) {
  const Recording recording(kTwoThreads);
  const Subject subject = recording.subject();
  ASSERT_EQ(subject.figures.threads.size(), 2u);
  const TimeShares& first = subject.figures.threads[0].time;
  EXPECT_EQ(first.work, 70);
  EXPECT_EQ(first.creating, 10);
  EXPECT_EQ(first.waiting, 20);
  EXPECT_EQ(first.outside, 0);
  EXPECT_EQ(subject.figures.threads[1].time.work, 40);
  EXPECT_EQ(subject.figures.threads[1].time.outside, 60);
  EXPECT_EQ(subject.figures.threads[1].tasks, 2);
}

TEST(ReportFigures, ATaskIsReadyWhenItsLastPredecessorHasEnded) {
  const Recording recording(kTwoThreads);
  const Subject subject = recording.subject();
  EXPECT_EQ(subject.run.ready[1], 20);
  EXPECT_EQ(subject.run.ready[2], 50);
  // Available: the first from 20 to 50, the second from 50 to 70.
  const std::vector<double>& available = subject.figures.parallelism.available;
  double sum = 0;
  for (const double value : available) sum += value;
  EXPECT_NEAR(sum / static_cast<double>(available.size()) * 100, 50, 1e-9);
}

TEST(ReportFigures, ConstructsAreThoseOfTheView) {
  const Recording recording(kTwoThreads);
  const Subject subject = recording.subject();
  ASSERT_EQ(subject.figures.constructs.size(), static_cast<std::size_t>(recording.number("SELECT count(*) FROM work_by_construct")));
  for (const ConstructFigures& construct : subject.figures.constructs) {
    const std::string& name = subject.run.constructs[static_cast<std::size_t>(construct.construct)].name;
    const std::string sql = "SELECT work_ns FROM work_by_construct WHERE construct = '" + name + "'";
    EXPECT_EQ(construct.work, recording.number(sql.c_str())) << name;
  }
  EXPECT_EQ(subject.run.declared[1], recording.number("SELECT sum(length * rows) FROM footprint"));
}

TEST(ReportFigures, WaitingIsByPlaceAndCostsItsShare) {
  const Recording recording(kTwoThreads);
  const Subject subject = recording.subject();
  ASSERT_EQ(subject.figures.waits.size(), 1u);
  EXPECT_EQ(subject.figures.waits[0].idle, 20);
  ASSERT_EQ(subject.screen.costs.size(), 3u);
  EXPECT_EQ(subject.screen.costs[0].part, "threads");
  EXPECT_DOUBLE_EQ(subject.screen.costs[0].share, 0.3);
  EXPECT_EQ(subject.screen.costs[1].what, "Waiting in the taskwait at app.c:9");
  EXPECT_DOUBLE_EQ(subject.screen.costs[1].share, 0.1);
}

/// Thread 0 makes 20 tasks, one each 500 ns, of which it runs half itself and thread 1 the rest; `work` ns in each. Thread 1
/// has nothing to run before and after its tasks.
std::string one_maker(int work) {
  const std::string each = std::to_string(work), waited = std::to_string(10'000 - 10 * work);
  return "INSERT INTO thread VALUES(0,0,0,10,'initial',0,20000,1),(1,0,1,11,'worker',0,20000,1);"
         "INSERT INTO code VALUES(0,0,'app',16,'main','/src/app.c',7,'app.c:7'),(1,0,'app',32,'main','/src/app.c',9,'app.c:9');"
         "INSERT INTO task(id,key,process,kind,code,thread,cpu,begin_ns,end_ns,work_ns,wait_ns,create_ns) VALUES"
         "(0,1,0,'implicit',1,0,0,0,10000,10000-10*" + each + ",0,0),(1,2,0,'implicit',1,1,1,0,10000,0," + waited + ",0);"
         "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 19) "
         "INSERT INTO task(id,key,process,parent,kind,code,creator,created_ns,creation_ns,thread,cpu,begin_ns,end_ns,work_ns,"
         "wait_ns,create_ns) SELECT 2+i,3+i,0,0,'explicit',0,0,i*500,0,i%2,i%2,i*500,i*500+" + each + "," + each + ",0,0 FROM n;"
         "INSERT INTO span(task,thread,cpu,begin_ns,end_ns) VALUES(0,0,0,0,10000),(1,1,1,0,10000);"
         "INSERT INTO wait VALUES(1,1,'loop-end',1,0,10000," + waited + ");";
}

TEST(ReportFigures, TasksThatAreTooSmallAreNamedAlsoWhereTheRuntimeHasNoPartInIt) {
  const Recording recording(one_maker(100));
  const Subject subject = recording.subject();
  const auto& constructs = subject.figures.constructs;
  const auto tasks = std::find_if(constructs.begin(), constructs.end(), [](const auto& c) { return c.tasks == 20; });
  ASSERT_NE(tasks, constructs.end());
  // From the first to the last creation 9,500 ns pass, of which the maker ran tasks for 1,000: at most its own 9,000 ns of steps.
  EXPECT_EQ(tasks->making.tasks, 20);
  EXPECT_EQ(tasks->making.time, 9000);
  EXPECT_DOUBLE_EQ(tasks->making.by_one_thread, 1);
  EXPECT_EQ(tasks->making.waited, 9000 * 9500 / 10'000);
  ASSERT_GE(subject.screen.changes.size(), 2u);
  EXPECT_EQ(subject.screen.changes[0].what,
            "Its 20 tasks are too small: 100 ns of work in each, and 450 ns to make it (the runtime's part and the "
            "program's steps in between). Let a task do more.");
  EXPECT_EQ(subject.screen.changes[0].where, "app.c:7");
  EXPECT_EQ(subject.screen.changes[0].gain,
            "It concerns the 45 % of thread time that making them takes, and the 43 % that other threads wait meanwhile.");
  EXPECT_EQ(subject.screen.changes[1].what,
            "One thread makes nearly all tasks, one each 450 ns, and one works for 100 ns: too few for 1 other thread. Let "
            "several threads make them.");
}

TEST(ReportFigures, TasksThatKeepTheOthersAtWorkAreNotTooSmall) {
  const Recording recording(one_maker(480));
  for (const Change& change : recording.subject().screen.changes)
    EXPECT_EQ(change.what.find("tasks"), std::string::npos) << change.what;
}

TEST(ReportFigures, IdleThreadsBesideReadyTasksAreCountedOnceForEachTaskThatTheyCouldRun) {
  // From 60 to 80 thread 0 idles in its taskwait. Made ready, a third task waits from 62 to 72, and from 66 to 70 a fourth
  // one, which one idle thread could not run as well.
  const Recording recording(std::string(kTwoThreads) +
      "INSERT INTO task(id,key,process,parent,kind,code,creator,created_ns,creation_ns,thread,cpu,begin_ns,end_ns,work_ns,wait_ns,"
      "create_ns) VALUES(3,4,0,0,'explicit',0,0,62,1,1,1,72,76,4,0,0),(4,5,0,0,'explicit',1,0,66,1,1,1,70,72,2,0,0);"
      "INSERT INTO span(task,thread,cpu,begin_ns,end_ns) VALUES(4,1,1,70,72),(3,1,1,72,76);");
  const Subject subject = recording.subject();
  const IdleReady& idle = subject.figures.idle_ready;
  EXPECT_DOUBLE_EQ(idle.time, 10);
  const auto of = [&](const char* name) {
    for (std::size_t c = 0; c < subject.run.constructs.size(); ++c)
      if (subject.run.constructs[c].name == name) return idle.constructs[c];
    return IdleReady::OfConstruct();
  };
  EXPECT_DOUBLE_EQ(of("app.c:7").time, 8);
  EXPECT_DOUBLE_EQ(of("app.c:9").time, 2);
  EXPECT_EQ(of("app.c:7").tasks, 1);
  EXPECT_DOUBLE_EQ(of("app.c:7").passed_over, 10);
  // 5 % of 200 ns.
  const auto& changes = subject.screen.changes;
  EXPECT_TRUE(std::any_of(changes.begin(), changes.end(), [](const Change& change) {
    return change.what == "Threads idle while its tasks are ready: each of 1 is passed over for 10 ns on the average." &&
           change.where == "app.c:7" && change.gain == "It concerns 5.0 % of thread time.";
  }));
}

TEST(ReportFigures, WhoWaitsForALockIsNotIdle) {
  std::string rows = kTwoThreads;
  rows.replace(rows.find("'taskwait'"), 10, "'critical'");
  const Recording recording(rows +
      "INSERT INTO task(id,key,process,parent,kind,code,creator,created_ns,creation_ns,thread,cpu,begin_ns,end_ns,work_ns,wait_ns,"
      "create_ns) VALUES(3,4,0,0,'explicit',0,0,62,1,1,1,72,76,4,0,0);"
      "INSERT INTO span(task,thread,cpu,begin_ns,end_ns) VALUES(3,1,1,72,76);");
  EXPECT_DOUBLE_EQ(recording.subject().figures.idle_ready.time, 0);
}

/// Two nodes; the tasks ran at 1, and what they use lies where `rows` of task_bytes say.
std::string two_nodes(const std::string& rows) {
  return std::string(kTwoThreads) +
         "INSERT INTO machine VALUES(0,'m','sysfs',0,'adaptive','node','slit');"
         "INSERT INTO location VALUES(0,0,0,'0',1,1000),(0,1,1,'1',1,1000);"
         "INSERT INTO distance VALUES(0,0,0,10,NULL,'slit'),(0,0,1,20,NULL,'slit'),(0,1,0,20,NULL,'slit'),(0,1,1,10,NULL,'slit');"
         "UPDATE task SET location = 1 WHERE id > 0;" + rows;
}

/// The change of these words, which there has to be.
Change change_of(const Subject& subject, const std::string& what) {
  const auto& changes = subject.screen.changes;
  const auto found = std::find_if(changes.begin(), changes.end(), [&](const Change& change) { return change.what == what; });
  EXPECT_NE(found, changes.end()) << what;
  return found == changes.end() ? Change() : *found;
}

TEST(ReportFigures, DataThatLiesInOnePlaceIsNamedAlsoWhereNoAllocationIs) {
  const Recording recording(two_nodes("INSERT INTO task_bytes VALUES(1,0,950,0,'end'),(2,1,0,50,'end');"));
  const Subject subject = recording.subject();
  const Change change = change_of(subject, "95 % of what tasks use lies at location 0, while tasks run everywhere.");
  EXPECT_NE(change.how.find("--distribute=coarse,min=4K"), std::string::npos);
  EXPECT_EQ(change.gain, "It concerns 95 % of the bytes that tasks declare, which are remote.");
}

TEST(ReportFigures, DataThatIsFarEverywhereIsAskedAboutOfThePolicy) {
  const Recording recording(two_nodes("INSERT INTO task_bytes VALUES(1,0,600,0,'end'),(2,1,0,400,'end');"));
  const Subject subject = recording.subject();
  EXPECT_GT(change_of(subject, "Tasks run where their data is not, and no allocation explains it.").share, 0);
}

TEST(ReportFigures, DataThatIsAtHomeNeedsNothing) {
  const Recording recording(two_nodes("INSERT INTO task_bytes VALUES(1,1,600,0,'end'),(2,1,0,400,'end');"));
  for (const Change& change : recording.subject().screen.changes) EXPECT_EQ(change.what.find("data"), std::string::npos) << change.what;
}

TEST(ReportLocality, ReasonsAreWords) {
  EXPECT_EQ(why_text("here_already"), "they are made where their data is");
  EXPECT_EQ(why_text("of a later version"), "of a later version");
}

TEST(ReportFigures, WhereNothingIsToBeChangedItIsSaidWhy) {
  const Recording idle("INSERT INTO thread VALUES(0,0,0,10,'initial',0,9000000,1),(1,0,1,11,'worker',0,9000000,1);"
      "INSERT INTO task(id,key,process,kind,thread,cpu,begin_ns,end_ns,work_ns,wait_ns,create_ns) VALUES"
      "(0,1,0,'implicit',0,0,0,9000000,1000000,8000000,0),(1,2,0,'implicit',1,1,0,9000000,1000000,8000000,0);"
      "INSERT INTO span(task,thread,cpu,begin_ns,end_ns) VALUES(0,0,0,0,9000000),(1,1,1,0,9000000);"
      "INSERT INTO wait VALUES(0,0,'barrier',NULL,0,8000000,8000000),(1,1,'barrier',NULL,0,8000000,8000000);");
  EXPECT_TRUE(idle.subject().screen.changes.empty());
  EXPECT_EQ(idle.subject().screen.no_change, "The run is short, 9.00 ms: much of it is the start of threads. Record a longer one to see "
                                             "what the program costs.");
}

TEST(ReportFigures, WhatIsMissingIsSaidFirst) {
  const Recording recording(std::string(kTwoThreads) + "INSERT INTO problem VALUES('1.0.spill','is cut');"
                            "INSERT INTO meta VALUES('first_touch','not recorded: perf_event_open: Permission denied');"
                            "UPDATE wait SET code = NULL; UPDATE task SET kind = 'implicit' WHERE id = 0;");
  const Subject subject = recording.subject();
  EXPECT_EQ(subject.screen.warning,
            "Parts of this recording are missing or wrong (1 problem, told at the end): all figures are of the rest.");
  EXPECT_NE(text_of(subject.screen, 80).find("1.0.spill: is cut."), std::string::npos);
  EXPECT_NE(text_of(subject.screen, 200).find("Who touched memory first was not recorded: perf_event_open: Permission denied."),
            std::string::npos);
  ASSERT_EQ(subject.run.wait_places.size(), 1u);
  EXPECT_EQ(subject.run.wait_places[0].name, "");
  const Recording whole(kTwoThreads);
  EXPECT_EQ(whole.subject().screen.warning, "");
}

TEST(ReportFigures, ARecordingWithoutAnythingIsToldAsSuch) {
  const Recording recording("");
  const Subject subject = recording.subject();
  EXPECT_EQ(subject.figures.thread_time(), 0);
  EXPECT_TRUE(subject.screen.costs.empty());
  EXPECT_NE(text_of(subject.screen, 80).find("Nothing was recorded that took time."), std::string::npos);
  EXPECT_FALSE(data_json(subject).empty());
}

TEST(ReportFigures, RowsThatCannotBeTrueAreLeftOut) {
  const Recording recording(std::string(kTwoThreads) +
                            "INSERT INTO span(task,thread,cpu,begin_ns,end_ns) VALUES(99,0,0,0,50),(1,77,0,0,50),(1,1,1,90,80);"
                            "INSERT INTO edge VALUES(2,12345),(-3,1);"
                            "INSERT INTO wait VALUES(500,900,'barrier',44,0,10,-5);"
                            "INSERT INTO footprint VALUES(1,2,0,9223372036854775807,9223372036854775807,0,'read',0,0,0);");
  const Subject subject = recording.subject();
  EXPECT_EQ(subject.figures.thread_time(), 200);
  EXPECT_EQ(subject.run.declared[1], 228);
}

TEST(ReportJson, NoTextEndsItsElement) {
  JsonText json;
  json.open_object().member("name", "</script><img onerror=alert(1)>\"\\\n\x01\xff é&").close_object();
  EXPECT_EQ(json.text(),
            "{\"name\":\"\\u003c/script\\u003e\\u003cimg onerror=alert(1)\\u003e\\\"\\\\\\u000a\\u0001\\ufffd é\\u0026\"}");
}

TEST(ReportWords, NumbersAsPeopleReadThem) {
  EXPECT_EQ(time_text(999), "999 ns");
  EXPECT_EQ(time_text(1'234), "1.23 µs");
  EXPECT_EQ(time_text(999'600), "1.00 ms");
  EXPECT_EQ(time_text(75'200'000'000), "75.2 s");
  EXPECT_EQ(share_text(0), "0 %");
  EXPECT_EQ(share_text(0.0004), "< 0.1 %");
  EXPECT_EQ(share_text(0.0123), "1.2 %");
  EXPECT_EQ(share_text(0.999), "100 %");
  EXPECT_EQ(count_text(1'234'567), "1,234,567");
  EXPECT_EQ(count_text(-123), "-123");
  EXPECT_EQ(bytes_text(1536), "1.50 KiB");
}

}  // namespace
}  // namespace hearth::report
