// What becomes of a workload, as tables: what is known at each place, and what is done there.
#include "../plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace clusters {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using What = Step::What;
using State = Verdict::State;

constexpr std::uint64_t kNow = 2;  // the present attempt; 1 is an earlier one

Local waiting(const std::string& chosen = {}) {
  Local out;
  out.there = out.wants = true;
  out.attempt = kNow;
  out.chosen = chosen;
  return out;
}

Local running(const std::string& chosen) {
  Local out = waiting(chosen);
  out.ready = true;
  out.job_suspended = false;
  return out;
}

Place place(const std::string& name) {
  Place out;
  out.name = name;
  out.reachable = true;
  return out;
}

Place with_copy(const std::string& name, bool reserved, std::uint64_t attempt = kNow) {
  Place out = place(name);
  out.workload.there = true;
  out.workload.attempt = attempt;
  out.workload.reserved = out.workload.admitted = reserved;
  return out;
}

Place with_job(const std::string& name, std::uint64_t attempt = kNow) {
  Place out = with_copy(name, true, attempt);
  out.job.there = true;
  out.job.attempt = attempt;
  return out;
}

Place lost(Place out, std::int64_t for_ms) {
  out.reachable = false;
  out.lost_for_ms = for_ms;
  return out;
}

Plan plan(const Local& local, const std::vector<Place>& places, Policy policy = {}) {
  policy.lost_timeout_ms = 1000;
  return plan_of(local, places, policy);
}

std::string text(const Plan& plan) {
  constexpr const char* kNames[] = {"+w", "+j", "-w", "-j", "let go", "priority", "size"};
  std::string out;
  for (const Step& step : plan.steps)
    out += step.place + kNames[static_cast<std::size_t>(step.what)] + " ";
  return out;
}

TEST(Dispatching, CopiesGoToAllPlacesThatCanBeReached) {
  Plan p = plan(waiting(), {place("a"), place("b"), lost(place("c"), 5)});
  EXPECT_EQ(text(p), "a+w b+w ");
  ASSERT_TRUE(p.nominate);
  EXPECT_THAT(*p.nominate, ElementsAre("a", "b", "c"));
  EXPECT_EQ(p.verdict->message, "The workload waits for quota at a, b, c");
}

TEST(Dispatching, WhatIsThereIsNotMadeAgain) {
  Local local = waiting();
  local.nominated = {"a", "b"};
  Place under_way = place("b");
  under_way.workload_write.waiting = true;
  const Plan p = plan(local, {with_copy("a", false), under_way});
  EXPECT_THAT(p.steps, IsEmpty());
  EXPECT_FALSE(p.nominate);
}

TEST(Dispatching, ACopyThatIsRefusedIsToldOfAndTriedAgain) {
  Place refused = place("b");
  refused.workload_write = {false, true, 70, 404, "namespaces \"team\" not found"};
  Plan p = plan(waiting(), {with_copy("a", false), refused});
  EXPECT_EQ(text(p), "");
  EXPECT_EQ(p.again_ms, 70);
  refused.workload_write.rests_ms = 0;
  p = plan(waiting(), {with_copy("a", false), refused});
  EXPECT_EQ(text(p), "b+w ");
  EXPECT_EQ(p.verdict->message,
            "The workload cannot be copied to b: namespaces \"team\" not found");
}

TEST(Dispatching, AFewPlacesAtATimeAndMoreWhenTheirRoundIsOver) {
  Policy few;
  few.one_by_one = true;
  few.step = 2;
  few.round_ms = 100;
  const std::vector<Place> all = {place("a"), place("b"), place("c")};
  Local local = waiting();
  Plan p = plan(local, all, few);
  EXPECT_THAT(*p.nominate, ElementsAre("a", "b"));
  EXPECT_EQ(text(p), "a+w b+w ");
  EXPECT_EQ(p.again_ms, 100);

  local.nominated = {"a", "b"};
  local.nominated_for_ms = 60;  // 40 of 100 ms are left
  p = plan(local, {with_copy("a", false), with_copy("b", false), place("c")}, few);
  EXPECT_FALSE(p.nominate);
  EXPECT_EQ(p.again_ms, 40);

  local.nominated_for_ms = 100;
  p = plan(local, {with_copy("a", false), with_copy("b", false), place("c")}, few);
  EXPECT_THAT(*p.nominate, ElementsAre("a", "b", "c"));
  EXPECT_EQ(text(p), "c+w ");
}

