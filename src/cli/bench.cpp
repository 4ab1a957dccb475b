// See bench.h. What is measured and how it is told is trial/'s; here are files, the terminal and Ctrl-C.
#include "cli/bench.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include <fmt/format.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/installation.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/temporary_folder.h"
#include "topology/current.h"
#include "topology/sysfs.h"
#include "trial/campaign.h"
#include "trial/page.h"
#include "trial/text.h"

namespace hearth::cli {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr int kExitInterrupted = 130;
constexpr int kUsualRounds = 15;
constexpr double kUsualMinutes = 10, kQuickMinutes = 2;
constexpr const char* kPolicies[] = {"work-stealing", "locality", "adaptive"};

/// A bar with the time that is left on a terminal; elsewhere nothing: what matters is said in lines.
class Bar {
 public:
  Bar() = default;
  ~Bar() { clear(); }
  Bar(const Bar&) = delete;
  Bar& operator=(const Bar&) = delete;

  void draw(const std::string& what, double done, double expected) {
    if (!terminal_) return;
    constexpr int kWidth = 24;
    const double share = expected > 0 ? std::clamp(done / expected, 0.0, 1.0) : 0;
    const int full = static_cast<int>(share * kWidth);
    const double left = std::max(1.0, expected - done);
    put(stderr, "\r\033[K[{:#<{}}{:.<{}}] {:3.0f} %  about {}  {:.40}", "", full, "", kWidth - full, share * 100,
        left < 100 ? fmt::format("{:.0f} s left", left) : fmt::format("{:.0f} min left", left / 60), what);
    std::fflush(stderr);
    shown_ = true;
  }
  void clear() {
    if (shown_) put_text(stderr, "\r\033[K");
    shown_ = false;
  }

 private:
  const bool terminal_ = isatty(STDERR_FILENO) == 1;
  bool shown_ = false;
};

struct Places {
  std::string json, page;
};

bool writable(const std::string& file) {
  if (file == "-") return true;
  const fs::path folder = fs::path(file).has_parent_path() ? fs::path(file).parent_path() : fs::path(".");
  std::error_code error;
  if (fs::is_directory(file, error)) {
    say("bench: {}: is a folder; a file's name is wanted", file);
    return false;
  }
  if (access(fs::exists(file, error) ? file.c_str() : folder.c_str(), W_OK) == 0) return true;
  say("bench: {}: cannot be written: {}", file, std::strerror(errno));
  return false;
}

// Without -o an earlier result is not written over: it may be wanted for a comparison.
std::string unused_stem() {
  std::string stem = "hearth-bench";
  for (int i = 2; fs::exists(stem + ".json") || fs::exists(stem + ".html"); ++i)
    stem = fmt::format("hearth-bench-{}", i);
  return stem;
}

Places places_of(const BenchRequest& request) {
  Places out{request.json, request.page};
  if (request.output.empty() && (!out.json.empty() || !out.page.empty())) return out;
  std::string stem = request.output.empty() ? unused_stem() : request.output;
  std::error_code error;
  if (stem.ends_with('/') || fs::is_directory(stem, error)) stem = (fs::path(stem) / "hearth-bench").string();
  for (const char* ending : {".json", ".html"}) {
    if (stem.ends_with(ending)) stem.erase(stem.rfind(ending));
  }
  if (out.json.empty()) out.json = stem + ".json";
  if (out.page.empty()) out.page = stem + ".html";
  return out;
}

std::vector<trial::Runtime> hearth_runtimes(const std::string& library) {
  trial::Runtime plain = trial::look_at(library);
  plain.name = plain.kind = "hearth";
  std::vector<trial::Runtime> out = {plain};
  for (const char* policy : kPolicies) {
    trial::Runtime one = plain;
    one.name = fmt::format("hearth {}", policy);
    one.policy = policy;
    out.push_back(one);
  }
  return out;
}

// False: one that was named is none, which is said.
bool find_runtimes(const BenchRequest& request, const std::string& library, std::vector<trial::Runtime>& runtimes) {
  runtimes = hearth_runtimes(library);
  for (trial::Runtime& rival : trial::find_rivals(trial::usual_folders())) runtimes.push_back(std::move(rival));
  for (const std::string& text : request.runtimes) {
    trial::Named named = trial::named_runtime(text);
    if (!named.problem.empty()) {
      say("bench: {}", named.problem);
      return false;
    }
    std::erase_if(runtimes, [&](const trial::Runtime& one) {
      return one.name == named.runtime.name || (one.kind != "hearth" && one.file == named.runtime.file);
    });
    runtimes.push_back(std::move(named.runtime));
  }
  return true;
}

bool legal_sets(const std::vector<std::string>& sets) {
  for (const std::string& set : sets) {
    if (std::find(std::begin(trial::kSets), std::end(trial::kSets), set) != std::end(trial::kSets)) continue;
    say("bench: --only \"{}\"; legal: {}", set, fmt::join(trial::kSets, ", "));
    return false;
  }
  return true;
}

bool read_file(const std::string& path, trial::Result& result) {
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    say("bench: {}: cannot be read: {}", path, std::strerror(errno));
    return false;
  }
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  trial::ReadResult read = trial::read_result(text);
  if (!read.problem.empty()) {
    say("bench: {}: {}", path, read.problem);
    return false;
  }
  result = std::move(read.result);
  return true;
}

