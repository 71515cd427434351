// Evictions of ways to run a job, where the pods of jobs take their time to end: the quota comes
// back when the job that they represent has ended.
#include <gmock/gmock.h>

#include "tests/core/support/fake_hooks.hpp"
#include "tests/core/support/scenario.hpp"

namespace sluice::testing {
namespace {

/// `m1` on flavor f and `m2` on flavor g are the ways to run `w`, which is of a job; 4 cores of
/// each flavor. m1 runs on 3 cores of f.
struct RepresentedJob : ::testing::Test {
  FakeTraits traits;
  hooks::HostHooks hooks;
  std::unique_ptr<Scenario> s;

  RepresentedJob() {
    hooks.workload_traits = &traits;
    traits.of("w").takes_part = false;
    for (const std::string name : {"m1", "m2"})
      traits.member(name, "g", name == "m1" ? 1 : 2, "w").group.represents = true;
    s = world();
    for (const char* name : {"w", "m1", "m2"}) s->submit(job(name));
    s->run();
    EXPECT_EQ(s->admitted(), "m1 w");
  }
  std::unique_ptr<Scenario> world() const {
    EngineConfig config = Scenario::single_thread();
    config.jobs_end_later = true;
    auto out = std::make_unique<Scenario>(config, hooks);
    out->flavor("f").flavor("g");
    out->queue(Queue("q").quota("cpu", {{"f", 4}, {"g", 4}}).lower_priority());
    return out;
  }
  static Job job(const std::string& name, bool active = true) {
    Job out(name, "q");
    out.cpu(3).active(active).object.of_job = name == "w";
    return out;
  }
  /// Those of higher priority want both flavors: `other` gets g, `high` waits for m1.
  void preempt() {
    s->after(5).submit(Job("other", "q").cpu(4).priority(9)).run();
    s->submit(Job("high", "q").cpu(4).priority(9)).run();
  }
  api::WorkloadStatus status(const std::string& name = "w") const {
    return s->engine.status(*s->engine.find("ns/" + name));
  }
  /// `Evicted=True Admitted=True …`: each condition of these that it has.
  std::string conditions(const std::string& name = "w") const {
    const api::WorkloadStatus now = status(name);
    std::string out;
    for (const char* type : {"QuotaReserved", "Admitted", "Evicted"})
      if (const api::Condition* c = now.condition(type))
        out += (out.empty() ? "" : " ") + c->type + "=" + c->status;
    return out;
  }
  /// `REASON=COUNT …`, of the evictions that are counted.
  std::string counted() const {
    std::string out;
    for (const api::EvictionCount& each : status().evictions)
      out += (out.empty() ? "" : " ") + each.reason + "=" + std::to_string(each.count);
    return out;
  }
};

TEST_F(RepresentedJob, KeepsItsQuotaUntilItHasEnded) {
  preempt();
  EXPECT_EQ(s->state("m1"), "admitted");
  EXPECT_EQ(conditions("m1"), "QuotaReserved=True Admitted=True Evicted=True");
  EXPECT_EQ(conditions(), "QuotaReserved=True Admitted=True Evicted=True") << "so its job stops";
  EXPECT_TRUE(status().admission);
  EXPECT_EQ(s->admitted(), "m1 other w") << "of f are 4 - 3 = 1 free";
  EXPECT_EQ(counted(), "Preempted=1");
  EXPECT_EQ(s->ended("w").run(), Lines("reserved high", "admitted high"));
  EXPECT_EQ(conditions("m1"), "QuotaReserved=False Admitted=False Evicted=True");
  EXPECT_EQ(conditions(), "QuotaReserved=False Admitted=False Evicted=True");
  EXPECT_EQ(counted(), "Preempted=1");
}

TEST_F(RepresentedJob, ARestartInTheMiddleWaitsOn) {
  preempt();
  for (const bool whole_first : {true, false}) {
    auto again = world();
    again->after((s->now() - again->now()) / kSecond);
    for (const char* name :
         {whole_first ? "w" : "m1", whole_first ? "m1" : "w", "m2", "other", "high"}) {
      const WorkloadId id = *s->engine.find(std::string("ns/") + name);
      auto object = std::make_shared<api::Workload>(*s->engine.object(id));
      object->status = s->engine.status(id);
      again->apply(std::move(object));
    }
    std::swap(s, again);
    EXPECT_EQ(s->run(), Log());
    EXPECT_EQ(conditions(), "QuotaReserved=True Admitted=True Evicted=True");
    EXPECT_EQ(s->ended("w").run(), Lines("reserved high", "admitted high"));
    EXPECT_EQ(conditions(), "QuotaReserved=False Admitted=False Evicted=True");
    EXPECT_EQ(counted(), "Preempted=1") << "not once more";
    std::swap(s, again);
  }
}

TEST_F(RepresentedJob, TurnedOffItKeepsItsQuotaAsWell) {
  s->submit(job("w", false)).run();
  EXPECT_EQ(conditions(), "QuotaReserved=True Admitted=True Evicted=True");
  s->submit(job("m1", false)).run();
  EXPECT_EQ(conditions("m1"), "QuotaReserved=True Admitted=True Evicted=True");
  s->submit(Job("wants", "q").cpu(4)).submit(Job("wants2", "q").cpu(4)).run();
  EXPECT_EQ(s->admitted(), "m1 w wants") << "one of them has g";
  EXPECT_EQ(s->ended("w").run(), Lines("reserved wants2", "admitted wants2"));
  EXPECT_EQ(s->state("m1"), "inactive");
  EXPECT_EQ(s->state("w"), "inactive");
  EXPECT_EQ(conditions(), "QuotaReserved=False Admitted=False Evicted=True");
  EXPECT_EQ(counted(), "Deactivated=1");
}

TEST_F(RepresentedJob, TurnedOnAgainMeanwhileItWaitsWhenItHasEnded) {
  s->submit(job("w", false)).submit(job("m1", false)).submit(job("w")).submit(job("m1")).run();
  EXPECT_EQ(conditions(), "QuotaReserved=True Admitted=True Evicted=True");
  EXPECT_EQ(s->ended("w").run(), Lines("reserved m1", "admitted m1"));
  EXPECT_EQ(conditions(), "QuotaReserved=True Admitted=True Evicted=False");
}

// The work goes on as m2: the job, which has to stop for that, holds one place.
TEST_F(RepresentedJob, AMoveHoldsNothingOn) {
  traits.replaces("m2", "m1", hooks::ReplacedEnds::kDeactivated);
  s->traits_changed("m2");
  EXPECT_EQ(s->run(),
            Lines("evicted m1 Replaced", "deactivated m1 Replaced", "reserved m2", "admitted m2"));
  EXPECT_EQ(s->admitted(), "m2 w");
  EXPECT_EQ(conditions(), "QuotaReserved=True Admitted=True");
  EXPECT_EQ(counted(), "Replaced=1");
}

TEST_F(RepresentedJob, AMoveOfOneThatIsBeingEvictedEndsThat) {
  preempt();
  s->finish("other").run();
  traits.replaces("m2", "m1", hooks::ReplacedEnds::kDeactivated);
  s->traits_changed("m2").run();
  EXPECT_EQ(s->state("m1"), "inactive");
  EXPECT_EQ(conditions(), "QuotaReserved=True Admitted=True Evicted=False");
  EXPECT_EQ(counted(), "Preempted=1") << "of one admission";
}

// Nobody is told any more of its end as that of w.
TEST_F(RepresentedJob, AWholeThatTakesPartAgainOrGoesEndsTheWait) {
  for (const bool goes : {true, false}) {
    preempt();
    if (goes) {
      s->remove("w").run();
    } else {
      traits.of("w").takes_part = true;
      s->traits_changed("w").run();
    }
    EXPECT_EQ(s->state("high"), "admitted") << goes;
    if (!goes) return;
    s->remove("high").remove("other").submit(job("w")).run();
    ASSERT_EQ(s->admitted(), "m1 w");
  }
}

}  // namespace
}  // namespace sluice::testing