TEST(Dispatching, NothingIsMadeBeforeTheOtherChecksAreReady) {
  Local local = waiting();
  local.other_checks = "approval, capacity";
  const char* kWaits =
      "The workload is sent to a cluster when its other checks are Ready: approval, capacity";
  for (const Place& one : {place("a"), with_copy("a", false), with_copy("a", true)}) {
    const Plan p = plan(local, {one, place("b")});
    EXPECT_EQ(text(p), "");
    EXPECT_FALSE(p.choose || p.nominate || p.ask);
    EXPECT_EQ(p.verdict->message, kWaits);
  }
  // The cluster had been chosen before one of them began anew.
  local.chosen = "a";
  const Plan p = plan(local, {with_copy("a", true), place("b")});
  EXPECT_EQ(text(p), "");
  EXPECT_EQ(p.verdict->message, kWaits);
}

Policy asking() {
  Policy out;
  out.asks_first = true;
  out.round_ms = 100;
  return out;
}

TEST(Dispatching, AskingFirstNothingIsMadeBeforeItIsKnownWhere) {
  const std::vector<Place> all = {place("a"), place("b")};
  Local local = waiting();
  Plan p = plan(local, all, asking());
  EXPECT_TRUE(p.ask);
  EXPECT_THAT(p.steps, IsEmpty());
  EXPECT_FALSE(p.nominate);
  EXPECT_EQ(p.verdict->message, "The clusters are asked when they would start the workload");

  local.suggested = {"b"};
  p = plan(local, all, asking());
  EXPECT_FALSE(p.ask);
  EXPECT_THAT(*p.nominate, ElementsAre("b"));
  EXPECT_EQ(text(p), "b+w ");
  EXPECT_EQ(p.again_ms, 100);
}

TEST(Dispatching, WhoWasAskedHasItsTurnForARoundThenTheOthersHave) {
  Local local = waiting();
  local.nominated = {"b"};
  local.nominated_for_ms = 60;  // 40 of 100 ms are left
  Plan p = plan(local, {place("a"), with_copy("b", false)}, asking());
  EXPECT_FALSE(p.nominate);
  EXPECT_EQ(p.again_ms, 40);
  p = plan(local, {place("a"), lost(with_copy("b", false), 5)}, asking());
  EXPECT_THAT(*p.nominate, ElementsAre("a", "b"));  // at once: b cannot be reached
  local.nominated_for_ms = 100;
  p = plan(local, {place("a"), with_copy("b", false)}, asking());
  EXPECT_THAT(*p.nominate, ElementsAre("a", "b"));
  EXPECT_EQ(text(p), "a+w ");
}

TEST(Dispatching, AfterARestartTheCopySaysWhoWasAsked) {
  const Plan p = plan(waiting(), {place("a"), with_copy("b", false)}, asking());
  EXPECT_FALSE(p.ask);
  EXPECT_THAT(*p.nominate, ElementsAre("b"));
  EXPECT_THAT(p.steps, IsEmpty());
}

TEST(Choosing, TheFirstThatReservesKeepsItAndTheOthersGo) {
  const Plan p = plan(waiting(), {with_copy("a", false), with_copy("b", true), place("c")});
  EXPECT_EQ(*p.choose, "b");
  EXPECT_EQ(text(p), "a-w b+j ");
}

TEST(Choosing, OfTwoThatReservedTheOrderOfTheConfigurationDecides) {
  const Plan p = plan(waiting(), {with_copy("a", true), with_copy("b", true)});
  EXPECT_EQ(*p.choose, "a");
  EXPECT_EQ(text(p), "b-w a+j ");
}

TEST(Choosing, MayWaitForAdmission) {
  Policy admitted;
  admitted.wait_for_admission = true;
  Place reserved = with_copy("a", true);
  reserved.workload.admitted = false;
  EXPECT_FALSE(plan(waiting(), {reserved}, admitted).choose);
  EXPECT_EQ(*plan(waiting(), {with_copy("a", true)}, admitted).choose, "a");
}

TEST(Choosing, NothingIsChosenWhileAnEarlierAttemptIsLeftAnywhere) {
  const Plan p = plan(waiting(), {with_copy("a", true), with_copy("b", true, 1)});
  EXPECT_FALSE(p.choose);
  EXPECT_EQ(text(p), "b-w ");
}

TEST(Choosing, AnotherWorkloadOfTheNameIsNotTaken) {
  const Plan p = plan(waiting(), {with_copy("a", true, 0)});
  EXPECT_FALSE(p.choose);
  EXPECT_EQ(text(p), "a-w ");
}

