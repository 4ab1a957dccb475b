// See arguments.h. CLI11 takes seconds to compile: only this file and those of arguments_parts.h include it, and commands
// get plain structs.
//
// Each command registers its arguments here or, if it reads a recording, in arguments_recordings.cpp, and does its work while
// they are parsed; a status other than 0 is thrown as CLI::RuntimeError.
#include "cli/arguments.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/parse.h"
#include "cli/arguments_parts.h"
#include "cli/commands.h"
#include "cli/doctor.h"
#include "cli/learned.h"
#include "cli/compile.h"
#include "cli/memory.h"
#include "cli/model.h"
#include "cli/output.h"
#include "cli/record.h"
#include "cli/spelling.h"
#include "cli/top.h"
#include "cli/topo.h"
#include "runtime/settings/settings.h"

namespace hearth::cli {
namespace {

// ---- how `hearth COMMAND --help` looks

constexpr std::string_view kRunPrograms[] = {"run", "check", "record"};
constexpr std::string_view kOwnValue = "{-}";
constexpr std::string_view kFlagWithModel = "--energy", kFlagWithPattern = "--forget";  // their values are no files

class Layout : public CLI::Formatter {
 public:
  std::string make_usage(const CLI::App* app, std::string name) const override {
    if (app->get_name() == "cc" || app->get_name() == "c++")
      return "Usage: " + name + " [--mode=MODE] [--explain=FILE] [--record[=exact]] [--profile=FILE] ARGUMENT-OF-CLANG...\n\n";
    const bool first_word = app->get_parent() != nullptr && app->get_parent()->get_parent() == nullptr;  // not model check
    if (!first_word || std::find(std::begin(kRunPrograms), std::end(kRunPrograms), app->get_name()) == std::end(kRunPrograms))
      return CLI::Formatter::make_usage(app, std::move(name));
    return "Usage: " + name + " [OPTIONS] [--] PROGRAM [ARGUMENT...]\n\n";
  }
  std::string make_option_name(const CLI::Option* option, bool positional) const override {
    std::string name = CLI::Formatter::make_option_name(option, positional);
    if (const std::size_t at = name.find(kOwnValue); at != std::string::npos)
      name.replace(at, kOwnValue.size(), name.starts_with(kFlagWithModel)     ? "[=MODEL]"
                                         : name.starts_with(kFlagWithPattern) ? "[=PATTERN]"
                                                                              : "[=FILE]");
    return name;
  }
};

/// Usage lines with PROGRAM, and optional values as [=FILE].
void lay_out_help(CLI::App& app) {
  const auto layout = std::make_shared<Layout>();
  constexpr std::size_t kColumn = 30;
  layout->column_width(kColumn);
  layout->label("TEXT", "WORD");
  app.formatter(layout);
  for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; })) lay_out_help(*command);
}

/// A flag with a value of its own behind '=': --verify, or --verify=FILE. `value` is "-" without one.
CLI::Option* add_flag_with_file(CLI::App* to, const std::string& name, std::string& value, const std::string& meaning) {
  return to->add_flag(name + std::string(kOwnValue), value, meaning);
}

// ---- checks of values

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

std::string check_runtime(const std::string& text) {
  if (text == "hearth" || text == "stock") return {};
  return fmt::format("\"{}\": no such runtime; legal: hearth, or stock: the runtime that the program came with", text);
}

// ---- the commands

void need_program(const std::vector<std::string>& command) {
  if (command.empty()) throw CLI::RequiredError("a program to run");
}

void add_run_options(CLI::App* to, RunRequest& request) {
  to->add_option("--distribute", request.distribute,
                 "Distribute large blocks of malloc and mmap over the NUMA nodes: fine, coarse, blocked, weighted or learn; "
                 "\",min=128K\" sets the least size")
      ->check(check_distribute)
      ->type_name("KIND");
  to->add_option("--policy", request.policy,
                 "How ready tasks are scheduled: adaptive (default), locality, work-stealing, central or home-cache")
      ->check(check_policy)
      ->type_name("POLICY");
  to->add_option("--threads", request.threads, "Threads of a parallel region (OMP_NUM_THREADS)")
      ->check(check_threads)
      ->type_name("N,...");
}

/// hearth run --report: records, then writes the page. `page`: "-" for the program's name and .html.
int run_reported(const RunRequest& run, const std::string& page) {
  RecordRequest request;
  request.run = run;
  const std::filesystem::path name = std::filesystem::path(run.command.front()).filename();
  request.page = page == "-" ? name.string() + ".html" : page;
  request.file = page == "-" ? name.string() + ".db" : std::filesystem::path(page).replace_extension(".db").string();
  return record_main(request);
}

