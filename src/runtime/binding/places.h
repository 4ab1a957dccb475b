// Which place each thread of a team runs on (OpenMP 5.2, section 10.1.3), and who is told about it.
//
// The place list comes from OMP_PLACES, GOMP_CPU_AFFINITY or KMP_AFFINITY, and is constant after
// init_affinity(). Without any of them, and without OMP_PROC_BIND, nothing here reads the machine, and no
// mask is ever touched. place_team() is called by the primary thread before the fork and writes the members'
// places; each member binds itself when it sees that its Member::placing has moved on.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/settings/settings.h"
#include "runtime/state/thread.h"

namespace hearth::rt {

/// Written by init_affinity() only.
extern constinit bool affinity_is_active;

/// Whether regions have to be placed, or their placement displayed.
inline bool affinity_active() { return affinity_is_active; }

/// Read the places. From initialize(), when the settings and the number of CPUs are known; may lower
/// contention.cpus (KMP_HW_SUBSET) and sets the initial bind-var.
void init_affinity();
/// A new root thread gets the whole list as its partition. It is bound, to the first place, with its first
/// region or when it asks for its place: until then the program may have put it somewhere.
void place_root(Thread* self);
/// Give every member of the team its place and place partition for the region that begins, and bind the
/// caller, who is its primary thread and still in the team around. `proc_bind`: the clause, 0 without one. True: the
/// members' places are not what they were.
bool place_team(Thread* self, Team* team, std::int32_t proc_bind);
/// A number for Member::placing that no decision before had: a thread that comes from another team never takes that team's
/// decision for this one's. 0 is "no place was ever given". Any thread.
std::uint32_t new_placing();
/// Bind the calling thread as place_team() has decided for its member slot, and display it if that was asked
/// for.
void take_place(Thread* self, Member* member);

/// The calling thread, a primary one, has come to the end of a region and is back in the team around.
void leave_places(Thread* self);

// The place list, for the omp_get_place_* calls. All zero when there is none.
std::int32_t place_count();
std::int32_t place_size(std::int32_t place);
/// Calls visit(cpu) for each CPU of the place.
void for_each_cpu_of_place(std::int32_t place, void (*visit)(void* context, unsigned cpu), void* context);
struct Partition {
  std::int32_t place = -1;  // where the calling thread is bound; -1: it is not
  std::int32_t first = 0, count = 0;
};
Partition partition_of(Thread* self);

/// What the runtime knows and the environment does not say, for the displays.
DisplayFacts display_facts();

/// The thread's affinity in the given format (empty: affinity-format-var). Returns the length it needs; what
/// does not fit is cut.
std::size_t format_affinity(Thread* self, const char* format, char* out, std::size_t room);
/// Print that, and a newline, on stdout.
void display_affinity(Thread* self, const char* format);
/// affinity-format-var. A device-wide value: set it while no other thread displays.
void set_affinity_format(const char* text);
const char* affinity_format();

}  // namespace hearth::rt
