// Two-stage admission in the engine (KEP-993, mechanisms 4): the transitions of its test plan.
#include <gtest/gtest.h>

#include <functional>

#include "tests/core/support/scenario.hpp"

namespace sluice {
namespace {

using namespace testing;

/// One flavor `f` with 4 CPUs in the queue `q`.
Queue four() { return Queue("q").quota("cpu", {{"f", 4}}); }

TEST(Checks, AreListedFromQueueingOnAndAdmitWhenAllAreReady) {
  Scenario s;
  s.flavor("f").queue(four().checked_by("a").checked_by("b"));
  s.submit(Job("big", "q").cpu(5)).submit(Job("w", "q").cpu(1));
  EXPECT_EQ(s.run(), Lines("reserved w"));
  EXPECT_EQ(s.checks("big"), "a=Pending b=Pending");
  EXPECT_EQ(s.checks("w"), "a=Pending b=Pending");
  EXPECT_EQ(s.answer("w", "a", "Ready").run(), Lines("check w a Ready"));
  EXPECT_EQ(s.state("w"), "reserved");
  EXPECT_EQ(s.answer("w", "b", "Ready").run(), Lines("check w b Ready", "admitted w"));
  EXPECT_EQ(s.condition("w", "Admitted"), "True Admitted: The workload is admitted");
}

TEST(Checks, WithoutAnyTheReservationIsTheAdmission) {
  Scenario s;
  s.flavor("f").queue(four()).submit(Job("w", "q").cpu(1));
  EXPECT_EQ(s.run(), Lines("reserved w", "admitted w"));
}

TEST(Checks, ReadyThatTurnsToPendingHoldsItAgain) {
  Scenario s;
  s.flavor("f").queue(four().checked_by("a").checked_by("b")).submit(Job("w", "q").cpu(1)).run();
  s.answer("w", "a", "Ready").answer("w", "a", "Pending").answer("w", "b", "Ready").run();
  EXPECT_EQ(s.state("w"), "reserved");
  EXPECT_EQ(s.answer("w", "a", "Ready").run(), Lines("check w a Ready", "admitted w"));
  s.answer("w", "a", "Pending").run();  // after admission it is shown, and changes nothing
  EXPECT_EQ(s.state("w"), "admitted");
  EXPECT_EQ(s.checks("w"), "a=Pending b=Ready");
}

// What a check says beside its state is stored, too.
TEST(Checks, AMessageOfTheSameStateIsToldAsAStatus) {
  Scenario s;
  s.flavor("f").queue(four().checked_by("a")).submit(Job("w", "q").cpu(1)).run();
  s.answer("w", "a", "Pending", "in a while").step();
  ASSERT_EQ(s.decisions().size(), 1U);
  EXPECT_EQ(s.decisions()[0].type, DecisionType::kStatus);
  EXPECT_EQ(s.decisions()[0].workload, *s.engine.find("ns/w"));
  s.answer("w", "a", "Pending", "in a while").step();
  EXPECT_EQ(s.decisions().size(), 0U) << "it was said before";
}

// Several are named in the order of their names, each with what it says.
TEST(Checks, ThatEndAWorkloadAreNamed) {
  for (const std::string state : {"Retry", "Rejected"}) {
    Scenario s;
    s.flavor("f").queue(four().checked_by("b").checked_by("c").checked_by("a"));
    s.submit(Job("w", "q").cpu(1)).run();
    const WorkloadId id = *s.engine.find("ns/w");
    auto object = std::make_shared<api::Workload>(*s.engine.object(id));
    object->status = s.engine.status(id);
    for (api::AdmissionCheckState& each : object->status.admission_checks) {
      each.state = each.name == "c" ? "Ready" : state;
      if (each.name == "b") each.message = "no budget";
      each.requeue_after_seconds = 60;
    }
    s.apply(std::move(object));
    s.run();
    const std::string those = "AdmissionChecks in " + state + " state: \"a\"; \"b\" (no budget)";
    EXPECT_EQ(s.condition("w", "Evicted"),
              state == "Retry" ? "True AdmissionCheck: Evicted due to " + those
                               : "True DeactivatedDueToAdmissionCheck: The workload is deactivated "
                                 "due to " +
                                     those);
  }
}

struct Ends : ::testing::TestWithParam<int> {};

TEST_P(Ends, RetryEvictsAndComesBackAfterItsDelay) {
  Scenario s;
  Queue queue = four().checked_by("a");
  if (GetParam() == 2) queue.checked_by("b");
  s.flavor("f").queue(queue).submit(Job("w", "q").cpu(1)).run();
  if (GetParam() == 2) s.answer("w", "b", "Ready");
  s.answer("w", "a", "Retry", "", 60);
  s.run();
  EXPECT_EQ(s.last().back(), "evicted w AdmissionCheck");
  EXPECT_EQ(s.state("w"), "pending");
  EXPECT_EQ(s.checks("w"), GetParam() == 2 ? "a=Pending b=Pending" : "a=Pending");
  EXPECT_EQ(s.condition("w", "Evicted"),
            "True AdmissionCheck: Evicted due to AdmissionCheck in Retry state: \"a\"");
  const auto status = s.engine.status(*s.engine.find("ns/w"));
  EXPECT_EQ(status.admission_checks[0].retry_count, 1);
  EXPECT_EQ(status.admission_checks[0].message,
            "Reset to Pending after eviction. Previously: Retry");
  EXPECT_EQ(s.after(59).run(), Log());
  EXPECT_EQ(s.after(1).run(), Lines("requeued w BackoffFinished", "reserved w"));
}

TEST_P(Ends, OneRejectionIsEnough) {
  Scenario s;
  Queue queue = four().checked_by("a");
  if (GetParam() == 2) queue.checked_by("b");
  s.flavor("f").queue(queue).submit(Job("w", "q").cpu(4)).submit(Job("x", "q").cpu(4)).run();
  if (GetParam() == 2) s.answer("w", "b", "Ready");
  s.answer("w", "a", "Rejected").run();
  EXPECT_EQ(s.state("w"), "inactive");
  EXPECT_EQ(s.state("x"), "reserved");  // its quota is free at once
  EXPECT_EQ(s.checks("w").substr(0, 10), "a=Rejected");
  // Turned on again it begins anew.
  s.remove("x").submit(Job("w", "q").cpu(4)).run();
  EXPECT_EQ(s.state("w"), "reserved");
  EXPECT_EQ(s.checks("w").substr(0, 9), "a=Pending");
}

TEST_P(Ends, AfterAdmissionRetryAndRejectedStopIt) {
  for (const std::string state : {"Retry", "Rejected"}) {
    Scenario s;
    Queue queue = four().checked_by("a");
    if (GetParam() == 2) queue.checked_by("b");
    s.flavor("f").queue(queue).submit(Job("w", "q").cpu(1)).run();
    s.answer("w", "a", "Ready");
    if (GetParam() == 2) s.answer("w", "b", "Ready");
    s.run();
    ASSERT_EQ(s.state("w"), "admitted");
    s.answer("w", "a", state, "", 5).run();
    EXPECT_EQ(s.state("w"), state == "Retry" ? "pending" : "inactive");
  }
}
INSTANTIATE_TEST_SUITE_P(OneAndTwo, Ends, ::testing::Values(1, 2));

TEST(Checks, TwoRetriesWaitForTheLongerDelay) {
  Scenario s;
  s.flavor("f").queue(four().checked_by("a").checked_by("b")).submit(Job("w", "q").cpu(1)).run();
  s.answer("w", "a", "Retry", "", 10).run();
  // The second answer comes after the reservation ended: it is none to the next.
  s.answer("w", "b", "Retry", "", 90).run();
  EXPECT_EQ(s.after(10).run(), Lines("requeued w BackoffFinished", "reserved w"));
}

TEST(Checks, RetryWithoutADelayComesBackAtOnceButNotForEverInOneInstant) {
  Scenario s;
  s.flavor("f").queue(four().checked_by("a")).submit(Job("w", "q").cpu(1)).run();
  EXPECT_EQ(s.answer("w", "a", "Retry").run(),
            Lines("check w a Retry", "evicted w AdmissionCheck", "reserved w"));
  EXPECT_EQ(s.answer("w", "a", "Retry").run(),
            Lines("check w a Retry", "evicted w AdmissionCheck"));
  EXPECT_EQ(s.after(1).run(), Lines("requeued w BackoffFinished", "reserved w"));
}

TEST(Checks, B15_TakingARetryBackEndsItsDelay) {
  Scenario s;
  s.flavor("f").queue(four().checked_by("a")).submit(Job("w", "q").cpu(1)).run();
  s.answer("w", "a", "Retry", "", 60).run();
  ASSERT_EQ(s.state("w"), "pending");
  s.after(5).engine.requeue("ns/w");
  EXPECT_EQ(s.run(), Log());  // another turn is not the end of the delay
  s.after(5).engine.requeue("ns/w", true);
  EXPECT_EQ(s.run(), Lines("requeued w BackoffFinished", "reserved w"));
  EXPECT_EQ(s.after(60).run(), Log());  // the timer of the delay means nothing any more
}

TEST(Checks, WhoIsTurnedOffDuringTheDelayIsNotQueuedWhenItEnds) {
  Scenario s;
  s.flavor("f").queue(four().checked_by("a")).submit(Job("w", "q").cpu(1)).run();
  s.answer("w", "a", "Retry", "", 60).run();
  s.submit(Job("w", "q").cpu(1).active(false)).run();
  EXPECT_EQ(s.after(60).run(), Log());
  EXPECT_EQ(s.state("w"), "inactive");
  EXPECT_EQ(queue_view(s.engine.model(), "q")->counts.pending, 0U);
}

TEST(Checks, B15_AStatusEndsTheDelayOfARetry) {
  struct Case {
    const char* name;
    std::function<void(api::WorkloadStatus&)> change;
    bool ends;
  };
  const Case cases[] = {
      {"as it is", [](api::WorkloadStatus&) {}, false},
      {"taken out", [](api::WorkloadStatus& s) { s.requeue_state.reset(); }, true},
      {"no time", [](api::WorkloadStatus& s) { s.requeue_state->requeue_at.reset(); }, true},
      {"past", [](api::WorkloadStatus& s) { *s.requeue_state->requeue_at -= 50 * kSecond; }, true},
      {"sooner", [](api::WorkloadStatus& s) { *s.requeue_state->requeue_at -= kSecond; }, false},
      {"Requeued",
       [](api::WorkloadStatus& s) {
         for (api::Condition& c : s.conditions)
           if (c.type == "Requeued") c.status = "True";
       },
       true},
      {"a manifest without a status", [](api::WorkloadStatus& s) { s = {}; }, false},
  };
  for (const Case& each : cases) {
    Scenario s;
    s.flavor("f").queue(four().checked_by("a")).submit(Job("w", "q").cpu(1)).run();
    s.answer("w", "a", "Retry", "", 60).run();
    s.after(10);
    const WorkloadId id = *s.engine.find("ns/w");
    auto object = std::make_shared<api::Workload>(*s.engine.object(id));
    object->status = s.engine.status(id);
    each.change(object->status);
    s.engine.apply(std::move(object));
    s.run();
    EXPECT_EQ(s.state("w"), each.ends ? "reserved" : "pending") << each.name;
  }
}

TEST(Checks, EveryEndOfAReservationBeginsAnotherAttempt) {
  Scenario s;
  s.flavor("f").queue(four().checked_by("a")).submit(Job("w", "q").cpu(1)).run();
  const WorkloadId id = *s.engine.find("ns/w");
  EXPECT_EQ(attempt_of(s.engine.model(), id), 1U);
  s.answer("w", "a", "Retry").run();
  EXPECT_EQ(attempt_of(s.engine.model(), id), 2U);
  s.answer("w", "a", "Rejected").run();
  EXPECT_EQ(attempt_of(s.engine.model(), id), 3U);
}

TEST(Checks, PreemptedWhileCheckingLosesTheReservationAndBeginsAnew) {
  Scenario s;
  s.flavor("f").queue(four().lower_priority().checked_by("a"));
  s.submit(Job("low", "q").cpu(4)).run();
  s.answer("low", "a", "Pending");
  s.submit(Job("high", "q").cpu(4).priority(5));
  EXPECT_EQ(s.run(), Lines("evicted low InClusterQueue by high", "reserved high"));
  EXPECT_EQ(s.condition("low", "QuotaReserved").substr(0, 5), "False");
  EXPECT_EQ(s.checks("low"), "a=Pending");
}

TEST(Checks, ThoseOfFlavorsAreListedWhenTheirFlavorIsReserved) {
  Scenario s;
  s.flavor("spot").flavor("reserved");
  s.queue(Queue("q").quota("cpu", {{"reserved", 2}, {"spot", 4}}).checked_by("a", {"spot"}));
  s.submit(Job("w1", "q").cpu(2)).submit(Job("w2", "q").cpu(2)).run();
  EXPECT_EQ(s.state("w1"), "admitted");  // on the flavor without checks
  EXPECT_EQ(s.checks("w1"), "");
  EXPECT_EQ(s.state("w2"), "reserved");
  EXPECT_EQ(s.checks("w2"), "a=Pending");
  s.answer("w2", "a", "Retry", "", 9).run();
  EXPECT_EQ(s.checks("w2"), "a=Pending");  // its retries are counted on
  s.after(9).run();
  EXPECT_EQ(s.engine.status(*s.engine.find("ns/w2")).admission_checks[0].retry_count, 1);
}

// How often a check was retried outlives a restart, also one after which nothing is waited for.
TEST(Checks, RetriesAreCountedOnAfterARestart) {
  Scenario before;
  before.flavor("f").queue(four().checked_by("a")).submit(Job("w", "q").cpu(1)).run();
  before.answer("w", "a", "Retry", "", 60).run();
  const WorkloadId id = *before.engine.find("ns/w");
  auto stored = std::make_shared<api::Workload>(*before.engine.object(id));
  stored->status = before.engine.status(id);
  ASSERT_EQ(stored->status.admission_checks[0].retry_count, 1);
  for (const int later : {30, 90}) {  // while it is to wait, and when that is over
    Scenario after;
    after.after(later).flavor("f").queue(four().checked_by("a"));
    after.apply(std::make_shared<api::Workload>(*stored));
    after.after(0).run();
    EXPECT_EQ(after.state("w"), later < 60 ? "pending" : "reserved");
    const auto status = after.engine.status(*after.engine.find("ns/w"));
    ASSERT_EQ(status.admission_checks.size(), 1U) << later;
    EXPECT_EQ(status.admission_checks[0].retry_count, 1) << later;
  }
}

TEST(Checks, WhatAStartedJobWasGivenStays) {
  Scenario s;
  s.check("a").flavor("f").queue(four().checked_by("a"));
  s.submit(Job("w", "q").cpu(1)).run();
  const auto id = *s.engine.find("ns/w");
  const auto say = [&](const char* state, const char* updates) {
    api::AdmissionCheckState report;
    report.name = "a";
    report.state = state;
    report.pod_set_updates = updates;
    EXPECT_TRUE(s.engine.report("ns/w", report).ok());
    s.run();
    return s.engine.status(id).admission_checks[0].pod_set_updates;
  };
  EXPECT_EQ(say("Ready", "[1]"), "[1]");
  ASSERT_EQ(s.state("w"), "admitted");
  EXPECT_EQ(say("Ready", "[2]"), "[1]");
  EXPECT_EQ(say("Pending", ""), "[1]");  // shown, changes nothing
  EXPECT_EQ(s.checks("w"), "a=Pending");
  EXPECT_EQ(say("Ready", "[3]"), "[1]");
  EXPECT_EQ(s.state("w"), "admitted");
  EXPECT_EQ(say("Retry", ""), "");  // it begins anew
  EXPECT_EQ(say("Ready", "[4]"), "[4]");
}

TEST(Checks, AQueueIsInactiveWhileACheckIsMissingOrInactive) {
  Scenario s;
  s.check("a", false, false).flavor("f").queue(four().checked_by("a"));
  s.submit(Job("w", "q").cpu(1)).run();
  EXPECT_EQ(s.why("w"),
            "Misconfigured: ClusterQueue q is inactive: references inactive AdmissionCheck(s): a");
  EXPECT_EQ(queue_view(s.engine.model(), "q")->reason, "AdmissionCheckInactive");
  EXPECT_EQ(s.check("a").run(), Lines("reserved w"));
  // Away again while it is pending: the reservation stays, and no other workload gets one.
  s.check("a", false, false).answer("w", "a", "Ready").submit(Job("x", "q").cpu(1)).run();
  EXPECT_EQ(s.state("w"), "reserved");
  EXPECT_EQ(s.state("x"), "pending");
  EXPECT_EQ(s.check("a").run(), Lines("admitted w", "reserved x"));
  s.engine.remove(api::ObjectKind::kAdmissionCheck, "a");
  s.run();
  EXPECT_EQ(queue_view(s.engine.model(), "q")->reason, "AdmissionCheckNotFound");
}

TEST(Checks, AQueueNamesAllThatAreMissingElseAllThatAreInactive) {
  Scenario s;
  for (const char* name : {"a", "b", "c", "d"}) s.check(name, false, name < std::string("c"));
  s.flavor("f").queue(four().checked_by("a").checked_by("c").checked_by("b").checked_by("d")).run();
  const auto says = [&s] { return queue_view(s.engine.model(), "q")->message; };
  const std::string inactive = "Can't admit new workloads: references inactive AdmissionCheck(s): ";
  EXPECT_EQ(says(), inactive + "c,d.");
  for (const char* name : {"a", "b"}) s.engine.remove(api::ObjectKind::kAdmissionCheck, name);
  s.run();
  EXPECT_EQ(says(), "Can't admit new workloads: references missing AdmissionCheck(s): a,b.");
  for (const char* name : {"a", "b"}) s.check(name);
  api::AdmissionCheck why;
  why.meta.name = "c";
  why.active = false;
  why.why_inactive = "no controller";
  s.engine.apply(why);
  s.run();
  EXPECT_EQ(says(), inactive + "c (no controller),d.");
}

TEST(Checks, AQueueThatDropsItsChecksAdmitsWhoHasReserved) {
  Scenario s;
  s.flavor("f").queue(four().checked_by("a")).submit(Job("w", "q").cpu(1)).run();
  EXPECT_EQ(s.queue(four()).run(), Lines("admitted w"));
}

// w had a reservation, or was admitted, when the dump was taken.
TEST(Checks, ADumpIsSettledByWhatItsChecksSay) {
  const struct {
    bool was_admitted;
    std::string check;  // its state; empty: none is listed
    Queue queue;
    Log run;
  } cases[] = {
      {false, "", four(), Lines("admitted w")},
      {false, "", four().checked_by("a"), {}},
      {false, "Ready", four().checked_by("a"), Lines("admitted w")},
      {true, "", four(), {}},
      {true, "Ready", four().checked_by("a"), {}},
      {true, "Retry", four().checked_by("a"), Lines("evicted w AdmissionCheck", "reserved w")},
  };
  for (const auto& each : cases) {
    Scenario before;
    before.flavor("f").queue(each.was_admitted ? four() : four().checked_by("a"));
    before.submit(Job("w", "q").cpu(1)).run();
    const WorkloadId id = *before.engine.find("ns/w");
    auto object = std::make_shared<api::Workload>(*before.engine.object(id));
    object->status = before.engine.status(id);
    object->status.admission_checks.clear();
    if (!each.check.empty()) {
      api::AdmissionCheckState& check = object->status.admission_checks.emplace_back();
      check.name = "a";
      check.state = each.check;
    }
    Scenario s;
    s.flavor("f").queue(each.queue).apply(object);
    EXPECT_EQ(s.run(), each.run) << each.was_admitted << each.check;
  }
}

TEST(Checks, AStoppedQueueCancelsReservationsAndLeavesAdmittedOnes) {
  Scenario s;
  s.flavor("f").queue(four().checked_by("a"));
  s.submit(Job("w", "q").cpu(1)).submit(Job("x", "q").cpu(1)).run();
  s.answer("w", "a", "Ready").run();
  s.queue(Queue("other").quota("cpu", {{"f", 4}}).checked_by("a"));
  s.submit(Job("y", "other").cpu(1)).run();
  s.queue(four().checked_by("a").stop(api::StopPolicy::kHold)).run();
  EXPECT_EQ(s.state("w"), "admitted");
  EXPECT_EQ(s.state("x"), "pending");
  EXPECT_EQ(s.state("y"), "reserved") << "its queue goes on";
}

// The delay that a Retry asked for is shown until the next answer; those of others mean nothing.
TEST(Checks, OnlyARetryKeepsItsDelay) {
  Scenario s;
  s.flavor("f").queue(four().checked_by("a").checked_by("b")).submit(Job("w", "q").cpu(1)).run();
  s.answer("w", "b", "Pending", "", 30).answer("w", "a", "Retry", "", 60).run();
  const auto checks = s.engine.status(*s.engine.find("ns/w")).admission_checks;
  EXPECT_EQ(checks[0].requeue_after_seconds, 60);
  EXPECT_EQ(checks[1].requeue_after_seconds, std::nullopt);
}

TEST(Checks, TheTimeOfACheckIsThatOfItsState) {
  Scenario s;
  s.flavor("f").queue(four().checked_by("a").checked_by("b")).submit(Job("w", "q").cpu(1)).run();
  const auto since = [&s] {
    return s.engine.status(*s.engine.find("ns/w")).admission_checks[0].last_transition_time;
  };
  const Time began = s.now();
  s.after(5).answer("w", "a", "Pending", "in a while").run();
  EXPECT_EQ(since(), began);
  s.after(5).answer("w", "a", "Ready").run();
  EXPECT_EQ(since(), began + 10 * kSecond);
}

}  // namespace
}  // namespace sluice
