#include "runtime/locality/silent.h"

#include <algorithm>
#include <cstdlib>
#include <new>

#include <sys/mman.h>

#include "memory/homes.h"
#include "policy/silent.h"
#include "policy/task_policy.h"
#include "policy/tuning.h"
#include "runtime/locality/accounts.h"
#include "runtime/locality/footprint.h"
#include "runtime/locality/machine_view.h"
#include "runtime/locality/probe_word.h"
#include "runtime/locality/team_locality.h"

namespace hearth::rt::silent {

constinit std::atomic<std::uint64_t> followed{0};

namespace {

using placement::kUnknown;
using policy::ArgumentWord;
using policy::RunMemory;
using policy::Sign;
using policy::SilentConstruct;

struct Entry {
  std::atomic<const void*> function{nullptr};
  std::atomic<RunMemory*> runs{nullptr};  // made when the construct is first watched, and kept
  SilentConstruct construct;
};

constexpr std::size_t kEntries = 128, kProbes = 8;
constinit Entry entries[kEntries];

// Null: there are too many constructs, and this one is left alone.
Entry* entry_of(const void* function) {
  const std::size_t first = function_hash(function);
  for (std::size_t i = first; i < first + kProbes; ++i) {
    Entry& entry = entries[i % kEntries];
    const void* owner = entry.function.load(std::memory_order_relaxed);
    if (owner == nullptr && entry.function.compare_exchange_strong(owner, function, std::memory_order_relaxed))
      return &entry;
    if (owner == function) return &entry;
  }
  return nullptr;
}

RunMemory* runs_of(Entry& entry) {
  RunMemory* runs = entry.runs.load(std::memory_order_acquire);  // pairs with the exchange below: it is seen empty
  if (runs != nullptr) return runs;
  void* const memory = std::calloc(1, sizeof(RunMemory));
  if (memory == nullptr) return nullptr;
  auto* const made = new (memory) RunMemory;
  // Pairs with the acquires here and above.
  if (entry.runs.compare_exchange_strong(runs, made, std::memory_order_acq_rel, std::memory_order_acquire)) return made;
  std::free(memory);
  return runs;
}

// Constructs that share a bit are followed or not one by one: the bit says no more than that it may be.
void note_followed() {
  std::uint64_t all = 0;
  for (const Entry& entry : entries)
    if (entry.construct.state() == SilentConstruct::State::followed)
      all |= followed_bit(entry.function.load(std::memory_order_relaxed));
  followed.store(all, std::memory_order_relaxed);
}

// The words of the task's private copies, and of its references to shared variables.
struct Words {
  const std::uint64_t* first = nullptr;
  std::size_t count = 0;
  explicit Words(Task* task) {
    // Of a kmp_task_t the words of the runtime, as compilers lay it out: shareds, routine, part, two more.
    constexpr std::size_t kKmpHead = 5 * sizeof(void*);
    auto begin = reinterpret_cast<std::uintptr_t>(task->data);
    const auto payload = reinterpret_cast<std::uintptr_t>(task->payload());
    const std::uintptr_t end = payload + task->payload_size;
    if (begin < payload) return;
    if (task->is(kTaskKmp)) begin += kKmpHead;
    begin = (begin + 7) & ~std::uintptr_t{7};
    if (begin >= end) return;
    first = reinterpret_cast<const std::uint64_t*>(begin);
    count = std::min<std::size_t>((end - begin) / sizeof(*first), SilentConstruct::kWords);
  }
};

bool is_mapped(std::uint64_t value) {
  unsigned char present;
  return mincore(reinterpret_cast<void*>(value & ~std::uint64_t{memory::kPage - 1}), 1, &present) == 0;
}

// Of variables on the creator's stack another call has others.
std::uint64_t signature_of(Thread* self, const SilentConstruct& construct, const Words& words) {
  std::uint64_t hash = 0;
  for (std::size_t i = 0; i < words.count; ++i) {
    const std::uint64_t value = words.first[i];
    hash = policy::hash_word(hash, is_on_stack(self, value) ? 0 : construct.words[i].name_of(value));
  }
  return policy::hash_word(hash, words.count);
}

// Ranges at those of its words that tell tasks apart.
std::uint32_t add_ranges(Thread* self, const SilentConstruct& construct, const Words& words, Footprint& footprint) {
  std::uint32_t count = 0;
  for (std::size_t i = 0; i < words.count && count < footprint.room; ++i) {
    const ArgumentWord& word = construct.words[i];
    const std::uint64_t value = words.first[i];
    if (!word.is_sign() || !ArgumentWord::could_be_address(value) || is_on_stack(self, value)) continue;
    FootprintRange range;
    range.begin = value;
    range.length = word.reach();
    range.inferred = true;
    footprint.ranges[count++] = range;
  }
  return footprint.count = count;
}

// Where most of it is; unknown also where that is no more than half.
Location most_of(const placement::Shares& shares) {
  Location best = kUnknown;
  std::uint64_t most = 0;
  for (std::int32_t i = 0; i < shares.locations; ++i) {
    if (shares.at[i] <= most) continue;
    most = shares.at[i];
    best = i;
  }
  return 2 * most > shares.known() ? best : kUnknown;
}

void watch(Thread* self, Entry& entry, Task* task, const Words& words) {
  SilentConstruct& construct = entry.construct;
  for (std::size_t i = 0; i < words.count; ++i)
    if (!is_on_stack(self, words.first[i])) construct.words[i].saw(words.first[i], is_mapped);
  Footprint* const noted = note_watched(task, SilentConstruct::kWords);
  if (noted == nullptr) return;
  noted->signature = signature_of(self, construct, words);
  if (add_ranges(self, construct, words, *noted) != 0) {
    placement::Need need(machine_view().locations);
    resolve(*noted, need);
    task->data_home = most_of(need.read);
  }
  if (!construct.tells_tasks_apart(words.count)) return;
  if (const RunMemory* const runs = runs_of(entry)) noted->ran = runs->where(noted->signature);
}

bool clock_tells() { return machine_view().slowdown == 1; }

void foretell(Thread* self, Entry& entry, Task* task, const Words& words) {
  const SilentConstruct& construct = entry.construct;
  const bool points = construct.sign() == Sign::arguments;
  const auto signs = std::count_if(construct.words, construct.words + words.count,
                                   [](const ArgumentWord& word) { return word.is_sign(); });
  Footprint* const footprint = make_footprint(task, points ? static_cast<std::size_t>(signs) : 1);
  if (footprint == nullptr) return;
  footprint->sign = construct.sign();
  if (points) {
    add_ranges(self, construct, words, *footprint);
  } else {
    footprint->count = 0;
    footprint->signature = signature_of(self, construct, words);
    const RunMemory* const runs = runs_of(entry);
    footprint->ran = runs != nullptr ? runs->where(footprint->signature) : kUnknown;
  }
  footprint->weight = construct.task_time() * (clock_tells() ? tuning::kBytesPerTaskNs : tuning::kBytesPerSlowTaskNs) +
                      1;
}

void follow(Thread* self, Entry& entry, Task* task, const Words& words) {
  policy::Account& account = account_of(task);
  if (clock_tells() && !account.believes()) {
    entry.construct.drop();
    note_followed();
    return;
  }
  // As asks_where() will find it; what it would not ask about needs no footprint.
  if (account.asks(self->member->questions) != policy::Asking::yes) {
    ++self->member->questions;
    return;
  }
  foretell(self, entry, task, words);
}

// Of constructs that have shown nothing fewer and fewer are looked at, down to one in kLongestSilence. An odd number, so that
// of two constructs whose tasks take turns not always the same one is met.
void be_silent(Member* member) {
  member->silence = member->next_silence;
  member->next_silence = std::min(2 * member->next_silence + 1, tuning::kLongestSilence);
}

}  // namespace

void look(Thread* self, Task* task) {
  Member* const member = self->member;
  const bool has_turn = member->silence == 0;
  if (has_turn) be_silent(member);
  const Team* team = task->team;
  if (team->locality == nullptr || team->size == 1 || task->priority != 0 || self->task->is(kTaskFinal)) return;
  Entry* const entry = entry_of(task->function_of_program());
  if (entry == nullptr) return;
  SilentConstruct& construct = entry->construct;
  const Words words(task);
  if (construct.state() == SilentConstruct::State::followed) return follow(self, *entry, task, words);
  if (!has_turn || (construct.state() == SilentConstruct::State::dropped && !construct.comes_again())) return;
  member->silence = member->next_silence = 1;
  watch(self, *entry, task, words);
}

void ran(Thread* self, const Task* task, std::uint64_t time) {
  const Location here = self->member->location.load(std::memory_order_relaxed);
  const Footprint& footprint = *task->footprint;
  Entry* const entry = entry_of(task->function_of_program());
  if (here < 0 || entry == nullptr || footprint.sign == Sign::arguments) return;
  if (RunMemory* const runs = runs_of(*entry)) runs->ran(footprint.signature, here);
  if (footprint.sign != Sign::none) return;
  const SilentConstruct::Seen seen = {.by_arguments = task->data_home,
                                      .by_runs = footprint.ran,
                                      .here = here,
                                      .time = time,
                                      .clock_tells = clock_tells(),
                                      .locations = machine_view().locations};
  if (entry->construct.watched(seen)) note_followed();
}

}  // namespace hearth::rt::silent
