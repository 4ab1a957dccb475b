// Makes a Workload the way a program makes its tasks: one after the other, each by a task construct with a
// depend clause, from the body of the task that is open. Dependences come out as OpenMP has them: items are
// identical or disjoint, a reader waits for the last writer, a writer for the readers since, and only
// siblings wait for each other.
//
// One thread. Calls are checked by nobody: the generators' tests look at what comes out.
#pragma once

#include <cstddef>
#include <cstdint>

#include <string>
#include <unordered_map>
#include <vector>

#include "sim/workload/workload.h"

namespace hearth::sim {

class Builder {
 public:
  /// Opens the implicit task of the initial thread.
  explicit Builder(std::string name);

  RegionIndex region(std::string name, std::uint64_t bytes,
                     FirstTouch first_touch = FirstTouch::initial_thread);
  /// A task construct of the program.
  std::uint32_t kind(std::string name);

  /// The open task creates a task and that one is open now, until end_task().
  void begin_task(std::uint32_t kind);
  /// An item of the new task's depend clause; before it does anything.
  void depend(RegionIndex region, std::uint64_t offset, placement::Access mode);
  /// What the open task does next; the accesses that follow are this work's.
  void work(std::uint64_t cycles);
  void access(const Access& access);
  void task_wait();
  void wait_all();
  void end_task();

  const Workload& so_far() const { return workload_; }
  /// Closes the initial task, after which nothing more can be added.
  Workload take();

 private:
  static constexpr TaskIndex kNobody = UINT32_MAX;
  struct Item {
    std::uint64_t key;
    bool writes;
  };
  /// What of a depend item the next sibling that names it has to know.
  struct Use {
    TaskIndex writer = kNobody;
    std::vector<TaskIndex> readers;
  };
  struct Open {
    TaskIndex task = 0;
    std::vector<Step> steps;
    std::unordered_map<std::uint64_t, Use> uses;  // by its children
    std::vector<Item> items;                      // of its own clause, among its siblings
  };

  Open& open() { return open_[depth_]; }
  void step(Step::Kind kind, std::size_t index);
  void store_predecessors();

  Workload workload_;
  std::vector<Open> open_;  // [0] to [depth_] are open, later ones kept for their memory
  std::size_t depth_ = 0;
};

}  // namespace hearth::sim
