// A JSON value, to build a document or to read one: copied and moved like a std::string.
//
// How JSON writes numbers and letters, and what of a text is JSON, a library knows. json.cpp alone includes it: it takes
// seconds to compile. Nothing here throws. One thread at a time.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace hearth::cli {

class Json {
 public:
  enum class Kind { null, boolean, integer, natural, real, text, array, object };
  struct Member;

  /// null
  Json();
  Json(const Json& other);
  Json(Json&& other) noexcept;
  Json& operator=(const Json& other);
  Json& operator=(Json&& other) noexcept;
  ~Json();

  Json(bool value);
  template <std::integral T>
  Json(T value) {
    if constexpr (std::is_signed_v<T>)
      set_integer(value);
    else
      set_natural(value);
  }
  template <std::floating_point T>
  Json(T value) {
    set_real(static_cast<double>(value));
  }
  Json(const char* text);
  Json(std::string_view text);
  Json(const std::string& text);
  /// An object: {{"name", name}, {"bytes", bytes}}.
  Json(std::initializer_list<Member> members);

  static Json array();
  template <class Values>
  static Json array(const Values& values) {
    Json all = array();
    for (const auto& value : values) all.push_back(value);
    return all;
  }
  void push_back(Json element);
  /// The member of an object; a new one, null, stands behind the others. null becomes an object.
  Json& operator[](std::string_view key);

  /// A line, or with `indent` > 0 a line for each value. Bytes that are no UTF-8 are shown as U+FFFD.
  std::string dump(int indent) const;

  /// null where `text` is no JSON.
  static Json parse(std::string_view text);
  // What there is to read; another value than this one asks for counts as if it were missing.
  bool is_object() const { return kind_ == Kind::object; }
  bool contains(std::string_view key) const;
  /// A member, or null.
  const Json& get(std::string_view key) const;
  /// An element, or null.
  const Json& at(std::size_t index) const;
  /// The elements of an array.
  const std::vector<Json>& elements() const;
  /// A number without sign and fraction, or 0.
  std::uint64_t natural() const;
  const std::string& text() const { return text_; }

 private:
  friend struct JsonLibrary;

  void set_integer(std::int64_t value);
  void set_natural(std::uint64_t value);
  void set_real(double value);

  Kind kind_ = Kind::null;
  union {
    bool boolean_;
    std::int64_t integer_;
    std::uint64_t natural_ = 0;
    double real_;
  };
  std::string text_;
  std::vector<std::string> keys_;  // of an object's values, in their order
  std::vector<Json> values_;       // of an array or an object
};

struct Json::Member {
  std::string_view key;
  Json value;
};

/// A text as JSON has it, in quotes and in ASCII.
std::string json_quoted(std::string_view text);

}  // namespace hearth::cli
