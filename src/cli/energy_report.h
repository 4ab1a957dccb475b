// `hearth run --energy`: joules of a run beside its time; and the model's coefficients for it and for `hearth sim`.
//
// While the program runs, one thread samples the counters, some of which wrap; everything else is done by the thread
// that starts the program.
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "energy/meter.h"
#include "energy/model.h"
#include "sim/cost/parameters.h"

namespace hearth::cli {

/// The coefficients of a model, at their values or at an end of their ranges.
enum class Within : std::uint8_t { low, value, high };
energy::Rates rates_of(const sim::Parameters& parameters, Within within);

class EnergyReport {
 public:
  /// `model`: a machine model that estimates where nothing measures; empty: that of HEARTH_MACHINE, if there is one.
  explicit EnergyReport(std::string model) : model_(std::move(model)) {}
  ~EnergyReport();
  /// False, and said: the model cannot be used.
  bool begin();
  /// After the program: one line of joules and seconds, on standard error.
  void tell();

 private:
  struct Usage {
    double cpu_seconds = 0, switches = 0;
  };
  static Usage usage_of_children();
  void tell_measured(const energy::Measured& measured, double seconds) const;
  void tell_estimate(const std::string& why_not, double seconds, const Usage& used) const;
  void stop_sampling();

  std::string model_;
  bool has_rates_ = false;
  std::string rates_from_;
  sim::Parameters parameters_;
  double packages_ = 1, cores_ = 1;
  std::unique_ptr<energy::Meter> meter_;
  std::chrono::steady_clock::time_point began_;
  Usage before_;
  std::thread sampler_;
  std::mutex mutex_;  // of ended_
  std::condition_variable changed_;
  bool ended_ = false;
};

}  // namespace hearth::cli
