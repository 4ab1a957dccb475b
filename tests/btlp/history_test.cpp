// Who has met whom at a byte: the recorder's history, with threads that are created and joined.
#include "btlp/recorder/history.h"

#include <gtest/gtest.h>

namespace hearth::btlp::recorder {
namespace {

/// One byte, touched by threads.
class Byte {
 public:
  explicit Byte(History& history) : history_(history) {}

  /// What the access has in common with those of `other`.
  std::uint32_t touch(std::uint32_t thread, bool write, std::uint32_t other) {
    const History::Step step = history_.step(state_, thread, write);
    state_ = step.next;
    for (std::uint32_t n = 0; n < step.count; ++n)
      if (history_.conflicts(step)[n].other == other) return history_.conflicts(step)[n].what;
    return 0;
  }
  std::uint32_t reads(std::uint32_t thread, std::uint32_t other) { return touch(thread, false, other); }
  std::uint32_t writes(std::uint32_t thread, std::uint32_t other) { return touch(thread, true, other); }
  std::uint32_t state() const { return state_; }

 private:
  History& history_;
  std::uint32_t state_ = History::kUntouched;
};

class Threads : public ::testing::Test {
 protected:
  History history;
  std::uint32_t main = history.add_thread(-1);
  std::uint32_t child() { return history.add_thread(static_cast<std::int32_t>(main)); }
};

TEST_F(Threads, WhatACreatorHasPreparedIsHandedOver) {
  Byte byte(history);
  byte.writes(main, 0);
  const std::uint32_t a = child();
  EXPECT_EQ(byte.reads(a, main), 0U);
  EXPECT_EQ(byte.writes(a, main), 0U);
}

TEST_F(Threads, WhatACreatorWritesAfterwardsMeets) {
  Byte byte(history);
  const std::uint32_t a = child();
  byte.writes(main, 0);
  EXPECT_EQ(byte.reads(a, main), Conflict::reads_theirs | Conflict::flow);
}

TEST_F(Threads, BehindAJoinOnlyResultsFlow) {
  Byte result(history), scratch(history);
  const std::uint32_t a = child();
  result.writes(a, 0);
  scratch.writes(a, 0);
  history.joined(main, a);
  EXPECT_EQ(result.reads(main, a), Conflict::reads_theirs | Conflict::flow);
  EXPECT_EQ(scratch.writes(main, a), 0U);
  EXPECT_EQ(scratch.reads(main, a), 0U);
}

TEST_F(Threads, AResultFlowsToAThreadThatIsCreatedLater) {
  Byte byte(history);
  const std::uint32_t a = child();
  byte.writes(a, 0);
  history.joined(main, a);
  const std::uint32_t b = child();
  EXPECT_EQ(byte.reads(b, a), Conflict::reads_theirs | Conflict::flow);
}

TEST_F(Threads, SiblingsMeetWhicheverComesFirst) {
  Byte byte(history), other(history);
  const std::uint32_t a = child(), b = child();
  byte.reads(a, 0);
  EXPECT_EQ(byte.writes(b, a), std::uint32_t{Conflict::writes_where_read});
  other.writes(b, 0);
  EXPECT_EQ(other.writes(a, b), std::uint32_t{Conflict::writes_where_written});
  EXPECT_EQ(other.reads(b, a), Conflict::reads_theirs | Conflict::flow);
}

TEST_F(Threads, ReadersDoNotMeet) {
  Byte byte(history);
  byte.writes(main, 0);
  const std::uint32_t a = child(), b = child();
  EXPECT_EQ(byte.reads(a, b), 0U);
  EXPECT_EQ(byte.reads(b, a), 0U);
}

TEST_F(Threads, EqualHistoriesAreOne) {
  Byte one(history), two(history);
  const std::uint32_t a = child(), b = child();
  for (Byte* byte : {&one, &two}) {
    byte->writes(a, 0);
    byte->reads(b, 0);
  }
  EXPECT_EQ(one.state(), two.state());
  EXPECT_NE(one.state(), History::kUntouched);
}

}  // namespace
}  // namespace hearth::btlp::recorder