TEST(TheJob, IsMadeAtThePlaceThatWasChosenAndThenTheCheckIsReady) {
  Plan p = plan(waiting("a"), {with_copy("a", true), place("b")});
  EXPECT_EQ(text(p), "a+j ");
  EXPECT_FALSE(p.verdict);
  p = plan(waiting("a"), {with_job("a"), place("b")});
  EXPECT_THAT(p.steps, IsEmpty());
  EXPECT_EQ(*p.verdict, (Verdict{State::kReady, "The workload got reservation on \"a\""}));
}

TEST(TheJob, IsMadeNowhereElseWhileTheChosenPlaceMayComeBack) {
  const Plan p = plan(waiting("a"), {lost(with_copy("a", true), 400), place("b")});
  EXPECT_THAT(p.steps, IsEmpty());
  EXPECT_FALSE(p.verdict);
  EXPECT_EQ(p.again_ms, 600);  // of 1000 ms
}

TEST(TheJob, ThatSomebodyElseHasThereIsWaitedFor) {
  Place taken = with_copy("a", true);
  taken.job_write = {false, true, 0, 409, "jobs.batch \"j\" already exists"};
  const Plan p = plan(waiting("a"), {taken});
  EXPECT_EQ(text(p), "a+j ");
  EXPECT_EQ(p.verdict->state, State::kPending);
  EXPECT_EQ(p.verdict->message, "The job cannot be made at \"a\": jobs.batch \"j\" already exists");
}

// For as long as for a cluster that is lost, 1000 ms here: its quota would be held for ever.
TEST(TheJob, ThatIsRefusedForTooLongIsTriedElsewhereOrLater) {
  Place taken = with_copy("a", true);
  taken.job_write = {false, true, 0, 409, "jobs.batch \"j\" already exists"};
  taken.refused_for_ms = 400;
  EXPECT_EQ(plan(waiting("a"), {taken, place("b")}).again_ms, 600);
  taken.refused_for_ms = 1000;
  const std::string why = "The job cannot be made at \"a\": jobs.batch \"j\" already exists; ";
  Plan p = plan(waiting("a"), {taken, place("b")});
  EXPECT_THAT(p.steps, IsEmpty());
  EXPECT_EQ(*p.verdict, (Verdict{State::kRetry, why + "it is tried elsewhere", 0}));
  Place other = place("b");
  other.nominal = false;
  p = plan(waiting("a"), {taken, other});
  EXPECT_EQ(*p.verdict, (Verdict{State::kRetry, why + "it is tried again later", 1000}));
}

TEST(TheJob, OfAnEarlierAttemptGoesBeforeTheNextIsMade) {
  Place old = with_copy("a", true);
  old.job.there = true;
  old.job.attempt = 1;
  EXPECT_EQ(text(plan(waiting("a"), {old})), "a-j ");
}

TEST(TheJob, ShowsItsStatusWhereItIsStarted) {
  EXPECT_EQ(plan(running("a"), {with_job("a")}).show_status_of, "a");
  Local suspended = running("a");
  suspended.job_suspended = true;
  EXPECT_EQ(plan(suspended, {with_job("a")}).show_status_of, "");
}

TEST(TheEnd, IsThatOfTheCopy) {
  Place ended = with_job("a");
  ended.workload.finished = true;
  EXPECT_FALSE(plan(running("a"), {ended}).finish);  // the job's own last status comes later
  ended.job.ended = true;
  const Plan p = plan(running("a"), {ended});
  EXPECT_TRUE(p.finish);
  EXPECT_EQ(p.show_status_of, "a");
}

TEST(TheEnd, OutOfStepIsNone) {
  Place ended = with_job("a");
  ended.workload.finished = true;
  ended.workload.reason = "OutOfSync";
  EXPECT_EQ(plan(running("a"), {ended}).verdict->state, State::kRetry);
}

struct Loss {
  const char* what;
  Place chosen;
  const char* message;
};

TEST(ARunningJob, IsTriedAgainWhenItsPlaceLosesIt) {
  Place evicted = with_job("a");
  evicted.workload.stopped = true;
  evicted.workload.reserved = false;
  Place without_job = with_copy("a", true);
  const Loss losses[] = {
      {"evicted there", evicted,
       "Workload evicted on worker cluster: \"a\", resetting for re-admission"},
      {"deleted there", place("a"), "Admitting remote no longer exists"},
      {"its job deleted", without_job, "Admitting remote no longer exists"},
      {"lost for too long", lost(with_job("a"), 1000), "Admitting remote lost"},
  };
  for (const Loss& loss : losses) {
    const Plan p = plan(running("a"), {loss.chosen, place("b")});
    ASSERT_TRUE(p.verdict) << loss.what;
    EXPECT_EQ(*p.verdict, (Verdict{State::kRetry, loss.message})) << loss.what;
    EXPECT_THAT(p.steps, IsEmpty()) << loss.what;
  }
}

