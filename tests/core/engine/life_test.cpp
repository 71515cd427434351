// A workload's life, and what changes of configuration mean for it (semantics 2 and 7).
#include <gmock/gmock.h>

#include "tests/core/engine/life_support.hpp"
#include "tests/core/support/fake_hooks.hpp"

namespace sluice::testing {
namespace {

TEST(Life, ReservedAdmittedFinished) {
  Scenario s;
  s.flavor("f").queue(plain(4)).submit(Job("a", "q").cpu(1));
  EXPECT_EQ(s.run(), Lines("reserved a", "admitted a"));
  s.after(5).finish("a");
  EXPECT_EQ(s.run(), Lines("finished a Succeeded"));
  EXPECT_FALSE(s.engine.finish("ns/a", "", ""));
}

// After a restart all that is known of it is its status.
TEST(Life, OneThatCameFinishedSaysWhereItRan) {
  Scenario before;
  before.flavor("f").queue(plain(4)).submit(Job("a", "q").cpu(1)).run();
  before.finish("a").run();
  const WorkloadId then = *before.engine.find("ns/a");
  auto stored = std::make_shared<api::Workload>(*before.engine.object(then));
  stored->status = before.engine.status(then);
  Scenario s;
  s.flavor("f").queue(plain(4)).apply(stored);
  s.run();
  const WorkloadId id = *s.engine.find("ns/a");
  ASSERT_EQ(s.state("a"), "finished");
  EXPECT_EQ(milestones_of(s.engine.model(), id).cluster_queue, "q");
}

TEST(Life, OneThatWaitsCanFinishAndWaitsNoMore) {
  Scenario s;
  s.flavor("f").queue(plain(1)).submit(Job("a", "q").cpu(2)).run();
  ASSERT_TRUE(s.engine.finish("ns/a", "OutOfSync", "").ok());
  EXPECT_EQ(s.run(), Lines("finished a OutOfSync"));
  EXPECT_EQ(s.state("a"), "finished");
  EXPECT_FALSE(s.engine.finish("ns/b", "", ""));  // there is none
}

TEST(Life, AQueueWithChecksReservesOnly) {
  Scenario s;
  s.flavor("f").queue(plain(4).checked_by("c")).submit(Job("a", "q").cpu(1));
  EXPECT_EQ(s.run(), Lines("reserved a"));
  EXPECT_EQ(s.state("a"), "reserved");
}

TEST(Life, HoldStopsNewOnesHoldAndDrainEvictsToo) {
  for (const auto policy : {api::StopPolicy::kHold, api::StopPolicy::kHoldAndDrain}) {
    const bool drain = policy == api::StopPolicy::kHoldAndDrain;
    Scenario s;
    s.flavor("f").queue(plain(4)).submit(Job("a", "q").cpu(1)).run();
    s.after(1).queue(plain(4).stop(policy)).submit(Job("b", "q").cpu(1));
    EXPECT_EQ(s.run(), drain ? Lines("evicted a ClusterQueueStopped") : Log());
    EXPECT_EQ(s.why("b"), "Suspended: ClusterQueue q is stopped");
    s.after(1).queue(plain(4)).run();
    EXPECT_EQ(s.admitted(), "a b");
  }
}

TEST(Life, ALocalQueueIsStoppedForItselfAlone) {
  for (const auto policy : {api::StopPolicy::kHold, api::StopPolicy::kHoldAndDrain}) {
    const bool drain = policy == api::StopPolicy::kHoldAndDrain;
    Scenario s;
    s.flavor("f").queue(plain(4)).local_queue("other", "q");
    s.submit(Job("a", "q").cpu(1)).submit(Job("o", "other").cpu(1)).run();
    s.after(1).local_queue("q", "q", policy).submit(Job("b", "q").cpu(1));
    EXPECT_EQ(s.run(), drain ? Lines("evicted a LocalQueueStopped") : Log());
    EXPECT_EQ(s.why("b"), "Suspended: LocalQueue q is stopped");
    s.after(1).local_queue("q", "q").run();
    EXPECT_EQ(s.admitted(), "a b o");
  }
}

TEST(Life, MissingQueuesAndFlavorsAreNamedAndMayComeLater) {
  Scenario s;
  s.submit(Job("a", "q").cpu(1)).run();
  EXPECT_EQ(s.why("a"), "Misconfigured: LocalQueue q doesn't exist");
  s.local_queue("q", "q").run();
  EXPECT_EQ(s.why("a"), "Misconfigured: ClusterQueue q doesn't exist");
  s.queue(plain(4)).run();
  EXPECT_EQ(s.why("a"),
            "Misconfigured: ClusterQueue q is inactive: references missing ResourceFlavor(s): f");
  s.flavor("f").run();
  EXPECT_EQ(s.admitted(), "a");
  // Away again: a running workload goes on, no other comes in.
  s.engine.remove(api::ObjectKind::kResourceFlavor, "f");
  s.submit(Job("b", "q").cpu(1)).run();
  EXPECT_EQ(s.admitted(), "a");
  s.flavor("f").run();
  EXPECT_EQ(s.admitted(), "a b");
}

TEST(Life, AQueueThatIsRemovedIsMissingAgain) {
  Scenario s;
  s.flavor("f").queue(plain(4)).submit(Job("runs", "q").cpu(4)).submit(Job("a", "q").cpu(1)).run();
  s.engine.remove(api::ObjectKind::kClusterQueue, "nobody");
  s.engine.remove(api::ObjectKind::kLocalQueue, "ns/nobody");
  s.engine.remove(api::ObjectKind::kClusterQueue, "q");
  s.run();
  EXPECT_EQ(s.why("a"), "Misconfigured: ClusterQueue q doesn't exist");
  s.engine.remove(api::ObjectKind::kLocalQueue, "ns/q");
  s.run();
  EXPECT_EQ(s.why("a"), "Misconfigured: LocalQueue q doesn't exist");
  EXPECT_EQ(s.admitted(), "runs");
  s.queue(plain(8)).run();
  EXPECT_EQ(s.admitted(), "a runs");
}

TEST(Life, ANamespaceThatIsRemovedHasNoLabelsAnyMore) {
  Scenario s;
  Queue queue = plain(4);
  queue.object.namespace_selector->match_labels.set("team", "a");
  api::LabelMap labels;
  labels.set("team", "a");
  s.flavor("f").queue(queue).space("ns", labels).submit(Job("first", "q").cpu(1)).run();
  EXPECT_EQ(s.admitted(), "first");
  s.engine.remove(api::ObjectKind::kNamespace, "ns");
  s.submit(Job("second", "q").cpu(1)).run();
  EXPECT_EQ(s.admitted(), "first");
}

TEST(Life, ACohortCycleHoldsAllBelowItUntilItIsBroken) {
  Scenario s;
  s.flavor("f").queue(plain(4).cohort("x"));
  s.cohort(CohortOf("x", "y")).cohort(CohortOf("y", "x")).submit(Job("a", "q").cpu(1)).run();
  EXPECT_EQ(s.why("a"),
            "Misconfigured: ClusterQueue q is inactive: its cohort x is part of a cycle");
  s.after(1).cohort(CohortOf("y")).run();
  EXPECT_EQ(s.admitted(), "a");
}

TEST(Life, LoweredQuotaEvictsNobodyAndLeavesLessThanNothing) {
  Scenario s;
  s.flavor("f").queue(plain(4).cohort("c"));
  s.queue(Queue("other").cohort("c").quota("cpu", {{"f", 1}}));
  s.submit(Job("a", "q").cpu(4)).run();
  s.after(1).queue(plain(1).cohort("c"));
  EXPECT_EQ(s.run(), Log());
  s.submit(Job("b", "other").cpu(1)).submit(Job("zero", "other").cpu(0)).run();
  EXPECT_EQ(s.admitted(), "a zero");
  s.after(1).finish("a").run();
  EXPECT_EQ(s.admitted(), "b zero");
}

TEST(Life, AQueueThatMovesTakesItsUsageToTheOtherCohort) {
  Scenario s;
  s.flavor("f").cohort(CohortOf("one").quota("cpu", {{"f", 4}}));
  s.cohort(CohortOf("two").quota("cpu", {{"f", 4}}));
  s.queue(Queue("q").cohort("one").quota("cpu", {{"f", 0}}));
  s.queue(Queue("p").cohort("one").quota("cpu", {{"f", 0}}));
  s.submit(Job("a", "q").cpu(4)).submit(Job("b", "p").cpu(4)).run();
  EXPECT_EQ(s.admitted(), "a");
  s.after(1).queue(Queue("q").cohort("two").quota("cpu", {{"f", 0}})).run();
  s.submit(Job("c", "q").cpu(1)).submit(Job("d", "p").cpu(3)).run();
  EXPECT_EQ(s.admitted(), "a d");  // two is full with a; one has 4 again
  // Only the tree after the change is woken, so b waits until something wakes the one it left.
  s.after(1).finish("d").run();
  EXPECT_EQ(s.admitted(), "a b");
}

TEST(Life, ACohortThatMovesWakesOnlyTheTreeThatItComesTo) {
  Scenario s;
  s.flavor("f").cohort(CohortOf("one").quota("cpu", {{"f", 4}})).cohort(CohortOf("sub", "one"));
  s.queue(Queue("q").cohort("sub").quota("cpu", {{"f", 0}}));
  s.queue(Queue("p").cohort("one").quota("cpu", {{"f", 0}}));
  s.submit(Job("a", "q").cpu(4)).submit(Job("b", "p").cpu(4)).run();
  s.after(1).cohort(CohortOf("sub", "two")).run();
  EXPECT_EQ(s.admitted(), "a");  // one has 4 again, and b waits until something wakes it
  s.after(1).cohort(CohortOf("one").quota("cpu", {{"f", 4}})).run();
  EXPECT_EQ(s.admitted(), "a b");
}

// There is no later end that would wake them: whoever held it is in no queue any more.
TEST(Life, WhatADeletedQueueHeldIsFreeForTheOthersOfItsCohort) {
  Scenario s;
  s.flavor("f").queue(plain(4).cohort("c"));
  s.queue(Queue("guest").cohort("c").quota("cpu", {{"f", 0}}));
  s.submit(Job("a", "guest").cpu(4)).run();
  s.submit(Job("b", "q").cpu(4)).run();
  EXPECT_EQ(s.admitted(), "a");
  s.after(1);
  s.engine.remove(api::ObjectKind::kClusterQueue, "guest");
  s.run();
  EXPECT_EQ(s.admitted(), "a b");
}

// 64 below each other are taken; of a longer chain those furthest down have no parent, and their
// queues are inactive.
TEST(Life, AChainOfCohortsHasAnEnd) {
  Scenario s;
  s.flavor("f").queue(plain(4).cohort("c0"));
  s.queue(Queue("near").cohort("c2000").quota("cpu", {{"f", 1}}));
  for (int n = 0; n < 2'063; ++n)
    s.cohort(CohortOf("c" + std::to_string(n), "c" + std::to_string(n + 1)));
  s.submit(Job("a", "q").cpu(1)).submit(Job("b", "near").cpu(1)).run();
  EXPECT_EQ(s.admitted(), "b");
  EXPECT_EQ(s.why("a"),
            "Misconfigured: ClusterQueue q is inactive: more than 64 cohorts stand above it, from "
            "c0 on");
  s.after(1).cohort(CohortOf("c63")).run();
  EXPECT_EQ(s.admitted(), "a b");
}

TEST(Life, AChangedPriorityReordersAndWakes) {
  Scenario s;
  s.flavor("f").queue(plain(4).lower_priority());
  s.submit(Job("a", "q").cpu(4).priority(5)).submit(Job("b", "q").cpu(4).priority(5)).run();
  EXPECT_EQ(s.admitted(), "a");
  s.after(1).submit(Job("a", "q").cpu(4).priority(1)).run();  // now b may take its place
  EXPECT_EQ(s.admitted(), "b");
}

TEST(Life, AQueueThatIsBeingDeletedAdmitsNobodyAndKeepsWhoRuns) {
  Scenario s;
  s.flavor("f").queue(plain(4)).submit(Job("a", "q").cpu(1)).run();
  Queue leaving = plain(4);
  leaving.object.meta.deletion_time = s.now();
  s.queue(leaving).submit(Job("b", "q").cpu(1)).run();
  EXPECT_EQ(s.admitted(), "a");
  EXPECT_EQ(s.why("b"), "Misconfigured: ClusterQueue q is terminating");
}

TEST(Life, TheConditionRequeuedTellsWhetherAnEvictedOneWaits) {
  Scenario s;
  s.flavor("f").queue(plain(4).lower_priority());
  s.submit(Job("a", "q").cpu(4)).run();
  EXPECT_EQ(requeued(s, "a"), "(absent)");
  s.after(1).submit(Job("high", "q").cpu(4).priority(1)).run();
  EXPECT_EQ(requeued(s, "a"), "True Preempted");
  s.after(1).queue(plain(4).stop(api::StopPolicy::kHoldAndDrain)).run();
  EXPECT_EQ(requeued(s, "high"), "False ClusterQueueStopped");
  s.after(1).queue(plain(4)).run();
  EXPECT_EQ(requeued(s, "high"), "True ClusterQueueRestarted");
  s.after(1).local_queue("q", "q", api::StopPolicy::kHoldAndDrain).run();
  EXPECT_EQ(requeued(s, "high"), "False LocalQueueStopped");
  s.after(1).local_queue("q", "q").run();
  EXPECT_EQ(requeued(s, "high"), "True LocalQueueRestarted");
  s.after(1).submit(Job("high", "q").cpu(4).priority(1).active(false)).run();
  EXPECT_EQ(requeued(s, "high"), "False Deactivated");
  s.after(1).submit(Job("high", "q").cpu(4).priority(1)).run();
  EXPECT_EQ(requeued(s, "high"), "True Reactivated");
}

// It was evicted, and waits until so many seconds from now. Over without a word of that it is told.
TEST(Life, ABackoffThatADumpBringsGoesOnOrEndsNow) {
  const Log starts = Lines("reserved a", "admitted a");
  const Log requeued_first = Lines("requeued a BackoffFinished", "reserved a", "admitted a");
  const struct {
    std::int64_t seconds;
    bool waits;  // as its condition Requeued says
    Log at_once, later;
  } cases[] = {
      {5, true, {}, requeued_first}, {5, false, {}, requeued_first}, {0, true, {}, requeued_first},
      {0, false, starts, {}},        {-5, true, {}, requeued_first}, {-5, false, starts, {}},
  };
  for (const auto& each : cases) {
    Scenario s;
    s.flavor("f").queue(plain(4));
    Job a = Job("a", "q").cpu(1);
    a.object.status.requeue_state = {1, s.now() + each.seconds * kSecond};
    if (each.waits)
      a.object.status.conditions = {{"Requeued", "False", "PodsReadyTimeout", "", 0, 0}};
    EXPECT_EQ(s.submit(a).run(), each.at_once) << each.seconds << each.waits;
    EXPECT_EQ(s.after(5).run(), each.later) << each.seconds << each.waits;
  }
}

TEST(Life, OneRemovedAfterItFinishedInTheSameInstantIsStillNamed) {
  Scenario s;
  s.flavor("f").queue(plain(4)).submit(Job("a", "q").cpu(1)).run();
  s.after(1).finish("a").remove("a");
  EXPECT_EQ(s.run(), Lines("finished a Succeeded"));
}

TEST(Life, ANewOneUnderAnOldNameIsAnother) {
  Scenario s;
  s.flavor("f").queue(plain(4)).submit(Job("a", "q").cpu(4)).run();
  Job again = Job("a", "q").cpu(2);
  again.object.meta.uid = "another";
  s.after(1).submit(again);
  EXPECT_EQ(s.run(), Lines("reserved a", "admitted a"));
  EXPECT_EQ(s.engine.workloads().size(), 1U);
}

constexpr const char* kBehind =
    "PendingEvaluation: Waits behind the head of its StrictFIFO queue: nobody but the head is "
    "looked "
    "at";

// C3: 1 of 4 cpu is free; the head wants 2.
TEST(Life, C3_ThoseBehindTheHeadAreToldOnceWhyTheyWait) {
  Scenario s;
  s.flavor("f").queue(plain(4).strict()).submit(Job("runs", "q").cpu(3)).run();
  s.after(1).submit(Job("head", "q").cpu(2)).submit(Job("b", "q").cpu(1));
  EXPECT_EQ(s.run_told().back(), std::string("pending b ") + kBehind);
  EXPECT_EQ(s.why("b"), kBehind);
  // A workload that comes later gets a decision of its own; the others get none.
  s.after(1).submit(Job("c", "q").cpu(1));
  EXPECT_EQ(s.run_told(), Lines((std::string("pending c ") + kBehind).c_str()));
  // The head changes; for those behind it there is no new decision.
  s.after(1).remove("head");
  EXPECT_EQ(s.run_told(), Lines("reserved b", "admitted b",
                                "pending c WaitingForQuota: couldn't assign flavors to pod set "
                                "main: insufficient unused quota for cpu in flavor f, 1 more "
                                "needed"));
}

TEST(Life, C3_AHeadThatIsOvertakenWaitsBehindTheOther) {
  Scenario s;
  s.flavor("f").queue(plain(4).strict()).submit(Job("runs", "q").cpu(4)).run();
  s.after(1).submit(Job("a", "q").cpu(1)).submit(Job("b", "q").cpu(1)).run();
  EXPECT_THAT(s.why("a"), ::testing::HasSubstr("1 more needed"));
  s.after(1).submit(Job("urgent", "q").cpu(2).priority(1));
  EXPECT_EQ(s.run_told(),
            Lines((std::string("pending a ") + kBehind).c_str(),
                  "pending urgent WaitingForQuota: couldn't assign flavors to pod set main: "
                  "insufficient unused quota for cpu in flavor f, 2 more needed"));
  EXPECT_EQ(s.why("b"), kBehind);
}

// The head of a BestEffortFIFO queue that waits for the pods of others stays the head.
TEST(Life, C3_WhoeverHasNotHadItsTurnSaysSo) {
  EngineConfig config = Scenario::single_thread();
  config.pods_ready_timeout = 60 * kSecond;
  config.block_admission = true;
  Scenario s(config);
  s.flavor("f").queue(plain(4)).submit(Job("runs", "q").cpu(1)).run();
  s.after(1).submit(Job("a", "q").cpu(1)).submit(Job("b", "q").cpu(1)).run();
  EXPECT_THAT(s.why("a"), ::testing::StartsWith("WaitingForPodsReady: "));
  EXPECT_EQ(
      s.why("b"),
      "PendingEvaluation: Waits for its turn: workloads in front of it in the queue are looked "
      "at first");
}

// In the middle of an instant, too: a plugin that reads a status then is told nothing later when
// the reason is the same as before.
TEST(Life, AnEditOfAStoppedQueueLeavesTheReasonThatWasTold) {
  Scenario s;
  s.flavor("f").queue(plain(4).stop(api::StopPolicy::kHold)).submit(Job("a", "q").cpu(1)).run();
  ASSERT_EQ(s.why("a"), "Suspended: ClusterQueue q is stopped");
  s.after(1).queue(plain(8).stop(api::StopPolicy::kHold));
  EXPECT_EQ(s.why("a"), "Suspended: ClusterQueue q is stopped") << "before the next step";
  EXPECT_EQ(s.run_told(), Log());
  EXPECT_EQ(s.why("a"), "Suspended: ClusterQueue q is stopped");
}

// A queue that is stopped, or started again, is another reason to wait for all that wait in it.
TEST(Life, C3_AQueueThatStopsAndGoesOnIsToldToAllThatWaitInIt) {
  for (const bool strict : {true, false}) {
    Queue queue = plain(4);
    if (strict) queue.strict();
    Scenario s;
    s.flavor("f").queue(queue).submit(Job("runs", "q").cpu(4)).run();
    s.after(1).submit(Job("a", "q").cpu(1)).submit(Job("b", "q").cpu(2)).run();
    const std::string before = s.why("b");
    s.after(1).queue(Queue(queue).stop(api::StopPolicy::kHold));
    EXPECT_EQ(s.run_told(), Lines("pending a Suspended: ClusterQueue q is stopped",
                                  "pending b Suspended: ClusterQueue q is stopped"));
    s.after(1).queue(queue);
    EXPECT_THAT(s.run_told(), ::testing::SizeIs(2));
    EXPECT_EQ(s.why("b"), before);
  }
}

// B12: a condition's time is that of the last change of its value, of whatever reason.
TEST(Life, B12_EachReservationAndEachEvictionHasItsOwnTime) {
  Scenario s;
  const auto reserved_since = [&s](const char* name) {
    const api::WorkloadStatus status = s.engine.status(*s.engine.find(key_of(name)));
    const api::Condition* c = status.condition("QuotaReserved");
    return c ? c->status + " " + std::to_string((s.now() - c->last_transition_time) / kSecond) : "";
  };
  s.flavor("f").queue(plain(4).lower_priority()).submit(Job("low", "q").cpu(4)).run();
  s.after(10);
  EXPECT_EQ(reserved_since("low"), "True 10");
  s.submit(Job("high", "q").cpu(4).priority(1)).run();
  s.after(5);
  EXPECT_EQ(reserved_since("low"), "False 5");
  // Another reason to wait is no change of the value.
  s.queue(plain(4).lower_priority().stop(api::StopPolicy::kHold)).run();
  s.after(5);
  EXPECT_EQ(s.why("low"), "Suspended: ClusterQueue q is stopped");
  EXPECT_EQ(reserved_since("low"), "False 10");
  s.queue(plain(4).lower_priority()).finish("high").run();
  s.after(3);
  EXPECT_EQ(reserved_since("low"), "True 3");
}

}  // namespace
}  // namespace sluice::testing
