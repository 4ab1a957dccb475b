// What studies of policies have in common: machines with draws of what is not known of them, and many runs on all threads.
#pragma once

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "papers/progress.h"
#include "sim/cost/parameters.h"
#include "sim/study/sweep.h"
#include "topology/model.h"

namespace hearth::study {

struct Model {
  topology::Machine machine;
  sim::Parameters parameters;
  std::vector<sim::Parameters> draws;
};

/// Machine models of a folder by their names, each read once. Used by one thread.
class Models {
 public:
  /// `program`: whom errors name.
  Models(const char* program, std::string folder, std::uint32_t draws)
      : program_(program), folder_(std::move(folder)), draws_(draws) {}

  /// Ends the program if there is no such model.
  const Model& named(const std::string& name) {
    const auto [entry, is_new] = loaded_.try_emplace(name);
    Model& model = entry->second;
    if (!is_new) return model;
    const std::string path = fmt::format("{}/{}.toml", folder_, name);
    topology::LoadedMachine machine = topology::load_model(path);
    if (!machine.ok()) fail(machine.error);
    model.machine = std::move(machine.machine);
    sim::LoadedParameters parameters = sim::load_parameters(path, model.machine);
    if (!parameters.ok()) fail(parameters.error());
    model.parameters = std::move(parameters.parameters);
    for (const std::vector<double>& unit : sim::latin_hypercube(model.parameters.ranges().size(), draws_, 1))
      model.draws.push_back(model.parameters.drawn(unit));
    return model;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    fmt::print(stderr, "{}: {}\n", program_, what);
    std::exit(1);
  }

  const char* const program_;
  const std::string folder_;
  const std::uint32_t draws_;
  std::map<std::string, Model> loaded_;
};

/// Calls `run` with each number below `count` once, on so many threads.
template <class Run>
void run_all(const char* what, std::size_t count, unsigned threads, Run run) {
  papers::Progress progress(what, count);
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (;;) {
      const std::size_t mine = next.fetch_add(1, std::memory_order_relaxed);
      if (mine >= count) return;
      run(mine);
      progress.one_more();
    }
  };
  std::vector<std::thread> others;
  for (unsigned thread = 1; thread < threads; ++thread) others.emplace_back(work);
  work();
  for (std::thread& other : others) other.join();
}

/// To this file, or to standard output if `path` is empty. Ends the program if that fails.
inline void write(const char* program, const std::string& text, const std::string& path) {
  std::FILE* file = path.empty() ? stdout : std::fopen(path.c_str(), "w");
  if (!file || std::fwrite(text.data(), 1, text.size(), file) != text.size() || std::fflush(file) != 0) {
    fmt::print(stderr, "{}: {}: {}\n", program, path.empty() ? "standard output" : path, std::strerror(errno));
    std::exit(1);
  }
  if (!path.empty()) std::fclose(file);
}

// Five digits: no more mean anything, and files stay readable.
inline double rounded(double number) { return std::stod(fmt::format("{:.5g}", number)); }

}  // namespace hearth::study
