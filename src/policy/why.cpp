#include "policy/why.h"

#include "policy/tuning.h"

namespace hearth::policy {
namespace {

static_assert(tuning::kShortTaskInDeals * tuning::kDealNs == 4800 && tuning::kSavedInDeals == 8, "the texts say so");

}  // namespace

const char* reason_text(Why why) {
  switch (why) {
    case Why::dealt: return "they go where they would end first";
    case Why::tried: return "some run elsewhere to see how long that takes";
    case Why::left: return "the policy leaves them where they are made";
    case Why::unknown_place: return "nobody knows where their data is";
    case Why::evenly_far: return "their data is equally far from all locations";
    case Why::no_slower: return "tasks that ran elsewhere took no longer";
    case Why::small_gain: return "the best place saves less than dealing costs";
    case Why::small_data: return "their data fits into a cache";
    case Why::here_already: return "they are made where their data is";
    case Why::crowded: return "too many waited where their data is, and a part of it was in a cache here";
    case Why::has_priority: return "tasks with a priority go into one queue for all";
    case Why::untimed: return "no task had ended yet, so nobody knew how long they take";
    case Why::short_task: return "tasks shorter than 4.8 us";
    case Why::creator_awaited: return "all others wait for their creator, which dealing would hold up";
    case Why::in_cache: return "what they waited for had left their data in a cache there";
    case Why::saves_little: return "saves less than eight dealings each";
    case Why::count_: break;
  }
  return "";
}

const char* why_name(int why) {
  static constexpr const char* kNames[] = {"dealt",        "tried",           "left",         "unknown_place",
                                           "evenly_far",   "no_slower",       "small_gain",   "small_data",
                                           "here_already", "crowded",         "has_priority", "untimed",
                                           "short_task",   "creator_awaited", "in_cache",     "saves_little"};
  static_assert(sizeof(kNames) / sizeof(kNames[0]) == kWhys);
  return why < 0 || why >= static_cast<int>(kWhys) ? nullptr : kNames[why];
}

}  // namespace hearth::policy
