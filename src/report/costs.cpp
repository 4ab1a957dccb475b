// See costs.h.
#include "report/costs.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "report/words.h"

namespace hearth::report {
namespace {

constexpr std::size_t kMostCosts = 3, kMostChanges = 6;
constexpr double kMatters = 0.005;      // of thread time: less is not worth a line among the costs
constexpr double kWorthWhile = 0.05;    // of thread time: less is not worth a change to a program
constexpr double kRemoteMatters = 0.1;  // of the bytes
constexpr double kFineGrain = 0.2;      // creating a task takes more than this part of its work
constexpr std::int64_t kTiny = 1000;    // ns of work: no OpenMP runtime makes and hands over a task in much less
constexpr std::int64_t kLeastDistributed = 128 << 10;  // bytes, of hearth run --distribute unless it is told
constexpr double kUneven = 1.2;         // the slowest thread's part / the mean

struct WaitWord {
  std::string_view kind, words;
};
constexpr std::array kWaitWords{
    WaitWord{"barrier", "at the barrier"},
    WaitWord{"implicit-barrier", "at the barrier that ends the construct"},
    WaitWord{"runtime-barrier", "at a barrier of the runtime"},
    WaitWord{"loop-end", "at the barrier that ends the loop, sections or single"},
    WaitWord{"region-end", "at the end of the parallel region"},
    WaitWord{"league-end", "at the end of the teams region"},
    WaitWord{"taskwait", "in the taskwait"},
    WaitWord{"taskgroup", "at the end of the taskgroup"},
    WaitWord{"reduction", "in the reduction"},
    WaitWord{"lock", "for the lock taken"},
    WaitWord{"test-lock", "for the lock tested"},
    WaitWord{"nest-lock", "for the nested lock taken"},
    WaitWord{"test-nest-lock", "for the nested lock tested"},
    WaitWord{"critical", "for the critical section"},
    WaitWord{"atomic", "for the atomic update"},
    WaitWord{"ordered", "for the turn in the ordered region"},
};

bool is_mutual(std::string_view kind) {
  return kind == "critical" || kind == "atomic" || kind.find("lock") != std::string_view::npos;
}

bool is_explicit(const ConstructName& name) { return name.kind != "initial" && name.kind != "implicit"; }

const ConstructName& name_of(const Run& run, const ConstructFigures& figures) {
  return run.constructs[static_cast<std::size_t>(figures.construct)];
}

std::string where_of(const ConstructName& name) { return name.line > 0 ? name.name : std::string(); }

std::string work_words(const ConstructName& name) {
  if (name.kind == "initial") return "Serial parts of the program, on the initial thread";
  if (name.kind == "implicit") return fmt::format("The body of the parallel region at {}", name.name);
  return fmt::format("Tasks of {}", name.name);
}

/// Of thread time: the work of tasks that declare what they touch, by the part of it that is remote.
double work_on_remote(const Figures& figures, const Locality& locality) {
  double work = 0;
  for (const ConstructLocality& part : locality.constructs) {
    const auto construct = std::find_if(figures.constructs.begin(), figures.constructs.end(),
                                        [&](const ConstructFigures& c) { return c.construct == part.construct; });
    if (construct != figures.constructs.end() && part.all > part.unknown)
      work += static_cast<double>(construct->work) * part.remote / (part.all - part.unknown);
  }
  return figures.share(static_cast<std::int64_t>(work));
}

void add_waits(const Run& run, const Figures& figures, std::vector<Cost>& costs) {
  for (const WaitFigures& wait : figures.waits) {
    const WaitPlace& place = run.wait_places[static_cast<std::size_t>(wait.place)];
    costs.push_back({fmt::format("Waiting {}", wait_words(place)),
                     fmt::format("{}; the longest lasts {}.", counted(wait.waits, "wait"), time_text(wait.longest)),
                     figures.share(wait.idle), "waiting"});
  }
}

void add_creating(const Run& run, const Figures& figures, std::vector<Cost>& costs) {
  for (const ConstructFigures& construct : figures.constructs) {
    if (construct.creation == 0 || construct.tasks == 0) continue;
    costs.push_back(
        {fmt::format("Creating the tasks of {}", name_of(run, construct).name),
         fmt::format("{}, {} each for the runtime; such a task works for {}.", counted(construct.tasks, "task"),
                     time_text(construct.creation / construct.tasks), time_text(construct.work / construct.tasks)),
         figures.share(construct.creation), "constructs"});
  }
}

void add_outside(const Figures& figures, std::vector<Cost>& costs) {
  costs.push_back(
      {"Threads outside of parallel regions",
       fmt::format("They have no task while other threads run: before their first region, between regions and "
                   "after their last: {} of {} of thread time.",
                   time_text(figures.time.outside), time_text(figures.thread_time())),
       figures.share(figures.time.outside), "threads"});
}

double part_of_length(const Figures& figures, const ConstructFigures& construct) {
  return figures.length() > 0 ? static_cast<double>(construct.work) / static_cast<double>(figures.length()) : 0;
}

void fill_with_work(const Run& run, const Figures& figures, std::vector<Cost>& costs) {
  for (const ConstructFigures& construct : figures.constructs) {
    if (costs.size() >= kMostCosts || figures.share(construct.work) < kMatters) return;
    if (name_of(run, construct).kind == "initial") {
      costs.push_back({fmt::format("{} (work)", work_words(name_of(run, construct))),
                       fmt::format("One thread of {} works for {}, which is {} of the length of the run.", figures.threads.size(),
                                   time_text(construct.work), share_text(part_of_length(figures, construct))),
                       figures.share(construct.work), "constructs"});
      continue;
    }
    costs.push_back(
        {fmt::format("{} (work)", work_words(name_of(run, construct))),
         fmt::format("{} on {}; the busiest thread has {} times the mean.", counted(construct.tasks, "task"),
                     counted(construct.threads, "thread"), decimal(construct.imbalance)),
         figures.share(construct.work), "constructs"});
  }
}

/// A construct whose tasks are small beside what it costs to make one.
void advise_grain(const Run& run, const Figures& figures, std::vector<Change>& changes) {
  for (const ConstructFigures& construct : figures.constructs) {
    const ConstructName& name = name_of(run, construct);
    if (!is_explicit(name)) continue;
    const std::int64_t work = construct.work / construct.tasks;
    const std::int64_t by_runtime = construct.creation / construct.tasks;
    const bool is_costly = static_cast<double>(by_runtime) > kFineGrain * static_cast<double>(work) &&
                           figures.share(construct.creation) >= kWorthWhile;
    // Where tasks run as soon as they are made the runtime's part is small; what shows is that their maker does little else.
    const std::int64_t concerned = construct.making.time + construct.making.waited;
    const bool is_tiny = work < kTiny && construct.making.each() > work && figures.share(concerned) >= kWorthWhile;
    if (!is_costly && !is_tiny) continue;
    const std::string meanwhile =
        figures.share(construct.making.waited) < kWorthWhile
            ? std::string()
            : fmt::format(", and the {} that other threads wait meanwhile", share_text(figures.share(construct.making.waited)));
    changes.push_back(
        {fmt::format("Its {} are too small: {} of work in each, and {} to make it (the runtime's part and the program's steps "
                     "in between). Let a task do more.",
                     counted(construct.tasks, "task"), time_text(work),
                     time_text(std::max(by_runtime, construct.making.each()))),
         where_of(name), "larger blocks; a final(...) clause where a task recurses; taskloop grainsize(...)",
         fmt::format("It concerns the {} of thread time that making them takes{}.",
                     share_text(figures.share(std::max(construct.creation, construct.making.time))), meanwhile),
         figures.share(std::max(construct.creation, concerned))});
  }
}

void advise_waits(const Run& run, const Figures& figures, std::vector<Change>& changes) {
  for (const WaitFigures& wait : figures.waits) {
    const double share = figures.share(wait.idle);
    if (share < kWorthWhile) return;  // they are sorted
    const WaitPlace& place = run.wait_places[static_cast<std::size_t>(wait.place)];
    if (is_mutual(place.kind)) {
      changes.push_back({"Threads queue here: do less inside, or let each thread have its own copy.", place.name,
                         "reduction(...), atomic, or several locks", fmt::format("It concerns {} of thread time.", share_text(share)),
                         share});
      continue;
    }
    for (const LoopFigures& loop : figures.loops) {
      if (loop.name != place.name || loop.imbalance < kUneven || loop.kind.starts_with("single")) continue;
      // What the busiest thread has more than the mean, for all of them: the rest of the wait has other causes.
      const double uneven = std::min(share, figures.share(static_cast<std::int64_t>(
                                                static_cast<double>(loop.time) * (loop.imbalance - 1))));
      if (uneven < kWorthWhile) break;
      const bool is_static = loop.kind == "static";
      changes.push_back(
          {fmt::format("The loop is uneven: its busiest thread has {} times the mean.", decimal(loop.imbalance)),
           loop.name, is_static ? "schedule(dynamic) or schedule(guided)" : "a smaller chunk, or taskloop",
           fmt::format("It concerns {} of thread time.", share_text(uneven)), uneven});
      break;
    }
  }
}

/// Threads wait since one thread cannot make tasks as fast as they run them.
void advise_creator(const Run& run, const Figures& figures, std::vector<Change>& changes) {
  constexpr double kNearlyAll = 0.9;
  for (const ConstructFigures& construct : figures.constructs) {
    const Making& making = construct.making;
    if (making.by_one_thread < kNearlyAll || figures.share(making.waited) < kWorthWhile || making.each() == 0) continue;
    const double fed = static_cast<double>(construct.work) / static_cast<double>(construct.tasks) /
                       static_cast<double>(making.each());
    if (fed + 1 > static_cast<double>(figures.threads.size())) continue;
    changes.push_back(
        {fmt::format("One thread makes nearly all tasks, one each {}, and one works for {}: too few for {}. Let several "
                     "threads make them.",
                     time_text(making.each()), time_text(construct.work / construct.tasks),
                     counted(static_cast<std::int64_t>(figures.threads.size()) - 1, "other thread")),
         where_of(name_of(run, construct)), "a parallel loop or a task around the creating loop; taskloop",
         fmt::format("It concerns the {} of thread time that other threads wait meanwhile.",
                     share_text(figures.share(making.waited))),
         figures.share(making.waited)});
    return;
  }
}

/// Threads idle, and tasks are there that nobody takes.
void advise_idle_ready(const Run& run, const Figures& figures, std::vector<Change>& changes) {
  const auto& constructs = figures.idle_ready.constructs;
  const auto most = std::max_element(constructs.begin(), constructs.end(),
                                     [](const auto& a, const auto& b) { return a.time < b.time; });
  const double share = figures.share(static_cast<std::int64_t>(figures.idle_ready.time));
  if (most == constructs.end() || share < kWorthWhile) return;
  constexpr double kShort = 10'000;  // ns: handing such a task over takes much of its time
  const auto which = static_cast<std::int32_t>(most - constructs.begin());
  const auto construct = std::find_if(figures.constructs.begin(), figures.constructs.end(),
                                      [&](const ConstructFigures& c) { return c.construct == which; });
  const bool is_short = construct != figures.constructs.end() &&
                        static_cast<double>(construct->work) / static_cast<double>(construct->tasks) < kShort;
  const bool waits_for_place = most->dealt > most->time / 2;
  changes.push_back(
      {fmt::format("Threads idle while its tasks are ready: each of {} is passed over for {} on the average{}.", count_text(most->tasks),
                   time_text(static_cast<std::int64_t>(most->passed_over / static_cast<double>(most->tasks))),
                   waits_for_place ? ", since it waits for the threads of the location where its data lies" : ""),
       where_of(run.constructs[static_cast<std::size_t>(which)]),
       waits_for_place ? "a distribution that spreads the data over all locations; HEARTH_POLICY=adaptive takes such tasks away"
       : is_short      ? "larger tasks, since finding one takes its time"
                       : "OMP_WAIT_POLICY=active, so that no thread has to be woken; untied tasks, which any thread may go on with",
       fmt::format("It concerns {} of thread time.", share_text(share)), share});
}

void advise_serial(const Run& run, const Figures& figures, std::vector<Change>& changes) {
  for (const ConstructFigures& construct : figures.constructs) {
    if (name_of(run, construct).kind != "initial" || figures.length() == 0) continue;
    const double part = part_of_length(figures, construct);
    if (part < kFineGrain || figures.threads.size() < 2 || figures.share(figures.time.outside) < kWorthWhile) continue;
    changes.push_back(
        {fmt::format("The initial thread works alone for {}, {} of the length of the run: run more of that in parallel.",
                     time_text(construct.work), share_text(part)),
         "", "parallel for, sections or tasks",
         fmt::format("It concerns the {} of thread time that is outside of regions.",
                     share_text(figures.share(figures.time.outside))),
         figures.share(figures.time.outside)});
  }
}

void advise_footprints(const Run& run, const Figures& figures, std::vector<Change>& changes) {
  if (run.nodes < 2 || figures.explicit_tasks == 0) return;
  for (const ConstructFigures& construct : figures.constructs) {
    const ConstructName& name = name_of(run, construct);
    if (!is_explicit(name) || construct.declared > 0 || figures.share(construct.work) < kWorthWhile) continue;
    changes.push_back({"Say what these tasks touch, so that they can run where it is.", where_of(name),
                       "depend(...) or affinity(...) with the arrays",
                       fmt::format("It concerns {} of thread time. What is won depends on the machine: not simulated.",
                                   share_text(figures.share(construct.work))),
                       0});  // of all its time it is known that little of it can be won
  }
}

/// Where most of the bytes lie that tasks use, and what part of all.
std::pair<std::int32_t, double> fullest(const Places& places) {
  std::vector<double> at(static_cast<std::size_t>(places.locations));
  double all = 0;
  for (std::size_t i = 0; i < places.matrix.size(); ++i) {
    at[i % at.size()] += places.matrix[i];
    all += places.matrix[i];
  }
  const auto most = std::max_element(at.begin(), at.end());
  if (most == at.end() || all <= 0) return {kNone, 0};
  return {static_cast<std::int32_t>(most - at.begin()), *most / all};
}

/// Large allocations that one thread has filled, and that tasks of other locations use. One change for each place in the code.
void advise_first_touch(const Run& run, const Figures& figures, const Locality& locality, std::vector<Change>& changes) {
  if (locality.locations < 2) return;
  constexpr double kNearlyAll = 0.9;
  constexpr std::size_t kMost = 2;
  std::map<std::string, std::pair<std::int64_t, double>> sites;  // bytes, and those of tasks that are remote
  for (std::size_t i = 0; i < run.uses.size(); ++i) {
    const AllocationUse& use = run.uses[i];
    const AllocationUse::Most touched = AllocationUse::most_of(use.touched_at), lies = AllocationUse::most_of(use.home_at);
    const double remote = use.remote_share();
    if (remote < kRemoteMatters || use.first_part < kNearlyAll || touched.location != lies.location ||
        lies.part < kNearlyAll || !run.allocations[i].distribution.empty())
      continue;
    auto& [bytes, remote_bytes] = sites[run.allocations[i].site];
    bytes += run.allocations[i].bytes;
    remote_bytes += remote * (use.read + use.written);
  }
  std::vector<std::pair<std::string, std::pair<std::int64_t, double>>> worst(sites.begin(), sites.end());
  std::stable_sort(worst.begin(), worst.end(),
                   [](const auto& a, const auto& b) { return a.second.second > b.second.second; });
  for (std::size_t i = 0; i < worst.size() && i < kMost; ++i) {
    const double share = locality.all > 0 ? worst[i].second.second / locality.all : 0;
    if (share * figures.share(figures.time.work) < kWorthWhile) return;
    changes.push_back(
        {fmt::format("One thread touched this memory ({}) first, so all of it lies beside that thread, while tasks "
                     "elsewhere use it.",
                     bytes_text(worst[i].second.first)),
         worst[i].first, "fill it in a parallel loop, or in the tasks that use it; or hearth run --distribute",
         fmt::format("It concerns {} of the bytes that tasks declare, which are remote.", share_text(share)),
         share * figures.share(figures.time.work)});
  }
}

/// Most of the data is remote, and nothing was found to say of single allocations: they are small, or nobody knows where
/// they came from.
void advise_remote(const Run& run, const Figures& figures, const Locality& locality, std::vector<Change>& changes) {
  constexpr double kNearlyAll = 0.9;
  if (!locality.known || locality.locations < 2 || !changes.empty()) return;
  const double remote = locality.remote_share();
  if (remote < kRemoteMatters || remote * figures.share(figures.time.work) < kWorthWhile) return;
  const std::string gain = fmt::format("It concerns {} of the bytes that tasks declare, which are remote.", share_text(remote));
  const auto [location, part] = fullest(run.places);
  if (part >= kNearlyAll) {
    const bool small = std::none_of(run.allocations.begin(), run.allocations.end(),
                                    [](const Allocation& a) { return !a.own && a.bytes >= kLeastDistributed; });
    changes.push_back({fmt::format("{} of what tasks use lies at location {}, while tasks run everywhere.", share_text(part),
                                   location),
                       "",
                       fmt::format("fill it in a parallel loop, or in the tasks that use it; or hearth run --distribute=coarse{}",
                                   small ? ",min=4K, since no block is large" : ""),
                       gain, work_on_remote(figures, locality)});
    return;
  }
  changes.push_back({"Tasks run where their data is not, and no allocation explains it.", "",
                     "hearth run --explain tells for each construct why; HEARTH_POLICY=locality sends every task to its data",
                     gain, work_on_remote(figures, locality)});
}

/// "coarse (whole blocks, in turn)".
std::string explained(const std::string& distribution) {
  static const std::map<std::string, std::string, std::less<>> kWords = {
      {"fine", "page by page over all nodes"},
      {"coarse", "whole blocks, each on another node in turn"},
      {"blocked", "one part on each node, in order"},
      {"nearest", "on the node of the thread that allocates"}};
  const auto words = kWords.find(distribution);
  return words == kWords.end() ? distribution : fmt::format("{} ({})", distribution, words->second);
}

void advise_memory(const Figures& figures, const Locality& locality, const Advice& advice, std::vector<Change>& changes) {
  for (const Advice::Allocation& allocation : advice.allocations) {
    changes.push_back({fmt::format("Distribute this memory ({}) as {}: {}", bytes_text(allocation.bytes),
                                   explained(allocation.distribution), allocation.why),
                       allocation.name, allocation.call,
                       advice.gain.empty() ? "What it gains was not simulated: " + advice.command : advice.gain,
                       advice.gain.empty() ? work_on_remote(figures, locality) : 1});  // what was simulated comes first
  }
}

}  // namespace

std::string wait_words(const WaitPlace& place) {
  const auto word = std::find_if(kWaitWords.begin(), kWaitWords.end(),
                                 [&](const WaitWord& w) { return w.kind == place.kind; });
  const std::string words = word == kWaitWords.end() ? "(" + place.kind + ")" : std::string(word->words);
  return place.name.empty() ? words : fmt::format("{} at {}", words, place.name);
}

std::vector<Cost> costs_of(const Run& run, const Figures& figures, const Locality& locality) {
  std::vector<Cost> costs;
  add_waits(run, figures, costs);
  add_creating(run, figures, costs);
  add_outside(figures, costs);
  if (locality.known && locality.remote_share() >= kRemoteMatters)
    costs.push_back(
        {"Work on data that is not where its task ran",
         fmt::format(
             "{} of the bytes that tasks declare are somewhere else than the task ran. The share is of the work of such tasks: "
             "only a part of it is lost.",
             share_text(locality.remote_share())),
         work_on_remote(figures, locality), "locality"});
  std::erase_if(costs, [](const Cost& cost) { return cost.share < kMatters; });
  std::stable_sort(costs.begin(), costs.end(), [](const Cost& a, const Cost& b) { return a.share > b.share; });
  if (costs.size() > kMostCosts) costs.resize(kMostCosts);
  fill_with_work(run, figures, costs);
  return costs;
}

std::vector<Change> changes_of(const Run& run, const Figures& figures, const Locality& locality, const Advice& advice) {
  std::vector<Change> changes;
  advise_memory(figures, locality, advice, changes);
  advise_first_touch(run, figures, locality, changes);
  advise_remote(run, figures, locality, changes);
  advise_grain(run, figures, changes);
  advise_creator(run, figures, changes);
  advise_waits(run, figures, changes);
  advise_idle_ready(run, figures, changes);
  advise_serial(run, figures, changes);
  advise_footprints(run, figures, changes);
  std::stable_sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) { return a.share > b.share; });
  if (changes.size() > kMostChanges) changes.resize(kMostChanges);
  return changes;
}

}  // namespace hearth::report
