// ModelToml: what the readers of a model file share (model.cpp here, parameters_reader.cpp of the simulator): toml++
// without exceptions, streams or formatters (those would bring the whole of iostream into the runtime library), checked
// single values, and the list of what is wrong. Only readers include this; one object per file, used by one thread, and
// gone before the file's name is. model_toml.cpp alone calls the parser, which takes seconds to compile.
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
  explicit ModelToml(const std::string& file);
  ~ModelToml();

  /// Null when the text is no TOML.
  const toml::table* parse(std::string_view text);

  bool good() const { return problems_.empty(); }
  /// "FILE:LINE: what; legal: ..." each, by line.
  std::vector<std::string> problems() const;

  // Each of these is false, and has added a problem, where it does not find what it is asked for. Absent keys
  // leave `out` as it is.

  bool fail(const toml::node& where, const std::string& what);
  bool only(const toml::table& table, const char* name, std::initializer_list<std::string_view> legal);
  bool check_mark(const toml::node& node);
  bool number(const toml::node& node, std::string_view key, double least, double most, double& out);
  bool count(const toml::table& table, std::string_view key, std::int64_t least, std::int64_t most, std::int64_t& out);
  bool text(const toml::table& table, std::string_view key, std::string& out);
  /// `out` is null when there is none.
  bool optional_table(const toml::table& parent, std::string_view key, const toml::table*& out);

 private:
  void add(unsigned line, std::string what) { problems_.emplace_back(line, std::move(what)); }
  bool plain(std::string_view text);

  const std::string& file_;
  toml::parse_result parsed_;
  std::vector<std::pair<unsigned, std::string>> problems_;
};

}  // namespace hearth::topology
