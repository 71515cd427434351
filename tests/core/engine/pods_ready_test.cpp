// Pods that have to be ready in time, or before others are admitted (semantics 7).
#include <gmock/gmock.h>

#include <functional>

#include "tests/core/engine/life_support.hpp"
#include "tests/core/support/fake_hooks.hpp"

namespace sluice::testing {
namespace {

struct PodsReady : ::testing::Test {
  static EngineConfig config(std::optional<std::int32_t> limit = {}) {
    EngineConfig c = Scenario::single_thread();
    c.pods_ready_timeout = 100 * kSecond;
    c.requeue.backoff_base = 10 * kSecond;
    c.requeue.backoff_max = 25 * kSecond;
    c.requeue.backoff_limit = limit;
    return c;
  }
};

TEST_F(PodsReady, ATimeoutEvictsAndRequeuesWithADoublingBackoffUpToTheMaximum) {
  Scenario s(config());
  s.flavor("f").queue(plain(4)).submit(Job("a", "q").cpu(1)).run();
  for (const std::int64_t backoff : {10, 20, 25, 25}) {
    s.after(100);
    EXPECT_EQ(s.run(), Lines("evicted a PodsReadyTimeout"));
    EXPECT_EQ(s.why("a"), "Pending: The workload waits for its requeue backoff");
    EXPECT_EQ(s.engine.next_timer(), s.now() + backoff * kSecond);
    const auto waiting = s.engine.status(*s.engine.find("ns/a")).requeue_state;
    EXPECT_EQ(waiting->requeue_at, s.now() + backoff * kSecond);
    s.after(backoff);
    EXPECT_EQ(s.run(), Lines("requeued a BackoffFinished", "reserved a", "admitted a"));
    const auto over = s.engine.status(*s.engine.find("ns/a")).requeue_state;
    EXPECT_EQ(over->count, waiting->count);
    EXPECT_EQ(over->requeue_at, std::nullopt);
  }
}

TEST_F(PodsReady, ABackoffOfNoTimeIsOverAtOnce) {
  EngineConfig at_once = config();
  at_once.requeue.backoff_base = 0;
  Scenario s(at_once);
  s.flavor("f").queue(plain(4)).submit(Job("a", "q").cpu(1)).run();
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(s.after(100).run(), Lines("evicted a PodsReadyTimeout", "requeued a BackoffFinished",
                                        "reserved a", "admitted a"));
}

TEST_F(PodsReady, PastTheLimitItIsDeactivated) {
  Scenario s(config(1));
  s.flavor("f").queue(plain(4)).submit(Job("a", "q").cpu(1)).run();
  s.after(100).run();
  s.after(10).run();
  s.after(100);
  EXPECT_EQ(s.run(), Lines("evicted a DeactivatedDueToRequeuingLimitExceeded",
                           "deactivated a DeactivatedDueToRequeuingLimitExceeded"));
  const auto requeue = [&s] { return s.engine.status(*s.engine.find("ns/a")).requeue_state; };
  EXPECT_FALSE(requeue()) << "it does not queue again by itself";
  s.after(1).submit(Job("a", "q").cpu(1).active(false)).run();  // as the host tells it
  s.after(1).submit(Job("a", "q").cpu(1)).run();
  s.after(100);
  EXPECT_EQ(s.run(), Lines("evicted a PodsReadyTimeout")) << "its tries are counted anew";
  EXPECT_EQ(requeue()->count, 1);
}

TEST_F(PodsReady, ThoseThatRepresentOneShareItsBackoffAndItsLimit) {
  // m1 and m2 are two ways to run w: after the timeout of m1 both wait, and m2's timeout is the
  // second of w, of which one is allowed.
  FakeTraits traits;
  traits.of("w").takes_part = false;
  for (const std::string name : {"m1", "m2"}) {
    hooks::Traits& t = traits.member(name, "g", name == "m1" ? 1 : 2, "w");
    t.group.represents = true;
  }
  hooks::HostHooks hooks;
  hooks.workload_traits = &traits;
  Scenario s(config(1), hooks);
  s.flavor("f").queue(plain(4)).submit(Job("w", "q").cpu(1)).submit(Job("m1", "q").cpu(1));
  s.submit(Job("m2", "q").cpu(1)).run();
  EXPECT_EQ(s.admitted(), "m1 w");
  s.after(100).run();
  EXPECT_EQ(s.admitted(), "");
  for (const char* name : {"m1", "m2"})
    EXPECT_EQ(s.why(name), "Pending: The workload waits for its requeue backoff");
  EXPECT_EQ(requeued(s, "m1"), "False PodsReadyTimeout");
  s.after(10);
  EXPECT_EQ(requeued(s, "m1"), "True BackoffFinished");
  EXPECT_EQ(requeued(s, "m2"), "(absent)") << "it was never evicted";
  s.submit(Job("m1", "q").cpu(1).active(false)).run();
  EXPECT_EQ(s.admitted(), "m2 w");
  s.after(100).run();
  EXPECT_EQ(s.state("m2"), "inactive");
  EXPECT_EQ(s.state("w"), "inactive");
}

TEST_F(PodsReady, PastTheLimitOneThatTakesPartItselfIsNotTurnedOffWithWhoRepresentsIt) {
  FakeTraits traits;
  traits.member("m", "g", 1, "w").group.represents = true;
  hooks::HostHooks hooks;
  hooks.workload_traits = &traits;
  Scenario s(config(0), hooks);
  s.flavor("f").queue(plain(4)).submit(Job("w", "q").cpu(1)).submit(Job("m", "q").cpu(1)).run();
  s.after(10).submit(Job("w", "q").cpu(1).ready(true)).run();
  s.after(100).run();
  EXPECT_EQ(s.state("m"), "inactive");
  EXPECT_EQ(s.state("w"), "admitted");
}

TEST_F(PodsReady, OneThatIsReadyStaysAndMustBecomeReadyAgainAfterAnEviction) {
  Scenario s(config());
  s.flavor("f").queue(plain(4)).submit(Job("a", "q").cpu(1)).run();
  s.after(10).submit(Job("a", "q").cpu(1).ready(true)).run();
  s.after(100);
  EXPECT_EQ(s.run(), Log());
  s.queue(plain(4).stop(api::StopPolicy::kHoldAndDrain)).run();
  s.after(1).queue(plain(4)).run();
  EXPECT_EQ(s.admitted(), "a");
  s.after(100);
  EXPECT_EQ(s.run(), Lines("evicted a PodsReadyTimeout"));
}

TEST_F(PodsReady, TheTimeOfAnEarlierAdmissionCountsNoMore) {
  Scenario s(config());
  s.flavor("f").queue(plain(4)).submit(Job("a", "q").cpu(1)).run();
  s.after(50).queue(plain(4).stop(api::StopPolicy::kHoldAndDrain)).run();
  s.queue(plain(4)).run();
  ASSERT_EQ(s.admitted(), "a");
  EXPECT_EQ(s.after(50).run(), Log());
  EXPECT_EQ(s.after(50).run(), Lines("evicted a PodsReadyTimeout"));
}

TEST_F(PodsReady, AfterTheTimeoutItQueuesByTheTimeOfItsEviction) {
  Scenario s(config());
  s.flavor("f").queue(plain(1)).submit(Job("a", "q").cpu(1)).run();
  s.after(50).submit(Job("b", "q").cpu(1)).run();
  s.after(50).run();  // a is evicted, b gets in
  EXPECT_EQ(s.admitted(), "b");
  s.after(20).submit(Job("c", "q").cpu(1)).run();
  s.after(1).finish("b").run();
  EXPECT_EQ(s.admitted(), "a");  // evicted before c came
}

struct Recovery : PodsReady {
  static EngineConfig recovering() {
    EngineConfig c = config();
    c.pods_recovery_timeout = 30 * kSecond;
    return c;
  }
  static Job pods(bool ready) {
    Job job = Job("a", "q").cpu(1);
    job.object.status.conditions = {
        {"PodsReady", ready ? "True" : "False", ready ? "Started" : "WaitForRecovery", "", 0, 0}};
    return job;
  }
};

TEST_F(Recovery, PodsThatWereReadyHaveTheirOwnTimeToComeBack) {
  Scenario s(recovering());
  s.flavor("f").queue(plain(4)).submit(Job("a", "q").cpu(1)).run();
  s.after(10).submit(pods(true)).run();
  s.after(85).submit(pods(false)).run();  // at 95 s: until 125 s, the first 100 s do not count
  s.after(29);
  EXPECT_EQ(s.run(), Log());
  s.after(1);
  EXPECT_EQ(s.run(), Lines("evicted a PodsReadyTimeout"));
  const auto evictions = s.engine.status(*s.engine.find("ns/a")).evictions;
  ASSERT_EQ(evictions.size(), 1U);
  EXPECT_EQ(evictions[0].underlying_cause, "WaitForRecovery");
}

TEST_F(Recovery, EachLossCountsForItself) {
  Scenario s(recovering());
  s.flavor("f").queue(plain(4)).submit(Job("a", "q").cpu(1)).run();
  s.after(10).submit(pods(true)).run();
  s.after(10).submit(pods(false)).run();  // until 50 s, but they come back
  s.after(20).submit(pods(true)).run();
  s.after(5).submit(pods(false)).run();  // until 75 s
  s.after(5);
  EXPECT_EQ(s.run(), Log());
  s.after(25);
  EXPECT_EQ(s.run(), Lines("evicted a PodsReadyTimeout"));
}

// Who says so first has only that time, since it no longer waits for its start.
TEST_F(Recovery, IsWatchedAlsoOfPodsThatWereNeverSaidToBeReady) {
  Scenario s(recovering());
  s.flavor("f").queue(plain(4)).submit(Job("a", "q").cpu(1)).run();
  s.after(10).submit(pods(false)).run();
  EXPECT_EQ(s.after(29).run(), Log());
  EXPECT_EQ(s.after(1).run(), Lines("evicted a PodsReadyTimeout"));
}

// Nothing of it runs while it waits for its checks: nobody is evicted over pods then, and what was
// said of them counts from the admission on.
TEST_F(Recovery, BeginsWithTheAdmission) {
  Scenario s(recovering());
  s.flavor("f").queue(plain(4).checked_by("check")).submit(Job("a", "q").cpu(1)).run();
  s.after(10).submit(pods(true)).run();
  s.after(10).submit(pods(false)).run();
  EXPECT_EQ(s.after(100).run(), Log());
  EXPECT_EQ(s.state("a"), "reserved");
  s.answer("a", "check", "Ready").run();
  EXPECT_EQ(s.state("a"), "admitted");
  EXPECT_EQ(s.after(0).run(), Lines("evicted a PodsReadyTimeout"));
}

// Ready at 10 s, lost at 20, evicted at 50; its backoff of 10 s over, it has 100 s to start again.
// A stop of its queue while pods are missing is no other loss.
TEST_F(Recovery, OfAnEarlierReservationIsOverWithIt) {
  const std::function<Log(Scenario&)> losses[] = {
      [](Scenario& s) {
        s.after(30);
        Log out = s.run();
        s.after(10).run();
        return out;
      },
      [](Scenario& s) {
        s.queue(plain(4).stop(api::StopPolicy::kHoldAndDrain));
        Log out = s.run();
        s.queue(plain(4)).run();
        return out;
      },
  };
  for (const auto& lose : losses) {
    Scenario s(recovering());
    s.flavor("f").queue(plain(4)).submit(Job("a", "q").cpu(1)).run();
    s.after(10).submit(pods(true)).run();
    s.after(10).submit(pods(false)).run();
    EXPECT_EQ(lose(s).size(), 1U) << "it is evicted";
    ASSERT_EQ(s.admitted(), "a");
    EXPECT_THAT(s.condition("a", "PodsReady"), ::testing::StartsWith("False WaitForStart"));
    EXPECT_EQ(s.after(99).run(), Log());
    EXPECT_EQ(s.after(1).run(), Lines("evicted a PodsReadyTimeout"));
  }
}

struct BlockAdmission : PodsReady {
  static EngineConfig blocking() {
    EngineConfig c = config();
    c.block_admission = true;
    return c;
  }
};

TEST_F(BlockAdmission, OneAtATimeUntilItsPodsAreReady) {
  Scenario s(blocking());
  s.flavor("f").queue(plain(4)).queue(Queue("p").quota("cpu", {{"f", 4}}));
  s.submit(Job("a", "q").cpu(1)).submit(Job("b", "p").cpu(1)).submit(Job("c", "q").cpu(1)).run();
  EXPECT_EQ(s.admitted(), "a");
  for (const char* other : {"b", "c"})
    EXPECT_EQ(s.why(other),
              "WaitingForPodsReady: waiting for all admitted workloads to be in "
              "PodsReady condition");
  s.submit(Job("a", "q").cpu(1).ready(true)).run();  // in the same instant
  EXPECT_EQ(s.admitted(), "a b");
  s.after(1).finish("b").run();
  EXPECT_EQ(s.admitted(), "a c");
}

TEST_F(BlockAdmission, PodsThatAreReadyNoMoreAreWaitedForAgain) {
  Scenario s(blocking());
  s.flavor("f").queue(plain(4)).submit(Job("a", "q").cpu(1)).run();
  s.submit(Job("a", "q").cpu(1).ready(true)).run();
  s.submit(Job("a", "q").cpu(1).ready(false)).run();
  s.submit(Job("b", "q").cpu(1)).run();
  EXPECT_EQ(s.admitted(), "a");
  s.submit(Job("a", "q").cpu(1).ready(true)).run();
  EXPECT_EQ(s.admitted(), "a b");
}

TEST_F(BlockAdmission, WhoTimesOutGivesWay) {
  Scenario s(blocking());
  s.flavor("f").queue(plain(4)).submit(Job("a", "q").cpu(1)).submit(Job("b", "q").cpu(1)).run();
  s.after(100).run();
  EXPECT_EQ(s.admitted(), "b");
}

}  // namespace
}  // namespace sluice::testing
