// Writes JSON that can stand inside a page: names come from programs, so '<' is written as \u003c and no text can end the
// element that it is in, and bytes that are no UTF-8 become U+FFFD. One writer makes one text; nothing here throws but
// bad_alloc.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hearth::report {

class JsonText {
 public:
  JsonText& open_object() { return open('{'); }
  JsonText& open_array() { return open('['); }
  JsonText& close_object() { return close('}'); }
  JsonText& close_array() { return close(']'); }
  /// Of the next value.
  JsonText& key(std::string_view name);
  JsonText& value(std::string_view text);
  JsonText& value(const char* text) { return value(std::string_view(text)); }
  JsonText& value(const std::string& text) { return value(std::string_view(text)); }
  JsonText& value(bool truth);
  JsonText& value(double number);
  template <std::integral T>
  JsonText& value(T number) {
    return raw(std::to_string(number));
  }
  JsonText& null() { return raw("null"); }
  template <class T>
  JsonText& member(std::string_view name, const T& of) {
    return key(name).value(of);
  }
  /// An array.
  template <class T>
  JsonText& values(std::string_view name, const std::vector<T>& all) {
    key(name).open_array();
    for (const auto& one : all) value(one);
    return close_array();
  }
  const std::string& text() const { return text_; }

 private:
  JsonText& open(char bracket);
  JsonText& close(char bracket);
  JsonText& raw(std::string_view text);
  void separate();
  void quote(std::string_view text);

  std::string text_;
  bool first_ = true;  // in its object or array, or behind its key
};

}  // namespace hearth::report
