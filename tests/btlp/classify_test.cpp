// The classes and the tree from given edges: the algorithm as printed, repaired, and ours; and what the reports say.
#include "btlp/analysis/classify.h"

#include <gtest/gtest.h>

#include "btlp/analysis/report.h"

namespace hearth::btlp {
namespace {

/// main and threads that it creates; in whole view.
Program program_of(Mode mode, int threads) {
  Program program;
  program.mode = mode;
  program.whole = true;
  for (int number = 0; number <= threads; ++number) {
    Node node;
    node.number = number;
    node.creator = number == 0 ? -1 : 0;
    node.routine = node.routine_symbol = number == 0 ? "main" : "t" + std::to_string(number);
    program.nodes.push_back(node);
  }
  return program;
}

/// `writer` writes what `reader` reads.
void flow(Program& program, int writer, int reader, bool parameter, bool strong = true) {
  Edge edge;
  edge.from = writer;
  edge.to = reader;
  edge.object = "data";
  edge.forward = true;
  edge.parameter = parameter;
  edge.strong = strong;
  program.edges.push_back(edge);
}

Class type(const Program& program, int node) { return program.nodes[static_cast<std::size_t>(node)].type; }

// Știrb 2018, 6.1: "In the implementation, threads are created inside a loop … threads are all set as side-by-side."
TEST(Literal, ThreadsOfALoopAreSideBySideAndOutsideOfTheTree) {
  Program program = program_of(Mode::literal, 1);
  program.nodes[1].in_body = true;
  classify(program);
  EXPECT_EQ(type(program, 1), Class::side_by_side);
  EXPECT_FALSE(program.nodes[1].in_tree);
}

// 6.2: "Both main programs create a thread which is considered of type autonomous".
TEST(Literal, TheOnlyThreadOfMainIsAutonomous) {
  Program program = program_of(Mode::literal, 1);
  classify(program);
  EXPECT_EQ(type(program, 1), Class::autonomous);
  EXPECT_EQ(program.nodes[1].parent, 0);
}

// Algorithm 1: "as a consequence of identifying a data dependency with PA thread and there is no data dependency between
// threads A and Ai": postponed.
TEST(Literal, WhatOnlyItsCreatorReadsMakesAThreadPostponed) {
  Program program = program_of(Mode::literal, 1);
  flow(program, 1, 0, true);
  classify(program);
  EXPECT_EQ(type(program, 1), Class::postponed);
}

TEST(Literal, TheLastBranchOverridesSideBySide) {
  Program program = program_of(Mode::literal, 2);
  flow(program, 1, 2, true);
  classify(program);
  EXPECT_EQ(type(program, 1), Class::autonomous);
  EXPECT_EQ(type(program, 2), Class::autonomous);
}

TEST(Literal, AGlobalThatMainReadsMarksNobody) {
  Program program = program_of(Mode::literal, 1);
  flow(program, 1, 0, false);
  classify(program);
  EXPECT_EQ(type(program, 1), Class::autonomous);
}

TEST(Literal, AThreadOfAThreadIsPostponed) {
  Program program = program_of(Mode::literal, 2);
  program.nodes[2].creator = 1;
  classify(program);
  EXPECT_EQ(type(program, 2), Class::postponed);
  EXPECT_EQ(program.nodes[2].parent, 1);
}

// "make thread Ai the child of thread A": the last one that says so wins, and nobody becomes its own ancestor.
TEST(Literal, TheLastWriterIsTheParentAndTheTreeHasNoCircle) {
  Program program = program_of(Mode::literal, 3);
  std::string problem;
  ASSERT_TRUE(program.gaps.add("last-branch=keeps", problem));
  flow(program, 1, 3, true);
  flow(program, 2, 3, true);
  flow(program, 3, 1, true);
  classify(program);
  EXPECT_EQ(program.nodes[3].parent, 2);
  EXPECT_EQ(program.nodes[1].parent, 3);
  EXPECT_EQ(program.nodes[2].parent, 0);
}

TEST(Gaps, WordsAreCheckedAndSaidAgain) {
  Gaps gaps;
  std::string problem;
  EXPECT_TRUE(gaps.add("ties=first,loop=body", problem));
  EXPECT_EQ(gaps.asked_for(), "loop=body,ties=first");
  EXPECT_TRUE(gaps.decided(Gap::nested, Mode::paper));
  EXPECT_FALSE(gaps.decided(Gap::loop, Mode::paper));
  EXPECT_FALSE(gaps.add("loop=repeats,loop", problem));
  EXPECT_EQ(problem, "\"loop\": no such answer; legal: body, repeats");
  EXPECT_FALSE(gaps.decided(Gap::loop, Mode::paper)) << "words that are refused change nothing";
  for (const char* words : {"=", "loop=", "=body", "loop=body=", ",", "unknown=typed"}) EXPECT_FALSE(gaps.add(words, problem)) << words;
  EXPECT_TRUE(gaps.add("", problem));
}

TEST(Gaps, WithThePrintedAnswersEveryModeIsLiteral) {
  for (const Mode mode : {Mode::paper, Mode::balanced}) {
    Program one = program_of(Mode::literal, 4), other = program_of(mode, 4);
    std::string problem;
    for (std::size_t n = 0; n < kGaps; ++n) {
      const GapText& gap = text_of(static_cast<Gap>(n));
      const bool second = one.decided(static_cast<Gap>(n));
      ASSERT_TRUE(other.gaps.add(std::string(gap.name) + "=" + gap.answers[second ? 1 : 0], problem));
    }
    for (Program* program : {&one, &other}) {
      flow(*program, 1, 2, true);
      flow(*program, 3, 1, false);
      flow(*program, 4, 0, true, false);
      program->nodes[2].in_loop = true;
      classify(*program);
    }
    for (int node = 1; node <= 4; ++node) {
      EXPECT_EQ(type(one, node), type(other, node)) << node;
      EXPECT_EQ(one.nodes[static_cast<std::size_t>(node)].parent, other.nodes[static_cast<std::size_t>(node)].parent);
    }
  }
}

TEST(Paper, BothPartnersAreSideBySideAndTheFirstCreatedIsTheParent) {
  Program program = program_of(Mode::paper, 3);
  flow(program, 3, 1, false);
  classify(program);
  EXPECT_EQ(type(program, 1), Class::side_by_side);
  EXPECT_EQ(type(program, 3), Class::side_by_side);
  EXPECT_EQ(program.nodes[3].parent, 1);
  EXPECT_EQ(type(program, 2), Class::autonomous);
}

TEST(Paper, AThreadThatCreatesThreadsIsSideBySide) {
  Program program = program_of(Mode::paper, 2);
  program.nodes[2].creator = 1;
  classify(program);
  EXPECT_EQ(type(program, 1), Class::side_by_side);
  EXPECT_EQ(type(program, 2), Class::postponed);
}

TEST(Balanced, WeakSharingDoesNotBind) {
  Program program = program_of(Mode::balanced, 2);
  flow(program, 1, 2, false, false);
  classify(program);
  EXPECT_EQ(type(program, 1), Class::autonomous);
  EXPECT_EQ(partners_of(program, 1, false), (std::set<int>{2}));
}

TEST(Balanced, WorkersOfALoopWithDataOfTheirOwnAreAutonomous) {
  Program program = program_of(Mode::balanced, 1);
  program.nodes[1].in_loop = program.nodes[1].many = true;
  flow(program, 1, 0, true);
  classify(program);
  EXPECT_EQ(type(program, 1), Class::autonomous);
  flow(program, 1, 1, false);
  classify(program);
  EXPECT_EQ(type(program, 1), Class::side_by_side);
}

TEST(Unknown, WhatIsNotSeenIsUnknownUnlessSharingWasSeen) {
  Program program = program_of(Mode::balanced, 2);
  program.whole = false;
  program.nodes[1].open = program.nodes[2].open = true;
  classify(program);
  EXPECT_EQ(type(program, 1), Class::unknown);
  flow(program, 1, 2, false);
  classify(program);
  EXPECT_EQ(type(program, 1), Class::side_by_side);
}

TEST(Unknown, ARoutineThatNobodyKnowsIsUnknownInEveryMode) {
  for (const Mode mode : {Mode::literal, Mode::paper, Mode::balanced}) {
    Program program = program_of(mode, 1);
    program.nodes[1].routine.clear();
    program.nodes[1].routine_symbol.clear();
    program.nodes[1].unknown_reason = "its routine is not known";
    program.nodes[1].in_loop = true;
    classify(program);
    EXPECT_EQ(type(program, 1), Class::unknown) << mode_name(mode);
  }
}

TEST(Report, NamesAreEscaped) {
  Program program = program_of(Mode::balanced, 1);
  program.nodes[1].routine = "a\"<b>\\";
  classify(program);
  EXPECT_NE(as_json(program).find("\"routine\": \"a\\\"<b>\\\\\""), std::string::npos);
  EXPECT_NE(as_svg(program).find("a\"&lt;b&gt;\\"), std::string::npos);
  EXPECT_EQ(as_file(program, "x.dot").find("graph threads {"), 0u);
}

}  // namespace
}  // namespace hearth::btlp
