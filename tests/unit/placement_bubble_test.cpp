// The tree of bubbles: who is inside whom, what is summed up, and that no room is used twice.
#include "placement/bubble.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace hearth::placement {
namespace {

struct Tree : BubbleTree {
  explicit Tree(const Room& room) : memory(bytes_for(room) / 8 + 1) { begin(room, memory.data()); }
  std::vector<std::uint64_t> memory;
};

Shares at(Location where, std::uint64_t bytes, std::int32_t locations = 4) {
  Shares shares(locations);
  shares.add(where, bytes);
  return shares;
}

std::vector<EntityId> inside(const BubbleTree& tree, EntityId bubble) {
  std::vector<EntityId> all;
  for (EntityId e = tree[bubble].first_inside; e != kNoEntity; e = tree[e].next) all.push_back(e);
  return all;
}

TEST(BubbleTree, ABubbleHasTheLoadAndTheMemoryOfWhatIsInside) {
  Tree tree({.entities = 8, .attachments = 4, .locations = 4});
  const EntityId team = tree.add_bubble(BubbleTree::kRoot);
  const EntityId one = tree.add_thread(team), other = tree.add_thread(team);
  tree[other].load = 0.5F;
  tree.attach(one, {.access = Access::read, .passes = 3}, at(2, 1000));
  tree.attach(other, {.access = Access::read_write}, at(1, 250));
  tree.attach(team, {.access = Access::write}, at(1, 50));
  tree.sum_up();
  for (const EntityId bubble : {team, BubbleTree::kRoot}) {
    EXPECT_EQ(tree[bubble].threads, 2);
    EXPECT_EQ(tree[bubble].load, 1.5F);
    EXPECT_EQ(tree.read(bubble)[2], 3000);
    EXPECT_EQ(tree.read(bubble)[1], 250);
    EXPECT_EQ(tree.written(bubble)[1], 300);
  }
  EXPECT_EQ(tree.favourite(team), 2);
  EXPECT_EQ(tree.favourite(other), 1);
  EXPECT_FLOAT_EQ(tree.weight(other), 250 + 1.7F * 250);
}

TEST(BubbleTree, EachOfThoseThatShareMemoryCountsForItsPart) {
  Tree tree({.entities = 8, .attachments = 8, .locations = 4});
  const EntityId team = tree.add_bubble(BubbleTree::kRoot);
  const EntityId one = tree.add_thread(team), other = tree.add_thread(team), third = tree.add_thread(team);
  const AttachmentId first = tree.attach(one, {.access = Access::read}, at(1, 600));
  const AttachmentId second = tree.attach(other, {.access = Access::read}, at(1, 600));
  const AttachmentId again = tree.attach(other, {.access = Access::write}, at(1, 600));
  const AttachmentId last = tree.attach(third, {.access = Access::read}, at(2, 600));  // which is old: it has moved
  for (const AttachmentId a : {second, again, last}) tree.share(a, first);
  const auto expect = [&](int users, std::vector<AttachmentId> sharers) {
    for (const AttachmentId a : sharers) {
      EXPECT_EQ(tree.users(a), users);
      std::vector<AttachmentId> seen;
      tree.for_each_sharer(a, [&](AttachmentId each) { seen.push_back(each); });
      std::sort(seen.begin(), seen.end());
      EXPECT_EQ(seen, sharers);
    }
    EXPECT_EQ(std::count_if(sharers.begin(), sharers.end(), [&](AttachmentId a) { return tree.leads(a); }), 1);
  };
  expect(3, {first, second, again, last});
  tree.sum_up();
  EXPECT_EQ(tree.read(team)[1], 600);
  EXPECT_EQ(tree.written(other)[1], 200);
  tree.relocate(last, 3);
  EXPECT_EQ(tree.bytes(first)[3], 600U);
  tree.detach(again);
  expect(3, {first, second, last});
  tree.detach(first);
  expect(2, {second, last});
  tree.remove(third);
  expect(1, {second});
  tree.sum_up();
  EXPECT_EQ(tree.read(other)[3], 600);
}

TEST(BubbleTree, ANestedTeamStandsWhereItsPrimaryThreadStood) {
  Tree tree({.entities = 8});
  const EntityId team = tree.add_bubble(BubbleTree::kRoot);
  const EntityId first = tree.add_thread(team), second = tree.add_thread(team), third = tree.add_thread(team);
  const EntityId nested = tree.enclose(second);
  const EntityId mate = tree.add_thread(nested);
  EXPECT_EQ(inside(tree, team), (std::vector{first, nested, third}));
  EXPECT_EQ(inside(tree, nested), (std::vector{second, mate}));
  tree.sum_up();
  EXPECT_EQ(tree[BubbleTree::kRoot].threads, 4);
}

TEST(BubbleTree, RoomOfWhatIsRemovedIsUsedAgain) {
  Tree tree({.entities = 5, .attachments = 2, .locations = 4});
  for (int round = 0; round < 100; ++round) {
    const EntityId outer = tree.add_bubble(BubbleTree::kRoot), nested = tree.add_bubble(outer);
    const EntityId one = tree.add_thread(nested), other = tree.add_thread(outer);
    ASSERT_NE(other, kNoEntity);
    EXPECT_EQ(tree.add_thread(outer), kNoEntity) << "the room is for five";
    ASSERT_NE(tree.attach(one, {}, at(0, 1)), kNoAttachment);
    ASSERT_NE(tree.attach(nested, {}, at(0, 1)), kNoAttachment);
    EXPECT_EQ(tree.attach(other, {}, at(0, 1)), kNoAttachment) << "the room is for two";
    tree.remove(round % 2 == 0 ? nested : outer);
    if (round % 2 == 0) tree.remove(outer);
    EXPECT_TRUE(inside(tree, BubbleTree::kRoot).empty());
  }
}

TEST(BubbleTree, SummingUpASubtreeReachesTheBubblesAroundIt) {
  Tree tree({.entities = 8, .attachments = 4, .locations = 4});
  const EntityId team = tree.add_bubble(BubbleTree::kRoot), other = tree.add_bubble(BubbleTree::kRoot);
  const EntityId thread = tree.add_thread(team);
  tree.add_thread(other);
  const AttachmentId area = tree.attach(thread, {}, at(3, 100));
  tree.sum_up();
  tree.relocate(area, 1);
  tree.sum_up(team);
  EXPECT_EQ(tree.read(BubbleTree::kRoot)[3], 0);
  EXPECT_EQ(tree.read(BubbleTree::kRoot)[1], 100);
  EXPECT_EQ(tree[BubbleTree::kRoot].threads, 2);
  tree.detach(area);
  tree.sum_up(team);
  EXPECT_EQ(tree.favourite(BubbleTree::kRoot), kUnknown);
}

TEST(BubbleTree, WalksComeByEverythingInsideOnce) {
  Tree tree({.entities = 8});
  const EntityId team = tree.add_bubble(BubbleTree::kRoot);
  const EntityId one = tree.add_thread(team), nested = tree.add_bubble(team), two = tree.add_thread(nested);
  const EntityId after = tree.add_thread(BubbleTree::kRoot);
  std::vector<EntityId> all;
  for (EntityId e = team; e != kNoEntity; e = tree.next_inside(e, team)) all.push_back(e);
  EXPECT_EQ(all, (std::vector{team, one, nested, two}));
  EXPECT_EQ(tree.next_beside(team, BubbleTree::kRoot), after);
  EXPECT_TRUE(tree.is_inside(two, team));
  EXPECT_FALSE(tree.is_inside(after, team));
}

}  // namespace
}  // namespace hearth::placement
