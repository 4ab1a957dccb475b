// The OMP_PLACES grammar, by recursive descent. One pass, no backtracking; sizes are bounded, because the
// text comes from outside.
#include "topology/places.h"

#include <algorithm>

#include "base/parse.h"
#include "topology/text.h"

namespace hearth::topology {
namespace {

constexpr std::string_view
    kLegal = "threads, cores, ll_caches, numa_domains, sockets, or a list such as \"{0:4},{4:4}\"";
// As many places as there can be CPUs. Each can hold every CPU, so the work is bounded too.
constexpr std::size_t kMaxPlaces = CpuMask::kMaxCpu + 1;
constexpr std::size_t kMissingBudget = std::size_t{1} << 20;

struct UnitName {
  std::string_view name;
  PlaceUnit unit;
};
constexpr UnitName kUnits[] = {{"threads", PlaceUnit::threads},
                               {"cores", PlaceUnit::cores},
                               {"ll_caches", PlaceUnit::ll_caches},
                               {"numa_domains", PlaceUnit::numa_domains},
                               {"sockets", PlaceUnit::sockets}};

struct Excluded {
  CpuMask cpus;
  std::size_t column;
  bool used = false;
};

class ListParser {
 public:
  ListParser(std::string_view text, const Machine& machine) : scan_(text), machine_(machine) {}

  bool run() {
    do {
      if (!interval()) return false;
      scan_.skip_space();
    } while (scan_.take(','));
    if (!scan_.at_end()) return fail("unexpected text");
    exclude();
    return true;
  }

  const std::string& wrong() const { return wrong_; }
  std::size_t column() const { return column_; }
  std::vector<CpuMask>& places() { return places_; }
  bool emptied_by_exclusion() const { return emptied_by_exclusion_; }
  const CpuMask& missing() const { return missing_; }
  const std::vector<Excluded>& excluded() const { return excluded_; }

 private:
  bool fail(std::string wrong) { return fail(std::move(wrong), scan_.column()); }
  bool fail(std::string wrong, std::size_t column) {
    wrong_ = std::move(wrong);
    column_ = column;
    return false;
  }

  bool number(unsigned& out, const char* what) {
    scan_.skip_space();
    const std::size_t start = scan_.column();
    if (scan_.number(out, CpuMask::kMaxCpu)) return true;
    if (Scanner::is_digit(scan_.peek())) return fail(format("%s above %u", what, CpuMask::kMaxCpu), start);
    if (scan_.at_end()) return fail(format("the text ends where a %s should stand", what), start);
    return fail(format("not a %s", what), start);
  }

  // [":" length [":" stride]]. A stride may be negative; 0 would repeat the same thing.
  bool length_and_stride(unsigned& length, long& stride) {
    length = 1;
    stride = 1;
    scan_.skip_space();
    if (!scan_.take(':')) return true;
    scan_.skip_space();
    const std::size_t length_at = scan_.column();
    if (!number(length, "length")) return false;
    if (length == 0) return fail("a length of 0", length_at);
    scan_.skip_space();
    if (!scan_.take(':')) return true;
    scan_.skip_space();
    const std::size_t stride_at = scan_.column();
    const bool negative = scan_.take('-');
    if (!negative) scan_.take('+');
    unsigned size = 0;
    if (!number(size, "stride")) return false;
    if (size == 0 && length > 1) return fail("a stride of 0", stride_at);
    stride = negative ? -static_cast<long>(size) : static_cast<long>(size);
    return true;
  }

  // res-interval, into what the place includes or excludes.
  bool resource(CpuMask& included, std::vector<Excluded>& excluded) {
    scan_.skip_space();
    const std::size_t start = scan_.column();
    const bool exclusion = scan_.take('!');
    unsigned cpu = 0;
    if (!number(cpu, "CPU number")) return false;
    if (exclusion) {
      Excluded one{{}, start};
      one.cpus.set(cpu);
      excluded.push_back(std::move(one));
      return true;
    }
    unsigned length = 1;
    long stride = 1;
    if (!length_and_stride(length, stride)) return false;
    long at = cpu;
    for (unsigned i = 0; i < length; ++i, at += stride) {
      if (at < 0) return fail("the interval reaches below CPU 0", start);
      if (at > static_cast<long>(CpuMask::kMaxCpu))
        return fail(format("the interval reaches above %u", CpuMask::kMaxCpu), start);
      included.set(static_cast<unsigned>(at));
    }
    return true;
  }

