// Streams: what long vectors cost that threads bound to nodes read and write, and what it costs to move the
// threads or the vectors. No tasks and no queues: the loops of STREAM are the same work for every thread, so
// that plain rules on top of Fluid say all there is to say.
//
// A line comes after the latency of its node, as many lines at a time as a core has misses in flight. It
// takes room at the node that serves it, more if it leaves that node and more if it is written (fill and
// write-back), on the links it crosses, and in the machine-wide limit if there is one.
// Used by one thread; the machine and the parameters outlive it.
#pragma once

#include <cstdint>

#include <vector>

#include "sim/cost/fluid.h"
#include "sim/cost/parameters.h"
#include "topology/machine.h"

namespace hearth::sim {

/// A thread's part of a vector.
struct Stretch {
  double bytes = 0;
  std::vector<double> on;  // by node, as parts of 1: where its pages are
  bool written = false;    // else read
};

/// What one thread does between two barriers.
struct Stream {
  std::uint32_t node = 0;  // whose core it runs on
  std::vector<Stretch> stretches;
};

class StreamMachine {
 public:
  StreamMachine(const topology::Machine& machine, const Parameters& parameters);

  std::uint32_t nodes() const { return nodes_; }
  /// Until the last of them is done.
  double ns(const std::vector<Stream>& streams) const;

  /// To move pages from one node to another, by one system call per owner of pages; all owners at once.
  struct Move {
    double bytes = 0;
    std::uint32_t from = 0;
    std::uint32_t to = 0;
  };
  double move_memory_ns(const std::vector<Move>& moves) const;
  /// The same when they are moved as they are touched: each page is a fault and a move of its own.
  double next_touch_ns(const std::vector<Move>& moves) const;
  double move_threads_ns(std::uint32_t threads) const;

 private:
  struct Load;
  double latency_ns(std::uint32_t core, std::uint32_t memory, bool written) const;
  void add(Load& load, std::uint32_t core, std::uint32_t memory, double bytes, bool written) const;
  double run(const std::vector<Load>& loads) const;
  double moved_ns(const std::vector<Move>& moves, double call_us, double page_us) const;

  const topology::Machine& machine_;
  const Parameters& parameters_;
  std::uint32_t nodes_;
};

}  // namespace hearth::sim
