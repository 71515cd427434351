// Workloads that come with a status: where they start out.
#include <limits>

#include "tests/core/support/scenario.hpp"

namespace sluice::testing {
namespace {

Job admitted(const std::string& name, std::int64_t cpu) {
  return Job(name, "q").cpu(cpu).admitted_on("f");
}

Job being_evicted(const std::string& name, std::int64_t cpu) {
  Job job = admitted(name, cpu);
  job.object.status.conditions.push_back({"Evicted", "True", "Preempted", "an earlier one", 0, 0});
  return job;
}

TEST(Dump, AnAdmittedWorkloadHoldsItsQuotaFromTheStart) {
  Scenario s;
  s.flavor("f").queue(Queue("q").quota("cpu", {{"f", 4}}));
  s.submit(admitted("old", 3)).submit(Job("new", "q").cpu(2));  // 3 + 2 > 4
  EXPECT_EQ(s.run(), Log());
  EXPECT_EQ(s.admitted(), "old");
}

// Its status may say anything that can be written down.
TEST(Dump, ABackoffWithoutEndAndTheHighestCount) {
  Scenario s;
  s.flavor("f").queue(Queue("q").quota("cpu", {{"f", 4}}));
  Job waits("waits", "q");
  waits.cpu(1).object.status.requeue_state = {std::numeric_limits<std::int32_t>::max(), kNever};
  s.submit(waits);
  EXPECT_EQ(s.run(), Log());
  EXPECT_EQ(s.state("waits"), "pending");
}

// An earlier host may have let it run so.
TEST(Dump, NothingIsAdmittedWithoutAReservation) {
  Scenario s;
  s.flavor("f").queue(Queue("q").quota("cpu", {{"f", 4}}));
  Job job("w", "q");
  job.cpu(5).object.status.conditions = {{"QuotaReserved", "False", "Deactivated", "", 0, 0},
                                         {"Admitted", "True", "Admitted", "", 0, 0},
                                         {"PodsReady", "True", "Started", "", 0, 0}};
  s.submit(job).run();
  EXPECT_EQ(s.state("w"), "pending");
  const api::WorkloadStatus now = s.engine.status(*s.engine.find("ns/w"));
  EXPECT_EQ(now.condition("Admitted")->status, "False");
  EXPECT_EQ(now.condition("Admitted")->reason, "NoReservation");
  EXPECT_EQ(now.condition("PodsReady")->reason, "WaitForStart");
}

// Kueue, and whoever writes as it does, says both in one write.
TEST(Dump, PodsOfWhatHoldsNothingAreNotReady) {
  Scenario s;
  s.flavor("f").queue(Queue("q").quota("cpu", {{"f", 4}}));
  Job job("w", "q");
  job.cpu(5).object.status.conditions = {{"QuotaReserved", "False", "Pending", "", 0, 0},
                                         {"Admitted", "False", "NoReservation", "", 0, 0},
                                         {"PodsReady", "False", "WaitForRecovery", "", 0, 0}};
  s.submit(job).run();
  const api::WorkloadStatus now = s.engine.status(*s.engine.find("ns/w"));
  EXPECT_EQ(now.condition("PodsReady")->reason, "WaitForStart");
}

// What others wrote may repeat a type; it is one condition, as the last of them says.
TEST(Dump, AConditionThatComesTwiceKeepsItsOwnTime) {
  Scenario s;
  s.flavor("f").queue(Queue("q").quota("cpu", {{"f", 4}}));
  Job job("w", "q");
  job.cpu(5).object.status.conditions = {{"Requeued", "True", "First", "", 1 * kSecond, 1},
                                         {"PodsReady", "False", "WaitForStart", "", 2 * kSecond, 2},
                                         {"Requeued", "True", "Second", "", 3 * kSecond, 3}};
  s.submit(job).run();
  const api::WorkloadStatus now = s.engine.status(*s.engine.find("ns/w"));
  const api::Condition* requeued = now.condition("Requeued");
  EXPECT_EQ(requeued->reason, "Second");
  EXPECT_EQ(requeued->last_transition_time, 3 * kSecond);
  EXPECT_EQ(requeued->observed_generation, 3);
  EXPECT_EQ(now.condition("PodsReady")->last_transition_time, 2 * kSecond);
  EXPECT_EQ(now.condition("PodsReady")->observed_generation, 2);
}

TEST(Dump, AnEvictionInProgressEndsAfterTheFirstCycle) {
  Scenario s;
  s.flavor("f").queue(Queue("q").quota("cpu", {{"f", 4}}));
  // 3 are held in the first cycle, so the 4 have to wait; then they are free. The evicted one would
  // fit again, but has the lower priority.
  s.submit(being_evicted("old", 3)).submit(Job("new", "q").cpu(4).priority(1));
  EXPECT_EQ(s.run(), Lines("reserved new", "admitted new"));
  EXPECT_EQ(s.state("old"), "pending");
}

TEST(Dump, AnEvictionInProgressEndsWithoutAnyHeadToo) {
  Scenario s;
  s.flavor("f").queue(Queue("q").quota("cpu", {{"f", 4}}));
  s.submit(being_evicted("old", 3));
  EXPECT_EQ(s.run(), Lines("reserved old", "admitted old"));
}

TEST(Dump, WhoIsBeingEvictedIsTheFirstCandidate) {
  Scenario s;
  s.flavor("f").queue(Queue("q").quota("cpu", {{"f", 4}}).lower_priority());
  // 2 + 2 = 4 are held; the 2 that are needed come from the one that goes anyway, though the other
  // has the lower UID.
  s.submit(admitted("a-stays", 2).priority(1)).submit(being_evicted("z-goes", 2).priority(1));
  s.submit(Job("new", "q").cpu(2).priority(9));
  EXPECT_EQ(s.run(), Lines("evicted z-goes InClusterQueue by new", "reserved new", "admitted new"));
  EXPECT_EQ(s.admitted(), "a-stays new");
}

// A status says of w of 2 that it lacks `lacks`; in truth it lacks 2.
TEST(Dump, WhatAStatusSaysAlreadyIsNotToldAgain) {
  const std::string needs =
      "couldn't assign flavors to pod set main: insufficient unused quota for cpu in flavor f, ";
  for (const char* lacks : {"2", "1"}) {
    Scenario s;
    s.flavor("f").queue(Queue("q").quota("cpu", {{"f", 4}}));
    s.submit(admitted("old", 4));
    Job w = Job("w", "q").cpu(2);
    w.object.status.conditions = {
        {"QuotaReserved", "False", "WaitingForQuota", needs + lacks + " more needed", 0, 0}};
    s.submit(w).engine.take_statuses_as_told();
    const std::string now = "pending w WaitingForQuota: " + needs + "2 more needed";
    EXPECT_EQ(s.run_told(), *lacks == '2' ? Log() : Lines(now));
    // What was told in between is what counts from then on.
    s.after(1).queue(Queue("q").quota("cpu", {{"f", 1}})).run();
    s.after(1).queue(Queue("q").quota("cpu", {{"f", 4}}));
    EXPECT_EQ(s.run_told(), Lines(now));
  }
}

}  // namespace
}  // namespace sluice::testing
