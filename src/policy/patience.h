// How a worker that finds nothing near it looks for far tasks: ever more seldom, and leaving those alone that
// were dealt to others until it has waited long enough.
//
// A Patience belongs to one worker, which tells it what it sees; nobody else touches it. All times are in
// nanoseconds, and come from the caller. Only time in which the worker could look is counted as
// waiting: while it had no CPU, those for whom it waits may have had none either.
#pragma once

#include <algorithm>
#include <cinttypes>
#include <cstdint>

#include "base/assert.h"
#include "policy/tuning.h"

namespace hearth::policy {

/// What a worker without near tasks knows of itself.
struct Idleness {
  std::uint64_t time = 0;           // for how long it has left far tasks alone
  std::uint64_t since_dealing = 0;  // since a task was created and dealt, to anywhere
  // Task times that it is willing to wait: while tasks are being dealt, and whether or not any are.
  std::uint32_t patience = 0;
  std::uint32_t quiet_patience = 0;
  std::uint32_t created = 0;        // how many were created and dealt meanwhile, to anywhere
  std::uint32_t left = 0;           // how many dealt tasks wait now, for the workers of any location

  /// Of what was dealt meanwhile little is left: those for whom it was meant work about as fast as it comes.
  bool others_keep_up() const { return created >= tuning::kConclusiveTasks && left <= created / tuning::kKeepUpPart; }
};

class Patience {
 public:
  bool rests(std::uint64_t now) const { return now < look_again_; }
  /// How many looks there were since it found something near.
  std::uint32_t looks() const { return looks_; }

  /// There is nothing near, and it looks at what is far. `dealt`: how many tasks wait for the workers of any
  /// location; `created`: how many were created and dealt ever; `served`: how many the worker has run ever.
  /// The wait begins anew when the worker has run anything but a stolen task, and while there is nothing to
  /// leave alone.
  Idleness look(std::uint64_t now, std::uint32_t dealt, std::uint32_t created, std::uint64_t served) {
    HEARTH_ASSERT(patience_ <= tuning::kMostPatience && quiet_patience_ <= tuning::kMostQuietPatience &&
                      pause_ <= tuning::kLongestPauseNs,
                  "patience %u, quiet patience %u, pause %" PRIu64, patience_, quiet_patience_, pause_);
    const std::uint64_t passed = std::min(now - looked_, 2 * pause_);
    looked_ = now;
    ++looks_;
    waited_ += passed;
    if (!waiting_ || dealt == 0 || served != served_) begin_wait(now, served, created);
    since_dealing_ += passed;
    if (created != created_) {
      created_ = created;
      since_dealing_ = 0;
    }
    idle_ = {waited_, since_dealing_, patience_, quiet_patience_, created - created_before_, dealt};
    return idle_;
  }

  /// The look was in vain.
  void rest(std::uint64_t now) {
    pause_ = std::clamp(2 * pause_, tuning::kFirstPauseNs, tuning::kLongestPauseNs);
    look_again_ = now + pause_;
  }

  /// It takes a far task, the next that it runs, after look() has told it `idle`.
  void steal(const Idleness& idle) {
    gave_up_ = gave_up_ || idle.since_dealing < idle.time / 2;
    if (!stole_) quiet_patience_ /= 2;
    stole_ = true;
    ++served_;
  }

  bool waiting() const { return waiting_; }
  /// There is something near again.
  void found_near(std::uint64_t now) {
    if (!waiting_) return;
    judge_quiet_wait();
    judge_ = waited_ >= tuning::kBrieflyNs;
    paid_ = !gave_up_ && idle_.others_keep_up();
    began_ = now;
    waiting_ = gave_up_ = stole_ = false;
    looks_ = 0;
    pause_ = look_again_ = 0;
  }

 private:
  // Waiting has paid if the work that came then was long enough, or if nothing would have ended sooner
  // without; not if all that was dealt was dealt to others.
  void begin_wait(std::uint64_t now, std::uint64_t served, std::uint32_t created) {
    if (judge_ && (paid_ || now - began_ >= tuning::kWorthOfWaiting * waited_))
      patience_ = std::clamp(2 * patience_, 1u, tuning::kMostPatience);
    else if (judge_)
      patience_ /= 2;
    else if (gave_up_)
      patience_ /= 4;
    created_before_ = created;
    judge_ = gave_up_ = stole_ = false;
    waiting_ = true;
    began_ = now;
    waited_ = 0;
    served_ = served;
  }

  // Quiet patience has paid if there was no need to steal.
  void judge_quiet_wait() {
    if (waiting_ && waited_ >= tuning::kBrieflyNs && !stole_)
      quiet_patience_ = std::min(quiet_patience_ + 1, tuning::kMostQuietPatience);
  }

  bool waiting_ = false;
  bool gave_up_ = false;  // it stole, while tasks were being dealt to others
  bool judge_ = false;    // whether the last wait was worth it is seen when the work ends that came then
  bool paid_ = false;     // that is known already, since the others kept up without it
  bool stole_ = false;    // in this wait
  std::uint32_t patience_ = tuning::kFirstPatience;
  std::uint32_t quiet_patience_ = tuning::kMostQuietPatience;
  std::uint32_t looks_ = 0;
  std::uint32_t created_ = 0;
  std::uint32_t created_before_ = 0;  // the wait
  Idleness idle_;                     // as it looked last
  std::uint64_t pause_ = 0;           // after the last look
  std::uint64_t looked_ = 0;
  std::uint64_t look_again_ = 0;
  std::uint64_t began_ = 0;   // the wait, or the work after it
  std::uint64_t waited_ = 0;  // time that counts
  std::uint64_t since_dealing_ = 0;
  std::uint64_t served_ = 0;
};

/// When a worker that creates tasks with dependences runs one itself: once for each task time that it has
/// spent on creating. So that takes at most half of its time. What else it did between two
/// creations counts little. Like Patience it belongs to one worker.
class CreatorsTurn {
 public:
  /// It has created a task.
  void created(std::uint64_t now, std::uint64_t task_time) {
    saved_ = std::min(saved_ + std::min(now - looked_, task_time / 2), tuning::kMostTurns * task_time);
    looked_ = now;
  }
  /// `fed`: others can run what it has created, so that it goes on for longer.
  bool has_come(std::uint64_t task_time, bool fed) const {
    return task_time != 0 && saved_ >= (fed ? tuning::kMostTurns : 1) * task_time;
  }
  /// It has run one.
  void is_over(std::uint64_t now, std::uint64_t task_time) {
    saved_ -= std::min(saved_, task_time);
    looked_ = now;
  }

 private:
  std::uint64_t saved_ = 0;
  std::uint64_t looked_ = 0;
};

}  // namespace hearth::policy
