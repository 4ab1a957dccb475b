// See btdm.h.
#include "policy/btdm.h"

#include <algorithm>

#include "base/assert.h"

namespace hearth::policy {
namespace {

class Placing {
 public:
  Placing(const std::vector<BtdmThread>& threads, const std::vector<BtdmLink>& links, const BtdmMachine& machine,
          const BtdmOptions& options)
      : threads_(threads),
        machine_(machine),
        order_(btdm_order(machine)),
        partners_(threads.size()),
        busy_(machine.node_of_core.size(), 0),
        cores_(threads.size()) {
    for (const BtdmLink& link : links) {
      HEARTH_ASSERT(link.a < threads.size() && link.b < threads.size(), "a link of %u and %u, of %zu threads", link.a,
                    link.b, threads.size());
      if (link.weight < options.least_weight || link.a == link.b) continue;
      partners_[link.a].push_back(link.b);
      partners_[link.b].push_back(link.a);
    }
  }

  BtdmCores run() {
    for (std::size_t t = 0; t < threads_.size(); ++t) {
      if (threads_[t].kind == ThreadKind::autonomous) put(t, {next()});
      if (threads_[t].kind == ThreadKind::side_by_side) put(t, beside_partners(t));
    }
    for (std::size_t t = 0; t < threads_.size(); ++t)
      if (threads_[t].kind == ThreadKind::postponed) put(t, {least_loaded(t)});
    return std::move(cores_);
  }

 private:
  std::uint32_t next() { return order_[next_++ % order_.size()]; }

  void put(std::size_t thread, std::vector<std::uint32_t> cores) {
    for (const std::uint32_t core : cores) busy_[core] += threads_[thread].load / static_cast<double>(cores.size());
    cores_[thread] = std::move(cores);
  }

  std::vector<std::uint32_t> beside_partners(std::size_t thread) {
    std::vector<std::uint32_t> all;
    for (const std::uint32_t partner : partners_[thread])
      all.insert(all.end(), cores_[partner].begin(), cores_[partner].end());
    if (all.empty()) return {next()};
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
  }

  std::uint32_t least_loaded(std::size_t thread) const {
    std::uint32_t best = 0;
    for (std::uint32_t core = 1; core < busy_.size(); ++core) {
      if (busy_[core] < busy_[best] || (busy_[core] == busy_[best] && distance(thread, core) < distance(thread, best)))
        best = core;
    }
    return best;
  }

  /// From the creator's first core; 0 where nothing is known.
  std::uint32_t distance(std::size_t thread, std::uint32_t core) const {
    const std::int32_t creator = threads_[thread].creator;
    if (creator < 0 || static_cast<std::size_t>(creator) >= cores_.size() || machine_.node_distance.empty()) return 0;
    const std::vector<std::uint32_t>& from = cores_[static_cast<std::size_t>(creator)];
    if (from.empty()) return 0;
    const std::int32_t a = machine_.node_of_core[from[0]], b = machine_.node_of_core[core];
    if (a < 0 || b < 0) return 0;
    return machine_.node_distance.at(static_cast<std::size_t>(a), static_cast<std::size_t>(b));
  }

  const std::vector<BtdmThread>& threads_;
  const BtdmMachine& machine_;
  const std::vector<std::uint32_t> order_;
  std::size_t next_ = 0;
  std::vector<std::vector<std::uint32_t>> partners_;
  std::vector<double> busy_;  // by core: the load of its threads so far
  BtdmCores cores_;
};

}  // namespace

std::vector<std::uint32_t> btdm_order(const BtdmMachine& machine) {
  // Rank: the how-manieth core of its node. All first ones, then all second ones.
  std::vector<std::uint32_t> order, rank;
  for (std::uint32_t core = 0; core < machine.node_of_core.size(); ++core) {
    std::uint32_t before = 0;
    for (std::uint32_t other = 0; other < core; ++other)
      before += machine.node_of_core[other] == machine.node_of_core[core];
    rank.push_back(before);
    order.push_back(core);
  }
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return rank[a] < rank[b]; });
  return order;
}

BtdmCores btdm(const std::vector<BtdmThread>& threads, const std::vector<BtdmLink>& links, const BtdmMachine& machine,
               const BtdmOptions& options) {
  if (machine.node_of_core.empty()) return BtdmCores(threads.size());
  return Placing(threads, links, machine, options).run();
}

}  // namespace hearth::policy
