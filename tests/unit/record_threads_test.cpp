// What a thread's records are made into.
#include <gtest/gtest.h>

#include <vector>

#include "record/thread_assembly.h"

namespace hearth::record {
namespace {

/// The records of one thread, which runs its initial task.
class OneThread {
 public:
  OneThread() {
    recording_.processes.resize(1);
    recording_.processes[0].creations = true;
    recording_.threads.resize(1);
    constexpr std::uint64_t kInitial = 1;
    put(0, Kind::implicit_begin, {0, id(1), 1, kInitial});
  }
  static std::uint64_t id(std::uint64_t number) { return first_id(0) + number; }
  void put(std::uint64_t ticks, Kind kind, std::vector<std::uint64_t> words = {}) {
    records_.push_back({ticks, kind, std::move(words)});
  }
  const Recording& assemble() {
    ProcessAssembly assembly(recording_, 0);
    assembly.numbers.add_thread(0, 1000);
    assemble_thread(assembly, 0, [this](const std::function<void(const Record&)>& take) {
      for (const One& one : records_) {
        Record record;
        record.kind = one.kind;
        record.ticks = one.ticks;
        record.words = one.words.data();
        take(record);
      }
    });
    return recording_;
  }

 private:
  struct One {
    std::uint64_t ticks;
    Kind kind;
    std::vector<std::uint64_t> words;
  };
  std::vector<One> records_;
  Recording recording_;
};

constexpr std::uint64_t kOnePlace = code_with(0x401000, 1), kAnother = code_with(0x402000, 1);

std::vector<Nanoseconds> creations(const Recording& recording) {
  std::vector<Nanoseconds> all;
  for (std::size_t i = 1; i < recording.tasks.size(); ++i) all.push_back(recording.tasks[i].creation);
  return all;
}

TEST(RecordThreads, MakingATaskTakesWhatItTookTheLastTimesUnlessItIsTold) {
  OneThread thread;
  const auto create = [&](std::uint64_t ticks, std::uint64_t number, std::uint64_t code) {
    thread.put(ticks, Kind::task_create, {OneThread::id(1), OneThread::id(number), code});
  };
  create(100, 2, kOnePlace);
  thread.put(150, Kind::task_created);
  create(1000, 3, kOnePlace);  // as long as the one before, but the next record comes sooner
  create(1020, 4, kOnePlace);
  create(2000, 5, kOnePlace);
  thread.put(9000, Kind::task_created);  // once it took long: not usual
  create(10000, 6, kOnePlace);
  thread.put(10060, Kind::task_created);
  create(11000, 7, kOnePlace);
  create(20000, 8, kAnother);  // another place: nothing of it is known yet
  thread.put(20200, Kind::task_created);
  create(30000, 9, kAnother);
  thread.put(40000, Kind::implicit_end, {OneThread::id(1)});
  const Recording& all = thread.assemble();
  EXPECT_EQ(creations(all), (std::vector<Nanoseconds>{50, 20, 50, 7000, 60, 60, 200, 200}));
  EXPECT_EQ(all.tasks[0].creating, 50 + 20 + 50 + 7000 + 60 + 60 + 200 + 200);
  EXPECT_EQ(all.tasks[0].creating + all.tasks[0].work, 40000);
}

TEST(RecordThreads, ATaskThatRunsAtOnceIsMadeUntilItBegins) {
  constexpr unsigned kSwitch = 7, kComplete = 1;
  OneThread thread;
  thread.put(100, Kind::task_create, {OneThread::id(1), OneThread::id(2), kOnePlace});
  thread.put(150, Kind::task_created);
  thread.put(1000, Kind::task_create, {OneThread::id(1), OneThread::id(3), kOnePlace ^ kUndeferredInCode});
  thread.put(1300, Kind::task_switch, {with_note(OneThread::id(1), kSwitch), OneThread::id(3)});
  thread.put(2300, Kind::task_switch, {with_note(OneThread::id(3), kComplete), OneThread::id(1)});
  thread.put(3000, Kind::implicit_end, {OneThread::id(1)});
  const Recording& all = thread.assemble();
  EXPECT_EQ(all.tasks[0].creating, 50 + 300);
  EXPECT_EQ(all.tasks[0].work, 100 + 850 + 700);
  EXPECT_EQ(all.tasks[2].begin, 1300);
  EXPECT_EQ(all.tasks[2].work, 1000);
}

}  // namespace
}  // namespace hearth::record
