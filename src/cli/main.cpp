// The command line: finds the subcommand and lets it read its arguments (run_options.h, and register_...() of others).
#include <algorithm>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "cli/installation.h"
#include "cli/help.h"
#include "cli/model.h"
#include "cli/output.h"
#include "cli/run_options.h"
#include "cli/sim.h"
#include "cli/spelling.h"
#include "cli/topo.h"

namespace {

using namespace hearth;

std::string version_text() {
  const cli::Installation installation = cli::find_installation();
  return fmt::format("hearth {}, OpenMP 5.2\nlibrary: {}", HEARTH_VERSION,
                     installation.library.empty() ? "not found" : installation.library);
}

/// `hearth help`, and `hearth help COMMAND`.
void translate_help(std::vector<std::string>& arguments) {
  if (arguments.empty() || arguments.front() != "help") return;
  arguments.erase(arguments.begin());
  arguments.insert(arguments.empty() ? arguments.begin() : arguments.begin() + 1, "--help");
}

std::vector<std::string> names_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(command->get_name());
  return names;
}

int refuse_arguments(const std::string& why, const std::string& command) {
  cli::say("{}", why);
  cli::put(stderr, "Try: hearth {}--help\n", command.empty() ? "" : command + " ");
  return cli::kExitUsage;
}

int run(int argc, char** argv) {
  CLI::App app{"Hearth runs OpenMP programs, unmodified, on its own runtime."};
  app.name("hearth");
  app.require_subcommand(1);
  app.set_version_flag("--version", version_text, "Print the version and where the library is");
  app.footer("`hearth help COMMAND` explains a command. Manual pages: hearth(1), libhearth(7).");

  std::vector<std::string> ahead(argv + 1, argv + argc);
  translate_help(ahead);
  const std::vector<std::string> command = cli::split_command(ahead);
  cli::register_run(app, command);
  cli::register_check(app, command);
  cli::register_record(app, command);
  cli::register_export(app);
  cli::register_env(app);
  cli::register_model(app);
  cli::register_sim(app);
  cli::register_topo(app);
  app.add_subcommand("help", "Explain a command: hearth help COMMAND");
  cli::lay_out_help(app);

  std::string asked;  // the subcommand, when it is one
  if (!ahead.empty() && !ahead.front().starts_with("-")) {
    const std::vector<std::string> names = names_of(app);
    asked = ahead.front();
    if (std::find(names.begin(), names.end(), asked) == names.end())
      return refuse_arguments(fmt::format("\"{}\": no such subcommand{}; legal: {}", asked,
                                          cli::did_you_mean(asked, names), fmt::join(names, ", ")),
                              "");
  }
  try {
    std::reverse(ahead.begin(), ahead.end());  // CLI11 takes them from the back
    app.parse(ahead);
  } catch (const CLI::Success& done) {  // --help, --version
    return app.exit(done);
  } catch (const CLI::RuntimeError& failed) {  // a subcommand failed, and has said so
    return failed.get_exit_code();
  } catch (const CLI::ParseError& error) {
    return refuse_arguments(error.what(), asked);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  cli::guard_standard_streams();
  return cli::close_output(run(argc, argv));
}
