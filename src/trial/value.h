// A JSON document as values that know where they stand in their text, so that what is wrong with one can be said with its place.
//
// Read strictly: RFC 8259, no key twice, at most kMostDepth deep. Written with an indent. Nothing here throws but bad_alloc.
#pragma once

#include <concepts>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hearth::trial {

class Value {
 public:
  enum class Kind { null, boolean, number, text, array, object };
  static constexpr int kMostDepth = 40;

  Value() = default;
  Value(bool from) : kind(Kind::boolean), truth(from) {}
  template <std::floating_point T>
  Value(T from) : kind(Kind::number), number(static_cast<double>(from)) {}
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  Value(T from) : kind(Kind::number), number(static_cast<double>(from)) {}
  Value(std::string from) : kind(Kind::text), text(std::move(from)) {}
  Value(std::string_view from) : kind(Kind::text), text(from) {}
  Value(const char* from) : kind(Kind::text), text(from) {}

  static Value array() { return of(Kind::array); }
  static Value object() { return of(Kind::object); }
  template <class T>
  static Value array_of(const std::vector<T>& all) {
    Value out = array();
    for (const T& one : all) out.items.emplace_back(one);
    return out;
  }

  /// Adds a member.
  Value& add(std::string_view key, Value value);
  /// A member, or a null value.
  const Value& get(std::string_view key) const;
  std::string dump() const;

  Kind kind = Kind::null;
  bool truth = false;
  double number = 0;
  std::string text;
  std::vector<std::string> keys;  // of an object's items
  std::vector<Value> items;       // of an array or an object
  int line = 0, column = 0;       // where it begins, from 1; 0: not read from a text

 private:
  static Value of(Kind kind);
  void write(std::string& out, int depth) const;
};
const char* kind_name(Value::Kind kind);

struct ReadValue {
  Value value;
  std::string problem;  // "line 3, column 7: ..."; empty: it was read
  bool ok() const { return problem.empty(); }
};
ReadValue read_value(std::string_view text);

/// A text in quotes, as JSON has it.
std::string quoted(std::string_view text);

}  // namespace hearth::trial
