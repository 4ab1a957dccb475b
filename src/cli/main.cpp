// The command line: reads the arguments and calls the subcommand. See commands.h for what each does.
#include <algorithm>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/parse.h"
#include "cli/commands.h"
#include "cli/installation.h"
#include "cli/model.h"
#include "cli/record.h"
#include "cli/sim.h"
#include "cli/topo.h"
#include "runtime/settings/settings.h"

namespace {

using namespace hearth;

std::string check_policy(const std::string& name) {
  std::string legal;
  for (const std::string_view policy : kPolicyNames) {
    if (same_word(name, policy)) return {};
    legal += (legal.empty() ? "" : ", ") + std::string(policy);
  }
  return fmt::format("\"{}\": no such policy; legal: {}", name, legal);
}

std::string check_threads(const std::string& text) {
  std::int64_t values[rt::kMaxNestingList];
  const auto parsed = parse_integer_list(text, 1, INT32_MAX, values, rt::kMaxNestingList);
  if (parsed) return {};
  return fmt::format("\"{}\": {} at column {}; legal: {}", text, parse_failure_text(parsed.failure),
                     parsed.column(), option(OptionId::omp_num_threads).legal);
}

std::string check_distribute(const std::string& text) {
  const auto parsed = rt::parse_distribute(text);
  if (parsed) return {};
  return fmt::format("\"{}\": {} at column {}; legal: {}", text, parse_failure_text(parsed.failure),
                     parsed.column(), option(OptionId::hearth_distribute).legal);
}

/// Cuts the program and its arguments off the arguments of `hearth run`, `check` and `record`: they begin
/// behind
/// "--", or with the first word that is neither an option nor an option's value, and belong to the program
/// whatever they look like.
std::vector<std::string> split_command(std::vector<std::string>& arguments) {
  std::vector<std::string> command;
  if (arguments.empty() ||
      (arguments.front() != "run" && arguments.front() != "check" && arguments.front() != "record"))
    return command;
  std::size_t i = 1;
  while (i < arguments.size() && arguments[i].size() > 1 && arguments[i][0] == '-' && arguments[i] != "--") {
    const bool has_value = arguments[i] == "--distribute" || arguments[i] == "--policy" ||
                           arguments[i] == "--threads" || arguments[i] == "-o" ||
                           arguments[i] == "--output" || arguments[i] == "--runtime" ||
                           arguments[i] == "--recover";
    i += has_value ? 2 : 1;
  }
  if (i >= arguments.size()) return command;
  command.assign(arguments.begin() + static_cast<std::ptrdiff_t>(i + (arguments[i] == "--" ? 1 : 0)),
                 arguments.end());
  arguments.resize(i);
  return command;
}

std::string version_text() {
  const cli::Installation installation = cli::find_installation();
  return fmt::format("hearth {}, OpenMP 5.2\nlibrary: {}", HEARTH_VERSION,
                     installation.library.empty() ? "not found" : installation.library);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Hearth runs OpenMP programs, unmodified, on its own runtime."};
  app.name("hearth");
  app.require_subcommand(1);
  app.set_version_flag("--version", version_text, "Print the version and where the library is");
  app.footer("Manual pages: hearth(1), libhearth(7).");

  std::vector<std::string> ahead(argv + 1, argv + argc);
  const std::vector<std::string> command = split_command(ahead);

  cli::RunRequest request;
  const auto add_run_options = [](CLI::App* to, cli::RunRequest& for_run) {
    to->add_option("--distribute", for_run.distribute,
                   "Spread malloc's large blocks over the NUMA nodes: fine, coarse or blocked, and ,min=128K")
        ->check(check_distribute);
    to->add_option("--policy", for_run.policy,
                   "Who gets a ready task: locality, work-stealing, central, home-cache or adaptive")
        ->check(check_policy);
    to->add_option("--threads", for_run.threads, "How many threads parallel regions get (OMP_NUM_THREADS)")
        ->check(check_threads);
  };
  CLI::App* run =
      app.add_subcommand("run", "Run a program on Hearth: hearth run [options] -- program [arguments]");
  add_run_options(run, request);
  CLI::Option* verify = run->add_flag("--verify{-}", request.verify_file,
                                      "Report how many regions and tasks Hearth served, as JSON into a file "
                                      "with --verify=FILE; fail if another "
                                      "runtime served any");
  run->callback([&] {
    request.command = command;
    if (request.command.empty()) throw CLI::RequiredError("a program to run");
    request.verify = verify->count() > 0;
    if (request.verify_file == "-") request.verify_file.clear();
  });

  std::string check_file;
  CLI::App* check = app.add_subcommand("check",
                                       "Run a program and hold the footprints of its tasks against what they "
                                       "touch: hearth check [options] -- program");
  CLI::Option* check_json = check->add_flag("--json{-}", check_file,
                                            "Print JSON on standard output, or into a file with --json=FILE");
  check->callback([&] {
    request.command = command;
    if (request.command.empty()) throw CLI::RequiredError("a program to run");
  });

  cli::RecordRequest record_request;
  CLI::App* record =
      app.add_subcommand("record",
                         "Run a program and record what its tasks do into one SQLite file: hearth "
                         "record [options] -- program");
  add_run_options(record, record_request.run);
  record->add_option("-o,--output", record_request.file, "The file (default: the program's name and .db)");
  record->add_flag("--counters", record_request.counters,
                   "Cycles, instructions and cache misses of each task, where the kernel allows it");
  record
      ->add_option(
          "--runtime",
          [&](const CLI::results_t& given) {
            record_request.stock = given.front() == "stock";
            return given.front() == "stock" || given.front() == "hearth";
          },
          "hearth, or stock: the runtime that the program came with")
      ->type_name("TEXT");
  record->add_option("--recover", record_request.recover,
                     "Read the folder that a recording has left which was not ended");
  record->callback([&] {
    record_request.run.command = command;
    if (command.empty() == record_request.recover.empty())
      throw CLI::RequiredError("either a program to run or --recover");
  });

  cli::ExportRequest export_request;
  CLI::App* export_ = app.add_subcommand("export", "A recording for other programs to show");
  export_->add_option("file", export_request.file, "What hearth record has made")->required();
  export_->add_option("--perfetto", export_request.perfetto, "Chrome's trace JSON, for Perfetto");
  export_->add_option("--paraver", export_request.paraver, "Paraver's .prv, with .pcf and .row beside it");
  export_->callback([&] {
    if (export_request.perfetto.empty() && export_request.paraver.empty())
      throw CLI::RequiredError("--perfetto or --paraver");
  });

  bool json = false;
  std::vector<std::string> names;
  CLI::App* env =
      app.add_subcommand("env", "Every option: its value, where that came from, its meaning, what is legal");
  env->add_flag("--json", json, "Print JSON");
  env->add_option("names", names, "Only these options");

  cli::register_model(app);  // these do their work while the arguments are parsed
  cli::register_sim(app);
  cli::register_topo(app);

  std::string known;
  bool is_known = ahead.empty() || ahead.front().compare(0, 1, "-") == 0;
  for (const CLI::App* subcommand : app.get_subcommands([](const CLI::App*) { return true; })) {
    known += (known.empty() ? "" : ", ") + subcommand->get_name();
    is_known = is_known || subcommand->get_name() == ahead.front();
  }
  if (!is_known) {
    fmt::print(stderr, "hearth: \"{}\": no such subcommand; legal: {}\nTry: hearth --help\n", ahead.front(),
               known);
    return cli::kExitUsage;
  }
  try {
    std::reverse(ahead.begin(), ahead.end());  // CLI11 takes them from the back
    app.parse(ahead);
  } catch (const CLI::Success& done) {  // --help, --version
    return app.exit(done);
  } catch (const CLI::RuntimeError& failed) {  // a subcommand failed, and has said so
    return failed.get_exit_code();
  } catch (const CLI::ParseError& error) {
    fmt::print(stderr, "hearth: {}\nTry: hearth --help\n", error.what());
    return cli::kExitUsage;
  }
  if (run->parsed()) return cli::run_main(request);
  if (check->parsed())
    return cli::check_main(request, check_json->count() > 0, check_file == "-" ? "" : check_file);
  if (export_->parsed()) return cli::export_main(export_request);
  if (record->parsed()) return cli::record_main(record_request);
  return env->parsed() ? cli::env_main(json, names) : 0;
}
