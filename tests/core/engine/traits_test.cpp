// What the traits of a workload mean (mechanisms 1 to 3): whether it takes part, which it stands
// for, what fits. Groups and replacements have files of their own.
#include "core/engine/workload_views.hpp"
#include "core/model/model.hpp"
#include "tests/core/engine/traits_fixture.hpp"

namespace sluice::testing {
namespace {

// ---- takes part

TEST_F(Traits, WhoTakesNoPartIsNeverQueuedAndSaysWhy) {
  traits.of("a").takes_part = false;
  traits.of("a").takes_no_part_because = "its variants stand for it";
  auto s = one_queue();
  s->submit(Job("a", "q").cpu(1)).submit(Job("b", "q").cpu(4));
  EXPECT_EQ(s->run(), Lines("reserved b", "admitted b"));
  EXPECT_EQ(s->why("a"), "OnHold: its variants stand for it");
}

/// As a dump has it: a is admitted on 4 cores of f.
Job ran_on_all_four() {
  Job a = Job("a", "q").cpu(4);
  a.object.status.conditions = {{"QuotaReserved", "True", "QuotaReserved", "", 0, 0},
                                {"Admitted", "True", "Admitted", "", 0, 0}};
  a.object.status.admission.emplace();
  a.object.status.admission->cluster_queue = "q";
  api::PodSetAssignment& p = a.object.status.admission->pod_sets.emplace_back();
  p.count = 1;
  p.flavors.set("cpu", "f");
  return a;
}

TEST_F(Traits, WhoTakesNoPartHoldsNothingEvenWhenADumpSaysSo) {
  traits.of("a").takes_part = false;
  auto s = one_queue();
  s->submit(ran_on_all_four()).submit(Job("b", "q").cpu(4));
  EXPECT_EQ(s->run(), Lines("reserved b", "admitted b"));
  EXPECT_EQ(s->state("a"), "admitted");  // as its plugin wrote
}

TEST_F(Traits, WhoTakesPartAgainWhileItIsTurnedOffStaysOff) {
  for (const bool ran : {false, true}) {
    traits.of("a").takes_part = false;
    auto s = one_queue();
    s->submit(ran ? ran_on_all_four().active(false) : Job("a", "q").cpu(4).active(false)).run();
    traits.table.clear();
    s->traits_changed("a");
    EXPECT_EQ(s->run(), Log());
    EXPECT_EQ(s->state("a"), "inactive");
    EXPECT_EQ(s->submit(Job("b", "q").cpu(4)).run(), Lines("reserved b", "admitted b"));
  }
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
  a.object.status.admission->pod_sets.emplace_back();
  s->submit(a).run();
  EXPECT_EQ(s->assigned("a"), "");
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
  s->queue(Queue("q").quota("cpu", {{"f", 8}}));  // all that wait are looked at again
  EXPECT_EQ(s->run(), Log());
  EXPECT_EQ(s->admitted(), "");
  EXPECT_EQ(s->engine.view(*s->engine.find("ns/a")).state, WorkloadState::kInactive);
}

TEST_F(Traits, AskedForAgainTheyRepeatNothingOfAnOldStatus) {
  // Its pods were ready before it was evicted: admitted again they are not, whatever was told then.
  auto s = one_queue();
  s->submit(Job("a", "q").cpu(1)).run();
  s->submit(Job("a", "q").cpu(1).ready(true)).run();
  const auto told = [&s] {
    const api::WorkloadStatus status = s->engine.status(*s->engine.find("ns/a"));
    return *status.condition("PodsReady");
  };
  traits.of("a").may_lower_counts = true;
  s->traits_changed("a").run();
  EXPECT_EQ(told().status + " " + told().reason, "True Started");
  s->queue(Queue("q").quota("cpu", {{"f", 4}}).stop(api::StopPolicy::kHoldAndDrain)).run();
  s->queue(Queue("q").quota("cpu", {{"f", 4}})).run();
  EXPECT_EQ(s->admitted(), "a");
  traits.of("a").may_lower_counts = false;
  s->traits_changed("a").run();
  EXPECT_EQ(told().status + " " + told().reason, "False WaitForStart");
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
  EXPECT_FALSE(takes_part(s->engine.model(), *s->engine.find("ns/a")));
  EXPECT_TRUE(takes_part(s->engine.model(), *s->engine.find("ns/b")));
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

// ---- represents, shape key

TEST_F(Traits, WhoRepresentsAnotherIsCountedAsThatOne) {
  traits.member("way", "g", 1, "plain").group.represents = true;
  traits.member("behind", "h", 1, "plain");  // only ordered as it
  traits.member("first", "h", 0, "first").group.represents = true;
  traits.member("lost", "i", 0, "nowhere").group.represents = true;
  auto s = one_queue();
  for (const char* name : {"way", "behind", "first", "lost", "plain"}) s->submit(Job(name, "q"));
  const auto id = [&](const std::string& name) { return *s->engine.find("ns/" + name); };
  EXPECT_EQ(s->engine.model().counted_as(id("way")), id("plain"));
  for (const char* name : {"behind", "first", "lost", "plain"})
    EXPECT_EQ(s->engine.model().counted_as(id(name)), id(name));
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

TEST_F(Traits, OneThatIsOffSaysWhyOnceThatIsKnown) {
  auto s = one_queue();
  s->submit(Job("a", "q").cpu(1).active(false)).run();
  traits.of("a").inactive_because = "all of its ways were rejected";
  s->traits_changed("a").run();
  EXPECT_EQ(s->condition("a", "QuotaReserved"), "False Deactivated: all of its ways were rejected");
}

}  // namespace
}  // namespace sluice::testing
