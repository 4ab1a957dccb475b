// See value.h.
#include "trial/value.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

namespace hearth::trial {
namespace {

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  ReadValue read() {
    ReadValue out;
    out.value = value(0);
    blanks();
    if (problem_.empty() && at_ != text_.size()) fail("the end of the file");
    out.problem = problem_;
    if (!out.ok()) out.value = Value();
    return out;
  }

 private:
  void fail(std::string_view legal) {
    if (!problem_.empty()) return;
    const auto [line, column] = place(at_);
    std::string found = "the end";
    if (at_ < text_.size()) {
      const unsigned char letter = static_cast<unsigned char>(text_[at_]);
      found = letter > 0x20 && letter < 0x7f ? fmt::format("'{}'", text_[at_]) : fmt::format("byte {:#04x}", letter);
    }
    problem_ = fmt::format("line {}, column {}: {} is no JSON here; legal: {}", line, column, found, legal);
  }
  std::pair<int, int> place(std::size_t at) {
    for (; seen_ < at; ++seen_) {
      if (text_[seen_] != '\n') continue;
      ++line_;
      begin_of_line_ = seen_ + 1;
    }
    return {line_, static_cast<int>(at - begin_of_line_) + 1};
  }
  void blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r'))
      ++at_;
  }
  bool take(char letter) {
    if (at_ >= text_.size() || text_[at_] != letter) return false;
    ++at_;
    return true;
  }
  bool word(std::string_view expected) {
    if (text_.substr(at_, expected.size()) != expected) return false;
    at_ += expected.size();
    return true;
  }

  Value value(int depth) {
    blanks();
    const auto [line, column] = place(at_);
    Value out;
    if (depth > Value::kMostDepth)
      fail(fmt::format("at most {} values inside each other", Value::kMostDepth));
    else if (take('{'))
      object(out, depth);
    else if (take('['))
      array(out, depth);
    else if (at_ < text_.size() && text_[at_] == '"')
      out = Value(text());
    else if (word("true"))
      out = Value(true);
    else if (word("false"))
      out = Value(false);
    else if (!word("null"))
      out = number();
    out.line = line;
    out.column = column;
    return out;
  }

  void object(Value& out, int depth) {
    out = Value::object();
    blanks();
    if (take('}')) return;
    do {
      blanks();
      const std::size_t begin = at_;
      if (at_ >= text_.size() || text_[at_] != '"') return fail("a key in quotes, or }");
      std::string key = text();
      if (std::find(out.keys.begin(), out.keys.end(), key) != out.keys.end()) {
        at_ = begin;
        return fail("a key that was not there yet");
      }
      blanks();
      if (!take(':')) return fail(":");
      out.keys.push_back(std::move(key));
      out.items.push_back(value(depth + 1));
      blanks();
    } while (problem_.empty() && take(','));
    if (!take('}')) fail(", or }");
  }

  void array(Value& out, int depth) {
    out = Value::array();
    blanks();
    if (take(']')) return;
    do {
      out.items.push_back(value(depth + 1));
      blanks();
    } while (problem_.empty() && take(','));
    if (!take(']')) fail(", or ]");
  }

  std::string text() {
    std::string out;
    ++at_;
    while (at_ < text_.size() && text_[at_] != '"') {
      if (static_cast<unsigned char>(text_[at_]) < 0x20) return fail("letters, and \\n for a line's end"), out;
      if (text_[at_] == '\\') {
        ++at_;
        escape(out);
        if (!problem_.empty()) return out;
      } else {
        out += text_[at_++];
      }
    }
    if (!take('"')) fail("\"");
    return out;
  }

