// Fluid: activities that share resources, as water shares pipes.
//
// An activity moves a number of bytes and, in lock step with them, uses resources: memory controllers,
// directed links, the requests that a node can serve. It is never faster than its own limit (what it would
// need alone). What several want of one resource is shared max-min fair: nobody gets more while somebody who
// gets less could have it. Rates are worked out anew only when an activity starts or ends while some resource
// is short; as long as none is, everybody has its limit and nothing is solved.
//
// Time is in whole picoseconds, and every result depends on nothing but the calls and their order: activities
// are visited in the order of their slots, and the arithmetic is plain IEEE (the build forbids contraction).
// Used by one thread.
#pragma once

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

  /// `capacity` in bytes per nanosecond (which is GB/s), above 0.
  Resource add_resource(double capacity);

  /// An activity of `bytes` that takes `alone` when it shares nothing. Without bytes or uses it takes just
  /// that. `uses` names each resource once. The number is free again after the activity has ended.
  Activity start(Time now, Time alone, double bytes, std::span<const Use> uses);

  /// When the next activity ends, if none starts before; kNever: there is none.
  Time next_end();
  /// Ends one activity that is due at next_end(), the one with the smallest number, and returns it.
  Activity end_next();

  std::size_t active() const { return order_.size(); }
  /// Bytes per nanosecond just now; for tests, and for pictures of what is busy.
  double rate_of(Activity activity);
  double load_of(Resource resource);
  /// How often rates had to be shared out; what simulating costs.
  std::uint64_t solved() const { return solved_; }

 private:
  struct Pipe {
    double capacity;
    double wanted = 0;  // by all activities, had each its limit
    std::uint32_t users = 0;
    double left = 0;    // in solve(): not yet shared out
    double weight = 0;  // in solve(): what all of those would take that have no rate yet, for a byte each
  };
  struct Flow {
    double limit = 0;  // bytes per nanosecond, alone
    double rate = 0;
    double left = 0;    // bytes, at `since`
    Time since = 0;     // the rate holds from here on
    Time end = kNever;  // at this rate
    bool running = false;
    bool fixed = false;  // in solve(): has its rate
    std::uint32_t use_count = 0;
    std::size_t uses = 0;  // the first of its own in uses_
    std::size_t room = 0;
  };

  std::span<const Use> uses_of(const Flow& flow) const { return {uses_.data() + flow.uses, flow.use_count}; }
  bool short_of(const Pipe& pipe) const { return pipe.wanted > pipe.capacity; }
  void change_demand(const Flow& flow, double sign);
  Time first_end() const;
  void settle();
  void solve();
  void fix(Flow& flow, double rate);
  void set_rate(Flow& flow, double rate);

  std::vector<Pipe> pipes_;
  std::vector<Flow> flows_;  // by number; some are free
  std::vector<Use> uses_;
  std::vector<Activity> free_;   // numbers, the last to be taken first
  std::vector<Activity> order_;  // that run, rising
  Time now_ = 0;
  std::uint32_t shortages_ = 0;  // resources of which more is wanted than there is
  bool stale_ = false;           // rates do not fit who runs
  bool shared_ = false;          // some activity has less than its limit
  std::uint64_t solved_ = 0;
};

}  // namespace hearth::sim