int compare(const std::vector<std::string>& files) {
  trial::Result a, b;
  if (!read_file(files[0], a) || !read_file(files[1], b)) return kExitUsage;
  put(stdout, "A: {}\nB: {}\n", files[0], files[1]);
  put_text(stdout, trial::compare_text(a, b));
  return 0;
}

int check(const std::string& file) {
  trial::Result result;
  if (!read_file(file, result)) return kExitFailed;
  put(stdout, "{}: a result of hearth bench, version 1: {} rows, {} rounds, {}\n", file, result.rows.size(),
      result.rounds, result.ended);
  return 0;
}

int list(const std::vector<trial::Runtime>& runtimes) {
  put_text(
      stdout,
      "Sets:\n  machine    topology, latencies, bandwidths\n  overheads  constructs with empty bodies\n  tasks      seven task benchmarks, with and without "
      "cut-off\n  las        the six of the paper on locality-aware scheduling, with every distribution\n  nested     teams inside a team\nRuntimes:\n");
  for (const trial::Runtime& one : runtimes)
    put(stdout, "  {:20}  {:8}  build {:16}  {}\n", one.name, one.kind, one.build, one.file);
  return 0;
}

struct Setting {
  trial::CampaignRequest campaign;
  TemporaryFolder scratch;
};

// False, and said: it cannot begin.
bool prepare(const BenchRequest& request, Setting& setting) {
  const Installation installation = find_installation();
  if (installation.library.empty()) {
    say("bench: libhearth.so is missing from this installation (looked {})", searched_folders());
    return false;
  }
  trial::CampaignRequest& campaign = setting.campaign;
  campaign.programs = installation.library.substr(0, installation.library.rfind('/')) + "/bench";
  if (access(campaign.programs.c_str(), R_OK | X_OK) != 0) {
    say("bench: {}: the programs are missing from this installation", campaign.programs);
    return false;
  }
  if (!find_runtimes(request, installation.library, campaign.runtimes)) return false;
  campaign.sets = request.only.empty() ? std::vector<std::string>(std::begin(trial::kSets), std::end(trial::kSets))
                                       : request.only;
  campaign.quick = request.quick;
  campaign.tiny = request.tiny;
  campaign.minutes = request.minutes > 0 ? request.minutes : request.quick ? kQuickMinutes : kUsualMinutes;
  campaign.rounds = request.rounds > 0 ? request.rounds : kUsualRounds;
  campaign.threads = request.threads > 0 ? request.threads
                                         : static_cast<int>(topology::allowance().default_team_size());
  if (request.list) return true;
  if (!setting.scratch.create("bench")) return false;
  if (setting.scratch.path().find_first_of(":;$") == std::string::npos) return true;
  say("bench: TMPDIR: {}: the loader reads : ; and $ in a folder's name as its own; legal: a folder without them",
      setting.scratch.path());
  return false;
}

