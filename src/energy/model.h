// Joules by a model, where nothing measures them, and for machines that are not here. Labelled as an estimate
// wherever it is shown: its coefficients are of a machine model, mostly ranges, and only comparisons on one machine
// mean something.
//
//   E = packages * uncore * T + sum over cores of (idle * T_idle + active * T_busy)
//       + cache lines * e_cache + memory lines * e_memory + lines from other nodes * e_remote + switches * e_switch
//
// Pure.
#pragma once

namespace hearth::energy {

struct Rates {
  double uncore_w = 0;   // a package, whatever its cores do
  double idle_w = 0;     // a core that does nothing
  double active_w = 0;   // a core that works
  double cache_nj = 0;   // a line from a last-level cache
  double memory_nj = 0;  // a line from or to memory
  double remote_nj = 0;  // more, for a line of another node
  double switch_uj = 0;  // a switch from one thread to another
};

struct Activity {
  double seconds = 0;
  double packages = 1, cores = 1;
  double busy_core_seconds = 0;  // of all cores together
  double cache_lines = 0, memory_lines = 0, remote_lines = 0, switches = 0;
};

double modelled_joules(const Rates& rates, const Activity& activity);

}  // namespace hearth::energy
