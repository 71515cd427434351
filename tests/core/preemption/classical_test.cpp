// Which workloads one may preempt, and in which order (semantics 5).
#include <gmock/gmock.h>

#include "tests/core/support/scenario.hpp"

namespace sluice::testing {
namespace {

using api::ReclaimWithinCohort;
using api::WithinClusterQueue;

/// The eviction lines of a run.
TEST(Classical, WithinClusterQueue) {
  struct Case {
    WithinClusterQueue policy;
    std::int32_t priority;  // of the one that runs; the preemptor has 5
    Time created;           // the preemptor at 100
    bool taken;
  };
  for (const Case& c : {Case{WithinClusterQueue::kNever, 0, 1, false},
                        Case{WithinClusterQueue::kLowerPriority, 4, 1, true},
                        Case{WithinClusterQueue::kLowerPriority, 5, 200, false},
                        Case{WithinClusterQueue::kLowerOrNewerEqualPriority, 4, 1, true},
                        Case{WithinClusterQueue::kLowerOrNewerEqualPriority, 5, 200, true},
                        Case{WithinClusterQueue::kLowerOrNewerEqualPriority, 5, 100, false},
                        Case{WithinClusterQueue::kLowerOrNewerEqualPriority, 5, 99, false},
                        Case{WithinClusterQueue::kLowerOrNewerEqualPriority, 6, 200, false}}) {
    Scenario s;
    s.flavor("f").queue(Queue("q").quota("cpu", {{"f", 4}}).within(c.policy));
    s.submit(Job("a", "q").cpu(4).priority(c.priority).created(c.created)).run();
    const Log log = s.submit(Job("p", "q").cpu(4).priority(5).created(100)).run();
    EXPECT_EQ(evictions(log), c.taken ? Lines("evicted a InClusterQueue by p") : Log())
        << static_cast<int>(c.policy) << ' ' << c.priority << ' ' << c.created;
  }
}

/// q of 4 and other of 4 in one cohort; `victim` of 6 runs in other and so borrows 2.
struct Borrowed {
  Scenario s;
  explicit Borrowed(Queue q, std::int32_t victim_priority = 0) {
    s.flavor("f").queue(q.cohort("c").quota("cpu", {{"f", 4}}));
    s.queue(Queue("other").cohort("c").quota("cpu", {{"f", 4}}));
    s.submit(Job("victim", "other").cpu(6).priority(victim_priority)).run();
  }
};

TEST(Classical, ReclaimWithinCohort) {
  struct Case {
    ReclaimWithinCohort policy;
    std::int32_t victim_priority;  // the preemptor has 5
    bool taken;
  };
  for (const Case& c : {Case{ReclaimWithinCohort::kNever, 0, false},
                        Case{ReclaimWithinCohort::kLowerPriority, 4, true},
                        Case{ReclaimWithinCohort::kLowerPriority, 5, false},
                        Case{ReclaimWithinCohort::kAny, 9, true}}) {
    Borrowed b(Queue("q").reclaim(c.policy), c.victim_priority);
    const Log log = b.s.submit(Job("p", "q").cpu(4).priority(5)).run();
    EXPECT_EQ(evictions(log), c.taken ? Lines("evicted victim InCohortReclamation by p") : Log())
        << static_cast<int>(c.policy) << ' ' << c.victim_priority;
  }
}

TEST(Classical, NobodyIsReclaimedFromAQueueWithinItsQuota) {
  Scenario s;
  s.flavor("f").queue(Queue("q").cohort("c").quota("cpu", {{"f", 4}}).reclaim_any());
  s.queue(Queue("other").cohort("c").quota("cpu", {{"f", 4}}));
  s.submit(Job("a", "other").cpu(4)).run();
  EXPECT_EQ(s.submit(Job("p", "q").cpu(6).priority(9)).run(), Log());
}

TEST(Classical, BorrowWithinCohortTakesLowerOnesUpToTheThreshold) {
  // p asks for 6 of q's 4, so it borrows; other runs 6 of its 4.
  for (const auto& [threshold, taken] : {std::pair{2, true}, std::pair{1, false}}) {
    Borrowed b(Queue("q").reclaim_any().threshold(threshold), 2);
    const Log log = b.s.submit(Job("p", "q").cpu(6).priority(5)).run();
    EXPECT_EQ(evictions(log),
              taken ? Lines("evicted victim InCohortReclaimWhileBorrowing by p") : Log())
        << threshold;
  }
}

TEST(Classical, WithoutBorrowWithinCohortABorrowerTakesNobodyElsewhere) {
  Borrowed b(Queue("q").reclaim_any());
  EXPECT_EQ(b.s.submit(Job("p", "q").cpu(6).priority(5)).run(), Log());
}

TEST(Classical, OfWhatItTookItGivesBackWhatItDoesNotNeed) {
  // Candidates by priority: one (1 core), two (2), three (3). 3 are needed: one and two make 3;
  // a request of 2 takes one and two, and gives one back.
  Scenario s;
  s.flavor("f").queue(Queue("q").quota("cpu", {{"f", 6}}).lower_priority());
  s.submit(Job("one", "q").cpu(1).priority(1)).submit(Job("two", "q").cpu(2).priority(2));
  s.submit(Job("three", "q").cpu(3).priority(3)).run();
  EXPECT_EQ(evictions(s.submit(Job("p", "q").cpu(2).priority(9)).run()),
            Lines("evicted two InClusterQueue by p"));
}

TEST(Classical, LowerPriorityThenLaterReservationThenUid) {
  Scenario s;
  s.flavor("f").queue(Queue("q").quota("cpu", {{"f", 3}}).lower_priority());
  s.submit(Job("early", "q").cpu(1)).run();
  s.after(1).submit(Job("late-b", "q").cpu(1)).submit(Job("late-a", "q").cpu(1)).run();
  EXPECT_EQ(evictions(s.after(1).submit(Job("p", "q").cpu(1).priority(1)).run()),
            Lines("evicted late-a InClusterQueue by p"));
}

TEST(Classical, OthersComeBeforeOwnWhenBothAreAllowed) {
  Borrowed b(Queue("q").lower_priority().reclaim_any());
  // 2 are left; own of 2 runs in q, then p of 2 may reclaim or take own: it reclaims.
  b.s.submit(Job("own", "q").cpu(2)).run();
  EXPECT_EQ(evictions(b.s.submit(Job("p", "q").cpu(2).priority(5)).run()),
            Lines("evicted victim InCohortReclamation by p"));
}

TEST(Classical, HierarchicalCandidatesAreTakenWhatEverTheirPriority) {
  // q's cohort `left` holds the request within its own 4, so all of `right` are hierarchical: the
  // one of priority 1 and the one of priority 8 are reclaimed alike, lower priority first.
  Scenario s;
  s.flavor("f").cohort(CohortOf("root")).cohort(CohortOf("left", "root"));
  s.cohort(CohortOf("right", "root"));
  s.queue(Queue("q").cohort("left").quota("cpu", {{"f", 4}}).reclaim_any());
  s.queue(Queue("r").cohort("right").quota("cpu", {{"f", 0}}));
  s.submit(Job("low", "r").cpu(2).priority(1)).submit(Job("high", "r").cpu(2).priority(8)).run();
  EXPECT_EQ(evictions(s.submit(Job("p", "q").cpu(4).priority(5)).run()),
            Lines("evicted low InCohortReclamation by p", "evicted high InCohortReclamation by p"));
}

TEST(Classical, ARequestIsHeldWhereAllOfItIs) {
  // left has the 4 cpus that p asks for, and lent them to low: they are reclaimed. The gpu that p
  // asks for as well is free, but root's: p borrows it, and who borrows takes nobody elsewhere.
  for (const std::int64_t gpus : {0, 1}) {
    Scenario s;
    s.flavor("f").cohort(CohortOf("root").quota("cpu", {{"f", 0}}).with("gpu", {1}));
    s.cohort(CohortOf("left", "root")).cohort(CohortOf("right", "root"));
    s.queue(Queue("q").cohort("left").quota("cpu", {{"f", 4}}).with("gpu", {0}).reclaim_any());
    s.queue(Queue("r").cohort("right").quota("cpu", {{"f", 0}}));
    s.submit(Job("low", "r").cpu(4)).run();
    const Log log = s.submit(Job("p", "q").cpu(4).request("gpu", gpus).priority(5)).run();
    EXPECT_EQ(evictions(log), gpus == 0 ? Lines("evicted low InCohortReclamation by p") : Log());
  }
}

TEST(Classical, InactiveQueuesKeepTheirWorkloads) {
  Borrowed b(Queue("q").reclaim_any());
  b.s.queue(Queue("other").cohort("c").quota("cpu", {{"f", 4}}).stop(api::StopPolicy::kHold));
  EXPECT_EQ(b.s.submit(Job("p", "q").cpu(4)).run(), Log());
}

TEST(Classical, UsesAFlavorEvenWithAmountZero) {
  // zero's request of 0 gpu is assigned the flavor, so it is a candidate; taking it frees nothing,
  // and what is not needed is given back.
  Scenario s;
  s.flavor("f").queue(Queue("q").quota("cpu", {{"f", 4}}).with("gpu", {2}).lower_priority());
  s.submit(Job("zero", "q").cpu(1).request("gpu", 0).priority(0));
  s.submit(Job("gpu", "q").cpu(1).request("gpu", 2).priority(1)).run();
  EXPECT_EQ(evictions(s.submit(Job("p", "q").cpu(1).request("gpu", 2).priority(5)).run()),
            Lines("evicted gpu InClusterQueue by p"));
}

TEST(Classical, OverlappingVictimsLetTheSecondWait) {
  // q1 and q2 both want what victim borrows; q1's comes first, q2's fits without it and waits.
  Scenario s;
  s.flavor("f");
  for (const std::string name : {"q1", "q2"})
    s.queue(Queue(name).cohort("c").quota("cpu", {{"f", 2}}).reclaim_any());
  s.queue(Queue("other").cohort("c").quota("cpu", {{"f", 0}}));
  s.submit(Job("victim", "other").cpu(4)).run();
  s.submit(Job("a", "q1").cpu(2)).submit(Job("b", "q2").cpu(2));
  const Log log = s.run();
  EXPECT_EQ(log, Lines("evicted victim InCohortReclamation by a", "waiting b", "reserved a",
                       "admitted a", "reserved b", "admitted b"));
}

TEST(Classical, ThePreemptionMessageNamesPreemptorReasonAndPaths) {
  Borrowed b(Queue("q").reclaim_any());
  b.s.submit(Job("p", "q").cpu(4).priority(5)).step();
  const auto status = b.s.engine.status(*b.s.engine.find("ns/victim"));
  ASSERT_NE(status.condition("Preempted"), nullptr);
  EXPECT_EQ(status.condition("Preempted")->reason, "InCohortReclamation");
  EXPECT_EQ(status.condition("Preempted")->message,
            "Preempted to accommodate a workload (UID: uid-p, JobUID: UNKNOWN) due to reclamation "
            "within the cohort; preemptor path: /c/q; preemptee path: /c/other");
  EXPECT_EQ(status.condition("Evicted")->reason, "Preempted");
}

TEST(Classical, OneThatMayTakeItsOwnAloneBorrowsRatherThanTakeMore) {
  // q uses 3 of its 4, and p wants 3: 8 in all, 3 of them other's. Without small's 1 there are 3,
  // two of them borrowed; to stay within 4, large's 2 would have to go.
  Scenario s;
  s.flavor("f").queue(Queue("q").cohort("c").quota("cpu", {{"f", 4}}).lower_priority());
  s.queue(Queue("other").cohort("c").quota("cpu", {{"f", 4}}));
  s.submit(Job("large", "q").cpu(2).priority(1)).submit(Job("small", "q").cpu(1));
  s.submit(Job("others", "other").cpu(3)).run();
  EXPECT_EQ(evictions(s.submit(Job("p", "q").cpu(3).priority(5)).run()),
            Lines("evicted small InClusterQueue by p"));
}

TEST(Classical, OfEqualsTheOneWithTheLowerUidIsTaken) {
  // As texts: those that are numbers in another form are not compared with others as numbers.
  const struct {
    const char* a;
    const char* b;
    const char* taken;
  } cases[] = {
      {"10000000-0000-0000-0000-000000000000", "20000000-0000-0000-0000-000000000000", "a"},
      {"10000000-0000-0000-0000-000000000000", "uid", "a"},
      {"uid", "10000000-0000-0000-0000-000000000000", "b"},
      {"uid-2", "uid-1", "b"},
  };
  for (const auto& each : cases) {
    Scenario s;
    s.flavor("f").queue(Queue("q").quota("cpu", {{"f", 2}}).lower_priority());
    Job a = Job("a", "q").cpu(1), b = Job("b", "q").cpu(1);
    a.object.meta.uid = each.a;
    b.object.meta.uid = each.b;
    s.submit(a).submit(b).run();
    EXPECT_EQ(evictions(s.submit(Job("p", "q").cpu(1).priority(5)).run()),
              Lines("evicted " + std::string(each.taken) + " InClusterQueue by p"))
        << each.a << ' ' << each.b;
  }
}

}  // namespace
}  // namespace sluice::testing
