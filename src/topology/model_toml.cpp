// See model_toml.h.
#include "topology/model_toml.h"

namespace hearth::topology {

ModelToml::ModelToml(const std::string& file) : file_(file) {}
ModelToml::~ModelToml() = default;

const toml::table* ModelToml::parse(std::string_view text) {
  if (!plain(text)) return nullptr;
  parsed_ = toml::parse(text, std::string_view(file_));
  if (!parsed_) {
    const toml::parse_error& error = parsed_.error();
    add(error.source().begin.line, std::string(error.description()));
    return nullptr;
  }
  return &parsed_.table();
}

std::vector<std::string> ModelToml::problems() const {
  std::vector<std::pair<unsigned, std::string>> sorted = problems_;
  std::sort(sorted.begin(), sorted.end());
  std::vector<std::string> lines;
  for (const auto& [line, what] : sorted) lines.push_back(format("%s:%u: %s", file_.c_str(), line, what.c_str()));
  return lines;
}

bool ModelToml::fail(const toml::node& where, const std::string& what) {
  add(static_cast<unsigned>(where.source().begin.line), what);
  return false;
}

bool ModelToml::only(const toml::table& table, const char* name, std::initializer_list<std::string_view> legal) {
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

bool ModelToml::check_mark(const toml::node& node) {
  const auto text = node.value<std::string_view>();
  if (text && text->size() == 1 && std::string_view("PMSCAH").find((*text)[0]) != std::string_view::npos) return true;
  return fail(node, "not a mark; legal: " + std::string(kMarks));
}

bool ModelToml::number(const toml::node& node, std::string_view key, double least, double most, double& out) {
  const bool is_number = node.is_integer() || node.is_floating_point();
  const double value = node.value<double>().value_or(-1);
  if (is_number && value >= least && value <= most) {
    out = value;
    return true;
  }
  return fail(node,
              format("\"%s\" is not legal; legal: a number from %g to %g", std::string(key).c_str(), least, most));
}

bool ModelToml::count(const toml::table& table, std::string_view key, std::int64_t least, std::int64_t most,
                      std::int64_t& out) {
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

bool ModelToml::text(const toml::table& table, std::string_view key, std::string& out) {
  const toml::node* node = table.get(key);
  if (node == nullptr) return true;
  const auto value = node->value<std::string_view>();
  if (!value || !node->is_string())
    return fail(*node, format("\"%s\" is not legal; legal: a text in quotes", std::string(key).c_str()));
  out = std::string(*value);
  return true;
}

bool ModelToml::optional_table(const toml::table& parent, std::string_view key, const toml::table*& out) {
  const toml::node* node = parent.get(key);
  out = node == nullptr ? nullptr : node->as_table();
  if (node != nullptr && out == nullptr)
    return fail(*node, format("\"%s\" is not legal; legal: a table", std::string(key).c_str()));
  if (out == nullptr) return true;
  const toml::node* mark = out->get("mark");
  return mark == nullptr || check_mark(*mark);
}

// toml++ 3.3 runs into undefined behaviour on some letters beyond ASCII outside of strings, and on control
// characters.
bool ModelToml::plain(std::string_view text) {
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

}  // namespace hearth::topology
