// The model reader: a checked walk over the tables of the file. A table's first problem ends that table; the
// others are read all the same, so that all of a file's faults are named as far as can be.
#include "topology/model.h"

#include "topology/model_builder.h"
#include "topology/model_toml.h"
#include "topology/system_root.h"

namespace hearth::topology {
namespace {

constexpr std::int64_t kSchema = 1;
// Linux stops at 8192 CPUs and 1024 nodes, and so does a model: the tables grow with the squares of these.
constexpr std::int64_t kMaxCpus = 8192;
constexpr std::int64_t kMaxNodes = 1024;

// The ways in which a table over pairs of nodes may be given.
struct Classes {
  double local = 0;
  double same_package = 0;
  double other_package = 0;
};

class ModelReader : ModelToml {
 public:
  explicit ModelReader(const std::string& file) : ModelToml(file), file_(file) {}

  LoadedMachine read(std::string_view text) {
    LoadedMachine loaded;
    const toml::table* root = parse(text);
    if (root != nullptr && read_root(*root)) {
      loaded.machine = std::move(machine_);
      loaded.title = std::move(title_);
      return loaded;
    }
    loaded.problems = problems();
    loaded.error = loaded.problems.front();
    return loaded;
  }

 private:
  // A figure is a number in a table that has a mark, or {value = 5, mark = "P"}. `out` keeps its value when
  // the key is absent.
  bool figure(const toml::table& table, std::string_view key, double least, double most, double& out) {
    const toml::node* node = table.get(key);
    return node == nullptr || figure(table, *node, key, least, most, out);
  }
  bool figure(const toml::table& table, const toml::node& given, std::string_view key, double least, double most,
              double& out) {
    const toml::node* node = &given;
    bool marked = table.contains("mark");
    if (const toml::table* own = node->as_table()) {
      if (!only(*own, std::string(key).c_str(), {"value", "mark", "note"})) return false;
      const toml::node* mark = own->get("mark");
      if (mark == nullptr)
        return fail(*node,
                    format("\"%s\" has no mark; legal: %s", std::string(key).c_str(), std::string(kMarks).c_str()));
      if (!check_mark(*mark)) return false;
      marked = true;
      node = own->get("value");
      if (node == nullptr) return fail(*own, format("\"%s\" has no value", std::string(key).c_str()));
    }
    if (!marked) {
      return fail(*node, format("\"%s\" has no mark, and neither has its table; legal: %s", std::string(key).c_str(),
                                std::string(kMarks).c_str()));
    }
    return number(*node, key, least, most, out);
  }

  // ---- the tables ----

  bool read_root(const toml::table& root) {
    only(root, "the model",
         {"schema", "name", "title", "notes", "structure", "node", "mesh", "cache", "memory", "distance", "latency",
          "bandwidth", "simulator"});
    std::int64_t schema = 0;
    if (!root.contains("schema")) return fail(root, "no schema; legal: schema = 1");
    if (!count(root, "schema", kSchema, kSchema, schema)) return false;
    if (!root.contains("name")) return fail(root, "no name; legal: name = \"...\"");
    std::string ignored;
    if (!text(root, "name", machine_.name) || !text(root, "title", title_) || !text(root, "notes", ignored))
      return false;
    machine_.source = Source::model;
    machine_.origin = file_;
    machine_.pretended = true;

    const toml::table* cache = nullptr;
    const toml::table* memory = nullptr;
    if (optional_table(root, "cache", cache)) read_cache(cache);
    if (optional_table(root, "memory", memory)) read_memory(memory);

    const int shapes = root.contains("structure") + root.contains("node") + root.contains("mesh");
    if (shapes != 1) return fail(root, "a model needs exactly one of [structure], [[node]] and [mesh]");
    if (root.contains("structure") && !read_structure(root)) return false;
    if (root.contains("node") && !read_explicit_nodes(root)) return false;
    if (root.contains("mesh") && !read_mesh(root)) return false;

    read_pairs(root);
    if (!good()) return false;
    machine_.restrict_to(machine_.online, {}, {});
    const std::string wrong = machine_.inconsistency();
    return wrong.empty() || fail(root, wrong);
  }

