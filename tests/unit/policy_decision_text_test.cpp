// The log of decisions: its lines, the paths of tasks, and what does not fit.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "policy/decision_text.h"

namespace hearth::policy {
namespace {

std::string path_of(std::initializer_list<std::uint32_t> down) {
  TaskPath path;
  for (const auto* number = down.end(); number != down.begin();) path.prepend(*--number);
  return path.text();
}

std::string line_of(const Decision& decision) {
  const auto out = std::make_unique<char[][kDecisionRoom]>(1);
  return {out[0], decision_line(decision, out[0])};
}

TEST(DecisionText, APathReadsFromTheThreadDown) {
  EXPECT_EQ(path_of({0, 7, 2}), "0.7.2");
  EXPECT_EQ(path_of({12, 4294967295}), "12.4294967295");
}

TEST(DecisionText, APathThatIsTooLongLosesItsBeginning) {
  TaskPath path;
  std::string whole;
  for (std::uint32_t depth = 0; depth < 1000; ++depth) {
    path.prepend(depth);
    whole = std::to_string(depth) + (whole.empty() ? "" : "." + whole);
  }
  const std::string text = path.text();
  ASSERT_EQ(text.substr(0, 3), "...");
  EXPECT_GT(text.size(), 200u);
  EXPECT_EQ(text.substr(3), whole.substr(whole.size() - (text.size() - 3)));
}

TEST(DecisionText, ALineHasAllThatThePolicyWasShown) {
  Need need(3);
  need.read.add(1, 4096);
  need.read.add(placement::kUnknown, 5);
  need.written.add(2, 64);
  need.decided = true;
  const LoadView load{.staffed = 0b101, .turn = 9};
  EXPECT_EQ(
      line_of({.task = "0.1",
               .construct = "f",
               .released = true,
               .creator = 2,
               .need = need,
               .load = load,
               .chosen = 0}),
      "{\"task\":\"0.1\",\"construct\":\"f\",\"released\":true,\"creator\":2,\"read\":[0,4096,0],"
      "\"written\":[0,0,64],\"unknown\":5,\"stated\":false,\"decided\":true,\"staffed\":[0,2],\"turn\":9,"
      "\"chosen\":0}\n");
}

TEST(DecisionText, APolicyThatWeighsLoadIsShownMore) {
  const Need need(2);
  const std::uint64_t wait[] = {7, 0}, guest_wait[] = {9, 1};
  std::uint64_t stake = 5;
  const LoadView load{.wait = wait,
                      .guest_wait = guest_wait,
                      .task_time = 100,
                      .create_time = 20,
                      .workers = 4,
                      .dealers = 1,
                      .stake = &stake};
  const std::string line = line_of({.creator = 0, .need = need, .load = load, .chosen = 1});
  EXPECT_NE(line.find(",\"wait\":[7,0],\"guest_wait\":[9,1],\"task_time\":100,\"create_time\":20,"
                      "\"workers\":4,\"dealers\":1,\"believes\":true,\"tries\":false,\"stake\":5,\"chosen\":1}"),
            std::string::npos)
      << line;
}

TEST(DecisionText, NoLocationIsNull) {
  const Need need(1);
  const std::string line =
      line_of({.creator = placement::kUnknown, .need = need, .load = {}, .chosen = kHere});
  EXPECT_NE(line.find("\"creator\":null"), std::string::npos) << line;
  EXPECT_NE(line.find("\"staffed\":[]"), std::string::npos) << line;
  EXPECT_NE(line.find("\"chosen\":null"), std::string::npos) << line;
}

TEST(DecisionText, TheLongestLineFitsAndNamesAreEscaped) {
  Need need(placement::kMaxLocations);
  for (Location i = 0; i < placement::kMaxLocations; ++i) need.read.at[i] = need.written.at[i] = UINT64_MAX;
  const LoadView load{
      .staffed = UINT64_MAX, .turn = UINT32_MAX, .wait = need.read.at, .guest_wait = need.read.at};
  const std::string name(3000, '"');
  const std::string line =
      line_of({.construct = name.c_str(), .creator = 63, .need = need, .load = load, .chosen = 63});
  EXPECT_LT(line.size(), kDecisionRoom);
  EXPECT_TRUE(line.ends_with(",\"chosen\":63}\n")) << line.size();
  EXPECT_NE(line.find("\\u0022"), std::string::npos);
}

TEST(DecisionText, TheHeadHasTheDistancesRowByRow) {
  const std::uint32_t distance[] = {10, 21, 22, 10};
  MachineView view;
  view.locations = 2;
  view.distance = distance;
  view.significance = Significance::paper;
  const auto out = std::make_unique<char[][kDecisionHeadRoom]>(1);
  EXPECT_EQ(
      std::string(out[0], decision_head({"/bin/a", "m", "locality", view}, out[0])),
      "{\"log\":\"decisions\",\"version\":1,\"program\":\"/bin/a\",\"machine\":\"m\",\"policy\":\"locality\","
      "\"significance\":\"paper\",\"distance\":[[10,21],[22,10]]}\n");
}

TEST(DecisionText, ALogThatIsFullCountsTheRestAndHasNoGaps) {
  DecisionBudget budget(100);
  EXPECT_TRUE(budget.admits(60));
  EXPECT_FALSE(budget.admits(50));
  EXPECT_FALSE(budget.admits(10)) << "after one that is missing none follows";
  const auto out = std::make_unique<char[][kDecisionRoom]>(1);
  EXPECT_EQ(std::string(out[0], budget.end_line(out[0])), "{\"decisions\":1,\"left_out\":2}\n");
}

}  // namespace
}  // namespace hearth::policy
