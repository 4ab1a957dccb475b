// See campaign.h.
#include "trial/campaign.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <limits>
#include <random>
#include <stdexcept>

#include <fmt/format.h>

#include "survey/measure.h"
#include "trial/conditions.h"

namespace hearth::trial {
namespace {

using Clock = std::chrono::steady_clock;
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr double kWriteSeconds = 2;  // at the end
constexpr double kPatienceSeconds = 30, kPatienceGuesses = 20;

Rows rows_of(const topology::Matrix<double>& matrix) {
  Rows out;
  for (std::size_t i = 0; i < matrix.size(); ++i) {
    out.emplace_back();
    for (std::size_t j = 0; j < matrix.size(); ++j) out.back().push_back(matrix.at(i, j));
  }
  return out;
}

struct Running {
  Job job;
  double seconds = 0;  // how long it took last
  bool given_up = false;
  std::map<std::string, std::size_t> rows;  // in the result, by name
};

class Trial {
 public:
  Trial(const CampaignRequest& request, const topology::Machine& machine, const Campaign& campaign)
      : request_(request), machine_(machine), campaign_(campaign) {}

  Result run() {
    const topology::SystemRoot root;
    const CpuTimes begin = cpu_times(root);
    result_.hearth_version = HEARTH_VERSION;
    result_.sets = request_.sets;
    result_.minutes = request_.minutes;
    result_.threads = request_.threads;
    result_.quick = request_.quick;
    result_.machine = machine_facts(root, machine_);
    result_.conditions = conditions_before(root, machine_);
    for (const Runtime& one : request_.runtimes) result_.runtimes.push_back({one.name, one.kind, one.build});
    if (wants("machine")) measure_machine();
    plan(available_memory(root));
    for (std::size_t i = 0; i < request_.runtimes.size(); ++i) {
      if (!link_names(request_.runtimes[i], links(i)))
        throw std::runtime_error(fmt::format("{}: cannot be written", links(i)));
    }
    while (result_.ended == "complete" && !over_ && another_round()) round();
    finish();
    result_.seconds = elapsed();
    judge(begin, cpu_times(root), result_.machine.cpus, result_.conditions);
    return std::move(result_);
  }

 private:
  bool wants(std::string_view set) const {
    return std::find(request_.sets.begin(), request_.sets.end(), set) != request_.sets.end();
  }
  double elapsed() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
  double left() const { return request_.minutes * 60 - kWriteSeconds - elapsed(); }
  std::string links(std::size_t runtime) const { return fmt::format("{}/{}", request_.scratch, runtime); }

  void measure_machine() {
    try {
      const auto measured = survey::measure(machine_, true, [this](const survey::Step& step) {
        return campaign_.watch(step.what, elapsed(), request_.minutes * 60);
      });
      if (!measured) {
        result_.ended = "interrupted";
        return;
      }
      MeasuredFacts facts{rows_of(measured->read_ns), rows_of(measured->read_mbs),
                          measured->loaded_ns,        measured->memory_gbs,
                          measured->llc_ns,           {}};
      for (const std::string& remark : measured->remarks) facts.remarks.push_back(harmless(remark));
      result_.machine.measured = std::move(facts);
    } catch (const std::exception& error) {
      campaign_.say(fmt::format("the machine could not be measured: {}", error.what()));
      result_.left_out.push_back("machine: it could not be measured");
    }
  }