  // "{" res-list "}" or a bare CPU number.
  bool place(CpuMask& out) {
    scan_.skip_space();
    const std::size_t start = scan_.column();
    if (!scan_.take('{')) {
      if (Scanner::is_letter(scan_.peek())) return fail("a name inside a list");
      unsigned cpu = 0;
      if (!number(cpu, "CPU number or {")) return false;
      out.set(cpu);
      return true;
    }
    std::vector<Excluded> excluded;
    do {
      if (!resource(out, excluded)) return false;
      scan_.skip_space();
    } while (scan_.take(','));
    if (!scan_.take('}')) return fail(scan_.at_end() ? "missing }" : "expected , or }");
    for (Excluded& one : excluded) {
      one.used = out.intersects(one.cpus);
      out -= one.cpus;
      if (!one.used) excluded_.push_back(std::move(one));
    }
    if (out.empty()) return fail("a place without CPUs", start);
    return true;
  }

  // p-interval.
  bool interval() {
    scan_.skip_space();
    const std::size_t start = scan_.column();
    const bool exclusion = scan_.take('!');
    CpuMask first;
    if (!place(first)) return false;
    if (exclusion) {
      excluded_places_.push_back({std::move(first), start});
      scan_.skip_space();
      if (scan_.peek() == ':') return fail("an interval after an exclusion");
      return true;
    }
    unsigned length = 1;
    long stride = 1;
    if (!length_and_stride(length, stride)) return false;
    if (named_places_ + length > kMaxPlaces) return fail(format("more than %zu places", kMaxPlaces), start);
    named_places_ += length;
    const long lowest = static_cast<long>(first.first()) + (stride < 0 ? stride * (static_cast<long>(length) - 1) : 0);
    if (lowest < 0) return fail("the interval reaches below CPU 0", start);
    for (unsigned i = 0; i < length; ++i) add_shifted(first, stride * static_cast<long>(i));
    return true;
  }

  // Keeps what is usable of `base` moved up by `shift`; the costs grow with the machine, not with the numbers
  // in the text.
  void add_shifted(const CpuMask& base, long shift) {
    CpuMask usable;
    machine_.usable.for_each([&](unsigned cpu) {
      const long origin = static_cast<long>(cpu) - shift;
      if (origin >= 0 && base.test(static_cast<unsigned>(std::min<long>(origin, CpuMask::kMaxCpu + 1))))
        usable.set(cpu);
    });
    if (budget_ > 0) {
      const std::size_t size = base.count();
      budget_ -= std::min(budget_, size);
      base.for_each([&](unsigned cpu) {
        const long moved = static_cast<long>(cpu) + shift;
        if (moved >= 0 && moved <= static_cast<long>(CpuMask::kMaxCpu) &&
            !machine_.usable.test(static_cast<unsigned>(moved))) {
          missing_.set(static_cast<unsigned>(moved));
        }
      });
    }
    if (!usable.empty()) places_.push_back(std::move(usable));
  }

  void exclude() {
    for (Excluded& one : excluded_places_) {
      const CpuMask usable = one.cpus & machine_.usable;
      const auto end = std::remove(places_.begin(), places_.end(), usable);
      one.used = end != places_.end();
      emptied_by_exclusion_ = emptied_by_exclusion_ || (one.used && end == places_.begin());
      places_.erase(end, places_.end());
      if (!one.used) excluded_.push_back(std::move(one));
    }
  }

