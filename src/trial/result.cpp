// See result.h.
#include "trial/result.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "trial/schema.h"
#include "trial/value.h"

namespace hearth::trial {
namespace {

constexpr const char* kStates[] = {"measured", "wrong", "crashed", "hung", "refused", "left out"};

Value matrix(const Rows& rows) {
  Value out = Value::array();
  for (const auto& row : rows) out.items.push_back(Value::array_of(row));
  return out;
}

Value measured_value(const std::optional<MeasuredFacts>& measured) {
  if (!measured) return {};
  Value out = Value::object();
  out.add("read_ns", matrix(measured->read_ns));
  out.add("read_mbs", matrix(measured->read_mbs));
  out.add("loaded_ns", Value::array_of(measured->loaded_ns));
  out.add("memory_gbs", Value::array_of(measured->memory_gbs));
  out.add("cache_ns", measured->cache_ns);
  out.add("remarks", Value::array_of(measured->remarks));
  return out;
}

Value machine_value(const MachineFacts& machine) {
  Value out = Value::object();
  out.add("processor", machine.processor);
  out.add("cpus", machine.cpus).add("cores", machine.cores).add("packages", machine.packages);
  out.add("cache_bytes", Value::array_of(machine.cache_bytes));
  out.add("memory_bytes", machine.memory_bytes);
  Value nodes = Value::array();
  for (const NodeFacts& node : machine.nodes)
    nodes.items.push_back(Value::object().add("cpus", node.cpus).add("memory_bytes", node.memory_bytes));
  out.add("nodes", std::move(nodes));
  out.add("distance", matrix(machine.distance));
  out.add("measured", measured_value(machine.measured));
  return out;
}

Value conditions_value(const Conditions& conditions) {
  Value out = Value::object();
  out.add("quiet", conditions.quiet);
  out.add("reasons", Value::array_of(conditions.reasons));
  out.add("load_before", conditions.load_before);
  out.add("others_percent", conditions.others_percent);
  out.add("steal_percent", conditions.steal_percent);
  out.add("governor", conditions.governor);
  out.add("numa_balancing", conditions.numa_balancing);
  out.add("transparent_huge_pages", conditions.transparent_huge_pages);
  out.add("cpu_quota", conditions.cpu_quota);
  out.add("mbind", conditions.mbind ? "allowed" : "refused");
  return out;
}

Value rows_value(const std::vector<Row>& rows) {
  Value out = Value::array();
  for (const Row& row : rows) {
    Value ns = Value::array();
    for (const double one : row.ns) ns.items.push_back(std::isfinite(one) ? Value(one) : Value());
    Value value = Value::object();
    value.add("set", row.set).add("name", row.name).add("compiler", row.compiler).add("data", row.data);
    value.add("runtime", row.runtime).add("state", state_word(row.state)).add("why", row.why).add("ns", std::move(ns));
    out.items.push_back(std::move(value));
  }
  return out;
}

Value ratios_value(const Result& result) {
  Value out = Value::array();
  for (const Ratio& ratio : ratios_of(result)) {
    Value value = Value::object();
    value.add("set", ratio.set).add("name", ratio.name).add("compiler", ratio.compiler).add("ours", ratio.ours);
    value.add("data", ratio.data).add("theirs", ratio.theirs).add("ratio", ratio.spread.median);
    value.add("low", ratio.spread.low).add("high", ratio.spread.high).add("rounds", ratio.spread.count);
    value.add("claim", claim_word(ratio.spread));
    out.items.push_back(std::move(value));
  }
  return out;
}

// ---- reading

std::vector<double> numbers(const Value& value) {
  std::vector<double> out;
  for (const Value& one : value.items)
    out.push_back(one.kind == Value::Kind::number ? one.number : std::numeric_limits<double>::quiet_NaN());
  return out;
}

std::vector<std::string> texts(const Value& value) {
  std::vector<std::string> out;
  for (const Value& one : value.items) out.push_back(one.text);
  return out;
}

Rows matrix_of(const Value& value) {
  Rows out;
  for (const Value& row : value.items) out.push_back(numbers(row));
  return out;
}

// A file may say 1e300 where an integer is meant.
template <class T>
T whole(const Value& value) {
  constexpr double kMost = sizeof(T) > 4 ? 9e15 : 2e9;
  return static_cast<T>(std::clamp(value.number, 0.0, kMost));
}

void read_machine(const Value& from, MachineFacts& machine) {
  machine.processor = from.get("processor").text;
  machine.cpus = whole<int>(from.get("cpus"));
  machine.cores = whole<int>(from.get("cores"));
  machine.packages = whole<int>(from.get("packages"));
  for (const Value& one : from.get("cache_bytes").items) machine.cache_bytes.push_back(whole<std::uint64_t>(one));
  machine.memory_bytes = whole<std::uint64_t>(from.get("memory_bytes"));
  for (const Value& node : from.get("nodes").items)
    machine.nodes.push_back({whole<int>(node.get("cpus")), whole<std::uint64_t>(node.get("memory_bytes"))});
  machine.distance = matrix_of(from.get("distance"));
  const Value& measured = from.get("measured");
  if (measured.kind != Value::Kind::object) return;
  machine.measured = MeasuredFacts{matrix_of(measured.get("read_ns")), matrix_of(measured.get("read_mbs")),
                                   numbers(measured.get("loaded_ns")), numbers(measured.get("memory_gbs")),
                                   measured.get("cache_ns").number,    texts(measured.get("remarks"))};
}

void read_conditions(const Value& from, Conditions& out) {
  out.quiet = from.get("quiet").truth;
  out.reasons = texts(from.get("reasons"));
  out.load_before = from.get("load_before").number;
  out.others_percent = from.get("others_percent").number;
  out.steal_percent = from.get("steal_percent").number;
  out.governor = from.get("governor").text;
  out.numa_balancing = from.get("numa_balancing").text;
  out.transparent_huge_pages = from.get("transparent_huge_pages").text;
  out.cpu_quota = from.get("cpu_quota").number;
  out.mbind = from.get("mbind").text == "allowed";
}

Row row_of(const Value& from) {
  Row row;
  row.set = from.get("set").text;
  row.name = from.get("name").text;
  row.compiler = from.get("compiler").text;
  row.data = from.get("data").text;
  row.runtime = from.get("runtime").text;
  const auto state = std::find(std::begin(kStates), std::end(kStates), from.get("state").text);
  row.state = static_cast<State>(state - std::begin(kStates));
  row.why = from.get("why").text;
  row.ns = numbers(from.get("ns"));
  return row;
}

}  // namespace

const char* state_word(State state) { return kStates[static_cast<int>(state)]; }

const char* claim_word(const Spread& ratio) {
  if (ratio.count < kFewest) return "too few rounds";
  const Claim claim = claim_of(ratio);
  return claim == Claim::less ? "faster" : claim == Claim::more ? "slower" : "no difference shown";
}

bool Result::is_hearth(const std::string& runtime) const {
  return std::any_of(runtimes.begin(), runtimes.end(),
                     [&](const RuntimeFacts& one) { return one.name == runtime && one.kind == "hearth"; });
}

std::vector<Ratio> ratios_of(const Result& result) {
  std::vector<Ratio> out;
  for (const Row& ours : result.rows) {
    if (ours.state != State::measured || !result.is_hearth(ours.runtime)) continue;
    for (const Row& theirs : result.rows) {
      if (theirs.state != State::measured || !theirs.same_program(ours) || result.is_hearth(theirs.runtime)) continue;
      if (theirs.data != "none" && theirs.data != "standard") continue;
      Ratio ratio{
          ours.set, ours.name, ours.compiler, ours.runtime, ours.data, theirs.runtime, ratio_of(ours.ns, theirs.ns)};
      if (ratio.spread.count > 0) out.push_back(std::move(ratio));
    }
  }
  return out;
}

std::string json_of(const Result& result) {
  Value out = Value::object();
  out.add("schema", "hearth-bench").add("version", 1);
  out.add("hearth", Value::object().add("version", result.hearth_version));
  Value asked = Value::object();
  asked.add("sets", Value::array_of(result.sets)).add("minutes", result.minutes).add("threads", result.threads);
  asked.add("quick", result.quick).add("data_bytes", result.data_bytes);
  out.add("asked", std::move(asked));
  out.add("ended", result.ended).add("seconds", result.seconds).add("rounds", result.rounds);
  out.add("conditions", conditions_value(result.conditions));
  out.add("machine", machine_value(result.machine));
  Value runtimes = Value::array();
  for (const RuntimeFacts& one : result.runtimes)
    runtimes.items.push_back(Value::object().add("name", one.name).add("kind", one.kind).add("build", one.build));
  out.add("runtimes", std::move(runtimes));
  out.add("rows", rows_value(result.rows));
  out.add("ratios", ratios_value(result));
  out.add("left_out", Value::array_of(result.left_out));
  return out.dump();
}

ReadResult read_result(const std::string& text) {
  ReadResult out;
  const ReadValue read = read_value(text);
  out.problem = read.problem;
  if (out.problem.empty()) out.problem = against_schema(read.value, bench_schema());
  if (!out.problem.empty()) return out;
  const Value& from = read.value;
  Result& result = out.result;
  result.hearth_version = from.get("hearth").get("version").text;
  const Value& asked = from.get("asked");
  result.sets = texts(asked.get("sets"));
  result.minutes = asked.get("minutes").number;
  result.threads = whole<int>(asked.get("threads"));
  result.quick = asked.get("quick").truth;
  result.data_bytes = whole<std::uint64_t>(asked.get("data_bytes"));
  result.ended = from.get("ended").text;
  result.seconds = from.get("seconds").number;
  result.rounds = whole<int>(from.get("rounds"));
  read_conditions(from.get("conditions"), result.conditions);
  read_machine(from.get("machine"), result.machine);
  for (const Value& one : from.get("runtimes").items)
    result.runtimes.push_back({one.get("name").text, one.get("kind").text, one.get("build").text});
  for (const Value& one : from.get("rows").items) result.rows.push_back(row_of(one));
  result.left_out = texts(from.get("left_out"));
  return out;
}

std::string harmless(const std::string& text) {
  std::string out;
  for (const char letter : text.substr(0, 200)) {
    const auto byte = static_cast<unsigned char>(letter);
    out += byte < 0x20 || byte > 0x7e ? ' ' : letter == '/' ? '|' : letter;
  }
  return out;
}

}  // namespace hearth::trial
