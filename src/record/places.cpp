// See places.h.
#include "record/places.h"

#include <cstdio>
#include <cstring>

#include "base/clock.h"
#include "hearth/ompt.h"
#include "record/allocations.h"
#include "record/live_blocks.h"

namespace hearth::record {

int (*location_here)() = nullptr;

namespace {

template <class Function>
bool find(ompt_function_lookup_t lookup, Function& function, const char* name) {
  function = reinterpret_cast<Function>(lookup(name));
  return function != nullptr;
}

/// "0-3,8" of the processors at a location; "-": none.
void list_cpus(int location, hearth_ompt_location_of_cpu_t location_of_cpu, char* text, std::size_t room) {
  constexpr int kMostCpus = 4096;
  std::size_t length = 0;
  std::snprintf(text, room, "-");
  for (int cpu = 0; cpu < kMostCpus; ++cpu) {
    if (location_of_cpu(cpu) != location) continue;
    const int first = cpu;
    while (cpu + 1 < kMostCpus && location_of_cpu(cpu + 1) == location) ++cpu;
    char part[32];
    const int more = std::snprintf(part, sizeof part, first == cpu ? "%s%d" : "%s%d-%d", length == 0 ? "" : ",", first,
                                   cpu);
    if (length + static_cast<std::size_t>(more) >= room) return;
    std::memcpy(text + length, part, static_cast<std::size_t>(more) + 1);
    length += static_cast<std::size_t>(more);
  }
}

constexpr int kMostLocations = 64;  // that a runtime tells of

/// One line of numbers by location.
template <class Number>
void note_row(const char* what, int row, int count, Number number) {
  char text[kMostLocations * 12];
  std::size_t length = 0;
  for (int i = 0; i < count && length + 12 < sizeof text; ++i)
    length += static_cast<std::size_t>(std::snprintf(text + length, sizeof text - length, " %u", number(i)));
  note("%s %d%s", what, row, text);
}

void on_decision(ompt_data_t* task, const hearth_ompt_decision_t* decision, const hearth_ompt_bytes_t* bytes,
                 std::size_t count) {
  Writer* mine = writer_of_thread();
  if (mine == nullptr) return;
  constexpr std::uint64_t kMostBytes = (std::uint64_t{1} << 56) - 1;
  const std::uint64_t id = id_of(mine, task);
  const std::uint64_t now = ticks();
  DecisionNote note;
  note.asked = decision->asked != 0;
  note.released = decision->released != 0;
  note.stated = decision->stated != 0;
  note.location = decision->location;
  note.chosen = decision->chosen;
  note.why = static_cast<std::uint32_t>(decision->why);
  const std::size_t items = count < kMostItems ? count : kMostItems;
  const std::size_t words = 3 + 2 * items;
  std::uint64_t* const record = mine->room(words);
  if (record == nullptr) return;
  record[1] = id;
  record[2] = note.word();
  for (std::size_t i = 0; i < items; ++i) {
    const std::uint64_t read = bytes[i].read < kMostBytes ? bytes[i].read : kMostBytes;
    record[3 + 2 * i] = static_cast<std::uint64_t>(bytes[i].location + 1) | read << 8;
    record[4 + 2 * i] = bytes[i].written;
  }
  mine->publish(Kind::decision, words, now);
}

hearth_ompt_homes_of_t homes_of = nullptr;
hearth_ompt_distribution_of_t distribution_of = nullptr;

// Of smaller blocks there are many, and where they are matters less.
constexpr std::uint64_t kLeastWithHomes = 128 << 10;

void put_homes(Writer* mine, std::uint64_t address, std::uint64_t bytes) {
  if (homes_of == nullptr || bytes < kLeastWithHomes) return;
  hearth_ompt_bytes_t homes[kMostLocations + 1];
  const std::size_t count = homes_of(reinterpret_cast<const void*>(address), bytes, homes, kMostLocations + 1);
  const std::uint64_t now = ticks();
  for (std::size_t i = 0; i < count; ++i) mine->put(Kind::home, now, address, homes[i].read, homes[i].location + 1);
}

std::uint64_t facts(BlockSource source, int distribution) {
  return static_cast<std::uint64_t>(source) | static_cast<std::uint64_t>(distribution + 1) << 8;
}

void on_block(const void* begin, std::size_t bytes, int distribution, const void* code) {
  const auto address = reinterpret_cast<std::uintptr_t>(begin);
  if (recording_stopped()) return;
  if (bytes == 0) {
    if (const std::uint64_t had = live_blocks.remove(address)) on_free(address, had);
    return;
  }
  if (bytes < kNotedAllocation) return;
  live_blocks.add(address, bytes);
  const std::uint64_t now = ticks(), what = facts(BlockSource::hearth, distribution);
  const auto from = reinterpret_cast<std::uintptr_t>(code);
  if (Writer* mine = writer_if_any())
    mine->put(Kind::block, now, address, bytes, code_with(from, 0), now, what);
  else
    note("block %llu %llx %llx %llx %llu", static_cast<unsigned long long>(now),
         static_cast<unsigned long long>(address), static_cast<unsigned long long>(bytes),
         static_cast<unsigned long long>(from), static_cast<unsigned long long>(what));
}

/// The words that stand for numbers in records.
void note_words(const char* key, const char* (*name)(int)) {
  for (int i = 0; const char* word = name(i); ++i) note("%s %d %s", key, i, Escaped(word).text);
}

}  // namespace

void on_free(std::uint64_t address, std::uint64_t bytes) {
  if (recording_stopped()) return;
  Writer* mine = writer_if_any();
  if (mine == nullptr) {  // a thread that OpenMP does not know
    note("freed %llu %llx", static_cast<unsigned long long>(ticks()), static_cast<unsigned long long>(address));
    return;
  }
  put_homes(mine, address, bytes);
  const std::uint64_t now = ticks();
  mine->put(Kind::freed, now, address, now);
}

std::uint64_t facts_of(std::uint64_t address) {
  const int kind = distribution_of == nullptr ? -1 : distribution_of(reinterpret_cast<const void*>(address));
  return facts(BlockSource::allocator, kind);
}

void note_homes() {
  if (Writer* mine = writer_if_any())
    live_blocks.for_each([mine](std::uint64_t address, std::uint64_t bytes) { put_homes(mine, address, bytes); });
}

void note_machine(ompt_function_lookup_t lookup) {
  hearth_ompt_get_machine_t get_machine = nullptr;
  hearth_ompt_get_location_t get_location = nullptr;
  hearth_ompt_get_distance_t get_distance = nullptr;
  hearth_ompt_location_of_cpu_t location_of_cpu = nullptr;
  hearth_ompt_why_name_t why_name = nullptr;
  hearth_ompt_distribution_name_t distribution_name = nullptr;
  hearth_ompt_set_decision_callback_t decisions = nullptr;
  if (!find(lookup, get_machine, "hearth_ompt_get_machine") ||
      !find(lookup, get_location, "hearth_ompt_get_location") ||
      !find(lookup, get_distance, "hearth_ompt_get_distance") ||
      !find(lookup, location_of_cpu, "hearth_ompt_location_of_cpu"))
    return;
  hearth_ompt_machine_t machine;
  get_machine(&machine);
  note("machine %d %s %s %s %s %s", machine.pretended, Escaped(machine.source).text, Escaped(machine.kind).text,
       Escaped(machine.distances).text, Escaped(machine.policy).text, Escaped(machine.name).text);
  for (int i = 0; i < machine.locations; ++i) {
    hearth_ompt_location_t one;
    if (get_location(i, &one) == 0) break;
    char cpus[2048];
    list_cpus(i, location_of_cpu, cpus, sizeof cpus);
    note("location %d %d %llu %s", one.node, one.holds_memory, static_cast<unsigned long long>(one.memory_bytes), cpus);
  }
  for (int i = 0; i < machine.locations; ++i) {
    bool timed = false;
    note_row("distances", i, machine.locations, [&](int to) {
      double latency = 0;
      const int distance = get_distance(i, to, &latency);
      timed |= latency > 0;
      return static_cast<unsigned>(distance);
    });
    if (!timed) continue;
    note_row("latencies", i, machine.locations, [&](int to) {
      double latency = 0;
      get_distance(i, to, &latency);
      return static_cast<unsigned>(latency * 10 + 0.5);
    });
  }
  find(lookup, homes_of, "hearth_ompt_homes_of");
  find(lookup, distribution_of, "hearth_ompt_distribution_of");
  hearth_ompt_set_block_callback_t blocks = nullptr;
  if (find(lookup, blocks, "hearth_ompt_set_block_callback")) blocks(on_block);
  if (machine.pretended != 0) find(lookup, location_here, "hearth_ompt_location_here");
  if (find(lookup, why_name, "hearth_ompt_why_name")) note_words("why", why_name);
  if (find(lookup, distribution_name, "hearth_ompt_distribution_name")) note_words("distribution", distribution_name);
  if (find(lookup, decisions, "hearth_ompt_set_decision_callback")) decisions(on_decision);
}

void note_changed_place(Writer* mine) {
  const int here = location_here();
  if (here == mine->place) return;
  mine->place = here;
  mine->put(Kind::place, ticks(), here + 1);
}

}  // namespace hearth::record
