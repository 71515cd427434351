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

}  // namespace
}  // namespace sluice::testing
