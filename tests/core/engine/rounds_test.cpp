// One cycle after the other until an instant is at rest (semantics 2), and what is left then.
#include <rapidcheck.h>

#include "core/model/model.hpp"
#include "tests/core/engine/random_world.hpp"

namespace sluice::testing {
namespace {

/// Cycles until rest.
std::uint64_t cycles_of(Scenario& s) {
  const std::uint64_t before = s.engine.stats().cycles;
  s.run();
  return s.engine.stats().cycles - before;
}

TEST(Rounds, AnInstantRestsWhenNoQueueHasAHead) {
  struct Case {
    const char* what;
    std::function<void(Scenario&)> events;
    std::uint64_t cycles;
  };
  const Case cases[] = {
      {"nothing came", [](Scenario&) {}, 0},
      {"one head, reserved", [](Scenario& s) { s.submit(Job("a", "q").cpu(1)); }, 1},
      {"one after the other",
       [](Scenario& s) { s.submit(Job("a", "q").cpu(1)).submit(Job("b", "q").cpu(1)); }, 2},
      {"two queues in one cycle",
       [](Scenario& s) { s.submit(Job("a", "q").cpu(1)).submit(Job("b", "r").cpu(1)); }, 1},
      {"a head that is parked", [](Scenario& s) { s.submit(Job("a", "q").cpu(9)); }, 1},
      {"equals are parked with it",
       [](Scenario& s) { s.submit(Job("a", "q").cpu(9)).submit(Job("b", "q").cpu(9)); }, 1},
  };
  for (const Case& each : cases) {
    Scenario s;
    s.flavor("f");
    for (const char* name : {"q", "r"}) s.queue(Queue(name).quota("cpu", {{"f", 4}}));
    s.run();
    each.events(s);
    EXPECT_EQ(cycles_of(s), each.cycles) << each.what;
    EXPECT_EQ(cycles_of(s), 0U) << each.what << ": it is at rest";
  }
}

TEST(Rounds, AHeadThatBlocksAStrictQueueIsTriedTwelveTimesAndThenTheInstantRests) {
  Scenario s;
  s.flavor("f").queue(Queue("q").quota("cpu", {{"f", 4}}).strict());
  s.submit(Job("big", "q").cpu(9)).submit(Job("small", "q").cpu(1));
  EXPECT_EQ(cycles_of(s), 12U);
  EXPECT_EQ(s.admitted(), "");
  EXPECT_EQ(cycles_of(s), 0U);
  s.after(1);
  EXPECT_EQ(cycles_of(s), 12U) << "in the next instant it is looked at again";
}

TEST(Rounds, AHeadThatMayNotBeTriedBlocksAStrictQueueForAsManyCycles) {
  Scenario s;
  s.flavor("f").queue(Queue("q").quota("cpu", {{"f", 4}}).strict());
  s.submit(Job("bad", "q").cpu(1).invalid_limits("requests exceed limits"));
  EXPECT_EQ(cycles_of(s), 12U);
  EXPECT_EQ(cycles_of(s), 0U);
}

TEST(Rounds, WhatMovedBetweenTwoCyclesStartsTheCountAnew) {
  Scenario s;
  s.flavor("f").queue(Queue("q").quota("cpu", {{"f", 4}}).strict());
  s.submit(Job("big", "q").cpu(9));
  ASSERT_TRUE(s.step());
  s.submit(Job("other", "q").cpu(1).priority(5));
  s.run();
  EXPECT_EQ(s.admitted(), "other");
}

TEST(Rounds, WhatIsReportedStartsTheCountAnew) {
  Scenario s;
  s.flavor("f").queue(Queue("q").quota("cpu", {{"f", 4}}).strict());
  s.queue(Queue("r").quota("cpu", {{"f", 4}}).checked_by("c"));
  s.submit(Job("a", "r").cpu(1)).run();
  s.answer("a", "c", "Ready").submit(Job("big", "q").cpu(9)).run();
  ASSERT_EQ(cycles_of(s), 0U);
  s.answer("a", "c", "Pending");  // shown, as it runs already
  EXPECT_EQ(cycles_of(s), 12U);
}

/// p and the low ones may have 4 cores of their cohort, one of them at a time, and p evicts low
/// ones. Between its eviction of one and its own turn another low one gets ahead of it.
struct Earmarks : ::testing::Test {
  Scenario s;
  int low = 0;

  Earmarks() {
    s.flavor("f").cohort(CohortOf("c").quota("cpu", {{"f", 4}}));
    s.queue(Queue("q").cohort("c").quota("cpu", {{"f", 0}}).reclaim_any().borrow_within_cohort());
    s.queue(Queue("r").cohort("c").quota("cpu", {{"f", 0}}));
    s.submit(Job("low0", "r").cpu(4)).run();
    s.submit(Job("p", "q").cpu(4).priority(5));
  }
  std::string next() const { return "low" + std::to_string(low); }
  /// p evicts the low one that runs; then the next one comes, with a higher priority for now.
  void get_ahead() {
    s.step();
    ++low;
    s.submit(Job(next(), "r").cpu(4).priority(9));
    s.step();
    s.submit(Job(next(), "r").cpu(4));
  }
};

TEST_F(Earmarks, AThirdPreemptionKeepsFromOthersWhatItIsFor) {
  for (int times = 1; times <= 2; ++times) {
    get_ahead();
    EXPECT_EQ(s.admitted(), next()) << times;
  }
  get_ahead();
  EXPECT_EQ(s.admitted(), "p");
}

/// After its third preemption p has an earmark of 4; `end` is what happens then.
TEST_F(Earmarks, EndWhenTheirWorkloadIsNotAHeadThatPreemptsOrWaits) {
  for (int times = 1; times <= 2; ++times) get_ahead();
  s.step();
  ASSERT_EQ(s.engine.model().earmarks.size(), 1U);
  s.submit(Job("p", "q").cpu(9).priority(5));  // for which there is no room
  s.run();
  EXPECT_EQ(s.engine.model().earmarks.size(), 0U);
}

/// At rest another step computes nothing, and changes nothing.
TEST(Rounds, AtRestNothingIsLeftToDo) {
  EXPECT_TRUE(rc::check([](std::uint64_t seed) {
    const Plan plan = Planner(seed).draw_with_checks(3, 4, 6);
    Player player(plan);
    for (std::size_t i = 0; i < plan.instants.size(); ++i) {
      player.play(i);
      const EngineStats before = player.scenario().engine.stats();
      RC_ASSERT(player.scenario().run() == Log());
      const EngineStats after = player.scenario().engine.stats();
      RC_ASSERT(after.cycles == before.cycles && after.evictions == before.evictions &&
                after.admissions == before.admissions);
    }
  }));
}

}  // namespace
}  // namespace sluice::testing
