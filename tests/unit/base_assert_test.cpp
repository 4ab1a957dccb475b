// Assertions: what a failure says, and that those above the build's level are not evaluated.
#undef HEARTH_ASSERT_LEVEL
#define HEARTH_ASSERT_LEVEL 2
#include "base/assert.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

namespace hearth {
namespace {

TEST(Assert, EachLevelIncludesThoseBelow) {
  int evaluated = 0;
  HEARTH_ASSERT(++evaluated == 1, "%d", evaluated);
  HEARTH_ASSERT_INVARIANT(++evaluated == 2, "%d", evaluated);
  HEARTH_ASSERT_STRUCTURE(++evaluated == 0, "%d", evaluated);
  EXPECT_EQ(evaluated, 2) << "level 3 is above this file's";
}

TEST(AssertDeathTest, AFailureNamesThePlaceTheThreadTheConditionAndTheValues) {
  const int size = 3;
  EXPECT_DEATH(HEARTH_ASSERT(size < 3, "size is %d, the most is %d", size, 2),
               "hearth: assertion failed at tests/unit/base_assert_test.cpp:[0-9]+, thread [0-9]+: "
               "size < 3: size is 3, the most is 2\n");
}

TEST(AssertDeathTest, AMessageThatIsTooLongIsCutAndStillALine) {
  const std::string text(10000, 'x');
  EXPECT_DEATH(HEARTH_ASSERT(text.empty(), "%s", text.c_str()), "xxxx\n");
}

TEST(AssertDeathTest, WhoeverKnowsMoreOfTheThreadSaysIt) {
  const auto describe = [](char* text, std::size_t room) {
    constexpr char kText[] = " (member 2 of 8)";
    if (room < sizeof(kText)) return std::size_t{0};
    std::memcpy(text, kText, sizeof(kText) - 1);
    return sizeof(kText) - 1;
  };
  EXPECT_DEATH(
      {
        describe_threads_with(describe);
        HEARTH_ASSERT(false, "no value");
      },
      "thread [0-9]+ \\(member 2 of 8\\): false: no value");
}

}  // namespace
}  // namespace hearth
