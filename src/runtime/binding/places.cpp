#include "runtime/binding/places.h"

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "base/assert.h"
#include "base/log.h"
#include "runtime/state/process.h"
#include "runtime/sync/wait.h"
#include "topology/affinity_env.h"
#include "topology/allowance.h"
#include "topology/binding.h"
#include "topology/current.h"
#include "topology/places.h"

namespace hearth::rt {

constinit bool affinity_is_active = false;

namespace {

struct Places {
  topology::PlaceList list;
  topology::CpuMask before;  // the mask this process started with: what an unbound thread goes back to
  std::string text;          // for displays
  topology::ProcBind when_true = topology::ProcBind::close;  // what OMP_PROC_BIND=true means
  bool reset = false;                                        // KMP_AFFINITY=reset
  bool pretended = false;                                    // HEARTH_MACHINE: its CPUs are not the kernel's
  std::vector<std::uint32_t> capacity;  // of each place's cores, the mean; empty: no loop goes by it
};

// Constant after init_affinity(). Null without places.
Places* places = nullptr;

constinit std::atomic<std::uint32_t> decisions{0};

void say(std::string_view variable, std::string_view value, const std::vector<topology::Remark>& remarks) {
  for (const topology::Remark& remark : remarks)
    warn("%s", topology::remark_line(variable, value, remark).c_str());
}

bool bind_was_given() { return settings().proc_bind_count > 0; }
bool bind_is_off() { return bind_was_given() && settings().proc_bind[0] == ProcBind::off; }

// KMP_HW_SUBSET. The process's mask is narrowed here, before there are workers, which inherit it.
void take_subset(topology::Machine& machine) {
  const std::string_view value = settings().hw_subset;
  const topology::HwSubset subset = topology::parse_kmp_hw_subset(value, machine);
  say("KMP_HW_SUBSET", value, subset.remarks);
  if (subset.refused) return;
  machine.restrict_to(subset.cpus, {}, topology::allowance().quota);
  const auto count = static_cast<std::int32_t>(subset.cpus.count());
  process.visible_cpus = count;
  if (count < contention.cpus) contention.cpus = count;
  if (settings().machine.empty() &&
      !topology::set_affinity(0, subset.cpus))
    warn("KMP_HW_SUBSET: sched_setaffinity is refused (%s); threads may run on other CPUs than %s.",
         strerror(errno), subset.cpus.list().c_str());
}

/// The places that the environment asks for; false when it asks for none.
bool find_places(const topology::Machine& machine, Places& out) {
  const Settings& s = settings();
  if (!s.kmp_affinity.empty()) {
    const topology::KmpAffinity kmp = topology::parse_kmp_affinity(s.kmp_affinity, machine);
    using Type = topology::KmpAffinity::Type;
    if (kmp.warnings || kmp.refused) say("KMP_AFFINITY", s.kmp_affinity, kmp.remarks);
    if (kmp.verbose) affinity_is_active = true;
    if (!kmp.refused && kmp.type == Type::disabled) return false;
    if (!kmp.refused && kmp.type == Type::none) {
      process.initial_icvs.bind = 0;
      out.list = topology::places_of(topology::PlaceUnit::cores, machine);
      return true;
    }
    if (!kmp.refused && kmp.type != Type::unset) {
      out.list = kmp.list;
      out.when_true = kmp.bind;
      out.reset = kmp.reset;
      process.initial_icvs.bind = static_cast<std::int32_t>(ProcBind::on);
      return true;
    }
  }
  if (!s.places.empty()) {
    topology::ParsedPlaces parsed = topology::parse_places(s.places, machine);
    say(s.places_variable, s.places, parsed.remarks);
    out.list = std::move(parsed.list);
  } else if (!s.gomp_cpu_affinity.empty() && !bind_is_off()) {
    topology::ParsedPlaces parsed = topology::parse_gomp_cpu_affinity(s.gomp_cpu_affinity, machine);
    say("GOMP_CPU_AFFINITY", s.gomp_cpu_affinity, parsed.remarks);
    out.list = std::move(parsed.list);
  } else if (bind_was_given() && !bind_is_off()) {
    out.list = topology::places_of(topology::PlaceUnit::cores, machine);
  } else {
    return false;
  }
  if (!bind_was_given()) process.initial_icvs.bind = static_cast<std::int32_t>(ProcBind::on);
  return true;
}

// The mask of the calling thread, or the complaint about it, once.
void set_mask(const topology::CpuMask& mask, const char* what) {
  if (places->pretended) return;
  if (topology::set_affinity(0, mask)) return;
  HEARTH_WARN_ONCE(
      "sched_setaffinity is refused (%s): %s {%s} is no longer available, or a sandbox forbids the call. "
      "The kernel chooses where threads run.",
      strerror(errno), what, mask.list().c_str());
}

void bind_to(Thread* self, std::int32_t place) {
  if (place == self->bound_place || (place < 0 && self->bound_place < 0)) return;
  HEARTH_ASSERT(self == tls_thread && place < place_count(), "thread %d is bound to place %d of %d", self->gtid, place,
                place_count());
  if (place >= 0)
    set_mask(places->list[static_cast<std::size_t>(place)], "the place");
  else
    set_mask(places->before, "the process's first set of CPUs");
  self->bound_place = place;
}

// A root thread that was not placed yet goes to the first place of its partition.
void settle_root(Thread* self) {
  Member& member = *self->member;
  if (member.place >= 0 || self->team != self->root_team || self->task->icvs->bind == 0) return;
  member.place = member.place_first;
  bind_to(self, member.place);
}

topology::ProcBind policy_of(const Icvs& icvs, std::int32_t clause) {
  // bind-var false: the clause is ignored. 5 is clang's number for `primary`.
  const std::int32_t bind = icvs.bind == 0 || clause <= 0 ? icvs.bind : clause == 5 ? 2 : clause;
  if (bind == 1) return places->when_true;
  return static_cast<topology::ProcBind>(bind);
}

// What a static loop's parts go by: the mean over the place's CPUs, since its thread runs on one of them. Empty, and said
// once, where it is not known.
std::vector<std::uint32_t> capacities(const topology::Machine& machine, const topology::PlaceList& list) {
  std::vector<std::uint32_t> all;
  for (std::size_t place = 0; place < list.size(); ++place) {
    std::uint64_t sum = 0;
    for (const topology::CoreKind& kind : machine.kinds) {
      const std::size_t cpus = (kind.cpus & list[place]).count();
      if (cpus != 0 && kind.capacity == 0) {
        warn("HEARTH_STATIC_BY_CAPACITY: how fast the cores of kind \"%s\" are is not known; static loops have equal parts.",
             kind.name.c_str());
        return {};
      }
      sum += cpus * kind.capacity;
    }
    all.push_back(static_cast<std::uint32_t>(sum / list[place].count()));
  }
  return all;
}

// Team::weights: by capacity where all members are bound, and not to cores that are alike.
void weigh_members(Team* team, std::int32_t size) {
  team->weights = 0;
  if (places == nullptr || places->capacity.empty()) return;
  std::uint32_t before = 0;
  bool differ = false;
  for (std::int32_t i = 0; i < size; ++i) {
    Member& member = *team->members[i];
    if (member.place < 0) return;
    member.weight_before = before;
    member.weight = places->capacity[static_cast<std::size_t>(member.place)];
    differ = differ || member.weight != team->members[0]->weight;
    before += member.weight;
  }
  if (differ) team->weights = before;
}

}  // namespace

void init_affinity() {
  const Settings& s = settings();
  affinity_is_active = s.display_affinity;
  const bool subset_given = !s.hw_subset.empty();
  const bool something_given = subset_given || !s.places.empty() || !s.kmp_affinity.empty() ||
                               !s.gomp_cpu_affinity.empty() || (bind_was_given() && !bind_is_off());
  // Before anybody asks for the machine.
  if (!s.machine.empty()) topology::pretend(s.machine);
  if (s.llc_locations) topology::choose_locations(topology::LocationKind::llc, placement::kMaxLocations);
  if (s.static_by_capacity && !something_given)
    warn("HEARTH_STATIC_BY_CAPACITY: threads are not bound (OMP_PROC_BIND, OMP_PLACES), so nobody knows which core runs which "
         "of them; static loops have equal parts.");
  if (!something_given) return;
  auto* found = new (std::nothrow) Places;
  if (found == nullptr) return;
  topology::Machine machine = topology::machine();
  if (subset_given) take_subset(machine);
  found->before = topology::current_affinity();
  found->pretended = machine.pretended;
  if (!find_places(machine, *found) || found->list.size() == 0) {
    delete found;
    return;
  }
  if (s.static_by_capacity) found->capacity = capacities(machine, found->list);
  found->text = found->list.name == "list" ? found->list.text() : found->list.name;
  places = found;
  affinity_is_active = affinity_is_active || process.initial_icvs.bind != 0;
}

void place_root(Thread* self) {
  if (places == nullptr) return;
  Member& member = *self->member;
  member.place_first = 0;
  member.place_count = place_count();
}

std::uint32_t new_placing() { return decisions.fetch_add(1, std::memory_order_relaxed) + 1; }

bool place_team(Thread* self, Team* team, std::int32_t proc_bind) {
  Member& outer = *self->member;
  Team::Placement wanted;
  wanted.size = team->size;
  if (places != nullptr) {
    settle_root(self);
    wanted.bind = static_cast<std::int32_t>(policy_of(*self->task->icvs, proc_bind));
    wanted.parent_place = outer.place;
    wanted.first = outer.place_first;
    wanted.count = outer.place_count;
  }
  if (wanted == team->placement && !settings().display_affinity) return false;
  const std::uint32_t decision = new_placing();
  if (team->placement != wanted) {
    team->placement = wanted;
    team->placement_number = decision;
  }
  const topology::PlaceRange partition{static_cast<std::uint32_t>(wanted.first),
                                       static_cast<std::uint32_t>(wanted.count)};
  for (std::int32_t i = 0; i < wanted.size; ++i) {
    Member& member = *team->members[i];
    if (places != nullptr) {
      const topology::Binding binding =
          topology::bind_thread(static_cast<topology::ProcBind>(wanted.bind), partition, wanted.parent_place,
                                static_cast<std::uint32_t>(wanted.size), static_cast<std::uint32_t>(i));
      member.place = binding.place;
      member.place_first = static_cast<std::int32_t>(binding.partition.first);
      member.place_count = static_cast<std::int32_t>(binding.partition.count);
      HEARTH_ASSERT(member.place < place_count() && member.place_first >= 0 && member.place_first < place_count() &&
                        member.place_count >= 1 && member.place_count <= place_count(),
                    "member %d of %d gets place %d and the %d from %d on, of %d", i, wanted.size, member.place,
                    member.place_count, member.place_first, place_count());
    }
    member.placing = decision;
  }
  weigh_members(team, wanted.size);
  return true;
}

void take_place(Thread* self, Member* member) {
  self->placed = member->placing;
  // A primary thread whose region is not bound stays where it is.
  if (places != nullptr && (member->place >= 0 || member->tid != 0)) bind_to(self, member->place);
  if (!settings().display_affinity) return;
  // Once for each thread of a team, and again when its size or its places change, or the thread was in
  // another team meanwhile.
  if (self->shown == member->team->placement_number) return;
  self->shown = member->team->placement_number;
  display_affinity(self, nullptr);
}

void leave_places(Thread* self) {
  if (places == nullptr || !places->reset || self->team != self->root_team) return;
  bind_to(self, -1);
  self->member->place = -1;
  self->placed = 0;  // the next region binds it again, even if nothing else has changed
}

std::int32_t place_count() { return places == nullptr ? 0 : static_cast<std::int32_t>(places->list.size()); }

std::int32_t place_size(std::int32_t place) {
  if (place < 0 || place >= place_count()) return 0;
  return static_cast<std::int32_t>(places->list[static_cast<std::size_t>(place)].count());
}

void for_each_cpu_of_place(std::int32_t place, void (*visit)(void* context, unsigned cpu), void* context) {
  if (place < 0 || place >= place_count()) return;
  places->list[static_cast<std::size_t>(place)].for_each([&](unsigned cpu) { visit(context, cpu); });
}

Partition partition_of(Thread* self) {
  if (places == nullptr) return {};
  if (!places->reset) settle_root(self);
  const Member& member = *self->member;
  return {member.place, member.place_first, member.place_count};
}

DisplayFacts display_facts() {
  DisplayFacts facts;
  facts.num_threads = process.initial_icvs.nthreads;
  facts.thread_limit = process.initial_icvs.thread_limit;
  facts.max_active_levels = process.initial_icvs.max_active_levels;
  facts.places = places == nullptr ? nullptr : places->text.c_str();
  facts.stack_size = stack_size_of_threads();
  facts.spins_for_ever = contention.spin_ns == INT64_MAX;
  return facts;
}

}  // namespace hearth::rt
