// What the tests of the mappers share: small machines, random graphs, and the best mapping by trying all.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "mappers/mapper.h"
#include "mappers/refine.h"
#include "topology/model.h"

namespace hearth::mappers {

inline topology::Machine machine_of(const std::string& structure) {
  topology::LoadedMachine loaded = topology::parse_model(
      "schema = 1\nname = \"m\"\ntitle = \"m\"\n" + structure +
          "\n[cache]\nmark = \"A\"\nllc_level = 3\nllc_bytes = 1000000\n",
      "m.toml");
  EXPECT_TRUE(loaded.ok()) << loaded.error;
  return loaded.machine;
}

/// packages x nodes x last-level caches x cores x hardware threads
inline topology::Machine machine_of(int packages, int nodes, int llcs, int cores, int threads = 1) {
  return machine_of("[structure]\nmark = \"A\"\npackages = " + std::to_string(packages) +
                    "\nnodes_per_package = " + std::to_string(nodes) + "\nllcs_per_node = " + std::to_string(llcs) +
                    "\ncores_per_llc = " + std::to_string(cores) + "\nthreads_per_core = " + std::to_string(threads));
}

/// The machine of Stirb 2018.
inline topology::Machine papers_machine() { return machine_of(2, 1, 1, 6, 2); }

/// Threads with loads of 1 to 9; sparse ones, dense ones, and some with few heavy edges.
inline Graph random_graph(std::uint32_t seed, std::size_t threads = 8) {
  std::mt19937 random(seed);
  const auto upto = [&](unsigned most) { return random() % most; };
  GraphBuilder builder;
  for (std::size_t t = 0; t < threads; ++t) builder.add_thread(std::to_string(t), 1 + upto(9));
  const unsigned density = 15 + upto(86);
  const bool heavy_tailed = upto(2) == 0;
  for (Thread a = 0; a < threads; ++a)
    for (Thread b = a + 1; b < threads; ++b) {
      if (upto(100) >= density) continue;
      const double weight = 1 + upto(100);
      builder.add_edge(a, b, heavy_tailed && upto(4) == 0 ? weight * 20 : weight);
    }
  Graph graph = builder.take();
  graph.has_loads = true;
  return graph;
}

/// The least that `value` gets over all mappings with at most `each` threads on a leaf. Leaves of one unit that
/// nobody is on yet are alike, so only the first of them is tried.
class BestOfAll {
 public:
  BestOfAll(const Target& target, std::size_t threads, std::size_t each,
            std::function<double(const std::vector<LeafIndex>&)> value)
      : target_(target), each_(each), value_(std::move(value)), leaf_of_(threads, 0), used_(target.size(), 0) {
    place(0);
  }
  double value() const { return best_; }

 private:
  bool same_as_earlier(LeafIndex leaf) const {
    if (used_[leaf] != 0) return false;
    for (LeafIndex other = 0; other < leaf; ++other) {
      if (used_[other] != 0) continue;
      // The units that hold only one of both are empty: then both stand for the same.
      const std::vector<std::uint32_t>&a = target_.leaves()[leaf].path, &b = target_.leaves()[other].path;
      std::size_t level = 0;
      while (level < a.size() && a[level] == b[level]) ++level;
      if (level == a.size()) continue;
      bool empty = true;
      for (LeafIndex third = 0; third < target_.size(); ++third) {
        const std::uint32_t unit = target_.leaves()[third].path[level];
        if (unit == a[level] || unit == b[level]) empty = empty && used_[third] == 0;
      }
      if (empty || level + 1 == a.size()) return true;
    }
    return false;
  }
  void place(Thread thread) {
    if (thread == leaf_of_.size()) {
      best_ = std::min(best_, value_(leaf_of_));
      return;
    }
    for (LeafIndex leaf = 0; leaf < target_.size(); ++leaf) {
      if (used_[leaf] >= each_ || same_as_earlier(leaf)) continue;
      ++used_[leaf];
      leaf_of_[thread] = leaf;
      place(thread + 1);
      --used_[leaf];
    }
  }

  const Target& target_;
  std::size_t each_;
  std::function<double(const std::vector<LeafIndex>&)> value_;
  std::vector<LeafIndex> leaf_of_;
  std::vector<std::size_t> used_;
  double best_ = std::numeric_limits<double>::infinity();
};

/// The least sum of weight x hops over all mappings in which no unit is fuller than the fullest of its level is in
/// the given one. Sums that are too large already are not followed, nor mappings that differ only in which of several
/// empty units is used.
class LeastHops {
 public:
  LeastHops(const Places& places, const Graph& graph, const std::vector<double>& weight,
            const std::vector<std::uint32_t>& given)
      : places_(places), weight_(weight), back_(graph.size()), place_of_(graph.size(), 0) {
    for (const Edge& edge : graph.edges) back_[edge.b].push_back(edge);
    in_unit_.assign(places.levels, std::vector<double>(places.count, 0));
    for (std::size_t level = 0; level < places.levels; ++level) {
      std::vector<double> sum(places.count, 0);
      for (Thread t = 0; t < graph.size(); ++t) sum[places.unit_of(given[t], level)] += weight[t];
      full_.push_back(*std::max_element(sum.begin(), sum.end()) + 1e-9);
    }
    place(0, 0);
  }
  double value() const { return best_; }

 private:
  bool fits(Thread thread, std::uint32_t where) const {
    for (std::size_t level = 0; level < places_.levels; ++level)
      if (in_unit_[level][places_.unit_of(where, level)] + weight_[thread] > full_[level]) return false;
    return true;
  }
  bool like_an_earlier_one(std::uint32_t where) const {
    for (std::size_t level = 0; level < places_.levels; ++level) {
      const std::uint32_t unit = places_.unit_of(where, level);
      if (in_unit_[level][unit] != 0) continue;
      for (std::uint32_t other = 0; other < where; ++other) {
        const std::uint32_t its = places_.unit_of(other, level);
        if (its != unit && in_unit_[level][its] == 0 &&
            (level == 0 || places_.unit_of(other, level - 1) == places_.unit_of(where, level - 1)))
          return true;
      }
    }
    return false;
  }
  void place(Thread thread, double sum) {
    if (sum >= best_) return;
    if (thread == place_of_.size()) {
      best_ = sum;
      return;
    }
    for (std::uint32_t where = 0; where < places_.count; ++where) {
      if (!fits(thread, where) || like_an_earlier_one(where)) continue;
      double more = 0;
      for (const Edge& edge : back_[thread]) more += edge.weight * places_.between(where, place_of_[edge.a]);
      for (std::size_t level = 0; level < places_.levels; ++level)
        in_unit_[level][places_.unit_of(where, level)] += weight_[thread];
      place_of_[thread] = where;
      place(thread + 1, sum + more);
      for (std::size_t level = 0; level < places_.levels; ++level)
        in_unit_[level][places_.unit_of(where, level)] -= weight_[thread];
    }
  }

  const Places& places_;
  const std::vector<double>& weight_;
  std::vector<std::vector<Edge>> back_;  // by the later of both threads
  std::vector<std::uint32_t> place_of_;
  std::vector<std::vector<double>> in_unit_;
  std::vector<double> full_;
  double best_ = std::numeric_limits<double>::infinity();
};

}  // namespace hearth::mappers
