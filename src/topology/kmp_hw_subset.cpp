// The parser of KMP_HW_SUBSET. Grammar in affinity_env.h.
#include <algorithm>

#include "base/parse.h"
#include "topology/affinity_env.h"
#include "topology/levels.h"
#include "topology/text.h"

namespace hearth::topology {
namespace {

constexpr std::string_view
    kLegal = "a list such as \"2s,4c,1t\" or \"1s@1,8c@2\" of layers socket, numa, ll_cache, core, thread";

struct LayerName {
  std::string_view name;
  Level level;
};
constexpr LayerName kLayers[] = {
    {"s", package_level},        {"socket", package_level},    {"sockets", package_level}, {"d", package_level},
    {"die", package_level},      {"dice", package_level},      {"n", node_level},          {"numa", node_level},
    {"numa_domain", node_level}, {"numa_domains", node_level}, {"ll", llc_level},          {"llc", llc_level},
    {"ll_cache", llc_level},     {"ll_caches", llc_level},     {"l3", llc_level},          {"l3_cache", llc_level},
    {"l3_caches", llc_level},    {"tile", core_level},         {"tiles", core_level},      {"l2", core_level},
    {"l2_cache", core_level},    {"l2_caches", core_level},    {"c", core_level},          {"core", core_level},
    {"cores", core_level},       {"t", thread_level},          {"thread", thread_level},   {"threads", thread_level}};
constexpr const char* kLevelNames[level_count] = {"sockets", "NUMA domains", "last-level caches", "cores", "threads"};

struct LayerWish {
  Level level = thread_level;
  bool all = true;
  unsigned count = 0;
  unsigned offset = 0;
  int kind = -1;  // index into Machine::kinds
  std::size_t column = 0;
};

class SubsetParser {
 public:
  SubsetParser(std::string_view text, const Machine& machine) : scan_(text), machine_(machine) {}

  HwSubset run() {
    scan_.skip_space();
    if (scan_.at_end()) return refuse("no value", 0);
    const bool only_named_layers = scan_.take(':');
    CpuMask sum;
    do {
      std::vector<LayerWish> wishes;
      do {
        LayerWish wish;
        if (!layer(wish)) return std::move(result_);
        for (const LayerWish& earlier : wishes) {
          if (earlier.level == wish.level) return refuse(format("%s twice", kLevelNames[wish.level]), wish.column);
        }
        wishes.push_back(wish);
        scan_.skip_space();
      } while (scan_.take(',') || scan_.take('x') || scan_.take('X'));
      for (Level implied : {package_level, core_level, thread_level}) {
        const bool named = std::any_of(wishes.begin(), wishes.end(),
                                       [&](const LayerWish& wish) { return wish.level == implied; });
        if (!named && !only_named_layers) wishes.push_back({.level = implied, .column = 1});
      }
      std::stable_sort(wishes.begin(), wishes.end(),
                       [](const LayerWish& a, const LayerWish& b) { return a.level < b.level; });
      CpuMask chosen = machine_.usable;
      has_enclosing_ = false;
      for (const LayerWish& wish : wishes) {
        if (!narrow(wish, chosen)) return std::move(result_);
      }
      sum |= chosen;
    } while (scan_.take('&'));
    if (!scan_.at_end()) return refuse("unexpected text", scan_.column());
    result_.cpus = std::move(sum);
    return std::move(result_);
  }

 private:
  HwSubset refuse(std::string wrong, std::size_t column, std::string_view legal = kLegal) {
    result_ = {};
    result_.refused = true;
    result_.cpus = machine_.usable;
    result_.remarks.push_back({std::move(wrong), column, std::string(legal), "everything that this process may use"});
    return result_;
  }
  bool fail(std::string wrong, std::size_t column, std::string_view legal = kLegal) {
    refuse(std::move(wrong), column, legal);
    return false;
  }

