// Fluid: activities that share resources, as water shares pipes.
//
// An activity moves a number of bytes and, in lock step with them, uses resources: memory controllers,
// directed links, the requests that a node can serve. It is never faster than its own limit (what it would
// need alone). What several want of one resource is shared max-min fair: nobody gets more while somebody who
// gets less could have it.
//
// Only a resource that is short (more is wanted of it than there is) holds anybody back, so nothing is solved
// as long as none is, and after a change only for those who are joined to it by short resources. Within
// `grain` of a change the rates may still be those before it; until then a newcomer gets what the last
// solution leaves to users of its resources. With a grain of 0 every instant has its exact solution.
//
// Time is in whole picoseconds, and every result depends on nothing but the calls and their order: activities
// are visited in the order of their limits and slots, and the arithmetic is plain IEEE (the build forbids
// contraction). Used by one thread.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include <span>
#include <vector>

namespace hearth::sim {

using Time = std::uint64_t;  // picoseconds
inline constexpr Time kNever = UINT64_MAX;

class Fluid {
 public:
  using Resource = std::uint32_t;
  using Activity = std::uint32_t;

  /// What one byte of the activity takes of a resource: 1 for a byte that crosses a link, more where a byte
  /// costs more (a write is a fill and a write-back).
  struct Use {
    Resource resource;
    double per_byte;
  };

  explicit Fluid(Time grain = 0) : grain_(grain) {}

  /// `capacity` in bytes per nanosecond (which is GB/s), above 0. All resources come before the first
  /// activity.
  Resource add_resource(double capacity);

  /// An activity of `bytes` that takes `alone` when it shares nothing. Without bytes or uses it takes just
  /// that. `uses` names each resource once. The number is free again after the activity has ended.
  Activity start(Time now, Time alone, double bytes, std::span<const Use> uses);

  /// When the next activity ends, if none starts before; kNever: there is none. Somebody who will start one
  /// at `until`, and ends none after it, hears only that none ends until then.
  Time next_end(Time until = kNever);
  /// Ends one activity that is due at next_end(), the one with the smallest number, and returns it.
  Activity end_next();

  std::size_t active() const { return active_; }
  /// Bytes per nanosecond just now; for tests, and for pictures of what is busy.
  double rate_of(Activity activity);
  double load_of(Resource resource);
  /// How often rates had to be shared out; what simulating costs.
  std::uint64_t solved() const { return solved_; }

 private:
  using Word = std::uint64_t;
  struct Pipe {
    double capacity;
    double wanted = 0;  // by all activities, had each its limit
    double weight = 0;  // what all would take for a byte each
    std::uint32_t users = 0;
    bool is_short = false;
    bool touched = false;     // in touched_
    double level = INFINITY;  // at which the last solution found it used up: nobody who uses it has more
  };
  /// In solve(), of a resource: [0] what is not yet shared out, [1] the weight of those without a rate.
  using Room = double __attribute__((vector_size(16)));
  struct Flow {
    double limit = 0;  // bytes per nanosecond, alone
    double rate = 0;
    double left = 0;  // bytes, at `since`
    Time since = 0;   // the rate holds from here on
    bool running = false;
    std::uint32_t use_count = 0;
    std::size_t uses = 0;  // the first of its own in uses_
    std::size_t room = 0;
  };
  /// Bit sets of activities or of resources, all of one kind with the same number of words.
  using Bits = std::vector<Word>;

  std::span<const Use> uses_of(const Flow& flow) const { return {uses_.data() + flow.uses, flow.use_count}; }
  Word* users_of(Resource resource) { return users_.data() + resource * words_; }
  Word* used_by(Activity activity) { return used_.data() + activity * pipe_words_; }
  void add_slot();
  void enter(Activity number, bool enters);
  void touch(Resource resource);
  void settle();
  void gather();
  void solve();
  void fix(Activity number, double rate);
  void set_rate(Activity number, double rate);
  Time first_end() const;

  Time grain_;
  std::vector<Pipe> pipes_;
  std::vector<Room> rooms_;  // the same
  std::vector<Flow> flows_;  // by number; some are free
  std::vector<Time> ends_;   // the same: when each ends at its present rate; kNever: free
  std::vector<Use> uses_;
  std::vector<Activity> free_;      // numbers, the last to be taken first
  std::vector<Activity> by_limit_;  // that run and use something, by rising limit and number
  std::size_t active_ = 0;

  std::size_t words_ = 0, pipe_words_ = 0;
  Bits users_;                     // by resource: which activities
  Bits used_;                      // by activity: which resources
  Bits short_;                     // resources
  std::vector<Resource> touched_;  // short before a change or after it
  Time now_ = 0;
  Time settle_by_ = kNever;  // there is something to be solved, and until then

  // What solve() is about.
  Bits part_;                     // activities
  Bits part_pipes_;               // resources that are short
  std::vector<Resource> scarce_;  // the same as a list
  Bits open_;                     // activities without a rate
  std::uint64_t solved_ = 0;
};

}  // namespace hearth::sim
