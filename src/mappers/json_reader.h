// JSON with the line of each value, which the library that the command reads JSON with does not tell: messages about
// a graph name the line. Reads only; nothing throws.
#pragma once

#include <cstddef>
#include <cstdint>

#include <string>
#include <string_view>
#include <vector>

namespace hearth::mappers {

struct JsonValue {
  enum class Kind : std::uint8_t { null, boolean, number, text, array, object };
  Kind kind = Kind::null;
  std::size_t line = 1;
  std::string text;                 // of a text; a number's letters
  std::vector<JsonValue> elements;  // of an array; an object's values
  std::vector<std::string> names;   // of an object's values

  bool is(Kind other) const { return kind == other; }
  /// Of an object; null: it has none of that name.
  const JsonValue* member(std::string_view name) const;
};

/// Empty, or what is wrong; `line` then says where.
std::string read_json(std::string_view text, JsonValue& out, std::size_t& line);

}  // namespace hearth::mappers
