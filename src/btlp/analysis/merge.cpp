// Gap::thread_per, first answer: "for every pthread_create call identified in the code, associated with thread A".
#include <algorithm>
#include <map>

#include "btlp/analysis/classify.h"

namespace hearth::btlp {
namespace {

void take_in(Node& one, const Node& more) {
  one.in_loop = one.in_loop || more.in_loop;
  one.in_body = one.in_body || more.in_body;
  one.many = true;
  one.detached = one.detached || more.detached;
  one.open = one.open || more.open;
  one.loop_open = one.loop_open || more.loop_open;
  if (one.unknown_reason.empty()) one.unknown_reason = more.unknown_reason;
  if (one.may_not_join.empty()) one.may_not_join = more.may_not_join;
  one.cost.flops = std::max(one.cost.flops, more.cost.flops);
  one.cost.integer_operations = std::max(one.cost.integer_operations, more.cost.integer_operations);
  one.cost.bytes = std::max(one.cost.bytes, more.cost.bytes);
  const std::string& name = more.routine;
  const auto& known = one.more_routines;
  if (!name.empty() && name != one.routine && std::find(known.begin(), known.end(), name) == known.end())
    one.more_routines.push_back(name);
}

/// The same sharing, seen from one more call path.
void take_in(Edge& one, const Edge& more) {
  one.forward = one.forward || more.forward;
  one.backward = one.backward || more.backward;
  one.strong = one.strong || more.strong;
  one.bytes = std::max(one.bytes, more.bytes);
}

}  // namespace

void one_thread_per_creation(Program& program) {
  std::vector<int> now(program.nodes.size(), 0);
  std::map<std::string, int> of_site;
  std::vector<Node> nodes;
  for (Node& node : program.nodes) {
    const auto place = node.number == 0 ? of_site.end() : of_site.find(node.site);
    if (place != of_site.end()) {
      now[static_cast<std::size_t>(node.number)] = place->second;
      take_in(nodes[static_cast<std::size_t>(place->second)], node);
      continue;
    }
    const auto number = static_cast<int>(nodes.size());
    now[static_cast<std::size_t>(node.number)] = number;
    if (node.number != 0) of_site.emplace(node.site, number);
    nodes.push_back(node);
    nodes.back().number = number;
  }
  for (Node& node : nodes)
    if (node.creator >= 0) node.creator = now[static_cast<std::size_t>(node.creator)];
  std::vector<Edge> edges;
  for (Edge edge : program.edges) {
    edge.from = now[static_cast<std::size_t>(edge.from)];
    edge.to = now[static_cast<std::size_t>(edge.to)];
    if (edge.from > edge.to) {
      std::swap(edge.from, edge.to);
      std::swap(edge.forward, edge.backward);
    }
    const auto same = std::find_if(edges.begin(), edges.end(), [&](const Edge& other) {
      return other.from == edge.from && other.to == edge.to && other.object == edge.object &&
             other.parameter == edge.parameter;
    });
    if (same == edges.end())
      edges.push_back(edge);
    else
      take_in(*same, edge);
  }
  for (Receipt& receipt : program.receipts) {
    receipt.writer = now[static_cast<std::size_t>(receipt.writer)];
    receipt.receiver = now[static_cast<std::size_t>(receipt.receiver)];
  }
  std::erase_if(program.receipts, [](const Receipt& receipt) { return receipt.writer == receipt.receiver; });
  program.nodes = std::move(nodes);
  program.edges = std::move(edges);
}

}  // namespace hearth::btlp
