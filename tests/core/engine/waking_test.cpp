// What is not looked at anew would have been decided the same: two engines play the same random
// worlds, one of which looks at all workloads. After each instant decisions, counted cycles and the
// reasons of those that wait are the same. SLUICE_WAKING_WORLDS=N plays N worlds in each test.
#include "tests/core/engine/random_world.hpp"
#include "tests/core/support/fake_hooks.hpp"
#include "tests/support/amount.hpp"

namespace sluice::testing {
namespace {

std::string said(const Scenario& s) {
  std::string out;
  for (const WorkloadId id : s.engine.workloads()) {
    const WorkloadView view = s.engine.view(id);
    out += s.engine.key(id) + " " + std::to_string(static_cast<int>(view.state)) + " " +
           view.reason + ": " + view.message + "\n";
  }
  return out;
}

/// Plays a plan both ways; answers with how many cycles there were, and how many wakes were quiet.
struct Played {
  std::uint64_t cycles = 0, quiet = 0;
};
Played play_both_ways(const Plan& plan, std::uint64_t seed, const hooks::HostHooks& hooks) {
  Player plain(plan, 1, hooks), quick(plan, 1, hooks);
  plain.scenario().engine.look_at_everybody();
  for (std::size_t i = 0; i < plan.instants.size(); ++i) {
    plain.tell();
    quick.tell();
    const Log expected = plain.play(i);
    EXPECT_EQ(quick.play(i), expected) << "seed " << seed << " instant " << i;
    EXPECT_EQ(said(quick.scenario()), said(plain.scenario()))
        << "seed " << seed << " instant " << i;
    EXPECT_EQ(quick.scenario().engine.stats().cycles, plain.scenario().engine.stats().cycles)
        << "seed " << seed << " instant " << i;
    if (::testing::Test::HasFailure()) break;
  }
  EXPECT_EQ(plain.scenario().engine.stats().quiet_wakes, 0U);
  const EngineStats stats = quick.scenario().engine.stats();
  return {stats.cycles, stats.quiet_wakes};
}

/// Draws the plan of a seed; the wakes that are quiet in all of them must be at least so many.
template <typename Draw>
void compare(int usual, std::uint64_t least_quiet, Draw&& draw,
             const hooks::HostHooks& hooks = {}) {
  Played all;
  const auto count = static_cast<std::uint64_t>(trial::amount("SLUICE_WAKING_WORLDS", usual));
  for (std::uint64_t seed = 1; seed <= count && !::testing::Test::HasFailure(); ++seed) {
    const Played one = play_both_ways(draw(seed), seed, hooks);
    all.cycles += one.cycles;
    all.quiet += one.quiet;
  }
  ::testing::Test::RecordProperty("cycles", std::to_string(all.cycles));
  ::testing::Test::RecordProperty("quiet", std::to_string(all.quiet));
  if (trial::asked_for("SLUICE_WAKING_WORLDS"))
    std::printf("%llu cycles, %llu quiet wakes\n", static_cast<unsigned long long>(all.cycles),
                static_cast<unsigned long long>(all.quiet));
  EXPECT_GE(all.quiet * static_cast<std::uint64_t>(usual), least_quiet * count)
      << "nothing was tested";
}

TEST(Waking, RandomWorldsDecideAsIfEverybodyWereLookedAt) {
  compare(60, 3, [](std::uint64_t seed) { return Planner(seed).draw(3, 4, 12); });
}

TEST(Waking, FullWorldsDecideAsIfEverybodyWereLookedAt) {
  compare(60, 100, [](std::uint64_t seed) { return Planner(seed).draw_full(2, 5, 40); });
}

TEST(Waking, VariedWorldsDecideAsIfEverybodyWereLookedAt) {
  compare(60, 50, [](std::uint64_t seed) { return Planner(seed).varied().draw_full(2, 5, 40); });
}

/// Some may not preempt, and some are no victims, by their names alone.
struct VetoByName final : hooks::PreemptionVeto {
  void veto(const hooks::VetoQuery& query, hooks::VetoAnswer& answer,
            hooks::Fault& fault) const override {
    (void)fault;
    const auto is_one_of = [](const api::Workload& w, unsigned many) {
      unsigned sum = 0;
      for (const char c : w.meta.name) sum = sum * 31U + static_cast<unsigned char>(c);
      return sum % many == 0;
    };
    answer.may_not_preempt = is_one_of(query.preemptor, 7);
    answer.reason = "not this one";
    for (std::size_t i = 0; i < query.candidates.size(); ++i)
      answer.protected_[i] = is_one_of(*query.candidates[i], 3) ? 1 : 0;
  }
};

TEST(Waking, FullWorldsWithVetoesDecideAsIfEverybodyWereLookedAt) {
  VetoByName veto;
  hooks::HostHooks hooks;
  hooks.preemption_veto = &veto;
  compare(
      120, 100,
      [](std::uint64_t seed) {
        return seed % 2 == 0 ? Planner(seed).draw_full(2, 5, 40)
                             : Planner(seed).varied().draw_full(2, 5, 40);
      },
      hooks);
}

TEST(Waking, FullWorldsWithChecksDecideAsIfEverybodyWereLookedAt) {
  compare(40, 5, [](std::uint64_t seed) { return Planner(seed).draw_with_checks(2, 5, 20); });
}

// p has 6 and runs six of 1 that end one after the other; b waits in q for its cpu. A release after
// which b does not fit yet looks at nobody, and the one after which it fits lets it start.
TEST(Waking, WhoWaitsStartsWithTheReleaseThatMakesRoom) {
  const auto q = [](std::int64_t cpu) { return Queue("q").cohort("c").quota("cpu", {{"f", cpu}}); };
  const struct {
    const char* what;
    std::function<void(Scenario&)> queue;
    std::int64_t cpu;
    int ended;  // then it fits
  } cases[] = {
      {"2 of its own, and 2 borrowed", [&](Scenario& s) { s.queue(q(2)); }, 4, 2},
      {"2 of its own, and as much as it may borrow",
       [&](Scenario& s) { s.queue(q(2).borrowing_limit(2)); }, 4, 2},
      {"2 of its own that it lends to nobody, and 2 borrowed",
       [&](Scenario& s) { s.queue(q(2).lending_limit(0)); }, 4, 2},
      {"2 that it lends to nobody, and as much as it may borrow",
       [&](Scenario& s) { s.queue(q(2).lending_limit(0).borrowing_limit(2)); }, 4, 2},
      {"it uses 3 of its own, of which it lends 1, and borrows as much as it may",
       [&](Scenario& s) {
         s.queue(q(3).lending_limit(1).borrowing_limit(2)).submit(Job("own", "q").cpu(3)).run();
       },
       2, 2},
      {"2 that its cohort lends to nobody, and 2 borrowed",
       [&](Scenario& s) {
         s.cohort(CohortOf("inner", "c").quota("cpu", {{"f", 2}}).lending_limit(0));
         s.queue(q(0).cohort("inner"));
       },
       4, 2},
      {"2 that its cohort lends to nobody, and as much as its cohort may borrow",
       [&](Scenario& s) {
         s.cohort(
             CohortOf("inner", "c").quota("cpu", {{"f", 2}}).lending_limit(0).borrowing_limit(2));
         s.queue(q(0).cohort("inner"));
       },
       4, 2},
  };
  for (const auto& each : cases) {
    Scenario s;
    s.flavor("f").queue(Queue("p").cohort("c").quota("cpu", {{"f", 6}}));
    each.queue(s);
    for (const char* name : {"1", "2", "3", "4", "5", "6"}) s.submit(Job(name, "p").cpu(1));
    s.run();
    s.after(1).submit(Job("b", "q").cpu(each.cpu)).run();
    int ended = 0;
    while (s.state("b") == "pending" && ended < 6) s.after(1).finish(std::to_string(++ended)).run();
    EXPECT_EQ(ended, each.ended) << each.what;
    EXPECT_EQ(s.engine.stats().quiet_wakes, 1U) << each.what;
  }
}

// b asks for all 4, of which three of 1 run in its own queue and end one after the other: what it
// is told is how many it lacks now, whomever it might preempt.
TEST(Waking, WhoWaitsIsToldWhatItLacksNow) {
  const std::function<Queue(Queue)> policies[] = {
      [](Queue q) { return q; },
      [](Queue q) { return q.lower_priority(); },
      [](Queue q) { return q.reclaim_any(); },
      [](Queue q) { return q.lower_priority().reclaim_any().borrow_within_cohort(); },
  };
  for (const char* cohort : {"c", "inner"})
    for (const auto& policy : policies) {
      Scenario s;
      s.flavor("f").cohort(CohortOf("inner", "c"));
      s.queue(policy(Queue("q").cohort(cohort).quota("cpu", {{"f", 4}})));
      for (const char* name : {"1", "2", "3"}) s.submit(Job(name, "q").cpu(1));
      s.run();
      s.after(1).submit(Job("b", "q").cpu(4)).run();
      for (int ended = 0; ended < 3; s.after(1).finish(std::to_string(++ended)).run())
        EXPECT_NE(s.why("b").find(std::to_string(3 - ended) + " more needed"), std::string::npos)
            << &policy - policies << cohort << s.why("b");
      EXPECT_EQ(s.state("b"), "admitted");
    }
}

// b asks for all that its queue has, 4 gpus and 2 cpus, of which others borrow 3 gpus. They give
// them back one after the other, and b is told when its cpus are gone, too; when all are back, it
// starts. Below a cohort with a limit it is looked at each time.
TEST(Waking, WhoHasOneOfTwoResourcesIsToldWhenThatIsGoneToo) {
  for (const std::string cohort : {"c", "inner", "limited"}) {
    Scenario s;
    s.flavor("f").cohort(CohortOf("inner", "c"));
    s.cohort(CohortOf("limited", "c").quota("cpu", {{"f", 0}}).with("gpu", {0}).borrowing_limit(1));
    s.queue(Queue("q").cohort(cohort).quota("cpu", {{"f", 2}}).with("gpu", {4}));
    s.queue(Queue("p").cohort("c").quota("cpu", {{"f", 4}}).with("gpu", {0}));
    for (const char* name : {"1", "2", "3"}) s.submit(Job(name, "p").request("gpu", 1));
    s.submit(Job("all", "p").cpu(4)).run();
    s.after(1).submit(Job("b", "q").cpu(2).request("gpu", 4)).run();
    s.after(1).finish("1").run();
    EXPECT_EQ(s.engine.stats().quiet_wakes, cohort == "limited" ? 0U : 1U) << cohort;
    EXPECT_EQ(s.why("b").find("cpu"), std::string::npos) << s.why("b");
    s.after(1).submit(Job("more", "p").cpu(1)).run();
    s.after(1).finish("2").run();
    EXPECT_NE(s.why("b").find("cpu"), std::string::npos) << s.why("b");
    s.after(1).finish("more").run();
    EXPECT_EQ(s.state("b"), "pending");
    s.after(1).finish("3").run();
    EXPECT_EQ(s.state("b"), "admitted") << cohort;
  }
}

// Its 2 cpus are lent to nobody, so that they stay; of 4 gpus there are 2, then 3.
TEST(Waking, WhoHasWhatNobodyElseGetsIsNotLookedAt) {
  Scenario s;
  s.flavor("f");
  s.queue(Queue("q").cohort("c").quota("cpu", {{"f", 2}}).with("gpu", {0}).lending_limit(0));
  s.queue(Queue("p").cohort("c").quota("cpu", {{"f", 4}}).with("gpu", {4}));
  for (const char* name : {"1", "2", "3"}) s.submit(Job(name, "p").request("gpu", 1));
  s.submit(Job("all", "p").cpu(4)).run();
  s.after(1).submit(Job("b", "q").cpu(2).request("gpu", 4)).run();
  for (const char* name : {"1", "2"}) s.after(1).finish(name).run();
  EXPECT_EQ(s.engine.stats().quiet_wakes, 2U);
}

// p has 5 and runs 1, 2 and 2 of them; b waits for 2. When the 1 is given back nobody is looked at;
// then comes a queue without cohort, and what b lacks is known anew: the next release lets it
// start.
TEST(Waking, WhoWaitsStartsAlsoAfterAChangeElsewhere) {
  Scenario s;
  s.flavor("f").queue(Queue("p").cohort("c").quota("cpu", {{"f", 5}}));
  s.queue(Queue("q").cohort("c").quota("cpu", {{"f", 0}}));
  s.submit(Job("1", "p").cpu(1)).submit(Job("2", "p").cpu(2)).submit(Job("3", "p").cpu(2)).run();
  s.after(1).submit(Job("b", "q").cpu(2)).run();
  s.after(1).finish("1").run();
  EXPECT_EQ(s.engine.stats().quiet_wakes, 1U);
  s.after(1).queue(Queue("elsewhere").quota("cpu", {{"f", 1}})).run();
  s.after(1).finish("2").run();
  EXPECT_EQ(s.state("b"), "admitted");
}

// Of 8, p uses 6 and newer, which has b's priority, 1: b of 4 lacks 3, and with what newer has 2.
// It preempts newer with the second release of 1, where it may.
TEST(Waking, WhatItMightPreemptCountsForOneThatWaits) {
  using api::WithinClusterQueue;
  for (const auto policy :
       {WithinClusterQueue::kLowerPriority, WithinClusterQueue::kLowerOrNewerEqualPriority}) {
    const bool may = policy == WithinClusterQueue::kLowerOrNewerEqualPriority;
    Scenario s;
    s.flavor("f").queue(Queue("p").cohort("c").quota("cpu", {{"f", 4}}));
    s.queue(Queue("q").cohort("c").quota("cpu", {{"f", 4}}).within(policy));
    for (const char* name : {"1", "2"}) s.submit(Job(name, "p").cpu(1));
    s.submit(Job("more", "p").cpu(4)).submit(Job("newer", "q").cpu(1).created(200)).run();
    s.after(1).submit(Job("b", "q").cpu(4).created(100)).run();
    s.after(1).finish("1").run();
    EXPECT_EQ(s.admitted(), "2 more newer");
    s.after(1).finish("2").run();
    EXPECT_EQ(s.admitted(), may ? "b more" : "more newer");
    EXPECT_EQ(s.engine.stats().quiet_wakes, may ? 1U : 2U);
  }
}

// b would start with two of its four pods: of 4, four of 1 run, and the second that ends makes
// room.
TEST(Waking, OneThatMayStartWithFewerPodsStartsWhenThereIsRoomForThose) {
  Scenario s;
  s.flavor("f").queue(Queue("q").quota("cpu", {{"f", 4}}));
  for (const char* name : {"1", "2", "3", "4"}) s.submit(Job(name, "q").cpu(1));
  s.run();
  s.after(1).submit(Job("b", "q").cpu(1).count(4).min_count(2)).run();
  s.after(1).finish("1").run();
  EXPECT_EQ(s.state("b"), "pending");
  s.after(1).finish("2").run();
  EXPECT_EQ(s.assigned("b"), "main=2 cpu:f");
}

// Of p's 6, b waits for 4 and d for 3 of q. Nobody is looked at when 1 is given back, but both are
// told what they lack then, also once a queue without cohort has come.
TEST(Waking, AllThatWaitAreToldWhatTheyLackedWhenNobodyWasLookedAt) {
  Scenario s;
  s.flavor("f").queue(Queue("p").cohort("c").quota("cpu", {{"f", 6}}));
  s.queue(Queue("q").cohort("c").quota("cpu", {{"f", 0}}));
  s.submit(Job("1", "p").cpu(1)).submit(Job("5", "p").cpu(5)).run();
  s.after(1).submit(Job("b", "q").cpu(4)).submit(Job("d", "q").cpu(3)).run();
  s.after(1).finish("1").run();
  EXPECT_EQ(s.engine.stats().quiet_wakes, 1U);
  s.after(1).queue(Queue("elsewhere").quota("cpu", {{"f", 1}})).run();
  EXPECT_NE(s.why("b").find("3 more needed"), std::string::npos) << s.why("b");
  EXPECT_NE(s.why("d").find("2 more needed"), std::string::npos) << s.why("d");
}

// Of 9, p uses 6 and b of q's 4 lacks 1, which it may reclaim from nobody, until x of a lower
// priority borrows the last 3. The next release does not make room, and is a reason to look at b.
TEST(Waking, OneThatMayReclaimIsLookedAtWithEveryRelease) {
  Scenario s;
  s.flavor("f").queue(Queue("p").cohort("c").quota("cpu", {{"f", 5}}));
  s.queue(Queue("q")
              .cohort("c")
              .quota("cpu", {{"f", 4}})
              .reclaim(api::ReclaimWithinCohort::kLowerPriority));
  s.submit(Job("1", "p").cpu(1).priority(9)).submit(Job("5", "p").cpu(5).priority(9)).run();
  s.after(1).submit(Job("b", "q").cpu(4).priority(5)).run();
  s.after(1).submit(Job("x", "p").cpu(3).priority(1)).run();
  EXPECT_EQ(s.admitted(), "1 5 x");
  s.after(1).finish("1").run();
  EXPECT_EQ(s.admitted(), "5 b");
}

// b of q's 4, of which mine uses 2, finds nobody to preempt: p uses its own 4. Then x borrows 2,
// and a plugin protects it. With the next release b is told so, although it does not fit then
// either.
TEST(Waking, WhoFindsSomebodyThatIsProtectedIsToldSo) {
  FakeVeto veto;
  veto.hands_off = {"x"};
  veto.reason = "hands off";
  hooks::HostHooks hooks;
  hooks.preemption_veto = &veto;
  Scenario s(Scenario::single_thread(), hooks);
  s.flavor("f").queue(Queue("p").cohort("c").quota("cpu", {{"f", 4}}));
  s.queue(Queue("q").cohort("c").quota("cpu", {{"f", 4}}).reclaim_any());
  s.submit(Job("mine", "q").cpu(2)).submit(Job("1", "p").cpu(1)).submit(Job("3", "p").cpu(3)).run();
  s.after(1).submit(Job("b", "q").cpu(4)).run();
  EXPECT_EQ(s.why("b").find("hands off"), std::string::npos) << s.why("b");
  s.after(1).submit(Job("x", "p").cpu(2)).run();
  s.after(1).finish("1").run();
  EXPECT_NE(s.why("b").find("hands off"), std::string::npos) << s.why("b");
}

}  // namespace
}  // namespace sluice::testing
