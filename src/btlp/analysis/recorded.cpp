// See recording.h: recorded threads are matched with those that the analysis has found, and their meetings with its edges.
#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "btlp/analysis/recording.h"

namespace hearth::btlp {
namespace {

constexpr double kStrongShare = 1.0 / 64;  // as in sharing.cpp, of what was counted

bool same_routine(const std::string& recorded, const Node& node) {
  const std::string& symbol = node.routine_symbol;
  // A static function whose name another file has as well is renamed for the analysis: "work.7".
  return symbol == recorded || (symbol.size() > recorded.size() && symbol.compare(0, recorded.size(), recorded) == 0 &&
                                symbol[recorded.size()] == '.');
}

/// Meetings of threads as one of their nodes.
struct Met {
  bool forward = false, backward = false;  // from the lower node to the higher one, and back
  std::uint64_t reads = 0;
};

}  // namespace

std::vector<int> nodes_of(const Recording& recording, const Program& program) {
  std::vector<int> found(recording.threads.size(), -1);
  std::set<int> taken;
  for (const Recording::Thread& thread : recording.threads) {
    if (thread.number < 0) continue;
    const auto number = static_cast<std::size_t>(thread.number);
    if (thread.number == 0) found[number] = 0;
    if (thread.number == 0 || thread.site == "-") continue;
    const int creator = thread.creator < 0 ? -1 : found[static_cast<std::size_t>(thread.creator)];
    std::vector<const Node*> candidates;
    for (const Node& node : program.nodes)
      if (node.number > 0 && node.site == thread.site) candidates.push_back(&node);
    const auto narrow = [&](const auto& fits) {
      std::vector<const Node*> fewer;
      std::copy_if(candidates.begin(), candidates.end(), std::back_inserter(fewer), fits);
      if (!fewer.empty()) candidates = fewer;
    };
    narrow([&](const Node* node) { return same_routine(thread.routine, *node); });
    narrow([&](const Node* node) { return node->creator == creator; });
    narrow([&](const Node* node) { return node->number == creator; });  // a later generation of its creator's kind
    // Call paths that share a place in the source come in the order of the program.
    narrow([&](const Node* node) { return node->many || taken.count(node->number) == 0; });
    if (candidates.empty()) continue;
    found[number] = candidates.front()->number;
    taken.insert(found[number]);
  }
  return found;
}

void add_recording(const Recording& recording, Program& program) {
  const std::vector<int> nodes = nodes_of(recording, program);
  program.recording = recording.file;
  program.recording_is_exact = recording.exact;
  std::size_t strangers = 0;
  for (const Recording::Thread& thread : recording.threads) {
    if (thread.number < 0) continue;
    const int node = nodes[static_cast<std::size_t>(thread.number)];
    if (node >= 0)
      ++program.nodes[static_cast<std::size_t>(node)].seen;
    else
      ++strangers;
  }
  if (strangers > 0)
    program.notes.push_back(std::to_string(strangers) +
                            " recorded threads were created by code that the analysis does not see");
  if (recording.stopped || recording.threads_left_out > 0 || recording.histories_cut > 0)
    program.notes.push_back("the recording is not complete: it reached its bounds");

  std::map<int, double> work;
  for (const Recording::Touch& touch : recording.touches)
    if (const int node = nodes[static_cast<std::size_t>(touch.thread)]; node > 0)
      work[node] += static_cast<double>(touch.reads) + static_cast<double>(touch.writes);
  std::map<std::tuple<int, int, std::string>, Met> meetings;
  for (const Recording::Meeting& meeting : recording.meetings) {
    const int a = nodes[static_cast<std::size_t>(meeting.a)], b = nodes[static_cast<std::size_t>(meeting.b)];
    if (a < 0 || b < 0) continue;
    Met& met = meetings[{std::min(a, b), std::max(a, b),
                         recording.objects[static_cast<std::size_t>(meeting.object)].name}];
    met.forward = met.forward || meeting.both_write || (a <= b ? meeting.a_writes_b_reads : meeting.b_writes_a_reads);
    met.backward = met.backward || meeting.both_write || (a <= b ? meeting.b_writes_a_reads : meeting.a_writes_b_reads);
    met.reads += meeting.a_to_b + meeting.b_to_a;
  }
  for (const auto& [key, met] : meetings) {
    const auto& [a, b, object] = key;
    bool known = false;
    for (Edge& edge : program.edges) {
      if (std::min(edge.from, edge.to) != a || std::max(edge.from, edge.to) != b || edge.object != object) continue;
      edge.seen = known = true;
      edge.reads += met.reads;
    }
    if (known) continue;
    Edge edge;
    edge.from = a;
    edge.to = b;
    edge.object = object;
    edge.forward = met.forward;
    edge.backward = met.backward;
    edge.seen = true;
    edge.recorded = true;
    edge.reads = met.reads;
    edge.bytes = static_cast<double>(met.reads);
    const auto share = [&](int node) {
      const auto all = work.find(node);
      return all == work.end() ? 0.0 : static_cast<double>(met.reads) / std::max(all->second, 1.0);
    };
    edge.strong = std::max(share(a), share(b)) >= kStrongShare;
    program.edges.push_back(edge);
  }
}

}  // namespace hearth::btlp
