// NUMA-BTDM: on which cores each thread of a program may run, by the class that the compiler gave it (Stirb 2016; 2018,
// section 3.4). The mapper `btdm` and the support library of compiled programs use it.
//
//   autonomous    its own core, round robin over NUMA nodes, then over the cores of each
//   side-by-side  every core where a thread that it exchanges data with is already; the first like an autonomous one
//   postponed     after all others, the core with the least load so far; of equals, the one nearest to its creator
//   unknown       any core: the system decides
//
// Pure and deterministic. Threads are placed in the order of their creation, which is that of their numbers.
#pragma once

#include <cstdint>

#include <vector>

#include "topology/machine.h"

namespace hearth::policy {

enum class ThreadKind : std::uint8_t { unknown, autonomous, side_by_side, postponed };

struct BtdmThread {
  ThreadKind kind = ThreadKind::unknown;
  double load = 1;            // flops and integer operations, or any other unit
  std::int32_t creator = -1;  // a thread's number; -1: not one of these
};

/// Two threads that exchange data.
struct BtdmLink {
  std::uint32_t a = 0, b = 0;
  double weight = 1;
};

struct BtdmMachine {
  std::vector<std::int32_t> node_of_core;         // cores that may be used, each with all its hardware threads
  topology::Matrix<std::uint32_t> node_distance;  // empty: nodes are equally far
};

struct BtdmOptions {
  /// Links that weigh less do not bind: in a dense graph everybody would be where everybody is.
  double least_weight = 0;
};

/// By thread its cores, rising; none: any.
using BtdmCores = std::vector<std::vector<std::uint32_t>>;
BtdmCores btdm(const std::vector<BtdmThread>& threads, const std::vector<BtdmLink>& links, const BtdmMachine& machine,
               const BtdmOptions& options = {});

/// All cores in the order in which autonomous threads get them.
std::vector<std::uint32_t> btdm_order(const BtdmMachine& machine);

}  // namespace hearth::policy