  bool layer(LayerWish& wish) {
    scan_.skip_space();
    wish.column = scan_.column();
    if (!scan_.take('*') && Scanner::is_digit(scan_.peek())) {
      if (!scan_.number(wish.count, CpuMask::kMaxCpu) || wish.count == 0) return fail("not a legal count", wish.column);
      wish.all = false;
    }
    scan_.skip_space();
    const std::size_t name_at = scan_.column();
    // Not word(): in "2sx4cx2t" the x separates, and in "c@2" the @ ends the name; digits belong to it (l2,
    // l3).
    std::string_view name;
    const std::string_view rest = scan_.rest();
    for (const LayerName& candidate : kLayers) {
      if (candidate.name.size() <= name.size() || candidate.name.size() > rest.size()) continue;
      if (!same_word(rest.substr(0, candidate.name.size()), candidate.name)) continue;
      const char after = candidate.name.size() < rest.size() ? rest[candidate.name.size()] : '\0';
      const bool ends = !(Scanner::is_letter(after) || Scanner::is_digit(after)) || after == 'x' || after == 'X';
      if (!ends) continue;
      name = candidate.name;
      wish.level = candidate.level;
    }
    if (name.empty()) return fail("unknown layer", name_at);
    scan_.seek(scan_.position() + name.size());
    scan_.skip_space();
    if (scan_.peek() == ':' && !attribute(wish)) return false;
    scan_.skip_space();
    if (scan_.take('@')) {
      scan_.skip_space();
      if (!scan_.number(wish.offset, CpuMask::kMaxCpu)) return fail("not an offset", scan_.column());
    }
    scan_.skip_space();
    if (scan_.peek() == ':' && wish.kind < 0 && !attribute(wish)) return false;
    return true;
  }

  bool attribute(LayerWish& wish) {
    const std::size_t start = scan_.column();
    scan_.take(':');
    if (wish.level != core_level) return fail("an attribute on something other than cores", start);
    const std::string_view word = scan_.word();
    const auto kinds = static_cast<int>(machine_.kinds.size());
    if (same_word(word, "intel_core") || same_word(word, "core")) {
      wish.kind = kinds - 1;
    } else if (same_word(word, "intel_atom") || same_word(word, "atom")) {
      if (kinds < 2) return fail("this machine has one kind of cores", start);
      wish.kind = kinds - 2;
    } else if (word.size() > 3 && same_word(word.substr(0, 3), "eff")) {
      Scanner digits(word.substr(3));
      unsigned kind = 0;
      if (!digits.number(kind, CpuMask::kMaxCpu) || !digits.at_end()) return fail("unknown attribute", start);
      if (static_cast<int>(kind) >= kinds) return fail(format("this machine has %d kinds of cores", kinds), start);
      wish.kind = static_cast<int>(kind);
    } else {
      return fail("unknown attribute", start, "effN, intel_core, intel_atom");
    }
    return true;
  }

  // Inside each unit of the enclosing levels, keep `count` units of this level from `offset` on.
  bool narrow(const LayerWish& wish, CpuMask& chosen) {
    if (wish.kind >= 0) chosen &= machine_.kinds[static_cast<std::size_t>(wish.kind)].cpus;
    const std::vector<Placed> all = placed_cpus(machine_, chosen);
    CpuMask kept;
    unsigned largest = 0;  // most units seen inside one enclosing unit
    // Inside which units the wish counts: those of the layer named before it; a layer nobody named does not
    // divide.
    std::size_t start = 0;
    while (start < all.size()) {
      std::size_t end = start;
      while (end < all.size() && inside(all[end], all[start])) ++end;
      unsigned seen = 0;
      int last = -1;
      for (std::size_t i = start; i < end; ++i) {
        const int unit = all[i].global[wish.level];
        if (i == start || unit != last) ++seen;
        last = unit;
        const unsigned rank = seen - 1;
        if (rank >= wish.offset && (wish.all || rank - wish.offset < wish.count)) kept.set(all[i].cpu);
      }
      largest = std::max(largest, seen);
      start = end;
    }
    const unsigned wanted = wish.offset + (wish.all ? 1 : wish.count);
    if (wanted > largest) {
      return fail(format("asks for %s up to number %u where there are %u", kLevelNames[wish.level], wanted, largest),
                  wish.column);
    }
    enclosing_ = wish.level;
    has_enclosing_ = true;
    chosen = std::move(kept);
    return true;
  }
  bool inside(const Placed& one, const Placed& first) const {
    return !has_enclosing_ || one.global[enclosing_] == first.global[enclosing_];
  }

  Scanner scan_;
  const Machine& machine_;
  HwSubset result_;
  Level enclosing_ = package_level;
  bool has_enclosing_ = false;
};

}  // namespace

HwSubset parse_kmp_hw_subset(std::string_view text, const Machine& machine) {
  return SubsetParser(text, machine).run();
}

}  // namespace hearth::topology
