#include "papers/forest.h"

#include "policy/arrangement.h"
#include "sim/cost/costs.h"

namespace hearth::papers {

using placement::AttachmentId;
using placement::BubbleTree;
using placement::EntityId;
using placement::kNoEntity;
using policy::kStays;

namespace {

constexpr BubbleTree::Room kRoom{.entities = 256, .attachments = 128};

}  // namespace

Forest::Forest(const Visit& visit, const sim::StreamMachine& streams)
    : streams_(streams), costs_(std::make_unique<placement::CostModel>()) {
  sim::fill_costs(visit.machine, visit.parameters, sim::Pattern::stream, *costs_);
  place_memory_.resize(placement::PlaceTree::bytes_for(visit.machine) / 8 + 1);
  places_.fill(visit.machine, costs_->locations(), topology::core_level, place_memory_.data());
  BubbleTree::Room room = kRoom;
  room.locations = costs_->locations();
  tree_memory_.resize(BubbleTree::bytes_for(room) / 8 + 1);
  tree_.begin(room, tree_memory_.data());
}

Forest::Team Forest::add_team(std::uint32_t threads) {
  const Team team = tree_.add_bubble(BubbleTree::kRoot);
  for (std::uint32_t i = 0; i < threads; ++i) tree_.add_thread(team);
  return team;
}

void Forest::give(Team team, double bytes, Node on, bool written) {
  placement::Shares shares(costs_->locations());
  shares.add(on, static_cast<std::uint64_t>(bytes));
  tree_.attach(team, {.access = written ? placement::Access::write : placement::Access::read}, shares);
  end_teams();
}

void Forest::end_teams() {
  tree_.sum_up();
  now_.place.resize(static_cast<std::size_t>(tree_.entities()), placement::kNoPlace);
  now_.target.assign(static_cast<std::size_t>(tree_.attachments()), kStays);
  scratch_.resize(policy::relocation_bytes(tree_, places_) / 8 + 1);
}

void Forest::place(const char* word) {
  policy::distribute(policy::find_bubbles(word), tree_, places_, *costs_, BubbleTree::kRoot, placement::kWholeMachine,
                     now_.place.data(), scratch_.data());
}

void Forest::place_at(Team team, Node node) {
  policy::distribute(policy::find_bubbles("cache"), tree_, places_, *costs_, team, places_.place_of_location(node),
                     now_.place.data(), scratch_.data());
}

Forest::Arrangement Forest::threads_to_memory() const {
  Arrangement then = now_;
  policy::distribute(policy::find_bubbles("memory+cache"), tree_, places_, *costs_, BubbleTree::kRoot,
                     placement::kWholeMachine, then.place.data(), scratch_.data());
  return then;
}

Forest::Arrangement Forest::memory_to_threads(const Arrangement& threads, bool read, bool written) const {
  Arrangement then = threads;
  for (AttachmentId a = 0; a < tree_.attachments(); ++a) {
    const placement::Attachment& facts = tree_.attachment(a);
    if (facts.access == placement::Access::write ? !written : !read) continue;
    then.target[static_cast<std::size_t>(a)] = policy::location_of_owner(standing(), facts.owner, threads.place.data());
  }
  return then;
}

policy::Relocation Forest::plan(double passes, Arrangement& then) const {
  then = now_;
  return policy::plan_relocation(policy::find_bubbles("memory+cache"), standing(), BubbleTree::kRoot,
                                 {.passes = passes, .mover = policy::Mover::owner}, then.place.data(),
                                 then.target.data(), scratch_.data());
}

placement::Location Forest::best_layout() const {
  return policy::best_layout(standing(), BubbleTree::kRoot, true, scratch_.data());
}

Forest::Arrangement Forest::laid_out(placement::Location target) const {
  Arrangement then = now_;
  then.target.assign(then.target.size(), target);
  return then;
}

policy::Prediction Forest::predicted(const Arrangement& then, policy::Mover mover) const {
  return policy::predict(standing(), {then.place.data(), then.target.data()}, mover, scratch_.data());
}

// Of an attachment's bytes, by node.
std::vector<double> Forest::parts(AttachmentId attachment, const Arrangement& then) const {
  std::vector<double> on(streams_.nodes());
  const std::uint64_t to = policy::Targets(standing(), {then.place.data(), then.target.data()}).of(attachment);
  const double bytes = policy::bytes_of(tree_, attachment);
  for (std::size_t node = 0; node < on.size(); ++node)
    on[node] = to != 0 ? static_cast<double>(to >> node & 1) / __builtin_popcountll(to)
                       : static_cast<double>(tree_.bytes(attachment)[node]) / bytes;
  return on;
}

double Forest::pass_ns(const Arrangement& then) const {
  std::vector<sim::Stream> streams;
  for (EntityId e = BubbleTree::kRoot; e != kNoEntity; e = tree_.next_inside(e, BubbleTree::kRoot)) {
    if (!tree_[e].is_thread) continue;
    sim::Stream stream;
    stream.node = static_cast<std::uint32_t>(
        policy::location_of(standing(), e, then.place[static_cast<std::size_t>(e)]));
    policy::for_each_use(tree_, e, [&](AttachmentId a, double part) {
      stream.stretches.push_back(
          {policy::bytes_of(tree_, a) * part * times(a), parts(a, then), tree_.attachment(a).access == placement::Access::write});
    });
    streams.push_back(std::move(stream));
  }
  return streams_.ns(streams);
}

double Forest::first_ns(const Arrangement& then, policy::Mover mover) const {
  std::vector<sim::StreamMachine::Move> moves;
  policy::Targets targets(standing(), {then.place.data(), then.target.data()});
  for (EntityId owner = 0; owner < tree_.entities(); ++owner) {
    const std::size_t before = moves.size();
    for (AttachmentId a = tree_[owner].first_attachment; a != placement::kNoAttachment; a = tree_.attachment(a).next)
      policy::for_each_move(standing(), a, 1, targets.of(a), [&](Node from, Node to, double bytes, std::uint64_t) {
        // One call moves all that an owner has there.
        for (std::size_t i = before; i < moves.size(); ++i)
          if (static_cast<Node>(moves[i].from) == from && static_cast<Node>(moves[i].to) == to) {
            moves[i].bytes += bytes;
            return;
          }
        moves.push_back({bytes, static_cast<std::uint32_t>(from), static_cast<std::uint32_t>(to)});
      });
  }
  const double memory = mover == policy::Mover::touch ? streams_.next_touch_ns(moves) : streams_.move_memory_ns(moves);
  return memory + streams_.move_threads_ns(static_cast<std::uint32_t>(predicted(then, mover).threads));
}

std::vector<std::uint32_t> Forest::nodes() const {
  std::vector<std::uint32_t> all;
  for (EntityId e = BubbleTree::kRoot; e != kNoEntity; e = tree_.next_inside(e, BubbleTree::kRoot))
    if (tree_[e].is_thread)
      all.push_back(
          static_cast<std::uint32_t>(policy::location_of(standing(), e, now_.place[static_cast<std::size_t>(e)])));
  return all;
}

}  // namespace hearth::papers