  bool read_cache(const toml::table* cache) {
    if (cache == nullptr) return true;
    std::int64_t level = 3;
    double bytes = 0;
    double line_bytes = 0;
    double l1d_bytes = 0;
    double l2 = 0;
    only(*cache, "[cache]", {"mark", "llc_level", "llc_bytes", "line_bytes", "l1d_bytes", "l2_bytes"});
    count(*cache, "llc_level", 1, 4, level);
    figure(*cache, "llc_bytes", 1, 1e12, bytes);
    figure(*cache, "line_bytes", 1, 4096, line_bytes);
    figure(*cache, "l1d_bytes", 1, 1e9, l1d_bytes);
    figure(*cache, "l2_bytes", 1, 1e10, l2);
    CacheDomain& each = builder_.cache;
    each.level = static_cast<unsigned>(level);
    each.bytes = static_cast<std::uint64_t>(bytes);
    each.line_bytes = static_cast<unsigned>(line_bytes);
    each.l1d_bytes = static_cast<std::uint64_t>(l1d_bytes);
    return good();
  }

  bool read_memory(const toml::table* memory) {
    return memory == nullptr || (only(*memory, "[memory]", {"mark", "node_bytes"}) &&
                                 figure(*memory, "node_bytes", 1, 1e15, builder_.node_bytes));
  }

  bool read_structure(const toml::table& root) {
    const toml::table* structure = nullptr;
    if (!optional_table(root, "structure", structure)) return false;
    if (!only(*structure, "[structure]",
              {"mark", "packages", "nodes_per_package", "llcs_per_node", "cores_per_llc", "threads_per_core",
               "numbering"})) {
      return false;
    }
    if (!structure->contains("mark")) return fail(*structure, "[structure] has no mark; legal: " + std::string(kMarks));
    ModelBuilder::Structure shape;
    std::string numbering = "by-thread";
    if (!count(*structure, "packages", 1, kMaxNodes, shape.packages) ||
        !count(*structure, "nodes_per_package", 1, kMaxNodes, shape.nodes) ||
        !count(*structure, "llcs_per_node", 1, kMaxCpus, shape.llcs) ||
        !count(*structure, "cores_per_llc", 1, kMaxCpus, shape.cores) ||
        !count(*structure, "threads_per_core", 1, 8, shape.threads) || !text(*structure, "numbering", numbering)) {
      return false;
    }
    if (numbering != "by-thread" && numbering != "by-core") {
      return fail(
          *structure->get("numbering"),
          "\"numbering\" is not legal; legal: \"by-thread\" (all first siblings, then all second ones), \"by-core\"");
    }
    shape.by_core = numbering == "by-core";
    const std::int64_t nodes = shape.packages * shape.nodes;
    if (nodes > kMaxNodes) return fail(*structure, format("more than %lld nodes", static_cast<long long>(kMaxNodes)));
    // The largest legal factors multiply to 2^10 · 2^13 · 2^13 · 2^3, which 64 bits hold.
    if (nodes * shape.llcs * shape.cores * shape.threads > kMaxCpus) {
      return fail(*structure, format("more than %lld CPUs", static_cast<long long>(kMaxCpus)));
    }
    builder_.add_structure(shape);
    return true;
  }