void register_run(CLI::App& app, const std::vector<std::string>& command) {
  const auto request = std::make_shared<RunRequest>();
  CLI::App* run = app.add_subcommand("run", "Run a program on Hearth");
  add_run_options(run, *request);
  CLI::Option* places =
      run->add_option("--places-from", request->places_from,
                      "Set OMP_PLACES so that threads are near those that they exchange data with in this recording")
          ->type_name("FILE");
  run->add_option("--mapper", request->mapper, "The mapper that makes those places; hearth map --list tells all")
      ->needs(places)
      ->type_name("MAPPER");
  const CLI::Option* energy =
      add_flag_with_file(run, std::string(kFlagWithModel), request->energy_model,
                    "Report the energy of the run, or what a machine model estimates where nothing measures it");
  const CLI::Option* verify = add_flag_with_file(
      run, "--verify", request->verify_file,
      "Report how many regions and tasks Hearth served, also as JSON into FILE. Fails if another runtime served any. "
      "In an MPI job each rank writes its own FILE");
  const CLI::Option* learn = add_flag_with_file(
      run, "--learn", request->learned_file,
      "Begin with what earlier runs have learned, and add to it at exit, in FILE or in the user's cache folder");
  const CLI::Option* explain = add_flag_with_file(
      run, "--explain", request->explain_file,
      "Say of each task construct, when the program ends, whether its tasks were dealt to where their data is, what that "
      "has won or lost, and why; on standard error or into FILE. In an MPI job each rank writes its own FILE");
  const auto page = std::make_shared<std::string>();
  const CLI::Option* report = add_flag_with_file(
      run, "--report", *page,
      "Record the run, and write the page of hearth report into FILE, or beside the recording; the recording has the same name "
      "and .db. In an MPI job each rank writes its own");
  run->callback([request, report, page, verify, energy, learn, explain, &command] {
    need_program(command);
    request->learn = learn->count() > 0;
    request->command = command;
    request->verify = verify->count() > 0;
    request->energy = energy->count() > 0;
    request->explain = explain->count() > 0;
    for (std::string* value : {&request->energy_model, &request->verify_file, &request->learned_file, &request->explain_file})
      if (*value == "-") value->clear();
    end_with(report->count() > 0 ? run_reported(*request, *page) : run_main(*request));
  });
}

void register_learned(CLI::App& app) {
  const auto request = std::make_shared<LearnedRequest>();
  CLI::App* learned = app.add_subcommand("learned", "Show what runs have learned (hearth run --learn), or forget it");
  learned->add_flag("--json", request->json, "Print JSON instead of text");
  const CLI::Option* forget =
      add_flag_with_file(learned, std::string(kFlagWithPattern), request->pattern,
                         "Forget all, or entries whose module+0xOFFSET has a part of this pattern (*, ? and [...])");
  learned->add_option("file", request->file, "The file (default: the one in the user's cache folder)")->type_name("FILE");
  learned->callback([request, forget] {
    request->forget = forget->count() > 0;
    if (request->pattern == "-") request->pattern.clear();
    end_with(learned_main(*request));
  });
}

void register_check(CLI::App& app, const std::vector<std::string>& command) {
  const auto file = std::make_shared<std::string>();
  CLI::App* check =
      app.add_subcommand("check", "Run a program and report tasks whose accesses differ from their footprint");
  const CLI::Option* json = add_flag_with_file(check, "--json", *file, "Print JSON, on standard output or into FILE");
  check->callback([file, json, &command] {
    need_program(command);
    RunRequest request;
    request.command = command;
    end_with(check_main(request, json->count() > 0, *file == "-" ? "" : *file));
  });
}

void register_record(CLI::App& app, const std::vector<std::string>& command) {
  const auto request = std::make_shared<RecordRequest>();
  const auto runtime = std::make_shared<std::string>();
  CLI::App* record = app.add_subcommand("record", "Run a program and record its tasks in one SQLite file");
  add_run_options(record, request->run);
  record
      ->add_option("-o,--output", request->file,
                   "The file (default: the program's name and .db). %r is the MPI rank, %p the process number; in an "
                   "MPI job a name without them gets the rank")
      ->type_name("FILE");
  record->add_flag("--counters", request->counters,
                   "Record cycles, instructions and cache misses of each task, where the kernel allows it");
  record->add_option("--runtime", *runtime, "hearth, or stock: the runtime that the program came with")
      ->check(check_runtime)
      ->type_name("RUNTIME");
  record->add_option("--recover", request->recover, "Recover an interrupted recording from its spill folder")
      ->type_name("FOLDER");
  record->callback([request, runtime, &command] {
    if (command.empty() == request->recover.empty())
      throw CLI::RequiredError("either a program to run or --recover");
    request->run.command = command;
    request->stock = *runtime == "stock";
    end_with(record_main(*request));
  });
}

