// A modelled machine for the tests of policies: eight nodes, 16 away from those that are near and 22 from the
// others.
#pragma once

#include <cstdint>

#include <vector>

#include "policy/task_policy.h"

namespace hearth::policy {

/// The two dies of a package.
inline bool in_one_package(int from, int to) { return from / 2 == to / 2; }

struct EightNodes {
  explicit EightNodes(std::uint32_t cores_each, bool (*near)(int from, int to) = in_one_package)
      : distance(64), hops(64), cores(8, cores_each), cache(8), price(64), order(64) {
    for (int from = 0; from < 8; ++from)
      for (int to = 0; to < 8; ++to) {
        const int at = from * 8 + to;
        hops[at] = from == to ? 0 : near(from, to) ? 1 : 2;
        distance[at] = hops[at] == 0 ? 10 : hops[at] == 1 ? 16 : 22;
      }
    view.locations = 8;
    view.distance = distance.data();
    view.hops = hops.data();
    view.cores = cores.data();
    view.cache_per_core = cache.data();
    fill_prices(view, price.data());
    view.price = price.data();
    for (int from = 0; from < 8; ++from) order_by_distance(view, from, &order[from * 8]);
  }
  EightNodes(const EightNodes&) = delete;
  EightNodes& operator=(const EightNodes&) = delete;

  std::vector<std::uint32_t> distance, hops, cores;
  std::vector<std::uint64_t> cache;
  std::vector<float> price;
  std::vector<Location> order;
  MachineView view;
};

}  // namespace hearth::policy
