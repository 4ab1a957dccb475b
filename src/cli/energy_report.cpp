// See energy_report.h.
#include "cli/energy_report.h"

#include <csignal>
#include <cstdlib>

#include <sys/resource.h>

#include "cli/map_input.h"
#include "cli/output.h"

namespace hearth::cli {
namespace {

double pick(const sim::Figure& figure, Within within) {
  return within == Within::low ? figure.low : within == Within::high ? figure.high : figure.value;
}

const char* joules_unit(double joules) { return joules < 1 ? "mJ" : joules < 10'000 ? "J" : "kJ"; }
std::string joules_text(double joules) {
  const double shown = joules < 1 ? joules * 1000 : joules < 10'000 ? joules : joules / 1000;
  return fmt::format("{:.4g} {}", shown, joules_unit(joules));
}

}  // namespace

energy::Rates rates_of(const sim::Parameters& parameters, Within within) {
  const sim::Parameters::Energy& e = parameters.energy;
  return {pick(e.uncore_w, within),  pick(e.idle_w, within),    pick(e.active_w, within), pick(e.cache_nj, within),
          pick(e.memory_nj, within), pick(e.remote_nj, within), pick(e.switch_uj, within)};
}

EnergyReport::~EnergyReport() { stop_sampling(); }

bool EnergyReport::begin() {
  if (!model_.empty() || std::getenv("HEARTH_MACHINE") != nullptr) {
    MapMachine machine = load_map_machine(model_);
    const bool asked = !model_.empty();
    const std::string problem = !machine.error.empty()           ? machine.error
                                : !machine.no_simulation.empty() ? machine.no_simulation
                                : !machine.parameters.energy.given
                                    ? fmt::format("{} has no [simulator.energy]", machine.machine.origin)
                                    : "";
    if (asked && !problem.empty()) {
      say("--energy: {}", problem);
      return false;
    }
    has_rates_ = problem.empty();
    if (has_rates_) {
      rates_from_ = machine.name;
      packages_ = static_cast<double>(machine.machine.packages.size());
      cores_ = static_cast<double>(machine.machine.cores.size());
      parameters_ = std::move(machine.parameters);
    }
  }
  meter_ = std::make_unique<energy::Meter>(topology::SystemRoot());
  before_ = usage_of_children();
  began_ = std::chrono::steady_clock::now();
  if (!meter_->available()) return true;
  // Signals are the other thread's.
  sigset_t all, old;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old);
  sampler_ = std::thread([this] {
    std::unique_lock lock(mutex_);
    while (!changed_.wait_for(lock, std::chrono::seconds(energy::kSampleSeconds), [this] { return ended_; }))
      meter_->sample();
  });
  pthread_sigmask(SIG_SETMASK, &old, nullptr);
  return true;
}

void EnergyReport::stop_sampling() {
  if (!sampler_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  changed_.notify_one();
  sampler_.join();
}

EnergyReport::Usage EnergyReport::usage_of_children() {
  rusage usage{};
  getrusage(RUSAGE_CHILDREN, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return {seconds(usage.ru_utime) + seconds(usage.ru_stime), static_cast<double>(usage.ru_nvcsw + usage.ru_nivcsw)};
}

void EnergyReport::tell() {
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
  stop_sampling();
  const energy::Measured measured = meter_->read();
  const Usage now = usage_of_children();
  if (measured.available)
    tell_measured(measured, seconds);
  else
    tell_estimate(measured.why_not, seconds, {now.cpu_seconds - before_.cpu_seconds, now.switches - before_.switches});
}

void EnergyReport::tell_measured(const energy::Measured& measured, double seconds) const {
  const double joules = measured.joules();
  std::string parts;
  for (const energy::Domain& domain : measured.domains)
    if (domain.part != energy::Part::core)  // there may be hundreds
      parts += fmt::format("{}{} {}", parts.empty() ? "" : ", ", domain.name, joules_text(domain.joules));
  say("energy: {} in {:.3f} s ({:.4g} W), measured by {} for the whole machine, other programs included{}{}",
      joules_text(joules), seconds, seconds > 0 ? joules / seconds : 0, measured.source, parts.empty() ? "" : ": ",
      parts);
}

void EnergyReport::tell_estimate(const std::string& why_not, double seconds, const Usage& used) const {
  if (!has_rates_) {
    say("energy: not available in {:.3f} s: {}. A machine model with [simulator.energy] gives an estimate: "
        "--energy=MODEL",
        seconds, why_not);
    return;
  }
  energy::Activity activity;
  activity.seconds = seconds;
  activity.packages = packages_;
  activity.cores = cores_;
  activity.busy_core_seconds = used.cpu_seconds;
  activity.switches = used.switches;
  const auto joules = [&](Within within) { return modelled_joules(rates_of(parameters_, within), activity); };
  say("energy: about {} ({} - {}) in {:.3f} s, an estimate by the model {}, from CPU time and switches, without "
      "accesses to memory; not measured: {}",
      joules_text(joules(Within::value)), joules_text(joules(Within::low)), joules_text(joules(Within::high)), seconds,
      rates_from_, why_not);
}

}  // namespace hearth::cli
