// Counts in words. Pure: a construct's counts, and text in the caller's memory.
#include <algorithm>
#include <cinttypes>
#include <cstdio>

#include "policy/tuning.h"
#include "runtime/settings/text_writer.h"
#include "runtime/tools/explain_counts.h"

namespace hearth::rt::explain {
namespace {

using policy::Why;

// "12.3 us", in a buffer of its own.
struct Time {
  char text[32];
  explicit Time(double ns) {
    const double size = ns < 0 ? -ns : ns;
    // Each up to where it would be written as 1000.
    const char* const unit = size < 999.5 ? "ns" : size < 999.5e3 ? "us" : size < 999.5e6 ? "ms" : "s";
    const double one = size < 999.5 ? 1 : size < 999.5e3 ? 1e3 : size < 999.5e6 ? 1e6 : 1e9;
    const double value = size / one;
    std::snprintf(text, sizeof text, "%.*f %s", value < 9.95 && one != 1 ? 1 : 0, value, unit);
  }
};

double mean(std::uint64_t sum, std::uint64_t count) {
  return count == 0 ? 0 : static_cast<double>(sum) / static_cast<double>(count);
}

// What is known of where tasks were slower.
struct Times {
  bool known;
  double home, away;
  explicit Times(const Sums& sums)
      : known(sums.n[kHomeTimed] != 0 && sums.n[kFarTimed] != 0),
        home(mean(sums.n[kHomeTime], sums.n[kHomeTimed])),
        away(mean(sums.n[kFarTime], sums.n[kFarTimed])) {}
};

// The reason of most that were not dealt, with how many there are of it.
struct Reason {
  Why why = Why::count_;
  std::uint64_t tasks = 0;
  explicit Reason(const Sums& sums) {
    for (std::size_t i = 0; i < policy::kWhys; ++i) {
      if (static_cast<Why>(i) == Why::dealt || sums.n[kWhy + i] <= tasks) continue;
      why = static_cast<Why>(i);
      tasks = sums.n[kWhy + i];
    }
  }
};

// Those about which somebody has decided something.
std::uint64_t decided(const Sums& sums) {
  std::uint64_t all = 0;
  for (std::size_t i = 0; i < policy::kWhys; ++i) all += sums.n[kWhy + i];
  return all;
}

// Those that say what they touch, and that nobody asked about for no reason but that they had to run at once. Of a
// taskloop it is the pieces that say something.
std::uint64_t ran_at_once(const Sums& sums) {
  const std::uint64_t others = sums.n[kSilent] + decided(sums);
  return sums.n[kPieces] != 0 || others >= sums.n[kRan] ? 0 : sums.n[kRan] - others;
}

void add_dealt(TextWriter& text, const Sums& sums, const Dealing& dealing) {
  const Times times(sums);
  if (times.known && times.away > times.home)
    text.add("tasks take %.0f %% longer elsewhere", (times.away / times.home - 1) * 100);
  else if (times.known)
    text.add("but tasks that ran elsewhere took no longer");
  else
    text.add("foretold to save %s each", Time(mean(sums.n[kForetold], sums.n[kAsked])).text);
  if (!dealing.keeps_accounts) text.add("; policy %s keeps no account, and deals whatever that brings", dealing.policy);
}

// Why no task of it ever came to be asked about; null: some did.
const char* why_never(const Sums& sums, const Dealing& dealing) {
  if (dealing.locations == 1) return "one location only";
  if (!dealing.deals) return "the policy deals nothing";
  if (decided(sums) != 0) return nullptr;
  if (sums.n[kPieces] != 0) return "the loop says nothing of its data: what it runs again goes where it ran before";
  if (sums.n[kRan] == 0 || 2 * sums.n[kSilent] < sums.n[kRan]) return "they ran where they were made, at once";
  return "no depend or affinity says what they touch";
}

void add_verdict(TextWriter& text, const Sums& sums, const Dealing& dealing) {
  if (const char* const never = why_never(sums, dealing)) return text.add("  not dealt: %s\n", never);
  const std::uint64_t all = decided(sums) + ran_at_once(sums) + (sums.n[kPieces] == 0 ? sums.n[kSilent] : 0);
  const std::uint64_t dealt = sums.why(Why::dealt);
  const Reason reason(sums);
  if (dealt == 0) return text.add("  not dealt: %s\n", policy::reason_text(reason.why));
  const bool mostly = 2 * dealt >= all;
  if (mostly && 10 * dealt >= 9 * all)
    text.add("  dealt: ");
  else
    text.add("  %.0f %% dealt%s: ", 100 * mean(dealt, all), mostly ? "" : ", most others not");
  if (mostly)
    add_dealt(text, sums, dealing);
  else
    text.add("%s", policy::reason_text(reason.why));
  text.add("\n");
}

void add_reasons(TextWriter& text, const Sums& sums) {
  if (decided(sums) == 0) return;
  const char* between = "  left where they were made: ";
  const auto add = [&](std::uint64_t tasks, const char* reason) {
    if (tasks == 0) return;
    text.add("%s%" PRIu64 ", %s", between, tasks, reason);
    between = "; ";
  };
  for (std::size_t i = 0; i < policy::kWhys; ++i)
    if (static_cast<Why>(i) != Why::dealt) add(sums.n[kWhy + i], policy::reason_text(static_cast<Why>(i)));
  if (sums.n[kPieces] == 0) add(sums.n[kSilent], "no depend or affinity says what they touch");
  add(ran_at_once(sums), "they ran at once");
  if (*between == ';') text.add("\n");
}

// Against a runtime that deals nothing, where chance would have run one in so many tasks at home.
void add_result(TextWriter& text, const Sums& sums, const Dealing& dealing) {
  const double cost = static_cast<double>(sums.why(Why::dealt)) * static_cast<double>(tuning::kDealNs) +
                      static_cast<double>(sums.n[kAsking]);
  const Times times(sums);
  if (!times.known) {
    text.add("  won or lost: not known, since %s; dealing has cost %s\n",
             sums.n[kHomeTimed] == 0 ? "none was timed at home" : "none was timed elsewhere", Time(cost).text);
    return;
  }
  const auto chance = static_cast<double>(dealing.locations - 1) / static_cast<double>(dealing.locations);
  const double saved = static_cast<double>(sums.n[kHelped]) * chance * (times.away - times.home);
  const double result = saved - cost;
  text.add("  %s %s of all threads' time (an estimate): %s %s, dealing has cost %s\n", result < 0 ? "lost" : "won",
           Time(result).text, saved < 0 ? "lost" : "saved", Time(saved).text, Time(cost).text);
}

// What is known of tasks without clauses.
void add_signs(TextWriter& text, const Sums& sums) {
  if (sums.n[kByArguments] != 0)
    text.add("  no clause says what they touch; footprint of %" PRIu64 ": from their arguments\n", sums.n[kByArguments]);
  if (sums.n[kByRuns] != 0)
    text.add("  no clause says what they touch; footprint of %" PRIu64 ": from where the last one ran\n", sums.n[kByRuns]);
}

void add_places(TextWriter& text, const Sums& sums, const Dealing& dealing) {
  const bool pieces = sums.n[kPieces] != 0;
  text.add("  asked about %" PRIu64 "%s, of which %" PRIu64 " dealt", sums.n[kAsked], pieces ? " pieces of the loop" : "",
           sums.why(Why::dealt));
  if (sums.n[kForetold] != 0)
    text.add("; foretold to lose %s each elsewhere", Time(mean(sums.n[kForetold], sums.n[kAsked])).text);
  text.add("\n");
  if (sums.n[kHome] + sums.n[kFar] == 0) return;
  const Times times(sums);
  text.add("  ran at home: %" PRIu64, sums.n[kHome]);
  if (sums.n[kHomeTimed] != 0) text.add(", mean %s", Time(times.home).text);
  text.add("; elsewhere: %" PRIu64, sums.n[kFar]);
  if (sums.n[kFarTimed] != 0) text.add(", mean %s", Time(times.away).text);
  text.add("\n");
  if (sums.why(Why::dealt) != 0) add_result(text, sums, dealing);
}

}  // namespace

std::size_t construct_text(const Sums& sums, const Dealing& dealing, const char* place, char* out, std::size_t room) {
  TextWriter text(out, room);
  text.add("task at %s\n", place);
  add_verdict(text, sums, dealing);
  text.add("  %" PRIu64 " task%s", sums.n[kCreated], sums.n[kCreated] == 1 ? "" : "s");
  if (sums.n[kTimed] != 0)
    text.add(", mean %s, %s in all", Time(mean(sums.n[kTime], sums.n[kTimed])).text,
             Time(static_cast<double>(sums.n[kTime])).text);
  text.add("\n");
  add_signs(text, sums);
  if (sums.n[kAsked] != 0) add_places(text, sums, dealing);
  add_reasons(text, sums);
  return text.length();
}

}  // namespace hearth::rt::explain
