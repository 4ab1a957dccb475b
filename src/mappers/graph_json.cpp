// Graphs in the JSON that `hearth cc --explain=FILE` writes: {"threads": [{"function": , "line": , "routine": ,
// "class": , "in_loop": , "partners": [...], "shares": [...]}], "tree": ...}. Of a thread are read, where they are
// there: `id` (else its number in the list, from 0), `routine` and `function` (its name), `class`, `created_by`,
// `estimated_cost` or `load`, `partner_ids` or `partners` (names of routines, or ids), `weights` (one for each
// partner) and `shares` (names of objects). Two partners without a weight count as many as the objects that both
// share, or 1. Thread 0 need not be listed: it is `main`.
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/parse.h"
#include "mappers/graph_file.h"
#include "mappers/graph_text.h"
#include "mappers/json_reader.h"

namespace hearth::mappers {
namespace {

using Kind = JsonValue::Kind;

class Explained {
 public:
  LoadedGraph read(std::string_view text, const std::string& file) {
    JsonValue root;
    std::string problem = read_json(text, root, line_);
    if (problem.empty()) {
      line_ = root.line;
      problem = whole(root);
    }
    if (!problem.empty()) return LoadedGraph::failure(fmt::format("{}:{}: {}", file, line_, problem));
    LoadedGraph loaded;
    loaded.graph = builder_.take();
    if (loaded.graph.has_loads) loaded.remark = "the loads are the compiler's estimates of operations";
    return loaded;
  }

 private:
  std::string at(const JsonValue& value, std::string what) {
    line_ = value.line;
    return what;
  }

  std::string whole(const JsonValue& root) {
    const JsonValue* threads = root.is(Kind::object) ? root.member("threads") : nullptr;
    if (threads == nullptr || !threads->is(Kind::array))
      return at(root, "is no explanation of hearth cc; legal: {\"threads\": [...], ...}");
    if (threads->elements.empty()) return at(*threads, "no threads; legal: one or more");
    if (threads->elements.size() > kMostThreads) return at(*threads, fmt::format("more than {} threads", kMostThreads));
    for (const JsonValue& one : threads->elements)
      if (std::string problem = add(one); !problem.empty()) return problem;
    for (std::size_t i = 0; i < threads->elements.size(); ++i)
      if (std::string problem = link(threads->elements[i], of_element_[i]); !problem.empty()) return problem;
    for (const auto& [pair, weight] : weights_) builder_.add_edge(pair.first, pair.second, weight);
    for (auto& [name, users] : objects_) builder_.add_object(users, 1);
    return {};
  }

  /// A whole number that names a thread.
  std::string id_of(const JsonValue& value, std::uint64_t& out) {
    if (!value.is(Kind::number)) return at(value, "a thread's id must be a whole number");
    const std::string problem = read_count(value.text, "the thread's id", 0, UINT32_MAX, out);
    return problem.empty() ? "" : at(value, problem);
  }

  std::string add(const JsonValue& one) {
    if (!one.is(Kind::object)) return at(one, "a thread must be an object, {...}");
    std::uint64_t id = of_element_.size();
    if (const JsonValue* given = one.member("id"))
      if (std::string problem = id_of(*given, id); !problem.empty()) return problem;
    std::string name;
    for (const char* key : {"function", "routine"})
      if (const JsonValue* given = one.member(key); given != nullptr && given->is(Kind::text)) name = given->text;
    const Thread thread = builder_.add_thread(name.empty() ? fmt::format("thread {}", id) : name);
    if (!by_id_.try_emplace(id, thread).second) return at(one, fmt::format("a second thread with the id {}", id));
    by_name_.try_emplace(name, thread);
    of_element_.push_back(thread);
    shares_.emplace_back();
    if (std::string problem = kind(one, thread); !problem.empty()) return problem;
    if (std::string problem = load(one, thread); !problem.empty()) return problem;
    return shares(one, thread);
  }

  std::string kind(const JsonValue& one, Thread thread) {
    const JsonValue* given = one.member("class");
    if (given == nullptr || given->is(Kind::null)) return {};
    for (std::size_t i = 0; i < std::size(kThreadClassNames); ++i) {
      if (!given->is(Kind::text) || !same_word(given->text, kThreadClassNames[i])) continue;
      builder_.graph().kind[thread] = static_cast<ThreadClass>(i);
      return {};
    }
    return at(*given, fmt::format("the class {} is unknown; legal: autonomous, side-by-side, postponed, unknown",
                                  quoted(given->text)));
  }