  bool read_explicit_nodes(const toml::table& root) {
    const toml::array* nodes = root.get("node")->as_array();
    if (nodes == nullptr || nodes->empty() || !nodes->is_array_of_tables())
      return fail(*root.get("node"), "\"node\" is not legal; legal: [[node]] tables");
    if (nodes->size() > static_cast<std::size_t>(kMaxNodes)) return fail(*nodes, "too many nodes");
    std::int64_t next_number = 0;
    for (const toml::node& element : *nodes) {
      const toml::table& table = *element.as_table();
      if (!only(table, "[[node]]", {"mark", "number", "package", "memory_bytes", "memory", "cores"})) return false;
      const toml::node* mark = table.get("mark");
      if (mark == nullptr) return fail(table, "[[node]] has no mark; legal: " + std::string(kMarks));
      if (!check_mark(*mark)) return false;
      std::int64_t number = next_number;
      std::int64_t package = -1;
      double bytes = builder_.node_bytes;
      bool has_memory = true;
      if (!count(table, "number", next_number, CpuMask::kMaxCpu, number) ||
          !count(table, "package", 0, kMaxNodes, package) || !figure(table, "memory_bytes", 0, 1e15, bytes)) {
        return false;
      }
      if (const toml::node* given = table.get("memory")) {
        if (!given->is_boolean()) return fail(*given, "\"memory\" is not legal; legal: true, false");
        has_memory = given->value<bool>().value_or(true);
      }
      next_number = number + 1;
      Node node;
      node.os = static_cast<unsigned>(number);
      node.has_memory = has_memory && !(table.contains("memory_bytes") && bytes == 0);
      node.memory_bytes = node.has_memory ? static_cast<std::uint64_t>(bytes) : 0;
      if (const toml::node* groups = table.get("cores")) {
        const toml::array* list = groups->as_array();
        if (list == nullptr || !list->is_array_of_tables()) {
          return fail(*groups, "\"cores\" is not legal; legal: a list of {count, threads, llcs, kind, capacity}");
        }
        if (package < 0) return fail(table, "a node with cores needs a package");
        for (const toml::node& group : *list) {
          if (!read_core_group(*group.as_table(), node)) return false;
        }
      }
      if (!node.cpus.empty()) {
        const auto found = std::find_if(machine_.packages.begin(), machine_.packages.end(),
                                        [&](const Package& one) { return one.os == static_cast<unsigned>(package); });
        Package& owner = found != machine_.packages.end() ? *found : machine_.packages.emplace_back();
        owner.os = static_cast<unsigned>(package);
        owner.cpus |= node.cpus;
      } else if (!node.has_memory) {
        return fail(table, "a node needs cores or memory");
      }
      machine_.nodes.push_back(std::move(node));
      builder_.package_of_node.push_back(package);
    }
    if (machine_.online.empty()) return fail(*nodes, "no node has cores");
    std::sort(machine_.kinds.begin(), machine_.kinds.end(), [](const CoreKind& a, const CoreKind& b) {
      return a.capacity != b.capacity ? a.capacity < b.capacity : a.name < b.name;
    });
    return true;
  }

  bool read_core_group(const toml::table& group, Node& node) {
    if (!only(group, "cores", {"count", "threads", "llcs", "kind", "capacity"})) return false;
    ModelBuilder::CoreGroup shape;
    std::int64_t capacity = 1024;
    std::string kind = "core";
    if (!count(group, "count", 1, kMaxCpus, shape.cores) || !count(group, "threads", 1, 8, shape.threads) ||
        !count(group, "llcs", 1, kMaxCpus, shape.llcs) || !count(group, "capacity", 1, 1024, capacity) ||
        !text(group, "kind", kind)) {
      return false;
    }
    if (builder_.next_cpu + shape.cores * shape.threads > kMaxCpus)
      return fail(group, format("more than %lld CPUs", static_cast<long long>(kMaxCpus)));
    const CpuMask all = builder_.add_core_group(shape);
    node.cpus |= all;
    const auto found = std::find_if(machine_.kinds.begin(), machine_.kinds.end(),
                                    [&](const CoreKind& one) { return one.name == kind; });
    if (found == machine_.kinds.end()) {
      machine_.kinds.push_back({kind, static_cast<unsigned>(capacity), all});
    } else if (found->capacity != static_cast<unsigned>(capacity)) {
      return fail(group, format("kind \"%s\" with two capacities", kind.c_str()));
    } else {
      found->cpus |= all;
    }
    return true;
  }

