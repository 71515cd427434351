// Two-stage admission in the engine (KEP-993, mechanisms 4): the second look before admission, and
// preemptions that are held until checks are ready.
#include <gtest/gtest.h>

#include "tests/core/support/scenario.hpp"

namespace sluice::testing {
namespace {

/// One flavor `f` with 4 CPUs in the queue `q`.
Queue four() { return Queue("q").quota("cpu", {{"f", 4}}); }

TEST(SecondLook, AQuotaCutEvictsNobodyAndActsWhenAllAreReady) {
  Scenario s;
  s.flavor("f").queue(four().checked_by("a")).submit(Job("w", "q").cpu(3)).run();
  s.queue(Queue("q").quota("cpu", {{"f", 2}}).checked_by("a")).run();
  EXPECT_EQ(s.state("w"), "reserved");
  s.answer("w", "a", "Ready").run();
  EXPECT_EQ(s.last()[1].substr(0, 6), "lost w");
  EXPECT_EQ(s.state("w"), "pending");
  EXPECT_EQ(s.checks("w"), "a=Pending");
  EXPECT_EQ(s.condition("w", "Evicted"), "none");  // nothing ran
  EXPECT_EQ(attempt_of(s.engine.model(), *s.engine.find("ns/w")), 2U);
}

TEST(SecondLook, AnotherFlavorThatWouldBeChosenEndsTheReservation) {
  Scenario s;
  s.flavor("f1").flavor("f2");
  const Queue queue = Queue("q").quota("cpu", {{"f1", 2}, {"f2", 2}}).checked_by("a");
  s.queue(queue).submit(Job("first", "q").cpu(2)).run();
  s.submit(Job("w", "q").cpu(2)).run();
  ASSERT_EQ(s.assigned("w"), "main=1 cpu:f2");
  s.remove("first").run();
  s.answer("w", "a", "Ready").run();
  EXPECT_EQ(s.last(), Lines("check w a Ready",
                            "lost w: Other flavors would be chosen now than those that were "
                            "reserved",
                            "reserved w"));
  EXPECT_EQ(s.assigned("w"), "main=1 cpu:f1");
}

TEST(SecondLook, PreemptsWhereThatIsNeededAndAdmitsInTheSameCommit) {
  // q2 lends 2 to w, then takes them back for its own; w reclaims within its nominal quota.
  Scenario s;
  s.flavor("f");
  s.queue(Queue("q").cohort("c").quota("cpu", {{"f", 4}}).reclaim_any().checked_by("a"));
  s.queue(Queue("q2").cohort("c").quota("cpu", {{"f", 0}}));
  s.submit(Job("w", "q").cpu(4)).run();
  s.cohort(CohortOf("c").quota("cpu", {{"f", 2}}));
  s.submit(Job("x", "q2").cpu(2)).run();
  ASSERT_EQ(s.state("x"), "admitted");
  s.cohort(CohortOf("c")).run();  // now 4 CPUs for 6
  EXPECT_EQ(s.answer("w", "a", "Ready").run(),
            Lines("check w a Ready", "evicted x InCohortReclamation by w", "admitted w"));
}

TEST(SecondLook, RunsBesideTheHeadOfItsQueueAndBeforeIt) {
  Scenario s;
  s.flavor("f").queue(four().checked_by("a")).submit(Job("w", "q").cpu(2)).run();
  s.answer("w", "a", "Ready").submit(Job("x", "q").cpu(2));
  const auto before = s.engine.stats().cycles;
  EXPECT_TRUE(s.step());
  EXPECT_EQ(s.engine.stats().cycles, before + 1);
  EXPECT_EQ(s.state("w"), "admitted");
  EXPECT_EQ(s.state("x"), "reserved");
}

// ---- preemptions that wait for checks

/// `low` runs on all of 4 CPUs; `high` may preempt it, and its check has the policy.
struct Held : ::testing::Test {
  Scenario s;
  Held() { s.check("late", true).flavor("f"); }
  void start(const Queue& queue) {
    s.queue(queue).submit(Job("low", "q").cpu(4)).run();
    s.answer("low", "late", "Ready").run();
    ASSERT_EQ(s.state("low"), "admitted");
  }
};

TEST_F(Held, TheReservationHoldsAndTheVictimRunsOnUntilTheCheckIsReady) {
  start(four().lower_priority().checked_by("late"));
  s.submit(Job("high", "q").cpu(3).priority(5));
  EXPECT_EQ(s.run(), Lines("reserved high"));
  EXPECT_EQ(s.admitted(), "low");
  EXPECT_EQ(planned_victims(s.engine.model(), *s.engine.find("ns/high")), Lines("ns/low"));
  EXPECT_EQ(s.answer("high", "late", "Ready").run(),
            Lines("check high late Ready", "evicted low InClusterQueue by high", "admitted high"));
}

TEST_F(Held, AnotherPriorityLeavesItsPlan) {
  start(four().lower_priority().checked_by("late"));
  s.submit(Job("high", "q").cpu(3).priority(5)).run();
  s.submit(Job("high", "q").cpu(3).priority(6)).run();
  EXPECT_EQ(planned_victims(s.engine.model(), *s.engine.find("ns/high")), Lines("ns/low"));
}

TEST_F(Held, OnlyAsManyReserveAsFitTogether) {
  // low 4 runs; high1 3 + high2 1 fit into 4 without low; high3 1 does not.
  start(four().lower_priority().checked_by("late"));
  s.submit(Job("high1", "q").cpu(3).priority(5)).submit(Job("high2", "q").cpu(1).priority(5));
  s.submit(Job("high3", "q").cpu(1).priority(5)).run();
  EXPECT_EQ(s.state("high1"), "reserved");
  EXPECT_EQ(s.state("high2"), "reserved");
  EXPECT_EQ(s.state("high3"), "pending");
  // high2 is ready first: what it was promised still runs, and goes for it.
  s.answer("high2", "late", "Ready").run();
  EXPECT_EQ(s.admitted(), "low");
  s.answer("high1", "late", "Ready").run();
  EXPECT_EQ(s.admitted(), "high1 high2");
}

TEST_F(Held, WhoStartsAtOnceTakesNothingThatStillRuns) {
  // c has 4 in all: low runs on 4. high 3 holds, 1 is left over; x, without checks, has to wait.
  s.queue(Queue("q").cohort("c").quota("cpu", {{"f", 4}}).lower_priority().checked_by("late"));
  s.queue(Queue("plain").cohort("c").quota("cpu", {{"f", 0}}));
  s.submit(Job("low", "q").cpu(4)).run();
  s.answer("low", "late", "Ready").run();
  s.submit(Job("high", "q").cpu(3).priority(5)).run();
  ASSERT_EQ(s.state("high"), "reserved");
  s.submit(Job("x", "plain").cpu(1)).run();
  EXPECT_EQ(s.state("x"), "pending");
  EXPECT_EQ(s.why("x"),
            "WaitingForPreemptedWorkloads: Workload fits only on capacity that still runs "
            "workloads to be preempted by others");
  s.answer("high", "late", "Ready").run();
  EXPECT_EQ(s.admitted(), "high x");
}

TEST_F(Held, WhoStartsInTheCycleOfItsReservationTakesNothingThatStillRuns) {
  // Of 8 low has 6. high 3 holds, and leaves 5 without low; of x and y only one has the 2 now.
  s.queue(Queue("q").cohort("c").quota("cpu", {{"f", 8}}).lower_priority().checked_by("late"));
  for (const char* queue : {"r", "t"}) s.queue(Queue(queue).cohort("c").quota("cpu", {{"f", 0}}));
  s.submit(Job("low", "q").cpu(6)).run();
  s.answer("low", "late", "Ready").run();
  s.submit(Job("high", "q").cpu(3).priority(5));
  s.submit(Job("x", "r").cpu(2)).submit(Job("y", "t").cpu(2)).step();
  EXPECT_EQ(s.state("high"), "reserved");
  EXPECT_EQ(s.admitted(), "low x");
  s.answer("high", "late", "Ready").run();
  EXPECT_EQ(s.admitted(), "high x y");
}

TEST_F(Held, AllThatFitBesideWhatRunsStartInTheCycleOfItsReservation) {
  // Of 8 low has 5. high 4 holds and does not run yet: beside low there are 3, x's 2 and y's 1.
  s.queue(Queue("q").cohort("c").quota("cpu", {{"f", 8}}).lower_priority().checked_by("late"));
  for (const char* queue : {"r", "t"}) s.queue(Queue(queue).cohort("c").quota("cpu", {{"f", 0}}));
  s.submit(Job("low", "q").cpu(5)).run();
  s.answer("low", "late", "Ready").run();
  s.submit(Job("high", "q").cpu(4).priority(5));
  s.submit(Job("x", "r").cpu(2)).submit(Job("y", "t").cpu(1)).step();
  EXPECT_EQ(s.state("high"), "reserved");
  EXPECT_EQ(s.admitted(), "low x y");
}

TEST_F(Held, B2_WhoIsReadyOnFreeCapacityDoesNotWaitBehindLaterReservations) {
  // 6 CPUs, low runs on 4. h1 2 fits beside it; h2 3 holds low's eviction back: 6 - 2 - 3 = 1 is
  // left, and h3 1, later and lower, has it. What runs beside h1 is low alone: 4 + 2 = 6.
  start(Queue("q").quota("cpu", {{"f", 6}}).lower_priority().checked_by("late"));
  s.submit(Job("h1", "q").cpu(2).priority(5)).run();
  s.submit(Job("h2", "q").cpu(3).priority(5)).run();
  s.submit(Job("h3", "q").cpu(1).priority(4)).run();
  ASSERT_EQ(planned_victims(s.engine.model(), *s.engine.find("ns/h2")), Lines("ns/low"));
  ASSERT_EQ(s.state("h3"), "reserved");
  EXPECT_EQ(s.answer("h1", "late", "Ready").run(), Lines("check h1 late Ready", "admitted h1"));
  // h3 would need 4 + 2 + 1 = 7 while low runs: it waits until h2 lets the preemption go.
  EXPECT_EQ(s.answer("h3", "late", "Ready").run(), Lines("check h3 late Ready"));
  s.answer("h2", "late", "Ready").run();
  EXPECT_EQ(s.admitted(), "h1 h2 h3");
}

TEST_F(Held, B2_ALaterOneStillWaitsBehindAnEarlierReservation) {
  // As above, with h1 the lowest: h3, before it in order, keeps its place while its check is asked.
  start(Queue("q").quota("cpu", {{"f", 6}}).lower_priority().checked_by("late"));
  s.submit(Job("h1", "q").cpu(2).priority(1)).run();
  s.submit(Job("h2", "q").cpu(3).priority(5)).run();
  s.submit(Job("h3", "q").cpu(1).priority(4)).run();
  EXPECT_EQ(s.answer("h1", "late", "Ready").run(), Lines("check h1 late Ready"));
  EXPECT_EQ(s.answer("h3", "late", "Ready").run(), Lines("check h3 late Ready", "admitted h3"));
}

TEST_F(Held, WhenTheHeldOneGoesItsVictimsCountAgain) {
  start(four().lower_priority().checked_by("late"));
  s.submit(Job("high", "q").cpu(3).priority(5)).run();
  s.remove("high").submit(Job("x", "q").cpu(1)).run();
  EXPECT_EQ(s.state("x"), "pending");  // 4 of 4 are used by low
  EXPECT_EQ(s.admitted(), "low");
}

TEST_F(Held, AVictimThatEndsByItselfLeavesNothingToPreempt) {
  start(four().lower_priority().checked_by("late"));
  s.submit(Job("high", "q").cpu(3).priority(5)).run();
  s.finish("low").run();
  EXPECT_TRUE(planned_victims(s.engine.model(), *s.engine.find("ns/high")).empty());
  EXPECT_EQ(s.answer("high", "late", "Ready").run(),
            Lines("check high late Ready", "admitted high"));
}

TEST_F(Held, IsItselfACandidate) {
  start(four().lower_priority().checked_by("late"));
  s.submit(Job("high", "q").cpu(3).priority(5)).run();
  s.submit(Job("higher", "q").cpu(4).priority(9)).run();
  EXPECT_EQ(s.state("higher"), "reserved");
  s.answer("higher", "late", "Ready").run();
  EXPECT_EQ(s.admitted(), "higher");
}

TEST_F(Held, AfterARestartItPlansAsBefore) {
  start(four().lower_priority().checked_by("late"));
  s.submit(Job("high", "q").cpu(3).priority(5)).run();
  Scenario after;
  after.check("late", true).flavor("f").queue(four().lower_priority().checked_by("late"));
  for (const char* key : {"ns/low", "ns/high"}) {
    const WorkloadId id = *s.engine.find(key);
    auto stored = std::make_shared<api::Workload>(*s.engine.object(id));
    stored->status = s.engine.status(id);
    after.apply(std::move(stored));
  }
  after.run();
  EXPECT_EQ(planned_victims(after.engine.model(), *after.engine.find("ns/high")), Lines("ns/low"));
}

TEST(HeldByTwo, PreemptionRequiredOfAnotherCheckLetsThemGo) {
  Scenario s;
  s.check("late", true).flavor("f");
  s.queue(four().lower_priority()).submit(Job("low", "q").cpu(4)).run();
  s.queue(four().lower_priority().checked_by("late").checked_by("other")).run();
  s.submit(Job("high", "q").cpu(4).priority(5)).run();
  EXPECT_EQ(s.admitted(), "low");
  EXPECT_EQ(s.answer("high", "other", "Pending", "PreemptionRequired").run(),
            Lines("evicted low InClusterQueue by high"));
  EXPECT_EQ(s.state("high"), "reserved");
  s.answer("high", "other", "Ready").answer("high", "late", "Ready").run();
  EXPECT_EQ(s.state("high"), "admitted");
}

TEST(HeldByTwo, OnlyTheChecksOfThatPolicyAreWaitedFor) {
  Scenario s;
  s.check("late", true).flavor("f");
  s.queue(four().lower_priority()).submit(Job("low", "q").cpu(4)).run();
  s.queue(four().lower_priority().checked_by("late").checked_by("other")).run();
  s.submit(Job("high", "q").cpu(4).priority(5)).run();
  EXPECT_EQ(s.answer("high", "other", "Ready").run(), Lines("check high other Ready"));
  EXPECT_EQ(s.answer("high", "late", "Ready").run(),
            Lines("check high late Ready", "evicted low InClusterQueue by high", "admitted high"));
}

TEST(HeldByTwo, WithAnytimeEverywhereThePreemptionsComeFirst) {
  Scenario s;
  s.flavor("f").queue(four().lower_priority()).submit(Job("low", "q").cpu(4)).run();
  s.queue(four().lower_priority().checked_by("soon")).run();
  s.submit(Job("high", "q").cpu(4).priority(5));
  EXPECT_EQ(s.run(), Lines("evicted low InClusterQueue by high", "reserved high"));
}

}  // namespace
}  // namespace sluice::testing
