// Vetoes, filters, flavor search and their faults, with hooks answered from tables.
#include "tests/core/support/fake_hooks.hpp"
#include "tests/core/support/scenario.hpp"

namespace sluice::testing {
namespace {

struct Hooks : ::testing::Test {
  FakeVeto veto;
  FakeFilter filter;
  FakeSearch search;

  /// q of 4 cores on f and 4 on g, with `low` of 4 on f running.
  std::unique_ptr<Scenario> with(hooks::HostHooks hooks, const FlavorAmounts& quota = {{"f", 4}}) {
    auto s = std::make_unique<Scenario>(Scenario::single_thread(), hooks);
    for (const auto& [flavor, units] : quota) s->flavor(flavor);
    s->queue(Queue("q").quota("cpu", quota).lower_priority());
    return s;
  }
  hooks::HostHooks vetoed() {
    hooks::HostHooks hooks;
    hooks.preemption_veto = &veto;
    return hooks;
  }
  hooks::HostHooks filtered() {
    hooks::HostHooks hooks;
    hooks.flavor_filter = &filter;
    return hooks;
  }
  hooks::HostHooks searched() {
    hooks::HostHooks hooks;
    hooks.flavor_search = &search;
    return hooks;
  }
};

TEST_F(Hooks, AVetoedPreemptionWaitsWithThePluginsReasonAndReservesNothing) {
  veto.may_not["high"] = "a better variant is on its way";
  auto s = with(vetoed());
  s->submit(Job("low", "q").cpu(3)).run();
  // 1 of 4 is left; high wants 2 and may not preempt; small of 1 slips in behind it.
  s->submit(Job("high", "q").cpu(2).priority(9)).submit(Job("small", "q").cpu(1));
  EXPECT_EQ(s->run(), Lines("reserved small", "admitted small"));
  EXPECT_NE(s->why("high").find("a better variant is on its way"), std::string::npos)
      << s->why("high");
}

TEST_F(Hooks, TheVetoEndsWithARequeue) {
  veto.may_not["high"] = "not yet";
  auto s = with(vetoed());
  s->submit(Job("low", "q").cpu(4)).run();
  s->submit(Job("high", "q").cpu(2).priority(9)).run();
  veto.may_not.clear();
  EXPECT_EQ(s->after(1).run(), Log());  // hooks are not called again by themselves
  s->engine.requeue("ns/high");
  EXPECT_EQ(s->run(),
            Lines("evicted low InClusterQueue by high", "reserved high", "admitted high"));
}

TEST_F(Hooks, WhoUsesNothingOfWhatIsContestedIsNoCandidate) {
  // p lacks cpus, which high has; low has gpus alone.
  veto.hands_off = {"low"};
  veto.reason = "it is young";
  auto s = with(vetoed());
  s->queue(Queue("q").quota("cpu", {{"f", 4}}).with("gpu", {4}).lower_priority());
  s->submit(Job("low", "q").request("gpu", 4)).submit(Job("high", "q").cpu(4).priority(9)).run();
  s->submit(Job("p", "q").cpu(4).priority(5)).run();
  EXPECT_EQ(s->why("p").find("it is young"), std::string::npos) << s->why("p");
}

TEST_F(Hooks, AProtectedCandidateIsPassedOver) {
  veto.hands_off = {"low1"};
  auto s = with(vetoed());
  s->submit(Job("low1", "q").cpu(2)).submit(Job("low2", "q").cpu(2).priority(1)).run();
  s->submit(Job("high", "q").cpu(2).priority(9)).run();
  EXPECT_EQ(s->admitted(), "high low1");
}

TEST_F(Hooks, WhenAllAreProtectedThePluginsReasonIsShownAndNothingIsReserved) {
  veto.hands_off = {"low"};
  veto.reason = "low is being migrated";
  auto s = with(vetoed());
  s->submit(Job("low", "q").cpu(3)).run();
  s->submit(Job("high", "q").cpu(2).priority(9)).submit(Job("small", "q").cpu(1)).run();
  EXPECT_EQ(s->admitted(), "low small");
  EXPECT_NE(s->why("high").find("low is being migrated"), std::string::npos) << s->why("high");
}

TEST_F(Hooks, AVetoSeesSinceWhenCandidatesAreAdmitted) {
  auto s = with(vetoed());
  s->submit(Job("old", "q").cpu(2)).run();
  s->after(60);
  veto.young_since = s->now();
  s->submit(Job("young", "q").cpu(2)).run();
  s->submit(Job("high", "q").cpu(2).priority(9)).run();
  EXPECT_EQ(s->admitted(), "high young");
}

TEST_F(Hooks, AVetoDoesNotMatterToOneThatFits) {
  veto.may_not["a"] = "no";
  auto s = with(vetoed());
  EXPECT_EQ(s->submit(Job("a", "q").cpu(4)).run(), Lines("reserved a", "admitted a"));
}

TEST_F(Hooks, AFaultyVetoIsAVetoThatNamesThePlugin) {
  for (const bool alone : {true, false}) {
    veto.faulty_alone = alone;
    veto.faulty_with_candidates = !alone;
    auto s = with(vetoed());
    s->submit(Job("low", "q").cpu(4)).run();
    EXPECT_EQ(s->submit(Job("high", "q").cpu(2).priority(9)).run(), Log());
    EXPECT_NE(s->why("high").find("veto-plugin"), std::string::npos) << s->why("high");
    EXPECT_EQ(s->admitted(), "low");
  }
}

TEST_F(Hooks, AFilteredFlavorIsSkippedWithItsReason) {
  filter.skips["f"] = "f is for interactive work";
  auto s = with(filtered(), {{"f", 4}, {"g", 4}});
  s->submit(Job("a", "q").cpu(3)).submit(Job("b", "q").cpu(3)).run();
  EXPECT_EQ(s->assigned("a"), "main=1 cpu:g");
  EXPECT_EQ(s->why("b"),
            "WaitingForQuota: couldn't assign flavors to pod set main: f is for interactive work, "
            "insufficient unused quota for cpu in flavor g, 2 more needed");
}

TEST_F(Hooks, AFilterSeesTheLabelsOfFlavorsAndTheQueue) {
  filter.zone = "b";
  auto s = std::make_unique<Scenario>(Scenario::single_thread(), filtered());
  const auto zone = [](const char* name) {
    api::LabelMap out;
    out.set("zone", name);
    return out;
  };
  s->flavor("f", zone("a")).flavor("g", zone("b"));
  s->queue(Queue("q").quota("cpu", {{"f", 4}, {"g", 4}}));
  s->submit(Job("a", "q").cpu(3)).submit(Job("b", "q").cpu(3)).run();
  EXPECT_EQ(s->assigned("a"), "main=1 cpu:g");
  EXPECT_EQ(s->why("b"),
            "WaitingForQuota: couldn't assign flavors to pod set main: f of q is not in b, "
            "insufficient unused quota for cpu in flavor g, 2 more needed");
}

TEST_F(Hooks, ASkipWithoutAReasonIsNotSpokenOf) {
  filter.skips["f"] = "";
  auto s = with(filtered(), {{"f", 4}, {"g", 4}});
  s->submit(Job("a", "q").cpu(3)).submit(Job("b", "q").cpu(3)).run();
  EXPECT_EQ(s->why("b"),
            "WaitingForQuota: couldn't assign flavors to pod set main: insufficient unused quota "
            "for cpu in flavor g, 2 more needed");
}

TEST_F(Hooks, TheWalkDoesNotGoOnWhereOnlySkippedFlavorsAreLeft) {
  // b found f for its cpus and waits for gpus on h: the next walk begins with f again, as g is not
  // for it, and says what is missing instead of nothing.
  filter.skips["g"] = "";
  auto s = std::make_unique<Scenario>(Scenario::single_thread(), filtered());
  for (const char* flavor : {"f", "g", "h"}) s->flavor(flavor);
  s->queue(Queue("q").quota("cpu", {{"f", 4}, {"g", 4}}).quota("gpu", {{"h", 4}}));
  s->submit(Job("a", "q").request("gpu", 4)).submit(Job("c", "q").cpu(4)).run();
  s->submit(Job("b", "q").cpu(2).request("gpu", 4)).run();
  s->after(1).finish("c").run();
  EXPECT_EQ(s->why("b"),
            "WaitingForQuota: couldn't assign flavors to pod set main: insufficient unused quota "
            "for gpu in flavor h, 4 more needed");
}

TEST_F(Hooks, AFaultyFilterKeepsItPendingAndEvictsNobody) {
  auto s = with(filtered());
  s->submit(Job("low", "q").cpu(4)).run();
  filter.faulty = true;
  EXPECT_EQ(s->submit(Job("high", "q").cpu(2).priority(9)).run(), Log());
  EXPECT_EQ(s->why("high"), "Pending: filter-plugin: it threw an exception");
}

TEST_F(Hooks, AFaultySearchKeepsItPendingAndEvictsNobody) {
  for (int which = 0; which < 2; ++which) {
    auto s = with(searched(), {{"f", 4}, {"g", 4}});
    s->submit(Job("low1", "q").cpu(4)).submit(Job("low2", "q").cpu(4)).run();
    search.faulty_verdict = which == 0;
    search.faulty_better = which == 1;
    EXPECT_EQ(s->submit(Job("high", "q").cpu(2).priority(9)).run(), Log());
    EXPECT_EQ(s->why("high"), "Pending: search-plugin: it answered nonsense");
    search.faulty_verdict = search.faulty_better = false;
  }
}

TEST_F(Hooks, StopHereTakesAWorseFlavorEvenAfterABetterOne) {
  // f fits, but the plugin goes on; g needs borrowing and is taken because it says stop.
  search.verdict = [](const hooks::SearchStep& step) {
    return step.has_best ? hooks::SearchVerdict::kStopHere : hooks::SearchVerdict::kGoOn;
  };
  Scenario s(Scenario::single_thread(), searched());
  s.flavor("f").flavor("g");
  s.queue(Queue("q").cohort("c").quota("cpu", {{"f", 4}, {"g", 0}}));
  s.queue(Queue("lender").cohort("c").quota("cpu", {{"g", 4}}));
  s.submit(Job("a", "q").cpu(1)).run();
  EXPECT_EQ(s.assigned("a"), "main=1 cpu:g");
}

TEST_F(Hooks, StopBestTakesTheBetterOne) {
  search.verdict = [](const hooks::SearchStep& step) {
    return step.has_best ? hooks::SearchVerdict::kStopBest : hooks::SearchVerdict::kGoOn;
  };
  Scenario s(Scenario::single_thread(), searched());
  s.flavor("f").flavor("g");
  s.queue(Queue("q").cohort("c").quota("cpu", {{"f", 4}, {"g", 0}}));
  s.queue(Queue("lender").cohort("c").quota("cpu", {{"g", 4}}));
  s.submit(Job("a", "q").cpu(1)).run();
  EXPECT_EQ(s.assigned("a"), "main=1 cpu:f");
}

TEST_F(Hooks, OneThatFitsWholeIsNotTriedWithFewerPods) {
  int looks = 0;
  search.verdict = [&looks](const hooks::SearchStep&) {
    ++looks;
    return hooks::SearchVerdict::kGoOn;
  };
  auto s = with(searched());
  s->submit(Job("a", "q").cpu(1).count(4).min_count(1)).run();
  EXPECT_EQ(s->assigned("a"), "main=4 cpu:f");
  EXPECT_EQ(looks, 1);
}

TEST_F(Hooks, OneWithoutVictimsReservesWhereNobodyIsProtected) {
  // q uses its 4, and low's 1 does not make room for high's 4: nothing was vetoed, so that small,
  // which comes after it, gets none of the 2 that are left.
  veto.hands_off = {"somebody else"};
  Scenario s(Scenario::single_thread(), vetoed());
  s.flavor("f").queue(Queue("q").cohort("c").quota("cpu", {{"f", 4}}).lower_priority());
  s.queue(Queue("other").cohort("c").quota("cpu", {{"f", 0}}));
  s.cohort(CohortOf("c").quota("cpu", {{"f", 2}}));
  s.submit(Job("low", "q").cpu(1)).submit(Job("higher", "q").cpu(3).priority(10)).run();
  s.submit(Job("high", "q").cpu(4).priority(9)).submit(Job("small", "other").cpu(2)).step();
  EXPECT_EQ(s.admitted(), "higher low");
}

TEST_F(Hooks, AnotherReasonOfAFilterIsToldAnew) {
  auto s = with(filtered());
  filter.skips["f"] = "f is for interactive work";
  s->submit(Job("a", "q").cpu(1)).run();
  for (const Log& told : {Log(), Lines("pending a NoMatchingFlavor: couldn't assign flavors to pod "
                                       "set main: f is for nobody")}) {
    s->after(1).engine.requeue("ns/a");
    EXPECT_EQ(s->run_told(), told);
    filter.skips["f"] = "f is for nobody";
  }
}

}  // namespace
}  // namespace sluice::testing
