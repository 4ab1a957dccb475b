// The live tree: all teams of the process as bubbles (placement/bubble.h), with the memory that they use and where they are.
//
// Made at start-up, before there are threads; from then on everything here is under its lock, but for what is marked constant.
// Inside the room only.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "placement/bubble.h"
#include "placement/place_tree.h"
#include "policy/bubble_policy.h"
#include "runtime/state/thread.h"
#include "runtime/sync/lock.h"
#include "topology/cpu_mask.h"

namespace hearth::rt {

using placement::AttachmentId;
using placement::BubbleTree;
using placement::EntityId;
using placement::kNoAttachment;
using placement::kNoCpu;
using placement::kNoEntity;
using placement::kNoPlace;
using placement::kWholeMachine;
using placement::Location;
using placement::PlaceId;

/// What a program has said of memory that an entity uses; beside the attachment with the same number.
struct Hint {
  placement::ByteRange range;  // empty: no such attachment
  double passes = 1;
  std::uint64_t said = 0;      // in which bunch of hearth_affinity() calls; 0: by hearth_mem_attach(), until it is detached
};

/// A member's own. Calls of hearth_affinity() without a region or a barrier between them are one bunch: a bunch that says what the
/// last one said, in the same order, changes nothing and takes no lock. Zeroed memory is an empty one.
struct SaidHints {
  static constexpr int kMost = 8;  // of each; further calls of a bunch are looked up in the tree
  std::uint64_t bunch;
  std::uint32_t lost;  // hints_lost when it was said
  int repeated;
  int count;
  placement::ByteRange range[kMost];
  placement::Access use[kMost];
  // What is announced for the next region that the member forks, and what its region that is under way was given.
  int announcements;
  int handed;
  struct Announced {
    placement::ByteRange range;
    bool attaches;  // to whom it goes
  };
  Announced announced[kMost];
  Announced handed_out[kMost];
};

struct LiveTree {
  static constexpr std::int32_t kAttachments = 16384;

  Lock lock;
  placement::PlaceTree places;  // constant
  BubbleTree tree;
  BubbleTree::Room room;  // constant
  void* tree_memory = nullptr;
  PlaceId* place = nullptr;      // by entity
  PlaceId* new_place = nullptr;  // the same, while a plan is made
  Location* target = nullptr;    // by attachment, likewise
  Hint* hint = nullptr;          // by attachment
  void* planning = nullptr;      // room for the policies
  std::size_t planning_bytes = 0;
  policy::BubbleStack stack;  // constant
  topology::CpuMask before;   // constant: the mask this process started with, and an unseated worker goes back to
  bool pretended = false;     // constant
  bool placed_by_user = false;  // constant: threads stay where the user has put them, and only memory moves

  std::int32_t cpus_of(PlaceId at) const { return places[at].cpus; }
  policy::Standing standing() const;
  /// Empty. At the start, and in a fork child.
  void begin();
  /// The entity, with all that is inside and what was said of it.
  void remove(EntityId entity);
  /// At least so many bytes for planning.
  bool make_room(std::size_t bytes);
  /// The places of everything inside `top` have changed: remember where its threads are now.
  void remember(EntityId top, std::uint32_t number);
  /// The places of all bubbles are `of`, and those of threads are right: makes them so.
  void enclose_bubbles(PlaceId* of) const;
  topology::CpuMask mask_of(PlaceId at) const;
};

/// Constant after init_seats(). Null: nobody is seated.
extern LiveTree* live;

/// Counts plans: a team whose own seats another team's plan may have changed looks them up again. Written under the lock; a
/// primary thread that reads an old value looks in its next region.
extern constinit std::atomic<std::uint32_t> plans;

/// Counts how often hints were dropped that nobody has taken back: their memory or their team is gone. Who says them again
/// says something new. Written under the lock; who reads an old value is as if he had come earlier.
extern constinit std::atomic<std::uint32_t> hints_lost;

/// The bubble of the team that the member will fork next: that of the team it has kept, or one that is made in advance.
/// kNoEntity: the tree is full. Under the lock.
EntityId next_bubble_of(Member* member);

/// The member's; null: out of memory.
SaidHints* said_by(Member* member);

/// The CPU that the caller is on just now; on a pretended machine nobody knows.
std::uint32_t cpu_here();

}  // namespace hearth::rt
