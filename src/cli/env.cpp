// `hearth env`: every option of the table with its value, where the value came from, what it means and what
// is legal.
#include <cstdio>
#include <memory>

#include <fmt/format.h>
#include <unistd.h>

#include "base/options.h"
#include "cli/commands.h"
#include "cli/json.h"
#include "cli/output.h"
#include "cli/spelling.h"
#include "runtime/settings/settings.h"

namespace hearth::cli {
namespace {

struct Row {
  const Option* option;
  std::string value;
  std::string source;  // "default", or the variable
};

bool is_honoured(const Option& row) { return row.role == Option::own || row.role == Option::feeding; }

Row make_row(const OptionReader& given, const rt::Settings& settings, OptionId id) {
  const Option& row = option(id);
  Row out{&row, {}, "default"};
  if (is_honoured(row)) {
    std::vector<char> text(rt::kSettingsStorage);
    const std::size_t length = rt::setting_text(settings, id, text.data(), text.size());
    out.value.assign(text.data(), length);
    const std::string_view source = rt::setting_source(given, settings, id);
    if (!source.empty()) out.source = source;
  } else {
    out.value = "ignored";
    if (given[id].given()) out.source = given[id].variable;
  }
  return out;
}

void print_json(const std::vector<Row>& rows) {
  Json out = Json::array();
  for (const Row& row : rows) {
    Json item;
    item["name"] = row.option->name;
    item["value"] = row.value;
    item["source"] = row.source;
    item["status"] = is_honoured(*row.option) ? "honoured" : "ignored";
    item["type"] = option_type_name(row.option->type);
    item["default"] = row.option->fallback;
    item["legal"] = row.option->legal;
    item["meaning"] = row.option->meaning;
    Json aliases = Json::array();
    ListReader reader(row.option->aliases, ' ');
    std::string_view alias;
    while (!row.option->aliases.empty() && reader.next(alias)) aliases.push_back(alias);
    item["aliases"] = aliases;
    out.push_back(item);
  }
  put(stdout, "{}\n", out.dump(2));
}

void print_wrapped(std::string_view text, std::size_t indent, std::size_t width) {
  std::size_t column = indent;
  put(stdout, "{:{}}", "", indent);
  while (!text.empty()) {
    const std::size_t stop = text.find(' ');
    const std::string_view word = text.substr(0, stop);
    if (column > indent && column + 1 + word.size() > width) {
      put(stdout, "\n{:{}}", "", indent);
      column = indent;
    }
    put(stdout, "{}{}", column > indent ? " " : "", word);
    column += word.size() + (column > indent ? 1 : 0);
    text = stop == std::string_view::npos ? std::string_view() : text.substr(stop + 1);
  }
  put(stdout, "\n");
}

void print_text(const std::vector<Row>& rows) {
  constexpr std::size_t kWidth = 100;
  for (const Row& row : rows) {
    const bool honoured = is_honoured(*row.option);
    if (honoured) {
      put(stdout, "{} = {}   ({})\n", row.option->name, row.value,
                 row.source == "default" ? "default" : "from " + row.source);
    } else {
      put(stdout, "{}: ignored{}\n", row.option->name, row.source == "default" ? "" : "   (set)");
    }
    print_wrapped(row.option->meaning, 4, kWidth);
    if (honoured) print_wrapped(fmt::format("legal: {}", row.option->legal), 4, kWidth);
    if (!row.option->aliases.empty()) print_wrapped(fmt::format("also: {}", row.option->aliases), 4, kWidth);
  }
}

bool is_called(const Option& row, const std::string& name) {
  if (row.name == name) return true;
  ListReader aliases(row.aliases, ' ');
  std::string_view alias;
  while (aliases.next(alias))
    if (!alias.empty() && alias == name) return true;
  return false;
}

std::vector<std::string> all_names() {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < kOptionCount; ++i) names.emplace_back(option(option_at(i)).name);
  return names;
}

}  // namespace

int env_main(const EnvRequest& request) {
  OptionReader given;
  given.read(environ, process_is_privileged());
  const auto storage = std::make_unique<char[]>(rt::kSettingsStorage);
  const rt::Settings settings = rt::parse_settings(given, storage.get(), rt::kSettingsStorage);

  const std::vector<std::string>& names = request.names;
  std::vector<Row> rows;
  std::vector<bool> matched(names.size(), false);
  for (std::size_t i = 0; i < kOptionCount; ++i) {
    const Option& row = option(option_at(i));
    bool wanted = names.empty();
    for (std::size_t n = 0; n < names.size(); ++n) {
      if (!is_called(row, names[n])) continue;
      wanted = true;
      matched[n] = true;
    }
    if (!wanted) continue;
    rows.push_back(make_row(given, settings, row.id));
    if (request.changed && rows.back().source == "default") rows.pop_back();
  }
  for (std::size_t n = 0; n < names.size(); ++n) {
    if (matched[n]) continue;
    say("{}: no such option{}; `hearth env` lists all.", names[n], did_you_mean(names[n], all_names()));
    return kExitUsage;
  }
  if (request.json)
    print_json(rows);
  else
    print_text(rows);
  if (request.changed && rows.empty() && !request.json) put(stdout, "No option is set; all have their defaults.\n");
  if (names.empty()) hint_at_variables();
  return 0;
}

}  // namespace hearth::cli
