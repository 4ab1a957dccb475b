// OpenMP 5.2, 10.1.3, by example and by property.
#include <algorithm>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "topology/binding.h"

namespace hearth::topology {
namespace {

std::vector<int> places(ProcBind bind, PlaceRange partition, int parent, unsigned team) {
  std::vector<int> result;
  for (unsigned t = 0; t < team; ++t) result.push_back(bind_thread(bind, partition, parent, team, t).place);
  return result;
}

std::vector<PlaceRange> partitions(ProcBind bind, PlaceRange partition, int parent, unsigned team) {
  std::vector<PlaceRange> result;
  for (unsigned t = 0; t < team; ++t)
    result.push_back(bind_thread(bind, partition, parent, team, t).partition);
  return result;
}

using Ints = std::vector<int>;
using Ranges = std::vector<PlaceRange>;

TEST(Binding, PrimaryPutsEverybodyWhereTheParentIs) {
  EXPECT_EQ(places(ProcBind::primary, {0, 8}, 3, 4), (Ints{3, 3, 3, 3}));
  EXPECT_EQ(partitions(ProcBind::primary, {2, 4}, 3, 2), (Ranges{{2, 4}, {2, 4}}));
}

// The examples of the OpenMP examples document (affinity: eight places), threads on p0 first.
TEST(Binding, CloseWithFewerThreadsThanPlaces) {
  EXPECT_EQ(places(ProcBind::close, {0, 8}, 0, 4), (Ints{0, 1, 2, 3}));
  EXPECT_EQ(places(ProcBind::close, {0, 8}, 6, 4), (Ints{6, 7, 0, 1}));
  EXPECT_EQ(partitions(ProcBind::close, {0, 8}, 6, 2), (Ranges{{0, 8}, {0, 8}}));
}
TEST(Binding, CloseWithMoreThreadsThanPlaces) {
  EXPECT_EQ(places(ProcBind::close, {0, 8}, 0, 16), (Ints{0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7}));
  EXPECT_EQ(places(ProcBind::close, {0, 3}, 1, 8), (Ints{1, 1, 1, 2, 2, 2, 0, 0}));
}
TEST(Binding, SpreadWithFewerThreadsThanPlaces) {
  EXPECT_EQ(places(ProcBind::spread, {0, 8}, 0, 4), (Ints{0, 2, 4, 6}));
  EXPECT_EQ(partitions(ProcBind::spread, {0, 8}, 0, 4), (Ranges{{0, 2}, {2, 2}, {4, 2}, {6, 2}}));
  EXPECT_EQ(places(ProcBind::spread, {0, 8}, 2, 4), (Ints{2, 4, 6, 0}));
}
TEST(Binding, SpreadLeavesThePrimaryThreadOnItsPlaceWithinASubpartition) {
  EXPECT_EQ(places(ProcBind::spread, {0, 8}, 3, 4), (Ints{3, 4, 6, 0}));
  EXPECT_EQ(partitions(ProcBind::spread, {0, 8}, 3, 4), (Ranges{{2, 2}, {4, 2}, {6, 2}, {0, 2}}));
}
TEST(Binding, SpreadWithUnevenSubpartitions) {
  EXPECT_EQ(partitions(ProcBind::spread, {0, 8}, 0, 3), (Ranges{{0, 3}, {3, 3}, {6, 2}}));
  EXPECT_EQ(places(ProcBind::spread, {0, 8}, 5, 3), (Ints{5, 6, 0}));
}
TEST(Binding, SpreadWithMoreThreadsThanPlaces) {
  EXPECT_EQ(places(ProcBind::spread, {0, 8}, 2, 16), (Ints{2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 0, 0, 1, 1}));
  EXPECT_EQ(partitions(ProcBind::spread, {0, 2}, 1, 3), (Ranges{{1, 1}, {1, 1}, {0, 1}}));
}
TEST(Binding, NestedSpreadStaysInItsSubpartition) {
  const Binding outer = bind_thread(ProcBind::spread, {0, 8}, 0, 2, 1);
  EXPECT_EQ(outer, (Binding{4, {4, 4}}));
  EXPECT_EQ(places(ProcBind::close, outer.partition, outer.place, 4), (Ints{4, 5, 6, 7}));
  EXPECT_EQ(places(ProcBind::spread, outer.partition, outer.place, 2), (Ints{4, 6}));
}
TEST(Binding, FalseBindsNobody) {
  EXPECT_EQ(bind_thread(ProcBind::false_, {0, 4}, 1, 4, 2), (Binding{-1, {0, 4}}));
}
TEST(Binding, TrueIsClose) {
  EXPECT_EQ(places(ProcBind::true_, {0, 8}, 6, 4), places(ProcBind::close, {0, 8}, 6, 4));
}
TEST(Binding, NoPlacesBindNobody) { EXPECT_EQ(bind_thread(ProcBind::close, {0, 0}, 0, 4, 2).place, -1); }
TEST(Binding, AParentOutsideItsPartitionCountsAsAtItsStart) {
  EXPECT_EQ(places(ProcBind::close, {2, 3}, -1, 3), (Ints{2, 3, 4}));
  EXPECT_EQ(places(ProcBind::close, {2, 3}, 7, 3), (Ints{2, 3, 4}));
}
TEST(Binding, LargeNumbersDoNotOverflow) {
  const std::uint32_t huge = 0xfffffff0U;
  EXPECT_EQ(bind_thread(ProcBind::close, {0, 3}, 2, huge, huge - 1).place, 1);
  EXPECT_EQ(bind_thread(ProcBind::spread, {0, 0x7fffffff}, 0x7ffffffe, 2, 1).place, 0);
}

// The specification's own sentences, for every small case.
TEST(Binding, PropertiesOfTheSpecificationHold) {
  for (unsigned first : {0U, 3U}) {
    for (unsigned count = 1; count <= 9; ++count) {
      for (unsigned team = 1; team <= 20; ++team) {
        for (unsigned parent = first; parent < first + count; ++parent) {
          for (ProcBind bind : {ProcBind::primary, ProcBind::close, ProcBind::spread}) {
            SCOPED_TRACE(testing::Message()
                         << proc_bind_name(bind) << " P=" << count << " T=" << team << " parent=" << parent);
            const PlaceRange partition{first, count};
            std::vector<unsigned> threads_on(first + count);
            std::vector<Binding> all;
            for (unsigned t = 0; t < team; ++t) {
              all.push_back(bind_thread(bind, partition, static_cast<int>(parent), team, t));
              ASSERT_TRUE(partition.holds(static_cast<unsigned>(all[t].place)));
              ASSERT_TRUE(all[t].partition.holds(static_cast<unsigned>(all[t].place)));
              ASSERT_GE(all[t].partition.first, first);
              ASSERT_LE(all[t].partition.first + all[t].partition.count, first + count);
              ++threads_on[static_cast<unsigned>(all[t].place)];
            }
            ASSERT_EQ(all[0].place, static_cast<int>(parent))
                << "the primary thread stays where its parent was";
            if (bind == ProcBind::primary) continue;
            if (team <= count) {
              for (unsigned on : threads_on) ASSERT_LE(on, 1U);
            } else {
              for (unsigned p = first; p < first + count; ++p) {
                ASSERT_GE(threads_on[p], team / count);
                ASSERT_LE(threads_on[p], (team + count - 1) / count);
              }
              for (unsigned t = 1; t < team; ++t) {  // consecutive numbers share a place or go on to the next
                const unsigned step =
                    (static_cast<unsigned>(all[t].place) + count - static_cast<unsigned>(all[t - 1].place)) %
                    count;
                ASSERT_TRUE(step <= 1) << t;
              }
            }
            if (bind == ProcBind::close) {
              for (const Binding& one : all) ASSERT_EQ(one.partition, partition);
              continue;
            }
            // spread: the subpartitions are disjoint and cover the partition.
            std::set<std::pair<unsigned, unsigned>> parts;
            for (const Binding& one : all) parts.insert({one.partition.first, one.partition.count});
            ASSERT_EQ(parts.size(), std::min(team, count));
            unsigned next = first;
            for (const auto& [start, size] : parts) {
              ASSERT_EQ(start, next);
              ASSERT_GE(size, team <= count ? count / team : 1U);
              ASSERT_LE(size, team <= count ? (count + team - 1) / team : 1U);
              next = start + size;
            }
            ASSERT_EQ(next, first + count);
            for (unsigned t = 1; t < team && team <= count; ++t) {
              ASSERT_EQ(all[t].place, static_cast<int>(all[t].partition.first))
                  << "first place of its subpartition";
            }
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace hearth::topology
