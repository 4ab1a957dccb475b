// `hearth topo --measure`: measures this machine (survey/measure.h), shows how far it is, and writes the model when all
// is done; nothing is left behind otherwise. One thread; the signal handlers of InterruptWatch only set a flag.
#include "cli/topo.h"

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <stdexcept>

#include <fmt/format.h>
#include <unistd.h>

#include "cli/interrupt.h"
#include "cli/output.h"
#include "sim/cost/parameters.h"
#include "survey/measure.h"
#include "topology/current.h"
#include "topology/model.h"
#include "topology/sysfs.h"

namespace hearth::cli {
namespace {

using topology::Machine;
using Clock = std::chrono::steady_clock;

constexpr int kExitInterrupted = 130;

/// A bar with the time that is left on a terminal; elsewhere one line for each new thing.
class Steps {
 public:
  Steps() = default;
  ~Steps() {
    if (terminal_) put_text(stderr, "\r\033[K");
  }
  Steps(const Steps&) = delete;
  Steps& operator=(const Steps&) = delete;

  void show(const survey::Step& step) {
    if (terminal_) {
      draw(step);
    } else if (step.what != last_) {
      say("topo: measuring {}", step.what);
    }
    last_ = step.what;
  }

 private:
  void draw(const survey::Step& step) const {
    constexpr int kWidth = 30;
    const double share = std::min(1.0, step.done / step.expected);
    const double spent = std::chrono::duration<double>(Clock::now() - start_).count();
    // At first by what was planned, later by how long that takes here.
    const double pace = step.done > 2 ? spent / step.done : 1;
    const int filled = static_cast<int>(share * kWidth);
    put(stderr, "\r\033[K[{:#<{}}{:.<{}}] {:3.0f} %  about {:.0f} s left  {}", "", filled, "", kWidth - filled,
        share * 100, std::max(1.0, (step.expected - step.done) * pace), step.what);
  }

  Clock::time_point start_ = Clock::now();
  const bool terminal_ = isatty(STDERR_FILENO) == 1;
  std::string last_;
};

std::string processor_name() {
  std::ifstream info("/proc/cpuinfo");
  std::string line;
  while (std::getline(info, line)) {
    if (line.compare(0, 10, "model name") != 0) continue;
    const std::size_t colon = line.find(": ");
    if (colon != std::string::npos) return line.substr(colon + 2);
  }
  return "a machine";
}

// Beside the file and then in its place, so that there is never half of one.
void replace_file(const std::string& file, const std::string& text) {
  const std::string beside = fmt::format("{}.{}", file, getpid());
  const auto fail = [&](const char* what) {
    const int why = errno;
    unlink(beside.c_str());
    throw std::runtime_error(fmt::format("{}: {}: {}", file, what, std::strerror(why)));
  };
  std::FILE* out = std::fopen(beside.c_str(), "wx");
  if (out == nullptr) fail("cannot be written");
  const bool written = std::fwrite(text.data(), 1, text.size(), out) == text.size();
  const bool closed = std::fclose(out) == 0;
  if (!written || !closed) fail("cannot be written");
  if (std::rename(beside.c_str(), file.c_str()) != 0) fail("cannot be written");
}

// By the readers that will read it.
void check(const std::string& text, const std::string& file) {
  const topology::LoadedMachine loaded = topology::parse_model(text, file);
  std::string problem = loaded.error;
  if (loaded.ok()) problem = sim::parse_parameters(text, file, loaded.machine).error();
  if (!problem.empty())
    throw std::runtime_error(fmt::format("what was measured makes no model: {}", problem));
}

void check_file(const std::filesystem::path& path) {
  if (path.empty()) return;
  const std::string folder = path.has_parent_path() ? path.parent_path().string() : ".";
  if (access(folder.c_str(), W_OK | X_OK) != 0)
    throw std::runtime_error(fmt::format("{}: cannot be written: {}", path.string(), std::strerror(errno)));
  if (path.extension() != ".toml")
    throw std::runtime_error(
        fmt::format("{}: a model file's name ends in .toml, or HEARTH_MACHINE does not take it", path.string()));
}

std::optional<survey::Measured> watched_measurement(const Machine& machine, bool quick) {
  const InterruptWatch watch;
  Steps steps;
  return survey::measure(machine, quick, [&steps](const survey::Step& step) {
    if (interrupted() != 0) return false;
    steps.show(step);
    return true;
  });
}

}  // namespace

int measure_machine(const std::string& file, bool quick) {
  const std::filesystem::path path(file);
  check_file(path);
  const Machine machine = topology::read_sysfs(topology::SystemRoot(), topology::allowance());
  const std::optional<survey::Measured> measured = watched_measurement(machine, quick);
  if (!measured) {
    say("topo: interrupted; nothing was written");
    return kExitInterrupted;
  }
  const std::string name = file.empty() ? "measured" : path.stem().string();
  const std::string text =
      survey::model_text(machine, *measured, name, fmt::format("{}, measured", processor_name()));
  check(text, file.empty() ? "standard output" : file);
  for (const std::string& remark : measured->remarks) say("topo: {}", remark);
  if (file.empty()) {
    put_text(stdout, text);
  } else {
    replace_file(file, text);
    put(stdout, "Wrote {}; HEARTH_MACHINE={} pretends it.\n", file, path.is_absolute() ? file : "./" + file);
  }
  return 0;
}

}  // namespace hearth::cli
