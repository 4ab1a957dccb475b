// What base/parse.h promises.
#include "base/parse.h"

#include <gtest/gtest.h>

namespace hearth {
namespace {

TEST(ParseInteger, AcceptsWhiteSpaceSignsAndHexadecimal) {
  EXPECT_EQ(parse_integer(" 12\t", 0, 100).value, 12);
  EXPECT_EQ(parse_integer("+7", 0, 100).value, 7);
  EXPECT_EQ(parse_integer("-7", -10, 100).value, -7);
  EXPECT_EQ(parse_integer("0x1F", 0, 100).value, 31);
  EXPECT_EQ(parse_integer("007", 0, 100).value, 7);
}

TEST(ParseInteger, ReachesBothEndsOf64Bits) {
  EXPECT_EQ(parse_integer("9223372036854775807", INT64_MIN, INT64_MAX).value, INT64_MAX);
  EXPECT_EQ(parse_integer("-9223372036854775808", INT64_MIN, INT64_MAX).value, INT64_MIN);
  EXPECT_EQ(parse_integer("9223372036854775808", INT64_MIN, INT64_MAX).failure, ParseFailure::out_of_range);
  EXPECT_EQ(parse_integer("99999999999999999999999", INT64_MIN, INT64_MAX).failure,
            ParseFailure::out_of_range);
}

TEST(ParseInteger, SaysWhatIsWrongAndWhere) {
  EXPECT_EQ(parse_integer("", 0, 9).failure, ParseFailure::empty);
  EXPECT_EQ(parse_integer("  ", 0, 9).failure, ParseFailure::empty);
  EXPECT_EQ(parse_integer("x", 0, 9).failure, ParseFailure::not_a_number);
  EXPECT_EQ(parse_integer("-", 0, 9).failure, ParseFailure::not_a_number);
  EXPECT_EQ(parse_integer("0x", 0, 9).failure, ParseFailure::trailing);
  EXPECT_EQ(parse_integer(" 10", 0, 9).failure, ParseFailure::out_of_range);
  const auto trailing = parse_integer(" 4 cores", 0, 9);
  EXPECT_EQ(trailing.failure, ParseFailure::trailing);
  EXPECT_EQ(trailing.column(), 4u);
}

TEST(ParseSize, CountsInTheUnitOfTheVariableUnlessOneIsGiven) {
  EXPECT_EQ(parse_size("4", 1024).value, 4096u);
  EXPECT_EQ(parse_size("4B", 1024).value, 4u);
  EXPECT_EQ(parse_size("4 k", 1).value, 4096u);
  EXPECT_EQ(parse_size("2M", 1).value, 2u << 20);
  EXPECT_EQ(parse_size("1g", 1).value, 1u << 30);
  EXPECT_EQ(parse_size(" 1 GiB ", 1).value, 1u << 30);
  EXPECT_EQ(parse_size("1kb", 7).value, 1024u);
}

TEST(ParseSize, RefusesOverflowAndUnknownUnits) {
  EXPECT_EQ(parse_size("16777216T", 1).failure, ParseFailure::out_of_range);
  EXPECT_EQ(parse_size("18446744073709551616B", 1).failure, ParseFailure::out_of_range);
  EXPECT_EQ(parse_size("4x", 1).failure, ParseFailure::bad_unit);
  EXPECT_EQ(parse_size("4x", 1).column(), 2u);
  EXPECT_EQ(parse_size("ki", 1).failure, ParseFailure::not_a_number);
  EXPECT_EQ(parse_size("4ki", 1).failure, ParseFailure::bad_unit);
  EXPECT_EQ(parse_size("-4", 1).failure, ParseFailure::not_a_number);
  EXPECT_EQ(parse_size("4M M", 1).failure, ParseFailure::trailing);
}

TEST(ParseBoolean, KnowsTheWordsOfAllRuntimes) {
  for (const char* word : {"true", "TRUE", " yes ", "on", "1", "enabled", "t", "y", ".true."}) {
    EXPECT_TRUE(parse_boolean(word)) << word;
    EXPECT_TRUE(parse_boolean(word).value) << word;
  }
  for (const char* word : {"false", "No", "OFF", "0", "disabled", "f", "n", ".F."}) {
    EXPECT_TRUE(parse_boolean(word)) << word;
    EXPECT_FALSE(parse_boolean(word).value) << word;
  }
  EXPECT_EQ(parse_boolean("2").failure, ParseFailure::unknown_word);
  EXPECT_EQ(parse_boolean("truely").failure, ParseFailure::unknown_word);
  EXPECT_EQ(parse_boolean("").failure, ParseFailure::empty);
}

TEST(ParseDuration, TakesUnitsAndFractions) {
  EXPECT_EQ(parse_duration("200", 1'000'000).value, 200'000'000);
  EXPECT_EQ(parse_duration("1.5ms", 1).value, 1'500'000);
  EXPECT_EQ(parse_duration("3 us", 1).value, 3'000);
  EXPECT_EQ(parse_duration("2m", 1).value, 120'000'000'000);
  EXPECT_EQ(parse_duration("0.0000000001s", 1).value, 0);
  EXPECT_EQ(parse_duration("infinite", 1).value, INT64_MAX);
  EXPECT_EQ(parse_duration("INF", 1).value, INT64_MAX);
  EXPECT_EQ(parse_duration("1.", 1).failure, ParseFailure::not_a_number);
  EXPECT_EQ(parse_duration("5 years", 1).failure, ParseFailure::bad_unit);
  EXPECT_EQ(parse_duration("99999999999999s", 1).failure, ParseFailure::out_of_range);
  EXPECT_EQ(parse_duration("infinitely", 1).failure, ParseFailure::not_a_number);
}

TEST(ListReader, GivesTrimmedItemsWithTheirPlaces) {
  ListReader list(" a ,,b");
  std::string_view item;
  ASSERT_TRUE(list.next(item));
  EXPECT_EQ(item, "a");
  EXPECT_EQ(list.offset(), 1u);
  ASSERT_TRUE(list.next(item));
  EXPECT_EQ(item, "");
  EXPECT_EQ(list.offset(), 4u);
  ASSERT_TRUE(list.next(item));
  EXPECT_EQ(item, "b");
  EXPECT_EQ(list.offset(), 5u);
  EXPECT_FALSE(list.next(item));
}

TEST(ParseIntegerList, PointsAtTheItemThatIsWrong) {
  std::int64_t values[3] = {};
  EXPECT_EQ(parse_integer_list("4, 3,2", 1, 9, values, 3).value, 3u);
  EXPECT_EQ(values[1], 3);
  const auto bad = parse_integer_list("4, x", 1, 9, values, 3);
  EXPECT_EQ(bad.failure, ParseFailure::not_a_number);
  EXPECT_EQ(bad.column(), 4u);
  EXPECT_EQ(parse_integer_list("4,", 1, 9, values, 3).failure, ParseFailure::empty);
  EXPECT_EQ(parse_integer_list("1,2,3,4", 1, 9, values, 3).failure, ParseFailure::out_of_range);
}

}  // namespace
}  // namespace hearth
