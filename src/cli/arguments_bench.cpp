// The arguments of `hearth bench` and `hearth demo`. See arguments.cpp.
#include <cmath>
#include <cstdlib>

#include <memory>
#include <string>

#include "cli/arguments_parts.h"
#include "cli/bench.h"

namespace hearth::cli {
namespace {

std::string minutes_problem(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (!text.empty() && *end == '\0' && std::isfinite(value) && value >= 0.01 && value <= 1440) return {};
  return fmt::format("\"{}\"; legal: 0.01 to 1440 minutes", text);
}

std::string size_problem(const std::string& text) {
  if (text == "tiny" || text == "usual") return {};
  return fmt::format("\"{}\"; legal: usual, tiny", text);
}

}  // namespace

void register_bench(CLI::App& app) {
  const auto request = std::make_shared<BenchRequest>();
  const auto size = std::make_shared<std::string>("usual");
  CLI::App* bench = app.add_subcommand("bench", "Measure this machine and every OpenMP runtime on it, in ten minutes");
  bench->add_flag("--quick", request->quick, "A first look: 2 minutes, fewer programs");
  bench->add_option("--only", request->only, "Only these sets: machine, overheads, tasks, las, nested")
      ->delimiter(',')
      ->type_name("SET,...");
  bench->add_option("--time", request->minutes, "How long it may take (default: 10)")
      ->check(minutes_problem)
      ->type_name("MINUTES");
  bench->add_option("--rounds", request->rounds, "At most so many rounds (default: 15, as time allows)")
      ->check(numbers(1, 1000));
  bench->add_option("--threads", request->threads, "Threads of each program (default: as many as CPUs may be used)")
      ->check(numbers(1, 4096));
  bench
      ->add_option("--runtime", request->runtimes,
                   "Another runtime, a library or a folder that has one; may be repeated")
      ->type_name("NAME=PATH")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  bench
      ->add_option("-o,--output", request->output,
                   "Where the result goes: a folder, or a name to which .json and .html are added")
      ->type_name("NAME");
  bench->add_option("--json", request->json, "Write the figures to this file, or with - to standard output")
      ->type_name("FILE|-");
  bench->add_option("--page", request->page, "Write the page to this file")->type_name("FILE.html");
  bench->add_option("--size", *size, "Sizes of the programs: usual, or tiny to try that all of them run")
      ->check(size_problem)
      ->type_name("SIZE");
  bench->add_flag("--list", request->list, "Print the sets, and the runtimes that are found");
  CLI::Option* compare = bench->add_option("--compare", request->compare, "Print what differs between two results")
                             ->expected(2)
                             ->type_name("A.json B.json");
  CLI::Option* check = bench->add_option("--check", request->check, "Say whether a file is a result as documented")
                           ->type_name("FILE");
  compare->excludes(check);
  bench->callback([request, size] {
    request->tiny = *size == "tiny";
    end_with(bench_main(*request));
  });
  app.add_subcommand("demo",
                     "Show what Hearth does to unmodified programs: task benchmarks on each runtime, half a minute")
      ->callback([] { end_with(demo_main()); });
}

}  // namespace hearth::cli
