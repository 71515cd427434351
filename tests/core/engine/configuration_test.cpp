// Configuration objects come, change and go: what a change of them leaves behind, and whom it
// concerns.
#include <memory>
#include <set>

#include "core/model/model.hpp"
#include "tests/core/support/fake_hooks.hpp"
#include "tests/core/support/scenario.hpp"

namespace sluice::testing {
namespace {

std::size_t records(const Scenario& s) { return s.engine.model().queues.size(); }
std::size_t nodes(const Scenario& s) { return s.engine.model().tree.node_count(); }

/// Evicted when its ClusterQueue was stopped, by a host before this one.
Job stopped_before(const std::string& name, const std::string& queue) {
  Job job = Job(name, queue).cpu(1);
  job.object.status.conditions = {{"Requeued", "False", "ClusterQueueStopped", "", 0, 0}};
  return job;
}

// Whoever may write LocalQueues may name ClusterQueues without end.
TEST(Configuration, LocalQueuesThatNameWhatNeverComesLeaveNothing) {
  Scenario s;
  s.flavor("f").queue(Queue("q").quota("cpu", {{"f", 4}})).submit(Job("w", "lq").cpu(1)).run();
  const std::size_t records_before = records(s), nodes_before = nodes(s);
  for (int i = 0; i < 1000; ++i) {
    s.local_queue("lq", "nowhere-" + std::to_string(i)).run();
    s.local_queue("lq", "elsewhere-" + std::to_string(i)).run();
    s.engine.remove(api::ObjectKind::kLocalQueue, "ns/lq");
    s.run();
  }
  EXPECT_EQ(records(s), records_before);
  EXPECT_EQ(nodes(s), nodes_before);
  EXPECT_EQ(s.why("w"), "Misconfigured: LocalQueue lq doesn't exist");
}

TEST(Configuration, AClusterQueueThatComesLaterFindsWhoWaitsForIt) {
  Scenario s;
  s.flavor("f").local_queue("lq", "later").submit(Job("w", "lq").cpu(1));
  EXPECT_EQ(s.run(), Log());
  EXPECT_EQ(s.why("w"), "Misconfigured: ClusterQueue later doesn't exist");
  const Explanation told = s.engine.explain(*s.engine.find("ns/w"));
  EXPECT_EQ(told.cluster_queue, "later");
  EXPECT_FALSE(told.queued);
  EXPECT_FALSE(told.pod_sets[0].resources[0].covered) << "nothing has quota of cpu there";

  s.queue(Queue("later").quota("cpu", {{"f", 1}}));
  EXPECT_EQ(s.run(), Lines("reserved w", "admitted w"));
}

TEST(Configuration, AClusterQueueThatComesAgainIsTheSameOne) {
  Scenario s;
  const Queue q = Queue("q").quota("cpu", {{"f", 1}});
  s.flavor("f").queue(q).submit(Job("a", "q").cpu(1)).submit(Job("b", "q").cpu(1)).run();
  const auto number = queue_number(s.engine.model(), "q");
  for (int i = 0; i < 3; ++i) {
    s.engine.remove(api::ObjectKind::kClusterQueue, "q");
    s.run();
    EXPECT_EQ(s.why("b"), "Misconfigured: ClusterQueue q doesn't exist");
    EXPECT_EQ(s.state("a"), "admitted");
    s.queue(q).run();
    EXPECT_EQ(queue_number(s.engine.model(), "q"), number);
    EXPECT_EQ(s.state("b"), "pending") << "a has what there is";
  }
  EXPECT_EQ(records(s), 1U);
  EXPECT_EQ(s.finish("a").run(), Lines("finished a Succeeded", "reserved b", "admitted b"));
}

// Whether the queue was known or not: it goes on from now on.
TEST(Configuration, WhoWasStoppedIsToldThatItsQueueGoesOnWhenThatComes) {
  Scenario s;
  s.flavor("f").local_queue("lq", "later").submit(stopped_before("w", "lq")).run();
  EXPECT_EQ(s.condition("w", "Requeued"), "False ClusterQueueStopped: ");
  s.queue(Queue("later").quota("cpu", {{"f", 0}})).run();
  EXPECT_EQ(s.condition("w", "Requeued"),
            "True ClusterQueueRestarted: The ClusterQueue was restarted after being stopped");
}

/// Waits in q, parked by itself: cycles show whether it is looked at again.
struct Unchanged : ::testing::Test {
  FakeTraits traits;
  hooks::HostHooks hooks;
  std::unique_ptr<Scenario> s;
  api::LocalQueue local_queue;

  Unchanged() {
    hooks.workload_traits = &traits;
    s = std::make_unique<Scenario>(Scenario::single_thread(), hooks);
    local_queue.meta.name = "lq";
    local_queue.meta.ns = "ns";
    local_queue.cluster_queue = "q";
    s->flavor("f").queue(Queue("q").quota("cpu", {{"f", 4}}));
    s->engine.apply(local_queue);
    s->submit(Job("w", "lq").cpu(1).invalid_limits("requests exceed limits")).run();
  }
  /// By a cycle, after the object was applied as it is now.
  bool looked_at(const api::LocalQueue& object) {
    const std::uint64_t cycles = s->engine.stats().cycles;
    s->engine.apply(object);
    s->run();
    return s->engine.stats().cycles > cycles;
  }
};

TEST_F(Unchanged, OfALocalQueueOnlyItsSpecConcernsWhoWaits) {
  EXPECT_FALSE(looked_at(local_queue)) << "nothing";
  local_queue.meta.labels.set("team", "a");
  EXPECT_FALSE(looked_at(local_queue)) << "its labels";
  local_queue.meta.generation = 2;
  EXPECT_TRUE(looked_at(local_queue)) << "what the engine does not know of its spec";
  local_queue.stop_policy = api::StopPolicy::kHold;
  s->engine.apply(local_queue);
  s->run();
  EXPECT_EQ(s->why("w"), "Suspended: LocalQueue lq is stopped");
  local_queue.stop_policy = api::StopPolicy::kNone;
  EXPECT_TRUE(looked_at(local_queue)) << "it goes on";
  EXPECT_FALSE(looked_at(local_queue)) << "nothing";
}

// A plugin may read the labels of a LocalQueue: it is asked, and only what it says otherwise
// counts.
TEST_F(Unchanged, PluginsAreAskedWhenALocalQueueIsWritten) {
  std::size_t asked = 0;
  traits.otherwise = [&](const hooks::TraitsQuery&, hooks::Traits& out) {
    ++asked;
    if (local_queue.meta.labels.find("held")) out.waits_because = "Its LocalQueue is held";
  };
  local_queue.meta.labels.set("team", "a");
  EXPECT_FALSE(looked_at(local_queue));
  EXPECT_EQ(asked, 1U);
  EXPECT_TRUE(s->engine.changed_local_queues().empty()) << "until the next write";
  local_queue.meta.labels.set("held", "yes");
  s->engine.apply(local_queue);
  EXPECT_EQ(s->engine.changed_local_queues(), std::set<std::string>{"ns/lq"});
  s->run();
  EXPECT_EQ(s->why("w"), "OnHold: Its LocalQueue is held");
  local_queue.meta.labels.erase("held");
  EXPECT_TRUE(looked_at(local_queue));
}

}  // namespace
}  // namespace sluice::testing