TEST(ARunningJob, IsKeptForAPlaceThatMayComeBack) {
  const Plan p = plan(running("a"), {lost(with_job("a"), 999), place("b")});
  EXPECT_FALSE(p.verdict);
  EXPECT_EQ(p.again_ms, 1);
}

TEST(Withdrawing, TheJobGoesBeforeTheWorkload) {
  Local ended = waiting("a");
  ended.wants = false;
  EXPECT_EQ(text(plan(ended, {with_job("a"), with_copy("b", false)})), "a-j b-w ");
  EXPECT_EQ(text(plan(ended, {with_copy("a", true)})), "a-w ");
}

TEST(Withdrawing, TheChoiceIsForgottenWhenNothingIsLeftThere) {
  Local evicted = waiting("a");
  evicted.wants = false;
  evicted.job_active = true;
  Plan p = plan(evicted, {with_job("a")});
  EXPECT_FALSE(p.choose);
  EXPECT_FALSE(p.job_is_gone);
  p = plan(evicted, {place("a")});
  EXPECT_EQ(*p.choose, "");
  EXPECT_TRUE(p.job_is_gone);
  p = plan(evicted, {lost(with_job("a"), 400)});
  EXPECT_FALSE(p.choose);
  EXPECT_EQ(p.again_ms, 600);
  p = plan(evicted, {lost(with_job("a"), 1000)});
  EXPECT_EQ(*p.choose, "");
}

TEST(Withdrawing, WhoHasQuotaAgainAlreadyStillShowsThatNothingRuns) {
  Local again = waiting("");  // evicted and reserved in one instant
  again.job_active = true;
  EXPECT_FALSE(plan(again, {with_job("a", 0)}).job_is_gone);
  EXPECT_TRUE(plan(again, {place("a")}).job_is_gone);
}

TEST(Withdrawing, WhatComesBackLateGoes) {
  // "a" was lost for too long, "b" was chosen then; now "a" is there again.
  const Plan p = plan(running("b"), {with_job("a", 1), with_job("b")});
  EXPECT_EQ(text(p), "a-j ");
}

TEST(Withdrawing, OfADeletedWorkloadNothingIsKeptAnywhere) {
  EXPECT_EQ(text(plan(Local(), {with_job("a", 0), with_copy("b", false, 0)})), "a-j b-w ");
}

TEST(Withdrawing, ACopyThatWaitsForItsFinalizerIsLetGo) {
  Place held = with_copy("a", false);
  held.workload.deleting = held.workload.held = true;
  EXPECT_EQ(text(plan(Local(), {held})), "alet go ");
}

TEST(Withdrawing, FromAPlaceThatTheConfigurationDoesNotNameAnyMore) {
  Place former = with_copy("x", true);
  former.nominal = false;
  const Plan p = plan(waiting(), {place("a"), former});
  EXPECT_EQ(text(p), "x-w ");  // and only then "a" is asked
  EXPECT_FALSE(p.choose);
}

TEST(Priority, ChangesAtThePlaceToo) {
  Local local = running("a");
  local.priority = 7;
  EXPECT_EQ(text(plan(local, {with_job("a")})), "apriority ");
}

// ---- a job that changes its size

/// A growth to five pods of a job that runs at `runs_at`.
Local growth(const std::string& runs_at, const std::string& chosen = {}) {
  Local out = waiting(chosen);
  out.elastic = out.growth = out.goes_on = true;
  out.runs_at = runs_at;
  out.size = 5;
  return out;
}

Place with_size(const std::string& name, std::int64_t size, bool grown = false) {
  Place out = with_job(name);
  out.job.size = size;
  out.workload.owner = "j";
  out.grown = grown;
  return out;
}

TEST(Growing, GoesWhereTheJobRunsByTheSizeOfTheJobThere) {
  const Plan p = plan(growth("b"), {place("a"), with_size("b", 3)});
  EXPECT_EQ(*p.choose, "b");
  EXPECT_EQ(text(p), "bsize ");
  EXPECT_EQ(p.verdict->state, State::kPending);
  EXPECT_EQ(p.verdict->message, "The workload waits for quota at b, where its job runs");
}

