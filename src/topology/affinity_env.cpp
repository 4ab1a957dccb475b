// The other runtimes' affinity variables. Grammars in affinity_env.h.
#include "topology/affinity_env.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/parse.h"
#include "topology/text.h"

namespace hearth::topology {
namespace {

constexpr std::string_view kGompLegal = "CPU numbers and ranges such as \"0 3 1-2 4-15:2\"";
constexpr std::string_view kKmpLegal =
    "a list of none, disabled, compact, scatter, balanced, or explicit with proclist=[...]; granularity=...; "
    "permute and offset "
    "as numbers";
constexpr std::string_view kGranularities = "fine, thread, core, tile, die, l2, ll_cache, numa, socket";
constexpr std::string_view kSubsetLegal =
    "a list such as \"2s,4c,1t\" or \"1s@1,8c@2\" of layers socket, numa, ll_cache, core, thread";
constexpr std::size_t kMaxEntries = CpuMask::kMaxCpu + 1;

// ---- lists of CPU numbers

struct ListFault {
  std::string wrong;
  std::size_t column = 0;
};

// number ["-" number [":" stride]], appended in the order it names them.
bool read_range(Scanner& scan, std::vector<unsigned>& cpus, ListFault& fault) {
  const std::size_t start = scan.column();
  unsigned first = 0;
  if (!scan.number(first, CpuMask::kMaxCpu)) {
    fault = {"not a CPU number", start};
    return false;
  }
  unsigned last = first;
  long stride = 1;
  if (scan.take('-')) {
    if (!scan.number(last, CpuMask::kMaxCpu)) {
      fault = {"not a CPU number", scan.column()};
      return false;
    }
    if (scan.take(':')) {
      const std::size_t stride_at = scan.column();
      const bool negative = scan.take('-');
      unsigned size = 0;
      if (!scan.number(size, CpuMask::kMaxCpu) || size == 0) {
        fault = {"not a stride", stride_at};
        return false;
      }
      stride = negative ? -static_cast<long>(size) : static_cast<long>(size);
    }
  }
  if (stride > 0 ? last < first : last > first) {
    fault = {"the range runs the wrong way", start};
    return false;
  }
  for (long cpu = first; stride > 0 ? cpu <= static_cast<long>(last) : cpu >= static_cast<long>(last);
       cpu += stride) {
    if (cpus.size() == kMaxEntries) {
      fault = {format("more than %zu CPUs", kMaxEntries), start};
      return false;
    }
    cpus.push_back(static_cast<unsigned>(cpu));
  }
  return true;
}

// Sorts out what we may not use before it becomes a mask: a mask for CPU 65535 alone is 8 KiB.
class UsableOnly {
 public:
  explicit UsableOnly(const Machine& machine) : machine_(machine) {}

  void one_place_each(const std::vector<unsigned>& cpus, std::vector<CpuMask>& places) {
    for (unsigned cpu : cpus) {
      if (usable(cpu)) places.push_back({cpu});
    }
  }
  void one_place(const std::vector<unsigned>& cpus, std::vector<CpuMask>& places) {
    CpuMask place;
    for (unsigned cpu : cpus) {
      if (usable(cpu)) place.set(cpu);
    }
    if (!place.empty()) places.push_back(std::move(place));
  }
  void remark(const PlaceList& list, std::vector<Remark>& remarks) const {
    if (missing_.empty() || list.places.empty()) return;
    remarks.push_back({format("CPUs %s are not this process's to use", missing_.list().c_str()), 0, "",
                       list.size() <= 16 ? list.text() : format("%u places without them", list.size())});
  }

 private:
  bool usable(unsigned cpu) {
    if (machine_.usable.test(cpu)) return true;
    missing_.set(cpu);
    return false;
  }

