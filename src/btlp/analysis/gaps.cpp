// See gaps.h.
#include "btlp/analysis/gaps.h"

namespace hearth::btlp {
namespace {

constexpr GapText kTexts[kGaps] = {
    {"last-branch", {"overrides", "keeps"}, "overrides: a child of main that shares data is autonomous all the same"},
    {"globals", {"reader", "both"}, "reader: a global marks who reads it, and only if its writer is marked already"},
    {"loop",
     {"body", "repeats"},
     "body: the call stands in a loop; repeats: the creation runs more than once on any path"},
    {"loop-threads", {"side-by-side", "by-data"}, "side-by-side: threads of a loop are, whatever they touch"},
    {"loop-tree", {"outside", "creator"}, "outside: threads of a loop are in no tree; creator: below their creator"},
    {"order", {"one-by-one", "all-edges"}, "one-by-one: a thread is typed before later ones are looked at"},
    {"nested", {"free", "side-by-side"}, "side-by-side: a thread that creates threads is"},
    {"result", {"side-by-side", "postponed"}, "what a thread is whose data its creator alone reads"},
    {"parameter",
     {"received", "read"},
     "received: data in reach of a thread's argument is shared though it never reads it"},
    {"parent", {"last", "first"}, "of several parents: the one that was looked at last, or the first created"},
    {"weak-sharing", {"binds", "free"}, "free: sharing below 1/64 of the estimated work binds nobody"},
    {"thread-per",
     {"creation", "path"},
     "creation: one thread for each call in the source; path: for each way and routine"},
    {"unknown-routine", {"typed", "system"}, "system: a thread whose routine is not known is unknown and not placed"},
    {"seat", {"thread", "core"}, "a seat is one hardware thread, or a core with all of them"},
    {"turn", {"cores", "nodes"}, "autonomous threads go to cores by number, or to NUMA nodes in turn"},
    {"ties",
     {"first", "nearest"},
     "of equally loaded cores a postponed thread gets the first, or the nearest to its creator"},
};

// Whether a mode takes the second answer.
constexpr bool kOfLiteral[kGaps] = {false, false, false, false, false, false, false, true,
                                    false, false, false, false, true,  true,  true,  true};

constexpr std::size_t index_of(Gap gap) { return static_cast<std::size_t>(gap); }

}  // namespace

const GapText& text_of(Gap gap) { return kTexts[index_of(gap)]; }

bool Gaps::decided(Gap gap, Mode mode) const {
  if (answer_[index_of(gap)] != kOfMode) return answer_[index_of(gap)] == 1;
  if (mode == Mode::literal) return kOfLiteral[index_of(gap)];
  return mode == Mode::balanced || (gap != Gap::loop_threads && gap != Gap::weak_sharing);
}

bool Gaps::add(std::string_view words, std::string& problem) {
  Gaps changed = *this;
  while (!words.empty()) {
    const std::size_t end = words.find(',');
    const std::string_view word = words.substr(0, end);
    words.remove_prefix(end == std::string_view::npos ? words.size() : end + 1);
    const std::size_t middle = word.find('=');
    const std::string_view name = word.substr(0, middle);
    const std::string_view answer = middle == std::string_view::npos ? "" : word.substr(middle + 1);
    std::string legal;
    bool known = false, good = false;
    for (std::size_t n = 0; n < kGaps; ++n) {
      const GapText& text = kTexts[n];
      if (name != text.name) continue;
      known = true;
      legal = std::string(text.answers[0]) + ", " + text.answers[1];
      for (std::uint8_t which = 0; which < 2; ++which)
        if (answer == text.answers[which]) {
          changed.answer_[n] = which;
          good = true;
        }
    }
    if (good) continue;
    if (!known)
      for (const GapText& text : kTexts) legal += (legal.empty() ? "" : ", ") + std::string(text.name);
    problem = "\"" + std::string(word) + "\": " + (known ? "no such answer" : "no such gap") + "; legal: " + legal;
    return false;
  }
  *this = changed;
  return true;
}

std::string Gaps::asked_for() const {
  std::string all;
  for (std::size_t n = 0; n < kGaps; ++n)
    if (answer_[n] != kOfMode)
      all += (all.empty() ? "" : ",") + std::string(kTexts[n].name) + "=" + kTexts[n].answers[answer_[n]];
  return all;
}

}  // namespace hearth::btlp
