#include "papers/forestgomp.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <string>
#include <vector>

#include "papers/draws.h"
#include "stream.h"

namespace hearth::papers {
namespace {

using sim::Stream;
using sim::StreamMachine;

constexpr double kVectorBytes = 160e6;  // 20 million doubles, of all teams together
constexpr std::uint32_t kTeamThreads = 4;
constexpr int kMostPasses = 60;
constexpr int kUnboundRuns = 20;
// Of a run whose threads nobody binds: how many pairs of them have changed places since the first touch.
constexpr std::uint32_t kMostSwaps = 8;

struct Kernel {
  const char* name;
  int reads;
  int writes;
};
constexpr std::array kKernels = {Kernel{"copy", 1, 1}, Kernel{"scale", 1, 1}, Kernel{"add", 2, 1},
                                 Kernel{"triad", 2, 1}};
constexpr Kernel kTriad = kKernels[3];

using Places = std::vector<std::uint32_t>;  // by thread, its node

// Thread i of team t is number t * kTeamThreads + i and starts on node t.
Places bound(std::uint32_t nodes) {
  Places places(nodes * kTeamThreads);
  for (std::uint32_t thread = 0; thread < places.size(); ++thread) places[thread] = thread / kTeamThreads;
  return places;
}

void swap_pairs(Places& places, std::uint32_t pairs, Random& random) {
  for (std::uint32_t pair = 0; pair < pairs; ++pair) {
    const std::uint32_t one = random.below(static_cast<std::uint32_t>(places.size()));
    const std::uint32_t other = random.below(static_cast<std::uint32_t>(places.size()));
    std::swap(places[one], places[other]);
  }
}

void shuffle(Places& places, Random& random) {
  for (auto left = static_cast<std::uint32_t>(places.size()); left > 1; --left)
    std::swap(places[left - 1], places[random.below(left)]);
}

std::vector<double> all_on(std::uint32_t nodes, std::uint32_t node) {
  std::vector<double> on(nodes);
  on[node] = 1;
  return on;
}

class Bench {
 public:
  explicit Bench(const Visit& visit)
      : visit_(visit),
        streams_(visit.machine, visit.parameters),
        nodes_(streams_.nodes()),
        part_(kVectorBytes / (nodes_ * kTeamThreads)),
        random_(visit.seed) {}

  Cells run() {
    table_1();
    tables_4_and_5();
    const double remote = twisted();
    figure_2(remote);
    figure_3();
    return std::move(cells_);
  }

 private:
  // Each thread reads and writes its own parts, which are where `home` says.
  double pass_ns(const Kernel& kernel, const Places& places, const Places& home) {
    std::vector<Stream> streams(places.size());
    for (std::size_t thread = 0; thread < places.size(); ++thread) {
      streams[thread].node = places[thread];
      for (int vector = 0; vector < kernel.reads + kernel.writes; ++vector)
        streams[thread].stretches.push_back({part_, all_on(nodes_, home[thread]), vector >= kernel.reads});
    }
    return streams_.ns(streams);
  }

  double counted_mbs(const Kernel& kernel, double ns) const {
    return 1e3 * kVectorBytes * (kernel.reads + kernel.writes) / ns;
  }

  // The application behind table 1 is not published; here its threads read.
  void table_1() {
    for (const std::uint32_t threads : {kTeamThreads, nodes_ * kTeamThreads}) {
      for (const bool spread : {false, true}) {
        std::vector<Stream> streams;
        for (std::uint32_t thread = 0; thread < threads; ++thread) {
          const std::uint32_t node = thread / kTeamThreads;
          streams.push_back({node, {{part_, spread ? neighbourhood(node) : all_on(nodes_, node), false}}});
        }
        const double mbs = 1e3 * part_ * threads / streams_.ns(streams);
        cells_["table 1/" + std::to_string(threads) + " threads/" +
               (spread ? "local + neighbours" : "local")] = mbs;
      }
    }
  }

  std::vector<double> neighbourhood(std::uint32_t node) const {
    const auto& latency = visit_.parameters.read_ns;
    double nearest = 0;
    for (std::uint32_t other = 0; other < nodes_; ++other) {
      if (other != node && (nearest == 0 || latency.at(node, other) < nearest))
        nearest = latency.at(node, other);
    }
    std::vector<double> on(nodes_);
    for (std::uint32_t other = 0; other < nodes_; ++other)
      on[other] = other == node || latency.at(node, other) == nearest ? 1 : 0;
    const double count = std::accumulate(on.begin(), on.end(), 0.0);
    for (double& part : on) part /= count;
    return on;
  }

  void tables_4_and_5() {
    const Places home = bound(nodes_);
    std::vector<Places> swapped;   // STREAM: threads that change places during the run
    std::vector<Places> anywhere;  // nested STREAM: a new team for each loop, wherever there is a core
    for (int run = 0; run < kUnboundRuns; ++run) {
      swapped.push_back(home);
      swap_pairs(swapped.back(), random_.below(kMostSwaps + 1), random_);
      anywhere.push_back(home);
      shuffle(anywhere.back(), random_);
    }
    for (const Kernel& kernel : kKernels) {
      for (const bool nested : {false, true}) {
        const std::string at = std::string(nested ? "table 5/" : "table 4/") + kernel.name;
        double worst = 0, best = 0;
        for (const Places& places : nested ? anywhere : swapped) {
          const double mbs = counted_mbs(kernel, pass_ns(kernel, places, home));
          worst = worst == 0 ? mbs : std::min(worst, mbs);
          best = std::max(best, mbs);
        }
        const double stays = counted_mbs(kernel, pass_ns(kernel, home, home));
        cells_[at + "/libgomp/worst"] = worst;
        cells_[at + "/libgomp/best"] = best;
        cells_[at + "/libgomp/spread"] = best / worst;
        cells_[at + "/forestgomp/worst"] = stays;
        cells_[at + "/forestgomp/best"] = stays;
        cells_[at + "/forestgomp/spread"] = 1;
      }
    }
  }

