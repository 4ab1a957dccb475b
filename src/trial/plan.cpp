// See plan.h.
#include "trial/plan.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace hearth::trial {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
constexpr std::uint64_t kLeastData = 4 * kMiB, kMostData = 256 * kMiB, kUsualData = 32 * kMiB, kSmallData = 16 * kMiB;
constexpr std::uint64_t kLeastMemory = 256 * kMiB;
constexpr double kBytesPerSecond = 320e6;  // of a memory-bound benchmark with all that goes around it
constexpr double kFixedSeconds = 0.04;     // of each program
constexpr int kWantedRounds = 6;

constexpr const char* kTasks[] = {"fib", "nqueens", "sort", "strassen", "sparselu", "uts", "health"};
constexpr const char* kLas[] = {"map", "reduction", "vecmul", "matmul", "jacobi", "sparselu"};
constexpr const char* kNested[] = {"nested_regions", "nested_stream", "zones", "nested_lu", "amr"};
constexpr const char* kNestedNames[] = {"nested regions", "Nested-STREAM", "zones", "nested LU", "adaptive mesh"};
constexpr const char* kOverheads =
    "parallel;barrier;for static;for dynamic,1;critical;task, one creator;task, all creators;task nested (fib);taskwait;"
    "depend chain;nested parallel";

std::string argument(const char* name, std::uint64_t value) { return fmt::format("{}={}", name, value); }

double las_guess(std::string_view name, std::uint64_t bytes) {
  return name == "matmul" || name == "sparselu" ? kFixedSeconds * 2
                                                : kFixedSeconds + static_cast<double>(bytes) / kBytesPerSecond;
}

std::vector<std::string> las_arguments(std::string_view name, const PlanInput& input) {
  const std::uint64_t kib = input.data_bytes >> 10;
  // Those that compute: by how many do it.
  const std::uint64_t scale = input.threads <= 8 ? 1 : input.threads <= 64 ? 2 : 4;
  if (input.tiny) {
    if (name == "map" || name == "vecmul") return {"vectors=4", "kib=16"};
    if (name == "reduction") return {"kib=64", "depth=3"};
    return {"size=64", "block=32"};
  }
  if (name == "map") return {"vectors=48", argument("kib", std::max<std::uint64_t>(1, kib / 48))};
  if (name == "reduction") return {argument("kib", std::max<std::uint64_t>(64, kib / 2)), "depth=6"};
  if (name == "vecmul") return {"vectors=128", argument("kib", std::max<std::uint64_t>(1, kib / 384))};
  if (name == "matmul") return {argument("size", 512 * scale), "block=64"};
  if (name == "sparselu") return {argument("size", 1024 * scale), "block=64"};
  // jacobi: two matrices of floats, sixteen blocks in a row.
  const auto block = static_cast<std::uint64_t>(std::sqrt(static_cast<double>(input.data_bytes) / 8) / 16);
  return {argument("size", 16 * block), argument("block", block), "sweeps=2"};
}

class Planner {
 public:
  explicit Planner(const PlanInput& input) : input_(input) {}
  std::vector<Job> jobs;

  bool has_set(std::string_view name) const {
    return std::find(input_.sets.begin(), input_.sets.end(), name) != input_.sets.end();
  }
  bool has(const std::string& program) const { return input_.programs.count(program) > 0; }

  void overheads() {
    const std::string samples = input_.tiny ? "1" : "3", length = input_.tiny ? "20" : "400";
    add("overheads", "constructs", "overhead",
        {"--rows", input_.tiny ? "parallel;taskwait" : kOverheads, "--samples", samples, "--sample-us", length,
         "--max-wait-us", input_.tiny ? "0" : "2000"},
        input_.tiny ? 0.1 : 0.8, true);
  }

  void tasks() {
    for (const char* name : kTasks) {
      if (input_.tiny && std::string_view(name) != "fib") continue;
      std::vector<std::string> arguments = {"--json",
                                            "--samples",
                                            input_.tiny ? "1" : "3",
                                            "--budget-ms",
                                            input_.tiny ? "1" : "300",
                                            "--max-wait-us",
                                            input_.tiny ? "0" : "2000"};
      add("tasks", name, name, arguments, 0.4, true);
      if (input_.quick || input_.tiny) continue;
      arguments.emplace_back("--all");
      add("tasks", fmt::format("{} all", name), name, arguments, 0.4, true);
    }
  }

  void nested() {
    const int teams = std::max(2, input_.nodes), threads = std::max(2, input_.threads / teams);
    const char* bytes[] = {"4K", "4M", "1M", "", "512K"};
    for (std::size_t i = 0; i < std::size(kNested); ++i) {
      if (input_.tiny && i > 0) continue;
      std::vector<std::string> arguments = {"--teams",   std::to_string(teams),   "--threads", std::to_string(threads),
                                            "--repeats", input_.tiny ? "1" : "3", "--json"};
      if (*bytes[i] != '\0')
        arguments.insert(arguments.end(), {"--bytes", bytes[i]});
      else
        arguments.insert(arguments.end(), {"--size", "256"});
      add("nested", kNestedNames[i], kNested[i], arguments, 0.4, false);
    }
  }

