// What a benchmark program printed, and how it ended. See campaign.h.
#include <csignal>
#include <cstdlib>

#include <sstream>

#include <fmt/format.h>

#include "trial/campaign.h"
#include "trial/value.h"

namespace hearth::trial {
namespace {

std::string signal_name(int number) {
  switch (number) {
    case SIGSEGV: return "SIGSEGV";
    case SIGABRT: return "SIGABRT";
    case SIGBUS: return "SIGBUS";
    case SIGFPE: return "SIGFPE";
    case SIGILL: return "SIGILL";
    case SIGKILL: return "SIGKILL";
    case SIGTERM: return "SIGTERM";
    default: return fmt::format("signal {}", number);
  }
}

Answer failed(State state, std::string why) {
  Answer out;
  out.state = state;
  out.why = std::move(why);
  return out;
}

// "runtime FILE", then "repeat 0 balance 1.000 seconds 0.001234" for each.
Answer las_answer(const Job& job, const std::string& text) {
  Answer out;
  std::vector<double> seconds;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("runtime ")) out.served_by = line.substr(8);
    const std::size_t at = line.find(" seconds ");
    if (line.starts_with("repeat ") && at != std::string::npos)
      seconds.push_back(std::strtod(line.c_str() + at + 9, nullptr));
  }
  if (seconds.empty()) return failed(State::wrong, "its output tells no time");
  out.ns[job.benchmark] = spread_of(seconds).median * 1e9;
  return out;
}

Answer json_answer(const Job& job, const std::string& text) {
  const ReadValue read = read_value(text);
  const Value& rows = read.value.get("rows");
  if (!read.ok() || rows.items.empty()) return failed(State::wrong, "its output tells no time");
  Answer out;
  out.served_by = read.value.get("runtime_file").text;
  for (std::size_t i = 0; i < rows.keys.size(); ++i) {
    std::vector<double> ns;
    for (const Value& one : rows.items[i].get("ns").items) ns.push_back(one.number);
    const bool alone = rows.keys.size() == 1;
    const std::string name = alone && !job.row_is_name ? job.benchmark
                             : job.row_is_name         ? rows.keys[i]
                                                       : fmt::format("{} {}", job.benchmark, rows.keys[i]);
    if (!ns.empty()) out.ns[harmless(name)] = spread_of(ns).median;
  }
  return out;
}

}  // namespace

Answer answer_of(const Job& job, const Ended& ended, double limit_s) {
  switch (ended.how) {
    case Ended::How::by_time: return failed(State::hung, fmt::format("no end after {:.0f} s", limit_s));
    case Ended::How::by_signal: return failed(State::crashed, signal_name(ended.status));
    case Ended::How::stopped: return failed(State::left_out, "interrupted");
    case Ended::How::not_started: return failed(State::refused, "no process could be started");
    case Ended::How::normally: break;
  }
  if (ended.status == 127) return failed(State::refused, "the program does not start on this runtime");
  if (ended.status != 0 && ended.errors.find("no memory") != std::string::npos)
    return failed(State::refused, "no memory");
  if (ended.status != 0) return failed(State::wrong, fmt::format("its check failed: exit status {}", ended.status));
  return job.las_output ? las_answer(job, ended.output) : json_answer(job, ended.output);
}

}  // namespace hearth::trial
