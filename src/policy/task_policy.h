// The contract of a task policy: where a ready task goes, and where an idle worker may look.
//
// A policy is a pure object: it sees numbers (a Need, a LoadView), never queues or addresses; it neither
// blocks nor allocates, and any thread may call it at any time. The runtime and the simulator link the very
// same objects and take them by name.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hearth::policy {

using Location = std::int32_t;
inline constexpr Location kHere = -1;  // the creator's own queue

/// What a task touches, by location.
struct Need {
  std::int32_t locations = 0;
  const std::uint64_t* read_bytes = nullptr;
  const std::uint64_t* written_bytes = nullptr;
};

/// How the machine is doing, as far as the runtime keeps it.
struct LoadView {
  std::int32_t locations = 0;
  const std::uint32_t* queued = nullptr;
  const std::uint32_t* idle = nullptr;
};

class TaskPolicy {
 public:
  /// As users write it in HEARTH_POLICY.
  virtual const char* name() const = 0;
  /// Called by the worker that makes the task ready. kHere: the caller's own deque.
  virtual Location deal(const Need& need, Location creator, const LoadView& load) const = 0;
  /// Whether an idle worker at `thief` may take from `victim` when `depth` tasks wait there.
  virtual bool may_rob(Location thief, Location victim, std::uint32_t depth) const = 0;
  /// Constant properties that spare the runtime calls on the fast path.
  virtual bool deals_here_always() const { return false; }
  virtual bool one_queue() const { return false; }

 protected:
  ~TaskPolicy() = default;
};

/// The policy of that name, or null.
const TaskPolicy* find_policy(const char* name);
/// All names, for messages: `index` counts up from 0, null ends.
const TaskPolicy* policy_at(std::size_t index);

}  // namespace hearth::policy
