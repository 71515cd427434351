// What holds for any configuration and any events. Scenario recomputes the ledger after each step.
#include <rapidcheck.h>

#include <atomic>

#include "core/base/check.hpp"
#include "core/engine/workload_views.hpp"
#include "tests/core/engine/random_world.hpp"
#include "tests/core/support/fake_hooks.hpp"

namespace sluice::testing {
namespace {

constexpr int kInstants = 8;

Plan plan_of(std::uint64_t seed) { return Planner(seed).draw(3, 4, kInstants); }

TEST(EngineProperties, EveryInstantSettlesAndNobodyIsEvictedForTheSameMoreThanFiveTimes) {
  EXPECT_TRUE(rc::check([](std::uint64_t seed) {
    const Plan plan = Planner(seed).varied().draw(3, 4, kInstants);
    Player player(plan);
    for (std::size_t i = 0; i < plan.instants.size(); ++i) {
      const auto before = player.scenario().engine.stats().cycles;
      std::map<std::string, int> evictions;
      for (const std::string& line : player.play(i))
        if (line.starts_with("evicted")) RC_ASSERT(++evictions[line] <= 5);
      RC_ASSERT(player.scenario().engine.stats().cycles - before < 500U);
    }
  }));
}

TEST(EngineProperties, AnyNumberOfThreadsDecidesTheSame) {
  EXPECT_TRUE(rc::check([](std::uint64_t seed) {
    // Many queues without cohort: enough roots for the parallel path.
    const Plan plan = Planner(seed).varied().draw(3, 12, kInstants);
    Player one(plan, 1), two(plan, 2), eight(plan, 8);
    for (std::size_t i = 0; i < plan.instants.size(); ++i) {
      const Log expected = one.play(i);
      RC_ASSERT(two.play(i) == expected);
      RC_ASSERT(eight.play(i) == expected);
    }
  }));
}

TEST(EngineProperties, RemovingEverythingFreesEverything) {
  EXPECT_TRUE(rc::check([](std::uint64_t seed) {
    const Plan plan = plan_of(seed);
    Player player(plan);
    for (std::size_t i = 0; i < plan.instants.size(); ++i) player.play(i);
    Scenario& s = player.scenario();
    player.remove_all();
    s.after(1).run();
    RC_ASSERT(s.engine.workloads().empty());
    // What each queue could hold at first, it can hold again: all of its own nominal quota.
    for (const Queue& queue : plan.queues) s.queue(Queue(queue));
    for (const CohortOf& cohort : plan.cohorts) s.cohort(CohortOf(cohort));
    s.after(1).run();
    for (const Queue& queue : plan.queues) {
      const std::string& name = queue.object.meta.name;
      const auto& first = queue.object.resource_groups[0].flavors[0];
      const std::int64_t nominal = first.resources[0].nominal.units();
      s.submit(Job("full-" + name, name).cpu(nominal).priority(9)).run();
      RC_ASSERT(s.state("full-" + name) == "admitted");
    }
  }));
}

/// Groups, replacements and bonds between the workloads of a plan, at random.
void random_traits(std::uint64_t seed, FakeTraits& traits) {
  std::mt19937_64 random(seed);
  const auto pick = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  for (int i = 0; i < 60; ++i) {
    const std::string name = "w" + std::to_string(i);
    const std::string other = "w" + std::to_string(pick(60));
    switch (pick(8)) {
      case 0:
      case 1: {
        const std::string group = std::to_string(pick(4));
        traits.member(name, group, pick(5), other).group.represents = group == "0" || group == "1";
        break;
      }
      case 2:
        traits.replaces(name, other, static_cast<hooks::ReplacedEnds>(pick(2)));
        break;
      case 3:
        traits.of(name).follows = "ns/" + other;
        break;
      case 4:
        if (pick(3) == 0) traits.of(name).takes_part = false;
        break;
      default:
        break;
    }
  }
}

/// The short form says what the status says.
bool milestones_agree(const Engine& engine, WorkloadId id) {
  const api::WorkloadStatus status = engine.status(id);
  const Milestones seen = milestones_of(engine.model(), id);
  const auto changed = [&](const char* type) {
    const api::Condition* c = status.condition(type);
    return c ? std::optional(c->last_transition_time) : std::nullopt;
  };
  const api::Condition* evicted = status.condition("Evicted");
  // Of one that waits the status has a condition QuotaReserved in any case.
  const bool reserved = !seen.reserved || seen.reserved == changed("QuotaReserved");
  return reserved && seen.admitted == changed("Admitted") && seen.evicted == changed("Evicted") &&
         seen.is_evicted == (evicted && evicted->is_true()) &&
         seen.has_checks == !status.admission_checks.empty() &&
         seen.cluster_queue == (status.admission ? status.admission->cluster_queue : "");
}

TEST(EngineProperties, AnyTraitsKeepTheLedgerAndExclusiveGroups) {
  EXPECT_TRUE(rc::check([](std::uint64_t seed) {
    const Plan plan = Planner(seed).draw(3, 6, kInstants);
    FakeTraits traits;
    random_traits(seed, traits);
    hooks::HostHooks hooks;
    hooks.workload_traits = &traits;
    Player one(plan, 1, hooks), eight(plan, 8, hooks);
    for (std::size_t i = 0; i < plan.instants.size(); ++i) {
      const auto before = one.scenario().engine.stats().cycles;
      RC_ASSERT(eight.play(i) == one.play(i));
      RC_ASSERT(one.scenario().engine.stats().cycles - before < 500U);
      std::map<std::string, int> admitted;  // by exclusive group
      const Engine& engine = one.scenario().engine;
      for (const WorkloadId id : engine.workloads()) {
        RC_ASSERT(milestones_agree(engine, id));
        const auto t = traits.table.find(engine.object(id)->meta.name);
        if (t == traits.table.end() || engine.state(id) != WorkloadState::kAdmitted) continue;
        if (!engine.holds_quota(id)) {  // another runs for it
          RC_ASSERT(!t->second.takes_part);
          continue;
        }
        RC_ASSERT(t->second.takes_part);
        if (t->second.group.represents) RC_ASSERT(++admitted[t->second.group.id] == 1);
      }
    }
  }));
}

/// Hooks that may be called within a step only; they leave everything as it is.
struct WithinSteps final : hooks::FlavorFilter, hooks::PreemptionVeto, hooks::FlavorSearch {
  const Scenario* scenario = nullptr;
  mutable std::atomic<int> asked = 0;