TEST(Growing, IsReadyWhenItIsAdmittedThere) {
  const Plan p = plan(growth("b", "b"), {place("a"), with_size("b", 5, true)});
  EXPECT_FALSE(p.choose);
  EXPECT_THAT(p.steps, IsEmpty());
  EXPECT_EQ(p.verdict->state, State::kReady);
}

TEST(Growing, WaitsForThePlaceOfTheOneThatItReplaces) {
  Plan p = plan(growth(""), {place("a"), place("b")});
  EXPECT_THAT(p.steps, IsEmpty());
  EXPECT_EQ(p.verdict->message, "The workload waits until the one that it replaces has a cluster");
  p = plan(growth("b", "b"), {place("a"), lost(with_size("b", 3), 5)});
  EXPECT_THAT(p.steps, IsEmpty());
  EXPECT_FALSE(p.verdict);  // what becomes of it there is the other one's affair
}

TEST(Growing, TheOneThatRunsTakesASmallerSizeAlong) {
  Local local = running("b");
  local.elastic = true;
  local.size = 2;
  Plan p = plan(local, {place("a"), with_size("b", 3)});
  EXPECT_EQ(text(p), "bsize ");
  EXPECT_EQ(p.verdict->state, State::kReady);
  Place not_taken = with_size("b", 3);  // the job has to have the size of the copy to take it
  not_taken.workload.owner.clear();
  EXPECT_EQ(text(plan(local, {place("a"), not_taken})), "");
}

TEST(Growing, WhereJobsAreEndedForItItIsRefusedAndTheJobKeepsItsSize) {
  Place stiff = with_size("b", 3);
  stiff.stiff = true;
  Plan p = plan(growth("b"), {place("a"), stiff});
  EXPECT_THAT(p.steps, IsEmpty());
  EXPECT_EQ(p.verdict->state, State::kRejected);
  EXPECT_THAT(p.verdict->message, ::testing::StartsWith("Cluster \"b\" ends jobs that change"));
  // Nor does the one that runs take along the size of a growth that has quota for a moment.
  Local local = running("b");
  local.elastic = true;
  local.own_size = 3;
  local.size = 5;
  EXPECT_EQ(text(plan(local, {place("a"), stiff})), "");
  local.own_size = local.size = 2;  // it starts over in its new size
  EXPECT_EQ(text(plan(local, {place("a"), stiff})), "bsize ");
}

TEST(Growing, BetweenTwoSizesThereNothingIsSaidOfAnEviction) {
  Local local = running("b");
  local.elastic = true;
  Place between = with_size("b", 3);
  between.workload.reserved = between.workload.admitted = false;  // the other one has ended
  Plan p = plan(local, {place("a"), between});
  EXPECT_FALSE(p.verdict);
  EXPECT_THAT(p.steps, IsEmpty());
  between.workload.stopped = true;
  p = plan(local, {place("a"), between});
  EXPECT_EQ(p.verdict->state, State::kRetry);
}

TEST(Growing, ACopyThatWaitsInAnotherSizeIsMadeAnew) {
  Local local = waiting();
  local.elastic = true;
  local.own_size = 1;
  local.size = 4;  // a growth has quota already; the job gets that size when it runs
  local.nominated = {"a", "b"};
  Place stale = with_copy("a", false);
  stale.workload.size = 3;
  Place fresh = with_copy("b", false);
  fresh.workload.size = 1;
  EXPECT_EQ(text(plan(local, {stale, fresh})), "a-w ");
}

TEST(Growing, WhatIsReplacedLeavesTheJobToTheOther) {
  Local replaced;
  replaced.there = replaced.finished = replaced.elastic = replaced.goes_on = true;
  replaced.chosen = "b";
  EXPECT_THAT(plan(replaced, {with_size("b", 5)}).steps, IsEmpty());
  // A growth that lost its quota alone leaves it, too, and looks for its place anew.
  replaced.finished = false;
  const Plan p = plan(replaced, {with_size("b", 5)});
  EXPECT_THAT(p.steps, IsEmpty());
  EXPECT_EQ(*p.choose, "");
  // Copies that no job took while it waited hold up the other one. A job that is under way takes
  // its own.
  Place taken = with_copy("c", true), under_way = with_copy("d", true);
  taken.workload.owner = "j";
  under_way.job_write.waiting = true;
  EXPECT_EQ(text(plan(replaced, {with_copy("a", true), with_size("b", 5), taken, under_way})),
            "a-w ");
  // Nobody's: it goes.
  replaced.goes_on = false;
  EXPECT_EQ(text(plan(replaced, {with_size("b", 5)})), "b-j ");
}

}  // namespace
}  // namespace clusters