trial::Result measure(Setting& setting) {
  setting.campaign.scratch = setting.scratch.path();
  const topology::Machine machine = topology::read_sysfs(topology::SystemRoot(), topology::allowance());
  Bar bar;
  trial::Campaign campaign;
  campaign.watch = [&](const std::string& what, double done, double expected) {
    bar.draw(what, done, expected);
    return interrupted() == 0;
  };
  campaign.stopped = [] { return interrupted() != 0; };
  campaign.say = [&](const std::string& text) {
    bar.clear();
    say("bench: {}", text);
  };
  return trial::run_campaign(setting.campaign, machine, campaign);
}

}  // namespace

int bench_main(const BenchRequest& request) {
  try {
    if (!request.compare.empty()) return compare(request.compare);
    if (!request.check.empty()) return check(request.check);
    if (!legal_sets(request.only)) return kExitUsage;
    const Places places = request.list ? Places() : places_of(request);
    if ((!places.json.empty() && !writable(places.json)) || (!places.page.empty() && !writable(places.page)))
      return kExitFailed;
    const InterruptWatch watch;
    Setting setting;
    if (!prepare(request, setting)) return kExitFailed;
    if (request.list) return list(setting.campaign.runtimes);
    say("bench: {:g} minutes at most, {} threads, runtimes: {}", setting.campaign.minutes, setting.campaign.threads,
        [&] {
          std::string names;
          for (const trial::Runtime& one : setting.campaign.runtimes) names += (names.empty() ? "" : ", ") + one.name;
          return names;
        }());
    const trial::Result result = measure(setting);
    setting.scratch.remove();
    const bool text_apart = places.json != "-" && places.page != "-";
    if (text_apart) put_text(stdout, trial::summary_text(result));
    bool written = places.json.empty() || write_file(places.json, trial::json_of(result));
    written = (places.page.empty() || write_file(places.page, trial::page_of(result))) && written;
    if (!written) return kExitFailed;
    if (text_apart) put_text(stdout, trial::contents_text(result));
    for (const std::string& file : {places.json, places.page}) {
      if (text_apart && !file.empty()) put(stdout, "Wrote {}\n", file);
    }
    if (result.ended != "interrupted") return 0;
    say("bench: interrupted; what was done is kept");
    return kExitInterrupted;
  } catch (const std::exception& error) {
    say("bench: {}", error.what());
    return kExitFailed;
  }
}

int demo_main() {
  try {
    const InterruptWatch watch;
    BenchRequest request;
    request.only = {"tasks"};
    request.quick = true;
    request.rounds = 2;
    Setting setting;
    if (!prepare(request, setting)) return kExitFailed;
    say("demo: programs of tasks, built by gcc for libgomp, on each OpenMP runtime of this machine, unchanged");
    const trial::Result result = measure(setting);
    setting.scratch.remove();
    put_text(stdout, trial::summary_text(result));
    put_text(stdout,
             "Your own program:       hearth run ./app\n"
             "Where its time goes:    hearth record -o run.db ./app && hearth report run.db\n"
             "What this machine is:   hearth topo\n"
             "Measured with care:     hearth bench\n");
    if (result.ended == "interrupted") return kExitInterrupted;
    // What Hearth did not run is a failure; so is a demonstration of nothing.
    bool any = false, all = true;
    for (const trial::Row& row : result.rows) {
      if (!result.is_hearth(row.runtime)) continue;
      (row.state == trial::State::measured ? any : all) = row.state == trial::State::measured;
    }
    if (!any) say("demo: no program ran on Hearth");
    return any && all ? 0 : kExitFailed;
  } catch (const std::exception& error) {
    say("demo: {}", error.what());
    return kExitFailed;
  }
}

}  // namespace hearth::cli