  const Machine& machine_;
  CpuMask missing_;
};

// ---- the levels of a machine, outermost first

enum Level : std::size_t { package_level, node_level, llc_level, core_level, thread_level, level_count };
using Path = std::array<int, level_count>;

// Where a CPU sits, each number counted within the level above, as libomp's "sub ids": so that the first core
// of each package is number 0 of it.
struct Placed {
  unsigned cpu = 0;
  Path global{};
  Path local{};
};

std::vector<Placed> placed_cpus(const Machine& machine, const CpuMask& which) {
  std::vector<Placed> all;
  for (unsigned cpu : cpus_in_machine_order(machine, which)) {
    const Cpu& facts = machine.cpus[static_cast<std::size_t>(machine.cpu_index(cpu))];
    Placed one;
    one.cpu = cpu;
    one.global = {facts.package, facts.node, facts.llc, facts.core, static_cast<int>(cpu)};
    all.push_back(one);
  }
  // Machine order keeps the members of a unit together, so a counter per level does: it goes up when its own
  // unit changes, and back to 0 when a unit around it does.
  Path count{};
  for (std::size_t i = 0; i < all.size(); ++i) {
    bool fresh = false;
    for (std::size_t level = 0; i > 0 && level < level_count; ++level) {
      if (fresh) {
        count[level] = 0;
      } else if (all[i].global[level] != all[i - 1].global[level]) {
        ++count[level];
        fresh = true;
      }
    }
    all[i].local = count;
  }
  return all;
}

// Levels that distinguish nothing inside the level above them take no part in permute and scatter (libomp
// drops them, too); package, core and thread always do, so that permute means the same on a laptop and on a
// server.
std::vector<std::size_t> live_levels(const std::vector<Placed>& all) {
  std::vector<std::size_t> levels;
  for (std::size_t level = 0; level < level_count; ++level) {
    bool live = level == package_level || level == core_level || level == thread_level;
    for (const Placed& one : all) live = live || one.local[level] > 0;
    if (live) levels.push_back(level);
  }
  return levels;
}

struct Granularity {
  std::string_view name;
  Level level;
};
constexpr Granularity kGranularity[] = {
    {"fine", thread_level},      {"thread", thread_level},  {"core", core_level},      {"tile", core_level},
    {"l2", core_level},          {"l2_cache", core_level},  {"die", package_level},    {"l3", llc_level},
    {"l3_cache", llc_level},     {"ll_cache", llc_level},   {"llc", llc_level},        {"numa", node_level},
    {"numa_domain", node_level}, {"socket", package_level}, {"package", package_level}};

CpuMask unit_of(const Machine& machine, unsigned cpu, Level level) {
  const Cpu& facts = machine.cpus[static_cast<std::size_t>(machine.cpu_index(cpu))];
  const auto at = [](int index) { return static_cast<std::size_t>(index); };
  switch (level) {
    case package_level: return machine.packages[at(facts.package)].usable;
    case node_level: return facts.node >= 0 ? machine.nodes[at(facts.node)].usable : CpuMask{cpu};
    case llc_level: return machine.llcs[at(facts.llc)].usable;
    case core_level: return machine.cores[at(facts.core)].usable;
    default: return CpuMask{cpu};
  }
}

// ---- KMP_AFFINITY

class KmpParser {
 public:
  KmpParser(std::string_view text, const Machine& machine)
      : scan_(text), machine_(machine), usable_(machine) {}

  KmpAffinity run() {
    scan_.skip_space();
    if (scan_.at_end()) return refuse("no value", 0);
    do {
      scan_.skip_space();
      if (!item()) return std::move(result_);
      scan_.skip_space();
    } while (scan_.take(','));
    if (!scan_.at_end()) return refuse("unexpected text", scan_.column());
    build();
    return std::move(result_);
  }

 private:
  KmpAffinity refuse(std::string wrong, std::size_t column, std::string_view legal = kKmpLegal) {
    KmpAffinity refused;
    refused.refused = true;
    refused.remarks.push_back({std::move(wrong), column, std::string(legal), "no KMP_AFFINITY"});
    result_ = refused;
    return refused;
  }
  bool fail(std::string wrong, std::size_t column, std::string_view legal = kKmpLegal) {
    refuse(std::move(wrong), column, legal);
    return false;
  }
  void remark(std::string wrong, std::size_t column, std::string used) {
    result_.remarks.push_back({std::move(wrong), column, "", std::move(used)});
  }

  bool item() {
    const std::size_t start = scan_.column();
    if (Scanner::is_digit(scan_.peek())) {
      if (result_.type == KmpAffinity::Type::unset) return fail("a number before the type", start);
      if (numbers_ == 2) return fail("a third number", start);
      unsigned value = 0;
      if (!scan_.number(value, CpuMask::kMaxCpu)) return fail("a number out of range", start);
      (numbers_++ == 0 ? permute_ : offset_) = value;
      return true;
    }
    const std::string_view word = scan_.word();
    if (word.empty())
      return fail(scan_.at_end() ? "the text ends where a word should stand" : "not a word", start);

    struct TypeName {
      std::string_view name;
      KmpAffinity::Type type;
    };
    constexpr TypeName kTypes[] = {
        {"none", KmpAffinity::Type::none},         {"disabled", KmpAffinity::Type::disabled},
        {"compact", KmpAffinity::Type::compact},   {"scatter", KmpAffinity::Type::scatter},
        {"balanced", KmpAffinity::Type::balanced}, {"explicit", KmpAffinity::Type::explicit_}};
    for (const TypeName& type : kTypes) {
      if (!same_word(word, type.name)) continue;
      if (result_.type != KmpAffinity::Type::unset) return fail("a second type", start);
      result_.type = type.type;
      return true;
    }
    if (same_word(word, "granularity")) return granularity();
    if (same_word(word, "proclist")) return proclist();
    if (same_word(word, "verbose")) return result_.verbose = true;
    if (same_word(word, "warnings")) return result_.warnings = true;
    if (same_word(word, "nowarnings")) {
      result_.warnings = false;
      return true;
    }
    if (same_word(word, "noverbose") || same_word(word, "respect")) return true;
    if (same_word(word, "norespect")) {
      remark("Hearth never leaves the CPUs it was given", start, "respect");
      return true;
    }
    if (same_word(word, "reset")) return result_.reset = true;
    if (same_word(word, "noreset")) {
      result_.reset = false;
      return true;
    }
    if (same_word(word, "logical") || same_word(word, "physical")) return fail("a deprecated type", start);
    return fail("unknown word", start);
  }

