// See json_reader.h.
#include "mappers/json_reader.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "mappers/graph_text.h"

namespace hearth::mappers {
namespace {

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  std::string whole(JsonValue& out, std::size_t& line) {
    std::string problem = value(out, 0);
    if (problem.empty()) {
      skip();
      if (at_ < text_.size()) problem = "legal here: nothing, the value has ended";
    }
    line = line_;
    return problem;
  }

 private:
  static constexpr int kDeepest = 100;

  void skip() {
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '\n') ++line_;
      if (c != ' ' && c != '\t' && c != '\r' && c != '\n') return;
    }
  }
  bool take(char c) {
    skip();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  std::string expected(const char* what) {
    skip();
    const std::string found = at_ < text_.size() ? quoted(text_.substr(at_, 1)) : "the file's end";
    return found + " is not legal here; legal: " + what;
  }

  std::string value(JsonValue& out, int depth) {
    skip();
    out.line = line_;
    if (depth > kDeepest) return "more than 100 values inside each other";
    if (at_ >= text_.size()) return expected("a value");
    const char c = text_[at_];
    if (c == '{') return object(out, depth);
    if (c == '[') return array(out, depth);
    if (c == '"') {
      out.kind = JsonValue::Kind::text;
      return string(out.text);
    }
    for (const auto& [word, kind] : {std::pair<std::string_view, JsonValue::Kind>{"null", JsonValue::Kind::null},
                                     {"true", JsonValue::Kind::boolean},
                                     {"false", JsonValue::Kind::boolean}}) {
      if (text_.substr(at_, word.size()) != word) continue;
      out.kind = kind;
      out.text = word;
      at_ += word.size();
      return {};
    }
    return number(out);
  }

  std::string object(JsonValue& out, int depth) {
    out.kind = JsonValue::Kind::object;
    ++at_;
    if (take('}')) return {};
    do {
      skip();
      if (at_ >= text_.size() || text_[at_] != '"') return expected("a name in quotes");
      if (std::string problem = string(out.names.emplace_back()); !problem.empty()) return problem;
      if (!take(':')) return expected("\":\"");
      if (std::string problem = value(out.elements.emplace_back(), depth + 1); !problem.empty()) return problem;
    } while (take(','));
    return take('}') ? "" : expected("\",\" or \"}\"");
  }

  std::string array(JsonValue& out, int depth) {
    out.kind = JsonValue::Kind::array;
    ++at_;
    if (take(']')) return {};
    do {
      if (std::string problem = value(out.elements.emplace_back(), depth + 1); !problem.empty()) return problem;
    } while (take(','));
    return take(']') ? "" : expected("\",\" or \"]\"");
  }

  std::string number(JsonValue& out) {
    const std::size_t begin = at_;
    while (at_ < text_.size() && std::string_view("+-.0123456789eE").find(text_[at_]) != std::string_view::npos) ++at_;
    if (at_ == begin) return expected("a value");
    out.kind = JsonValue::Kind::number;
    out.text = text_.substr(begin, at_ - begin);
    return {};
  }

  std::string string(std::string& out) {
    for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (text_[at_] == '\n') return "a text has no end in its line";
      if (text_[at_] != '\\') {
        out += text_[at_];
        continue;
      }
      if (++at_ >= text_.size()) break;
      if (text_[at_] != 'u') {
        constexpr std::string_view kNames = "\"\\/bfnrt", kMeant = "\"\\/\b\f\n\r\t";
        const std::size_t which = kNames.find(text_[at_]);
        if (which == std::string_view::npos) return "an escape in a text is none of JSON's";
        out += kMeant[which];
        continue;
      }
      unsigned code = 0;
      const char* const first = text_.data() + at_ + 1;
      if (text_.size() - at_ < 5 || std::from_chars(first, first + 4, code, 16).ptr != first + 4)
        return "\\u needs four hexadecimal digits";
      out += code < 128 ? static_cast<char>(code) : '?';  // only names, for people
      at_ += 4;
    }
    if (at_ >= text_.size()) return "a text has no end";
    ++at_;
    return {};
  }

  std::string_view text_;
  std::size_t at_ = 0, line_ = 1;
};

}  // namespace

const JsonValue* JsonValue::member(std::string_view name) const {
  const auto at = std::find(names.begin(), names.end(), name);
  return at == names.end() ? nullptr : &elements[static_cast<std::size_t>(at - names.begin())];
}

std::string read_json(std::string_view text, JsonValue& out, std::size_t& line) {
  return Reader(text).whole(out, line);
}

}  // namespace hearth::mappers
