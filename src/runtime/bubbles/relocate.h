// Relocation: what a plan says (policy/relocation.h) is done: threads are bound elsewhere, pages move.
//
// Pages are moved by whoever comes by: the thread that has planned, the members of teams as they enter regions, each for a
// bounded time. One migration is under way at a time; the next plan waits for a later occasion.
#pragma once

#include <cstdint>

#include "memory/migrate.h"
#include "placement/bubble.h"

namespace hearth::rt {

/// Threads of what contradicts its hints inside `bubble`, or around it, are placed anew, and a migration of its memory begins, if
/// that costs less than it gains. False: another migration is still under way. Under the lock of the live tree; the caller
/// helps to migrate after that.
bool plan_relocation_of(placement::EntityId bubble);

// Under the lock of the live tree, for who has made a plan of his own.

/// False: a migration is still under way.
bool may_relocate();
/// What LiveTree::new_place and target say of all that is inside `top` is done. The caller helps to migrate after that.
void relocate(placement::EntityId top, memory::MoveCause why);

bool migration_is_pending();
/// For a bounded time, if there is anything to move.
void help_to_migrate();
/// In a fork child: nothing is under way.
void forget_migration();

/// What has been moved so far, by all threads.
struct RelocationCounts {
  std::uint64_t plans = 0;    // that moved something
  std::uint64_t threads = 0;  // bound elsewhere
  std::uint64_t pages = 0;
};
RelocationCounts relocation_counts();
/// For hearth top, now and then.
void publish_moves();

}  // namespace hearth::rt
