// In which order what a Machine decided is written to a cluster.
#include "host/outbox/outbox.hpp"

#include <gmock/gmock.h>

#include "outbox_fixture.hpp"

namespace sluice::host {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

struct OutboxTest : OutboxFixture, ::testing::Test {};

TEST_F(OutboxTest, AnEditIsSentAgainstTheVersionThatWasKnown) {
  edit(workload("w"), workload("w", "cq"), 41);
  EXPECT_THAT(due(), ElementsAre("PATCH w/status"));
  EXPECT_THAT(bodies["w"], HasSubstr(R"("uid":"uid-w","resourceVersion":"41")"));
  EXPECT_THAT(due(), IsEmpty());  // it is under way
  stored("w", 42);
  EXPECT_EQ(outbox.size(), 0U);
}

// It is another writer's, who would keep it; and the admission is to be owned as Kueue's are.
TEST_F(OutboxTest, WhatGoesOfAStatusGoesBeforeAnAdmissionIsApplied) {
  const auto with = [this](const char* status) { return object("Workload", "w", "", status); };
  const auto admitted = with(R"({"requeueState":{"count":1},"admission":{"clusterQueue":"cq"},)"
                             R"("conditions":[{"type":"QuotaReserved","status":"True"}]})");
  edit(with(R"({"requeueState":{"count":1,"requeueAt":"2026-01-01T00:00:00Z"}})"), admitted);
  EXPECT_THAT(due(), ElementsAre("PATCH w/status"));
  EXPECT_THAT(bodies["w"], HasSubstr(R"("status":{"requeueState":{"requeueAt":null}})"));
  targets["ns/w"] = with(R"({"requeueState":{"count":1}})");
  stored("w", 2);
  EXPECT_THAT(due(), ElementsAre("PATCH w/status"));
  EXPECT_THAT(bodies["w"], HasSubstr(R"("admission":{"clusterQueue":"cq"})"));
  targets["ns/w"] = admitted;
  stored("w", 3);
  EXPECT_EQ(outbox.size(), 0U);
}

TEST_F(OutboxTest, AJobIsLetGoOnlyAfterTheAdmissionIsStored) {
  edit(workload("w", "", "job"), workload("w", "cq", "job"));
  edit(job("j", true, "job"), job("j", false, "job"));
  EXPECT_THAT(due(), ElementsAre("PATCH w/status"));
  stored("w", 2);
  EXPECT_THAT(due(), ElementsAre("PATCH j"));
}

TEST_F(OutboxTest, ChainsDoNotWaitForEachOther) {
  edit(workload("a"), workload("a", "cq"));
  edit(workload("b"), workload("b", "cq"));
  EXPECT_THAT(due(), UnorderedElementsAre("PATCH a/status", "PATCH b/status"));
}

TEST_F(OutboxTest, QuotaIsGivenAwayOnlyAfterTheEndOfWhoHeldItIsStored) {
  edit(workload("old", "cq"), workload("old"));
  edit(workload("new"), workload("new", "cq"));
  EXPECT_THAT(due(), ElementsAre("PATCH old/status"));
  stored("old", 2);
  EXPECT_THAT(due(), ElementsAre("PATCH new/status"));
}

// A job that an admission webhook does not let anybody stop: its tree waits, others do not.
TEST_F(OutboxTest, AnEndThatIsRefusedHoldsUpItsQuotaTreeAlone) {
  other_trees["far"] = 1;
  edit(workload("old", "cq", "job"), workload("old", "", "job"));
  edit(job("j", false, "job"), job("j", true, "job"));
  edit(workload("near"), workload("near", "cq"));
  edit(workload("other"), workload("other", "far"));
  EXPECT_THAT(due(), UnorderedElementsAre("PATCH old/status", "PATCH other/status"));
  stored("old", 2);
  EXPECT_THAT(due(), ElementsAre("PATCH j"));
  outbox.again(ids["j"], now, 0, false);
  EXPECT_THAT(due(), ElementsAre());
}

TEST_F(OutboxTest, QuotaIsGivenAwayOnlyAfterTheJobThatHeldItIsStopped) {
  edit(workload("old", "cq", "job"), workload("old", "", "job"));
  edit(job("j", false, "job"), job("j", true, "job"));
  edit(workload("new"), workload("new", "cq"));
  EXPECT_THAT(due(), ElementsAre("PATCH old/status"));
  stored("old", 2);
  EXPECT_THAT(due(), ElementsAre("PATCH j"));
  stored("j", 2);
  EXPECT_THAT(due(), ElementsAre("PATCH new/status"));
}

// A pod is stopped by its deletion; of several that had the quota together every one has to be.
TEST_F(OutboxTest, QuotaIsGivenAwayOnlyAfterThePodsThatHadItAreDeleted) {
  edit(workload("old", "cq", "chain"), workload("old", "", "chain"));
  for (const char* name : {"p", "q"}) outbox.removed(object("Pod", name, "chain"), 1);
  edit(workload("new"), workload("new", "cq"));
  EXPECT_THAT(due(), ElementsAre("PATCH old/status"));
  stored("old", 2);
  EXPECT_THAT(due(), ElementsAre("DELETE p"));
  outbox.done(ids["p"]);
  EXPECT_THAT(due(), ElementsAre("DELETE q"));
  outbox.done(ids["q"]);
  EXPECT_THAT(due(), ElementsAre("PATCH new/status"));
}

// Each end waits for its own pod: what was evicted later holds nobody up that came before.
TEST_F(OutboxTest, APodThatIsDeletedForALaterEndIsNotWaitedFor) {
  edit(workload("a", "cq", "chain"), workload("a", "", "chain"));
  outbox.removed(object("Pod", "p", "chain"), 1);
  edit(workload("new"), workload("new", "cq"));
  edit(workload("b", "cq", "chain"), workload("b", "", "chain"));
  outbox.removed(object("Pod", "q", "chain"), 1);
  EXPECT_THAT(due(), ElementsAre("PATCH a/status"));
  stored("a", 2);
  EXPECT_THAT(due(), ElementsAre("DELETE p"));
  outbox.done(ids["p"]);
  EXPECT_THAT(due(), UnorderedElementsAre("PATCH b/status", "PATCH new/status"));
}

TEST_F(OutboxTest, TheStopOfAJobThatMovesGoesAheadOfItsNewPlace) {
  // Two jobs swap, each with an admission of its own before its stop: both are stopped before
  // either has its new place, and neither waits for ever.
  for (const std::string name : {"a", "b"}) {
    edit(workload(name, "x", name), workload(name, "", name));
    edit(workload(name, "", name), workload(name, "x", name));
    edit(job("j" + name, false, name), job("j" + name, true, name));
  }
  for (const std::string name : {"a", "b"}) targets["ns/" + name] = workload(name, "", name);
  EXPECT_THAT(due(), ElementsAre("PATCH a/status", "PATCH b/status"));
  stored("a", 2);
  stored("b", 2);
  EXPECT_THAT(due(), ElementsAre("PATCH ja", "PATCH jb"));
  stored("jb", 3);
  EXPECT_THAT(due(), IsEmpty());  // b's quota is free, a's is not: who gets it came after both
  stored("ja", 3);
  EXPECT_THAT(due(), UnorderedElementsAre("PATCH a/status", "PATCH b/status"));
}

TEST_F(OutboxTest, WhatIsFreedByAMoveIsGivenAwayAfterTheStop) {
  // The option `b` of a job has a place, and `a` loses its own one; the parent says so, the job is
  // stopped; somebody else gets the place of `a`.
  edit(workload("b", "", "j"), workload("b", "y", "j"));
  edit(workload("a", "x", "j"), workload("a", "", "j"));
  edit(workload("parent", "x", "j"), workload("parent", "y", "j"));
  edit(job("j", false, "j"), job("j", true, "j"));
  edit(workload("heir"), workload("heir", "x"));
  EXPECT_THAT(due(), ElementsAre("PATCH b/status"));
  stored("b", 2);
  EXPECT_THAT(due(), ElementsAre("PATCH a/status"));
  stored("a", 2);
  EXPECT_THAT(due(), ElementsAre("PATCH j"));
  stored("j", 2);
  EXPECT_THAT(due(), ElementsAre("PATCH parent/status"));  // which says `x` no more
  stored("parent", 2);
  EXPECT_THAT(due(), ElementsAre("PATCH heir/status"));
}

TEST_F(OutboxTest, AStartAndEditsOfTheJobItselfKeepTheirPlace) {
  // Evicted, admitted again, let go, stopped: the stop is behind the start.
  edit(workload("w", "x", "j"), workload("w", "", "j"));
  edit(workload("w", "", "j"), workload("w", "y", "j"));
  edit(job("j", true, "j"), job("j", false, "j"));
  edit(job("j", false, "j"), job("j", true, "j"));
  targets["ns/w"] = workload("w", "", "j");
  EXPECT_THAT(due(), ElementsAre("PATCH w/status"));
  stored("w", 2);
  EXPECT_THAT(due(), ElementsAre("PATCH w/status"));
}

TEST_F(OutboxTest, WhatWasGivenAfterAStopThatIsForgottenIsForgottenToo) {
  edit(workload("old", "cq", "job"), workload("old", "", "job"));
  edit(job("j", false, "job"), job("j", true, "job"));
  edit(workload("new"), workload("new", "cq"));
  due();
  stored("old", 2);
  EXPECT_EQ(outbox.forget({&kind("Job"), "ns/j"}).size(), 2U);
  EXPECT_EQ(outbox.size(), 0U);
}

TEST_F(OutboxTest, AnEndThatComesLaterHoldsNobodyUp) {
  edit(workload("new"), workload("new", "cq"));
  edit(workload("old", "cq"), workload("old"));
  EXPECT_THAT(due(), ElementsAre("PATCH new/status", "PATCH old/status"));
}

TEST_F(OutboxTest, AMoveEndsAndGives) {
  // a gives up x for y, b takes x: b waits for a.
  edit(workload("a", "x"), workload("a", "y"));
  edit(workload("b"), workload("b", "x"));
  EXPECT_THAT(due(), ElementsAre("PATCH a/status"));
}

TEST_F(OutboxTest, TwoThatSwapAreSentOneAfterTheOther) {
  // a leaves x, b goes from y to x, a takes y: each step rests on the one before.
  edit(workload("a", "x"), workload("a"));
  edit(workload("b", "y"), workload("b", "x"));
  edit(workload("a"), workload("a", "y"));
  targets["ns/a"] = workload("a");
  EXPECT_THAT(due(), ElementsAre("PATCH a/status"));
  stored("a", 2);
  EXPECT_THAT(due(), ElementsAre("PATCH b/status"));
  stored("b", 2);
  EXPECT_THAT(due(), ElementsAre("PATCH a/status"));
}

TEST_F(OutboxTest, ADeletionOfWhoHoldsQuotaIsAnEnd) {
  outbox.removed(workload("old", "cq"), 1);
  edit(workload("new"), workload("new", "cq"));
  EXPECT_THAT(due(), ElementsAre("DELETE old"));
  outbox.done(ids["old"]);
  EXPECT_THAT(due(), ElementsAre("PATCH new/status"));
}

TEST_F(OutboxTest, WhatIsBeingDeletedGoesByItself) {
  StoredObject going = workload("w", "cq");
  going.metadata = Header(R"({"name":"w","deletionTimestamp":"2026-01-01T00:00:00Z"})");
  outbox.removed(going, 1);
  EXPECT_THAT(due(), IsEmpty());
}

// A finalizer holds it: its deletion leaves it there, and what follows is said of it.
TEST_F(OutboxTest, WhatIsHeldWhenItIsDeletedIsChangedAfterwards) {
  const StoredObject there = object("Pod", "p", "", "", R"({"held":true})");
  StoredObject going = there;
  going.metadata = Header(
      R"({"name":"p","namespace":"ns","uid":"uid-p","deletionTimestamp":"2026-01-01T00:00:00Z"})");
  StoredObject let_go = object("Pod", "p", "", "", R"({"held":false})");
  let_go.metadata = going.metadata;
  edit(there, going);
  edit(going, let_go);
  EXPECT_THAT(due(), ElementsAre("DELETE p"));
  outbox.done(ids.at("p"));
  EXPECT_THAT(due(), ElementsAre("PATCH p"));
}

TEST_F(OutboxTest, StepsOfAnObjectThatTheServerHasRulesAboutStaySteps) {
  // Suspended, then given its own templates back: a Job takes these only in this order.
  const StoredObject runs = job("j", false);
  const StoredObject stopped = job("j", true);
  StoredObject restored = stopped;
  restored.body = std::make_shared<const std::string>(R"({"spec":{"suspend":true,"x":1}})");
  edit(runs, stopped);
  edit(stopped, restored);
  targets["ns/j"] = stopped;
  EXPECT_THAT(due(), ElementsAre("PATCH j"));
  EXPECT_THAT(bodies["j"], HasSubstr(R"("spec":{"suspend":true})"));
  stored("j", 2);
  EXPECT_THAT(due(), ElementsAre("PATCH j"));
  EXPECT_THAT(bodies["j"], HasSubstr(R"("spec":{"x":1})"));
}

TEST_F(OutboxTest, StatusesOfOneObjectAreOneRequest) {
  edit(workload("w"), workload("w", "cq"));
  StoredObject admitted = workload("w", "cq");
  admitted.status.insert(admitted.status.rfind(']'), R"(,{"type":"Admitted","status":"True"})");
  edit(workload("w", "cq"), admitted);
  EXPECT_THAT(due(), ElementsAre("PATCH w/status"));
  EXPECT_THAT(bodies["w"], HasSubstr("Admitted"));
  stored("w", 2);
  EXPECT_THAT(due(), IsEmpty());
}

TEST_F(OutboxTest, WhatOnlyTellsWaitsAndIsTheLastWord) {
  edit(waiting("w", "1 more needed"), waiting("w", "2 more needed"));
  EXPECT_THAT(due(), IsEmpty());
  EXPECT_EQ(outbox.next(), now + 1 * kSecond);
  edit(waiting("w", "2 more needed"), waiting("w", "3 more needed"));
  now += 1 * kSecond;
  EXPECT_THAT(due(), ElementsAre("PATCH w/status"));
  EXPECT_THAT(bodies["w"], HasSubstr("3 more needed"));
}

TEST_F(OutboxTest, WhatOnlyTellsIsSentAtABoundedRate) {
  for (const char* name : {"a", "b", "c"}) edit(waiting(name, "1"), waiting(name, "2"));
  now += 1 * kSecond;
  EXPECT_EQ(due().size(), 2U);  // two a second
  EXPECT_THAT(due(), IsEmpty());
  now += kSecond / 2;
  EXPECT_EQ(due().size(), 1U);
}

TEST_F(OutboxTest, TheSameReasonInOtherWordsWaitsLonger) {
  const auto because = [this](const std::string& name, const char* reason, const char* text) {
    return object("Workload", name, "",
                  std::string(R"({"conditions":[{"type":"QuotaReserved","status":"False",)") +
                      R"("reason":")" + reason + R"(","message":")" + text + R"("}]})");
  };
  Outbox patient([](const StoredObject& each) { return each.key; },
                 {.of = [](std::string_view) { return 0U; }, .shape = [] { return 0U; }},
                 OutboxLimits());
  patient.edited(because("a", "Pending", "1"), because("a", "Pending", "2"), 1, now);
  patient.edited(because("b", "Pending", "1"), because("b", "Inadmissible", "2"), 1, now);
  patient.edited(workload("c"), because("c", "Pending", "1"), 1, now);
  now += 1 * kSecond;
  EXPECT_EQ(patient.due(now).size(), 2U);
  now += 9 * kSecond;
  EXPECT_EQ(patient.due(now).size(), 1U);
}

TEST_F(OutboxTest, TextsAreSentTheOldestFirst) {
  edit(waiting("a", "1"), waiting("a", "2"));
  now += kSecond / 2;
  for (const char* name : {"b", "c"}) edit(waiting(name, "1"), waiting(name, "2"));
  edit(waiting("a", "2"), waiting("a", "3"));  // keeps its place
  now += 1 * kSecond;
  EXPECT_THAT(due(), ElementsAre("PATCH a/status", "PATCH b/status"));
  EXPECT_THAT(bodies["a"], HasSubstr("3"));
}

TEST_F(OutboxTest, WhatDecidesLeavesNoRoomForTexts) {
  edit(waiting("told", "1"), waiting("told", "2"));
  now += 1 * kSecond;
  for (const char* name : {"a", "b"}) edit(workload(name), workload(name, "cq"));
  EXPECT_THAT(due(), ElementsAre("PATCH a/status", "PATCH b/status"));
  EXPECT_EQ(outbox.next(), now + kSecond / 2 + 1);
  now += kSecond / 2;
  EXPECT_THAT(due(), ElementsAre("PATCH told/status"));
}

TEST_F(OutboxTest, SlowAnswersLeaveNoRoomForTexts) {
  for (int i = 0; i < 8; ++i) {
    const std::string name = "w" + std::to_string(i);
    edit(workload(name), workload(name, "cq"));
  }
  due();
  now += 2 * kSecond;
  edit(waiting("told", "1"), waiting("told", "2"));
  for (int i = 0; i < 8; ++i) {
    outbox.answered(ids["w" + std::to_string(i)], now);
    stored("w" + std::to_string(i), 2);
  }
  due();
  now += kSecond / 4;
  edit(workload("quick"), workload("quick", "cq"));
  due();
  now += kSecond;
  outbox.answered(ids["quick"], now);
  stored("quick", 2);
  EXPECT_THAT(due(), IsEmpty());
  now += kSecond;
  EXPECT_THAT(due(), IsEmpty());
  now += 5 * kSecond;  // by then nobody knows how quick answers are
  EXPECT_THAT(due(), ElementsAre("PATCH told/status"));
}

TEST_F(OutboxTest, EventsAreSentWhenRequestsCanBeSpared) {
  for (const char* name : {"e1", "e2", "e3"}) EXPECT_TRUE(outbox.create(object("Event", name, "")));
  for (const char* name : {"a", "b"}) edit(workload(name), workload(name, "cq"));
  EXPECT_EQ(outbox.size(), 2U);
  // One a second is theirs whatever is decided.
  EXPECT_THAT(due(), ElementsAre("PATCH a/status", "PATCH b/status", "POST events"));
  now += kSecond / 2;
  EXPECT_THAT(due(), ElementsAre("POST events"));
  EXPECT_EQ(outbox.dropped(), 0U);
}

TEST_F(OutboxTest, OfTooManyEventsTheOldestAreDropped) {
  for (const char* name : {"e1", "e2", "e3", "e4"}) outbox.create(object("Event", name, ""));
  EXPECT_EQ(outbox.dropped(), 1U);
  EXPECT_EQ(due().size(), 3U);
  EXPECT_THAT(bodies["events"], HasSubstr("e4"));
}

TEST_F(OutboxTest, ATextThatWasRefusedDoesNotKeepADecisionWaitingEither) {
  edit(waiting("w", "1"), waiting("w", "2"));
  now += 1 * kSecond;
  EXPECT_THAT(due(), ElementsAre("PATCH w/status"));
  outbox.again(ids["w"], now, 0, false);
  edit(waiting("w", "2"), workload("w", "cq"));
  for (const char* name : {"a", "b"}) edit(workload(name), workload(name, "cq"));
  due();
  now += 200 * kMillisecond;
  EXPECT_THAT(due(), ElementsAre("PATCH w/status"));
}

TEST_F(OutboxTest, ATextDoesNotKeepADecisionWaiting) {
  edit(waiting("w", "1"), waiting("w", "2"));
  edit(waiting("w", "2"), workload("w", "cq"));
  EXPECT_THAT(due(), ElementsAre("PATCH w/status"));
  EXPECT_THAT(bodies["w"], HasSubstr("admission"));
}

TEST_F(OutboxTest, AnObjectIsAskedForOnce) {
  EXPECT_TRUE(outbox.create(workload("new")));
  EXPECT_FALSE(outbox.create(workload("new")));
  const auto requests = outbox.due(now);
  ASSERT_EQ(requests.size(), 1U);
  EXPECT_EQ(requests[0].method, "POST");
  EXPECT_FALSE(outbox.create(workload("new")));
  outbox.stored(requests[0].id, workload("new"), 7);
}

/// However much else happened to the objects of its owner meanwhile.
TEST_F(OutboxTest, AnObjectIsAskedForOnceAmongEditsOfOthers) {
  EXPECT_TRUE(outbox.create(workload("new", "", "job")));
  edit(workload("w", "cq", "job"), workload("w", "", "job"));
  EXPECT_FALSE(outbox.create(workload("new", "", "job")));
  EXPECT_EQ(outbox.size(), 2U);
}

TEST_F(OutboxTest, WhatIsHeardMeanwhileIsKeptForLater) {
  edit(workload("w", "", "job"), workload("w", "cq", "job"));
  edit(job("j", true, "job"), job("j", false, "job"));
  const OutboxPlace place{&kind("Job"), "ns/j"};
  EXPECT_EQ(outbox.hearing(place), Hearing::kForget);
  due();
  EXPECT_EQ(outbox.hearing(place), Hearing::kLater);
  outbox.hear_later({place, 9, false, {}});
  EXPECT_THAT(outbox.take_heard(), IsEmpty());
  stored("w", 2);
  EXPECT_EQ(outbox.take_heard().size(), 1U);
}

TEST_F(OutboxTest, WhatWasDecidedOnAnotherStateIsForgotten) {
  edit(workload("w", "", "job"), workload("w", "cq", "job"));
  edit(job("j", true, "job"), job("j", false, "job"));
  const auto forgotten = outbox.forget({&kind("Job"), "ns/j"});
  ASSERT_EQ(forgotten.size(), 2U);  // the whole chain, as the cluster has it
  EXPECT_EQ(forgotten[0].base->status, "");
  EXPECT_THAT(due(), IsEmpty());
  EXPECT_EQ(outbox.size(), 0U);
}

TEST_F(OutboxTest, WhatWasGivenAfterAForgottenEndIsForgottenToo) {
  edit(workload("old", "cq"), workload("old"));
  edit(workload("new"), workload("new", "cq"));
  const auto forgotten = outbox.forget({&kind("Workload"), "ns/old"});
  EXPECT_EQ(forgotten.size(), 2U);
  EXPECT_THAT(due(), IsEmpty());
}

TEST_F(OutboxTest, WhatWasGivenBeforeItStays) {
  edit(workload("new"), workload("new", "cq"));
  edit(workload("old", "cq"), workload("old"));
  EXPECT_EQ(outbox.forget({&kind("Workload"), "ns/old"}).size(), 1U);
  EXPECT_THAT(due(), ElementsAre("PATCH new/status"));
}

TEST_F(OutboxTest, AChainThatIsUnderWayIsForgottenWithItsAnswer) {
  edit(workload("old", "cq"), workload("old"));
  edit(job("j", true, "chain"), job("j", false, "chain"));
  edit(workload("new", "", "chain"), workload("new", "cq", "chain"));
  EXPECT_THAT(due(), ElementsAre("PATCH old/status", "PATCH j"));
  outbox.again(ids["old"], now, 0, false);
  EXPECT_EQ(outbox.forget({&kind("Workload"), "ns/old"}).size(), 1U);
  EXPECT_THAT(outbox.take_baseless(), IsEmpty());
  stored("j", 2);
  ASSERT_EQ(outbox.take_baseless().size(), 1U);
  EXPECT_EQ(outbox.forget({&kind("Workload"), "ns/new"}).size(), 1U);
  EXPECT_EQ(outbox.size(), 0U);
}

TEST_F(OutboxTest, WhatIsRefusedComesAgainLaterAndLater) {
  edit(workload("w"), workload("w", "cq"));
  due();
  outbox.again(ids["w"], now, 0, false);
  EXPECT_THAT(due(), IsEmpty());
  now += 200 * kMillisecond;
  EXPECT_THAT(due(), ElementsAre("PATCH w/status"));
  outbox.again(ids["w"], now, 0, false);
  now += 399 * kMillisecond;
  EXPECT_THAT(due(), IsEmpty());
  now += 1 * kMillisecond;
  EXPECT_THAT(due(), ElementsAre("PATCH w/status"));
}

TEST_F(OutboxTest, AnUnknownOutcomeIsLookedAtFirst) {
  edit(workload("w"), workload("w", "cq"));
  due();
  outbox.again(ids["w"], now, 0, true);
  EXPECT_THAT(due(), ElementsAre("GET w"));
  outbox.unchanged(ids["w"]);
  now += 1 * kSecond;
  EXPECT_THAT(due(), ElementsAre("PATCH w/status"));
}

TEST_F(OutboxTest, NoMoreThanItsLimitIsUnderWay) {
  for (int i = 0; i < 20; ++i) {
    const std::string name = "w" + std::to_string(i);
    edit(workload(name), workload(name, "cq"));
  }
  EXPECT_EQ(due().size(), 8U);
  stored("w0", 2);
  EXPECT_EQ(due().size(), 1U);
}

}  // namespace
}  // namespace sluice::host