void register_env(CLI::App& app) {
  const auto request = std::make_shared<EnvRequest>();
  CLI::App* env = app.add_subcommand("env", "List the options: value, source, meaning and legal values");
  env->add_flag("--json", request->json, "Print JSON");
  env->add_flag("--changed", request->changed, "Only options that the environment sets");
  env->add_option("names", request->names, "Only these options")->type_name("NAME");
  env->callback([request] { end_with(env_main(*request)); });
}

void register_model(CLI::App& app) {
  CLI::App* model = app.add_subcommand("model", "Machine models: check files, list the installed ones");
  model->require_subcommand(1);
  const auto files = std::make_shared<std::vector<std::string>>();
  CLI::App* check = model->add_subcommand("check", "Say all that is wrong with model files, by line");
  check->add_option("files", *files, "Model files (.toml), or names of installed models")
      ->required()
      ->type_name("FILE");
  check->callback([files] { end_with(check_models(*files)); });
  const auto json = std::make_shared<bool>(false);
  CLI::App* names = model->add_subcommand("list", "List the models that go by name");
  names->add_flag("--json", *json, "Print JSON");
  names->callback([json] { end_with(list_models(*json)); });
}

void register_topo(CLI::App& app) {
  const auto request = std::make_shared<TopoRequest>();
  CLI::App* topo = app.add_subcommand("topo", "Show the machine, and what this process may use of it");
  topo->add_flag("--json", request->json, "Print JSON instead of text");
  CLI::Option* machine = topo->add_option("--machine", request->machine,
                                          "Show this machine instead: a model's name, a model file (.toml), "
                                          "an hwloc XML file (.xml), or an hwloc "
                                          "synthetic string")
                             ->type_name("MACHINE");
  topo->add_option("--location", request->location,
                   "What the locations are: node or llc (last-level caches), as HEARTH_LOCATION has it")
      ->type_name("node|llc");
  CLI::Option* replay =
      topo->add_option("--replay", request->replay, "Show the machine recorded in this file")
          ->type_name("FILE.tar.gz")
          ->excludes(machine);
  CLI::Option* gather =
      topo->add_option("--gather", request->gather, "Record this machine into a file, for a bug report")
          ->type_name("FILE.tar.gz")
          ->excludes(machine)
          ->excludes(replay);
  CLI::Option* measure =
      topo->add_flag("--measure", request->measure, "Measure this machine: print a model of it")
          ->excludes(machine)
          ->excludes(replay)
          ->excludes(gather);
  CLI::Option* write = topo->add_option("--write", request->write, "Write the model to this file instead")
                           ->type_name("FILE.toml")
                           ->needs(measure);
  topo->add_flag("--keep", request->keep, "Leave the model where programs look for what memory costs here")
      ->needs(measure)
      ->excludes(write);
  topo->add_flag("--quick", request->quick, "Measure for seconds instead of minutes")
      ->needs(measure);
  topo->callback([request] { end_with(topo_main(*request)); });
}

void register_doctor(CLI::App& app) {
  const auto request = std::make_shared<DoctorRequest>();
  CLI::App* doctor = app.add_subcommand("doctor", "Say what will come of a program here, and what stands in its way");
  doctor->add_option("program", request->program, "The program; without it only machine and environment are looked at");
  doctor->add_flag("--json", request->json, "Print JSON instead of text");
  doctor->add_option("--replay", request->replay, "Judge the machine recorded in this file")->type_name("FILE.tar.gz");
  doctor->callback([request] { end_with(doctor_main(*request)); });
}

void register_memory(CLI::App& app) {
  const auto request = std::make_shared<MemoryRequest>();
  CLI::App* memory = app.add_subcommand("memory", "Show used and free memory of each node, and whose it is");
  memory->add_flag("--json", request->json, "Print JSON instead of text");
  memory->add_flag("--all", request->all, "Show every process, not only the largest");
  memory->add_option("--replay", request->root, "Show what the files below this folder say (proc/, sys/)")
      ->type_name("FOLDER")
      ->check(CLI::ExistingDirectory);
  memory->add_option("pid", request->pids, "Only these processes")->type_name("PID");
  memory->callback([request] { end_with(memory_main(*request)); });
}

void register_top(CLI::App& app) {
  const auto request = std::make_shared<TopRequest>();
  CLI::App* top = app.add_subcommand("top", "Show what a running program does: tasks a second of each thread, where, and what moves");
  top->add_option("program", request->program,
                  "The number or the name of a process that Hearth serves; without it the only one, or a list")
      ->type_name("PID|NAME");
  top->add_option("--interval", request->interval, "Seconds from one look to the next")
      ->check(CLI::Range(0.05, 3600.0).description(""))
      ->type_name("SECONDS");
  top->add_flag("--once", request->once, "Print what happens during one interval, and end");
  top->add_flag("--json", request->json, "Print a line of JSON for each interval");
  top->callback([request] { end_with(top_main(*request)); });
}