  void plan(std::uint64_t available) {
    PlanInput input{request_.sets,
                    request_.quick,
                    request_.tiny,
                    request_.threads,
                    static_cast<int>(result_.machine.nodes.size()),
                    0,
                    request_.runtimes,
                    {}};
    std::error_code error;
    for (std::filesystem::directory_iterator it(request_.programs, error), end; !error && it != end;
         it.increment(error))
      input.programs.insert(it->path().filename().string());
    if (wants("las")) {
      PlanInput only = input;
      only.sets = {"las"};
      const auto& caches = result_.machine.cache_bytes;
      const DataChoice data = choose_data({caches.empty() ? 0 : *std::max_element(caches.begin(), caches.end()),
                                           available, request_.minutes * 60, request_.tiny},
                                          plan_jobs(only).size());
      if (!data.remark.empty()) note(data.remark);
      if (data.bytes == 0) std::erase(input.sets, "las");
      input.data_bytes = result_.data_bytes = data.bytes;
    }
    for (Job& job : plan_jobs(input)) {
      Running one;
      one.job = std::move(job);
      one.seconds = one.job.guess_s;
      running_.push_back(std::move(one));
    }
    for (const std::string& set : input.sets) {
      if (set != "machine" &&
          std::none_of(running_.begin(), running_.end(), [&](const Running& one) { return one.job.set == set; }))
        note(fmt::format("{}: its programs are not in this installation", set));
    }
  }

  void note(const std::string& text) {
    campaign_.say(text);
    result_.left_out.push_back(harmless(text));
  }

  double round_seconds() const {
    double sum = 0;
    for (const Running& one : running_) sum += one.given_up ? 0 : one.seconds;
    return sum;
  }

  bool another_round() {
    const bool any = std::any_of(running_.begin(), running_.end(), [](const Running& one) { return !one.given_up; });
    if (!any || result_.rounds >= request_.rounds) return false;
    const double seconds = round_seconds();
    const int more = rounds_that_fit(left(), seconds, request_.rounds - result_.rounds);
    expected_ = elapsed() + std::max(1, more) * seconds;
    if (result_.rounds == 0) {
      campaign_.say(fmt::format("{} programs in each round; the first takes about {:.0f} s", running_.size(), seconds));
      return true;
    }
    if (result_.rounds == 1)
      campaign_.say(fmt::format("a round takes {:.0f} s: {} rounds in {:.0f} minutes", seconds, result_.rounds + more,
                                request_.minutes));
    if (more == 0)
      result_.left_out.push_back(
          fmt::format("rounds after {}: they did not fit into {:g} minutes", result_.rounds, request_.minutes));
    return more > 0;
  }

  // Programs in random order, and the runtimes of each.
  std::vector<std::size_t> order() {
    std::vector<std::vector<std::size_t>> groups;
    for (std::size_t i = 0; i < running_.size(); ++i) {
      if (i == 0 || !running_[i].job.same_program(running_[i - 1].job)) groups.emplace_back();
      groups.back().push_back(i);
    }
    std::shuffle(groups.begin(), groups.end(), random_);
    std::vector<std::size_t> out;
    for (auto& group : groups) {
      std::shuffle(group.begin(), group.end(), random_);
      out.insert(out.end(), group.begin(), group.end());
    }
    return out;
  }

  void round() {
    double rest = round_seconds();
    for (const std::size_t i : order()) {
      Running& one = running_[i];
      if (one.given_up) continue;
      if (left() < one.seconds) {
        over_ = true;
        if (result_.rounds == 0)
          result_.ended = "time";
        else
          result_.left_out.push_back(fmt::format("the rest of round {}: time was over", result_.rounds + 1));
        return;
      }
      expected_ = std::max(expected_, elapsed() + rest);
      const std::string what = fmt::format("{} {} on {}", one.job.set, one.job.benchmark,
                                           request_.runtimes[one.job.runtime].name);
      if (!campaign_.watch(what, elapsed(), expected_)) {
        result_.ended = "interrupted";
        return;
      }
      const double guess = one.seconds;
      execute(one);
      rest -= guess;
      if (over_) return;
      if (campaign_.stopped()) {
        result_.ended = "interrupted";
        return;
      }
    }
    ++result_.rounds;
  }

