// Places and partitions of real teams on a pretended machine (HEARTH_MACHINE): no mask of this process is
// touched.
#include <cstdlib>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/binding/places.h"
#include "runtime/team/fork.h"
#include "runtime/state/region.h"
#include "topology/allowance.h"

namespace hearth::rt {
namespace {

// The environment is read once, at the first call: it has to stand before any test runs.
const bool environment_is_set = [] {
  setenv("HEARTH_MACHINE", HEARTH_SOURCE_DIR "/models/opteron-6172x4.toml", 1);
  setenv("OMP_PLACES", "cores", 1);
  setenv("OMP_PROC_BIND", "spread,close", 1);
  unsetenv("OMP_NUM_THREADS");
  unsetenv("OMP_AFFINITY_FORMAT");
  return true;
}();

struct Seat {
  Partition outer;
  std::vector<Partition> inner;
};

void note_inner(void* data) {
  Thread* self = Thread::current();
  static_cast<Seat*>(data)->inner[static_cast<std::size_t>(self->tid)] = partition_of(self);
}

struct Nested {
  std::vector<Seat> seats;
  std::int32_t inner_size;
};

void note(void* data) {
  auto* nested = static_cast<Nested*>(data);
  Thread* self = Thread::current();
  Seat& seat = nested->seats[static_cast<std::size_t>(self->tid)];
  seat.outer = partition_of(self);
  if (nested->inner_size == 0) return;
  seat.inner.resize(static_cast<std::size_t>(nested->inner_size));
  Region region;
  region.function = reinterpret_cast<void*>(&note_inner);
  region.data = &seat;
  region.num_threads = nested->inner_size;
  parallel(self, region);
}

std::vector<Seat> run(std::int32_t size, std::int32_t inner_size, std::int32_t proc_bind = 0) {
  Nested nested{std::vector<Seat>(static_cast<std::size_t>(size)), inner_size};
  Region region;
  region.function = reinterpret_cast<void*>(&note);
  region.data = &nested;
  region.num_threads = size;
  region.proc_bind = proc_bind;
  parallel(Thread::current(), region);
  return nested.seats;
}

TEST(Affinity, APretendedMachinesPlacesAreUsedAndNoMaskIsTouched) {
  ASSERT_TRUE(environment_is_set);
  const topology::CpuMask before = topology::current_affinity();
  EXPECT_EQ(partition_of(Thread::current()).count, 48);
  EXPECT_EQ(place_count(), 48);
  EXPECT_EQ(partition_of(Thread::current()).place, 0);
  run(4, 0);
  EXPECT_EQ(topology::current_affinity(), before);
}

TEST(Affinity, SpreadCutsTheListAndNestedCloseStaysInItsPart) {
  const std::vector<Seat> seats = run(4, 3);
  for (std::int32_t i = 0; i < 4; ++i) {
    const Seat& seat = seats[static_cast<std::size_t>(i)];
    EXPECT_EQ(seat.outer.first, 12 * i);
    EXPECT_EQ(seat.outer.count, 12);
    EXPECT_EQ(seat.outer.place, 12 * i);
    for (std::int32_t k = 0; k < 3; ++k) {
      EXPECT_EQ(seat.inner[static_cast<std::size_t>(k)].place, 12 * i + k);
      EXPECT_EQ(seat.inner[static_cast<std::size_t>(k)].first, 12 * i);
      EXPECT_EQ(seat.inner[static_cast<std::size_t>(k)].count, 12);
    }
  }
}

TEST(Affinity, AClauseCountsForItsRegionOnly) {
  for (const Seat& seat : run(3, 0, 2)) EXPECT_EQ(seat.outer.place, 0);  // primary
  const std::vector<Seat> close = run(3, 0, 3);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(close[i].outer.place, static_cast<std::int32_t>(i));
  const std::vector<Seat> spread = run(3, 0);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(spread[i].outer.place, static_cast<std::int32_t>(16 * i));
}

TEST(Affinity, AnUnchangedTeamIsNotPlacedAgain) {
  run(4, 0);
  const Team* team = Thread::current()->member->hot_child;
  const std::uint32_t decision = team->members[1]->placing;
  run(4, 0);
  EXPECT_EQ(team->members[1]->placing, decision);
  run(2, 0);
  EXPECT_NE(team->members[1]->placing, decision);
}

std::string formatted(const char* format, std::size_t room = 256) {
  std::string text(room, '#');
  const std::size_t length = format_affinity(Thread::current(), format, text.data(), room);
  EXPECT_GE(length, std::string(text.c_str()).size());
  return text.c_str();
}

TEST(AffinityFormat, FieldsTakeWidthJustificationAndLongNames) {
  EXPECT_EQ(formatted("%n|%4n|%.4n|%0.4n|%04n"), "0|0   |   0|0000|0   ");
  EXPECT_EQ(formatted("%{thread_num}/%{num_threads} of %{num_teams}"), "0/1 of 1");
  EXPECT_EQ(formatted("100%% %{no_such_field}"), "100% undefined");
  EXPECT_EQ(formatted("%0.4a"), "-001");
}

TEST(AffinityFormat, WhatDoesNotFitIsCutAndItsLengthTold) {
  char text[5];
  EXPECT_EQ(format_affinity(Thread::current(), "0123456789", text, sizeof(text)), 10u);
  EXPECT_STREQ(text, "0123");
  EXPECT_EQ(format_affinity(Thread::current(), "0123456789", nullptr, 0), 10u);
}

TEST(AffinityFormat, AFormatThatEndsInsideAFieldIsNotReadBeyond) {
  EXPECT_EQ(formatted("a%"), "a");
  EXPECT_EQ(formatted("a%0.12"), "a");
  EXPECT_EQ(formatted("a%{thread_num"), "a0");
}

}  // namespace
}  // namespace hearth::rt
