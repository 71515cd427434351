// What an engine knows beside its objects, and that one that takes it over decides as the other.
#include "core/engine/memory.hpp"

#include <rapidcheck.h>

#include "tests/core/engine/random_world.hpp"

namespace sluice::testing {
namespace {

TEST(Memory, WhoTakesItOverDecidesAsTheOther) {
  EXPECT_TRUE(rc::check([](std::uint64_t seed) {
    const Plan plan = Planner(seed).draw_full(2, 4, 12);
    Player goes_on(plan), takes_over(plan);
    for (std::size_t i = 0; i < plan.instants.size(); ++i) {
      if (i == plan.instants.size() / 2) {
        takes_over.restart();
        takes_over.scenario().engine.recall(goes_on.scenario().engine.memory());
      }
      const Log expected = goes_on.play(i);
      RC_ASSERT(takes_over.play(i) == expected);
    }
  }));
}

/// Stops at the first flavor each time, and goes on after it the next time.
struct OneFlavorEach final : hooks::FlavorSearch {
  mutable hooks::PositionAge asked;  ///< last

  std::optional<hooks::SearchVerdict> after_flavor(const hooks::SearchStep&,
                                                   hooks::Fault&) const override {
    return hooks::SearchVerdict::kStopHere;
  }
  std::optional<bool> better(hooks::QueueId, hooks::FlavorOutcome, hooks::FlavorOutcome,
                             hooks::Fault&) const override {
    return std::nullopt;
  }
  std::optional<bool> keep_position(const hooks::PositionAge& age, hooks::Fault&) const override {
    asked = age;
    return true;
  }
};

// a's walk stands at f. Since then there was one cycle, in which h had its turn, and two holders
// changed, x of its own queue and y of another one of the tree, each of which gave back what it
// held and took it again. The next cycle is the second.
TEST(Memory, AWalkOverFlavorsGoesOnAsOldAsItIs) {
  OneFlavorEach search;
  hooks::HostHooks hooks;
  hooks.flavor_search = &search;
  const auto world = [&hooks] {
    auto s = std::make_unique<Scenario>(Scenario::single_thread(), hooks);
    s->flavor("f").flavor("g");
    s->queue(Queue("q").cohort("c").quota("cpu", {{"f", 4}, {"g", 4}}));
    s->queue(Queue("p").cohort("c").quota("cpu", {{"f", 1}}));
    return s;
  };
  auto s = world();
  s->submit(Job("x", "q").cpu(4)).submit(Job("y", "p").cpu(1)).run();
  s->submit(Job("a", "q").cpu(3)).step();
  s->submit(Job("h", "q").cpu(3).priority(9)).step();
  s->remove("h");
  s->submit(Job("x", "q").cpu(4).priority(1)).submit(Job("y", "p").cpu(1).priority(1));

  auto other = world();
  for (const WorkloadId id : s->engine.workloads()) {
    auto object = std::make_shared<api::Workload>(*s->engine.object(id));
    object->status = s->engine.status(id);
    other->apply(std::move(object));
  }
  other->engine.recall(s->engine.memory());
  for (Scenario* each : {s.get(), other.get()}) {
    search.asked = {};
    each->run();
    EXPECT_EQ(each->assigned("a"), "main=1 cpu:g");
    EXPECT_EQ(search.asked.cycles, 2U);
    EXPECT_EQ(search.asked.queue_generations, 2U);
    EXPECT_EQ(search.asked.tree_generations, 4U);
  }
}

// Of workloads that are not there any more nothing is taken over.
TEST(Memory, OnlyWhoIsThereIsRecalled) {
  Scenario s;
  s.flavor("f").queue(Queue("q").quota("cpu", {{"f", 1}}));
  s.submit(Job("a", "q").cpu(1)).submit(Job("b", "q").cpu(1));
  EngineMemory memory;
  memory.meetings = {{"ns/gone", "ns/a", 1, 5}, {"ns/a", "ns/gone", 1, 5}, {"ns/a", "ns/b", 2, 7}};
  memory.issued = {{"ns/gone", {1}}, {"ns/b", {2, 3}}};
  memory.places = {{"gone", "ns/a"}, {"q", "ns/gone"}};
  s.engine.recall(memory);
  const EngineMemory known = s.engine.memory();
  ASSERT_EQ(known.meetings.size(), 1U);
  EXPECT_EQ(known.meetings[0].preemptor, "ns/a");
  EXPECT_EQ(known.meetings[0].victim, "ns/b");
  EXPECT_EQ(known.meetings[0].count, 2);
  EXPECT_EQ(known.meetings[0].last, 7);
  ASSERT_EQ(known.issued.size(), 1U);
  EXPECT_EQ(known.issued[0].preemptor, "ns/b");
  EXPECT_EQ(known.issued[0].at, (std::vector<Time>{2, 3}));
  EXPECT_TRUE(known.places.empty());
}

}  // namespace
}  // namespace sluice::testing
