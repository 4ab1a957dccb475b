// Where the threads of this process sit: the machine, the policy's state, and what the environment says.
//
// Threads move when others have ended or the process has lost CPUs: never in `literal`, a few at each creation and each end, and
// only who still has the mask that it was given here.
//
// Any thread may call these at any time. One at a time is let in; who does not get in soon (another thread was
// forked away
// while it was inside) gets no seat, and no thread ever waits for long.
#pragma once

#include <pthread.h>

#include "btlp/support/plan.h"
#include "policy/btdm_online.h"
#include "topology/cpu_mask.h"

namespace hearth::btlp {

/// A thread that is about to start.
struct Placed {
  policy::Seat seat;
  std::int32_t set = -1;
  double load = 0;
  bool bind = false;   // to `mask`
  bool ours = false;   // its mask, bound or inherited, is a choice of this library
  bool after = false;  // behind its creation, by its creator
  topology::CpuMask mask;
};

/// Is anything to be done at all (HEARTH_BTLP)?
bool is_on();
/// The seat of the next thread that this site creates; `fixed`: the program has chosen its CPUs itself.
Placed take_seat(hearth_btlp_site& site, bool fixed);
/// Called by the new thread, before its routine: what it may use later, when it creates threads itself.
void sit_down(const Placed& placed);
/// Placed::after: binds a thread that can be joined and is not joined yet. Called by its creator.
void bind_behind(pthread_t thread, const Placed& placed);
/// The thread could not be created.
void give_back(const Placed& placed);

}  // namespace hearth::btlp
