// Workloads come, change and go: what each change means, and that the record describes the object.
#include <rapidcheck.h>

#include "core/model/model.hpp"
#include "tests/core/engine/random_world.hpp"

namespace sluice::testing {
namespace {

const WorkloadRecord& record(const Scenario& s, const std::string& name) {
  return s.engine.model().workloads[*s.engine.find(key_of(name))];
}

TEST(Arrivals, WhatAChangeOfAWaitingWorkloadMeans) {
  struct Case {
    const char* what;
    std::function<void(Job&)> change;
    std::string admitted;  // of `a` and `b` of 3 cores each, where 4 are free
  };
  const Case cases[] = {
      {"nothing", [](Job&) {}, "a"},
      {"a higher priority", [](Job& job) { job.priority(5); }, "b"},
      {"fewer cores", [](Job& job) { job.object.pod_sets[0].count = 0; }, "a b"},
      {"turned off", [](Job& job) { job.active(false); }, "a"},
  };
  for (const Case& each : cases) {
    Scenario s;
    s.flavor("f").queue(Queue("q").quota("cpu", {{"f", 4}}));
    s.submit(Job("a", "q").cpu(3)).submit(Job("b", "q").cpu(3));
    Job b = Job("b", "q").cpu(3);
    each.change(b);
    s.submit(b).run();
    EXPECT_EQ(s.admitted(), each.admitted) << each.what;
  }
}

// `b` is parked: nothing is free. It is looked at again when it asks for something else, and not
// because somebody wrote what it is told, or wrote it as it was.
TEST(Arrivals, AParkedWorkloadThatAsksForTheSameStaysParked) {
  const struct {
    const char* what;
    std::function<void(Job&)> change;
    bool looked_at;
  } cases[] = {
      {"nothing", [](Job&) {}, false},
      {"what it is told",
       [](Job& job) {
         job.object.status.conditions.push_back(
             {"QuotaReserved", "False", "Pending", "no quota", kSecond, 0});
       },
       false},
      {"another priority", [](Job& job) { job.priority(5); }, true},
      {"another count", [](Job& job) { job.object.pod_sets[0].count = 2; }, true},
      {"pods that it gives back",
       [](Job& job) {
         job.object.status.reclaimable_pods = {{"main", 1}};
       },
       true},
  };
  for (const auto& each : cases) {
    Scenario s;
    s.flavor("f").queue(Queue("q").quota("cpu", {{"f", 4}}));
    s.submit(Job("a", "q").cpu(4)).submit(Job("b", "q").cpu(3)).run();
    ASSERT_EQ(s.admitted(), "a");
    const std::uint64_t cycles = s.engine.stats().cycles;
    Job b = Job("b", "q").cpu(3);
    each.change(b);
    s.submit(b).run();
    EXPECT_EQ(s.engine.stats().cycles > cycles, each.looked_at) << each.what;
  }
}

// Other classes of the same priority make no other class of equals: one that is parked alone shows
// whether it was looked at.
TEST(Arrivals, AnotherPriorityClassIsSomethingElse) {
  const auto named = [](const std::string& priority_class) {
    Job b = Job("b", "q").cpu(1).invalid_limits("requests exceed limits");
    if (!priority_class.empty())
      b.object.priority_class = std::make_shared<api::PriorityClassRef>(
          api::PriorityClassRef{"kueue.x-k8s.io", "WorkloadPriorityClass", priority_class});
    return b;
  };
  const struct {
    std::string before, after;
    bool looked_at;
  } cases[] = {
      {"", "", false}, {"x", "x", false}, {"x", "y", true}, {"x", "", true}, {"", "x", true}};
  for (const auto& each : cases) {
    Scenario s;
    s.flavor("f").queue(Queue("q").quota("cpu", {{"f", 4}})).submit(named(each.before)).run();
    const std::uint64_t cycles = s.engine.stats().cycles;
    s.submit(named(each.after)).run();
    EXPECT_EQ(s.engine.stats().cycles > cycles, each.looked_at) << each.before << each.after;
  }
}

TEST(Arrivals, WhatWasGrantedIsNotChangedByItsObject) {
  Scenario s;
  s.flavor("f").queue(Queue("q").quota("cpu", {{"f", 4}}));
  s.submit(Job("a", "q").cpu(1).count(2)).run();
  s.submit(Job("a", "q").cpu(1).count(4)).run();
  EXPECT_EQ(s.assigned("a"), "main=2 cpu:f");
  EXPECT_EQ(record(s, "a").pod_sets[0].count, 2);
}

TEST(Arrivals, AnotherUidIsAnotherWorkload) {
  Scenario s;
  s.flavor("f").queue(Queue("q").quota("cpu", {{"f", 4}}));
  Job first = Job("a", "q").cpu(4);
  first.object.meta.uid = "one";
  s.submit(first).run();
  Job second = Job("a", "q").cpu(5);
  second.object.meta.uid = "two";
  s.submit(second).submit(Job("b", "q").cpu(4)).run();
  EXPECT_EQ(s.admitted(), "b") << "what the first held is free";
  EXPECT_EQ(record(s, "a").uid.text(), "two");
}

TEST(Arrivals, LikePodSetsHaveOneShapeAndOthersHaveNot) {
  Scenario s;
  s.flavor("f").queue(Queue("q").quota("cpu", {{"f", 4}}));
  s.submit(Job("a", "q").cpu(9)).submit(Job("like", "q").cpu(9).priority(3));
  s.submit(Job("bigger", "q").cpu(8)).submit(Job("more", "q").cpu(9).count(2));
  EXPECT_EQ(record(s, "a").shape, record(s, "like").shape);
  EXPECT_NE(record(s, "a").shape, record(s, "bigger").shape);
  EXPECT_NE(record(s, "a").shape, record(s, "more").shape);
}

void check_records(const Engine& engine) {
  const Model& model = engine.model();
  for (const WorkloadId id : engine.workloads()) {
    const WorkloadRecord& w = model.workloads[id];
    const api::Workload& object = *w.object;
    RC_ASSERT(w.key == object.meta.key() && w.uid.text() == object.meta.uid);
    RC_ASSERT(w.priority == object.priority && w.pod_sets.size() == object.pod_sets.size());
    RC_ASSERT(model.names.text(w.local_queue) == object.meta.ns + "/" + object.queue_name);
    for (std::size_t i = 0; i < w.pod_sets.size(); ++i) {
      RC_ASSERT(w.pod_sets[i].count == object.pod_sets[i].count);
      RC_ASSERT(w.pod_sets[i].shape->pod == object.pod_sets[i].pod);
      RC_ASSERT(w.pod_sets[i].reclaimable <= w.pod_sets[i].count);
    }
    RC_ASSERT((w.state == WorkloadState::kInactive) <= !object.active);
  }
}

// 2 slices of 5 and 1 of 10 make 20 of 25; the second of 10 is one too many, whatever it asks of
// the nodes. What is excluded needs no quota.
TEST(Arrivals, QuotaIsAskedForWhatResourcesComeTo) {
  EngineConfig config = Scenario::single_thread();
  config.resources.excluded_prefixes = {"network"};
  config.resources.transformations = {{"slice-5", false, "", {{"memory", 5'000}}},
                                      {"slice-10", false, "", {{"memory", 10'000}}}};
  Scenario s(config);
  s.flavor("f").queue(Queue("q").quota("memory", {{"f", 25}}));
  s.submit(Job("a", "q").request("slice-5", 2).request("slice-10", 1).request("network/fast", 1));
  s.submit(Job("b", "q").request("slice-10", 1));
  EXPECT_EQ(s.run(), Lines("reserved a", "admitted a"));
  EXPECT_EQ(queue_view(s.engine.model(), "q")->use[0].used, 20);
}

TEST(ArrivalsProperties, ARecordDescribesItsObjectAndTheGoneLeaveNothing) {
  EXPECT_TRUE(rc::check([](std::uint64_t seed) {
    const Plan plan = Planner(seed).draw_with_checks(3, 5, 8);
    Player player(plan);
    for (std::size_t i = 0; i < plan.instants.size(); ++i) {
      player.play(i);
      check_records(player.scenario().engine);
    }
    player.remove_all();
    player.scenario().run();
    const Model& model = player.scenario().engine.model();
    RC_ASSERT(model.ids.empty() && model.open.empty() && model.held.empty());
    RC_ASSERT(model.earmarks.empty() && model.siblings.empty() && model.together.empty());
    for (const QueueRecord& queue : model.queues) {
      RC_ASSERT(queue.holders.empty() && queue.pending.size() == 0U);
      for (FrId fr = 0; fr < model.tree.fr_count(); ++fr)
        RC_ASSERT(model.tree.usage(queue.id, fr) == 0);
    }
  }));
}

}  // namespace
}  // namespace sluice::testing
