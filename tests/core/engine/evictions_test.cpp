// Workloads that end later than their quota would: evicted, they keep it until somebody tells that
// nothing of them runs any more.
#include <rapidcheck.h>

#include <random>

#include "core/engine/workload_views.hpp"
#include "core/model/model.hpp"
#include "tests/core/engine/random_world.hpp"
#include "tests/core/engine/traits_fixture.hpp"

namespace sluice::testing {
namespace {

using api::StopPolicy;

constexpr const char* kPending = "Pending the preemption of 1 workload(s)";

/// Each says that it ends later. `low` runs on all 4 cores of q, where higher ones go first.
struct Later : Traits {
  std::unique_ptr<Scenario> s;
  Later() {
    traits.otherwise = [](const hooks::TraitsQuery&, hooks::Traits& out) { out.ends_later = true; };
    s = one_queue(Queue("q").lower_priority());
    s->submit(Job("low", "q").cpu(4)).run();
  }
  /// `Evicted=True Admitted=True …`: each condition of these that it has.
  std::string conditions(const std::string& name) const {
    const api::WorkloadStatus status = s->engine.status(*s->engine.find("ns/" + name));
    std::string out;
    for (const char* type : {"QuotaReserved", "Admitted", "Evicted", "Preempted", "Requeued"})
      if (const api::Condition* c = status.condition(type))
        out += (out.empty() ? "" : " ") + c->type + "=" + c->status;
    return out;
  }
  std::uint64_t attempt(const std::string& name) const {
    return attempt_of(s->engine.model(), *s->engine.find("ns/" + name));
  }
  bool has_admission(const std::string& name) const {
    return s->engine.status(*s->engine.find("ns/" + name)).admission.has_value();
  }
};

TEST_F(Later, APreemptedOneKeepsItsQuotaUntilItHasEnded) {
  s->submit(Job("high", "q").cpu(3).priority(9));
  EXPECT_EQ(s->run(), Lines("evicted low InClusterQueue by high"));
  EXPECT_EQ(s->engine.stats().evictions, 1U);
  EXPECT_EQ(s->engine.stats().admissions, 1U);
  EXPECT_EQ(conditions("low"), "QuotaReserved=True Admitted=True Evicted=True Preempted=True");
  EXPECT_TRUE(has_admission("low"));
  EXPECT_EQ(attempt("low"), 1U);  // checks of the next one begin when this one has ended
  EXPECT_EQ(s->state("high"), "pending");
  EXPECT_THAT(s->why("high"), ::testing::HasSubstr(kPending));
  EXPECT_EQ(s->after(20).run(), Log());  // it is evicted once, however long it takes
  EXPECT_THAT(s->why("high"), ::testing::HasSubstr(kPending));
  EXPECT_EQ(s->ended("low").run(), Lines("reserved high", "admitted high"));
  EXPECT_EQ(s->state("low"), "pending");
  EXPECT_EQ(attempt("low"), 2U);
  EXPECT_EQ(conditions("low"),
            "QuotaReserved=False Admitted=False Evicted=True Preempted=True Requeued=True");
  EXPECT_EQ(s->finish("high").run(),
            Lines("finished high Succeeded", "reserved low", "admitted low"));
}

// It is in front until its victim has ended, whatever else is changed of a queue that goes on past
// a head that waits; a strict one has no such place, and forgets it when it becomes one.
TEST_F(Later, APreemptorHasItsPlaceUntilItsQueueBecomesStrict) {
  using Places = std::vector<std::pair<std::string, std::string>>;
  const auto queue = [](std::int64_t cpus) {
    return Queue("q").quota("cpu", {{"f", cpus}}).lower_priority();
  };
  s->submit(Job("high", "q").cpu(4).priority(9)).run();
  EXPECT_EQ(s->engine.memory().places, (Places{{"q", "ns/high"}}));
  s->queue(queue(5)).run();
  EXPECT_EQ(s->engine.memory().places, (Places{{"q", "ns/high"}}));
  s->queue(queue(5).strict()).run();
  EXPECT_EQ(s->engine.memory().places, Places());
}

TEST_F(Later, WhoWaitsBehindThePreemptorGetsNothingOfIt) {
  // q has 4: low 4, of which high takes 3. small 1 would fit beside high, when low has ended.
  s->submit(Job("high", "q").cpu(3).priority(9)).submit(Job("small", "q").cpu(1).priority(5));
  EXPECT_EQ(s->run(), Lines("evicted low InClusterQueue by high"));
  EXPECT_EQ(s->ended("low").run(),
            Lines("reserved high", "admitted high", "reserved small", "admitted small"));
}

TEST_F(Later, AnotherThatWaitsForItEvictsNobodyElse) {
  // c lends all of 4 + 4: low 4 and mid 4 run. Of two preemptors in two queues each finds one.
  s = std::make_unique<Scenario>(Scenario::single_thread(), hooks);
  s->flavor("f");
  for (const char* queue : {"q", "r"})
    s->queue(Queue(queue).cohort("c").quota("cpu", {{"f", 4}}).lower_priority().reclaim_any());
  s->submit(Job("low", "q").cpu(4)).submit(Job("mid", "r").cpu(4)).run();
  s->submit(Job("high", "q").cpu(2).priority(9));
  EXPECT_EQ(s->run(), Lines("evicted low InClusterQueue by high"));
  // The 2 cores of low that high leaves are enough for it.
  s->submit(Job("other", "q").cpu(2).priority(9));
  EXPECT_EQ(s->run(), Log());
  EXPECT_EQ(s->ended("low").run(),
            Lines("reserved high", "admitted high", "reserved other", "admitted other"));
  EXPECT_EQ(s->state("mid"), "admitted");
}

TEST_F(Later, WhoFitsBesideThePreemptorWaitsForTheEndToo) {
  // Of 8 low has 4, mid 2; 2 are free. high 3 evicts low, and leaves 8 - 2 - 3 = 3 for one 2 and
  // two 1. While low runs the free 2 are for one alone.
  s = std::make_unique<Scenario>(Scenario::single_thread(), hooks);
  s->flavor("f").queue(Queue("q").cohort("c").quota("cpu", {{"f", 8}}).lower_priority());
  for (const char* queue : {"r", "t"}) s->queue(Queue(queue).cohort("c").quota("cpu", {{"f", 0}}));
  s->submit(Job("low", "q").cpu(4)).submit(Job("mid", "q").cpu(2).priority(9)).run();
  s->submit(Job("high", "q").cpu(3).priority(9));
  s->submit(Job("one", "r").cpu(2)).submit(Job("two", "t").cpu(1));
  EXPECT_EQ(s->run(),
            Lines("evicted low InClusterQueue by high", "reserved one borrowing", "admitted one"));
  EXPECT_EQ(s->why("two"),
            "WaitingForPreemptedWorkloads: Workload fits only on capacity that still runs "
            "workloads to be preempted by others");
  s->ended("low").run();
  EXPECT_EQ(s->admitted(), "high mid one two");
}

TEST_F(Later, IsTakenBeforeOthersAlsoWhereAPluginProtectsIt) {
  FakeVeto veto;
  veto.hands_off = {"low"};
  hooks.preemption_veto = &veto;
  s = one_queue(Queue("q").lower_priority());
  s->submit(Job("low", "q").cpu(2)).submit(Job("other", "q").cpu(2)).run();
  s->queue(Queue("q").quota("cpu", {{"f", 4}}).lower_priority().stop(StopPolicy::kHoldAndDrain));
  EXPECT_EQ(s->run().size(), 2U);  // both are evicted, which nobody can veto
  s->ended("other");
  s->queue(Queue("q").quota("cpu", {{"f", 2}}).lower_priority());
  // 2 are there, and low holds them still.
  s->submit(Job("high", "q").cpu(2).priority(9));
  EXPECT_EQ(s->run(), Log());
  EXPECT_THAT(s->why("high"), ::testing::HasSubstr(kPending));
  EXPECT_EQ(s->ended("low").run(), Lines("reserved high", "admitted high"));
}

TEST_F(Later, OneThatIsGoneOrFinishedHoldsNothing) {
  s->submit(Job("high", "q").cpu(4).priority(9)).run();
  EXPECT_EQ(s->remove("low").run(), Lines("reserved high", "admitted high"));
  s->submit(Job("higher", "q").cpu(4).priority(99)).run();
  EXPECT_EQ(s->finish("high").run(),
            Lines("finished high Succeeded", "reserved higher", "admitted higher"));
  EXPECT_EQ(s->ended("high").ended("higher").ended("nobody").run(), Log());
  EXPECT_EQ(s->admitted(), "higher");
}

TEST_F(Later, OneThatWasOnlyReservedEndsAtOnce) {
  // Nothing of it ran.
  s->queue(Queue("q").quota("cpu", {{"f", 4}}).lower_priority().checked_by("k"));
  s->remove("low").submit(Job("waits", "q").cpu(4)).run();
  ASSERT_EQ(s->state("waits"), "reserved");
  s->submit(Job("high", "q").cpu(4).priority(9));
  EXPECT_EQ(s->run(), Lines("evicted waits InClusterQueue by high", "reserved high"));
}

TEST_F(Later, ADrainedQueueEvictsOnceAndQueuesAgain) {
  const auto q = [] { return Queue("q").quota("cpu", {{"f", 4}}).lower_priority(); };
  s->queue(q().stop(StopPolicy::kHoldAndDrain));
  EXPECT_EQ(s->run(), Lines("evicted low ClusterQueueStopped"));
  s->queue(q());
  EXPECT_EQ(s->run(), Log());  // it ends all the same
  s->queue(q().stop(StopPolicy::kHoldAndDrain));
  EXPECT_EQ(s->run(), Log());
  s->queue(q());
  EXPECT_EQ(s->ended("low").run(), Lines("reserved low", "admitted low"));
}

TEST_F(Later, TurnedOffItIsInactiveWhenItHasEnded) {
  s->submit(Job("low", "q").cpu(4).active(false));
  EXPECT_EQ(s->run(), Lines("evicted low Deactivated", "deactivated low Deactivated"));
  s->submit(Job("next", "q").cpu(4));
  EXPECT_EQ(s->run(), Log());
  EXPECT_EQ(s->state("low"), "admitted");
  EXPECT_EQ(s->ended("low").run(), Lines("reserved next", "admitted next"));
  EXPECT_EQ(s->state("low"), "inactive");
  EXPECT_EQ(conditions("low"), "QuotaReserved=False Admitted=False Evicted=True Requeued=False");
}

TEST_F(Later, TurnedOffAndOnAgainMeanwhileItQueues) {
  s->submit(Job("low", "q").cpu(4).active(false)).run();
  s->submit(Job("low", "q").cpu(4));
  EXPECT_EQ(s->run(), Log());
  EXPECT_EQ(s->ended("low").run(), Lines("reserved low", "admitted low"));
}

TEST_F(Later, TurnedOffWhileItIsEvictedForAnotherItStaysOff) {
  s->submit(Job("high", "q").cpu(4).priority(9)).run();
  s->submit(Job("low", "q").cpu(4).active(false));
  EXPECT_EQ(s->run(), Log());
  s->ended("low").run();
  EXPECT_EQ(s->state("low"), "inactive");
  EXPECT_EQ(s->finish("high").run(), Lines("finished high Succeeded"));
}

TEST_F(Later, ItsTimeDoesNotRunOutWhileItEnds) {
  s->submit(Job("low", "q").cpu(4).max_seconds(60));
  s->remove("low").submit(Job("timed", "q").cpu(4).max_seconds(60)).run();
  s->submit(Job("high", "q").cpu(4).priority(9)).run();
  EXPECT_EQ(s->after(90).run(), Log());
  EXPECT_EQ(s->ended("timed").run(), Lines("reserved high", "admitted high"));
  EXPECT_EQ(s->state("timed"), "pending");
}

TEST_F(Later, TheDelayThatFollowsBeginsWithTheEviction) {
  EngineConfig config = Scenario::single_thread();
  config.pods_ready_timeout = 10 * kSecond;
  s = std::make_unique<Scenario>(config, hooks);
  s->flavor("f").queue(Queue("q").quota("cpu", {{"f", 4}}));
  s->submit(Job("late", "q").cpu(4)).run();
  EXPECT_EQ(s->after(10).run(), Lines("evicted late PodsReadyTimeout"));
  EXPECT_EQ(s->after(20).ended("late").run(), Log());
  EXPECT_EQ(s->state("late"), "pending");  // 40 s of 60 are left
  EXPECT_EQ(s->after(40).run(),
            Lines("requeued late BackoffFinished", "reserved late", "admitted late"));
  // The second is one of 120 s, and over before it has ended.
  EXPECT_EQ(s->after(10).run(), Lines("evicted late PodsReadyTimeout"));
  EXPECT_EQ(s->after(130).run(), Log());
  EXPECT_EQ(s->ended("late").run(), Lines("reserved late", "admitted late"));
}

TEST_F(Later, WhoHeldItsPreemptionBackStartsWhenItHasEnded) {
  s->check("late", true);
  s->queue(Queue("q").quota("cpu", {{"f", 4}}).lower_priority().checked_by("late")).run();
  s->submit(Job("high", "q").cpu(3).priority(9));
  EXPECT_EQ(s->run(), Lines("reserved high"));
  EXPECT_EQ(s->answer("high", "late", "Ready").run(),
            Lines("check high late Ready", "evicted low InClusterQueue by high"));
  EXPECT_EQ(s->state("high"), "reserved");
  // The core that is left over of low's is not there yet either.
  s->submit(Job("small", "q").cpu(1).priority(5)).run();
  EXPECT_EQ(s->admitted(), "low");
  EXPECT_EQ(s->after(5).run(), Log());
  EXPECT_EQ(s->ended("low").run(), Lines("admitted high"));
}

TEST_F(Later, WhileThePluginIsAwayWhatItRunsGoesOn) {
  s->submit(Job("high", "q").cpu(4).priority(9)).run();
  traits.of("low").waits_because = "Plugin x, which manages this workload, is not loaded";
  EXPECT_EQ(s->traits_changed("low").run(), Log());
  EXPECT_EQ(s->admitted(), "low");
  traits.of("low") = {};  // it is nobody's any more: nobody will tell
  EXPECT_EQ(s->traits_changed("low").run(), Lines("reserved high", "admitted high"));
}

TEST_F(Later, OneThatStopsTakingPartHoldsNothing) {
  s->submit(Job("high", "q").cpu(4).priority(9)).run();
  traits.of("low").takes_part = false;
  EXPECT_EQ(s->traits_changed("low").run(),
            Lines("evicted low OnHold", "reserved high", "admitted high"));
}

/// An engine that knows what the other one stored, and starts so many seconds later.
std::unique_ptr<Scenario> restarted(const Scenario& before, const Queue& queue,
                                    const hooks::HostHooks& hooks, std::int64_t seconds = 0) {
  auto out = std::make_unique<Scenario>(Scenario::single_thread(), hooks);
  out->after((before.now() - out->now()) / kSecond + seconds);
  out->flavor("f").queue(queue);
  for (const WorkloadId id : before.engine.workloads()) {
    auto object = std::make_shared<api::Workload>(*before.engine.object(id));
    object->status = before.engine.status(id);
    out->apply(std::move(object));
  }
  return out;
}

TEST_F(Later, ARestartInTheMiddleWaitsOn) {
  const Queue q = Queue("q").quota("cpu", {{"f", 4}}).lower_priority();
  s->submit(Job("high", "q").cpu(4).priority(9)).run();
  s = restarted(*s, q, hooks);
  EXPECT_EQ(s->run(), Log());
  EXPECT_THAT(s->why("high"), ::testing::HasSubstr(kPending));
  EXPECT_EQ(s->ended("low").run(), Lines("reserved high", "admitted high"));
  EXPECT_EQ(conditions("low"),
            "QuotaReserved=False Admitted=False Evicted=True Preempted=True Requeued=True");
}

TEST_F(Later, ARestartWhileOneIsTurnedOffEndsAsWithout) {
  s->submit(Job("low", "q").cpu(4).active(false)).run();
  s = restarted(*s, Queue("q").quota("cpu", {{"f", 4}}), hooks);
  EXPECT_EQ(s->run(), Log());
  EXPECT_EQ(s->state("low"), "admitted");
  s->ended("low").run();
  EXPECT_EQ(s->state("low"), "inactive");
}

struct Delayed : Later {
  const Queue q = Queue("q").quota("cpu", {{"f", 4}}).checked_by("k");
  /// late is evicted, has not ended, and comes back in 60 s.
  Delayed() {
    s->check("k", true);
    s->remove("low").queue(q).submit(Job("late", "q").cpu(4)).run();
    s->answer("late", "k", "Ready").run();
    s->answer("late", "k", "Retry", "", 60);
    EXPECT_EQ(s->run(), Lines("check late k Retry", "evicted late AdmissionCheck"));
  }
};

TEST_F(Delayed, ARestartAtItsEndWaitsForNothingMore) {
  s = restarted(*s, q, hooks, 60);
  s->run();
  EXPECT_EQ(s->ended("late").run(), Lines("reserved late"));
}

TEST_F(Delayed, ARestartBeforeItsEndKeepsIt) {
  s = restarted(*s, q, hooks);
  s->run();
  EXPECT_EQ(s->after(30).ended("late").run(), Log());
  EXPECT_EQ(s->state("late"), "pending");
  EXPECT_EQ(s->after(30).run(), Lines("requeued late BackoffFinished", "reserved late"));
}

TEST(JobsEndLater, WhereSomebodyElseEndsTheirPods) {
  EngineConfig config = Scenario::single_thread();
  config.jobs_end_later = true;
  Scenario s(config);
  s.flavor("f").queue(Queue("q").quota("cpu", {{"f", 4}}).lower_priority());
  Job of_job("of-job", "q");
  of_job.cpu(2).object.of_job = true;
  s.submit(of_job).submit(Job("of-nobody", "q").cpu(2)).run();
  s.submit(Job("high", "q").cpu(4).priority(9));
  EXPECT_EQ(s.run(), Lines("evicted of-job InClusterQueue by high",
                           "evicted of-nobody InClusterQueue by high"));
  EXPECT_EQ(s.state("of-nobody"), "pending");
  EXPECT_EQ(s.ended("of-job").run(), Lines("reserved high", "admitted high"));
}

// Its 60 s are over, its pods end 10 s later, and in between somebody turned it on again: it has 60
// s anew. Else it would be off in the instant of its admission.
TEST(JobsEndLater, WhoIsTurnedOnWhileItsPodsEndHasItsTimeAnew) {
  EngineConfig config = Scenario::single_thread();
  config.jobs_end_later = true;
  Scenario s(config);
  s.flavor("f").queue(Queue("q").quota("cpu", {{"f", 4}}));
  const auto job = [] {
    Job out("a", "q");
    out.cpu(1).max_seconds(60).object.of_job = true;
    return out;
  };
  s.submit(job()).run();
  EXPECT_EQ(s.after(60).run(), Lines("evicted a DeactivatedDueToMaximumExecutionTimeExceeded",
                                     "deactivated a DeactivatedDueToMaximumExecutionTimeExceeded"));
  s.after(5).submit(job()).run();
  EXPECT_EQ(s.after(5).ended("a").run(), Lines("reserved a", "admitted a"));
  EXPECT_EQ(s.engine.next_timer(), s.now() + 60 * kSecond);
}

// ---- whatever happens

/// A plan in which nobody takes quota away from queues.
Plan with_its_quotas(std::uint64_t seed) {
  Plan plan = Planner(seed).draw(3, 4, 10);
  for (std::vector<Event>& events : plan.instants)
    std::erase_if(events, [](const Event& e) {
      return e.kind == Event::Kind::kQueue || e.kind == Event::Kind::kCohort;
    });
  return plan;
}

// In a cycle of several queues of a tree it may differ: who fits only on what runs until the cycle
// is over waits for the next one.
TEST_F(Later, EndedAtOnceAllIsDecidedAsWithout) {
  EXPECT_TRUE(rc::check([this](std::uint64_t seed) {
    const Plan plan = Planner(seed).draw(0, 4, 10);
    Player without(plan), with(plan, 1, hooks);
    with.scenario().all_end_at_once();
    for (std::size_t i = 0; i < plan.instants.size(); ++i) {
      const Log expected = without.play(i);
      RC_ASSERT(with.play(i) == expected);
    }
  }));
}

bool is_ending(const Engine& engine, WorkloadId id) {
  const api::WorkloadStatus status = engine.status(id);
  const api::Condition* evicted = status.condition("Evicted");
  return engine.holds_quota(id) && evicted && evicted->is_true();
}

/// Of the roots, for each flavor and resource: more is held than there is. What is earmarked counts
/// as used, too, so that nothing can be said then.
bool holds_too_much(const Model& model) {
  if (!model.earmarks.empty()) return false;
  for (const QueueRecord& queue : model.queues)
    for (FrId fr = 0; fr < model.tree.fr_count(); ++fr)
      if (model.tree.exceeds_subtree(model.tree.root(queue.id), fr)) return true;
  return false;
}

TEST_F(Later, NobodyEverHasWhatAnotherStillRunsOn) {
  EXPECT_TRUE(rc::check([this](std::uint64_t seed) {
    const Plan plan = with_its_quotas(seed);
    Player player(plan, 1, hooks);
    Scenario& played = player.scenario();
    std::mt19937_64 random(seed);
    std::map<std::string, int> evicted;
    const auto play = [&](const Log& log) {
      for (const std::string& line : log)
        if (line.starts_with("evicted ")) ++evicted[line.substr(8, line.find(' ', 8) - 8)];
      RC_ASSERT(!holds_too_much(played.engine.model()));
      for (const WorkloadId id : played.engine.workloads()) {
        const std::string name = played.engine.key(id).substr(3);
        if (!is_ending(played.engine, id) || random() % 2 == 0) continue;
        RC_ASSERT(evicted[name] == 1);  // since it began
        evicted[name] = 0;
        played.ended(name);
      }
    };
    for (std::size_t i = 0; i < plan.instants.size(); ++i) play(player.play(i));
    for (int i = 0; i < 40; ++i) play(played.after(1).run());
    for (const WorkloadId id : played.engine.workloads()) RC_ASSERT(!is_ending(played.engine, id));
  }));
}

}  // namespace
}  // namespace sluice::testing
