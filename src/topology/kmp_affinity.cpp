// The parser of KMP_AFFINITY. Grammar in affinity_env.h.
#include <algorithm>
#include <optional>

#include "base/parse.h"
#include "topology/affinity_env.h"
#include "topology/cpu_list.h"
#include "topology/levels.h"
#include "topology/text.h"

namespace hearth::topology {
namespace {

constexpr std::string_view kLegal =
    "a list of none, disabled, compact, scatter, balanced, or explicit with proclist=[...]; granularity=...; permute and offset as numbers";
constexpr std::string_view kGranularities = "fine, thread, core, tile, die, l2, ll_cache, numa, socket";

struct Granularity {
  std::string_view name;
  Level level;
};
constexpr Granularity kGranularity[] = {
    {"fine", thread_level},      {"thread", thread_level},  {"core", core_level},      {"tile", core_level},
    {"l2", core_level},          {"l2_cache", core_level},  {"die", package_level},    {"l3", llc_level},
    {"l3_cache", llc_level},     {"ll_cache", llc_level},   {"llc", llc_level},        {"numa", node_level},
    {"numa_domain", node_level}, {"socket", package_level}, {"package", package_level}};

class KmpParser {
 public:
  KmpParser(std::string_view text, const Machine& machine) : scan_(text), machine_(machine), usable_(machine) {}

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
  KmpAffinity refuse(std::string wrong, std::size_t column, std::string_view legal = kLegal) {
    KmpAffinity refused;
    refused.refused = true;
    refused.remarks.push_back({std::move(wrong), column, std::string(legal), "no KMP_AFFINITY"});
    result_ = refused;
    return refused;
  }
  bool fail(std::string wrong, std::size_t column, std::string_view legal = kLegal) {
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
    if (word.empty()) return fail(scan_.at_end() ? "the text ends where a word should stand" : "not a word", start);

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
      if (proclist_.size() > kMaxEntries) return fail(format("more than %zu entries", kMaxEntries), scan_.column());
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
          refuse(
              format("none of its CPUs can be used by this process, which may use %s", machine_.usable.list().c_str()),
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
      std::rotate(list.places.begin(), list.places.begin() + static_cast<std::ptrdiff_t>(offset_ % list.places.size()),
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

}  // namespace

KmpAffinity parse_kmp_affinity(std::string_view text, const Machine& machine) { return KmpParser(text, machine).run(); }

}  // namespace hearth::topology
