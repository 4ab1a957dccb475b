// See seats.h.
//
// Orders: `busy` is a lock: whoever sets it (acquire) sees what its last holder did before clearing it (release).
// `settings`
// is published once (release) and read (acquire); losers of the race drop theirs.
#include "btlp/support/seats.h"

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include <pthread.h>
#include <sched.h>

#include "base/log.h"
#include "base/options.h"
#include "topology/allowance.h"
#include "topology/current.h"

namespace hearth::btlp {
namespace {

constexpr int kPatience = 2000;  // looks at the lock

enum class Switch : std::uint8_t { on, off, print };

struct Settings {
  Switch how = Switch::on;
  pthread_key_t key = 0;  // a thread's own Sitting
  bool has_key = false;
};

/// What a placed thread remembers, until it ends.
struct Sitting {
  policy::Seat seat;
  std::int32_t set = -1;
  double load = 0;
  topology::CpuMask given;  // empty: not bound
};

/// One that was placed behind its creation knows nothing of it; nor do we ever see its end.
struct Behind {
  pthread_t thread;
  Sitting sitting;
};

struct State {
  State(bool balanced, std::uint32_t rules);
  const topology::Machine& machine;
  policy::OnlineMachine plain;
  std::vector<topology::CpuMask> of_core, of_domain;
  policy::OnlineBtdm btdm;
  std::uint32_t count = 0;
  std::vector<Behind> behind;
};

std::atomic<const Settings*> settings{nullptr};
std::atomic<bool> busy{false};
State* state = nullptr;  // of whoever is inside

bool get_in() {
  for (int look = 0; look < kPatience; ++look) {
    if (!busy.exchange(true, std::memory_order_acquire)) return true;
    if (look > 100) sched_yield();
  }
  return false;
}

void get_out() { busy.store(false, std::memory_order_release); }

void stand_up(void* pointer) {
  auto* sitting = static_cast<Sitting*>(pointer);
  if (get_in()) {
    if (state != nullptr) state->btdm.leave(sitting->seat, sitting->set, sitting->load);
    get_out();
  }
  delete sitting;
}

Settings* read_settings() {
  auto* made = new Settings;
  const char* value = std::getenv("HEARTH_BTLP");
  if (value != nullptr && *value != '\0') {
    if (std::strcmp(value, "off") == 0)
      made->how = Switch::off;
    else if (std::strcmp(value, "print") == 0)
      made->how = Switch::print;
    else if (std::strcmp(value, "on") != 0)
      warn("HEARTH_BTLP=\"%s\": unknown word; legal: on, off, print; using on.", value);
  }
  made->has_key = pthread_key_create(&made->key, stand_up) == 0;
  const char* machine = std::getenv("HEARTH_MACHINE");
  if (machine != nullptr && *machine != '\0' && !process_is_privileged()) topology::pretend(machine);
  return made;
}

const Settings& the_settings() {
  const Settings* known = settings.load(std::memory_order_acquire);
  if (known != nullptr) return *known;
  Settings* made = read_settings();
  if (settings.compare_exchange_strong(known, made, std::memory_order_acq_rel, std::memory_order_acquire)) return *made;
  if (made->has_key) pthread_key_delete(made->key);
  delete made;
  return *known;
}

/// The CPUs of a core, as seats: one with all of them, or one each.
std::vector<topology::CpuMask> seats_of(const topology::Core& core, std::uint32_t rules) {
  if (core.usable.empty()) return {};
  if ((rules & HEARTH_BTLP_SEAT_IS_THREAD) == 0) return {core.usable};
  std::vector<topology::CpuMask> seats;
  core.usable.for_each([&](unsigned cpu) {
    seats.emplace_back();
    seats.back().set(cpu);
  });
  return seats;
}

policy::OnlineMachine plain_machine(const topology::Machine& machine, std::uint32_t rules) {
  policy::OnlineMachine plain;
  std::vector<int> number(machine.llcs.size() + 1, -1);
  int domains = 0;
  for (const topology::Core& core : machine.cores) {
    for (std::size_t seat = seats_of(core, rules).size(); seat-- > 0;) {
      plain.cores.node_of_core.push_back(core.node);
      int& domain = number[static_cast<std::size_t>(core.llc + 1)];
      if (domain < 0) domain = domains++;
      plain.domain_of_core.push_back(static_cast<std::uint32_t>(domain));
    }
  }
  plain.cores.node_distance = machine.node_distance;
  return plain;
}

policy::OnlineRules rules_of(bool balanced, std::uint32_t rules) {
  return {balanced, (rules & HEARTH_BTLP_TURN_BY_CORE) != 0, (rules & HEARTH_BTLP_TIES_TO_FIRST) != 0};
}

State::State(bool balanced, std::uint32_t rules)
    : machine(topology::machine()), plain(plain_machine(machine, rules)), btdm(plain, rules_of(balanced, rules)) {
  for (const topology::Core& core : machine.cores)
    for (const topology::CpuMask& seat : seats_of(core, rules)) of_core.push_back(seat);
  for (std::size_t core = 0; core < of_core.size(); ++core) {
    const std::uint32_t domain = plain.domain_of_core[core];
    if (domain >= of_domain.size()) of_domain.resize(domain + 1);
    of_domain[domain] |= of_core[core];
  }
}

struct Known {
  const char* routine = "?";
  double load = 1;
  std::int32_t set = -1;
  std::uint8_t type = 3, mode = 2;
  std::uint32_t rules = 0;
  bool after = false;
};

/// The plan's entry for the thread that comes next from this site. A site that has several is one source place
/// that call
/// paths share: they come in the order of the program.
Known next_of(hearth_btlp_site& site, std::uint32_t instance) {
  Known known;
  known.type = site.type;
  known.mode = site.mode;
  known.rules = site.rules;
  const hearth_btlp_plan* plan = site.plan;
  if (plan == nullptr || plan->version != HEARTH_BTLP_VERSION) return known;
  known.mode = static_cast<std::uint8_t>(plan->mode);
  known.rules = plan->rules;
  std::uint32_t met = 0;
  for (std::uint32_t n = 0; n < plan->count; ++n) {
    const hearth_btlp_entry& entry = plan->entries[n];
    if (std::strcmp(entry.site, site.key) != 0) continue;
    known.routine = entry.routine;
    known.load = entry.load;
    known.set = entry.set;
    known.type = entry.type;
    known.after = entry.after != 0;
    if (entry.many == 0 && met++ == instance) break;
  }
  return known;
}

policy::ThreadKind kind_of(std::uint8_t type) {
  constexpr policy::ThreadKind kinds[] = {policy::ThreadKind::autonomous, policy::ThreadKind::side_by_side,
                                          policy::ThreadKind::postponed, policy::ThreadKind::unknown};
  return kinds[type < 4 ? type : 3];
}

/// Of this thread; called inside.
const Sitting* mine() {
  const Settings& all = the_settings();
  if (all.has_key)
    if (const void* own = pthread_getspecific(all.key)) return static_cast<const Sitting*>(own);
  if (state != nullptr)
    for (const Behind& each : state->behind)
      if (pthread_equal(each.thread, pthread_self()) != 0) return &each.sitting;
  return nullptr;
}

/// The CPUs on which a thread that this one creates may run: what the process may use, unless somebody has narrowed the
/// creator's own mask behind our back.
topology::CpuMask allowed(const topology::Machine& machine, const Sitting* creator) {
  topology::CpuMask now = topology::current_affinity();
  if (creator != nullptr && !creator->given.empty() && now == creator->given) return machine.usable;
  return now & machine.usable;
}

void print(const State& all, const Known& known, std::uint32_t number, const Placed& placed,
           const hearth_btlp_site& site) {
  constexpr const char* types[] = {"autonomous", "side-by-side", "postponed", "unknown"};
  std::string where = "left to the system";
  if (placed.seat.kind == policy::Seat::core) where = "cores of CPUs " + all.of_core[placed.seat.number].list();
  if (placed.seat.kind == policy::Seat::domain) where = "CPUs " + all.of_domain[placed.seat.number].list();
  char line[kLogLine];
  const int length = std::snprintf(line, sizeof(line), "hearth: thread %u, %s from %s: %s, %s%s\n", number,
                                   known.routine, site.key, types[known.type < 4 ? known.type : 3], where.c_str(),
                                   all.machine.pretended ? " (pretended)" : "");
  write_stderr(line, static_cast<std::size_t>(length < 0                                ? 0
                                              : length < static_cast<int>(sizeof(line)) ? length
                                                                                        : sizeof(line) - 1));
}

}  // namespace

bool is_on() { return the_settings().how != Switch::off; }

Placed take_seat(hearth_btlp_site& site, bool fixed) {
  Placed placed;
  const std::uint32_t instance = __atomic_fetch_add(&site.created, 1, __ATOMIC_RELAXED);
  const Known known = next_of(site, instance);
  if (!get_in()) return placed;
  const Sitting* creator = mine();
  if (state == nullptr) state = new State(known.mode == 2, known.rules);
  const std::uint32_t number = ++state->count;
  if (!fixed) {
    placed.after = known.after;
    placed.set = known.set;
    placed.load = known.load;
    placed.seat = state->btdm.enter(kind_of(known.type), known.set, known.load,
                                    creator == nullptr ? policy::Seat() : creator->seat);
    topology::CpuMask mask;
    if (placed.seat.kind == policy::Seat::core) mask = state->of_core[placed.seat.number];
    if (placed.seat.kind == policy::Seat::domain) mask = state->of_domain[placed.seat.number];
    if (!state->machine.pretended) {
      const topology::CpuMask free = allowed(state->machine, creator);
      // Who sits nowhere must not inherit its creator's narrow seat.
      if (mask.empty() && creator != nullptr && !creator->given.empty()) mask = free;
      mask &= free;
      placed.bind = !mask.empty() && !(mask == topology::current_affinity());
      placed.mask = mask;
    }
  }
  if (the_settings().how == Switch::print) print(*state, known, number, placed, site);
  get_out();
  return placed;
}

void sit_down(const Placed& placed) {
  const Settings& all = the_settings();
  if (!all.has_key || (placed.seat.kind == policy::Seat::anywhere && !placed.bind)) return;
  auto* sitting = new Sitting{placed.seat, placed.set, placed.load, {}};
  if (placed.bind) sitting->given = placed.mask;
  pthread_setspecific(all.key, sitting);
}

void bind_behind(pthread_t thread, const Placed& placed) {
  if (get_in()) {
    Sitting sitting{placed.seat, placed.set, placed.load, {}};
    if (placed.bind) sitting.given = placed.mask;
    auto at = state->behind.begin();
    while (at != state->behind.end() && pthread_equal(at->thread, thread) == 0) ++at;
    if (at == state->behind.end()) {
      state->behind.push_back({thread, sitting});
    } else {  // its handle is used again: the thread that had it has been joined
      state->btdm.leave(at->sitting.seat, at->sitting.set, at->sitting.load);
      at->sitting = sitting;
    }
    get_out();
  }
  if (!placed.bind) return;
  // A thread that has ended and was not joined has 0 for its number, and the kernel takes 0 for whoever asks.
  const topology::CpuMask before = topology::current_affinity();
  pthread_setaffinity_np(thread, placed.mask.bytes(), reinterpret_cast<const cpu_set_t*>(placed.mask.words()));
  if (!(topology::current_affinity() == before)) topology::set_affinity(0, before);
}

void give_back(const Placed& placed) {
  if (placed.seat.kind == policy::Seat::anywhere || !get_in()) return;
  if (state != nullptr) state->btdm.leave(placed.seat, placed.set, placed.load);
  get_out();
}

}  // namespace hearth::btlp