  // In phase 2 each team works on the data of the next.
  Places next_team() const {
    Places places = bound(nodes_);
    for (std::uint32_t& node : places) node = (node + 1) % nodes_;
    return places;
  }

  double twisted() {
    const Places home = bound(nodes_);
    const Places away = next_team();
    double unbound[2] = {};
    for (int run = 0; run < kUnboundRuns; ++run) {
      Places places = home;
      shuffle(places, random_);
      for (int phase = 0; phase < 2; ++phase)
        unbound[phase] +=
            counted_mbs(kTriad, pass_ns(kTriad, places, phase == 0 ? home : away)) / kUnboundRuns;
    }
    const double remote = pass_ns(kTriad, home, away);
    cells_["table 6/libgomp/phase 1"] = unbound[0];
    cells_["table 6/libgomp/phase 2"] = unbound[1];
    cells_["table 6/forestgomp/phase 1"] = counted_mbs(kTriad, pass_ns(kTriad, home, home));
    cells_["table 6/forestgomp/phase 2"] = counted_mbs(kTriad, remote);
    return remote;
  }

  // All teams' parts of `vectors` vectors, each team's from where the next one's are.
  std::vector<StreamMachine::Move> moves(int vectors, bool home_to_away) const {
    std::vector<StreamMachine::Move> all;
    for (std::uint32_t team = 0; team < nodes_; ++team) {
      const std::uint32_t away = (team + 1) % nodes_;
      all.push_back({part_ * kTeamThreads * vectors, home_to_away ? team : away, home_to_away ? away : team});
    }
    return all;
  }

  struct Plan {
    const char* name;
    double first_ns;
    double pass_ns;

    double ns(int passes) const { return first_ns + passes * pass_ns; }
  };

  // plans[0] leaves everything where it is.
  void enter(const std::string& figure, const std::vector<Plan>& plans) {
    for (const Plan& plan : plans) {
      const std::string at = figure + "/" + plan.name;
      cells_[at + "/first"] = plan.first_ns;
      cells_[at + "/pass"] = plan.pass_ns;
      if (&plan == &plans[0]) continue;
      const double gain = plans[0].pass_ns - plan.pass_ns;
      // Of passes, not rounded; a plan that never pays is far away, and comparisons stay finite.
      cells_[at + "/pays after"] = gain > 0 ? std::min(plan.first_ns / gain, 1e6) : 1e6;
      int best = 0;
      for (int passes = 1; passes <= kMostPasses; ++passes) {
        best += std::all_of(plans.begin(), plans.end(),
                            [&](const Plan& other) { return plan.ns(passes) <= other.ns(passes); });
      }
      cells_[at + "/best"] = static_cast<double>(best) / kMostPasses;
    }
  }

  void figure_2(double remote) {
    const Places home = bound(nodes_);
    const double local = pass_ns(kTriad, home, home);
    enter("figure 2", {{"stay", 0, remote},
                       {"move threads", streams_.move_threads_ns(nodes_ * kTeamThreads), local},
                       {"move memory", streams_.move_memory_ns(moves(3, false)), local}});
  }

  // Two of triad's vectors are where the next team is, one that is read and the one that is written.
  double mixed_ns(bool read_away, bool written_away) {
    const Places home = bound(nodes_);
    const Places away = next_team();
    std::vector<Stream> streams(home.size());
    for (std::size_t thread = 0; thread < home.size(); ++thread) {
      streams[thread] = {home[thread],
                         {{part_, all_on(nodes_, home[thread]), false},
                          {part_, all_on(nodes_, read_away ? away[thread] : home[thread]), false},
                          {part_, all_on(nodes_, written_away ? away[thread] : home[thread]), true}}};
    }
    return streams_.ns(streams);
  }

  void figure_3() {
    const double one = streams_.move_memory_ns(moves(1, false));
    const double local = mixed_ns(false, false);
    // Mixed: threads go to the two vectors, and the third follows them.
    const double follow =
        streams_.move_threads_ns(nodes_ * kTeamThreads) + streams_.move_memory_ns(moves(1, true));
    enter("figure 3", {{"stay", 0, mixed_ns(true, true)},
                       {"move the read vector", one, mixed_ns(false, true)},
                       {"move the written vector", one, mixed_ns(true, false)},
                       {"next touch", streams_.next_touch_ns(moves(2, false)), local},
                       {"mixed", follow, local}});
  }

  const Visit& visit_;
  StreamMachine streams_;
  std::uint32_t nodes_;
  double part_;  // bytes of one vector that one thread works on
  Random random_;
  Cells cells_;
};

}  // namespace

Cells forestgomp(const Visit& visit) { return Bench(visit).run(); }

}  // namespace hearth::papers