  // A manycore whose caches are the homes of its data: tiles on a grid, one core and one cache each, latency
  // by hops.
  bool read_mesh(const toml::table& root) {
    const toml::table* mesh = nullptr;
    if (!optional_table(root, "mesh", mesh)) return false;
    if (!only(
            *mesh, "[mesh]",
            {"mark", "width", "height", "reserved", "clock_mhz", "local_cycles", "remote_cycles", "cycles_per_hop"})) {
      return false;
    }
    if (!mesh->contains("mark")) return fail(*mesh, "[mesh] has no mark; legal: " + std::string(kMarks));
    ModelBuilder::Mesh shape;
    for (const char* needed : {"width", "height", "clock_mhz", "local_cycles", "remote_cycles", "cycles_per_hop"}) {
      if (!mesh->contains(needed)) return fail(*mesh, format("[mesh] needs \"%s\"", needed));
    }
    if (!count(*mesh, "width", 1, 32, shape.width) || !count(*mesh, "height", 1, 32, shape.height) ||
        !figure(*mesh, "clock_mhz", 1, 1e5, shape.clock_mhz) ||
        !figure(*mesh, "local_cycles", 1, 1e6, shape.local_cycles) ||
        !figure(*mesh, "remote_cycles", 1, 1e6, shape.remote_cycles) ||
        !figure(*mesh, "cycles_per_hop", 0, 1e6, shape.cycles_per_hop)) {
      return false;
    }
    if (const toml::node* given = mesh->get("reserved")) {
      const toml::array* list = given->as_array();
      if (list == nullptr) return fail(*given, "\"reserved\" is not legal; legal: a list of tile numbers");
      for (const toml::node& element : *list) {
        const std::int64_t tile = element.is_integer() ? element.value<std::int64_t>().value_or(-1) : -1;
        if (tile < 0 || tile >= shape.width * shape.height) return fail(element, "not a tile number");
        shape.reserved.set(static_cast<unsigned>(tile));
      }
    }
    if (shape.reserved.count() == static_cast<std::size_t>(shape.width * shape.height))
      return fail(*mesh, "every tile is reserved");
    builder_.add_mesh(shape);
    return true;
  }

  // ---- tables over pairs of nodes ----

  bool read_pairs(const toml::table& root) {
    const toml::table* distance = nullptr;
    const toml::table* latency = nullptr;
    const toml::table* bandwidth = nullptr;
    if (!optional_table(root, "distance", distance) || !optional_table(root, "latency", latency) ||
        !optional_table(root, "bandwidth", bandwidth)) {
      return false;
    }
    if (distance != nullptr) {
      Matrix<float> slit;
      if (only(*distance, "[distance]", {"mark", "slit"}) && pairs(*distance, "slit", 10, 65535, true, slit) &&
          !slit.empty()) {
        machine_.node_distance = Matrix<std::uint32_t>(slit.size(), 10);
        for (std::size_t a = 0; a < slit.size(); ++a) {
          for (std::size_t b = 0; b < slit.size(); ++b) {
            machine_.node_distance.at(a, b) = rounded(slit.at(a, b));
          }
        }
        machine_.distance_source = DistanceSource::slit;
      }
    }
    if (latency != nullptr && only(*latency, "[latency]", {"mark", "read_ns", "write_ns", "loaded_ns"})) {
      Matrix<float> loaded;
      pairs(*latency, "read_ns", 0.1, 1e6, true, machine_.read_latency_ns);
      pairs(*latency, "write_ns", 0.1, 1e6, false, machine_.write_latency_ns);
      pairs(*latency, "loaded_ns", 0.1, 1e6, false, loaded);
    }
    if (bandwidth != nullptr && only(*bandwidth, "[bandwidth]", {"mark", "mbs"}))
      pairs(*bandwidth, "mbs", 1, 1e9, false, machine_.bandwidth_mbs);
    if (!good()) return false;
    if (machine_.node_distance.empty() && !machine_.read_latency_ns.empty()) {
      machine_.node_distance = Machine::distances_from_latencies(machine_.read_latency_ns);
      machine_.distance_source = DistanceSource::latency;
    }
    return true;
  }

