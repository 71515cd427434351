// What a workload says that others stand for, for each thing that can become of them.
#include <gmock/gmock.h>

#include "core/engine/tally.hpp"
#include "tests/core/support/fake_hooks.hpp"
#include "tests/core/support/scenario.hpp"

namespace sluice::testing {
namespace {

/// `w` takes no part; `m1` on flavor f and `m2` on flavor g are its ways to run, 4 cores of each.
struct Represented : ::testing::Test {
  FakeTraits traits;
  hooks::HostHooks hooks;
  FakeFilter filter;
  std::unique_ptr<Scenario> s;

  Represented() {
    hooks.workload_traits = &traits;
    traits.of("w").takes_part = false;
    traits.of("w").takes_no_part_because = "nobody stands for it yet";
    for (const std::string name : {"m1", "m2"})
      traits.member(name, "g", name == "m1" ? 1 : 2, "w").group.represents = true;
  }
  static Queue plain() { return Queue("q").quota("cpu", {{"f", 4}, {"g", 4}}).lower_priority(); }
  Scenario& world(EngineConfig config = Scenario::single_thread(), Queue queue = plain()) {
    s = std::make_unique<Scenario>(std::move(config), hooks);
    s->flavor("f").flavor("g").queue(queue);
    return *s;
  }
  /// With both members, of 3 cores.
  Scenario& both(EngineConfig config = Scenario::single_thread(), Queue queue = plain()) {
    world(std::move(config), std::move(queue));
    for (const char* name : {"w", "m1", "m2"}) s->submit(Job(name, "q").cpu(3));
    s->run();
    return *s;
  }
  api::WorkloadStatus status(const std::string& name = "w") const {
    return s->engine.status(*s->engine.find("ns/" + name));
  }
  /// `True REASON: MESSAGE`
  std::string says(const std::string& type, const std::string& name = "w") const {
    const api::WorkloadStatus now = status(name);
    const api::Condition* c = now.condition(type);
    return c ? c->status + " " + c->reason + ": " + c->message : "(nothing)";
  }
};

TEST_F(Represented, WithoutAnyMemberItSaysWhatIsSaidOfIt) {
  EXPECT_EQ(world().submit(Job("w", "q").cpu(3)).run_told(),
            Lines("pending w OnHold: nobody stands for it yet"));
  EXPECT_EQ(says("QuotaReserved"), "False OnHold: nobody stands for it yet");
}

TEST_F(Represented, WhileNoneIsAdmittedItSaysWhereEachStands) {
  both();
  s->after(1).submit(Job("m1", "q").cpu(3).active(false));
  s->submit(Job("m2", "q").cpu(3).active(false)).run();
  EXPECT_EQ(says("QuotaReserved"),
            "False Pending: None of its ways is admitted: m1 (Deactivated), m2 (Deactivated)");
  s->submit(Job("m2", "q").cpu(30)).run();
  EXPECT_EQ(says("QuotaReserved"),
            "False Pending: None of its ways is admitted: m1 (Deactivated), m2 (Pending)");
}

TEST_F(Represented, IsAdmittedWithTheMemberThatIs) {
  both();
  EXPECT_EQ(s->admitted(), "m1 w");
  EXPECT_EQ(says("QuotaReserved"), "True QuotaReserved: Quota reserved in ClusterQueue q");
  EXPECT_EQ(says("Admitted"), "True Admitted: The way m1 is admitted");
  EXPECT_EQ(s->assigned("w"), "main=1 cpu:f");
  EXPECT_EQ(status().admission->cluster_queue, "q");
}

TEST_F(Represented, HasTheChecksOfTheMemberThatRuns) {
  both(Scenario::single_thread(), plain().checked_by("c"));
  EXPECT_EQ(s->state("m1"), "reserved");
  EXPECT_EQ(s->state("w"), "pending");
  EXPECT_TRUE(status().admission_checks.empty());
  s->answer("m1", "c", "Ready").run();
  EXPECT_EQ(s->state("w"), "admitted");
  EXPECT_EQ(s->checks("w"), "c=Ready");
  api::AdmissionCheckState says = status("m1").admission_checks[0];
  says.state = "Pending";
  ASSERT_TRUE(s->engine.report("ns/m1", says));  // shown, and stored there, too
  EXPECT_THAT(s->run_told(), ::testing::Contains("listed w"));
  EXPECT_EQ(s->checks("w"), "c=Pending");
}

TEST_F(Represented, IsEvictedWithItForItsReason) {
  both();
  s->after(5).submit(Job("high", "q").cpu(4).priority(9));
  s->submit(Job("high2", "q").cpu(4).priority(9));
  s->run();
  EXPECT_EQ(s->admitted(), "high high2");
  EXPECT_EQ(s->state("w"), "pending");
  EXPECT_THAT(says("Evicted"), ::testing::StartsWith("True Preempted: Preempted to accommodate"));
  EXPECT_THAT(says("Preempted"), ::testing::StartsWith("True InClusterQueue: "));
  EXPECT_EQ(says("Admitted"), "False NoReservation: The workload has no reservation");
  EXPECT_FALSE(status().admission);
  ASSERT_EQ(status().evictions.size(), 1U);
  EXPECT_EQ(status().evictions[0].reason, "Preempted");
  s->after(5).finish("high").run();
  EXPECT_EQ(s->state("w"), "admitted");
  EXPECT_THAT(says("Evicted"), ::testing::StartsWith("False QuotaReserved: Previously: Preempted"));
}

TEST_F(Represented, AMoveIsNoEviction) {
  filter.skips = {{"f", "not yet"}};
  hooks.flavor_filter = &filter;
  traits.replaces("m1", "m2", hooks::ReplacedEnds::kDeactivated);
  world();
  s->submit(Job("w", "q").cpu(3)).submit(Job("m2", "q").cpu(3)).run();
  const Time since = status().condition("Admitted")->last_transition_time;
  EXPECT_EQ(s->assigned("w"), "main=1 cpu:g");
  s->after(9).submit(Job("w", "q").cpu(3).ready(true)).run();
  filter.skips.clear();
  s->after(1).submit(Job("m1", "q").cpu(3)).run();
  EXPECT_EQ(s->admitted(), "m1 w");
  EXPECT_EQ(s->assigned("w"), "main=1 cpu:f");
  EXPECT_EQ(says("Admitted"), "True Admitted: The way m1 is admitted");
  EXPECT_EQ(status().condition("Admitted")->last_transition_time, since);
  EXPECT_EQ(says("Evicted"), "(nothing)");
  EXPECT_THAT(says("PodsReady"), ::testing::StartsWith("False WaitForStart"));
  EXPECT_EQ(status().evictions[0].reason, "Replaced");
}

/// It takes part again before what became of its member was told: turned off, it says that it is
/// evicted, whatever is done in which order, and nothing runs without quota.
TEST_F(Represented, WhoTakesPartAgainHoldsNothingOfAMemberThatEnds) {
  enum Step { kOff, kMemberOff, kPart, kMemberGone };
  for (const std::vector<Step>& order :
       std::vector<std::vector<Step>>{{kOff, kMemberOff, kPart, kMemberGone},
                                      {kOff, kPart, kMemberOff, kMemberGone},
                                      {kMemberOff, kOff, kPart, kMemberGone},
                                      {kOff, kMemberOff, kMemberGone, kPart},
                                      {kOff, kMemberGone, kPart},
                                      {kPart, kOff, kMemberGone}}) {
    for (const bool at_once : {true, false}) {
      traits.of("w").takes_part = false;
      both();
      bool active = true;
      for (const Step step : order) {
        if (step == kOff) active = false;
        if (step == kPart) traits.of("w").takes_part = true;
        if (step == kOff || step == kPart) s->submit(Job("w", "q").cpu(3).active(active));
        if (step == kMemberOff) s->submit(Job("m1", "q").cpu(3).active(false));
        if (step == kMemberGone) s->remove("m1");
        if (!at_once) s->run();
      }
      s->remove("m2").run();
      EXPECT_EQ(s->state("w"), "inactive");
      EXPECT_EQ(says("Admitted"), "False NoReservation: The workload has no reservation");
      EXPECT_THAT(says("QuotaReserved"), ::testing::StartsWith("False "));
      EXPECT_THAT(says("Evicted"), ::testing::StartsWith("True "));
      EXPECT_FALSE(status().admission);
    }
  }
}

TEST_F(Represented, AMemberThatIsRemovedIsGone) {
  both();
  s->submit(Job("m2", "q").cpu(3).active(false)).run();
  s->remove("m1").run();
  EXPECT_EQ(s->state("w"), "pending");
  EXPECT_EQ(says("Evicted"), "True WorkloadGone: The way m1 is gone");
  EXPECT_EQ(says("QuotaReserved"), "False Pending: None of its ways is admitted: m2 (Deactivated)");
}

// As when a cluster says that something else is stored than what was decided: both are taken back,
// in either order, and come anew with nothing said of them.
TEST_F(Represented, OneThatComesAnewWasNeverEvicted) {
  for (const bool whole_first : {true, false}) {
    both();
    s->submit(Job("m2", "q").cpu(3).active(false)).run();
    if (!whole_first) s->remove("m1");
    s->remove("w").submit(Job("w", "q").cpu(3));
    if (whole_first) s->remove("m1");
    s->run();
    EXPECT_EQ(s->state("w"), "pending");
    EXPECT_EQ(says("Evicted"), "(nothing)") << whole_first;
    EXPECT_TRUE(status().evictions.empty());
  }
}

TEST_F(Represented, ItsJobsReportsAreThoseOfTheMember) {
  both();
  s->submit(Job("w", "q").cpu(3).ready(true));
  EXPECT_THAT(s->run_told(), ::testing::Contains("listed m1"));  // so that it is stored there, too
  EXPECT_EQ(says("PodsReady", "m1"), says("PodsReady"));
  EXPECT_EQ(says("PodsReady"), "True Started: ");
  s->submit(Job("w", "q").cpu(3).reclaimable(1)).run();  // its only pod: nothing is used any more
  ASSERT_EQ(status("m1").reclaimable_pods.size(), 1U);
  s->submit(Job("x", "q").cpu(4)).run();
  EXPECT_EQ(s->assigned("x"), "main=1 cpu:f");
}

TEST_F(Represented, OfItsJobsReportsTheMemberKeepsTheLast) {
  both();
  s->submit(Job("w", "q").cpu(3).ready(true)).run();
  s->submit(Job("w", "q").cpu(3).ready(false)).run();
  const api::WorkloadStatus& kept = s->engine.object(*s->engine.find("ns/m1"))->status;
  ASSERT_EQ(kept.conditions.size(), 1U);
  EXPECT_EQ(kept.conditions[0].type + " " + kept.conditions[0].status, "PodsReady False");
}

TEST_F(Represented, WhatIsReportedOfTheMemberIsItsOwn) {
  both();
  s->submit(Job("m1", "q").cpu(3).ready(true)).run();
  EXPECT_EQ(says("PodsReady"), "True Started: ");
}

TEST_F(Represented, ItsEndIsTheMembersEnd) {
  both();
  s->after(3).finish("w");
  EXPECT_EQ(s->run(), Lines("finished w Succeeded", "finished m1 Succeeded"));
  EXPECT_EQ(says("Finished", "m1"), "True Succeeded: done");
  EXPECT_EQ(s->assigned("w"), "");
  ASSERT_TRUE(status().admission);  // where it ran stays to be seen
  EXPECT_EQ(status().admission->pod_sets[0].flavors.begin()->second, "f");
  EXPECT_EQ(says("QuotaReserved", "m2").substr(0, 5), "False");
}

TEST_F(Represented, TheMembersEndIsItsEnd) {
  both();
  s->after(3).finish("m1");
  EXPECT_EQ(s->run(), Lines("finished m1 Succeeded", "finished w Succeeded"));
  EXPECT_EQ(says("Finished"), "True Succeeded: The way m1 finished");
  ASSERT_TRUE(status().admission);
  EXPECT_EQ(s->why("m2"), "OnHold: The workload that it represents has ended");
  for (const bool alone : {false, true}) {  // they count as one, whichever is left
    if (alone) s->remove("w").run();
    const auto tally = tally_of(s->engine.model());
    ASSERT_EQ(tally.finished.size(), 1U);
    EXPECT_EQ(tally.finished[0].count, 1U) << alone;
  }
}

TEST_F(Represented, TurnedOffNoneOfItsMembersIsTried) {
  both();
  s->submit(Job("w", "q").cpu(3).active(false));
  s->submit(Job("m1", "q").cpu(3).active(false)).run();
  EXPECT_EQ(s->state("w"), "inactive");
  EXPECT_EQ(s->admitted(), "");
  EXPECT_EQ(s->why("m2"), "OnHold: The workload that it represents is turned off");
  EXPECT_EQ(says("QuotaReserved"), "False Deactivated: The workload is deactivated");
  EXPECT_EQ(says("Evicted"), "True Deactivated: The workload is deactivated");
  s->after(1).submit(Job("w", "q").cpu(3)).run();
  EXPECT_EQ(s->admitted(), "m2 w");
}

TEST_F(Represented, TurnedOffBecauseOfItsMembersItIsEvictedAsTheLastOfThem) {
  both(Scenario::single_thread(), plain().checked_by("c"));
  s->answer("m1", "c", "Rejected").answer("m2", "c", "Rejected").run();
  traits.of("w").inactive_because = "all were rejected";
  s->after(1).submit(Job("w", "q").cpu(3).active(false)).run();
  EXPECT_EQ(says("Evicted"), "True DeactivatedDueToAdmissionCheck: all were rejected");
  EXPECT_EQ(says("QuotaReserved"), "False Deactivated: all were rejected");
}

TEST_F(Represented, TakingPartAgainItHoldsWhatTheMemberHeld) {
  both();
  traits.table.erase("w");
  s->traits_changed("w").remove("m1").remove("m2");
  s->submit(Job("x", "q").cpu(4)).run();
  EXPECT_EQ(s->admitted(), "w x");
  EXPECT_EQ(s->assigned("w"), "main=1 cpu:f");
  EXPECT_EQ(s->assigned("x"), "main=1 cpu:g");
}

TEST_F(Represented, OneThatTakesPartIsNotLookedAtWhenAMemberReports) {
  traits.table.erase("w");
  world(Scenario::single_thread(), plain().strict());
  s->submit(Job("m1", "q").cpu(3)).run();
  s->submit(Job("w", "q").cpu(9)).run();
  ASSERT_EQ(s->admitted(), "m1");
  const std::uint64_t cycles = s->engine.stats().cycles;
  s->submit(Job("m1", "q").cpu(3).ready(true)).run();
  EXPECT_EQ(s->engine.stats().cycles, cycles);
}

TEST_F(Represented, StrangersDoNotSpeakForIt) {
  world();
  Job stranger = Job("m1", "q").cpu(3);
  stranger.object.meta.owners.push_back({"v1", "Job", "other", "uid-other", true, false});
  s->submit(Job("w", "q").cpu(3)).submit(stranger).run();
  EXPECT_EQ(s->admitted(), "m1");
  EXPECT_EQ(says("QuotaReserved"), "False OnHold: nobody stands for it yet");
  s->after(1).submit(Job("high", "q").cpu(4).priority(9));
  s->submit(Job("high2", "q").cpu(4).priority(9)).run();
  EXPECT_EQ(s->admitted(), "high high2");
  EXPECT_EQ(says("Evicted"), "(nothing)");
}

TEST_F(Represented, TurnedOffItIsEvictedAsTheMemberThatWasEvictedLast) {
  // m2 waits all the time; m1 was evicted by high.
  both();
  s->after(1).submit(Job("high", "q").cpu(4).priority(9));
  s->submit(Job("high2", "q").cpu(4).priority(9)).run();
  ASSERT_EQ(says("Evicted", "m2"), "(nothing)");
  traits.of("w").inactive_because = "nobody is left";
  s->after(1).submit(Job("w", "q").cpu(3).active(false)).run();
  EXPECT_EQ(says("Evicted").substr(0, 14), "True Preempted");
}

}  // namespace
}  // namespace sluice::testing
