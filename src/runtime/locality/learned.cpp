#include "runtime/locality/learned.h"

#include <cerrno>
#include <cstring>

#include <memory>
#include <string>
#include <vector>

#include <sys/stat.h>
#include <unistd.h>

#include "base/cache_file.h"
#include "base/code_place.h"
#include "base/log.h"
#include "base/merged_file.h"
#include "memory/homes.h"
#include "memory/sites.h"
#include "policy/learned.h"
#include "policy/task_policy.h"
#include "runtime/locality/accounts.h"
#include "runtime/settings/settings.h"
#include "runtime/state/process.h"
#include "runtime/state/thread_table.h"
#include "topology/current.h"
#include "topology/fingerprint.h"

namespace hearth::rt::learned {

constinit bool on = false;

namespace {

using policy::Learned;

// Longer than all other processes of a job take together, shorter than a person waits.
constexpr int kLockWaitMs = 2000;

struct Known {
  std::string path;
  std::string text;
  std::vector<Learned> entries;  // of this machine, with as many threads
  std::uint64_t machine = 0, threads = 0;
};
pid_t learner = 0;
Known* known = nullptr;  // for ever, since threads may still run while the process ends

void refuse(const policy::LearnedText& read) {
  warn("%s:%zu:%zu: %s; legal: %s. Nothing is learned, and the file stays as it is; `hearth learned --forget %s` removes it.",
       known->path.c_str(), read.line, read.column, read.wrong, read.legal, known->path.c_str());
}

// The program may go to another folder.
bool find_path() {
  const char* const given = settings().learned_file;
  known->path = given != nullptr ? given : cache_file(".learned");
  if (known->path.empty()) {
    warn("HEARTH_LEARN: neither XDG_CACHE_HOME nor HOME names a folder; nothing is learned.");
    return false;
  }
  if (known->path[0] == '/') return true;
  char folder[4096];
  if (getcwd(folder, sizeof folder) == nullptr) {
    warn("HEARTH_LEARN=\"%s\": the current folder has no name (%s); nothing is learned.", given, std::strerror(errno));
    return false;
  }
  known->path = std::string(folder) + '/' + known->path;
  return true;
}

/// False, and said: nothing shall be learned.
bool read_file() {
  if (!read_plain_file(known->path.c_str(), policy::kMostLearnedBytes, known->text)) {
    if (errno == ENOENT) return true;
    warn("%s: cannot be read (%s); nothing is learned.", known->path.c_str(), std::strerror(errno));
    return false;
  }
  policy::LearnedText read = policy::read_learned(known->text);
  if (!read.ok()) {
    refuse(read);
    return false;
  }
  std::erase_if(read.entries, [](const Learned& entry) {
    return entry.machine != known->machine || entry.threads != known->threads;
  });
  known->entries = std::move(read.entries);
  return true;
}

Learned entry_at(const CodePlace& place) {
  return {.machine = known->machine, .threads = known->threads, .offset = place.offset, .build = place.build,
          .module = place.module};
}

// What this process has seen, and the texts that the entries point to.
struct Seen {
  std::vector<std::unique_ptr<CodePlace>> places;
  std::vector<Learned> entries;
};

bool name_code(const void* address, CodePlace& place) {
  return find_code(address, place) && policy::is_module(place.module) && policy::is_build(place.build);
}

void add_account(const void* body, const policy::Account& account, void* data) {
  auto& all = *static_cast<Seen*>(data);
  const policy::Experience seen = account.seen();
  if (seen.asked + seen.home + seen.far == 0) return;
  auto place = std::make_unique<CodePlace>();
  if (!name_code(body, *place)) return;
  Learned entry = entry_at(*place);
  entry.seen = seen;
  all.entries.push_back(entry);
  all.places.push_back(std::move(place));
}

Learned site_at(const CodePlace& place, std::uint32_t size_class) {
  Learned entry = entry_at(place);
  entry.is_site = true;
  entry.size = size_class;
  return entry;
}

void add_site(const void* caller, std::uint32_t size_class, const policy::SiteUse& use, void* data) {
  auto& all = *static_cast<Seen*>(data);
  auto place = std::make_unique<CodePlace>();
  if (!name_code(caller, *place)) return;
  Learned entry = site_at(*place, size_class);
  entry.use = use;
  all.entries.push_back(entry);
  all.places.push_back(std::move(place));
}

// Inside malloc(): this must not need it for anything large.
void tell_earlier_use(const void* caller, std::uint32_t size_class, policy::SiteUse& use) {
  CodePlace place;
  if (!on || known->entries.empty() || !find_code(caller, place)) return;
  if (const Learned* entry = policy::find_learned(known->entries, site_at(place, size_class))) use = entry->use;
}

// Below the folder of the user's that is there as a rule.
void make_cache_folder() {
  for (std::size_t at = known->path.find('/', 1); at != std::string::npos; at = known->path.find('/', at + 1))
    mkdir(known->path.substr(0, at).c_str(), 0700);
}

std::uint64_t all_tasks() {
  std::uint64_t sum = 0;
  for_each_thread([](Thread* thread, void* to) { *static_cast<std::uint64_t*>(to) += thread->tasks_served(); }, &sum);
  return sum;
}

// Counts sites whose next block would get another distribution than all before; there was none.
void count_wiser_site(const void*, std::uint32_t, const policy::SiteUse& use, void* data) {
  const auto is_first = [&use](placement::Kind kind) { return use.tried[policy::site_kind_index(kind)].uses == 0; };
  const placement::Kind next = memory::sites::next_kind(use);
  if (next != placement::Kind::standard && is_first(next)) ++*static_cast<std::size_t*>(data);
}

void say_where_it_would_help() {
  std::size_t sites = 0;
  memory::sites::for_each(count_wiser_site, &sites);
  if (sites != 0)
    warn("HEARTH_DISTRIBUTE=learn: for %zu allocation site%s a better distribution was learned, and no block came to get it; "
         "`hearth run --learn` keeps it for the next run.",
         sites, sites == 1 ? "" : "s");
}

void give_up() { warn("%s: cannot be written (%s); what this run has learned is lost.", known->path.c_str(), std::strerror(errno)); }

}  // namespace

void start() {
  if (!settings().learns) return;
  const topology::Machine& machine = topology::machine();
  if (!process.several_locations || !(process.weighs_load || settings().distribute.learn)) {
    warn("HEARTH_LEARN: nothing to learn, since policy %s keeps no accounts of tasks on a machine with %zu location%s; where "
         "there are several, HEARTH_POLICY=adaptive does, and HEARTH_DISTRIBUTE=learn of memory.",
         process.policy->name(), machine.locations.size(), machine.locations.size() == 1 ? "" : "s");
    return;
  }
  known = new Known;
  known->machine = topology::fingerprint(machine);
  known->threads = static_cast<std::uint64_t>(process.initial_icvs.nthreads);
  on = find_path() && read_file();
}

void begin_sites() {
  learner = getpid();
  if (!settings().distribute.learn) return;
  const memory::MemoryHomes& homes = memory::memory_homes();
  if (homes.several())
    memory::sites::begin(homes.homes.count, static_cast<std::uint32_t>(process.initial_icvs.nthreads), tell_earlier_use,
                         all_tasks);
}

void begin(const void* body, policy::Account& account) {
  CodePlace place;
  if (known->entries.empty() || !find_code(body, place)) return;
  if (const Learned* entry = policy::find_learned(known->entries, entry_at(place))) account.begin_with(entry->seen);
}

void finish() {
  if (memory::sites::on && !settings().learns && getpid() == learner) say_where_it_would_help();
  if (!on || getpid() != learner) return;
  Seen seen;
  for_each_account(add_account, &seen);
  memory::sites::for_each(add_site, &seen);
  if (seen.entries.empty()) return;
  if (settings().learned_file == nullptr) make_cache_folder();
  MergedFile file;
  if (!file.open(known->path.c_str(), policy::kMostLearnedBytes, kLockWaitMs)) return give_up();
  policy::LearnedText all = policy::read_learned(file.text());
  if (!all.ok()) return refuse(all);
  for (const Learned& entry : seen.entries) policy::add_learned(all.entries, entry);
  if (!file.replace(policy::write_learned(all.entries))) give_up();
}

}  // namespace hearth::rt::learned
