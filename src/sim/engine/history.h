// What a simulation did, task by task, for a recording of it: when each task was made, ran and waited, and where its data
// lay. The engine fills it where RunOptions::history points to one; that changes nothing of what is simulated. Used by one
// thread.
#pragma once

#include <cstdint>

#include <vector>

#include "placement/need.h"
#include "sim/cost/fluid.h"
#include "sim/workload/workload.h"

namespace hearth::sim {

class History {
 public:
  enum class Wait : std::uint8_t { children, descendants, predecessors, region };

  struct TaskTimes {
    Time created = kNever, creation = 0;  // how long that held up its creator
    Time begin = kNever, end = kNever;
    Time ran = 0, waited = 0, creating = 0;  // waited: its worker had nothing else to run; both are part of `ran`
    TaskIndex parent = 0;
    std::uint32_t creator = 0, worker = 0;
    placement::Location location = placement::kUnknown;
  };
  /// Without interruption on one worker.
  struct Span {
    TaskIndex task = 0;
    std::uint32_t worker = 0;
    placement::Location location = 0;
    Time begin = 0, end = 0;
  };
  struct Waited {
    TaskIndex task = 0;
    std::uint32_t worker = 0;
    Wait what = Wait::region;
    Time begin = 0, end = 0, idle = 0;
  };
  /// What a task declares to touch at a location, as it ended.
  struct Bytes {
    TaskIndex task = 0;
    placement::Location home = placement::kUnknown;
    std::uint64_t read = 0, written = 0;
  };

  // By task; behind those of the workload the implicit tasks of all workers but the first, in their order, which only
  // wait for the region's end.
  std::vector<TaskTimes> tasks;
  std::vector<Span> spans;  // in the order of their ends
  std::vector<Waited> waits;
  std::vector<Bytes> bytes;
  std::vector<placement::Shares> homes;  // of each region, at the end
  std::vector<unsigned> cpus;            // of the workers, by the kernel's numbers
  std::vector<placement::Location> seats;

  // ---- for the engine

  void start(std::size_t count, std::size_t workers);
  void created(std::uint32_t worker, TaskIndex task, Time now, Time creation);
  void begin(std::uint32_t worker, placement::Location location, TaskIndex task, Time now);
  void end(std::uint32_t worker, placement::Location location, Time now);
  void wait(std::uint32_t worker, Wait what, Time now);  // its topmost task; no matter how often it is said
  void go_on(std::uint32_t worker, Time now);            // the same, with or without such a wait
  void need(TaskIndex task, const placement::Need& need);
  void finish(Time now);

 private:
  struct Open {
    TaskIndex task = 0;
    Time resumed = 0;  // its span
    bool waits = false;
    Wait what = Wait::region;
    Time wait_begin = 0, idle_from = 0, idle = 0;
  };
  void close_span(std::uint32_t worker, placement::Location location, Time now);
  void end_idle(Open& open, Time now);

  std::vector<std::vector<Open>> open_;  // by worker, topmost last
};

}  // namespace hearth::sim