  std::string load(const JsonValue& one, Thread thread) {
    double sum = 0;
    bool found = false;
    const auto add_up = [&](const JsonValue* value, const char* what) -> std::string {
      if (value == nullptr) return {};
      double amount = 0;
      if (!value->is(Kind::number)) return at(*value, fmt::format("{} must be a number", what));
      if (std::string problem = read_amount(value->text, what, amount); !problem.empty()) return at(*value, problem);
      sum += amount;
      found = true;
      return {};
    };
    std::string problem = add_up(one.member("load"), "the load");
    const JsonValue* cost = found ? nullptr : one.member("estimated_cost");
    if (problem.empty() && cost != nullptr) problem = add_up(cost->member("flops"), "the number of flops");
    if (problem.empty() && cost != nullptr)
      problem = add_up(cost->member("integer_operations"), "the number of integer operations");
    if (!problem.empty() || !found) return problem;
    builder_.graph().load[thread] = std::min(sum, kLargestNumber);
    builder_.graph().has_loads = true;
    return {};
  }

  std::string shares(const JsonValue& one, Thread thread) {
    const JsonValue* given = one.member("shares");
    if (given == nullptr) return {};
    if (!given->is(Kind::array)) return at(*given, "\"shares\" must be a list of names");
    for (const JsonValue& name : given->elements) {
      if (!name.is(Kind::text)) return at(name, "\"shares\" must be a list of names");
      if (shares_[thread].insert(name.text).second) objects_[name.text].push_back(thread);
    }
    return {};
  }

  std::string link(const JsonValue& one, Thread thread) {
    if (const JsonValue* creator = one.member("created_by"); creator != nullptr && !creator->is(Kind::null)) {
      std::uint64_t id = 0;
      if (std::string problem = id_of(*creator, id); !problem.empty()) return problem;
      if (const auto found = by_id_.find(id); found != by_id_.end()) builder_.graph().creator[thread] = found->second;
    }
    const JsonValue* partners = one.member("partner_ids");
    if (partners == nullptr) partners = one.member("partners");
    if (partners == nullptr) return {};
    if (!partners->is(Kind::array)) return at(*partners, "partners must be a list");
    const JsonValue* weights = one.member("weights");
    if (weights != nullptr && (!weights->is(Kind::array) || weights->elements.size() != partners->elements.size()))
      return at(*weights, fmt::format("\"weights\" must be a list of {} numbers, one for each partner",
                                      partners->elements.size()));
    for (std::size_t i = 0; i < partners->elements.size(); ++i) {
      Thread other = kNobody;
      if (std::string problem = partner(partners->elements[i], other); !problem.empty()) return problem;
      double weight = common_objects(thread, other);
      if (weights != nullptr) {
        const JsonValue& given = weights->elements[i];
        if (!given.is(Kind::number)) return at(given, "a weight must be a number");
        if (std::string problem = read_amount(given.text, "the weight", weight); !problem.empty())
          return at(given, problem);
      }
      if (thread == other) continue;
      double& known = weights_[{std::min(thread, other), std::max(thread, other)}];
      known = std::max(known, weight);  // each of both names the other
    }
    return {};
  }

  std::string partner(const JsonValue& value, Thread& out) {
    if (value.is(Kind::text)) {
      const auto found = by_name_.find(value.text);
      if (found == by_name_.end() && value.text != "main")
        return at(value, fmt::format("the partner {} is no thread of this file", quoted(value.text)));
      out = found == by_name_.end() ? main_thread() : found->second;
      return {};
    }
    std::uint64_t id = 0;
    if (std::string problem = id_of(value, id); !problem.empty()) return problem;
    const auto found = by_id_.find(id);
    if (found == by_id_.end() && id != 0) return at(value, fmt::format("there is no thread with the id {}", id));
    out = found == by_id_.end() ? main_thread() : found->second;
    return {};
  }

  Thread main_thread() {
    if (main_ == kNobody) {
      main_ = builder_.add_thread("main", builder_.graph().has_loads ? 0 : 1);
      shares_.emplace_back();
    }
    return main_;
  }

  double common_objects(Thread a, Thread b) const {
    double count = 0;
    for (const std::string& name : shares_[a]) count += static_cast<double>(shares_[b].count(name));
    return std::max(count, 1.0);
  }

  std::size_t line_ = 1;
  GraphBuilder builder_;
  Thread main_ = kNobody;
  std::vector<Thread> of_element_;
  std::map<std::uint64_t, Thread> by_id_;
  std::map<std::string, Thread> by_name_;
  std::vector<std::set<std::string>> shares_;  // by thread
  std::map<std::string, std::vector<Thread>> objects_;
  std::map<std::pair<Thread, Thread>, double> weights_;
};

}  // namespace

LoadedGraph parse_explained(std::string_view text, const std::string& file) { return Explained().read(text, file); }

}  // namespace hearth::mappers
