// See run_options.h.
#include "cli/run_options.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <string_view>

#include <fmt/format.h>

#include "base/parse.h"
#include "cli/commands.h"
#include "cli/help.h"
#include "cli/record.h"
#include "cli/spelling.h"
#include "runtime/settings/settings.h"

namespace hearth::cli {
namespace {

constexpr std::string_view kWithValue[] = {"--distribute", "--policy",  "--threads", "-o",
                                           "--output",     "--runtime", "--recover"};

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

void add_run_options(CLI::App* to, RunRequest& request) {
  to->add_option("--distribute", request.distribute,
                 "Distribute large malloc blocks over the NUMA nodes: fine, coarse or blocked; \",min=128K\" sets the "
                 "least size")
      ->check(check_distribute)
      ->type_name("KIND");
  to->add_option("--policy", request.policy,
                 "How ready tasks are scheduled: locality, work-stealing, central, home-cache or adaptive")
      ->check(check_policy)
      ->type_name("POLICY");
  to->add_option("--threads", request.threads, "Threads of a parallel region (OMP_NUM_THREADS)")
      ->check(check_threads)
      ->type_name("N,...");
}

void end_with(int status) {
  if (status != 0) throw CLI::RuntimeError(status);
}

void need_program(const std::vector<std::string>& command) {
  if (command.empty()) throw CLI::RequiredError("a program to run");
}

}  // namespace

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

void register_run(CLI::App& app, const std::vector<std::string>& command) {
  const auto request = std::make_shared<RunRequest>();
  CLI::App* run = app.add_subcommand("run", "Run a program on Hearth");
  add_run_options(run, *request);
  const CLI::Option* verify = add_flag_with_file(
      run, "--verify", request->verify_file,
      "Report how many regions and tasks Hearth served, also as JSON into FILE. Fails if another runtime served any. In "
      "an MPI job each rank writes its own FILE");
  run->callback([request, verify, &command] {
    need_program(command);
    request->command = command;
    request->verify = verify->count() > 0;
    if (request->verify_file == "-") request->verify_file.clear();
    end_with(run_main(*request));
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
                   "The file (default: the program's name and .db). %r is the MPI rank, %p the process number; in an MPI "
                   "job a name without them gets the rank")
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

void register_export(CLI::App& app) {
  const auto request = std::make_shared<ExportRequest>();
  CLI::App* export_ = app.add_subcommand("export", "Convert a recording for other viewers");
  export_->add_option("file", request->file, "A recording of hearth record")->required()->type_name("FILE");
  export_->add_option("--perfetto", request->perfetto, "Chrome's trace JSON, for Perfetto")->type_name("FILE");
  export_->add_option("--paraver", request->paraver, "Paraver's .prv, with .pcf and .row beside it")
      ->type_name("FILE");
  export_->callback([request] {
    if (request->perfetto.empty() && request->paraver.empty()) throw CLI::RequiredError("--perfetto or --paraver");
    end_with(export_main(*request));
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

}  // namespace hearth::cli
