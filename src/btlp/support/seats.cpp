// See seats.h.
//
// Orders: `busy` is a lock: whoever sets it (acquire) sees what its last holder did before clearing it (release).
// `settings`
// is published once (release) and read (acquire); losers of the race drop theirs. `idle` is a hint (relaxed): who does
// not see it yet finds out for himself.
#include "btlp/support/seats.h"

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <new>

#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/log.h"
#include "base/options.h"
#include "topology/allowance.h"
#include "topology/current.h"
#include "topology/sysfs.h"

namespace hearth::btlp {
namespace {

constexpr int kPatience = 2000, kSpins = 100;  // looks at the lock; so many without a pause
constexpr timespec kPause = {0, 100'000};      // whoever is inside may have lost its CPU
constexpr int kMostLooks = 64;   // at threads that might move, for each creation and each end
constexpr std::uint8_t kLiteral = 0, kBalanced = 2;

enum class Switch : std::uint8_t { on, off, print };

struct Settings {
  Switch how = Switch::on;
  pthread_key_t key = 0;  // a thread's own Sitting
  bool has_key = false;
  bool pretends = false;  // HEARTH_MACHINE
};

struct State;

/// What a placed thread remembers, until it ends.
struct Sitting {
  policy::Seat seat;
  std::int32_t set = -1;
  double load = 0;
  topology::CpuMask given;  // empty: not ours
  int kernel_id = 0;
  State* of = nullptr;  // where it has its seat
  bool listed = false;
  Sitting *before = nullptr, *next = nullptr;
};

/// One that was placed behind its creation knows nothing of it; nor do we ever see its end.
struct Behind {
  pthread_t thread;
  Sitting sitting;
};

struct State {
  State(std::uint8_t mode, std::uint32_t rules);
  const topology::CpuMask& cpus_of(policy::Seat seat) const;
  void add(Sitting* sitting);
  void remove(Sitting* sitting);
  const topology::Machine& machine;
  policy::OnlineMachine plain;
  std::vector<topology::CpuMask> of_core, of_domain;
  policy::OnlineBtdm btdm;
  std::uint32_t count = 0;
  std::vector<Behind> behind;
  Sitting* first = nullptr;  // the youngest of those that may move
  const bool moves, balanced;
  const pid_t process = getpid();
  topology::CpuMask of_main;  // the mask of the main thread, as it was seen last
  bool some_closed = false;
};

std::atomic<const Settings*> settings{nullptr};
std::atomic<bool> busy{false};
std::atomic<bool> idle{false};  // nobody will ever get a seat
State* state = nullptr;  // of whoever is inside

bool get_in() {
  for (int look = 0; look < kPatience; ++look) {
    if (!busy.exchange(true, std::memory_order_acquire)) return true;
    if (look > kSpins) nanosleep(&kPause, nullptr);
  }
  return false;
}

void get_out() { busy.store(false, std::memory_order_release); }

void map_again();

void stand_up(void* pointer) {
  auto* sitting = static_cast<Sitting*>(pointer);
  if (get_in()) {
    if (state != nullptr && sitting->of == state) {
      state->btdm.leave(sitting->seat, sitting->set, sitting->load);
      if (sitting->listed) state->remove(sitting);
      if (state->process == getpid()) map_again();
    }
    get_out();
    delete sitting;
  }
  // Else it stays, with its seat: rather a few bytes than an end that waits.
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
  if (machine != nullptr && *machine != '\0' && !process_is_privileged())
    made->pretends = topology::pretend(machine);
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

State::State(std::uint8_t mode, std::uint32_t rules)
    : machine(topology::machine()),
      plain(plain_machine(machine, rules)),
      btdm(plain, rules_of(mode == kBalanced, rules)),
      moves(mode != kLiteral && !machine.pretended),
      balanced(mode == kBalanced),
      of_main(topology::affinity_of(process)) {
  for (const topology::Core& core : machine.cores)
    for (const topology::CpuMask& seat : seats_of(core, rules)) of_core.push_back(seat);
  for (std::size_t core = 0; core < of_core.size(); ++core) {
    const std::uint32_t domain = plain.domain_of_core[core];
    if (domain >= of_domain.size()) of_domain.resize(domain + 1);
    of_domain[domain] |= of_core[core];
  }
}

const topology::CpuMask& State::cpus_of(policy::Seat seat) const {
  static const topology::CpuMask nothing;
  if (seat.kind == policy::Seat::core) return of_core[seat.number];
  return seat.kind == policy::Seat::domain ? of_domain[seat.number] : nothing;
}

void State::add(Sitting* sitting) {
  sitting->listed = true;
  sitting->next = first;
  if (first != nullptr) first->before = sitting;
  first = sitting;
}

void State::remove(Sitting* sitting) {
  if (sitting->before != nullptr) sitting->before->next = sitting->next;
  if (sitting->next != nullptr) sitting->next->before = sitting->before;
  if (first == sitting) first = sitting->next;
}

/// Has somebody taken CPUs from the process (`taskset -ap`, a cpuset), or given them back? The mask of the main thread, which
/// is never bound here, changes then; for a loss some thread that is bound must bear it out, as the program may just have
/// bound its main thread.
void see_process() {
  const topology::CpuMask now = topology::affinity_of(state->process);
  if (now.empty() || now == state->of_main) return;
  const bool grown = now.contains(state->of_main);
  bool borne_out = grown;
  int looks = kMostLooks;
  for (const Sitting* each = grown ? nullptr : state->first; each != nullptr && looks-- > 0; each = each->next) {
    if (each->given.empty()) continue;
    const topology::CpuMask its = topology::affinity_of(each->kernel_id);
    if (!now.contains(its)) {
      state->of_main = now;
      return;
    }
    borne_out = borne_out || !(its == each->given);
  }
  if (!borne_out) return;  // a later look may tell
  state->of_main = now;
  state->some_closed = false;
  for (std::uint32_t unit = 0; unit < state->btdm.units(); ++unit) {
    const policy::Seat::Kind kind = state->balanced ? policy::Seat::domain : policy::Seat::core;
    const bool reached = state->cpus_of({kind, unit}).intersects(now);
    const bool open = reached || (grown && state->btdm.is_open(unit));  // more CPUs close nothing
    state->btdm.open(unit, open);
    state->some_closed = state->some_closed || !open;
  }
}

/// Threads have come or gone, or CPUs: who is better off elsewhere moves, a few each time.
void map_again() {
  if (!state->moves) return;
  see_process();
  if (!state->btdm.uneven()) return;
  int looks = kMostLooks, moves = state->some_closed ? kMostLooks : 1;
  for (Sitting* each = state->first; each != nullptr && looks-- > 0 && moves > 0; each = each->next) {
    std::uint32_t unit = 0;
    if (each->given.empty() || !state->btdm.better(each->seat, each->set, unit)) continue;
    const topology::CpuMask now = topology::affinity_of(each->kernel_id);
    const bool lost = !state->cpus_of(each->seat).intersects(state->of_main);
    if (!(now == each->given) && !(lost && state->some_closed)) {
      each->given = {};  // the program has chosen for itself
      continue;
    }
    topology::CpuMask mask = state->cpus_of({each->seat.kind, unit});
    if (state->some_closed) mask &= state->of_main;
    if (!topology::set_affinity(each->kernel_id, mask)) continue;
    each->seat = state->btdm.move(each->seat, each->set, each->load, unit);
    each->given = mask;
    --moves;
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

/// In `balanced` a seat is a cache domain, so with one there is nothing to learn about the machine.
bool nothing_to_choose(bool balanced) {
  const Settings& all = the_settings();
  return balanced && all.how == Switch::on && !all.pretends &&
         topology::share_one_cache(topology::SystemRoot(), topology::current_affinity());
}

Sitting sitting_of(const Placed& placed) {
  Sitting sitting;
  sitting.seat = placed.seat;
  sitting.set = placed.set;
  sitting.load = placed.load;
  if (placed.ours) sitting.given = placed.mask;
  return sitting;
}

}  // namespace

bool is_on() { return !idle.load(std::memory_order_relaxed) && the_settings().how != Switch::off; }

Placed take_seat(hearth_btlp_site& site, bool fixed) {
  Placed placed;
  const std::uint32_t instance = __atomic_fetch_add(&site.created, 1, __ATOMIC_RELAXED);
  const Known known = next_of(site, instance);
  if (!get_in()) return placed;
  if (state == nullptr && nothing_to_choose(known.mode == kBalanced)) {
    idle.store(true, std::memory_order_relaxed);
    get_out();
    return placed;
  }
  // After a fork this process has one thread, and the others' numbers are not its own to use.
  if (state == nullptr || state->process != getpid()) state = new State(known.mode, known.rules);
  map_again();
  const Sitting* creator = mine();
  const std::uint32_t number = ++state->count;
  if (!fixed) {
    placed.after = known.after;
    placed.set = known.set;
    placed.load = known.load;
    placed.seat = state->btdm.enter(kind_of(known.type), known.set, known.load,
                                    creator == nullptr ? policy::Seat() : creator->seat);
    topology::CpuMask mask = state->cpus_of(placed.seat);
    if (!state->machine.pretended) {
      const topology::CpuMask free = allowed(state->machine, creator);
      // Who sits nowhere must not inherit its creator's narrow seat.
      if (mask.empty() && creator != nullptr && !creator->given.empty()) mask = free;
      mask &= free;
      placed.bind = !mask.empty() && !(mask == topology::current_affinity());
      placed.ours = placed.bind || (creator != nullptr && !mask.empty() && mask == creator->given);
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
  auto* sitting = new Sitting(sitting_of(placed));
  sitting->kernel_id = static_cast<int>(syscall(SYS_gettid));
  sitting->of = state;  // made before this thread was; another one only by a fork
  pthread_setspecific(all.key, sitting);
  if (!get_in()) return;
  if (state != nullptr && state->process == getpid()) state->add(sitting);
  get_out();
}

void bind_behind(pthread_t thread, const Placed& placed) {
  if (get_in()) {
    Sitting sitting = sitting_of(placed);
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
