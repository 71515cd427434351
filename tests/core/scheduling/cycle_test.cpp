// One cycle: order of entries, reservations, races; and how queues go on after it (semantics 2, 3).
#include <gmock/gmock.h>

#include "tests/core/support/scenario.hpp"

namespace sluice::testing {
namespace {

TEST(Cycle, LessBorrowingComesFirstThenPriorityThenAge) {
  // 4 are free in the cohort. rich borrows 2 for its 4; poor has 2 of its own.
  Scenario s;
  s.flavor("f");
  s.queue(Queue("rich").cohort("c").quota("cpu", {{"f", 2}}));
  s.queue(Queue("poor").cohort("c").quota("cpu", {{"f", 2}}));
  s.submit(Job("big", "rich").cpu(4).priority(9)).submit(Job("small", "poor").cpu(2)).run();
  EXPECT_EQ(s.admitted(), "small");
}

TEST(Cycle, AmongEqualsInBorrowingPriorityThenCreation) {
  Scenario s;
  s.flavor("f");
  for (const std::string name : {"q1", "q2", "q3"})
    s.queue(Queue(name).cohort("c").quota("cpu", {{"f", 0}}));
  s.cohort(CohortOf("c").quota("cpu", {{"f", 1}}));
  s.submit(Job("old", "q1").cpu(1).created(1)).submit(Job("new", "q2").cpu(1).created(2));
  s.submit(Job("high", "q3").cpu(1).priority(1).created(3));
  EXPECT_EQ(s.run(), Lines("reserved high borrowing", "admitted high"));
  s.after(1).finish("high");
  EXPECT_EQ(s.run(), Lines("finished high Succeeded", "reserved old borrowing", "admitted old"));
}

TEST(Cycle, WhoLostTheRaceSaysSo) {
  Scenario s;
  s.flavor("f").cohort(CohortOf("c").quota("cpu", {{"f", 2}}));
  for (const std::string name : {"q1", "q2"})
    s.queue(Queue(name).cohort("c").quota("cpu", {{"f", 0}}));
  s.submit(Job("a", "q1").cpu(2)).submit(Job("b", "q2").cpu(2));
  EXPECT_TRUE(s.step());
  EXPECT_EQ(s.admitted(), "a");
  EXPECT_EQ(s.why("b"),
            "WaitingForQuota: Workload no longer fits after processing another workload");
}

TEST(Cycle, OneWithoutVictimsReservesUnlessItsQueueCanAlwaysReclaim) {
  // q1's high wants 2 of its 2, but q2's other (never to be preempted by it) uses 3 of the 4; the
  // last core goes to q2's small only if high does not reserve it.
  for (const auto& [policy, admitted] :
       {std::pair{api::ReclaimWithinCohort::kNever, "other"},
        std::pair{api::ReclaimWithinCohort::kLowerPriority, "other"}}) {
    Scenario s;
    s.flavor("f");
    s.queue(Queue("q1").cohort("c").quota("cpu", {{"f", 2}}).reclaim(policy));
    s.queue(Queue("q2").cohort("c").quota("cpu", {{"f", 2}}));
    s.submit(Job("other", "q2").cpu(3).priority(9)).run();
    s.submit(Job("high", "q1").cpu(2).priority(5)).submit(Job("small", "q2").cpu(1));
    s.step();
    EXPECT_EQ(s.admitted(), admitted) << static_cast<int>(policy);
  }
}

TEST(Cycle, OneWithoutVictimsReservesNoMoreThanItsQueueMayBorrow) {
  // 3 are left of q1's 2 and q2's 5. high asks for 4 in q1, where own uses 2: q1 may still borrow 2
  // with that limit, so that 1 is left for small, which comes after it.
  for (const bool limited : {true, false}) {
    Scenario s;
    Queue q1 = Queue("q1").cohort("c").quota("cpu", {{"f", 2}});
    if (limited) q1.borrowing_limit(2);
    s.flavor("f").queue(
        q1.reclaim(api::ReclaimWithinCohort::kLowerPriority).borrow_within_cohort());
    s.queue(Queue("q2").cohort("c").quota("cpu", {{"f", 5}}));
    s.queue(Queue("q3").cohort("c").quota("cpu", {{"f", 0}}));
    s.submit(Job("own", "q1").cpu(2)).submit(Job("other", "q2").cpu(2)).run();
    s.submit(Job("high", "q1").cpu(4).priority(5)).submit(Job("small", "q3").cpu(1));
    s.step();
    EXPECT_EQ(s.admitted(), limited ? "other own small" : "other own");
  }
}

TEST(Cycle, AStrictHeadBlocksItsQueueABestEffortHeadIsParked) {
  for (const bool strict : {true, false}) {
    Scenario s;
    Queue q("q");
    if (strict) q.strict();
    s.flavor("f").queue(q.quota("cpu", {{"f", 4}}));
    s.submit(Job("run", "q").cpu(2)).run();
    s.submit(Job("head", "q").cpu(3)).submit(Job("next", "q").cpu(1)).run();
    EXPECT_EQ(s.admitted(), strict ? "run" : "next run");
  }
}

TEST(Cycle, EqualsAreParkedWithoutALook) {
  Scenario s;
  s.flavor("f").queue(Queue("q").quota("cpu", {{"f", 1}}));
  s.submit(Job("run", "q").cpu(1)).run();
  for (int i = 0; i < 50; ++i) s.submit(Job("w" + std::to_string(i), "q").cpu(1));
  const auto before = s.engine.stats().cycles;
  s.run();
  EXPECT_EQ(s.engine.stats().cycles - before, 1U);
  EXPECT_EQ(s.why("w49"), s.why("w0"));
  EXPECT_FALSE(s.why("w49").empty());
}

TEST(Cycle, AReasonIsToldOncePerChangeInKind) {
  Scenario s;
  s.flavor("f").queue(Queue("q").quota("cpu", {{"f", 4}}));
  s.submit(Job("r1", "q").cpu(2)).submit(Job("r2", "q").cpu(1)).submit(Job("a", "q").cpu(4));
  EXPECT_EQ(s.run_told().back(),
            "pending a WaitingForQuota: couldn't assign flavors to pod set main: insufficient "
            "unused quota for cpu in flavor f, 3 more needed");
  // 2 more needed is the same kind: not told. Above the maximum is another.
  s.after(1).finish("r2");
  EXPECT_EQ(s.run_told(), Lines("finished r2 Succeeded"));
  s.after(1).queue(Queue("q").quota("cpu", {{"f", 3}}));
  EXPECT_THAT(s.run_told(), ::testing::ElementsAre(::testing::StartsWith("pending a ExceedsMax")));
}

TEST(Cycle, TheNamespaceSelectorParksThoseOfOtherNamespaces) {
  Scenario s;
  Queue q("q");
  q.object.namespace_selector->match_labels.set("team", "a");
  s.flavor("f").queue(q.strict().quota("cpu", {{"f", 4}}));
  s.submit(Job("a", "q").cpu(1)).submit(Job("b", "q").cpu(1));
  EXPECT_EQ(s.run(), Log());
  EXPECT_EQ(s.why("a"), "Misconfigured: Workload namespace doesn't match ClusterQueue selector");
  api::LabelMap labels;
  labels.set("team", "a");
  s.after(1).space("ns", labels).run();
  EXPECT_EQ(s.admitted(), "a b");
}

TEST(Cycle, InvalidLimitsParkABestEffortHeadAndBlockAStrictOne) {
  for (const bool strict : {true, false}) {
    Scenario s;
    Queue q("q");
    if (strict) q.strict();
    s.flavor("f").queue(q.quota("cpu", {{"f", 4}}));
    s.submit(Job("bad", "q").cpu(1).invalid_limits("requests exceed limits").priority(1));
    s.submit(Job("good", "q").cpu(1)).run();
    EXPECT_EQ(s.admitted(), strict ? "" : "good");
    EXPECT_EQ(s.why("bad"), "Misconfigured: requests exceed limits");
  }
}

TEST(Cycle, ThePreemptorKeepsItsPlaceUntilItIsAdmitted) {
  // p preempts; what it frees goes to it, though x of higher priority arrives meanwhile.
  Scenario s;
  s.flavor("f").queue(Queue("q").quota("cpu", {{"f", 4}}).lower_priority());
  s.submit(Job("low", "q").cpu(4)).run();
  s.submit(Job("p", "q").cpu(4).priority(1));
  EXPECT_TRUE(s.step());
  s.submit(Job("x", "q").cpu(3).priority(1).created(1));
  EXPECT_TRUE(s.step());
  EXPECT_EQ(s.admitted(), "p");
}

TEST(Cycle, ANewWorkloadWakesNobody) {
  Scenario s;
  s.flavor("f").queue(Queue("q").quota("cpu", {{"f", 4}}));
  s.submit(Job("run", "q").cpu(2)).run();
  s.submit(Job("parked", "q").cpu(3)).run();
  const auto before = s.engine.stats().cycles;
  s.submit(Job("new", "q").cpu(1)).run();
  EXPECT_EQ(s.engine.stats().cycles - before, 1U);  // new alone
}

TEST(Cycle, ADeletedPendingWorkloadWakesTheTree) {
  // blocker reserves the last core each cycle; without it small gets it.
  Scenario s;
  s.flavor("f");
  s.queue(Queue("q1").cohort("c").quota("cpu", {{"f", 2}}));
  s.queue(Queue("q2").cohort("c").quota("cpu", {{"f", 2}}));
  s.submit(Job("run", "q2").cpu(3)).run();
  s.submit(Job("blocker", "q1").cpu(2).priority(5)).submit(Job("small", "q2").cpu(1)).run();
  s.after(1).remove("blocker").run();
  EXPECT_EQ(s.admitted(), "run small");
}

TEST(Cycle, AfterAPreemptionTheWalkOverTheFlavorsBeginsAnew) {
  // w would borrow f, which rival gets in that cycle; so it goes on with g, its own, and takes it
  // back from low. When it looks again, rival has gone, and f is first.
  Scenario s;
  s.flavor("f").flavor("g").cohort(CohortOf("c").quota("cpu", {{"f", 2}}));
  s.queue(Queue("q").cohort("c").quota("cpu", {{"f", 0}, {"g", 2}}).reclaim_any());
  s.queue(Queue("r").cohort("c").quota("cpu", {{"f", 0}}));
  s.queue(Queue("other").cohort("c").quota("cpu", {{"g", 0}}));
  s.submit(Job("low", "other").cpu(2)).run();
  s.submit(Job("w", "q").cpu(2)).submit(Job("rival", "r").cpu(2).priority(9)).step();
  ASSERT_EQ(s.admitted(), "low rival");
  s.step();
  ASSERT_EQ(s.admitted(), "rival");
  s.finish("rival").step();
  EXPECT_EQ(s.assigned("w"), "main=1 cpu:f");
}

}  // namespace
}  // namespace sluice::testing