/// For their help only: compile_main() has the arguments before this file sees them (main.cpp).
void register_compilers(CLI::App& app) {
  const auto ignored = std::make_shared<std::string>();
  for (const auto& [name, what] : {std::pair("cc", "Compile a C program whose threads start near their data and their partners"),
                                   std::pair("c++", "The same for C++")}) {
    CLI::App* compiler = app.add_subcommand(name, what);
    compiler->add_option("--mode", *ignored, "How threads are typed: balanced (the default), paper or literal")->type_name("MODE");
    compiler->add_option("--gap", *ignored, "Another answer to gaps of the published algorithm, between commas (below)")
        ->type_name("NAME=ANSWER");
    compiler->add_option("--insert", *ignored, "Where a thread gets its CPUs: before its routine (the default), or after its creation")
        ->type_name("PLACE");
    compiler->add_option("--explain", *ignored, "Write which thread has which class, and why: FILE.txt, .dot, .svg, else JSON")
        ->type_name("FILE");
    compiler->add_option("--record", *ignored, "Make a program that records which thread touches what: sampled (the default) or exact")
        ->type_name("HOW");
    compiler->add_option("--profile", *ignored, "Learn from what such a program has recorded")->type_name("FILE");
    compiler->footer(gaps_in_words() + "All other arguments are those of clang 19; -Rpass=hearth tells the classes as remarks.\n"
                     "When the program runs, HEARTH_BTLP=off switches the placing off, HEARTH_BTLP=print shows it.");
    compiler->callback([ignored] { say("no arguments for the compiler"); end_with(kExitUsage); });
  }
}

// ---- the command line as a whole

constexpr std::string_view kWithValue[] = {"--distribute", "--policy",  "--threads", "-o",
                                           "--output",     "--runtime", "--recover", "--places-from", "--mapper"};

/// Cuts the program and its arguments off those of `hearth run`, `check` and `record`: they begin behind "--", or with
/// the first word that is neither an option nor an option's value, and are the program's whatever they look like.
std::vector<std::string> split_command(std::vector<std::string>& arguments) {
  std::vector<std::string> command;
  if (arguments.empty() ||
      (arguments.front() != "run" && arguments.front() != "check" && arguments.front() != "record"))
    return command;
  std::size_t i = 1;
  while (i < arguments.size() && arguments[i].size() > 1 && arguments[i][0] == '-' && arguments[i] != "--")
    i += std::find(std::begin(kWithValue), std::end(kWithValue), arguments[i]) != std::end(kWithValue) ? 2 : 1;
  if (i >= arguments.size()) return command;
  command.assign(arguments.begin() + static_cast<std::ptrdiff_t>(i + (arguments[i] == "--" ? 1 : 0)),
                 arguments.end());
  arguments.resize(i);
  return command;
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
  say("{}", why);
  put(stderr, "Try: hearth {}--help\n", command.empty() ? "" : command + " ");
  return kExitUsage;
}

}  // namespace

int run_command_line(int argc, char** argv, std::string (*version_text)()) {
  CLI::App app{"Hearth runs OpenMP programs, unmodified, on its own runtime."};
  app.name("hearth");
  app.require_subcommand(1);
  app.set_version_flag("--version", version_text, "Print the version and where the library is");
  app.footer("`hearth help COMMAND` explains a command. Manual pages: hearth(1), libhearth(7).");

  std::vector<std::string> ahead(argv + 1, argv + argc);
  translate_help(ahead);
  const std::vector<std::string> command = split_command(ahead);
  register_run(app, command);
  register_check(app, command);
  register_record(app, command);
  register_readers(app);
  register_bench(app);
  register_doctor(app);
  register_env(app);
  register_learned(app);
  register_memory(app);
  register_model(app);
  register_top(app);
  register_topo(app);
  register_compilers(app);
  app.add_subcommand("help", "Explain a command: hearth help COMMAND");
  lay_out_help(app);

  std::string asked;  // the subcommand, when it is one
  if (!ahead.empty() && !ahead.front().starts_with("-")) {
    const std::vector<std::string> names = names_of(app);
    asked = ahead.front();
    if (std::find(names.begin(), names.end(), asked) == names.end())
      return refuse_arguments(fmt::format("\"{}\": no such subcommand{}; legal: {}", asked,
                                          did_you_mean(asked, names), fmt::join(names, ", ")),
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

}  // namespace hearth::cli
