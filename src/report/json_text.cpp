// See json_text.h.
#include "report/json_text.h"

#include <cmath>

#include <fmt/format.h>

namespace hearth::report {
namespace {

/// How many bytes a letter has that begins here; 0: this is no UTF-8.
std::size_t letter_length(std::string_view text) {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = at(0);
  if (lead < 0x80) return 1;
  const std::size_t length = lead >= 0xC2 && lead <= 0xDF   ? 2
                             : lead >= 0xE0 && lead <= 0xEF ? 3
                             : lead >= 0xF0 && lead <= 0xF4 ? 4
                                                            : 0;
  if (length == 0 || length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((at(i) & 0xC0) != 0x80) return 0;
  const unsigned char next = at(1);
  const bool overlong = (lead == 0xE0 && next < 0xA0) || (lead == 0xF0 && next < 0x90);
  const bool no_letter = (lead == 0xED && next > 0x9F) || (lead == 0xF4 && next > 0x8F);
  return overlong || no_letter ? 0 : length;
}

}  // namespace

void JsonText::separate() {
  if (!first_) text_ += ',';
  first_ = false;
}

JsonText& JsonText::open(char bracket) {
  separate();
  text_ += bracket;
  first_ = true;
  return *this;
}

JsonText& JsonText::close(char bracket) {
  text_ += bracket;
  first_ = false;
  return *this;
}

JsonText& JsonText::raw(std::string_view text) {
  separate();
  text_ += text;
  return *this;
}

JsonText& JsonText::key(std::string_view name) {
  separate();
  quote(name);
  text_ += ':';
  first_ = true;
  return *this;
}

JsonText& JsonText::value(std::string_view text) {
  separate();
  quote(text);
  return *this;
}

JsonText& JsonText::value(bool truth) { return raw(truth ? "true" : "false"); }

JsonText& JsonText::value(double number) {
  // JSON has no other numbers than finite ones.
  return std::isfinite(number) ? raw(fmt::format("{:.12g}", number)) : null();
}

void JsonText::quote(std::string_view text) {
  text_ += '"';
  while (!text.empty()) {
    const std::size_t length = letter_length(text);
    const char letter = text.front();
    if (length == 0)
      text_ += "\\ufffd";
    else if (letter == '"' || letter == '\\')
      (text_ += '\\') += letter;
    else if (static_cast<unsigned char>(letter) < 0x20 || letter == '<' || letter == '>' || letter == '&' ||
             letter == 0x7F)
      text_ += fmt::format("\\u{:04x}", static_cast<unsigned char>(letter));
    else
      text_ += text.substr(0, length);
    text.remove_prefix(length == 0 ? 1 : length);
  }
  text_ += '"';
}

}  // namespace hearth::report
