// Workloads that end others or end with them, by their traits (mechanisms 2 and 3).
#include <ostream>

#include "tests/core/engine/traits_fixture.hpp"

namespace sluice::hooks {

/// For the names of tests.
static void PrintTo(ReplacedEnds how, std::ostream* out) { *out << static_cast<int>(how); }

}  // namespace sluice::hooks

namespace sluice::testing {
namespace {

// ---- replacement

struct Replacement : Traits, ::testing::WithParamInterface<hooks::ReplacedEnds> {};

TEST_P(Replacement, EndsWhatItReplacesInTheSameStepAndMayUseItsQuota) {
  traits.replaces("new", "old", GetParam());
  auto s = one_queue();
  s->submit(Job("old", "q").cpu(3)).run();
  s->submit(Job("new", "q").cpu(4));
  const auto before = s->engine.stats().cycles;
  s->run();
  EXPECT_EQ(s->state("new"), "admitted");
  switch (GetParam()) {
    case hooks::ReplacedEnds::kFinished:
      EXPECT_EQ(s->last(), Lines("finished old Replaced", "reserved new", "admitted new"));
      EXPECT_EQ(s->state("old"), "finished");
      break;
    case hooks::ReplacedEnds::kDeactivated:
      EXPECT_EQ(s->last(), Lines("evicted old Replaced", "deactivated old Replaced", "reserved new",
                                 "admitted new"));
      EXPECT_EQ(s->state("old"), "inactive");
      break;
  }
  EXPECT_GT(s->engine.stats().cycles, before);
}
INSTANTIATE_TEST_SUITE_P(, Replacement,
                         ::testing::Values(hooks::ReplacedEnds::kFinished,
                                           hooks::ReplacedEnds::kDeactivated));

Job known_as_admitted(const std::string& name, std::int64_t cpu) {
  return Job(name, "q").cpu(cpu).admitted_on("f");
}

// A store that has its writes one after the other may have the admission and not the end yet.
TEST_P(Replacement, IsCompletedWhereOnlyTheAdmissionIsKnown) {
  traits.replaces("new", "old", GetParam());
  const std::string ended = GetParam() == hooks::ReplacedEnds::kFinished ? "finished" : "inactive";
  for (const bool old_comes_first : {true, false}) {
    auto s = one_queue();
    if (old_comes_first) s->submit(known_as_admitted("old", 3));
    s->submit(known_as_admitted("new", 2));
    if (!old_comes_first) s->submit(known_as_admitted("old", 3));
    s->submit(Job("next", "q").cpu(2)).run();  // 4 - 2 of the new one
    EXPECT_EQ(s->state("old"), ended);
    EXPECT_EQ(s->admitted(), "new next");
    s->engine.verify();
  }
}

TEST_P(Replacement, IsCompletedWhenItsTraitIsToldLater) {
  auto s = one_queue();
  s->submit(known_as_admitted("old", 2)).submit(known_as_admitted("new", 2)).run();
  EXPECT_EQ(s->admitted(), "new old");
  traits.replaces("new", "old", GetParam());
  s->traits_changed("new").run();
  EXPECT_EQ(s->admitted(), "new");
  s->engine.verify();
}

TEST_F(Traits, OfTwoThatAreAdmittedTheOneThatIsNoBetterEndsNothing) {
  traits.replaces("new", "old").replaces.only_better = true;
  auto s = one_queue();
  s->submit(known_as_admitted("old", 2)).submit(known_as_admitted("new", 2)).run();
  EXPECT_EQ(s->admitted(), "new old");
}

TEST_F(Traits, AReplacementThatDoesNotFitLeavesTheOldOneRunning) {
  traits.replaces("new", "old");
  auto s = one_queue();
  s->submit(Job("old", "q").cpu(3)).run();
  EXPECT_EQ(s->submit(Job("new", "q").cpu(5)).run(), Log());
  EXPECT_EQ(s->admitted(), "old");
}

TEST_F(Traits, WhatAReplacementFreesWakesTheTree) {
  traits.replaces("new", "old");
  auto s = one_queue();
  s->submit(Job("old", "q").cpu(4)).submit(Job("x", "q").cpu(3)).run();
  s->submit(Job("new", "q").cpu(1)).run();
  EXPECT_EQ(s->admitted(), "new x");
}

TEST_F(Traits, AReplacementReadBeforeWhatItReplacesSharesItsQuotaToo) {
  // A dump comes in any order: `new` is known first.
  traits.replaces("new", "old");
  auto s = one_queue(Queue("q").checked_by("check"));
  s->submit(Job("new", "q").cpu(4)).submit(Job("old", "q").cpu(3).priority(9));
  s->run();
  // 3 and 4 count as 4; old goes on until new is admitted.
  EXPECT_EQ(s->state("new"), "reserved");
  EXPECT_EQ(s->state("old"), "reserved");
}

TEST_F(Traits, AReplacementEndsAlsoOneThatWaits) {
  traits.replaces("new", "old");
  auto s = one_queue();
  s->submit(Job("old", "q").cpu(5)).submit(Job("new", "q").cpu(4));
  EXPECT_EQ(s->run(), Lines("finished old Replaced", "reserved new", "admitted new"));
}

TEST_F(Traits, OneThatIsReplacedInACycleIsNobodysVictimInIt) {
  // q1's new replaces old, which q2's high also wants as its victim: new comes first in the order
  // (it borrows nothing), so high finds old gone and waits for what is left of it.
  traits.replaces("new", "old");
  Scenario s(Scenario::single_thread(), hooks);
  s.flavor("f").queue(Queue("q1").cohort("c").quota("cpu", {{"f", 2}}));
  s.queue(Queue("q2").cohort("c").quota("cpu", {{"f", 2}}).reclaim_any());
  s.submit(Job("old", "q1").cpu(4)).run();
  s.submit(Job("new", "q1").cpu(2).priority(50)).submit(Job("high", "q2").cpu(2).priority(9));
  s.run();
  EXPECT_EQ(s.admitted(), "high new");
  EXPECT_EQ(s.state("old"), "finished");
}

// ---- follows

TEST_F(Traits, PreemptingOneEvictsAllThatFollowIt) {
  // b1 follows a, and b2 follows b1: preempting a takes b1 and, through b1, b2.
  traits.of("b1").follows = "ns/a";
  traits.of("b2").follows = "ns/b1";
  auto s = one_queue(Queue("q").lower_priority());
  s->submit(Job("b1", "q").cpu(1).priority(1)).submit(Job("b2", "q").cpu(1).priority(2));
  s->submit(Job("a", "q").cpu(1)).submit(Job("x", "q").cpu(1).priority(3)).run();
  s->submit(Job("high", "q").cpu(1).priority(3));
  const Log log = s->run();
  for (const std::string victim : {"a", "b1", "b2"})
    EXPECT_THAT(log, ::testing::Contains("evicted " + victim + " InClusterQueue by high"));
  EXPECT_THAT(log, ::testing::Not(::testing::Contains("evicted x InClusterQueue by high")));
}

/// `old` of 2 runs; `grown` of 4, which replaces and follows it, waits for its check with its
/// quota. Together they count as 4 of 5.
struct Following : Traits {
  std::unique_ptr<Scenario> grown() {
    traits.replaces("grown", "old").follows = "ns/old";
    auto s = std::make_unique<Scenario>(Scenario::single_thread(), hooks);
    s->flavor("f").flavor("g");
    s->queue(Queue("q").quota("cpu", {{"f", 5}}).lower_priority());
    s->submit(Job("old", "q").cpu(2)).run();
    s->after(1).queue(Queue("q").quota("cpu", {{"f", 5}}).lower_priority().checked_by("check"));
    s->submit(Job("grown", "q").cpu(4)).run();
    EXPECT_EQ(s->state("old"), "admitted");
    EXPECT_EQ(s->state("grown"), "reserved");
    s->after(1);
    return s;
  }
};

TEST_F(Following, ItIsPreemptedAloneWhenThatIsEnough) {
  // 3 more: without the 4 of `grown`, 2 of 5 are used.
  auto s = grown();
  s->submit(Job("high", "q").cpu(3).priority(9)).run();
  EXPECT_EQ(s->state("old"), "admitted");
  EXPECT_EQ(s->state("grown"), "pending");
  EXPECT_EQ(s->state("high"), "reserved");
  s->engine.verify();
}

TEST_F(Following, ItGoesWithTheOneThatItFollows) {
  auto s = grown();
  s->submit(Job("high", "q").cpu(4).priority(9)).run();
  EXPECT_EQ(s->state("high"), "reserved");
  EXPECT_EQ(s->state("grown"), "pending");
  EXPECT_EQ(s->state("old"), "pending");
  s->engine.verify();
}

TEST_F(Following, WhoeverComesFirstTheyAreBound) {
  traits.of("b").follows = "ns/a";
  auto s = one_queue(Queue("q").lower_priority());
  s->submit(Job("b", "q").cpu(2).priority(1)).submit(Job("a", "q").cpu(2)).run();
  s->submit(Job("high", "q").cpu(1).priority(9));
  const Log log = s->run();
  for (const char* evicted :
       {"evicted a InClusterQueue by high", "evicted b InClusterQueue by high"})
    EXPECT_THAT(log, ::testing::Contains(evicted));
}

TEST_F(Following, TheOtherWayRoundNobodyIsTakenAlong) {
  traits.of("b").follows = "ns/a";
  auto s = one_queue(Queue("q").lower_priority());
  s->submit(Job("b", "q").cpu(2)).submit(Job("a", "q").cpu(2).priority(1)).run();
  s->submit(Job("high", "q").cpu(1).priority(9)).run();
  EXPECT_EQ(s->state("a"), "admitted");
  EXPECT_EQ(s->state("b"), "pending");
}

TEST_F(Following, ATraitThatEndsUnbindsThem) {
  traits.of("b").follows = "ns/a";
  auto s = one_queue(Queue("q").lower_priority());
  s->submit(Job("b", "q").cpu(2).priority(1)).submit(Job("a", "q").cpu(2)).run();
  traits.of("b").follows.clear();
  s->traits_changed("b");
  s->submit(Job("high", "q").cpu(1).priority(9)).run();
  EXPECT_EQ(s->state("b"), "admitted");
  EXPECT_EQ(s->state("a"), "pending");
}

TEST_F(Traits, AFollowerUnderAnotherRootGoesToo) {
  traits.of("b").follows = "ns/a";
  Scenario s(Scenario::single_thread(), hooks);
  s.flavor("f").queue(Queue("q1").quota("cpu", {{"f", 1}}).lower_priority());
  s.queue(Queue("q2").quota("cpu", {{"f", 1}}));
  s.submit(Job("a", "q1").cpu(1)).submit(Job("b", "q2").cpu(1)).run();
  s.submit(Job("high", "q1").cpu(1).priority(1));
  const Log log = s.run();
  EXPECT_THAT(log, ::testing::Contains("evicted b InClusterQueue by high"));
}

TEST_F(Traits, NobodyReplacesItself) {
  traits.replaces("a", "a");
  auto s = one_queue();
  s->submit(Job("a", "q").cpu(1));
  EXPECT_EQ(s->run(), Lines("reserved a", "admitted a"));
}

TEST_F(Traits, OneThatIsReplacedInACycleTakesNothingInIt) {
  // Of 4, new takes 1; old, which it ends, would take 2, and then there were none for last's 2.
  traits.replaces("new", "old");
  Scenario s(Scenario::single_thread(), hooks);
  s.flavor("f").cohort(CohortOf("c").quota("cpu", {{"f", 4}}));
  for (const char* name : {"q1", "q2", "q3"})
    s.queue(Queue(name).cohort("c").quota("cpu", {{"f", 0}}));
  s.submit(Job("new", "q1").cpu(1).priority(9)).submit(Job("old", "q2").cpu(2).priority(5));
  s.submit(Job("last", "q3").cpu(2)).step();
  EXPECT_EQ(s.admitted(), "last new");
}

}  // namespace
}  // namespace sluice::testing
