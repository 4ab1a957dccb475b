// NUMA-BTDM where threads come and go: each gets its seat when it is created, from what is known by then. btdm.h places a
// whole program at once; the support library of compiled programs cannot wait for that.
//
//   paper     btdm.h's rules thread by thread. A seat is a core; side-by-side threads of one set share one.
//   balanced  A seat is a cache domain (the last level that cores share), so that the system can still balance inside.
//             Autonomous threads go where the fewest threads per core are, round robin over NUMA nodes; a set of
//             side-by-side threads stays in one domain as long as it has a core for each; postponed threads go where the
//             least load is. On a machine with one domain nobody is bound: there is nothing to gain.
//
// Deterministic, no system calls, no locks: the caller lets one thread in at a time. leave() gives a seat back, so programs
// that start and end threads for hours stay balanced; better() tells who should move when that has left some units full and
// others empty, or when some may not be used any more. O(cores) per call; allocates only in the constructor and for new sets.
#pragma once

#include <cstdint>

#include <vector>

#include "policy/btdm.h"

namespace hearth::policy {

struct OnlineMachine {
  BtdmMachine cores;
  std::vector<std::uint32_t> domain_of_core;  // numbers from 0, without holes
};

/// Where a thread may run: a core, a domain, or anywhere.
struct Seat {
  enum Kind : std::uint8_t { anywhere, core, domain } kind = anywhere;
  std::uint32_t number = 0;
};

struct OnlineRules {
  bool balanced = true;
  bool turn_by_core = false;   // autonomous threads go to cores by number, not to NUMA nodes in turn
  bool ties_to_first = false;  // a postponed thread gets the first of equally loaded units, not the nearest
};

class OnlineBtdm {
 public:
  OnlineBtdm(OnlineMachine machine, const OnlineRules& rules);

  /// `set`: threads that share data have one number; -1: none. `creator`: its seat, anywhere if it has none.
  Seat enter(ThreadKind kind, std::int32_t set, double load, Seat creator);
  void leave(Seat seat, std::int32_t set, double load);

  std::size_t units() const { return units_.size(); }
  /// Closed: nobody gets a seat there any more, and who has one is better off elsewhere.
  void open(std::uint32_t unit, bool is) { units_[unit].open = is; }
  bool is_open(std::uint32_t unit) const { return units_[unit].open; }
  /// May somebody be better off elsewhere? O(units), to ask before better() is asked for each thread.
  bool uneven() const;
  /// Where this thread should move: out of a closed unit, or to one that has fewer threads for each core even with it. Sets
  /// stay together, so their threads move out of closed units only. False: it stays.
  bool better(Seat seat, std::int32_t set, std::uint32_t& unit);
  /// As better() has said.
  Seat move(Seat seat, std::int32_t set, double load, std::uint32_t unit);

 private:
  struct Unit {  // a core or a domain
    std::uint32_t cores = 0, threads = 0;
    std::int32_t node = -1;
    double load = 0;
    bool open = true;
  };
  struct Set {
    std::uint32_t unit = 0, threads = 0;
    bool seated = false;
  };
  std::uint32_t next();
  std::uint32_t emptiest();
  bool all_closed() const;
  std::uint32_t least_loaded(Seat creator) const;
  std::uint32_t distance(std::uint32_t a, std::uint32_t b) const;

  const OnlineMachine machine_;
  const bool balanced_, ties_to_first_;
  std::vector<Unit> units_;
  std::vector<std::uint32_t> order_;  // of units: nodes in turn
  std::size_t turn_ = 0;
  std::vector<Set> sets_;
};

}  // namespace hearth::policy