  void check() const {
    SLUICE_CHECK(scenario && scenario->stepping(), "a hook is asked outside of a step");
    ++asked;
  }
  void filter(const hooks::FilterQuery&, hooks::FilterAnswer&, hooks::Fault&) const override {
    check();
  }
  void veto(const hooks::VetoQuery&, hooks::VetoAnswer&, hooks::Fault&) const override { check(); }
  std::optional<hooks::SearchVerdict> after_flavor(const hooks::SearchStep&,
                                                   hooks::Fault&) const override {
    check();
    return std::nullopt;
  }
  std::optional<bool> better(hooks::QueueId, hooks::FlavorOutcome, hooks::FlavorOutcome,
                             hooks::Fault&) const override {
    check();
    return std::nullopt;
  }
  std::optional<bool> keep_position(const hooks::PositionAge&, hooks::Fault&) const override {
    check();
    return std::nullopt;
  }
};

TEST(EngineProperties, NobodyIsAskedWhileInputsAreTaken) {
  int asked = 0;
  EXPECT_TRUE(rc::check([&asked](std::uint64_t seed) {
    const Plan plan = Planner(seed).draw_with_checks(3, 6, kInstants);
    WithinSteps within;
    FakeTraits traits;
    random_traits(seed, traits);
    hooks::HostHooks hooks;
    hooks.workload_traits = &traits;  // answered before the engine gets the workload
    hooks.flavor_filter = &within;
    hooks.preemption_veto = &within;
    hooks.flavor_search = &within;
    Player player(plan, 1, hooks);
    within.scenario = &player.scenario();
    for (std::size_t i = 0; i < plan.instants.size(); ++i) player.play(i);
    player.remove_all();
    asked += within.asked;
  }));
  EXPECT_GT(asked, 0);
}

/// What admitted workloads use of each flavor and resource, and what all queues and cohorts own.
void check_that_it_all_fits(const Scenario& s, const Plan& plan) {
  std::map<std::pair<std::string, std::string>, std::int64_t> used, owned;
  const auto own = [&](const std::vector<api::ResourceGroup>& groups) {
    for (const auto& group : groups)
      for (const auto& flavor : group.flavors)
        for (const auto& quota : flavor.resources)
          owned[{flavor.flavor, quota.resource}] +=
              engine_units(quota.resource, quota.nominal.units());
  };
  for (const Queue& queue : plan.queues) own(queue.object.resource_groups);
  for (const CohortOf& cohort : plan.cohorts) own(cohort.object.resource_groups);
  for (const WorkloadId id : s.engine.workloads()) {
    if (s.engine.state(id) != WorkloadState::kAdmitted) continue;
    for (const api::PodSetAssignment& pods : assignment_of(s.engine.model(), id))
      for (const api::ResourceRequest& use : pods.usage)
        used[{*pods.flavors.find(use.resource), use.resource}] += use.amount;
  }
  for (const auto& [fr, amount] : used) RC_ASSERT(amount <= owned[fr]);
}

TEST(EngineProperties, AnyAnswersOfChecksKeepTheLedgerAndAdmitNoMoreThanThereIs) {
  EXPECT_TRUE(rc::check([](std::uint64_t seed) {
    const Plan plan = Planner(seed).draw_with_checks(3, 6, kInstants);
    Player one(plan, 1), eight(plan, 8);
    for (std::size_t i = 0; i < plan.instants.size(); ++i) {
      const auto before = one.scenario().engine.stats().cycles;
      RC_ASSERT(eight.play(i) == one.play(i));
      RC_ASSERT(one.scenario().engine.stats().cycles - before < 500U);
      check_that_it_all_fits(one.scenario(), plan);
    }
  }));
}

TEST(EngineProperties, ReservationsAndTheirChecksOutliveARestart) {
  EXPECT_TRUE(rc::check([](std::uint64_t seed) {
    const Plan plan = Planner(seed).draw_with_checks(2, 4, kInstants);
    Player player(plan);
    for (std::size_t i = 0; i < plan.instants.size(); ++i) {
      player.play(i);
      std::map<std::string, std::string> before;
      const auto note = [&](std::map<std::string, std::string>& out) {
        const Scenario& s = player.scenario();
        for (const WorkloadId id : s.engine.workloads()) {
          const std::string name = s.engine.key(id).substr(3);
          if (assignment_of(s.engine.model(), id).empty()) continue;
          out[name] = s.state(name) + " " + s.checks(name) + " " + s.assigned(name) + " " +
                      std::to_string(attempt_of(s.engine.model(), id));
        }
      };
      note(before);
      player.restart();
      std::map<std::string, std::string> after;
      note(after);
      RC_ASSERT(after == before);
      player.scenario().run();
      check_that_it_all_fits(player.scenario(), plan);
    }
  }));
}

TEST(EngineProperties, ADumpTakenAtRestGoesOnWithTheSameHolders) {
  // What holds quota, and where, is the same after a restart, and the first run of the fresh engine
  // neither evicts nor moves a workload that the uninterrupted one would have left alone.
  EXPECT_TRUE(rc::check([](std::uint64_t seed) {
    const Plan plan = plan_of(seed);
    Player player(plan);
    for (std::size_t i = 0; i < plan.instants.size() / 2; ++i) player.play(i);
    std::map<std::string, std::string> before;
    for (const WorkloadId id : player.scenario().engine.workloads()) {
      const std::string name = player.scenario().engine.key(id).substr(3);
      if (player.scenario().state(name) == "admitted")
        before[name] = player.scenario().assigned(name);
    }
    player.restart();
    for (const auto& [name, assigned] : before) {
      RC_ASSERT(player.scenario().state(name) == "admitted");
      RC_ASSERT(player.scenario().assigned(name) == assigned);
    }
  }));
}

}  // namespace
}  // namespace sluice::testing
