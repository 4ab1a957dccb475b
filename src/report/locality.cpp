// See locality.h.
#include "report/locality.h"

#include <algorithm>

#include "policy/why.h"

namespace hearth::report {
namespace {

std::string reason(const Run& run) {
  const Places& places = run.places;
  if (!places.told) return "the recording is of an old schema, which does not have where data lay";
  if (!run.lacks.empty() && run.declared.empty()) return "the runtime does not report what tasks touch";
  if (run.declared.empty()) return "no task declares what it touches (depend, affinity, or a call)";
  return "where the memory lay that tasks declare is not known";
}

void add_by_distance(const TaskBytes& bytes, std::int64_t work, ConstructLocality& to) {
  constexpr double kFew = 0.1;
  const auto known = static_cast<double>(bytes.all - bytes.unknown);
  if (known <= 0 || known < (1 - kFew) * static_cast<double>(bytes.all)) return;
  const double remote = static_cast<double>(bytes.remote) / known;
  if (remote <= kFew) to.near.add(work);
  if (remote >= 1 - kFew) to.far.add(work);
}

}  // namespace

std::string why_text(const std::string& word) {
  for (int why = 0; policy::why_name(why) != nullptr; ++why)
    if (word == policy::why_name(why)) return policy::reason_text(static_cast<policy::Why>(why));
  return word;
}

Locality locality_of(const Run& run) {
  Locality out;
  const Places& places = run.places;
  out.locations = places.told ? places.locations : run.nodes;
  out.whys.assign(places.whys.size(), 0);
  std::vector<ConstructLocality> constructs(run.constructs.size());
  for (std::size_t id = 0; id < run.tasks.size(); ++id) {
    if (constructs.empty()) break;
    ConstructLocality& to = constructs[static_cast<std::size_t>(run.tasks[id].construct)];
    if (!places.bytes.empty()) {
      const TaskBytes& bytes = places.bytes[id];
      to.all += static_cast<double>(bytes.all);
      to.remote += static_cast<double>(bytes.remote);
      to.unknown += static_cast<double>(bytes.unknown);
      to.weighted += bytes.weighted;
      add_by_distance(bytes, run.tasks[id].work, to);
    }
    if (places.decisions.empty() || !places.decisions[id].made) continue;
    const Decision& decision = places.decisions[id];
    ++to.decided;
    ++out.whys[static_cast<std::size_t>(decision.why)];
    const bool stays = decision.chosen < 0 || decision.chosen == decision.from;
    ++(stays ? to.stayed : to.dealt);
    const std::int32_t wanted = decision.chosen < 0 ? decision.from : decision.chosen;
    const std::int32_t on = places.ran_on.empty() ? -1 : places.ran_on[id];
    to.elsewhere += on >= 0 && wanted >= 0 && on != wanted;
  }
  for (std::size_t c = 0; c < constructs.size(); ++c) {
    constructs[c].construct = static_cast<std::int32_t>(c);
    out.all += constructs[c].all;
    out.remote += constructs[c].remote;
    out.unknown += constructs[c].unknown;
    if (constructs[c].all > 0 || constructs[c].decided > 0) out.constructs.push_back(constructs[c]);
  }
  std::stable_sort(out.constructs.begin(), out.constructs.end(),
                   [](const ConstructLocality& a, const ConstructLocality& b) { return a.remote > b.remote; });
  out.known = out.all > out.unknown;
  if (!out.known) out.why_unknown = reason(run);
  return out;
}

}  // namespace hearth::report
