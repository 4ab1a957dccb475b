// Recordings of threads: the reader, and what a recording adds to what the analysis has found.
#include "btlp/analysis/recording.h"

#include <gtest/gtest.h>

#include "btlp/analysis/classify.h"
#include "btlp/analysis/matrices.h"
#include "btlp/analysis/report.h"

namespace hearth::btlp {
namespace {

constexpr const char* kTwoMeet =
    "hearth-threads\t1\texact\nprogram\t/x/prog\nthread\t0\t-1\t0\t-\tmain\nthread\t1\t0\t0\tmain#0\tping\n"
    "thread\t2\t0\t0\tmain#1\tpong\nobject\t1\tother\tmemory\nobject\t2\tglobal\tturn\ntouch\t1\t2\t90\t10\n"
    "touch\t2\t2\t90\t10\nmeet\t1\t2\t2\t><w\t30\t31\nleft-out\t0\t0\t0\t0\nend\n";

Recording read(const std::string& text) {
  Recording recording;
  std::string problem;
  EXPECT_TRUE(parse_recording(text, "a.rec", recording, problem)) << problem;
  return recording;
}

std::string problem_of(const std::string& text) {
  Recording recording;
  std::string problem;
  EXPECT_FALSE(parse_recording(text, "a.rec", recording, problem));
  return problem;
}

/// main, and ping and pong; nothing is known of what they share.
Program two_threads() {
  Program program;
  program.whole = true;
  for (int number = 0; number <= 2; ++number) {
    Node node;
    node.number = number;
    node.creator = number == 0 ? -1 : 0;
    node.routine = node.routine_symbol = number == 0 ? "main" : number == 1 ? "ping" : "pong";
    node.site = number == 0 ? "" : "main#" + std::to_string(number - 1);
    program.nodes.push_back(node);
  }
  return program;
}

TEST(RecordingFile, IsReadWhole) {
  const Recording recording = read(kTwoMeet);
  EXPECT_TRUE(recording.exact);
  EXPECT_EQ(recording.threads.size(), 3U);
  EXPECT_EQ(recording.threads[2].site, "main#1");
  EXPECT_EQ(recording.objects[2].name, "turn");
  ASSERT_EQ(recording.meetings.size(), 1U);
  EXPECT_EQ(recording.meetings[0].b_to_a, 31U);
}

TEST(RecordingFile, WhatIsWrongGetsOneLineWithThePlace) {
  EXPECT_EQ(problem_of(""), "a.rec:1: the file is empty");
  EXPECT_EQ(problem_of("GIF89a"), "a.rec:1: not a recording of threads (hearth cc --record)");
  EXPECT_EQ(problem_of("hearth-threads\t2\texact\nend\n"), "a.rec:1: version 2; this hearth reads version 1");
  EXPECT_EQ(problem_of("hearth-threads\t1\texact\nthread\t0\t-1\t0\t-\tmain\n"),
            "a.rec:3: the file is cut off: its last line is not 'end'");
  EXPECT_EQ(problem_of("hearth-threads\t1\texact\ntouch\t0\t0\t1\t1\nend\n"),
            "a.rec:2: the thread must be a number from 0 to -1");
  EXPECT_EQ(problem_of("hearth-threads\t1\texact\nthread\t0\t-1\t0\tmain\nend\n"),
            "a.rec:2: a line 'thread' has 6 fields, not 5");
  EXPECT_EQ(problem_of("hearth-threads\t1\texact\nwhat\nend\n"), "a.rec:2: no such kind of line: 'what'");
  EXPECT_EQ(problem_of("hearth-threads\t1\texact\nend\nend\n"), "a.rec:3: there is more behind the line 'end'");
}

TEST(Recorded, WhatTheAnalysisMissedIsAdded) {
  Program program = two_threads();
  classify(program);
  EXPECT_EQ(program.nodes[1].type, Class::autonomous);
  add_recording(read(kTwoMeet), program);
  classify(program);
  EXPECT_EQ(program.nodes[1].type, Class::side_by_side);
  EXPECT_FALSE(program.nodes[1].as_recorded);
  ASSERT_EQ(missed_pairs(program).size(), 1U);
  EXPECT_NE(as_text(program).find("missed by the analysis: ping (1) and pong (2): turn"), std::string::npos);
  EXPECT_NE(as_json(program).find("\"missed_by_analysis\": [{\"from\": 1, \"to\": 2, \"object\": \"turn\"}]"),
            std::string::npos);
}

TEST(Recorded, WhatBothHaveIsNotMissedAndWhatWasNotSeenIsSaid) {
  Program program = two_threads();
  for (const char* object : {"turn", "other"}) {
    Edge edge;
    edge.from = 1;
    edge.to = 2;
    edge.object = object;
    edge.forward = true;
    program.edges.push_back(edge);
  }
  add_recording(read(kTwoMeet), program);
  classify(program);
  EXPECT_TRUE(missed_pairs(program).empty());
  EXPECT_EQ(program.edges.size(), 2U);
  EXPECT_TRUE(program.edges[0].seen);
  EXPECT_EQ(program.edges[0].reads, 61U);
  EXPECT_NE(as_text(program).find("not seen in the recording: ping (1) and pong (2): other"), std::string::npos);
}

TEST(Recorded, AnUnknownThreadGetsALabelledClass) {
  Program program = two_threads();
  program.nodes[1].unknown_reason = "a call of x(), which is in another file";
  program.nodes[2].unknown_reason = program.nodes[1].unknown_reason;
  classify(program);
  EXPECT_EQ(program.nodes[1].type, Class::unknown);
  add_recording(read(kTwoMeet), program);
  classify(program);
  EXPECT_EQ(program.nodes[1].type, Class::side_by_side);
  EXPECT_TRUE(program.nodes[1].as_recorded);
  EXPECT_NE(as_json(program).find("\"class_from\": \"recording\""), std::string::npos);
}

TEST(Recorded, AThreadThatDidNotRunStaysUnknown) {
  Program program = two_threads();
  Node third = program.nodes[2];
  third.number = 3;
  third.site = "main#2";
  third.unknown_reason = "its routine is not known";
  program.nodes.push_back(third);
  add_recording(read(kTwoMeet), program);
  classify(program);
  EXPECT_EQ(program.nodes[3].type, Class::unknown);
}

TEST(Recorded, CallPathsThatShareASiteComeInTheirOrder) {
  Program program = two_threads();
  program.nodes[2].site = "main#0";
  program.nodes[2].routine = program.nodes[2].routine_symbol = "ping";
  const Recording recording = read(
      "hearth-threads\t1\tsampled\nthread\t0\t-1\t0\t-\tmain\nthread\t1\t0\t0\tmain#0\tping\n"
      "thread\t2\t0\t1\tmain#0\tping\nthread\t3\t-1\t0\t-\t-\nend\n");
  EXPECT_EQ(nodes_of(recording, program), (std::vector<int>{0, 1, 2, -1}));
}

}  // namespace
}  // namespace hearth::btlp
