// Seats: which part of the machine each thread of a team runs on where the user has said nothing about it.
//
// The live tree of bubbles (placement/bubble.h): a team is a bubble, a nested team one inside that of the team around, where
// its primary thread stood. The policies of HEARTH_BUBBLES give each thread a place, which is its seat; it binds itself to the
// seat's CPUs when it enters the region. A thread of the program is never bound: its mask is inherited by threads that the
// program starts itself. It sits where it was when its team was formed.
//
// Called by a team's primary thread before the fork, and by each member for itself. The tree, and what it says of teams, is
// under one lock; Member::seat and Member::placing are written by the primary thread before the fork that publishes them.
#pragma once

#include "placement/bubble.h"
#include "placement/place_tree.h"
#include "runtime/state/thread.h"

namespace hearth::rt {

/// At start-up, when the places that the user has asked for are known. Sets process.seats_teams: there are several locations.
/// Where the user has said where threads are to run, these places are their seats.
void init_seats();

/// Places for the members of a team of `size` threads, if anything has changed since its last region. Members are made for
/// slots that have none. Where there are more threads than CPUs nobody is seated.
void seat_team(Thread* self, Team* team, std::int32_t size);
/// Where pages are to be moved, the members are to look in before they begin.
void call_team_to_move(Team* team, std::int32_t size);
/// After place_team(), whose result is `changed`: where the user places threads, their seats are there; and what was said of
/// memory comes into force.
void sit_where_placed(Team* team, bool changed);
/// Bind the calling thread to its seat.
void take_seat(Thread* self, Member* member);
/// The team is being freed.
void leave_seats(Team* team);
/// In a fork child: the calling thread's teams are all that is left, and they have lost their seats.
void forget_seats_of(Team* team);
void forget_seats();

/// As what the caller works in the innermost team of several threads: a team of one is no bubble, and its member has the seat
/// that the one around had when the region began.
Member* member_of_bubble(const Thread* self);
/// The location of a seat; kUnknown: not seated, or the seat spans several.
placement::Location location_of_seat(placement::PlaceId seat);
/// That of the caller's seat, else where it runs just now.
placement::Location location_of_caller(const Thread* self);
/// For pthread_attr_setaffinity_np(): 0 when there is no such mask or it does not fit.
std::size_t mask_of_seat(placement::PlaceId seat, void* mask, std::size_t room);

}  // namespace hearth::rt
