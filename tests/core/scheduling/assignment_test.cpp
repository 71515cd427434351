// Which flavors a workload gets, and what it is told when it gets none (semantics 4).
#include <gmock/gmock.h>

#include "tests/core/support/scenario.hpp"

namespace sluice::testing {
namespace {

api::LabelMap label(const std::string& name, const std::string& value) {
  api::LabelMap out;
  out.set(name, value);
  return out;
}

TEST(Assignment, TheFirstFlavorThatFitsIsTaken) {
  Scenario s;
  s.flavor("f").flavor("g").queue(Queue("q").quota("cpu", {{"f", 2}, {"g", 4}}));
  s.submit(Job("a", "q").cpu(2)).submit(Job("b", "q").cpu(2)).run();
  EXPECT_EQ(s.assigned("a"), "main=1 cpu:f");
  EXPECT_EQ(s.assigned("b"), "main=1 cpu:g");
}

TEST(Assignment, AllResourcesOfAGroupGetOneFlavorEachGroupItsOwn) {
  Scenario s;
  s.flavor("f").flavor("g").flavor("h");
  Queue q("q");
  q.quota("cpu", {{"f", 4}, {"g", 4}}).with("memory", {1, 100});
  q.quota("gpu", {{"h", 2}});
  s.queue(q).submit(Job("a", "q").cpu(1).request("memory", 50).request("gpu", 1)).run();
  EXPECT_EQ(s.assigned("a"), "main=1 cpu:g gpu:h memory:g");
}

TEST(Assignment, LaterPodSetsSeeWhatEarlierOnesTook) {
  // f has 4: driver takes 3, so worker's 2 go to g.
  Scenario s;
  s.flavor("f").flavor("g").queue(Queue("q").quota("cpu", {{"f", 4}, {"g", 4}}));
  s.submit(Job("a", "q").cpu(3).pods("worker").cpu(1).count(2)).run();
  EXPECT_EQ(s.assigned("a"), "main=1 cpu:f; worker=2 cpu:g");
}

TEST(Assignment, PodSetsOfOneGroupShareTheFlavorThatHoldsThemAll) {
  Scenario s;
  s.flavor("f").flavor("g").queue(Queue("q").quota("cpu", {{"f", 4}, {"g", 5}}));
  s.submit(Job("a", "q").cpu(3).pod_group("x").pods("worker").cpu(1).count(2).pod_group("x"));
  s.run();
  EXPECT_EQ(s.assigned("a"), "main=1 cpu:g; worker=2 cpu:g");  // 3 + 2 = 5
}

TEST(Assignment, ACoveredResourcePodsCountsThePods) {
  Scenario s;
  s.flavor("f").queue(Queue("q").quota("cpu", {{"f", 9}}).with("pods", {3}));
  s.submit(Job("a", "q").cpu(1).count(2)).submit(Job("b", "q").cpu(1).count(2)).run();
  EXPECT_EQ(s.admitted(), "a");
  EXPECT_EQ(s.why("b"),
            "WaitingForQuota: couldn't assign flavors to pod set main: insufficient unused quota "
            "for pods in flavor f, 1 more needed");
}

TEST(Assignment, PodsCountAlsoWhenTheQueueCoversThemNoMore) {
  Scenario s;
  s.flavor("f").queue(Queue("q").quota("cpu", {{"f", 9}}).with("pods", {3}));
  s.submit(Job("a", "q").cpu(1).count(2)).run();
  s.queue(Queue("q").quota("cpu", {{"f", 9}})).run();
  const auto assigned = assignment_of(s.engine.model(), *s.engine.find("ns/a"));
  ASSERT_EQ(assigned.at(0).usage.size(), 2U);
  EXPECT_EQ(assigned[0].usage[1].resource, "pods");
  EXPECT_EQ(assigned[0].usage[1].amount, 2);  // one each, as when they were granted
}

TEST(Assignment, AnUncoveredResourceMatters) {
  Scenario s;
  s.flavor("f").queue(Queue("q").quota("cpu", {{"f", 4}}));
  s.submit(Job("a", "q").cpu(1).request("gpu", 1))
      .submit(Job("zero", "q").cpu(1).request("gpu", 0));
  s.run();
  EXPECT_EQ(s.admitted(), "zero");
  EXPECT_EQ(s.why("a"),
            "NoMatchingFlavor: couldn't assign flavors to pod set main: resource gpu unavailable "
            "in ClusterQueue");
}

TEST(Assignment, UncoveredResourcesMayBeIgnoredByConfiguration) {
  EngineConfig config = Scenario::single_thread();
  config.ignore_undeclared_resources = true;
  Scenario s(config);
  s.flavor("f").queue(Queue("q").quota("cpu", {{"f", 4}}));
  s.submit(Job("a", "q").cpu(1).request("gpu", 1)).run();
  EXPECT_EQ(s.assigned("a"), "main=1 cpu:f");
}

TEST(Assignment, OnlyNoScheduleAndNoExecuteTaintsKeepPodsOff) {
  using api::TaintEffect;
  for (const auto& [effect, tolerated, flavor] :
       {std::tuple{TaintEffect::kNoSchedule, false, "g"},
        std::tuple{TaintEffect::kNoExecute, false, "g"},
        std::tuple{TaintEffect::kPreferNoSchedule, false, "f"},
        std::tuple{TaintEffect::kNoSchedule, true, "f"}}) {
    Scenario s;
    s.flavor("f", {}, {{"spot", "true", effect}}).flavor("g");
    s.queue(Queue("q").quota("cpu", {{"f", 4}, {"g", 4}}));
    Job a = Job("a", "q").cpu(1);
    if (tolerated) a.tolerates("spot", "true");
    s.submit(a).run();
    EXPECT_EQ(s.assigned("a"), std::string("main=1 cpu:") + flavor);
  }
}

TEST(Assignment, OnlyTheFlavorsOwnLabelKeysCount) {
  struct Case {
    const char* what;
    Job job;
    std::string flavor;
  };
  const std::vector<Case> cases = {
      {"nothing asked", Job("a", "q").cpu(1), "f"},
      {"its key, its value", Job("a", "q").cpu(1).node_selector("zone", "1"), "f"},
      {"its key, another value", Job("a", "q").cpu(1).node_selector("zone", "2"), "g"},
      {"a key that it does not have", Job("a", "q").cpu(1).node_selector("disk", "ssd"), "f"},
      {"affinity to another value", Job("a", "q").cpu(1).affinity("zone", {"2"}), "g"},
      {"affinity to a foreign key", Job("a", "q").cpu(1).affinity("disk", {"ssd"}), "f"},
      {"one of two terms", Job("a", "q").cpu(1).affinity("zone", {"2"}).affinity("zone", {"1"}),
       "f"},
      {"a term without expressions matches all",
       Job("a", "q").cpu(1).affinity("zone", {"2"}).affinity("", {}), "f"},
  };
  for (const Case& c : cases) {
    Scenario s;
    s.flavor("f", label("zone", "1")).flavor("g");  // g has no labels and takes every pod
    s.queue(Queue("q").quota("cpu", {{"f", 4}, {"g", 4}})).submit(c.job).run();
    EXPECT_EQ(s.assigned("a"), "main=1 cpu:" + c.flavor) << c.what;
  }
}

TEST(Assignment, EveryFlavorGivesItsReason) {
  Scenario s;
  s.flavor("tainted", {}, {{"spot", "true", api::TaintEffect::kNoSchedule}});
  s.flavor("elsewhere", label("zone", "2")).flavor("small").flavor("full");
  s.queue(Queue("q").quota("cpu", {{"tainted", 9}, {"elsewhere", 9}, {"small", 2}, {"full", 4}}));
  s.submit(Job("first", "q").cpu(3).node_selector("zone", "1")).run();
  ASSERT_EQ(s.assigned("first"), "main=1 cpu:full");
  s.submit(Job("a", "q").cpu(3).node_selector("zone", "1")).run();
  EXPECT_EQ(s.why("a"),
            "WaitingForQuota: couldn't assign flavors to pod set main: flavor elsewhere doesn't "
            "match node affinity, insufficient quota for cpu in flavor small, previously "
            "considered podsets requests (0) + current podset request (3) > maximum capacity (2), "
            "insufficient unused quota for cpu in flavor full, 2 more needed, untolerated taint "
            "{spot true NoSchedule <nil>} in flavor tainted");
}

TEST(Assignment, TheReasonIsThatOfTheFlavorThatCameClosest) {
  struct Case {
    std::int64_t request;
    const char* reason;
  };
  for (const Case& c : {Case{3, "WaitingForQuota"}, Case{9, "ExceedsMaxQuota"}}) {
    Scenario s;
    s.flavor("f").queue(Queue("q").quota("cpu", {{"f", 4}}));
    s.submit(Job("first", "q").cpu(2)).run();
    s.submit(Job("a", "q").cpu(c.request)).run();
    EXPECT_TRUE(s.why("a").starts_with(c.reason)) << s.why("a");
  }
  Scenario s;
  s.flavor("f", {}, {{"t", "", api::TaintEffect::kNoSchedule}});
  s.queue(Queue("q").quota("cpu", {{"f", 4}})).submit(Job("a", "q").cpu(1)).run();
  EXPECT_TRUE(s.why("a").starts_with("NoMatchingFlavor")) << s.why("a");
}

TEST(Assignment, PartialAdmissionFindsTheLargestCountThatFits) {
  // count 10, minCount 2, D = 8; counts(k) = 10 − k. 5 fit: bisecting k in 0…8 ends at k = 5.
  struct Case {
    std::int64_t quota;
    std::string assigned;
  };
  for (const Case& c :
       {Case{10, "main=10 cpu:f"}, Case{5, "main=5 cpu:f"}, Case{2, "main=2 cpu:f"}, Case{1, ""}}) {
    Scenario s;
    s.flavor("f").queue(Queue("q").quota("cpu", {{"f", c.quota}}));
    s.submit(Job("a", "q").cpu(1).count(10).min_count(2)).run();
    EXPECT_EQ(s.assigned("a"), c.assigned) << c.quota;
  }
}

TEST(Assignment, PartialAdmissionShrinksPodSetsTogether) {
  // D = 4 + 2 = 6. counts(k) = 6 − ⌊4k/6⌋, 3 − ⌊2k/6⌋: k=0: 6+3=9, 1: 6+3, 2: 5+3=8, 3: 4+2=6.
  Scenario s;
  s.flavor("f").queue(Queue("q").quota("cpu", {{"f", 7}}));
  s.submit(Job("a", "q").cpu(1).count(6).min_count(2).pods("second").cpu(1).count(3).min_count(1));
  s.run();
  EXPECT_EQ(s.assigned("a"), "main=4 cpu:f; second=2 cpu:f");
}

TEST(Assignment, PartialAdmissionMayAlsoPreempt) {
  // 4 of 6 are used by low. The full 8 never fit; 6 fit with low gone.
  Scenario s;
  s.flavor("f").queue(Queue("q").quota("cpu", {{"f", 6}}).lower_priority());
  s.submit(Job("low", "q").cpu(4)).run();
  s.submit(Job("a", "q").cpu(1).count(8).min_count(3).priority(5)).run();
  EXPECT_EQ(s.assigned("a"), "main=6 cpu:f");
}

TEST(Assignment, ReclaimablePodsAreNotRequestedWhilePending) {
  Scenario s;
  s.flavor("f").queue(Queue("q").quota("cpu", {{"f", 2}}));
  s.submit(Job("a", "q").cpu(1).count(4).reclaimable(2)).run();
  EXPECT_EQ(s.assigned("a"), "main=2 cpu:f");
}

TEST(Assignment, ReclaimablePodsOfAHolderFreeQuotaOnlyBelowWhatItRuns) {
  // Partially admitted with 3 of 5. 1 reclaimable: min(3, 5 − 1) = 3 are counted, nothing is freed;
  // 3 reclaimable: min(3, 2) = 2, one core is free. The admission keeps its counts.
  Scenario s;
  s.flavor("f").queue(Queue("q").quota("cpu", {{"f", 3}}));
  s.submit(Job("a", "q").cpu(1).count(5).min_count(1)).run();
  s.submit(Job("b", "q").cpu(1)).run();
  s.submit(Job("a", "q").cpu(1).count(5).min_count(1).reclaimable(1)).run();
  EXPECT_EQ(s.admitted(), "a");
  s.submit(Job("a", "q").cpu(1).count(5).min_count(1).reclaimable(3)).run();
  EXPECT_EQ(s.admitted(), "a b");
  EXPECT_EQ(s.assigned("a"), "main=3 cpu:f");
}

TEST(Assignment, TheScanGoesOnWhereItStoppedAndForgetsWhenTheQueueGrew) {
  // Without a plugin the walk ends only at a flavor that fits, so every scan is exhausted and a
  // parked workload starts anew when it is woken.
  Scenario s;
  s.flavor("f").flavor("g").queue(Queue("q").quota("cpu", {{"f", 2}, {"g", 2}}));
  s.submit(Job("x", "q").cpu(2)).submit(Job("y", "q").cpu(2)).submit(Job("a", "q").cpu(2)).run();
  s.after(1).finish("x").run();
  EXPECT_EQ(s.assigned("a"), "main=1 cpu:f");
}

TEST(Assignment, EachPodSetIsToldWhatItLacks) {
  // run leaves 1 of 4 cpus for main's 2, and none of 1 gpu for worker's.
  Scenario s;
  s.flavor("f").flavor("g");
  s.queue(Queue("q").quota("cpu", {{"f", 4}}).quota("gpu", {{"g", 1}}));
  s.submit(Job("run", "q").cpu(3).request("gpu", 1)).run();
  s.submit(Job("a", "q").cpu(2).pods("worker").request("gpu", 1)).run();
  EXPECT_EQ(s.why("a"),
            "WaitingForQuota: couldn't assign flavors to pod set main: insufficient unused quota "
            "for cpu in flavor f, 1 more needed; couldn't assign flavors to pod set worker: "
            "insufficient unused quota for gpu in flavor g, 1 more needed");
}

}  // namespace
}  // namespace sluice::testing
