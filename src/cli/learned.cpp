// See learned.h. The file is policy/learned.h's.
#include "cli/learned.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fnmatch.h>

#include "base/cache_file.h"
#include "base/merged_file.h"
#include "base/parse.h"
#include "cli/commands.h"
#include "cli/json.h"
#include "cli/output.h"
#include "cli/symbols.h"
#include "cli/topo_words.h"
#include "memory/homes.h"
#include "placement/cost.h"
#include "policy/learned.h"
#include "topology/current.h"
#include "topology/fingerprint.h"

namespace hearth::cli {
namespace {

using policy::Experience;
using policy::Learned;
using policy::LearnedText;
using policy::SiteUse;

constexpr int kLockWaitMs = 10'000;

// As programs see it that are started here.
std::uint64_t this_machine() {
  if (const char* pretended = std::getenv("HEARTH_MACHINE")) topology::pretend(pretended);
  if (const char* location = std::getenv("HEARTH_LOCATION"); location != nullptr && same_word(location, "llc"))
    topology::choose_locations(topology::LocationKind::llc, placement::kMaxLocations);
  return topology::fingerprint(topology::machine());
}

// On this machine.
placement::Kind next_kind(const SiteUse& use, std::uint64_t threads) {
  return policy::distribution_for(use, memory::memory_homes().homes.count, static_cast<std::uint32_t>(threads));
}

const char* verdict(const Experience& seen) {
  if (seen.home < tuning::kKnownTimes || seen.far < tuning::kKnownTimes) return "not known yet";
  return policy::is_doubted(seen) ? "lose nothing elsewhere, which the next run finds out at once" : "gain by running near their data";
}

std::string time_text(std::uint64_t ns) {
  return ns < 1'000'000 ? fmt::format("{:.1f} us", static_cast<double>(ns) / 1e3) : fmt::format("{:.2f} ms", static_cast<double>(ns) / 1e6);
}

Symbols symbols_of(const std::vector<Learned>& entries) {
  CodeOffsets wanted;
  for (const Learned& entry : entries) wanted[std::string(entry.module)].insert(entry.offset);
  return Symbols(wanted);
}

Symbol symbol_of(const Symbols& symbols, const Learned& entry) {
  const Symbol* const found = symbols.of(std::string(entry.module), entry.offset);
  return found == nullptr ? Symbol() : *found;
}

/// Counts and means, as far as there are any.
std::string numbers_of(const Experience& seen) {
  std::string text;
  const auto add = [&text](std::uint64_t count, const std::string& what) {
    if (count != 0) text += (text.empty() ? "" : "; ") + what;
  };
  add(seen.home, fmt::format("{} at home took {}", seen.home, time_text(seen.home_time)));
  add(seen.far, fmt::format("{} elsewhere {}", seen.far, time_text(seen.far_time)));
  add(seen.home + seen.far, fmt::format("foretold to lose {} there", time_text(seen.foretold)));
  add(seen.asked, fmt::format("{} asked about, which dealing would save {}", seen.asked, time_text(seen.saved)));
  return text;
}

std::string percent(std::uint64_t thousandths) { return fmt::format("{} %", (thousandths + 5) / 10); }

std::string words_of(const SiteUse& use, bool here, std::uint64_t threads) {
  std::string text = fmt::format("    {} of {}, {}; a task names {} of one, which is {} of all it names; {} of the tasks that name anything name a given one; {} of all tasks do name something\n",
                                 counted(use.blocks, "block"), bytes_text(use.bytes),
                                 use.placed == 0 ? "of which nobody knows who touched them first"
                                                 : fmt::format("{} not where most of a block was before tasks used it", percent(use.spread)),
                                 percent(use.part), percent(use.main), percent(use.share), percent(use.followed));
  for (std::size_t i = 0; i < policy::kSiteKindCount; ++i)
    if (const SiteUse::Tried& tried = use.tried[i]; tried.uses != 0)
      text += fmt::format("    {}: {} took {} each, with {} of what they named where they ran\n",
                          placement::kind_name(policy::kSiteKinds[i]), counted(tried.uses, "use"), time_text(tried.time), percent(tried.local));
  if (here)
    text += fmt::format("    the next block: {}\n", placement::kind_name(next_kind(use, threads)));
  return text;
}

std::string text_of(const std::string& path, const std::vector<Learned>& entries) {
  std::string text = fmt::format("{}: {}, of at most {}\n", path, counted(entries.size(), "entry", "entries"), policy::kMostLearned);
  const std::uint64_t here = this_machine();
  const Symbols symbols = symbols_of(entries);
  const Learned* before = nullptr;
  for (const Learned& entry : entries) {
    if (before == nullptr || !entry.same_program(*before) || entry.build != before->build)
      text += fmt::format("\n{} (build {}), {} on {}\n", entry.module, entry.build.substr(0, 12), counted(entry.threads, "thread"),
                          entry.machine == here ? "this machine" : fmt::format("machine {:x}", entry.machine));
    before = &entry;
    const Symbol symbol = symbol_of(symbols, entry);
    const std::string place = fmt::format("+{:#x}{}{}", entry.offset, symbol.function.empty() ? "" : " " + symbol.function,
                                          symbol.file.empty() ? "" : fmt::format(" ({}:{})", symbol.file, symbol.line));
    text += entry.is_site ? fmt::format("  blocks of less than {} from {}:\n{}", bytes_text(std::uint64_t{1} << entry.size), place,
                                        words_of(entry.use, entry.machine == here, entry.threads))
                          : fmt::format("  tasks of {}: {}\n    {}\n", place, verdict(entry.seen), numbers_of(entry.seen));
  }
  return text;
}

void add_construct(Json& to, const Experience& seen) {
  to["verdict"] = verdict(seen);
  to["asked"] = seen.asked;
  to["saved_ns"] = seen.saved;
  to["home"] = seen.home;
  to["home_ns"] = seen.home_time;
  to["far"] = seen.far;
  to["far_ns"] = seen.far_time;
  to["foretold_ns"] = seen.foretold;
}

void add_site(Json& to, const Learned& entry, std::uint64_t here) {
  const SiteUse& use = entry.use;
  to["less_than_bytes"] = std::uint64_t{1} << entry.size;
  to["blocks"] = use.blocks;
  to["block_bytes"] = use.bytes;
  to["placed"] = use.placed;
  to["uses"] = use.uses;
  const auto part = [](std::uint64_t thousandths) { return static_cast<double>(thousandths) / 1000; };
  to["spread"] = part(use.spread);
  to["part"] = part(use.part);
  to["main"] = part(use.main);
  to["share"] = part(use.share);
  to["followed"] = part(use.followed);
  to["tried"] = Json::array();
  for (std::size_t i = 0; i < policy::kSiteKindCount; ++i)
    if (const SiteUse::Tried& tried = use.tried[i]; tried.uses != 0)
      to["tried"].push_back({{"distribution", placement::kind_name(policy::kSiteKinds[i])},
                             {"uses", tried.uses},
                             {"task_ns", tried.time},
                             {"local", part(tried.local)}});
  if (entry.machine == here) to["next"] = placement::kind_name(next_kind(use, entry.threads));
}

std::string json_of(const std::string& path, const std::vector<Learned>& entries) {
  const std::uint64_t here = this_machine();
  const Symbols symbols = symbols_of(entries);
  Json json;
  json["file"] = path;
  json["entries"] = Json::array();
  for (const Learned& entry : entries) {
    const Symbol symbol = symbol_of(symbols, entry);
    Json one;
    one["kind"] = entry.is_site ? "site" : "construct";
    one["machine"] = fmt::format("{:x}", entry.machine);
    one["this_machine"] = entry.machine == here;
    one["threads"] = entry.threads;
    one["module"] = std::string(entry.module);
    one["build"] = std::string(entry.build);
    one["offset"] = entry.offset;
    one["function"] = symbol.function;
    one["source"] = symbol.file;
    one["line"] = symbol.line;
    if (entry.is_site)
      add_site(one, entry, here);
    else
      add_construct(one, entry.seen);
    json["entries"].push_back(one);
  }
  return json.dump(2) + "\n";
}

int refuse(const std::string& path, const LearnedText& read) {
  say("{}:{}:{}: {}; legal: {}. `hearth learned --forget {}` removes it.", path, read.line, read.column, read.wrong, read.legal, path);
  return kExitFailed;
}

int fail(const std::string& path) {
  say("learned: {}: {}", path, std::strerror(errno));
  return kExitFailed;
}

bool matches(const Learned& entry, const std::string& pattern) {
  return fnmatch(fmt::format("*{}*", pattern).c_str(), fmt::format("{}+{:#x}", entry.module, entry.offset).c_str(), 0) == 0;
}

int forget(const std::string& path, const std::string& pattern) {
  MergedFile file;
  if (!file.open(path.c_str(), policy::kMostLearnedBytes, kLockWaitMs)) return fail(path);
  LearnedText read = policy::read_learned(file.text());
  if (pattern.empty()) {
    if (!policy::is_learned_file(file.text())) return refuse(path, read);
    if (!file.remove()) return fail(path);
    say("forgot {}", counted(read.entries.size(), "entry", "entries"));
    return 0;
  }
  if (!read.ok()) return refuse(path, read);
  const std::size_t gone = std::erase_if(read.entries, [&](const Learned& entry) { return matches(entry, pattern); });
  if (gone != 0 && !file.replace(policy::write_learned(read.entries))) return fail(path);
  say("forgot {}", counted(gone, "entry", "entries"));
  return gone != 0 ? 0 : kExitFailed;
}

}  // namespace

int learned_main(const LearnedRequest& request) {
  const std::string path = request.file.empty() ? cache_file(".learned") : request.file;
  if (path.empty()) {
    say("learned: neither XDG_CACHE_HOME nor HOME names a folder");
    return kExitFailed;
  }
  std::string text;
  if (!read_plain_file(path.c_str(), policy::kMostLearnedBytes, text)) {
    if (errno != ENOENT || !request.file.empty()) return fail(path);
    if (request.json && !request.forget)
      put_text(stdout, json_of(path, {}));
    else
      say("learned: nothing yet; `hearth run --learn` writes {}", path);
    return request.forget ? kExitFailed : 0;
  }
  if (request.forget) return forget(path, request.pattern);
  const LearnedText read = policy::read_learned(text);
  if (!read.ok()) return refuse(path, read);
  put_text(stdout, request.json ? json_of(path, read.entries) : text_of(path, read.entries));
  return 0;
}

}  // namespace hearth::cli
