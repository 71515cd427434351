// Order, parking and waking of the workloads of one queue (semantics 2).
#include "core/queueing/pending_queue.hpp"

#include <gtest/gtest.h>

#include <deque>

#include "core/reasons/reasons.hpp"

namespace sluice {
namespace {

struct Pending : ::testing::Test {
  PendingQueue queue;
  std::deque<Uid> uids;

  OrderKey key(WorkloadId id, std::int32_t priority, Time time, const std::string& uid = "") {
    OrderKey k;
    k.id = k.anchor = id;
    k.priority = priority;
    k.time = time;
    k.uid = k.own_uid = &uids.emplace_back(uid.empty() ? std::to_string(id) : uid);
    return k;
  }
  /// A member ordered as `anchor`.
  OrderKey member(WorkloadId id, const OrderKey& anchor, std::int32_t rank) {
    OrderKey k = anchor;
    k.id = id;
    k.rank = rank;
    k.own_uid = &uids.emplace_back(std::to_string(id));
    return k;
  }
  void add(const OrderKey& k, std::uint32_t shape = 0) { queue.insert(k, {shape, k.priority}); }
  static std::shared_ptr<const PendingReason> because(const std::string& text) {
    auto why = std::make_shared<PendingReason>();
    why->text = text;
    return why;
  }
  /// Takes head after head out.
  std::vector<WorkloadId> drain() {
    std::vector<WorkloadId> out;
    while (const auto head = queue.head()) {
      out.push_back(*head);
      queue.erase(*head);
    }
    return out;
  }
  using Ids = std::vector<WorkloadId>;
};

TEST_F(Pending, HighPriorityThenTimeThenUid) {
  add(key(1, 0, 5, "b"), 1);
  add(key(2, 0, 5, "a"), 2);
  add(key(3, 0, 4, "z"), 3);
  add(key(4, 7, 9, "y"), 4);
  EXPECT_EQ(queue.members(), (Ids{4, 3, 2, 1}));
  EXPECT_EQ(drain(), (Ids{4, 3, 2, 1}));
}

/// In a lane of its own, with a key of its own.
OrderKey in_lane(OrderKey key, std::uint32_t lane, std::int64_t given = 0) {
  key.lane = lane;
  key.given = given;
  return key;
}

TEST_F(Pending, TheKeyOfTheLaneThenTheGivenOneThenTheBuiltInOrder) {
  add(in_lane(key(1, 9, 1), 1), 1);
  add(in_lane(key(2, 0, 2), 2, 5), 1);
  add(in_lane(key(3, 0, 3), 2, 4), 2);
  add(in_lane(key(4, 0, 1), 3), 1);
  EXPECT_TRUE(queue.order_lane(1, 7));
  EXPECT_FALSE(queue.order_lane(1, 7)) << "it was so before";
  // lanes 2 and 3 have 0, lane 1 has 7; in lanes 2 and 3: given 0, 4, 5
  EXPECT_EQ(queue.members(), (Ids{4, 3, 2, 1}));
  EXPECT_TRUE(queue.order_lane(1, -1));
  EXPECT_EQ(queue.members(), (Ids{1, 4, 3, 2}));
  EXPECT_EQ(drain(), (Ids{1, 4, 3, 2}));
}

TEST_F(Pending, EqualsOfAllLanesAreParkedAndWokenTogether) {
  add(in_lane(key(1, 0, 1), 1), 7);
  add(in_lane(key(2, 0, 2), 2), 7);
  add(in_lane(key(3, 0, 3), 2), 8);  // another shape
  queue.park_with_equals(1, because("no room"));
  EXPECT_TRUE(queue.parked(2));
  EXPECT_FALSE(queue.parked(3));
  add(in_lane(key(4, 0, 4), 3), 7);  // an equal that arrives, in a lane that is new
  add(in_lane(key(5, 0, 5), 2), 7);
  EXPECT_TRUE(queue.parked(4));
  EXPECT_TRUE(queue.parked(5));
  EXPECT_EQ(queue.class_reason(4)->text, "no room");
  queue.order_lane(3, -1);
  EXPECT_TRUE(queue.wake());
  EXPECT_EQ(drain(), (Ids{4, 1, 2, 3, 5}));
}

TEST_F(Pending, ReorderingMovesBetweenLanes) {
  add(key(1, 0, 1), 7);
  add(key(2, 0, 2), 7);
  queue.order_lane(5, 3);
  queue.reorder(in_lane(key(1, 0, 1), 5));
  EXPECT_EQ(queue.members(), (Ids{2, 1}));
  queue.park_with_equals(2, because("no room"));
  EXPECT_TRUE(queue.parked(1));
  queue.reorder(key(1, 0, 1));
  EXPECT_TRUE(queue.parked(1));
  EXPECT_TRUE(queue.wake());
  EXPECT_EQ(drain(), (Ids{1, 2}));
}

// Each lane is looked at for every head: those of LocalQueues that are gone are none.
TEST_F(Pending, ALaneIsThereWhileItHasAKeyOrAClass) {
  const auto lanes = [this] {
    std::vector<std::uint32_t> out;
    queue.each_lane([&out](std::uint32_t lane) { out.push_back(lane); });
    return out;
  };
  using Lanes = std::vector<std::uint32_t>;
  queue.order_lane(1, 7);
  EXPECT_FALSE(queue.order_lane(2, 0)) << "it has none, and gets none";
  EXPECT_EQ(lanes(), (Lanes{1}));
  add(in_lane(key(1, 0, 1), 1), 7);
  add(in_lane(key(2, 0, 2), 3), 7);
  EXPECT_TRUE(queue.order_lane(1, 0));
  EXPECT_EQ(lanes(), (Lanes{1, 3})) << "somebody waits there";
  queue.park_with_equals(2, because("no room"));
  add(in_lane(key(3, 0, 3), 4), 7);  // is parked unseen
  EXPECT_EQ(lanes(), (Lanes{1, 3, 4}));
  queue.erase(1);
  queue.erase(3);
  EXPECT_EQ(lanes(), (Lanes{1, 3, 4})) << "the equals of who comes next are parked";
  queue.wake();
  EXPECT_EQ(lanes(), (Lanes{3}));
  queue.park_alone(2);
  EXPECT_EQ(lanes(), (Lanes{3}));
  queue.reorder(in_lane(key(2, 0, 2), 5));
  EXPECT_EQ(lanes(), (Lanes{5}));
  queue.erase(2);
  EXPECT_EQ(lanes(), (Lanes{}));
}

TEST_F(Pending, InsertingAgainMoves) {
  add(key(1, 0, 1));
  add(key(2, 0, 2));
  add(key(1, 0, 3));
  EXPECT_EQ(queue.size(), 2U);
  EXPECT_EQ(drain(), (Ids{2, 1}));
}

TEST_F(Pending, ParkingTakesTheEqualsInTheHeapAlongAndNobodyElse) {
  add(key(1, 0, 1), 7);
  add(key(2, 0, 2), 8);  // another shape
  add(key(3, 0, 3), 7);
  add(key(4, 5, 4), 7);  // another priority
  queue.park_with_equals(1, because("no room"));
  EXPECT_TRUE(queue.parked(1));
  EXPECT_TRUE(queue.parked(3));
  EXPECT_FALSE(queue.parked(2));
  EXPECT_FALSE(queue.parked(4));
  EXPECT_EQ(queue.class_reason(3)->text, "no room");
}

// The one that comes first among its equals stands for them, whether it came first or not.
TEST_F(Pending, OnlyTheFirstOfEqualsIsAHead) {
  add(key(1, 0, 5), 7);
  add(key(2, 0, 1), 7);
  EXPECT_EQ(queue.head(), 2U);
  queue.park_with_equals(2, because("no room"));
  EXPECT_EQ(queue.head(), std::nullopt);
  queue.wake();
  EXPECT_EQ(drain(), (Ids{2, 1}));
}

TEST_F(Pending, AnEqualThatArrivesIsParkedUnseenUntilTheQueueIsWoken) {
  add(key(1, 0, 1), 7);
  queue.park_with_equals(1, because("no room"));
  add(key(2, 0, 2), 7);
  EXPECT_TRUE(queue.parked(2));
  EXPECT_EQ(queue.head(), std::nullopt);
  EXPECT_TRUE(queue.wake());
  EXPECT_EQ(drain(), (Ids{1, 2}));
  add(key(3, 0, 3), 7);
  EXPECT_FALSE(queue.parked(3));
}

TEST_F(Pending, AClassStaysParkedWhenItsLastMemberLeaves) {
  add(key(1, 0, 1), 7);
  queue.park_with_equals(1, because("no room"));
  queue.erase(1);
  add(key(2, 0, 2), 7);
  EXPECT_TRUE(queue.parked(2));
  queue.erase(2);
  EXPECT_FALSE(queue.wake());  // none moved
  add(key(3, 0, 3), 7);
  EXPECT_FALSE(queue.parked(3));
}

TEST_F(Pending, OneParkedAloneLeavesItsEqualsWhereTheyAre) {
  add(key(1, 0, 1), 7);
  add(key(2, 0, 2), 7);
  queue.park_alone(1);
  EXPECT_EQ(queue.head(), 2U);
  queue.park_with_equals(2, because("no room"));
  EXPECT_TRUE(queue.parked(1));
  EXPECT_TRUE(queue.parked(2));
  EXPECT_TRUE(queue.wake());
  EXPECT_EQ(drain(), (Ids{1, 2}));
}

TEST_F(Pending, ErasingOneThatIsParkedAloneForgetsIt) {
  add(key(1, 0, 1));
  queue.park_alone(1);
  queue.erase(1);
  EXPECT_FALSE(queue.anything_parked());
  EXPECT_FALSE(queue.contains(1));
}

TEST_F(Pending, EachAccountHasItsCountsWhateverBecomesOfItsMembers) {
  const auto counted = [this] {
    std::string out;
    for (const auto& [account, waiting] : queue.by_account())
      out += std::to_string(account) + ": " + std::to_string(waiting.pending) + ", parked " +
             std::to_string(waiting.parked) + "; ";
    return out;
  };
  queue.insert(key(1, 0, 1), {7, 0}, 5);
  queue.insert(key(2, 0, 2), {7, 0}, 6);
  queue.insert(key(3, 0, 3), {8, 0}, 5);
  queue.insert(key(4, 0, 4), {8, 0}, PendingQueue::kNoAccount);
  EXPECT_EQ(counted(), "5: 2, parked 0; 6: 1, parked 0; ");
  queue.park_with_equals(1, because("full"));
  queue.park_alone(3);
  EXPECT_EQ(counted(), "5: 2, parked 2; 6: 1, parked 1; ");
  queue.erase(3);
  EXPECT_EQ(counted(), "5: 1, parked 1; 6: 1, parked 1; ");
  queue.wake();
  EXPECT_EQ(counted(), "5: 1, parked 0; 6: 1, parked 0; ");
  queue.park_alone(2);
  queue.wake();
  queue.erase(1);
  EXPECT_EQ(counted(), "6: 1, parked 0; ");
}

TEST_F(Pending, ThePreemptorsPlaceIsAheadOfAllAndSurvivesParking) {
  add(key(1, 9, 1), 1);
  add(key(2, 0, 2), 2);
  queue.give_place(2, 2);
  EXPECT_EQ(queue.head(), 2U);
  queue.park_with_equals(2, because("skipped"));
  EXPECT_EQ(queue.head(), 1U);
  queue.wake();
  EXPECT_EQ(queue.head(), 2U);
  queue.free_place(1);  // it never held it
  EXPECT_EQ(queue.head(), 2U);
  queue.free_place(2);
  EXPECT_EQ(queue.head(), 1U);
}

TEST_F(Pending, AnotherPreemptorTakesThePlaceOver) {
  add(key(1, 9, 1), 1);
  add(key(2, 0, 2), 2);
  add(key(3, 0, 3), 3);
  queue.give_place(2, 2);
  queue.give_place(3, 3);
  EXPECT_EQ(drain(), (Ids{3, 1, 2}));
}

TEST_F(Pending, MembersOfAGroupAreAdjacentAndOrderedByRankAlone) {
  const OrderKey anchor = key(1, 3, 5);
  add(key(9, 3, 4), 9);
  add(key(8, 3, 6), 8);
  add(member(3, anchor, 20), 3);
  add(member(2, anchor, 30), 2);
  add(member(4, anchor, 10), 4);
  EXPECT_EQ(drain(), (Ids{9, 4, 3, 2, 8}));
}

TEST_F(Pending, ThePlaceMovesTheWholeGroupInsideByRank) {
  const OrderKey anchor = key(1, 0, 5);
  add(key(9, 3, 4), 9);
  add(member(3, anchor, 20), 3);
  add(member(2, anchor, 30), 2);
  queue.give_place(2, 1);  // 2 preempts; 3 of better rank still comes first
  EXPECT_EQ(drain(), (Ids{3, 2, 9}));
}

TEST_F(Pending, AMemberThatIsReorderedHasOnePlaceInItsGroup) {
  const OrderKey anchor = key(1, 0, 5);
  add(key(9, 3, 4), 9);
  add(member(3, anchor, 20), 3);
  add(member(2, anchor, 30), 2);
  queue.reorder(member(3, anchor, 40));
  queue.give_place(2, 1);
  EXPECT_EQ(drain(), (Ids{2, 3, 9}));
}

TEST_F(Pending, AnAnchorThatIsQueuedItselfHasARankInItsGroupToo) {
  OrderKey anchor = key(1, 0, 5);
  OrderKey other = member(2, anchor, 20);
  anchor.rank = 10;
  add(key(9, 3, 4), 9);
  add(other, 2);
  add(anchor, 1);
  queue.give_place(2, 1);
  EXPECT_EQ(drain(), (Ids{1, 2, 9}));
}

TEST_F(Pending, ThePlaceIsFreeWhenItsHolderGoesNotWhenASiblingDoes) {
  const OrderKey anchor = key(1, 0, 5);
  add(key(9, 3, 4), 9);
  add(member(3, anchor, 20), 3);
  add(member(2, anchor, 30), 2);
  queue.give_place(2, 1);
  queue.erase(3);
  queue.free_place(3);
  EXPECT_EQ(queue.head(), 2U);
  queue.free_place(2);
  EXPECT_EQ(queue.head(), 9U);
}

TEST_F(Pending, ReorderKeepsTheParkedParked) {
  add(key(1, 0, 1), 1);
  add(key(2, 0, 2), 2);
  add(key(3, 0, 3), 3);
  queue.park_alone(1);
  queue.park_with_equals(2, because("no room"));
  queue.reorder(key(1, 0, 9));
  queue.reorder(key(2, 0, 8));
  queue.reorder(key(3, 0, 7));
  EXPECT_TRUE(queue.parked(1));
  EXPECT_TRUE(queue.parked(2));
  EXPECT_EQ(queue.members(), (Ids{3, 2, 1}));
  queue.reorder(key(5, 0, 1));  // not here
  EXPECT_FALSE(queue.contains(5));
}

TEST_F(Pending, UntoldAreThoseWhoseReasonChangedInKindAndNewcomers) {
  const auto untold = [this] {
    Ids out;
    queue.collect_untold(out);
    return out;
  };
  add(key(1, 0, 1), 7);
  add(key(2, 0, 2), 7);
  queue.park_with_equals(1, because("no room"));
  EXPECT_EQ(untold(), (Ids{1, 2}));
  EXPECT_EQ(untold(), Ids());
  add(key(3, 0, 3), 7);
  EXPECT_EQ(untold(), (Ids{3}));
  queue.wake();
  queue.park_with_equals(1, because("no room"));
  EXPECT_EQ(untold(), Ids());
  queue.wake();
  queue.park_with_equals(1, because("another reason"));
  EXPECT_EQ(untold(), (Ids{1, 2, 3}));
}

// 1 is not parked when it is asked, 2 takes the number of 1's class, and each is told once.
TEST_F(Pending, UntoldAreAskedForAtAnyTime) {
  Ids out;
  add(key(1, 0, 1), 7);
  queue.collect_untold(out);
  EXPECT_EQ(out, Ids()) << "it has a turn yet";
  queue.park_with_equals(1, because("no room"));
  queue.wake();
  queue.erase(1);
  add(key(2, 0, 2), 8);
  queue.park_with_equals(2, because("no room"));
  queue.collect_untold(out);
  EXPECT_EQ(out, (Ids{2}));
  out.clear();
  add(key(3, 0, 3), 8);
  queue.wake();
  queue.collect_untold(out);
  EXPECT_EQ(out, Ids()) << "3 was parked unseen, and is open now";
  queue.park_with_equals(2, because("no room"));
  queue.collect_untold(out);
  EXPECT_EQ(out, (Ids{3})) << "2 knows the reason";
}

TEST_F(Pending, EqualsStayParkedWhenTheFirstOfThemGoes) {
  add(key(1, 0, 1), 7);
  add(key(2, 0, 2), 7);
  queue.park_with_equals(1, because("no room"));
  queue.erase(1);
  EXPECT_EQ(queue.head(), std::nullopt);
  EXPECT_TRUE(queue.parked(2));
}

TEST_F(Pending, WakingMovesNobodyWhereNobodyIsParked) {
  add(key(1, 0, 1), 7);
  EXPECT_FALSE(queue.wake());
}

}  // namespace
}  // namespace sluice
