// See help.h.
#include "cli/help.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <string_view>

namespace hearth::cli {
namespace {

constexpr std::string_view kRunPrograms[] = {"run", "check", "record"};
constexpr std::string_view kOwnValue = "{-}";

class Layout : public CLI::Formatter {
 public:
  std::string make_usage(const CLI::App* app, std::string name) const override {
    if (std::find(std::begin(kRunPrograms), std::end(kRunPrograms), app->get_name()) == std::end(kRunPrograms))
      return CLI::Formatter::make_usage(app, std::move(name));
    return "Usage: " + name + " [OPTIONS] [--] PROGRAM [ARGUMENT...]\n\n";
  }
  std::string make_option_name(const CLI::Option* option, bool positional) const override {
    std::string name = CLI::Formatter::make_option_name(option, positional);
    if (const std::size_t at = name.find(kOwnValue); at != std::string::npos)
      name.replace(at, kOwnValue.size(), "[=FILE]");
    return name;
  }
};

}  // namespace

void lay_out_help(CLI::App& app) {
  const auto layout = std::make_shared<Layout>();
  constexpr std::size_t kColumn = 30;
  layout->column_width(kColumn);
  layout->label("TEXT", "WORD");
  app.formatter(layout);
  for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; })) lay_out_help(*command);
}

CLI::Option* add_flag_with_file(CLI::App* to, const std::string& name, std::string& value, const std::string& meaning) {
  return to->add_flag(name + std::string(kOwnValue), value, meaning);
}

}  // namespace hearth::cli
