// What a workload must be like to be simulated, and what is said of one that is not.
#include "sim/workload/workload.h"

#include <cmath>

#include <gtest/gtest.h>

namespace hearth::sim {
namespace {

Step make_step(Step::Kind kind, std::uint32_t index) {
  Step step;
  step.kind = kind;
  step.index = index & kMaxIndex;
  return step;
}

/// The initial task creates two, of which the second waits for the first and each touches a page in rows.
Workload two_tasks() {
  Workload workload;
  workload.regions.push_back({"data", 4096, FirstTouch::initial_thread, true});
  workload.kinds = {"program", "task"};
  workload.tasks.resize(3);
  workload.steps = {make_step(Step::Kind::create, 1), make_step(Step::Kind::create, 2),
                    make_step(Step::Kind::wait_all, 0), make_step(Step::Kind::work, 0),
                    make_step(Step::Kind::work, 1)};
  workload.tasks[0] = {0, 3, 0, 0, 0};
  workload.tasks[1] = {3, 1, 0, 0, 1};
  workload.tasks[2] = {4, 1, 0, 1, 1};
  workload.predecessors = {1};
  workload.works = {{10, 0, 1}, {10, 1, 1}};
  Access access;
  access.length = 64;
  access.pitch = 1024;
  access.rows = 4;
  workload.accesses = {access, access};
  return workload;
}

TEST(Workload, ASoundOneIsConsistent) {
  EXPECT_EQ(two_tasks().inconsistency(), "");
  EXPECT_EQ(Workload().inconsistency(), "there is no initial task");
}

TEST(Workload, AnAccessStaysInItsRegion) {
  Workload workload = two_tasks();
  workload.accesses[1].offset = 4096 - 3 * 1024 - 64;  // up to the last byte
  EXPECT_EQ(workload.inconsistency(), "");
  workload.accesses[1].offset += 1;
  EXPECT_EQ(workload.inconsistency(), "access 1: it reaches beyond its region");
  workload.accesses[1] = {UINT64_MAX, 2, 0, 1, 0};
  EXPECT_EQ(workload.inconsistency(), "access 1: it reaches beyond its region");
  workload.accesses[1] = {0, 1, UINT64_MAX, 3, 0};
  EXPECT_EQ(workload.inconsistency(), "access 1: it reaches beyond its region");
  workload.accesses[1] = {0, 1, 1, 1, 1};
  EXPECT_EQ(workload.inconsistency(), "access 1: there is no such region");
  workload.accesses[1] = {0, 1, 1, 0, 0};
  EXPECT_EQ(workload.inconsistency(), "access 1: it has no rows");
  workload.accesses[1] = {0, 1, 1, 1, 0, NAN};
  EXPECT_EQ(workload.inconsistency(), "access 1: its passes are no number");
}

TEST(Workload, AMigrationStaysInItsRegion) {
  Workload workload = two_tasks();
  workload.steps[4] = make_step(Step::Kind::migrate, 0);
  EXPECT_EQ(workload.inconsistency(), "step 4: there is no such migration");
  workload.migrations.push_back({Migration::Kind::pages, 0, 96, 4000, 0});
  EXPECT_EQ(workload.inconsistency(), "");
  workload.migrations[0].length = 4001;
  EXPECT_EQ(workload.inconsistency(), "migration 0: it reaches beyond its region");
  workload.migrations[0].region = 1;
  EXPECT_EQ(workload.inconsistency(), "migration 0: there is no such region");
  workload.migrations[0].kind = Migration::Kind::thread;
  EXPECT_EQ(workload.inconsistency(), "");
}

TEST(Workload, EveryTaskIsCreatedOnce) {
  Workload workload = two_tasks();
  workload.steps[1].index = 1;
  EXPECT_EQ(workload.inconsistency(), "task 1: created twice");
  workload = two_tasks();
  workload.steps[1].index = 3;
  EXPECT_EQ(workload.inconsistency(), "step 1: there is no such task");
  workload = two_tasks();
  workload.steps[1].kind = Step::Kind::task_wait;
  EXPECT_EQ(workload.inconsistency(), "task 2: nobody creates it");
}

TEST(Workload, NoTaskDescendsFromItself) {
  Workload workload = two_tasks();
  workload.steps[0] = workload.steps[1] = make_step(Step::Kind::task_wait, 0);
  workload.steps[3] = make_step(Step::Kind::create, 2);
  workload.steps[4] = make_step(Step::Kind::create, 1);
  EXPECT_EQ(workload.inconsistency(), "task 1: it descends from itself");
}

TEST(Workload, PredecessorsAreEarlierSiblings) {
  Workload workload = two_tasks();
  workload.predecessors = {2};
  EXPECT_EQ(workload.inconsistency(), "task 2: predecessor 2 is no sibling created earlier");
  workload.predecessors = {0};
  EXPECT_EQ(workload.inconsistency(), "task 2: predecessor 0 is no sibling created earlier");
  workload.predecessors = {7};
  EXPECT_EQ(workload.inconsistency(), "task 2: predecessor 7 is no sibling created earlier");
  workload.predecessors.clear();
  EXPECT_EQ(workload.inconsistency(), "task 2: its predecessors are not there");
}

TEST(Workload, WhatIsReferredToIsThere) {
  Workload workload = two_tasks();
  workload.tasks[2].steps = 2;
  EXPECT_EQ(workload.inconsistency(), "task 2: its steps are not there");
  workload = two_tasks();
  workload.steps[4].index = 2;
  EXPECT_EQ(workload.inconsistency(), "step 4: there is no such work");
  workload = two_tasks();
  workload.works[1].accesses = 2;
  EXPECT_EQ(workload.inconsistency(), "work 1: its accesses are not there");
  workload = two_tasks();
  workload.tasks[1].kind = 2;
  EXPECT_EQ(workload.inconsistency(), "task 1: there is no such kind");
}

}  // namespace
}  // namespace hearth::sim
