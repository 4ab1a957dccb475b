#include "papers/figures.h"

#include <algorithm>
#include <string>
#include <vector>

#include "papers/forest.h"

namespace hearth::papers {
namespace {

constexpr int kMostPasses = 60;
// Plans that pay never, or beyond any number of passes: far away, and comparisons stay finite.
constexpr double kNever = 1e6;
constexpr int kVectors = 3;  // of triad: two are read, the last is written

using policy::Mover;

struct Plan {
  const char* name;
  Forest::Arrangement then;
  Mover mover = Mover::owner;
};

struct Price {
  double first_ns;
  double pass_ns;

  double ns(double passes) const { return first_ns + passes * pass_ns; }
  double pays_after(const Price& stay) const {
    const double gain = stay.pass_ns - pass_ns;
    return gain > 0 ? std::min(first_ns / gain, kNever) : kNever;
  }
};

// The teams, on their nodes, with vectors of which the first `local` are there and the others where the next team is.
Forest twisted(const Visit& visit, const sim::StreamMachine& streams, double vector_bytes, std::uint32_t team_threads,
               int local) {
  Forest forest(visit, streams);
  const auto nodes = static_cast<Forest::Node>(streams.nodes());
  std::vector<Forest::Team> teams;
  for (Forest::Node team = 0; team < nodes; ++team) teams.push_back(forest.add_team(team_threads));
  forest.end_teams();
  forest.place("memory+cache");
  for (Forest::Node team = 0; team < nodes; ++team)
    for (int vector = 0; vector < kVectors; ++vector)
      forest.give(teams[static_cast<std::size_t>(team)], vector_bytes / nodes,
                  vector < local ? team : (team + 1) % nodes, vector == kVectors - 1);
  return forest;
}

// plans[0] leaves everything where it is.
void enter(const Forest& forest, const std::string& figure, const std::vector<Plan>& plans, Cells& cells) {
  std::vector<Price> simulated, predicted;
  for (const Plan& plan : plans) {
    simulated.push_back({forest.first_ns(plan.then, plan.mover), forest.pass_ns(plan.then)});
    const policy::Prediction prediction = forest.predicted(plan.then, plan.mover);
    predicted.push_back({prediction.first_ns, prediction.pass_ns});
  }
  for (std::size_t i = 0; i < plans.size(); ++i) {
    const std::string at = figure + "/" + plans[i].name;
    cells[at + "/first"] = simulated[i].first_ns;
    cells[at + "/pass"] = simulated[i].pass_ns;
    if (i == 0) continue;
    cells[at + "/pays after"] = simulated[i].pays_after(simulated[0]);
    cells[at + "/predicted to pay after"] = predicted[i].pays_after(predicted[0]);
    int best = 0;
    for (int passes = 1; passes <= kMostPasses; ++passes)
      best += std::all_of(simulated.begin(), simulated.end(),
                          [&](const Price& other) { return simulated[i].ns(passes) <= other.ns(passes); });
    cells[at + "/best"] = static_cast<double>(best) / kMostPasses;
  }
  // What the policies choose, by what the simulator says of it: the most that they lose to the best plan.
  double loss = 0;
  for (int passes = 1; passes <= kMostPasses; ++passes) {
    Forest::Arrangement chosen;
    forest.plan(passes, chosen);
    const Price price{forest.first_ns(chosen, Mover::owner), forest.pass_ns(chosen)};
    double least = price.ns(passes);
    for (const Price& other : simulated) least = std::min(least, other.ns(passes));
    loss = std::max(loss, price.ns(passes) / least);
  }
  cells[figure + "/policy/loss"] = loss;
}

}  // namespace

void figures(const Visit& visit, const sim::StreamMachine& streams, double vector_bytes, std::uint32_t team_threads,
             Cells& cells) {
  const Forest all_remote = twisted(visit, streams, vector_bytes, team_threads, 0);
  enter(all_remote, "figure 2",
        {{"stay", all_remote.now()},
         {"move threads", all_remote.threads_to_memory()},
         {"move memory", all_remote.memory_to_threads(all_remote.now(), true, true)}},
        cells);
  const Forest two_remote = twisted(visit, streams, vector_bytes, team_threads, 1);
  enter(two_remote, "figure 3",
        {{"stay", two_remote.now()},
         {"move the read vector", two_remote.memory_to_threads(two_remote.now(), true, false)},
         {"move the written vector", two_remote.memory_to_threads(two_remote.now(), false, true)},
         {"next touch", two_remote.memory_to_threads(two_remote.now(), true, true), Mover::touch},
         {"mixed", two_remote.memory_to_threads(two_remote.threads_to_memory(), true, true)}},
        cells);
}

}  // namespace hearth::papers