  // [[...], ...] or {local = , same_package = , other_package = }, either of them perhaps as {value = ...,
  // mark = ...}. With `whole`, no pair may stay unknown, which is 0 in a square; from nodes without CPUs and
  // to nodes without memory there is nothing to know.
  bool pairs(const toml::table& table, const char* key, double least, double most, bool whole, Matrix<float>& out) {
    const toml::node* node = table.get(key);
    if (node == nullptr) return true;
    bool marked = table.contains("mark");
    if (const toml::table* own = node->as_table(); own != nullptr && own->contains("value")) {
      if (!only(*own, key, {"value", "mark", "note"})) return false;
      if (const toml::node* mark = own->get("mark")) {
        if (!check_mark(*mark)) return false;
        marked = true;
      }
      node = own->get("value");
    }
    const std::size_t size = machine_.nodes.size();
    if (const toml::table* classes = node->as_table()) {
      Classes by;
      if (!marked) return fail(*node, format("\"%s\" has no mark; legal: %s", key, std::string(kMarks).c_str()));
      if (!only(*classes, key, {"local", "same_package", "other_package"})) return false;
      for (auto [name, slot] : {std::pair{"local", &by.local}, std::pair{"same_package", &by.same_package},
                                std::pair{"other_package", &by.other_package}}) {
        const toml::node* value = classes->get(name);
        if (value != nullptr && !number(*value, name, least, most, *slot)) return false;
      }
      out = Matrix<float>(size, 0);
      for (std::size_t a = 0; a < size; ++a) {
        for (std::size_t b = 0; b < size; ++b) {
          const bool same = builder_.package_of_node[a] == builder_.package_of_node[b];
          const double value = a == b ? by.local : same ? by.same_package : by.other_package;
          if (value == 0 && whole) {
            return fail(*node, format("\"%s\" lacks \"%s\"", key,
                                      a == b ? "local" : (same ? "same_package" : "other_package")));
          }
          out.at(a, b) = static_cast<float>(value);
        }
      }
      return true;
    }
    const toml::array* rows = node->as_array();
    if (rows == nullptr)
      return fail(
          *node,
          format("\"%s\" is not legal; legal: a square of numbers, or {local, same_package, other_package}", key));
    if (!marked) return fail(*node, format("\"%s\" has no mark; legal: %s", key, std::string(kMarks).c_str()));
    if (rows->size() != size) return fail(*rows, format("\"%s\" has %zu rows for %zu nodes", key, rows->size(), size));
    out = Matrix<float>(size, 0);
    for (std::size_t a = 0; a < size; ++a) {
      const toml::array* row = rows->get(a)->as_array();
      if (row == nullptr || row->size() != size)
        return fail(*rows->get(a), format("row %zu of \"%s\" does not have %zu numbers", a, key, size));
      for (std::size_t b = 0; b < size; ++b) {
        const bool unknown = !whole || (&out == &machine_.read_latency_ns &&
                                        (machine_.nodes[a].cpus.empty() || !machine_.nodes[b].has_memory));
        double value = 0;
        const toml::node& cell = *row->get(b);
        if (unknown && cell.value<double>().value_or(-1) == 0) continue;
        if (!number(cell, key, least, most, value)) return false;
        out.at(a, b) = static_cast<float>(value);
      }
    }
    return true;
  }

  const std::string& file_;
  std::string title_;
  ModelBuilder builder_;
  Machine& machine_ = builder_.machine;
};

}  // namespace

LoadedMachine parse_model(std::string_view text, const std::string& file) { return ModelReader(file).read(text); }

LoadedMachine load_model(const std::string& path) {
  std::string text;
  if (!SystemRoot().read(path.c_str(), text)) {
    return LoadedMachine::failure(format("%s: cannot be read; legal: a model file (.toml)", path.c_str()));
  }
  return parse_model(text, path);
}

}  // namespace hearth::topology