  // gcc's build on libgomp; clang's, whose clauses tell lengths, on the others; Hearth with both.
  void las() {
    for (const char* name : kLas) {
      if (input_.tiny && std::string_view(name) != "map" && std::string_view(name) != "matmul") continue;
      const std::string file = fmt::format("las-{}", name);
      const bool clang = has(file + ".clang");
      for (const char* compiler : {"gcc", "clang"}) {
        if (!has(file + "." + compiler)) continue;
        for (std::size_t i = 0; i < input_.runtimes.size(); ++i) {
          const Runtime& runtime = input_.runtimes[i];
          const bool gcc = std::string_view(compiler) == "gcc";
          if (gcc ? clang && runtime.kind != "hearth" && runtime.kind != "libgomp" : !runtime.serves_clang()) continue;
          if (runtime.kind == "hearth" && runtime.policy.empty()) continue;
          las_on(name, compiler, i);
        }
      }
    }
  }

 private:
  void las_on(const char* name, const char* compiler, std::size_t runtime) {
    std::vector<const char*> distributions = {"standard"};
    if (input_.runtimes[runtime].kind == "hearth")
      distributions.insert(distributions.end(), {"fine", "coarse"});
    else if (input_.nodes > 1)
      distributions.push_back("interleaved");
    for (const char* distribution : distributions) {
      Job job{"las",
              name,
              compiler,
              distribution,
              fmt::format("las-{}.{}", name, compiler),
              las_arguments(name, input_),
              runtime,
              true,
              true,
              input_.tiny ? 0.05 : las_guess(name, input_.data_bytes)};
      job.arguments.push_back(input_.tiny ? "repeats=1" : "repeats=2");
      job.arguments.push_back(fmt::format("distribution={}", distribution));
      jobs.push_back(std::move(job));
    }
  }

  // gcc's build runs on all; clang's where there is no other.
  void add(const char* set, const std::string& benchmark, const char* file, const std::vector<std::string>& arguments,
           double guess, bool row_is_name) {
    const bool gcc = has(fmt::format("{}.gcc", file));
    const char* compiler = gcc ? "gcc" : "clang";
    if (!gcc && !has(fmt::format("{}.clang", file))) return;
    for (std::size_t i = 0; i < input_.runtimes.size(); ++i) {
      if (!input_.runtimes[i].policy.empty() || (!gcc && !input_.runtimes[i].serves_clang())) continue;
      jobs.push_back({set, benchmark, compiler, "none", fmt::format("{}.{}", file, compiler), arguments, i, false,
                      row_is_name, guess});
    }
  }

  const PlanInput& input_;
};

}  // namespace

std::vector<Job> plan_jobs(const PlanInput& input) {
  Planner planner(input);
  if (planner.has_set("overheads")) planner.overheads();
  if (planner.has_set("tasks")) planner.tasks();
  if (planner.has_set("las")) planner.las();
  if (planner.has_set("nested")) planner.nested();
  return planner.jobs;
}

DataChoice choose_data(const DataInput& input, std::size_t las_jobs) {
  DataChoice out;
  if (input.tiny) return {kLeastData, ""};
  if (input.available_bytes < kLeastMemory) {
    out.remark = fmt::format("las: {} MiB of memory are available, {} MiB are needed", input.available_bytes / kMiB,
                             kLeastMemory / kMiB);
    return out;
  }
  const std::uint64_t wanted = std::max(4 * input.cache_bytes, kUsualData);
  out.bytes = std::min(wanted, kMostData);
  const char* why = out.bytes < wanted ? "more takes too long to fill" : "";
  while (out.bytes > kLeastData && out.bytes * 4 > input.available_bytes) {
    out.bytes /= 2;
    why = "memory has no room for more";
  }
  const auto seconds = [&] {
    return (kFixedSeconds + 2 * static_cast<double>(out.bytes) / kBytesPerSecond / 3) * static_cast<double>(las_jobs) *
           kWantedRounds;
  };
  while (out.bytes > kSmallData && seconds() > input.seconds * 0.6) {
    out.bytes /= 2;
    why = "more would leave time for too few rounds";
  }
  if (out.bytes < wanted)
    out.remark = fmt::format("las: data of {} MiB instead of {} MiB (four times the cache of {} MiB): {}",
                             out.bytes / kMiB, wanted / kMiB, input.cache_bytes / kMiB, why);
  return out;
}

int rounds_that_fit(double seconds_left, double seconds_of_a_round, int most) {
  if (seconds_left <= 0) return 0;
  if (seconds_of_a_round <= 0) return most;
  return static_cast<int>(std::clamp(std::floor(seconds_left / seconds_of_a_round), 0.0, static_cast<double>(most)));
}

}  // namespace hearth::trial