  bool equals() {
    scan_.skip_space();
    if (!scan_.take('=')) return fail("expected =", scan_.column());
    scan_.skip_space();
    return true;
  }

  bool granularity() {
    if (!equals()) return false;
    const std::size_t start = scan_.column();
    const std::string_view word = scan_.word();
    for (const Granularity& one : kGranularity) {
      if (!same_word(word, one.name)) continue;
      granularity_ = one.level;
      return true;
    }
    return fail("unknown granularity", start, kGranularities);
  }

  bool proclist() {
    if (!equals()) return false;
    if (!scan_.take('[')) return fail("expected [", scan_.column());
    proclist_given_ = true;
    ListFault fault;
    std::vector<unsigned> cpus;
    do {
      scan_.skip_space();
      cpus.clear();
      if (scan_.take('{')) {
        do {
          scan_.skip_space();
          if (!read_range(scan_, cpus, fault)) return fail(fault.wrong, fault.column);
          scan_.skip_space();
        } while (scan_.take(','));
        if (!scan_.take('}')) return fail("missing }", scan_.column());
        usable_.one_place(cpus, proclist_);
      } else {
        if (!read_range(scan_, cpus, fault)) return fail(fault.wrong, fault.column);
        usable_.one_place_each(cpus, proclist_);
      }
      if (proclist_.size() > kMaxEntries)
        return fail(format("more than %zu entries", kMaxEntries), scan_.column());
      scan_.skip_space();
    } while (scan_.take(','));
    if (!scan_.take(']')) return fail("missing ]", scan_.column());
    return true;
  }

  void build() {
    using Type = KmpAffinity::Type;
    PlaceList& list = result_.list;
    switch (result_.type) {
      case Type::unset:
        if (proclist_given_) {
          result_.type = Type::explicit_;  // libomp, too, takes a proclist alone for explicit
          return build();
        }
        return;
      case Type::disabled:
      case Type::none: return;
      case Type::explicit_: {
        if (!proclist_given_) {
          refuse("explicit without proclist=[...]", 0);
          return;
        }
        list.places = std::move(proclist_);
        usable_.remark(list, result_.remarks);
        if (list.places.empty()) {
          refuse(format("none of its CPUs can be used by this process, which may use %s",
                        machine_.usable.list().c_str()),
                 0);
          return;
        }
        if (granularity_) {
          for (CpuMask& place : list.places) {
            CpuMask wide;
            place.for_each([&](unsigned cpu) { wide |= unit_of(machine_, cpu, *granularity_); });
            place = std::move(wide);
          }
        }
        break;
      }
      case Type::balanced:
        list = places_of(granularity_ == thread_level ? PlaceUnit::threads : PlaceUnit::cores, machine_);
        break;
      case Type::compact:
      case Type::scatter: order(result_.type == Type::scatter); break;
    }
    list.name = "list";
    result_.bind = ProcBind::close;
    if (list.places.size() > 1) {
      std::rotate(list.places.begin(),
                  list.places.begin() + static_cast<std::ptrdiff_t>(offset_ % list.places.size()),
                  list.places.end());
    }
  }

  void order(bool scatter) {
    std::vector<Placed> all = placed_cpus(machine_, machine_.usable);
    const std::vector<std::size_t> levels = live_levels(all);
    const std::size_t depth = levels.size();
    // compact,k: the k innermost levels decide first, innermost first; then the others from the outside in.
    // scatter,k is compact,(depth - 1 - k).
    std::size_t inner = permute_;
    if (inner >= depth) {
      remark(format("permute %u is more than the %zu levels of this machine allow", permute_, depth), 0,
             format("%zu", depth - 1));
      inner = depth - 1;
    }
    if (scatter) inner = depth - 1 - inner;
    std::vector<std::size_t> significance;
    significance.reserve(depth);
    for (std::size_t i = 0; i < inner; ++i) significance.push_back(levels[depth - 1 - i]);
    for (std::size_t i = 0; i < depth - inner; ++i) significance.push_back(levels[i]);
    std::stable_sort(all.begin(), all.end(), [&](const Placed& a, const Placed& b) {
      for (std::size_t level : significance) {
        if (a.local[level] != b.local[level]) return a.local[level] < b.local[level];
      }
      return false;
    });
    for (const Placed& one : all) {
      result_.list.places.push_back(unit_of(machine_, one.cpu, granularity_.value_or(core_level)));
    }
  }

