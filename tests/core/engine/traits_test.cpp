// What the traits of a workload mean (mechanisms 1 to 3), with hooks answered from tables.
#include <gmock/gmock.h>

#include <ostream>

#include "tests/core/support/fake_hooks.hpp"
#include "tests/core/support/scenario.hpp"

namespace sluice::hooks {

/// For the names of tests.
static void PrintTo(ReplacedEnds how, std::ostream* out) { *out << static_cast<int>(how); }

}  // namespace sluice::hooks

namespace sluice::testing {
namespace {

struct Traits : ::testing::Test {
  FakeTraits traits;
  hooks::HostHooks hooks;
  Traits() { hooks.workload_traits = &traits; }
  /// One queue q of 4 cores.
  std::unique_ptr<Scenario> one_queue(Queue queue = Queue("q")) {
    auto s = std::make_unique<Scenario>(Scenario::single_thread(), hooks);
    s->flavor("f").queue(queue.quota("cpu", {{"f", 4}}));
    return s;
  }
};

// ---- takes part

TEST_F(Traits, WhoTakesNoPartIsNeverQueuedAndSaysWhy) {
  traits.of("a").takes_part = false;
  traits.of("a").takes_no_part_because = "its variants stand for it";
  auto s = one_queue();
  s->submit(Job("a", "q").cpu(1)).submit(Job("b", "q").cpu(4));
  EXPECT_EQ(s->run(), Lines("reserved b", "admitted b"));
  EXPECT_EQ(s->why("a"), "OnHold: its variants stand for it");
}

TEST_F(Traits, WhoTakesNoPartHoldsNothingEvenWhenADumpSaysSo) {
  traits.of("a").takes_part = false;
  auto s = one_queue();
  Job a = Job("a", "q").cpu(4);
  a.object.status.conditions = {{"QuotaReserved", "True", "QuotaReserved", "", 0, 0},
                                {"Admitted", "True", "Admitted", "", 0, 0}};
  a.object.status.admission.emplace();
  a.object.status.admission->cluster_queue = "q";
  api::PodSetAssignment& p = a.object.status.admission->pod_sets.emplace_back();
  p.count = 1;
  p.flavors.set("cpu", "f");
  s->submit(a).submit(Job("b", "q").cpu(4));
  EXPECT_EQ(s->run(), Lines("reserved b", "admitted b"));
  EXPECT_EQ(s->state("a"), "admitted");  // as its plugin wrote
}

TEST_F(Traits, WhoStopsTakingPartGivesItsQuotaBack) {
  auto s = one_queue();
  s->submit(Job("a", "q").cpu(4)).submit(Job("b", "q").cpu(4)).run();
  traits.of("a").takes_part = false;
  s->traits_changed("a");
  EXPECT_EQ(s->run(), Lines("evicted a OnHold", "reserved b", "admitted b"));
}

TEST_F(Traits, TheStatusOfOneThatTakesNoPartIsNobodysToWrite) {
  traits.of("a").takes_part = false;
  traits.of("a").takes_no_part_because = "others do";
  auto s = one_queue();
  Job a = Job("a", "q").cpu(1);
  s->submit(a).run();
  a.object.status.conditions = {{"QuotaReserved", "True", "QuotaReserved", "by b", 7, 0},
                                {"Admitted", "True", "Admitted", "by b", 7, 0}};
  a.object.status.admission.emplace();
  a.object.status.admission->cluster_queue = "elsewhere";
  s->submit(a).run();
  EXPECT_EQ(s->state("a"), "pending");
  const WorkloadId id = *s->engine.find("ns/a");
  EXPECT_EQ(s->engine.status(id).condition("Admitted"), nullptr);
  EXPECT_EQ(s->engine.status(id).condition("QuotaReserved")->message, "others do");
  EXPECT_FALSE(s->engine.status(id).admission);
}

TEST_F(Traits, WhoTakesPartAgainHasWhatItsStatusSays) {
  traits.of("a").takes_part = false;
  auto s = one_queue();
  Job a = Job("a", "q").cpu(3);
  a.object.status.conditions = {{"QuotaReserved", "True", "QuotaReserved", "", 0, 0},
                                {"Admitted", "True", "Admitted", "", 0, 0}};
  a.object.status.admission.emplace();
  a.object.status.admission->cluster_queue = "q";
  api::PodSetAssignment& p = a.object.status.admission->pod_sets.emplace_back();
  p.name = "main";
  p.count = 1;
  p.flavors.set("cpu", "f");
  s->submit(a).run();
  traits.of("a").takes_part = true;
  s->traits_changed("a");
  EXPECT_EQ(s->submit(Job("b", "q").cpu(2)).run(), Log());  // 3 of 4 are taken
  EXPECT_EQ(s->admitted(), "a");
}

TEST_F(Traits, AnInactiveOneThatTakesPartAgainIsStillInactive) {
  traits.of("a").takes_part = false;
  auto s = one_queue();
  Job a("a", "q");
  a.cpu(1).object.active = false;
  s->submit(a).run();
  traits.of("a").takes_part = true;
  s->traits_changed("a");
  s->run();
  s->queue(Queue("q").quota("cpu", {{"f", 8}}));  // whoever waits is looked at again
  EXPECT_EQ(s->run(), Log());
  EXPECT_EQ(s->admitted(), "");
  EXPECT_EQ(s->engine.view(*s->engine.find("ns/a")).state, WorkloadState::kInactive);
}

TEST_F(Traits, AreAskedWithTheQueueAndAgainWhenItComes) {
  std::vector<std::string> asked;
  traits.otherwise = [&](const hooks::TraitsQuery& query, hooks::Traits& out) {
    asked.push_back(std::string(query.cluster_queue) + (query.holds_quota ? " holds" : ""));
    out.takes_part = query.cluster_queue.empty();
    out.takes_no_part_because = "of its queue";
  };
  Scenario s(Scenario::single_thread(), hooks);
  s.flavor("f");
  s.submit(Job("a", "q").cpu(1));
  s.queue(Queue("q").quota("cpu", {{"f", 4}}));
  EXPECT_EQ(s.run(), Log());  // never seen by a cycle
  EXPECT_EQ(s.why("a"), "OnHold: of its queue");
  EXPECT_EQ(asked.front(), "");
  EXPECT_EQ(asked.back(), "q");
}

// ---- conflict, fault, waiting

TEST_F(Traits, AConflictKeepsItPendingAndNamesBoth) {
  traits.of("a").conflict = "plugins x and y both answered the trait group";
  auto s = one_queue();
  EXPECT_EQ(s->submit(Job("a", "q").cpu(1)).run(), Log());
  EXPECT_EQ(s->why("a"), "Misconfigured: plugins x and y both answered the trait group");
}

TEST_F(Traits, AFaultKeepsItPendingAndNamesThePlugin) {
  traits.faulty = {"a"};
  auto s = one_queue();
  EXPECT_EQ(s->submit(Job("a", "q").cpu(1)).run(), Log());
  EXPECT_EQ(s->why("a"), "Misconfigured: traits-plugin: it threw an exception");
}

TEST_F(Traits, AFaultTakesNothingFromWhoHoldsQuota) {
  auto s = one_queue();
  s->submit(Job("a", "q").cpu(4)).run();
  traits.faulty = {"a"};
  s->traits_changed("a");
  EXPECT_EQ(s->run(), Log());
  EXPECT_EQ(s->admitted(), "a");
}

TEST_F(Traits, AFaultAtTheFirstAnswerLeavesWhatIsKnownOtherwise) {
  traits.faulty = {"a", "b"};
  traits.of("a").takes_part = false;  // as the host remembers it
  auto s = one_queue();
  s->submit(Job("a", "q").cpu(1)).submit(Job("b", "q").cpu(1)).run();
  EXPECT_FALSE(s->engine.takes_part(*s->engine.find("ns/a")));
  EXPECT_TRUE(s->engine.takes_part(*s->engine.find("ns/b")));
}

TEST_F(Traits, WhoHasToWaitIsNotQueuedAndKeepsWhatItHolds) {
  auto s = one_queue();
  s->submit(Job("held", "q").cpu(1)).run();
  traits.of("held").waits_because = "Plugin gone is not loaded";
  traits.of("new").waits_because = "Plugin gone is not loaded";
  s->traits_changed("held").submit(Job("new", "q").cpu(1));
  EXPECT_EQ(s->run(), Log());
  EXPECT_EQ(s->admitted(), "held");
  EXPECT_EQ(s->why("new"), "OnHold: Plugin gone is not loaded");
  traits.table.clear();
  s->traits_changed("new");
  EXPECT_EQ(s->run(), Lines("reserved new", "admitted new"));
}

TEST_F(Traits, OneThatStandsAsideForAnAbsentPluginSaysSoWhateverItsStatusSays) {
  hooks::Traits& a = traits.of("a");
  a.takes_part = false;
  a.takes_no_part_because = a.waits_because = "Plugin gone is not loaded";
  auto s = one_queue();
  Job job = Job("a", "q").cpu(1);
  job.object.status.conditions = {{"QuotaReserved", "False", "Pending", "by its plugin", 7, 0}};
  EXPECT_EQ(s->submit(job).run(), Log());
  EXPECT_EQ(s->why("a"), "OnHold: Plugin gone is not loaded");
}

// ---- groups

TEST_F(Traits, MembersAreOrderedAsTheirAnchorAndInsideByRank) {
  // The anchor takes no part; its priority 10 puts its members before x, in order of rank.
  traits.of("parent").takes_part = false;
  traits.member("m1", "g", 2, "parent");
  traits.member("m2", "g", 1, "parent");
  auto s = one_queue();
  s->submit(Job("x", "q").cpu(1).priority(5)).submit(Job("parent", "q").cpu(1).priority(10));
  s->submit(Job("m1", "q").cpu(1).priority(0)).submit(Job("m2", "q").cpu(1).priority(3));
  EXPECT_EQ(s->run(), Lines("reserved m2", "admitted m2", "reserved m1", "admitted m1",
                            "reserved x", "admitted x"));
}

TEST_F(Traits, MembersThatCameBeforeTheirAnchorMoveWhenItComes) {
  traits.of("parent").takes_part = false;
  traits.member("m", "g", 1, "parent");
  auto s = one_queue();
  s->submit(Job("m", "q").cpu(3)).submit(Job("x", "q").cpu(3).priority(5));
  s->submit(Job("parent", "q").cpu(1).priority(10)).run();
  EXPECT_EQ(s->admitted(), "m");
}

TEST_F(Traits, AChangedPriorityOfTheAnchorMovesItsMembers) {
  traits.of("parent").takes_part = false;
  traits.member("m", "g", 1, "parent");
  auto s = one_queue();
  s->submit(Job("parent", "q").cpu(1).priority(10)).submit(Job("m", "q").cpu(3));
  s->submit(Job("x", "q").cpu(3).priority(5));
  s->submit(Job("parent", "q").cpu(1).priority(1)).run();
  EXPECT_EQ(s->admitted(), "x");
}

TEST_F(Traits, AMemberThatWasEvictedKeepsItsRankAndItsGroupsPlace) {
  traits.of("parent").takes_part = false;
  traits.member("m1", "g", 1, "parent").group.represents = true;
  traits.member("m2", "g", 2, "parent").group.represents = true;
  auto s = one_queue();
  s->submit(Job("parent", "q").cpu(1).priority(0)).submit(Job("m1", "q").cpu(4));
  s->submit(Job("m2", "q").cpu(4)).submit(Job("x", "q").cpu(4)).run();
  ASSERT_EQ(s->admitted(), "m1 parent");
  // Stopped and started again: m1 comes first again, before m2 and before x.
  s->after(5).queue(Queue("q").quota("cpu", {{"f", 4}}).stop(api::StopPolicy::kHoldAndDrain));
  s->run();
  s->after(5).queue(Queue("q").quota("cpu", {{"f", 4}}));
  EXPECT_EQ(s->run(), Lines("reserved m1", "admitted m1"));
  s->after(5).remove("m1");
  EXPECT_EQ(s->run(), Lines("reserved m2", "admitted m2"));
}

TEST_F(Traits, HoldersOfOneGroupCountAsTheirMaximum) {
  // 3 and 2 of one group count as 3, so 1 of 4 is left; then x of 1 fits and y of 1 does not.
  traits.member("m1", "g", 1, "m1");
  traits.member("m2", "g", 2, "m1");
  auto s = one_queue();
  s->submit(Job("m1", "q").cpu(3)).submit(Job("m2", "q").cpu(2)).run();
  s->submit(Job("x", "q").cpu(1)).submit(Job("y", "q").cpu(1)).run();
  EXPECT_EQ(s->admitted(), "m1 m2 x");
  // Without m1 the group counts 2: y fits.
  s->after(1).finish("m1").run();
  EXPECT_EQ(s->admitted(), "m2 x y");
}

TEST_F(Traits, HoldersOfOneGroupInDifferentQueuesCountEachForItself) {
  traits.member("m1", "g", 1, "m1");
  traits.member("m2", "g", 2, "m1");
  Scenario s(Scenario::single_thread(), hooks);
  s.flavor("f").queue(Queue("q1").cohort("c").quota("cpu", {{"f", 2}}));
  s.queue(Queue("q2").cohort("c").quota("cpu", {{"f", 2}}));
  // m1 borrows all of q2's: 4 of 4 are used, so m2 in q2 has nothing left.
  s.submit(Job("m1", "q1").cpu(4)).run();
  s.submit(Job("m2", "q2").cpu(1)).run();
  EXPECT_EQ(s.admitted(), "m1");
}

// ---- exclusive groups

struct Exclusive : Traits {
  void members(const std::vector<std::string>& names) {
    std::int32_t rank = 0;
    for (const std::string& name : names)
      traits.member(name, "g", ++rank, names.front()).group.represents = true;
  }
};

TEST_F(Exclusive, ASecondMemberWaitsWhileOneIsAdmitted) {
  members({"m1", "m2"});
  auto s = one_queue();
  s->submit(Job("m1", "q").cpu(1)).submit(Job("m2", "q").cpu(1));
  EXPECT_EQ(s->run(), Lines("reserved m1", "admitted m1"));
  EXPECT_EQ(s->why("m2"), "Pending: Workload ns/m1 of the same group is admitted already");
  s->after(1).remove("m1");
  EXPECT_EQ(s->run(), Lines("reserved m2", "admitted m2"));
}

TEST_F(Exclusive, OneThatReplacesTheOtherIsAdmittedInTheCommitThatEndsIt) {
  members({"m1", "m2"});
  traits.replaces("m2", "m1", hooks::ReplacedEnds::kDeactivated);
  auto s = one_queue();
  s->submit(Job("m1", "q").cpu(4)).run();
  s->submit(Job("m2", "q").cpu(4));
  EXPECT_EQ(s->run(),
            Lines("evicted m1 Replaced", "deactivated m1 Replaced", "reserved m2", "admitted m2"));
}

TEST_F(Exclusive, AFinishedMemberIsTheEndOfTheGroup) {
  members({"m1", "m2"});
  auto s = one_queue();
  s->submit(Job("m1", "q").cpu(1)).submit(Job("m2", "q").cpu(1)).run();
  s->after(1).finish("m1");
  EXPECT_EQ(s->run(), Lines("finished m1 Succeeded"));
  EXPECT_EQ(s->why("m2"), "Pending: Workload ns/m1 of the same group has finished");
}

TEST_F(Exclusive, OneThatWouldBePlacedNoBetterReplacesNobody) {
  // m2 may be placed on f or g, in this order, 4 of each.
  members({"m1", "m2"});
  traits.replaces("m2", "m1", hooks::ReplacedEnds::kDeactivated).replaces.only_better = true;
  Scenario s(Scenario::single_thread(), hooks);
  s.flavor("f").flavor("g").queue(Queue("q").quota("cpu", {{"f", 4}, {"g", 4}}));
  s.submit(Job("first", "q").cpu(3)).submit(Job("m1", "q").cpu(2)).run();
  s.submit(Job("m2", "q").cpu(2));
  EXPECT_EQ(s.run(), Log());  // f has 1: both would be on g
  EXPECT_EQ(s.why("m2"), "Pending: It would get no better flavor than ns/m1 has");
  s.after(1).finish("first");
  EXPECT_EQ(s.run(), Lines("finished first Succeeded", "evicted m1 Replaced",
                           "deactivated m1 Replaced", "reserved m2", "admitted m2"));
}

TEST_F(Exclusive, OneThatWouldRunFewerPodsReplacesNobody) {
  // m1 runs 4 pods on g; f has room for 3, which m2 would be content with.
  members({"m1", "m2"});
  traits.replaces("m2", "m1", hooks::ReplacedEnds::kDeactivated).replaces.only_better = true;
  Scenario s(Scenario::single_thread(), hooks);
  s.flavor("f").flavor("g").queue(Queue("q").quota("cpu", {{"f", 3}, {"g", 4}}));
  s.submit(Job("m1", "q").cpu(1).count(4)).run();
  s.submit(Job("m2", "q").cpu(1).count(4).min_count(1)).run();
  EXPECT_EQ(s.admitted(), "m1");
}

TEST_F(Exclusive, MembersThatAreHeadsOfTwoQueuesInOneCycleDoNotBothGetIn) {
  members({"m1", "m2"});
  Scenario s(Scenario::single_thread(), hooks);
  s.flavor("f").queue(Queue("q1").quota("cpu", {{"f", 4}}));
  s.queue(Queue("q2").quota("cpu", {{"f", 4}}));
  s.submit(Job("m2", "q2").cpu(1)).submit(Job("m1", "q1").cpu(1)).run();
  EXPECT_EQ(s.admitted(), "m1");
  s.after(1).remove("m1").run();  // wakes m2, though it is in another tree
  EXPECT_EQ(s.admitted(), "m2");
}

TEST_F(Exclusive, AMemberThatOnlyReservesDoesNotBlockTheOthers) {
  members({"m1", "m2"});
  auto s = one_queue(Queue("q").checked_by("check"));
  s->submit(Job("m1", "q").cpu(4)).submit(Job("m2", "q").cpu(3)).run();
  EXPECT_EQ(s->state("m1"), "reserved");
  EXPECT_EQ(s->state("m2"), "reserved");  // together they count as 4
}

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
  s->engine.verify_ledger();
}

TEST_F(Following, ItGoesWithTheOneThatItFollows) {
  auto s = grown();
  s->submit(Job("high", "q").cpu(4).priority(9)).run();
  EXPECT_EQ(s->state("high"), "reserved");
  EXPECT_EQ(s->state("grown"), "pending");
  EXPECT_EQ(s->state("old"), "pending");
  s->engine.verify_ledger();
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

// ---- represents, shape key

TEST_F(Traits, WhoRepresentsAnotherIsCountedAsThatOne) {
  traits.member("way", "g", 1, "plain").group.represents = true;
  traits.member("behind", "h", 1, "plain");  // only ordered as it
  traits.member("first", "h", 0, "first").group.represents = true;
  traits.member("lost", "i", 0, "nowhere").group.represents = true;
  auto s = one_queue();
  for (const char* name : {"way", "behind", "first", "lost", "plain"}) s->submit(Job(name, "q"));
  const auto id = [&](const std::string& name) { return *s->engine.find("ns/" + name); };
  EXPECT_EQ(s->engine.counted_as(id("way")), id("plain"));
  for (const char* name : {"behind", "first", "lost", "plain"})
    EXPECT_EQ(s->engine.counted_as(id(name)), id(name));
}

TEST_F(Traits, AShapeKeyKeepsLikeWorkloadsApart) {
  // a is parked for want of quota and takes its equal b along unseen; c differs by its key alone
  // and has its own turn, which is seen by the cycle that found its reason.
  traits.of("c").shape_key = "different";
  auto s = one_queue();
  s->submit(Job("a", "q").cpu(5)).submit(Job("b", "q").cpu(5));
  const auto cycles = s->engine.stats().cycles;
  s->run();
  const auto with_equal = s->engine.stats().cycles - cycles;
  s->submit(Job("c", "q").cpu(5)).run();
  EXPECT_EQ(with_equal, 1U);
  EXPECT_EQ(s->engine.stats().cycles - cycles, 2U);
}

// ---- lowered counts

TEST_F(Traits, LoweredCountsFreeQuotaInOneStepAndWakeTheTree) {
  traits.of("a").may_lower_counts = true;
  auto s = one_queue();
  s->submit(Job("a", "q").cpu(1).count(4)).submit(Job("b", "q").cpu(2)).run();
  s->after(1).submit(Job("a", "q").cpu(1).count(2));
  EXPECT_EQ(s->run(), Lines("lowered a", "reserved b", "admitted b"));
  EXPECT_EQ(s->assigned("a"), "main=2 cpu:f");
  EXPECT_EQ(s->engine.object(*s->engine.find("ns/a"))->pod_sets[0].count, 2);
}

TEST_F(Traits, LoweredCountsNeverGoUp) {
  traits.of("a").may_lower_counts = true;
  auto s = one_queue();
  s->submit(Job("a", "q").cpu(1).count(2)).run();
  s->submit(Job("a", "q").cpu(1).count(4)).submit(Job("b", "q").cpu(2)).run();
  EXPECT_EQ(s->assigned("a"), "main=2 cpu:f");
  EXPECT_EQ(s->admitted(), "a b");
}

TEST_F(Traits, WithoutTheTraitAChangedCountOfAHolderChangesNothing) {
  auto s = one_queue();
  s->submit(Job("a", "q").cpu(1).count(4)).submit(Job("b", "q").cpu(2)).run();
  s->after(1).submit(Job("a", "q").cpu(1).count(2));
  EXPECT_EQ(s->run(), Log());
  // Not even later, when its reclaimable pods are counted anew: 4 − 1 = 3 are in use, 1 is free.
  s->submit(Job("a", "q").cpu(1).count(2).reclaimable(1));
  EXPECT_EQ(s->run(), Log());
  s->submit(Job("c", "q").cpu(1));
  EXPECT_EQ(s->run(), Lines("reserved c", "admitted c"));
}

TEST_F(Traits, NobodyReplacesItself) {
  traits.replaces("a", "a");
  auto s = one_queue();
  s->submit(Job("a", "q").cpu(1));
  EXPECT_EQ(s->run(), Lines("reserved a", "admitted a"));
}

}  // namespace
}  // namespace sluice::testing
