// ModelToml: what the readers of a model file share (model.cpp here, parameters.cpp of the simulator): toml++
// without exceptions, streams or formatters (those would bring the whole of iostream into the runtime
// library), checked single values, and the list of what is wrong. Only readers include this; one object per
// file, used by one thread, and gone before the file's name is.
//
// toml++ takes some of its assertions for granted when NDEBUG is set (they become assumptions, so undefined
// behaviour), although a malformed file breaks them; with NDEBUG unset and the assertion empty, the checks
// that follow them report the error.
#pragma once

#undef NDEBUG
#define TOML_ASSERT(expression) static_assert(true)
#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#define TOML_INT_CHARCONV 1
#define TOML_FLOAT_CHARCONV 1

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <toml++/toml.h>

#include "topology/text.h"

namespace hearth::topology {

inline constexpr std::string_view kMarks = "P, M, S, C, A or H";

class ModelToml {
 public:
  explicit ModelToml(const std::string& file) : file_(file) {}

  /// Null when the text is no TOML.
  const toml::table* parse(std::string_view text) {
    if (!plain(text)) return nullptr;
    parsed_ = toml::parse(text, std::string_view(file_));
    if (!parsed_) {
      const toml::parse_error& error = parsed_.error();
      add(error.source().begin.line, std::string(error.description()));
      return nullptr;
    }
    return &parsed_.table();
  }

  bool good() const { return problems_.empty(); }
  /// "FILE:LINE: what; legal: ..." each, by line.
  std::vector<std::string> problems() const {
    std::vector<std::pair<unsigned, std::string>> sorted = problems_;
    std::sort(sorted.begin(), sorted.end());
    std::vector<std::string> lines;
    for (const auto& [line, what] : sorted) lines.push_back(format("%s:%u: %s", file_.c_str(), line, what.c_str()));
    return lines;
  }

  // Each of these is false, and has added a problem, where it does not find what it is asked for. Absent keys
  // leave `out` as it is.

  bool fail(const toml::node& where, const std::string& what) {
    add(static_cast<unsigned>(where.source().begin.line), what);
    return false;
  }

  bool only(const toml::table& table, const char* name, std::initializer_list<std::string_view> legal) {
    bool good = true;
    for (auto&& [key, value] : table) {
      if (std::find(legal.begin(), legal.end(), key.str()) != legal.end()) continue;
      std::string list;
      for (std::string_view one : legal) list += (list.empty() ? "" : ", ") + std::string(one);
      good = fail(value,
                  format("unknown key \"%s\" in %s; legal: %s", std::string(key.str()).c_str(), name, list.c_str()));
    }
    return good;
  }

  bool check_mark(const toml::node& node) {
    const auto text = node.value<std::string_view>();
    if (text && text->size() == 1 && std::string_view("PMSCAH").find((*text)[0]) != std::string_view::npos) return true;
    return fail(node, "not a mark; legal: " + std::string(kMarks));
  }

  bool number(const toml::node& node, std::string_view key, double least, double most, double& out) {
    const bool is_number = node.is_integer() || node.is_floating_point();
    const double value = node.value<double>().value_or(-1);
    if (is_number && value >= least && value <= most) {
      out = value;
      return true;
    }
    return fail(node,
                format("\"%s\" is not legal; legal: a number from %g to %g", std::string(key).c_str(), least, most));
  }

  bool count(const toml::table& table, std::string_view key, std::int64_t least, std::int64_t most, std::int64_t& out) {
    const toml::node* node = table.get(key);
    if (node == nullptr) return true;
    const std::optional<std::int64_t> value = node->is_integer() ? node->value<std::int64_t>() : std::nullopt;
    if (value && *value >= least && *value <= most) {
      out = *value;
      return true;
    }
    return fail(*node, format("\"%s\" is not legal; legal: a whole number from %lld to %lld", std::string(key).c_str(),
                              static_cast<long long>(least), static_cast<long long>(most)));
  }

  bool text(const toml::table& table, std::string_view key, std::string& out) {
    const toml::node* node = table.get(key);
    if (node == nullptr) return true;
    const auto value = node->value<std::string_view>();
    if (!value || !node->is_string())
      return fail(*node, format("\"%s\" is not legal; legal: a text in quotes", std::string(key).c_str()));
    out = std::string(*value);
    return true;
  }

  /// `out` is null when there is none.
  bool optional_table(const toml::table& parent, std::string_view key, const toml::table*& out) {
    const toml::node* node = parent.get(key);
    out = node == nullptr ? nullptr : node->as_table();
    if (node != nullptr && out == nullptr)
      return fail(*node, format("\"%s\" is not legal; legal: a table", std::string(key).c_str()));
    if (out == nullptr) return true;
    const toml::node* mark = out->get("mark");
    return mark == nullptr || check_mark(*mark);
  }

 private:
  void add(unsigned line, std::string what) { problems_.emplace_back(line, std::move(what)); }

  // toml++ 3.3 runs into undefined behaviour on some letters beyond ASCII outside of strings, and on control
  // characters.
  bool plain(std::string_view text) {
    unsigned line = 1;
    for (const char c : text) {
      if (c == '\n') ++line;
      if ((c >= ' ' && c <= '~') || c == '\t' || c == '\n' || c == '\r') continue;
      add(line, format("a character that is not ASCII text (0x%02x); legal: printable ASCII, tabs, line ends",
                       static_cast<unsigned>(static_cast<unsigned char>(c))));
      return false;
    }
    return true;
  }

  const std::string& file_;
  toml::parse_result parsed_;
  std::vector<std::pair<unsigned, std::string>> problems_;
};

}  // namespace hearth::topology
