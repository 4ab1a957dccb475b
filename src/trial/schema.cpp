// See schema.h.
#include "trial/schema.h"

#include <cmath>

#include <algorithm>
#include <cassert>

#include <fmt/format.h>

#include "trial/parts.h"  // made by embed.py

namespace hearth::trial {
namespace {

constexpr std::string_view kKnown[] = {"$schema",   "$id",       "title",      "description", "type",
                                       "const",     "enum",      "properties", "required",    "additionalProperties",
                                       "items",     "anyOf",     "$ref",       "minimum",     "maximum",
                                       "minLength", "maxLength", "pattern",    "$defs"};
constexpr std::string_view kWord = "^[A-Za-z0-9._+ -]+$", kNoSlash = "^[^/]*$";

bool same(const Value& a, const Value& b) {
  return a.kind == b.kind && a.truth == b.truth && a.number == b.number && a.text == b.text && a.items.empty() &&
         b.items.empty();
}

bool is_type(const Value& value, std::string_view type) {
  switch (value.kind) {
    case Value::Kind::null: return type == "null";
    case Value::Kind::boolean: return type == "boolean";
    case Value::Kind::number:
      return type == "number" || (type == "integer" && value.number == std::floor(value.number));
    case Value::Kind::text: return type == "string";
    case Value::Kind::array: return type == "array";
    case Value::Kind::object: return type == "object";
  }
  return false;
}

std::string brief(const Value& value) {
  if (!value.items.empty()) return kind_name(value.kind);
  std::string text = value.dump();
  text.pop_back();
  if (text.size() > 60) text = text.substr(0, 57) + "...";
  return text;
}

std::string joined(const std::vector<Value>& values) {
  std::string out;
  for (const Value& value : values) out += (out.empty() ? "" : ", ") + brief(value);
  return out;
}

bool matches(const std::string& text, std::string_view pattern) {
  if (pattern == kNoSlash) return text.find('/') == std::string::npos;
  return std::all_of(text.begin(), text.end(), [](char letter) {
    return (letter >= '0' && letter <= '9') || (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
           std::string_view("._+ -").find(letter) != std::string_view::npos;
  });
}

class Check {
 public:
  explicit Check(const Value& root) : root_(root) {}
  std::string problem;

  bool value(const Value& value, const Value& schema, const std::string& path) {
    for (const std::string& key : schema.keys) {
      if (std::find(std::begin(kKnown), std::end(kKnown), key) == std::end(kKnown))
        return fail(value, path, fmt::format("the schema has the rule \"{}\"", key), "a rule that is known");
    }
    if (const Value& ref = schema.get("$ref"); ref.kind == Value::Kind::text) {
      const Value& target = root_.get("$defs").get(ref.text.substr(ref.text.rfind('/') + 1));
      if (target.kind != Value::Kind::object)
        return fail(value, path, "the schema refers to nothing", "a name in $defs");
      if (!this->value(value, target, path)) return false;
    }
    return plain(value, schema, path) && inner(value, schema, path);
  }

 private:
  bool fail(const Value& value, const std::string& path, const std::string& what, const std::string& legal) {
    problem = fmt::format("line {}, column {}: {}: {}; legal: {}", value.line, value.column,
                          path.empty() ? "the document" : path, what, legal);
    return false;
  }

  bool plain(const Value& value, const Value& schema, const std::string& path) {
    const Value& type = schema.get("type");
    if (type.kind == Value::Kind::text && !is_type(value, type.text))
      return fail(value, path, brief(value), "type " + type.text);
    if (type.kind == Value::Kind::array &&
        std::none_of(type.items.begin(), type.items.end(), [&](const Value& one) { return is_type(value, one.text); }))
      return fail(value, path, brief(value), "types " + joined(type.items));
    if (const Value& only = schema.get("const"); only.kind != Value::Kind::null && !same(value, only))
      return fail(value, path, brief(value), brief(only));
    if (const Value& words = schema.get("enum");
        words.kind == Value::Kind::array &&
        std::none_of(words.items.begin(), words.items.end(), [&](const Value& one) { return same(value, one); }))
      return fail(value, path, brief(value), joined(words.items));
    if (value.kind == Value::Kind::number) return in_range(value, schema, path);
    if (value.kind == Value::Kind::text) return text(value, schema, path);
    return true;
  }

  bool in_range(const Value& value, const Value& schema, const std::string& path) {
    const Value &least = schema.get("minimum"), &most = schema.get("maximum");
    if (least.kind == Value::Kind::number && value.number < least.number)
      return fail(value, path, brief(value), "from " + brief(least));
    if (most.kind == Value::Kind::number && value.number > most.number)
      return fail(value, path, brief(value), "up to " + brief(most));
    return true;
  }

  bool text(const Value& value, const Value& schema, const std::string& path) {
    const Value &least = schema.get("minLength"), &most = schema.get("maxLength"), &pattern = schema.get("pattern");
    const auto length = static_cast<double>(std::count_if(value.text.begin(), value.text.end(), [](char letter) {
      return (static_cast<unsigned char>(letter) & 0xc0) != 0x80;
    }));
    if (least.kind == Value::Kind::number && length < least.number)
      return fail(value, path, brief(value), "a text that is not empty");
    if (most.kind == Value::Kind::number && length > most.number)
      return fail(value, path, brief(value), brief(most) + " letters at most");
    if (pattern.kind != Value::Kind::text) return true;
    if (pattern.text != kWord && pattern.text != kNoSlash)
      return fail(value, path, "the schema has an unknown pattern", "one that is known");
    if (!matches(value.text, pattern.text))
      return fail(value, path, brief(value),
                  pattern.text == kWord ? "letters of ASCII, digits, and . _ + - and blanks"
                                        : "a text without /, so without any path");
    return true;
  }

  bool inner(const Value& value, const Value& schema, const std::string& path) {
    if (const Value& any = schema.get("anyOf"); any.kind == Value::Kind::array) {
      if (std::none_of(any.items.begin(), any.items.end(),
                       [&](const Value& one) { return this->value(value, one, path); }))
        return false;
      problem.clear();
    }
    if (value.kind == Value::Kind::array && schema.get("items").kind == Value::Kind::object) {
      for (std::size_t i = 0; i < value.items.size(); ++i) {
        if (!this->value(value.items[i], schema.get("items"), fmt::format("{}[{}]", path, i))) return false;
      }
    }
    return value.kind != Value::Kind::object || members(value, schema, path);
  }

  bool members(const Value& value, const Value& schema, const std::string& path) {
    const Value &properties = schema.get("properties"), &closed = schema.get("additionalProperties");
    for (std::size_t i = 0; i < value.keys.size(); ++i) {
      const Value& rule = properties.get(value.keys[i]);
      const std::string inside = path.empty() ? value.keys[i] : path + "." + value.keys[i];
      if (rule.kind == Value::Kind::object) {
        if (!this->value(value.items[i], rule, inside)) return false;
      } else if (closed.kind == Value::Kind::boolean && !closed.truth) {
        return fail(value.items[i], inside, "there is no such member",
                    fmt::format("{}", fmt::join(properties.keys, ", ")));
      }
    }
    for (const Value& name : schema.get("required").items) {
      if (std::find(value.keys.begin(), value.keys.end(), name.text) == value.keys.end())
        return fail(value, path, fmt::format("\"{}\" is missing", name.text), "an object that has it");
    }
    return true;
  }

  const Value& root_;
};

}  // namespace

std::string against_schema(const Value& value, const Value& schema) {
  Check check(schema);
  check.value(value, schema, "");
  return check.problem;
}

const Value& bench_schema() {
  static const ReadValue read = read_value(kSchema);
  assert(read.ok());
  return read.value;
}

}  // namespace hearth::trial
