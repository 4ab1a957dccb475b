// JSON as hearth bench reads it: strictly, and with the place of what is wrong.
#include <gtest/gtest.h>

#include "trial/schema.h"
#include "trial/value.h"

using namespace hearth::trial;

namespace {

std::string problem(const char* text) { return read_value(text).problem; }

std::string against(const char* value, const char* schema) {
  const ReadValue read = read_value(value), rules = read_value(schema);
  EXPECT_TRUE(read.ok() && rules.ok()) << read.problem << rules.problem;
  return against_schema(read.value, rules.value);
}

}  // namespace

TEST(TrialValue, WhatIsWrittenIsReadAgain) {
  Value value = Value::object();
  value.add("text", "a \"b\" \\ \n ü")
      .add("numbers", Value::array_of(std::vector<double>{1, 2.5, -3e-9}))
      .add("none", Value())
      .add("truth", true);
  const ReadValue read = read_value(value.dump());
  ASSERT_TRUE(read.ok()) << read.problem;
  EXPECT_EQ(read.value.get("text").text, "a \"b\" \\ \n ü");
  EXPECT_EQ(read.value.get("numbers").items[2].number, -3e-9);
  EXPECT_EQ(read.value.get("none").kind, Value::Kind::null);
  EXPECT_EQ(read.value.dump(), value.dump());
}

TEST(TrialValue, EscapesAreLetters) {
  const ReadValue read = read_value(R"("\u00fc \ud83d\ude00 \ud800 \/ \t")");
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read.value.text, "ü 😀 \xef\xbf\xbd / \t");
}

TEST(TrialValue, WhatIsNoJsonIsSaidWithItsPlace) {
  EXPECT_EQ(problem("{\n \"a\": 1,\n \"a\": 2}"),
            "line 3, column 2: '\"' is no JSON here; legal: a key that was not there yet");
  EXPECT_EQ(problem("[1, 2"), "line 1, column 6: the end is no JSON here; legal: , or ]");
  EXPECT_NE(problem("[01]"), "");
  EXPECT_NE(problem("[1.]"), "");
  EXPECT_NE(problem("[1e999]"), "");
  EXPECT_NE(problem("[nan]"), "");
  EXPECT_NE(problem("{} x"), "");
  EXPECT_NE(problem("\"a\nb\""), "");
  EXPECT_NE(problem(""), "");
  EXPECT_NE(problem(std::string(100, '[').c_str()).find("at most 40"), std::string::npos);
}

TEST(TrialSchema, SaysPlaceAndLegalValues) {
  const char* schema = R"({"type": "object", "additionalProperties": false, "required": ["a"],
    "properties": {"a": {"enum": ["x", "y"]}, "n": {"type": "integer", "minimum": 1, "maximum": 5}, "w": {"$ref": "#/$defs/word"}},
    "$defs": {"word": {"type": "string", "minLength": 1, "maxLength": 4, "pattern": "^[A-Za-z0-9._+ -]+$"}}})";
  EXPECT_EQ(against(R"({"a": "x", "n": 5, "w": "b c"})", schema), "");
  EXPECT_EQ(against("{\n\"a\": \"z\"}", schema), "line 2, column 6: a: \"z\"; legal: \"x\", \"y\"");
  EXPECT_EQ(against("{}", schema), "line 1, column 1: the document: \"a\" is missing; legal: an object that has it");
  EXPECT_NE(against(R"({"a": "x", "n": 6})", schema).find("legal: up to 5"), std::string::npos);
  EXPECT_NE(against(R"({"a": "x", "n": 1.5})", schema).find("type integer"), std::string::npos);
  EXPECT_NE(against(R"({"a": "x", "b": 1})", schema).find("b: there is no such member; legal: a, n, w"),
            std::string::npos);
  EXPECT_NE(against(R"({"a": "x", "w": "/etc"})", schema).find("letters"), std::string::npos);
  EXPECT_NE(against(R"({"a": "x", "w": "abcde"})", schema).find("4 letters at most"), std::string::npos);
}

TEST(TrialSchema, ARuleThatIsNotKnownIsNotPassedOver) {
  EXPECT_NE(against("1", R"({"multipleOf": 2})").find("multipleOf"), std::string::npos);
}
