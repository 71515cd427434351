// Configuration objects come, change and go: what a change of them leaves behind, and whom it
// concerns.
#include "core/model/model.hpp"
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

}  // namespace
}  // namespace sluice::testing
