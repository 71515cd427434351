// Where a pending workload stands: in the queue that its LocalQueue names, or nowhere, with a
// reason.
#include <rapidcheck.h>

#include "core/model/model.hpp"
#include "core/reasons/reasons.hpp"
#include "tests/core/engine/random_world.hpp"
#include "tests/core/support/fake_hooks.hpp"

namespace sluice::testing {
namespace {

TEST(Reasons, AmountsAreWrittenInTheUnitsOfTheirResource) {
  const struct {
    const char* resource;
    Amount amount;
    const char* text;
  } written[] = {
      {"cpu", 0, "0"},
      {"cpu", 2000, "2"},
      {"cpu", 1500, "1500m"},
      {"memory", 0, "0"},
      {"memory", 1000, "1000"},
      {"memory", 1536, "1536"},
      {"memory", 2048, "2Ki"},
      {"memory", 3 << 20, "3Mi"},
      {"hugepages-2Mi", 1 << 30, "1Gi"},
      {"example/gpu", 1024, "1024"},
      {"ephemeral-storage", std::numeric_limits<Amount>::min(), "-8Ei"},
  };
  for (const auto& [resource, amount, text] : written)
    EXPECT_EQ(amount_text(resource, amount), text) << resource << " " << amount;
}

struct Waiting : ::testing::Test {
  FakeTraits traits;
  hooks::HostHooks hooks;
  std::unique_ptr<Scenario> s;

  Waiting() {
    hooks.workload_traits = &traits;
    s = std::make_unique<Scenario>(Scenario::single_thread(), hooks);
    s->flavor("f").queue(Queue("q").quota("cpu", {{"f", 4}}));
    s->local_queue("stopped", "q", api::StopPolicy::kHold).local_queue("lost", "nowhere");
  }
  /// The name of the ClusterQueue in which it stands; empty: in none.
  std::string place(const std::string& name) const {
    const Model& model = s->engine.model();
    const WorkloadId id = *s->engine.find(key_of(name));
    const QueueId queue = model.workloads[id].queue;
    return queue != kNone && model.queues[queue].pending.contains(id) ? model.queues[queue].name
                                                                      : std::string();
  }
};

TEST_F(Waiting, WhoStandsNowhereSaysWhy) {
  traits.of("torn").conflict = "plugins a and b disagree";
  traits.of("aside").takes_part = false;
  traits.of("aside").takes_no_part_because = "others stand for it";
  traits.of("orphan").waits_because = "Plugin gone is not loaded";
  struct Case {
    const char *name, *queue, *why;
  };
  const Case cases[] = {
      {"torn", "q", "Misconfigured: plugins a and b disagree"},
      {"aside", "q", "OnHold: others stand for it"},
      {"orphan", "q", "OnHold: Plugin gone is not loaded"},
      {"homeless", "", "Misconfigured: The workload names no LocalQueue"},
      {"unknown", "none", "Misconfigured: LocalQueue none doesn't exist"},
      {"held", "stopped", "Suspended: LocalQueue stopped is stopped"},
      {"led-away", "lost", "Misconfigured: ClusterQueue nowhere doesn't exist"},
  };
  for (const Case& each : cases) s->submit(Job(each.name, each.queue).cpu(1));
  EXPECT_EQ(s->run(), Log());
  for (const Case& each : cases) {
    EXPECT_EQ(s->why(each.name), each.why) << each.name;
    EXPECT_EQ(place(each.name), "") << each.name;
  }
}

TEST_F(Waiting, ItStandsWhereItsLocalQueueLeadsNow) {
  s->queue(Queue("r").quota("cpu", {{"f", 1}})).local_queue("lq", "q");
  s->submit(Job("a", "lq").cpu(9)).run();
  EXPECT_EQ(place("a"), "q");
  s->local_queue("lq", "r").run();
  EXPECT_EQ(place("a"), "r");
  s->local_queue("lq", "nowhere").run();
  EXPECT_EQ(place("a"), "");
  s->local_queue("lq", "q").run();
  EXPECT_EQ(place("a"), "q");
}

// Its equal was looked at in the first cycles, `w` stood nowhere in a later one, and comes: it is
// parked beside its equal without a look of its own, for the same reason.
TEST_F(Waiting, WhoComesToItsEqualsWaitsForTheirReason) {
  s->submit(Job("runs", "q").cpu(4)).submit(Job("equal", "q").cpu(2)).run();
  s->submit(Job("other", "q").cpu(9)).run();
  s->submit(Job("w", "late").cpu(2)).run();
  EXPECT_EQ(s->why("w"), "Misconfigured: LocalQueue late doesn't exist");
  s->local_queue("late", "q").run();
  EXPECT_EQ(s->why("w"), s->why("equal"));
}

TEST_F(Waiting, WhoHoldsQuotaStandsInNoQueue) {
  s->submit(Job("a", "q").cpu(4)).run();
  EXPECT_EQ(place("a"), "");
  s->submit(Job("a", "q").cpu(4).active(false)).run();
  EXPECT_EQ(place("a"), "") << "turned off";
  s->submit(Job("a", "q").cpu(4)).submit(Job("big", "q").cpu(4).priority(9)).run();
  EXPECT_EQ(place("a"), "q") << "it waits behind the other";
}

/// Each stands in one queue at most, that of its record; one that stands nowhere has a reason.
void check_places(const Model& model) {
  std::map<WorkloadId, int> places;
  for (const QueueRecord& queue : model.queues)
    for (const WorkloadId id : queue.pending.members()) {
      RC_ASSERT(model.workloads[id].exists() && model.workloads[id].queue == queue.id);
      RC_ASSERT(!model.workloads[id].holds_quota());
      RC_ASSERT(++places[id] == 1);
    }
  for (WorkloadId id = model.workloads.first_id(); id < model.workloads.end_id(); ++id) {
    const WorkloadRecord& w = model.workloads[id];
    if (!w.exists() || w.state != WorkloadState::kPending || places.contains(id)) continue;
    RC_ASSERT(w.pending != nullptr);
  }
}

TEST(WaitingProperties, EachStandsInOnePlaceOrSaysWhyNot) {
  EXPECT_TRUE(rc::check([](std::uint64_t seed) {
    const Plan plan = Planner(seed).draw_with_checks(3, 5, 8);
    Player player(plan);
    for (std::size_t i = 0; i < plan.instants.size(); ++i) {
      player.play(i);
      check_places(player.scenario().engine.model());
    }
  }));
}

}  // namespace
}  // namespace sluice::testing