  Scanner scan_;
  const Machine& machine_;
  std::vector<CpuMask> places_;
  std::vector<Excluded> excluded_places_;
  std::vector<Excluded> excluded_;  // exclusions that had nothing to exclude
  CpuMask missing_;
  bool emptied_by_exclusion_ = false;
  std::size_t named_places_ = 0;
  std::size_t budget_ = kMissingBudget;
  std::string wrong_;
  std::size_t column_ = 0;
};

ParsedPlaces refuse(const Machine& machine, std::string wrong, std::size_t column,
                    PlaceUnit instead = PlaceUnit::cores) {
  ParsedPlaces result;
  result.refused = true;
  result.list = places_of(instead, machine);
  result.remarks.push_back({std::move(wrong), column, std::string(kLegal), result.list.name});
  return result;
}

ParsedPlaces parse_named(Scanner scan, const Machine& machine) {
  const std::size_t name_at = scan.column();
  const std::string_view word = scan.word();
  const UnitName* unit = nullptr;
  for (const UnitName& candidate : kUnits) {
    if (same_word(candidate.name, word)) unit = &candidate;
  }
  if (unit == nullptr) return refuse(machine, "unknown place name", name_at);
  // What comes after the name may be wrong: the name still says what is meant.
  const auto refuse_count = [&](const char* wrong, std::size_t at) { return refuse(machine, wrong, at, unit->unit); };
  scan.skip_space();
  std::uint32_t wanted = 0;
  std::size_t wanted_at = 0;
  if (scan.take('(')) {
    scan.skip_space();
    wanted_at = scan.column();
    if (!scan.number(wanted, UINT32_MAX)) return refuse_count("not a number of places", wanted_at);
    if (wanted == 0) return refuse_count("0 places", wanted_at);
    scan.skip_space();
    if (!scan.take(')')) return refuse_count("missing )", scan.column());
    scan.skip_space();
  }
  if (!scan.at_end()) return refuse_count("unexpected text", scan.column());
  ParsedPlaces result;
  result.list = places_of(unit->unit, machine, wanted);
  if (wanted > result.list.size()) {
    result.remarks.push_back({format("only %u of %u %s can be used by this process", result.list.size(), wanted,
                                     std::string(unit->name).c_str()),
                              wanted_at, "", format("%u", result.list.size())});
  }
  return result;
}

}  // namespace

std::string remark_line(std::string_view variable, std::string_view value, const Remark& remark) {
  std::string line(variable);
  line += "=\"";
  line += value.substr(0, 256);
  if (value.size() > 256) line += "...";
  line += "\": " + remark.wrong;
  if (remark.column != 0) line += format(" at column %zu", remark.column);
  if (!remark.legal.empty()) line += "; legal: " + remark.legal;
  if (!remark.used_instead.empty()) line += "; using " + remark.used_instead;
  return line + '.';
}

int PlaceList::place_of_cpu(unsigned cpu) const {
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (places[i].test(cpu)) return static_cast<int>(i);
  }
  return -1;
}

std::string PlaceList::text() const {
  std::string all;
  for (const CpuMask& place : places) {
    if (!all.empty()) all += ',';
    all += '{' + place.list() + '}';
  }
  return all;
}

PlaceList places_of(PlaceUnit unit, const Machine& machine, std::uint32_t most) {
  PlaceList list;
  const auto add = [&](const CpuMask& cpus) {
    if (!cpus.empty() && (most == 0 || list.size() < most)) list.places.push_back(cpus);
  };
  const auto add_all = [&](const auto& units) {
    for (const auto& one : units) add(one.usable);
  };
  switch (unit) {
    case PlaceUnit::threads:
      for (unsigned cpu : cpus_in_machine_order(machine, machine.usable)) add({cpu});
      break;
    case PlaceUnit::cores: add_all(machine.cores); break;
    case PlaceUnit::ll_caches: add_all(machine.llcs); break;
    case PlaceUnit::numa_domains: add_all(machine.nodes); break;
    case PlaceUnit::sockets: add_all(machine.packages); break;
  }
  for (const UnitName& name : kUnits) {
    if (name.unit == unit) list.name = std::string(name.name);
  }
  return list;
}

ParsedPlaces parse_places(std::string_view text, const Machine& machine) {
  Scanner scan(text);
  scan.skip_space();
  if (scan.at_end()) return refuse(machine, "no places", 0);
  if (Scanner::is_letter(scan.peek())) return parse_named(scan, machine);

  ListParser parser(text, machine);
  if (!parser.run()) return refuse(machine, parser.wrong(), parser.column());
  ParsedPlaces result;
  result.list.name = "list";
  result.list.places = std::move(parser.places());
  if (result.list.places.empty() && parser.emptied_by_exclusion()) return refuse(machine, "every place is excluded", 0);
  if (result.list.places.empty()) {
    return refuse(
        machine,
        format("none of its CPUs can be used by this process, which may use %s", machine.usable.list().c_str()), 0);
  }
  if (!parser.missing().empty()) {
    result.remarks.push_back(
        {format("this process may not use CPUs %s", parser.missing().list().c_str()), 0, "",
         result.list.size() <= 16 ? result.list.text() : format("%u places without them", result.list.size())});
  }
  for (const Excluded& one : parser.excluded()) {
    result.remarks.push_back({"this exclusion excludes nothing", one.column, "",
                              result.list.size() <= 16 ? result.list.text() : format("%u places", result.list.size())});
  }
  return result;
}

}  // namespace hearth::topology
