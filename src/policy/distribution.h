// Distribution: bubbles and threads on their way from the outermost place to where they will run. What bubble policies work
// on: lists of who waits at which place, and the ways of dealing that several of them have in common.
//
// In the caller's memory (planning_bytes()), for one call of distribute(), used by one thread.
#pragma once

#include "policy/bubble_policy.h"

namespace hearth::policy {

class Distribution {
 public:
  static std::size_t bytes_for(const BubbleTree& tree, const PlaceTree& places);
  Distribution(const BubbleTree& tree, const PlaceTree& places, const CostModel& costs, PlaceId* place, void* memory);
  /// Whoever is inside `top` waits at `within`, and what the others do is known.
  void begin(EntityId top, PlaceId within);
  /// Deals until all are placed.
  void run(const BubbleStack& stack, EntityId top, PlaceId within);

  const BubbleTree& tree() const { return tree_; }
  const PlaceTree& places() const { return places_; }

  // Who waits at a place.
  EntityId first(PlaceId at) const { return lists_[at].first; }
  EntityId last(PlaceId at) const { return lists_[at].last; }
  EntityId next(EntityId entity) const { return nodes_[entity].next; }
  EntityId previous(EntityId entity) const { return nodes_[entity].previous; }
  std::int32_t count(PlaceId at) const { return lists_[at].count; }
  float load(PlaceId at) const { return lists_[at].load; }
  /// CPUs that nobody from outside keeps busy; at least a little more than 0.
  float room(PlaceId at) const;
  float fullness(PlaceId at) const { return lists_[at].load / room(at); }

  // What is known of one of them.
  float load_of(EntityId entity) const { return nodes_[entity].load; }
  /// The smallest place where all its threads ran last; kNoPlace: none has run.
  PlaceId last_place(EntityId entity) const { return nodes_[entity].last_place; }
  /// The smallest place that holds all locations that draw it or what is inside it; kNoPlace: none does.
  PlaceId favourite(EntityId entity) const { return nodes_[entity].favourite; }
  bool can_burst(EntityId entity) const { return !tree_[entity].is_thread && nodes_[entity].threads > 1; }

  void move(EntityId entity, PlaceId from, PlaceId to);
  /// What is inside waits here instead of the bubble.
  void burst(EntityId bubble, PlaceId at);
  bool burst_largest(PlaceId at);

  // Ways of dealing. Each leaves alone what it does not deal.

  /// To the place inside where it ran last, the most recent one first.
  void deal_to_last_places(PlaceId at);
  /// The rest: in equal parts of neighbours if all are alike and every place inside is, too; else the heaviest first, each to
  /// where is most room for it. Memory-bound and compute-bound threads are dealt apart, so that they meet.
  void deal_rest(PlaceId at);
  /// The same, always the heaviest first.
  void deal_heaviest_first(PlaceId at);
  /// Whether no CPU would be left idle if all were dealt as they are.
  bool would_fill(PlaceId at);
  /// From the end of the fullest list to the emptiest, as long as that has idle CPUs and both become more alike.
  /// `may_burst`: a bubble that is too large to move as a whole is opened, if its place is overfull.
  void balance(PlaceId at, bool may_burst);
  /// All into the one place inside that has room, where they ran last or else the emptiest; false: none has room.
  bool deal_together(PlaceId at);

  /// Puts the list in order: those with most memory first.
  void order_by_memory(PlaceId at);

 private:
  struct Node {
    EntityId next = kNoEntity;
    EntityId previous = kNoEntity;
    float load = 0;  // of its threads that are not seated
    std::int32_t threads = 0;
    PlaceId last_place = kNoPlace;
    std::uint32_t last_ran = 0;
    PlaceId favourite = kNoPlace;
    float memory_bound = 0;  // of its load
    std::int32_t turn = 0;   // in its list, when it was gathered
  };
  struct List {
    EntityId first = kNoEntity;
    EntityId last = kNoEntity;
    std::int32_t count = 0;
    float load = 0;
    float load_of_others = 0;
    float memory_bound = 0;
    float trial = 0;  // of would_fill()
  };

  void insert(EntityId entity, PlaceId at, EntityId before);
  void unlink(EntityId entity, PlaceId at);
  void know_thread(EntityId thread);
  void know_bubble(EntityId bubble);
  EntityId* gather(PlaceId at);
  void count_others(EntityId top);
  void settle(EntityId entity, PlaceId at);
  void enclose(EntityId bubble);
  bool all_alike(PlaceId at) const;
  bool insides_alike(PlaceId at) const;
  void deal_neighbours(PlaceId at);
  PlaceId emptiest(PlaceId at, EntityId entity) const;
  PlaceId least_memory_bound(PlaceId at) const;
  void deal_memory_bound(PlaceId at);
  EntityId movable(PlaceId from, PlaceId to) const;
  template <class Before>
  EntityId* sorted(PlaceId at, Before before);

  const BubbleTree& tree_;
  const PlaceTree& places_;
  const CostModel& costs_;
  PlaceId* place_;
  Node* nodes_;
  List* lists_;
  EntityId* gathered_;
};

}  // namespace hearth::policy