  Scanner scan_;
  const Machine& machine_;
  KmpAffinity result_;
  std::optional<Level> granularity_;
  UsableOnly usable_;
  std::vector<CpuMask> proclist_;
  bool proclist_given_ = false;
  unsigned permute_ = 0;
  unsigned offset_ = 0;
  int numbers_ = 0;
};

// ---- KMP_HW_SUBSET

struct LayerName {
  std::string_view name;
  Level level;
};
constexpr LayerName kLayers[] = {{"s", package_level},        {"socket", package_level},
                                 {"sockets", package_level},  {"d", package_level},
                                 {"die", package_level},      {"dice", package_level},
                                 {"n", node_level},           {"numa", node_level},
                                 {"numa_domain", node_level}, {"numa_domains", node_level},
                                 {"ll", llc_level},           {"llc", llc_level},
                                 {"ll_cache", llc_level},     {"ll_caches", llc_level},
                                 {"l3", llc_level},           {"l3_cache", llc_level},
                                 {"l3_caches", llc_level},    {"tile", core_level},
                                 {"tiles", core_level},       {"l2", core_level},
                                 {"l2_cache", core_level},    {"l2_caches", core_level},
                                 {"c", core_level},           {"core", core_level},
                                 {"cores", core_level},       {"t", thread_level},
                                 {"thread", thread_level},    {"threads", thread_level}};
constexpr const char* kLevelNames[level_count] = {"sockets", "NUMA domains", "last-level caches", "cores",
                                                  "threads"};

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
          if (earlier.level == wish.level)
            return refuse(format("%s twice", kLevelNames[wish.level]), wish.column);
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
  HwSubset refuse(std::string wrong, std::size_t column, std::string_view legal = kSubsetLegal) {
    result_ = {};
    result_.refused = true;
    result_.cpus = machine_.usable;
    result_.remarks.push_back(
        {std::move(wrong), column, std::string(legal), "everything that this process may use"});
    return result_;
  }
  bool fail(std::string wrong, std::size_t column, std::string_view legal = kSubsetLegal) {
    refuse(std::move(wrong), column, legal);
    return false;
  }

  bool layer(LayerWish& wish) {
    scan_.skip_space();
    wish.column = scan_.column();
    if (!scan_.take('*') && Scanner::is_digit(scan_.peek())) {
      if (!scan_.number(wish.count, CpuMask::kMaxCpu) || wish.count == 0)
        return fail("not a legal count", wish.column);
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
      const bool ends =
          !(Scanner::is_letter(after) || Scanner::is_digit(after)) || after == 'x' || after == 'X';
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
      if (static_cast<int>(kind) >= kinds)
        return fail(format("this machine has %d kinds of cores", kinds), start);
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
      return fail(
          format("asks for %s up to number %u where there are %u", kLevelNames[wish.level], wanted, largest),
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

ParsedPlaces parse_gomp_cpu_affinity(std::string_view text, const Machine& machine) {
  ParsedPlaces result;
  result.list.name = "list";
  const auto refuse = [&](std::string wrong, std::size_t column) {
    result.refused = true;
    result.list = places_of(PlaceUnit::cores, machine);
    result.remarks.clear();
    result.remarks.push_back({std::move(wrong), column, std::string(kGompLegal), "no GOMP_CPU_AFFINITY"});
    return result;
  };
  Scanner scan(text);
  scan.skip_space();
  if (scan.at_end()) return refuse("no CPUs", 0);
  ListFault fault;
  std::vector<unsigned> cpus;
  while (!scan.at_end()) {
    if (!read_range(scan, cpus, fault)) return refuse(fault.wrong, fault.column);
    const std::size_t before = scan.position();
    scan.skip_space();
    if (scan.take(',')) {
      scan.skip_space();
      if (scan.at_end()) return refuse("the text ends where a CPU number should stand", scan.column());
    } else if (!scan.at_end() && scan.position() == before) {
      return refuse("unexpected text", scan.column());
    }
  }
  UsableOnly usable(machine);
  usable.one_place_each(cpus, result.list.places);
  usable.remark(result.list, result.remarks);
  if (result.list.places.empty()) {
    return refuse(format("none of its CPUs can be used by this process, which may use %s",
                         machine.usable.list().c_str()),
                  0);
  }
  return result;
}

KmpAffinity parse_kmp_affinity(std::string_view text, const Machine& machine) {
  return KmpParser(text, machine).run();
}

HwSubset parse_kmp_hw_subset(std::string_view text, const Machine& machine) {
  return SubsetParser(text, machine).run();
}

}  // namespace hearth::topology
