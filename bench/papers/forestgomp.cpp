// The tables of Broquedis et al. 2009. Teams stand where the runtime's bubble policies put them; threads that nobody binds
// stand where chance does.
#include "papers/forestgomp.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "papers/balance.h"
#include "papers/draws.h"
#include "papers/figures.h"
#include "papers/forest.h"

namespace hearth::papers {
namespace {

using sim::Stream;
using sim::StreamMachine;

constexpr double kVectorBytes = 160e6;  // 20 million doubles, of all teams together
constexpr std::uint32_t kTeamThreads = 4;
constexpr int kUnboundRuns = 20;
// Of a run whose threads nobody binds: how many pairs of them have changed places since the first touch.
constexpr std::uint32_t kMostSwaps = 8;
// In table 6, of teams that nobody binds: so many pairs of threads have changed their nodes. Fitted to phase 1, where they get
// 0.89 of what bound threads get (8144 / 9108 MB/s); threads anywhere would get 0.72.
constexpr std::uint32_t kSwapsOfTable6 = 1;
// What each node gives there: triad moves four bytes where STREAM counts three, since a written line is filled first.
constexpr double kTable6NodeGbs = 9.108 / 4 * 4 / 3;

struct Kernel {
  const char* name;
  int reads;
  int writes;
};
constexpr std::array kKernels = {Kernel{"copy", 1, 1}, Kernel{"scale", 1, 1}, Kernel{"add", 2, 1},
                                 Kernel{"triad", 2, 1}};
constexpr Kernel kTriad = kKernels[3];

using Places = std::vector<std::uint32_t>;  // by thread, its node

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

void swap_nodes(Places& places, std::uint32_t pairs, Random& random) {
  for (std::uint32_t left = pairs; left > 0;) {
    const std::uint32_t one = random.below(static_cast<std::uint32_t>(places.size()));
    const std::uint32_t other = random.below(static_cast<std::uint32_t>(places.size()));
    if (places[one] == places[other]) continue;
    std::swap(places[one], places[other]);
    --left;
  }
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
    table_6();
    figures(visit_, streams_, kVectorBytes, kTeamThreads, cells_);
    balance(visit_, streams_, cells_);
    return std::move(cells_);
  }

 private:
  // By thread, the node that a stack of policies gives it: so many teams of so many threads.
  Places placed(const char* word, std::uint32_t teams, std::uint32_t threads) {
    Forest forest(visit_, streams_);
    for (std::uint32_t team = 0; team < teams; ++team) forest.add_team(threads);
    forest.end_teams();
    forest.place(word);
    return forest.nodes();
  }
  Places stream_places() { return placed("memory+cache", 1, nodes_ * kTeamThreads); }
  Places nested_places() { return placed("memory+cache", nodes_, kTeamThreads); }

  // Each thread reads and writes its own parts, which are where `home` says.
  double pass_ns(const sim::StreamMachine& machine, const Kernel& kernel, const Places& places,
                 const Places& home) const {
    std::vector<Stream> streams(places.size());
    for (std::size_t thread = 0; thread < places.size(); ++thread) {
      streams[thread].node = places[thread];
      for (int vector = 0; vector < kernel.reads + kernel.writes; ++vector)
        streams[thread].stretches.push_back({part_, all_on(nodes_, home[thread]), vector >= kernel.reads});
    }
    return machine.ns(streams);
  }
  double pass_ns(const Kernel& kernel, const Places& places, const Places& home) const {
    return pass_ns(streams_, kernel, places, home);
  }

  double counted_mbs(const Kernel& kernel, double ns) const {
    return 1e3 * kVectorBytes * (kernel.reads + kernel.writes) / ns;
  }

  // The application behind table 1 is not published; here its threads read. A team for each node that has threads.
  void table_1() {
    for (const std::uint32_t teams : {1U, nodes_}) {
      Forest forest(visit_, streams_);
      for (std::uint32_t team = 0; team < teams; ++team) {
        const Forest::Team here = forest.add_team(kTeamThreads);
        forest.give(here, part_ * kTeamThreads, static_cast<Forest::Node>(team), false);
        forest.place_at(here, static_cast<Forest::Node>(team));
      }
      const std::string at = "table 1/" + std::to_string(teams * kTeamThreads) + " threads/";
      const auto enter = [&](const char* what, placement::Location layout) {
        cells_[at + what] = 1e3 * part_ * kTeamThreads * teams / forest.pass_ns(forest.laid_out(layout));
      };
      enter("local", policy::kStays);
      enter("local + neighbours", policy::kOverNeighbours);
      enter("as planned", forest.best_layout());
      enter("over all", policy::kOverAll);
      cells_[at + "best"] = std::max(
          {cells_[at + "local"], cells_[at + "local + neighbours"], cells_[at + "over all"]});
    }
  }

  void tables_4_and_5() {
    std::vector<Places> swapped;   // STREAM: threads that change places during the run
    std::vector<Places> anywhere;  // nested STREAM: a new team for each loop, wherever there is a core
    for (int run = 0; run < kUnboundRuns; ++run) {
      swapped.push_back(stream_places());
      swap_pairs(swapped.back(), random_.below(kMostSwaps + 1), random_);
      anywhere.push_back(nested_places());
      shuffle(anywhere.back(), random_);
    }
    for (const Kernel& kernel : kKernels) {
      for (const bool nested : {false, true}) {
        const Places home = nested ? nested_places() : stream_places();
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
    sim::Parameters as_table_6 = visit_.parameters;
    for (sim::Figure& node : as_table_6.memory_gbs) node.value = node.low = node.high = kTable6NodeGbs;
    const sim::StreamMachine streams(visit_.machine, as_table_6);
    cells_["table 4/triad/forestgomp/as table 6"] = counted_mbs(
        kTriad, pass_ns(streams, kTriad, stream_places(), stream_places()));
  }

  // In phase 2 each team works on the data of the next.
  void table_6() {
    const Places home = nested_places();
    Places away = home;
    for (std::uint32_t& node : away) node = (node + 1) % nodes_;
    double unbound[2] = {};
    for (int run = 0; run < kUnboundRuns; ++run) {
      Places places = home;
      swap_nodes(places, kSwapsOfTable6, random_);
      for (int phase = 0; phase < 2; ++phase)
        unbound[phase] += counted_mbs(kTriad, pass_ns(kTriad, places, phase == 0 ? home : away)) / kUnboundRuns;
    }
    cells_["table 6/libgomp/phase 1"] = unbound[0];
    cells_["table 6/libgomp/phase 2"] = unbound[1];
    cells_["table 6/forestgomp/phase 1"] = counted_mbs(kTriad, pass_ns(kTriad, home, home));
    cells_["table 6/forestgomp/phase 2"] = counted_mbs(kTriad, pass_ns(kTriad, home, away));
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