  void execute(Running& one) {
    const Runtime& runtime = request_.runtimes[one.job.runtime];
    std::vector<std::string> command = {request_.programs + "/" + one.job.program};
    command.insert(command.end(), one.job.arguments.begin(), one.job.arguments.end());
    std::vector<std::pair<std::string, std::string>> more = {{"LD_LIBRARY_PATH", links(one.job.runtime)},
                                                             {"OMP_NUM_THREADS", std::to_string(request_.threads)},
                                                             {"OMP_DYNAMIC", "false"}};
    if (!runtime.policy.empty()) more.emplace_back("HEARTH_POLICY", runtime.policy);
    const double patience = std::max(kPatienceSeconds, kPatienceGuesses * one.seconds),
                 limit = std::min(patience, std::max(1.0, left()));
    const Ended ended = run_process(command, plain_environment(more), limit, campaign_.stopped);
    if (ended.how == Ended::How::by_time && limit < patience) return run_out(one);
    Answer answer = answer_of(one.job, ended, limit);
    if (answer.state == State::left_out) return;
    std::error_code error;
    if (answer.state == State::measured && std::filesystem::canonical(answer.served_by, error).string() != runtime.file)
      answer = {State::refused, "another library served it", "", {}};
    one.seconds = ended.seconds;
    if (answer.state != State::measured) return give_up(one, answer, ended);
    for (const auto& [name, ns] : answer.ns) {
      Row& row = row_of(one, name);
      row.state = State::measured;
      row.ns.resize(static_cast<std::size_t>(result_.rounds), kNone);
      row.ns.push_back(ns);
    }
  }

  // The time of all is over while one runs, which says nothing about that one.
  void run_out(const Running& one) {
    over_ = true;
    if (result_.rounds == 0) result_.ended = "time";
    result_.left_out.push_back(
        harmless(fmt::format("{} {} in round {}: time was over", one.job.set, one.job.benchmark, result_.rounds + 1)));
  }

  void give_up(Running& one, const Answer& answer, const Ended& ended) {
    one.given_up = true;
    const std::string last = ended.errors.substr(0, ended.errors.find('\n'));
    campaign_.say(fmt::format("{} {} ({}) on {}: {}: {}{}{}", one.job.set, one.job.benchmark, one.job.compiler,
                              request_.runtimes[one.job.runtime].name, state_word(answer.state), answer.why,
                              last.empty() ? "" : ": ", last));
    if (one.rows.empty()) row_of(one, one.job.benchmark);
    for (const auto& [name, index] : one.rows) {
      result_.rows[index].state = answer.state;
      result_.rows[index].why = harmless(answer.why);
    }
  }

  Row& row_of(Running& one, const std::string& name) {
    const auto found = one.rows.find(name);
    if (found != one.rows.end()) return result_.rows[found->second];
    one.rows[name] = result_.rows.size();
    result_.rows.push_back({one.job.set,
                            name,
                            one.job.compiler,
                            one.job.data,
                            request_.runtimes[one.job.runtime].name,
                            State::left_out,
                            "",
                            {}});
    return result_.rows.back();
  }

  // In the order of the plan, and those that never ran, too.
  void finish() {
    for (Running& one : running_) {
      if (!one.rows.empty()) continue;
      row_of(one, one.job.benchmark).why = result_.ended == "interrupted" ? "interrupted" : "time was over";
    }
    std::vector<Row> sorted;
    for (const Running& one : running_) {
      for (const auto& [name, index] : one.rows) sorted.push_back(std::move(result_.rows[index]));
    }
    result_.rows = std::move(sorted);
  }

  const CampaignRequest& request_;
  const topology::Machine& machine_;
  const Campaign& campaign_;
  const Clock::time_point start_ = Clock::now();
  double expected_ = 0;
  bool over_ = false;
  std::mt19937_64 random_{20150401};
  std::vector<Running> running_;
  Result result_;
};

}  // namespace

Result run_campaign(const CampaignRequest& request, const topology::Machine& machine, const Campaign& campaign) {
  return Trial(request, machine, campaign).run();
}

}  // namespace hearth::trial
