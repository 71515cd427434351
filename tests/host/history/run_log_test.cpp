#include "host/history/run_log.hpp"

#include <gtest/gtest.h>

#include <string>

#include "tests/host/history/past.hpp"

namespace sluice::host::test {
namespace {

struct RunLogs : testing::Test {
  /// As the recorder does: what was told becomes the past.
  void tell(const Story& story, std::int64_t second) {
    log.changed(story.facts, ms(second));
    past.write(log.take());
  }
  void remove(const Story& story, std::int64_t second) {
    log.removed(story.facts, ms(second));
    past.write(log.take());
  }
  const Entry& run(std::int64_t number) const { return past.runs.at({Story().facts.uid, number}); }

  PastInMemory past;
  RunLog log{past};
};

TEST_F(RunLogs, AJobThatRunsIsOneRun) {
  Story job;
  tell(job.reserve(15).admit(16), 17);
  EXPECT_TRUE(run(1).goes_on());
  tell(job.finish(46), 47);
  ASSERT_EQ(past.runs.size(), 1U);
  const Entry& one = run(1);
  EXPECT_EQ(one.name, "job-train-1a2b3");
  EXPECT_EQ(one.job_kind + "/" + one.job, "Job/train");
  EXPECT_EQ(one.user, "ann");
  EXPECT_EQ(one.queue, "main");
  EXPECT_EQ(one.cluster_queue, "cq");
  EXPECT_EQ(one.queued, ms(10));
  EXPECT_EQ(one.reserved, ms(15));
  EXPECT_EQ(one.admitted, ms(16));
  EXPECT_EQ(one.ended, ms(46));
  EXPECT_EQ(one.outcome, Outcome::kFinished);
  ASSERT_EQ(one.holds.size(), 1U);
  EXPECT_EQ(one.holds[0].flavor, "spot");
  EXPECT_EQ(one.holds[0].resource, "cpu");
  EXPECT_EQ(one.holds[0].most, 2'000);
}

TEST_F(RunLogs, ToldTwiceItCountsOnce) {
  Story job;
  tell(job.reserve(15).admit(16), 17);
  tell(job, 18);
  tell(job.finish(46), 47);
  const auto before = past.runs;
  tell(job, 50);
  remove(job, 60);
  remove(job, 61);
  EXPECT_EQ(past.runs, before) << "that a finished workload is deleted is no news";
}

TEST_F(RunLogs, EachStayInTheQueueIsARun) {
  Story job;
  tell(job.reserve(15).admit(16), 17);
  tell(job.evict(20, "Preempted"), 21);
  EXPECT_EQ(run(1).outcome, Outcome::kEvicted);
  EXPECT_EQ(run(1).reason, "Preempted");
  EXPECT_EQ(run(1).ended, ms(20));
  tell(job.condition("Evicted", false, 30).reserve(30).admit(30), 31);
  EXPECT_EQ(run(2).queued, ms(20)) << "it waits again from its eviction on";
  EXPECT_EQ(run(2).reserved, ms(30));
  tell(job.finish(40, "Failed"), 41);
  EXPECT_EQ(run(2).outcome, Outcome::kFailed);
  EXPECT_EQ(past.runs.size(), 2U);
}

TEST_F(RunLogs, AReservationThatIsLostBeforeAdmissionIsNoEviction) {
  Story job;
  tell(job.reserve(15), 16);
  job.facts.status.admission.reset();
  tell(job.condition("QuotaReserved", false, 18), 19);
  EXPECT_EQ(run(1).outcome, Outcome::kLost);
  EXPECT_EQ(run(1).admitted, 0);
}

// Both happened between two looks: the first run ends when the second begins.
TEST_F(RunLogs, ARunThatNobodySawEndEndsWithTheNext) {
  Story job;
  tell(job.reserve(15).admit(16), 17);
  tell(job.condition("Evicted", true, 25, "PodsReadyTimeout").reserve(30).admit(30), 31);
  EXPECT_EQ(run(1).ended, ms(30));
  EXPECT_EQ(run(1).reason, "PodsReadyTimeout");
  EXPECT_TRUE(run(2).goes_on());
}

// 2 pods of 1 cpu from 15 to 25, one from 25 to 45: 2,000 × 10 s + 1,000 × 20 s of milli cpu.
TEST_F(RunLogs, WhatIsGivenBackIsNotHeldAnyMore) {
  Story job;
  tell(job.reserve(15).admit(15), 15);
  tell(job.give_back(1), 25);
  tell(job.finish(45), 46);
  const HeldAmount& cpu = run(1).holds.at(0);
  EXPECT_EQ(cpu.most, 2'000);
  EXPECT_EQ(cpu.now, 1'000);
  EXPECT_EQ(cpu.spent, 2'000 * ms(10));
  EXPECT_EQ(run(1).since, ms(25));
  EXPECT_EQ(past.runs.size(), 1U);
}

TEST_F(RunLogs, WhatIsDeletedWhileItWaitsHasWaited) {
  Story job;
  remove(job, 20);
  EXPECT_EQ(run(1).outcome, Outcome::kDeleted);
  EXPECT_EQ(run(1).queued, ms(10));
  EXPECT_EQ(run(1).reserved, 0);
  EXPECT_EQ(run(1).ended, ms(20));
}

TEST_F(RunLogs, WhatIsDeletedWhileItRunsEndsThen) {
  Story job;
  tell(job.reserve(15).admit(16), 17);
  remove(job, 30);
  EXPECT_EQ(run(1).outcome, Outcome::kDeleted);
  EXPECT_EQ(run(1).ended, ms(30));
}

TEST_F(RunLogs, APartOfAnotherWorkloadLeavesNoRow) {
  Story job;
  job.facts.part = true;
  tell(job.reserve(15).admit(16), 17);
  remove(job.finish(20), 30);
  EXPECT_TRUE(past.runs.empty());
}

// The reason of the end is that of the job only where it says so.
TEST_F(RunLogs, AWorkloadThatAnotherTookOverFromHasNotFailed) {
  for (const auto& [reason, outcome] : {std::pair{"Succeeded", Outcome::kFinished},
                                        {"Failed", Outcome::kFailed},
                                        {"FailedToStart", Outcome::kFailed},
                                        {"OutOfSync", Outcome::kSuperseded},
                                        {"ReplacedByALargerOne", Outcome::kSuperseded}}) {
    past.runs.clear();
    Story job;
    tell(job.reserve(15).admit(16).finish(20, reason), 21);
    EXPECT_EQ(run(1).outcome, outcome) << reason;
    EXPECT_EQ(run(1).reason, reason);
    remove(job, 30);
    EXPECT_EQ(past.runs.size(), 1U) << "it is over";
  }
}

TEST_F(RunLogs, WhatWentWhileNobodyLookedEndsWhenItWasSeenLast) {
  Story job;
  tell(job.reserve(15).admit(16), 17);
  log.lost_sight(job.facts.uid, ms(33));
  past.write(log.take());
  EXPECT_EQ(run(1).ended, ms(33));
  EXPECT_EQ(run(1).outcome, Outcome::kDeleted);
}

// The pod was started in the first run and ended after the second had begun.
TEST_F(RunLogs, WhatAPodUsedBelongsToTheRunThatStartedIt) {
  Story job;
  tell(job.reserve(15).admit(16), 17);
  tell(job.evict(20, "Preempted"), 21);
  tell(job.condition("Evicted", false, 30).reserve(30).admit(30), 31);
  for (const PodUse& use :
       {PodUse{"team-a", "job", ms(17), 3'000'000, 5 << 20},
        PodUse{"team-a", "job", ms(18), 1'000'000, 9 << 20}, PodUse{"team-a", "job", ms(32), 7, 8}})
    log.used(job.facts.uid, use);
  past.write(log.take());
  EXPECT_EQ(run(1).used, (UsedAmount{2, 4'000'000, 9 << 20}));
  EXPECT_EQ(run(2).used, (UsedAmount{1, 7, 8}));
}

}  // namespace
}  // namespace sluice::host::test
