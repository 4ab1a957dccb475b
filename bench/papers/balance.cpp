#include "papers/balance.h"

#include <algorithm>

#include "papers/draws.h"
#include "papers/forest.h"
#include "policy/arrangement.h"

namespace hearth::papers {

using placement::AttachmentId;
using placement::BubbleTree;
using placement::EntityId;
using placement::kNoEntity;
using policy::GlobalPass;
using policy::kStays;

void Forest::use(Team team, double passes, double hinted) {
  times_.resize(static_cast<std::size_t>(tree_.attachments()), 1);
  for (AttachmentId a = tree_[team].first_attachment; a != placement::kNoAttachment; a = tree_.attachment(a).next) {
    times_[static_cast<std::size_t>(a)] = passes;
    tree_.attachment(a).passes = static_cast<float>(hinted);
  }
}

double Forest::times(AttachmentId attachment) const {
  return times_.empty() ? 1 : times_[static_cast<std::size_t>(attachment)];
}

void Forest::forget_bandwidths() {
  for (Node node = 0; node < costs_->locations(); ++node) costs_->set_memory_gbs(node, 0);
  costs_->machine_gbs = 0;
}

// Everybody and everything goes there; returns what that takes.
double Forest::move(const Arrangement& then) {
  const double ns = first_ns(then, policy::Mover::owner);
  before_.place = now_.place;
  before_.target.assign(now_.target.size(), kStays);
  policy::Targets targets(standing(), {then.place.data(), then.target.data()});
  for (AttachmentId a = 0; a < tree_.attachments(); ++a) {
    const std::uint64_t to = targets.of(a);
    if (to == 0) continue;
    const std::uint64_t from = tree_.attachment(a).where;
    if (__builtin_popcountll(from) == 1) before_.target[static_cast<std::size_t>(a)] = __builtin_ctzll(from);
    placement::Shares shares(tree_.locations());
    for (Node node = 0; node < tree_.locations(); ++node)
      if ((to >> node & 1) != 0)
        shares.add(node, static_cast<std::uint64_t>(policy::bytes_of(tree_, a) / __builtin_popcountll(to)));
    tree_.relocate(a, shares);
  }
  now_.place = then.place;
  tree_.sum_up();
  return ns;
}

double Forest::balance(GlobalPass& pass, double last_ns) {
  if (last_ns == 0) return 0;
  policy::weigh_by_hints(tree_, now_.place.data());
  // Whether it is the move that made passes longer is not asked: the worst case.
  const GlobalPass::Turn turn = pass.begin({.passes = 1, .mean_ns = last_ns, .slowest_has_moved = true},
                                           policy::unevenness(standing()));
  if (turn == GlobalPass::Turn::undo) return move(Arrangement(before_));
  if (turn == GlobalPass::Turn::none || pass.budget_ns() == 0) return 0;
  Arrangement then = now_;
  scratch_.resize(policy::relocation_bytes(tree_, places_) / 8 + 1);
  const policy::Relocation plan = policy::plan_relocation(
      policy::find_bubbles("memory+cache"), standing(), BubbleTree::kRoot,
      {.passes = pass.horizon(), .mover = policy::Mover::owner, .only_balances = true, .fed_cpus = 0.5F,
       .most_first_ns = pass.budget_ns()},
      then.place.data(), then.target.data(), scratch_.data());
  if (plan.action == policy::Action::stay) return 0;
  pass.moved(plan.then.first_ns);
  return move(then);
}

namespace {

constexpr int kPasses = 60, kChange = 20;
constexpr int kLong = 300;  // passes of the team that grows: moves may only take a small part of what has gone by
constexpr int kPrograms = 4;

struct TeamWork {
  double bytes;
  double passes[2];  // before the change, and after it
  double hinted[2];
};
using Work = std::vector<TeamWork>;

// So many teams of two on the cores that the policies give them, with memory that their threads touch first.
class Run {
 public:
  Run(const Visit& visit, const sim::StreamMachine& streams, const Work& work, bool knows_bandwidths)
      : forest_(visit, streams) {
    if (!knows_bandwidths) forest_.forget_bandwidths();
    for (std::size_t i = 0; i < work.size(); ++i) teams_.push_back(forest_.add_team(2));
    forest_.end_teams();
    forest_.place("memory+cache");
    const std::vector<std::uint32_t> nodes = forest_.nodes();
    for (std::size_t i = 0; i < work.size(); ++i)
      forest_.give(teams_[i], work[i].bytes, static_cast<Forest::Node>(nodes[2 * i]), i % 2 == 0);
  }

  double ns(const Work& work, int passes, bool balances) {
    GlobalPass pass;
    double all = 0, last = 0;
    for (int number = 0; number < passes; ++number) {
      const int phase = number >= kChange;
      for (std::size_t i = 0; i < work.size(); ++i)
        forest_.use(teams_[i], work[i].passes[phase], work[i].hinted[phase]);
      if (balances) all += forest_.balance(pass, last);
      last = forest_.pass_ns(forest_.now());
      all += last;
    }
    return all;
  }

 private:
  Forest forest_;
  std::vector<Forest::Team> teams_;
};

double on_by_off(const Visit& visit, const sim::StreamMachine& streams, const Work& work, int passes,
                 bool knows_bandwidths) {
  const double off = Run(visit, streams, work, knows_bandwidths).ns(work, passes, false);
  return Run(visit, streams, work, knows_bandwidths).ns(work, passes, true) / off;
}

double between(Random& random, double least, double most) {
  return least + (most - least) * random.below(1000) / 999;
}

// `wrong`: hints are up to so many times too small or too large.
Work drawn(Random& random, double wrong) {
  Work work(2 + random.below(7));
  for (TeamWork& team : work) {
    team.bytes = between(random, 4e6, 64e6);
    for (int phase = 0; phase < 2; ++phase) {
      team.passes[phase] = between(random, 1, 8);
      team.hinted[phase] = team.passes[phase] * (random.below(2) != 0 ? between(random, 1, wrong)
                                                                      : 1 / between(random, 1, wrong));
    }
  }
  return work;
}

// As bench/forest/growing.c: one of eight teams has three and a half times as much to do from the change on.
Work growing() {
  Work work(8, {.bytes = 16e6, .passes = {4, 4}, .hinted = {4, 4}});
  work[0].passes[1] = work[0].hinted[1] = 14;
  return work;
}

}  // namespace

void balance(const Visit& visit, const sim::StreamMachine& streams, Cells& cells) {
  Random random(visit.seed + 1);
  double right = 0, guessed = 0;
  for (int program = 0; program < kPrograms; ++program) {
    right = std::max(right, on_by_off(visit, streams, drawn(random, 1), kPasses, true));
    guessed = std::max(guessed, on_by_off(visit, streams, drawn(random, 3), kPasses, false));
  }
  cells["balance/hints are right"] = right;
  cells["balance/hints are wrong, bandwidths unknown"] = guessed;
  cells["balance/one team grows"] = on_by_off(visit, streams, growing(), kLong, true);
}

}  // namespace hearth::papers