  void escape(std::string& out) {
    static constexpr std::string_view kLetters = "\"\\/bfnrt", kMeant = "\"\\/\b\f\n\r\t";
    const std::size_t which = at_ < text_.size() ? kLetters.find(text_[at_]) : std::string_view::npos;
    if (which != std::string_view::npos) {
      out += kMeant[which];
      ++at_;
    } else if (take('u')) {
      unsigned code = hexadecimal();
      if (code >= 0xd800 && code < 0xdc00 && word("\\u")) {
        const unsigned low = hexadecimal();
        code = low >= 0xdc00 && low < 0xe000 ? 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00) : 0xfffd;
      }
      if (code >= 0xd800 && code < 0xe000) code = 0xfffd;
      append_utf8(out, code);
    } else {
      fail("one of \" \\ / b f n r t u behind a backslash");
    }
  }

  unsigned hexadecimal() {
    unsigned code = 0;
    const std::string_view digits = text_.substr(at_, 4);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
    if (digits.size() != 4 || error != std::errc() || end != digits.data() + 4)
      return fail("four hexadecimal digits"), 0xfffd;
    at_ += 4;
    return code;
  }

  static void append_utf8(std::string& out, unsigned code) {
    const auto put = [&out](unsigned byte) { out += static_cast<char>(byte); };
    if (code < 0x80) return put(code);
    if (code < 0x800) {
      put(0xc0 | code >> 6);
    } else {
      if (code < 0x10000) {
        put(0xe0 | code >> 12);
      } else {
        put(0xf0 | code >> 18);
        put(0x80 | (code >> 12 & 0x3f));
      }
      put(0x80 | (code >> 6 & 0x3f));
    }
    put(0x80 | (code & 0x3f));
  }

  Value number() {
    std::size_t end = at_;
    const auto digits = [&] {
      const std::size_t begin = end;
      while (end < text_.size() && text_[end] >= '0' && text_[end] <= '9') ++end;
      return end - begin;
    };
    if (end < text_.size() && text_[end] == '-') ++end;
    const bool zero = end < text_.size() && text_[end] == '0';
    const std::size_t whole = digits();
    bool good = whole > 0 && !(zero && whole > 1);
    if (good && end < text_.size() && text_[end] == '.') {
      ++end;
      good = digits() > 0;
    }
    if (good && end < text_.size() && (text_[end] == 'e' || text_[end] == 'E')) {
      ++end;
      if (end < text_.size() && (text_[end] == '+' || text_[end] == '-')) ++end;
      good = digits() > 0;
    }
    double number = 0;
    if (good)
      good = std::from_chars(text_.data() + at_, text_.data() + end, number).ec == std::errc() && std::isfinite(number);
    if (!good) return fail("a value: {, [, a text in quotes, a number, true, false or null"), Value();
    at_ = end;
    return Value(number);
  }

  std::string_view text_;
  std::size_t at_ = 0, seen_ = 0, begin_of_line_ = 0;
  int line_ = 1;
  std::string problem_;
};

}  // namespace

const char* kind_name(Value::Kind kind) {
  static constexpr const char* kNames[] = {"null", "a truth value", "a number", "a text", "an array", "an object"};
  return kNames[static_cast<int>(kind)];
}

Value Value::of(Kind kind) {
  Value out;
  out.kind = kind;
  return out;
}

Value& Value::add(std::string_view key, Value value) {
  keys.emplace_back(key);
  items.push_back(std::move(value));
  return *this;
}

const Value& Value::get(std::string_view key) const {
  static const Value none;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (keys[i] == key) return items[i];
  }
  return none;
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char letter : text) {
    if (letter == '"' || letter == '\\') {
      out += '\\';
      out += letter;
    } else if (static_cast<unsigned char>(letter) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(letter));
    } else {
      out += letter;
    }
  }
  out += '"';
  return out;
}

// Arrays of plain values stand on one line.
void Value::write(std::string& out, int depth) const {
  switch (kind) {
    case Kind::null: out += "null"; return;
    case Kind::boolean: out += truth ? "true" : "false"; return;
    case Kind::number: out += std::isfinite(number) ? fmt::format("{:.7g}", number) : "null"; return;
    case Kind::text: out += quoted(text); return;
    case Kind::array:
    case Kind::object: break;
  }
  const bool object = kind == Kind::object;
  const bool flat = std::all_of(items.begin(), items.end(), [](const Value& item) { return item.kind < Kind::array; });
  const bool one_line = flat && !object;
  const std::string gap = one_line ? std::string(" ") : "\n" + std::string(static_cast<std::size_t>(depth) + 1, ' ');
  out += object ? '{' : '[';
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i > 0) out += ',';
    if (i > 0 || !one_line) out += gap;
    if (object) {
      out += quoted(keys[i]);
      out += ": ";
    }
    items[i].write(out, depth + 1);
  }
  if (!one_line && !items.empty()) {
    out += '\n';
    out.append(static_cast<std::size_t>(depth), ' ');
  }
  out += object ? '}' : ']';
}

std::string Value::dump() const {
  std::string out;
  write(out, 0);
  out += '\n';
  return out;
}

ReadValue read_value(std::string_view text) { return Reader(text).read(); }

}  // namespace hearth::trial
