// Groups of workloads, by their traits: order, shared quota, one that is admitted (mechanisms 1).
#include "tests/core/engine/traits_fixture.hpp"

namespace sluice::testing {
namespace {

// ---- groups

TEST_F(Traits, MembersAreOrderedAsTheirAnchorAndInsideByRank) {
  // The anchor takes no part; its priority 10 puts its members before x, in order of rank.
  traits.of("parent").takes_part = false;
  traits.member("m1", "g", 2, "parent");
  traits.member("m2", "g", 1, "parent");
  auto s = one_queue();
  s->submit(Job("x", "q").cpu(1).priority(5)).submit(Job("parent", "q").cpu(1).priority(10));
  s->submit(Job("m1", "q").cpu(1).priority(0)).submit(Job("m2", "q").cpu(1).priority(3));
  EXPECT_EQ(s->run(), Lines("reserved m2", "admitted m2", "reserved m1", "admitted m1",
                            "reserved x", "admitted x"));
}

TEST_F(Traits, MembersThatCameBeforeTheirAnchorMoveWhenItComes) {
  traits.of("parent").takes_part = false;
  traits.member("m", "g", 1, "parent");
  auto s = one_queue();
  s->submit(Job("m", "q").cpu(3)).submit(Job("x", "q").cpu(3).priority(5));
  s->submit(Job("parent", "q").cpu(1).priority(10)).run();
  EXPECT_EQ(s->admitted(), "m");
}

TEST_F(Traits, AChangedPriorityOfTheAnchorMovesItsMembers) {
  traits.of("parent").takes_part = false;
  traits.member("m", "g", 1, "parent");
  auto s = one_queue();
  s->submit(Job("parent", "q").cpu(1).priority(10)).submit(Job("m", "q").cpu(3));
  s->submit(Job("x", "q").cpu(3).priority(5));
  s->submit(Job("parent", "q").cpu(1).priority(1)).run();
  EXPECT_EQ(s->admitted(), "x");
}

TEST_F(Traits, AMemberThatWasEvictedKeepsItsRankAndItsGroupsPlace) {
  traits.of("parent").takes_part = false;
  traits.member("m1", "g", 1, "parent").group.represents = true;
  traits.member("m2", "g", 2, "parent").group.represents = true;
  auto s = one_queue();
  s->submit(Job("parent", "q").cpu(1).priority(0)).submit(Job("m1", "q").cpu(4));
  s->submit(Job("m2", "q").cpu(4)).submit(Job("x", "q").cpu(4)).run();
  ASSERT_EQ(s->admitted(), "m1 parent");
  // Stopped and started again: m1 comes first again, before m2 and before x.
  s->after(5).queue(Queue("q").quota("cpu", {{"f", 4}}).stop(api::StopPolicy::kHoldAndDrain));
  s->run();
  s->after(5).queue(Queue("q").quota("cpu", {{"f", 4}}));
  EXPECT_EQ(s->run(), Lines("reserved m1", "admitted m1"));
  s->after(5).remove("m1");
  EXPECT_EQ(s->run(), Lines("reserved m2", "admitted m2"));
}

TEST_F(Traits, MembersThatRepresentNobodyAreAdmittedInOneCycle) {
  traits.member("m1", "g", 1, "m1");
  traits.member("m2", "g", 2, "m1");
  auto s = one_queue();
  s->queue(Queue("other").quota("cpu", {{"f", 4}}));
  s->submit(Job("m1", "q").cpu(1)).submit(Job("m2", "other").cpu(1));
  s->step();
  EXPECT_EQ(s->admitted(), "m1 m2");
}

TEST_F(Traits, HoldersOfOneGroupCountAsTheirMaximum) {
  // 3 and 2 of one group count as 3, so 1 of 4 is left; then x of 1 fits and y of 1 does not.
  traits.member("m1", "g", 1, "m1");
  traits.member("m2", "g", 2, "m1");
  auto s = one_queue();
  s->submit(Job("m1", "q").cpu(3)).submit(Job("m2", "q").cpu(2)).run();
  s->submit(Job("x", "q").cpu(1)).submit(Job("y", "q").cpu(1)).run();
  EXPECT_EQ(s->admitted(), "m1 m2 x");
  // Without m1 the group counts 2: y fits.
  s->after(1).finish("m1").run();
  EXPECT_EQ(s->admitted(), "m2 x y");
}

TEST_F(Traits, HoldersOfOneGroupInDifferentQueuesCountEachForItself) {
  traits.member("m1", "g", 1, "m1");
  traits.member("m2", "g", 2, "m1");
  Scenario s(Scenario::single_thread(), hooks);
  s.flavor("f").queue(Queue("q1").cohort("c").quota("cpu", {{"f", 2}}));
  s.queue(Queue("q2").cohort("c").quota("cpu", {{"f", 2}}));
  // m1 borrows all of q2's: 4 of 4 are used, so m2 in q2 has nothing left.
  s.submit(Job("m1", "q1").cpu(4)).run();
  s.submit(Job("m2", "q2").cpu(1)).run();
  EXPECT_EQ(s.admitted(), "m1");
}

// ---- exclusive groups

struct Exclusive : Traits {
  void members(const std::vector<std::string>& names) {
    std::int32_t rank = 0;
    for (const std::string& name : names)
      traits.member(name, "g", ++rank, names.front()).group.represents = true;
  }
};

TEST_F(Exclusive, ASecondMemberWaitsWhileOneIsAdmitted) {
  members({"m1", "m2"});
  auto s = one_queue();
  s->submit(Job("m1", "q").cpu(1)).submit(Job("m2", "q").cpu(1));
  EXPECT_EQ(s->run(), Lines("reserved m1", "admitted m1"));
  EXPECT_EQ(s->why("m2"), "Pending: Workload ns/m1 of the same group is admitted already");
  s->after(1).remove("m1");
  EXPECT_EQ(s->run(), Lines("reserved m2", "admitted m2"));
}

TEST_F(Exclusive, OneThatReplacesTheOtherIsAdmittedInTheCommitThatEndsIt) {
  members({"m1", "m2"});
  traits.replaces("m2", "m1", hooks::ReplacedEnds::kDeactivated);
  auto s = one_queue();
  s->submit(Job("m1", "q").cpu(4)).run();
  s->submit(Job("m2", "q").cpu(4));
  EXPECT_EQ(s->run(),
            Lines("evicted m1 Replaced", "deactivated m1 Replaced", "reserved m2", "admitted m2"));
}

TEST_F(Exclusive, AFinishedMemberIsTheEndOfTheGroup) {
  members({"m1", "m2"});
  auto s = one_queue();
  s->submit(Job("m1", "q").cpu(1)).submit(Job("m2", "q").cpu(1)).run();
  s->after(1).finish("m1");
  EXPECT_EQ(s->run(), Lines("finished m1 Succeeded"));
  EXPECT_EQ(s->why("m2"), "Pending: Workload ns/m1 of the same group has finished");
}

TEST_F(Exclusive, OneThatWouldBePlacedNoBetterReplacesNobody) {
  // m2 may be placed on f or g, in this order, 4 of each.
  members({"m1", "m2"});
  traits.replaces("m2", "m1", hooks::ReplacedEnds::kDeactivated).replaces.only_better = true;
  Scenario s(Scenario::single_thread(), hooks);
  s.flavor("f").flavor("g").queue(Queue("q").quota("cpu", {{"f", 4}, {"g", 4}}));
  s.submit(Job("first", "q").cpu(3)).submit(Job("m1", "q").cpu(2)).run();
  s.submit(Job("m2", "q").cpu(2));
  EXPECT_EQ(s.run(), Log());  // f has 1: both would be on g
  EXPECT_EQ(s.why("m2"), "Pending: It would get no better flavor than ns/m1 has");
  s.after(1).finish("first");
  EXPECT_EQ(s.run(), Lines("finished first Succeeded", "evicted m1 Replaced",
                           "deactivated m1 Replaced", "reserved m2", "admitted m2"));
}

TEST_F(Exclusive, OneThatWouldRunFewerPodsReplacesNobody) {
  // m1 runs 4 pods on g; f has room for 3, which m2 would be content with.
  members({"m1", "m2"});
  traits.replaces("m2", "m1", hooks::ReplacedEnds::kDeactivated).replaces.only_better = true;
  Scenario s(Scenario::single_thread(), hooks);
  s.flavor("f").flavor("g").queue(Queue("q").quota("cpu", {{"f", 3}, {"g", 4}}));
  s.submit(Job("m1", "q").cpu(1).count(4)).run();
  s.submit(Job("m2", "q").cpu(1).count(4).min_count(1)).run();
  EXPECT_EQ(s.admitted(), "m1");
}

TEST_F(Exclusive, MembersThatAreHeadsOfTwoQueuesInOneCycleDoNotBothGetIn) {
  members({"m1", "m2"});
  Scenario s(Scenario::single_thread(), hooks);
  s.flavor("f").queue(Queue("q1").quota("cpu", {{"f", 4}}));
  s.queue(Queue("q2").quota("cpu", {{"f", 4}}));
  s.submit(Job("m2", "q2").cpu(1)).submit(Job("m1", "q1").cpu(1)).run();
  EXPECT_EQ(s.admitted(), "m1");
  s.after(1).remove("m1").run();  // wakes m2, though it is in another tree
  EXPECT_EQ(s.admitted(), "m2");
}

TEST_F(Exclusive, AMemberThatOnlyReservesDoesNotBlockTheOthers) {
  members({"m1", "m2"});
  auto s = one_queue(Queue("q").checked_by("check"));
  s->submit(Job("m1", "q").cpu(4)).submit(Job("m2", "q").cpu(3)).run();
  EXPECT_EQ(s->state("m1"), "reserved");
  EXPECT_EQ(s->state("m2"), "reserved");  // together they count as 4
}

}  // namespace
}  // namespace sluice::testing
